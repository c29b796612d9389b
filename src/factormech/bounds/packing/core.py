r"""From data sets that look alike to a lower bound on the error: packings, and averages over all data.

**Packing.** Its constants are the best ones. Data X are n users, neighbours replace one, Q(X) is the
mean of the columns q_x ∈ ℝᵏ, a mechanism is ε-DP (δ = 0), and its error is a **mean norm**, worst over the data:

.. math:: \mathrm{err} = \max_X\; E\lVert M(X) - Q(X)\rVert_2 / \sqrt k .

*Packing.* M data sets; any two of them have answers at least a apart, ‖·‖₂/√k, and differ in at most Δ users. With

.. math:: J = 1 + (M-1)\,e^{-εΔ},\qquad \mathrm{err} \ge a\,κ(J),\qquad
          κ(J) = \begin{cases} 1 - 1/J & 1 \le J \le 2,\\
          \frac1J\Bigl[1 + \sum_{m=3}^{\lfloor J\rfloor} c_m + (J - \lfloor J\rfloor)\,c_{\lfloor J\rfloor+1}\Bigr]
          & J \ge 2,\end{cases} \qquad c_m = \sqrt{\tfrac{m-1}{2m}} .

*Proof.* Let f_i be the density of M(X_i) with respect to the mean law ν. By group privacy f_i ≤ e^{εΔ}f_j, so the
weights p_i = f_i(y)/M, which sum to one, are at most 1/J. The worst error is at least the mean one, which is
∫ Σ_i p_i(y) r_i(y) dν(y), r_i(y) = ‖y − Q(X_i)‖/√k. Fix y and sort r. Any two r_i sum to at least a; and the m-th
least is at least c_m·a, as m(m−1)a² ≤ Σ_{ij}‖v_i−v_j‖² ≤ 2mΣ‖v_i−y‖² over the m nearest. For J ≥ 2 the sum Σp_ir_i
is least with weight 1/J on each of the ⌊J⌋ nearest and the rest on the next one: at least aκ(J). For J ≤ 2 it is at
least r₁/J + (1−1/J)r₂ ≥ a(1−1/J), r₁ ≤ r₂ being the two least. ∎

κ increases from 0 to 1/√2 and κ(2) = ½: **e^{εΔ} ≤ M − 1 implies err ≥ a/2**, Lemma 2.2 of Nikolov (*Private Query
Release via the Johnson–Lindenstrauss Transform*, SODA 2023) with its constant. For J ≤ 2 the bound is attained by
randomized response on M users' types with equidistant answers.

*The proof by balls* (Markov's inequality on balls of radius a/2) gives err ≥ βa if e^{εΔ} ≤ M(1−2β), or if
e^{εΔ} ≤ (M−1)(1−2β)/(2β). The second is implied by the first (add M(X_1)'s own ball), and its best β is ½(1 − 1/J): at
most half of what κ gives for J ≤ 2. It is kept as :func:`share_by_balls`.

Sizes M are astronomical: all is computed from ln M, ε Δ, in doubles whose rounding each function subtracts.

**Averages over all data.** For many users the mean over all data gives a bound without a packing, so no constant is
lost to balls. With the conventions of ``core``, let D have the N(N−1)/2 columns q_i − q_j, and u be uniform on the
histograms of n users. As ``bounds/central/release.py`` proves, M(u) − nQ(u) and its shift by q_i − q_j are (ε,
δ')-indistinguishable, δ' = (N−1)/(n+N−1), so a mean norm of n(M − Q) is at least V₁(ε, δ')·min ‖R‖_F‖A‖_{1→2} over RA
= D, and that minimum is at least ‖D‖_{S₁}/√(N(N−1)/2). Since DDᵀ = N·WPWᵀ, W = (q_x), P = I − 11ᵀ/N,

.. math:: \mathrm{err} \ge \frac{V_1(ε, δ')}{n\sqrt k}\,\sqrt{\frac{2}{N-1}}\,\lVert WP\rVert_{S_1} ,
          \qquad V_1(ε, 0) = \frac{2e^{-ε}}{1-e^{-2ε}} .

Only the types of a part of the universe may be used, the fewer the smaller δ': choose the part by the number of
users. This is strong once nε is some ten times the number of types; packings are stronger below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.bounds.central.line import least_noise
from factormech.numerics.rounding import below

# Packing.

# κ is computed up to this J and held constant beyond: it is within 1e-4 of its limit 1/√2 there.
_LARGEST = 2**16
# ln(J − 1) loses at most this (relative to ln M and εΔ) to rounding; κ loses as much by being evaluated.
_ROUNDING = 2.0**-49
# How far below the loss that would use up all of ln M the best multiplicity may lie.
_COARSE = np.array([-2.0, -1.0, 0.0, 1.0, 2.0, 3.5, 5.0, 7.0, 9.0])
_FINE = np.arange(-2.5, 10.0, 0.125)
# Packings that are looked at again, finely.
_KEPT = 128


@dataclass(frozen=True)
class LowerBound:
    """A number that no ε-DP mechanism's worst error is below, and what proves it.

    Attributes
    ----------
    value
        The bound on max_X E‖M(X) − Q(X)‖₂/√k over data of this many ``users``, one replaced.
    method
        ``packing`` or another proof's name; ``none`` for the bound 0.
    witness
        What the proof is made of; of a packing: ``log_size`` (ln M, from below), ``distance`` (a, from below),
        ``replacements`` (Δ), ``share`` (κ), and how the data sets are built.
    """

    value: float
    users: int
    epsilon: float
    method: str
    witness: dict[str, Any] = field(default_factory=dict)


def nothing(users: int, epsilon: float) -> LowerBound:
    """The bound 0."""
    return LowerBound(0.0, users, epsilon, "none")


def share(log_size: FloatArray | float, loss: FloatArray | float) -> FloatArray:
    """κ(1 + (M − 1)e^{−loss}), from below, for ln M = ``log_size`` ≥ 0 and loss = εΔ ≥ 0; any shapes that broadcast."""
    L, loss = np.asarray(log_size, dtype=float), np.asarray(loss, dtype=float)
    x = _log_excess(L, loss)
    x = x - _ROUNDING * (1.0 + np.abs(L) + loss)
    odds = np.exp(np.minimum(x, math.log(_LARGEST)))
    # J ≤ 2: 1 − 1/J = odds/(1 + odds).
    low = odds / (1.0 + odds)
    J = 1.0 + odds
    table, whole = _partial_sums(), np.floor(J).astype(np.int64)
    whole = np.clip(whole, 2, _LARGEST)
    high = (table[whole] + (J - whole) * np.sqrt(0.5 * whole / (whole + 1.0))) / J
    return np.asarray(np.where(J <= 2.0, low, high) * (1.0 - _ROUNDING))


def share_by_balls(log_size: FloatArray | float, loss: FloatArray | float) -> FloatArray:
    """The best β = ½(1 − 1/J) of the proof by balls; at most κ(J), for comparison."""
    from scipy.special import expit

    return np.asarray(0.5 * expit(_log_excess(np.asarray(log_size, float), np.asarray(loss, float))))


def best_multiple(
    log_size: FloatArray, cost: IntArray, gain: FloatArray, users: int, epsilon: float
) -> tuple[int, int, float]:
    """The best packing of a family, and the best number r of copies in it: (index, r, r·gain·κ).

    Packing c of M_c = e^{log_size} data sets can be copied r times: then Δ = r·cost_c ≤ ``users`` of them differ, and
    the answers are r·gain_c apart. Any whole r ≥ 1 gives a bound; the best of a search near the best real r is taken.
    Where not even one copy fits, the value is 0 and r is 0.
    """
    L, cost, gain = np.asarray(log_size, float), np.asarray(cost, np.int64), np.asarray(gain, float)
    # More copies than that are never needed, and would not be exact in doubles.
    most = min(users, 2**53) // cost
    values, copies = _best_of(L, cost, gain, most, epsilon, _COARSE)
    kept = np.argsort(-values, kind="stable")[:_KEPT]
    fine, fine_copies = _best_of(L[kept], cost[kept], gain[kept], most[kept], epsilon, _FINE)
    best = int(np.argmax(fine))
    c = int(kept[best])
    if values[c] >= fine[best]:
        return c, int(copies[c]), float(values[c])
    return c, int(fine_copies[best]), float(fine[best])


def _best_of(
    L: FloatArray, cost: IntArray, gain: FloatArray, most: IntArray, epsilon: float, offsets: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Return, for each packing, the best value over a few numbers of copies, and that number."""
    # Floors of the real candidates; an ε beyond all use makes them 0 or infinite.
    with np.errstate(over="ignore", divide="ignore"):
        wanted = (L[:, None] - offsets) / (epsilon * cost[:, None])
    floors = np.floor(np.clip(wanted, 0.0, 2.0**53)).astype(np.int64)
    r = np.concatenate([floors, floors[:, -1:] * 0 + 1, most[:, None]], axis=1)
    r = np.minimum(np.maximum(r, 1), most[:, None])
    with np.errstate(over="ignore"):
        loss = np.minimum(epsilon * (r * cost[:, None]), 1e300)
    values = r * gain[:, None] * share(L[:, None], loss) * (1.0 - _ROUNDING)
    at = np.argmax(values, axis=1)
    rows = np.arange(len(L))
    return values[rows, at], r[rows, at]


def _log_excess(L: FloatArray, loss: FloatArray) -> FloatArray:
    """ln(J − 1) = ln(M − 1) − εΔ; −∞ at M = 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(L + np.log(-np.expm1(-L)) - loss)


@lru_cache(maxsize=1)
def _partial_sums() -> FloatArray:
    """Entry J: 1 + c_3 + … + c_J; entries 0 and 1 are not used."""
    m = np.arange(_LARGEST + 2, dtype=float)
    c = np.sqrt(0.5 * np.maximum(m - 1.0, 0.0) / np.maximum(m, 1.0))
    c[:2], c[2] = 0.0, 1.0
    sums = np.cumsum(c)
    # A sum of m terms below one, in order: m units in the last place at most.
    sums *= 1.0 - 2.0**-36
    sums[2] = 1.0
    sums.setflags(write=False)
    return sums


# Averages over all data.

# Below this ε shifts are taken in groups, since the program of V₁ grows like 1/ε.
_GROUPED = 0.05
# Below and above these V₁ is bounded by its value at 0.05, and by 0.
_LEAST, _LARGEST_EPSILON = 2.0**-50, 300.0


def averaging_bound(trace_norm: float, types: int, queries: int, users: int, epsilon: float) -> float:
    """The bound of the module for one set of types.

    Parameters
    ----------
    trace_norm
        ‖WP‖_{S₁}, from below: the sum of the centred singular values over the ``types`` used.
    types, queries, users
        N ≥ 2, k and n.
    epsilon
        The privacy budget.
    """
    epsilon = check_epsilon(epsilon)
    N, n = check_positive_integer("types", types, minimum=2), check_positive_integer("users", users)
    noise = mean_noise(epsilon, (N - 1) / (n + N - 1) * (1.0 + 1e-15))
    return below(noise * math.sqrt(2.0 / (N - 1) / queries) * trace_norm / n, 12)


def mean_noise(epsilon: float, delta: float) -> float:
    """V₁(ε, δ) from below, for δ < 1, at a cost that does not grow as ε falls.

    If Z hides the shift 1 at (ε, δ), then Z/m hides it at (mε, δ_m), δ_m = δ(e^{mε} − 1)/(e^ε − 1), by m steps:
    V₁(ε, δ) ≥ m·V₁(mε, δ_m). For mε = 0.05 and δ = 0 this loses a share 4·10⁻⁴. V₁ also falls in ε.
    """
    if epsilon >= _GROUPED:
        # There V₁ is below 3e^{−ε}: nothing is lost where e^ε would overflow.
        return least_noise(epsilon, delta, moment=1).lower if epsilon < _LARGEST_EPSILON else 0.0
    m = math.ceil(_GROUPED / max(epsilon, _LEAST))
    together = delta * math.expm1(m * epsilon) / math.expm1(epsilon) * (1.0 + 1e-12)
    found = least_noise(_GROUPED, delta, moment=1).lower
    if together < 1.0 and epsilon > _LEAST:
        found = max(found, below(m * least_noise(m * epsilon * (1.0 + 1e-15), together, moment=1).lower, 2))
    return found


def best_of_nested(
    traces: FloatArray, sizes: FloatArray, queries: int, users: int, epsilon: float
) -> tuple[float, int]:
    """The best over several sets of types, given by their trace norms and numbers: (value, number of types)."""
    values = [
        averaging_bound(float(trace), int(size), queries, users, epsilon)
        for trace, size in zip(traces, sizes, strict=True)
    ]
    best = int(np.argmax(values))
    return values[best], int(sizes[best])
