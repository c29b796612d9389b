r"""A bound for many persons, from the mean over all data: no packing, and no constant lost to balls.

With the conventions of ``core``, let D have the N(N−1)/2 columns q_i − q_j, and u be uniform on the histograms of n
persons. As ``bounds/central/release.py`` proves, M(u) − nQ(u) and its shift by q_i − q_j are
(ε, δ')-indistinguishable, δ' = (N−1)/(n+N−1), so a mean norm of n(M − Q) is at least V₁(ε, δ')·min ‖R‖_F‖A‖_{1→2} over
RA = D, and that minimum is at least ‖D‖_{S₁}/√(N(N−1)/2). Since DDᵀ = N·WPWᵀ, W = (q_x), P = I − 11ᵀ/N,

.. math:: \mathrm{err} \ge \frac{V_1(ε, δ')}{n\sqrt k}\,\sqrt{\frac{2}{N-1}}\,\lVert WP\rVert_{S_1} ,
          \qquad V_1(ε, 0) = \frac{2e^{-ε}}{1-e^{-2ε}} .

Only the types of a part of the universe may be used, the fewer the smaller δ': choose the part by the number of
persons. This is strong once nε is some ten times the number of types; packings are stronger below.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.bounds.central.one_dimensional import least_noise
from factormech.numerics.rounding import below

# Below this ε shifts are taken in groups, since the program of V₁ grows like 1/ε.
_GROUPED = 0.05
# Below and above these V₁ is bounded by its value at 0.05, and by 0.
_LEAST, _LARGEST = 2.0**-50, 300.0


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
        return least_noise(epsilon, delta, moment=1).lower if epsilon < _LARGEST else 0.0
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
