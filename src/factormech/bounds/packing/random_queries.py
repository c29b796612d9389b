r"""Random ±1 queries: a packing that works for all but a share η of the draws, and the terms of Theorem 7.1.

W is k × N with independent uniform signs. The data sets are those of ``parity``: r copies of each element of an s-set,
intersections at most t (De, *Lower bounds in differential privacy*, TCC 2012, for r = n/s; Nikolov, SODA 2023, §7.1).
For u = 1_S − 1_T, |S∖T| = q ≥ s − t =: q₀, Z = ⟨w, u⟩ has E Z² = ‖u‖² = 2q, and for λ ≥ 0 with g standard normal

.. math:: E\,e^{-λZ^2/2q} = E\cos^{2q}(g\sqrt{λ/q}) \le (1+2λ)^{-1/2} + P(|g| > \tfrac\pi2\sqrt{q/λ}) ,

since cos x ≤ e^{−x²/2} for |x| ≤ π/2. The right-hand side, m_q(λ), decreases in q. Hence

.. math:: P\bigl(\lVert Wu\rVert^2 \le (1-τ)k\lVert u\rVert^2\bigr) \le e^{-k\,f(τ)} ,\qquad
          f(τ) = \max_{λ\ge0}\; -λ(1-τ) - \ln m_{q_0}(λ) \;\to\; \tfrac12(-τ - \ln(1-τ)) .

For s = 1, ‖Wu‖²/4 is binomial: f(τ) = ln 2 − h((1−τ)/2), h the entropy in nats, is Chernoff's. Fourth moments alone,
e^{−x} ≤ 1 − x + x²/2, would give m = 1 − λ + 3λ²/2 for every q, and f(τ) ≥ τ²/6; the smaller m is taken.

Let M₀ = min(M, ηe^{kf}) sets be taken. The expected number of bad pairs is at most ½M₀²e^{−kf}, so with probability
1 − η at most M₀/2 pairs are bad, and one set of each is dropped: **M₀/2 data sets remain whose answers are
(r/n)√(2(1−τ)(s−t)) apart**. Dropping sets, rather than asking all pairs to be good, doubles the exponent.
All constants are explicit; the bound holds for every ε > 0 and n.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.bounds.packing.core import LowerBound, best_multiple, nothing, share
from factormech.bounds.packing.families import KINDS, set_families
from factormech.bounds.packing.marginals import checked_types
from factormech.errors import BadValue
from factormech.numerics.rounding import below

BoolArray: TypeAlias = npt.NDArray[np.bool_]

_SHRINKAGES = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95])
_MULTIPLIERS = np.geomspace(0.01, 12.0, 60)


def random_queries(queries: int, types: int, users: int, epsilon: float, *, failure: float = 0.01) -> LowerBound:
    """A bound that holds for at least a share 1 − ``failure`` of the draws of k × N independent signs.

    Parameters
    ----------
    queries, types, users
        k, N and n.
    epsilon
        The privacy budget, replace one.
    failure
        η, above 0 and below 1.
    """
    epsilon, n, N = check_epsilon(epsilon), check_positive_integer("users", users), checked_types(types)
    k = check_positive_integer("queries", queries)
    if not 0.0 < failure < 1.0:
        raise BadValue("failure", failure, "be above 0 and below 1", "give for example 0.01")
    families = set_families(N)
    inside = np.flatnonzero(families.size <= n)
    if not inside.size:
        return nothing(n, epsilon)
    s, t = families.size[inside][:, None], families.overlap[inside][:, None]
    L = families.log_count[inside][:, None]
    rates = deviation_rate(_SHRINKAGES, (s - t)[:, 0], s[:, 0] == 1)
    kept = _kept(L, k * rates + math.log(failure))
    gain = np.sqrt(2.0 * (s - t) * (1.0 - _SHRINKAGES)) / n
    cost = np.repeat(families.size[inside], len(_SHRINKAGES))
    at, r, value = best_multiple(kept.ravel(), cost, gain.ravel(), n, epsilon)
    c, shrinkage = divmod(at, len(_SHRINKAGES))
    size = int(s[c, 0])
    witness: dict[str, Any] = {
        "data": "r copies of each element of an s-set, the rest of one type",
        "holds": f"for all but {failure:g} of the draws",
        "set_size": size,
        "largest_overlap": int(t[c, 0]),
        "copies": r,
        "code": KINDS[families.kind[inside[c]]],
        "shrinkage": float(_SHRINKAGES[shrinkage]),
        "log_size": float(kept[c, shrinkage]),
        "replacements": r * size,
        "distance": below(float(r * gain[c, shrinkage]), 8),
        "share": float(share(kept[c, shrinkage], epsilon * r * size)),
    }
    return LowerBound(below(value, 8), n, epsilon, "packing", witness)


def deviation_rate(shrinkage: FloatArray, difference: IntArray, single: BoolArray) -> FloatArray:
    """f(τ) for 0 < τ < 1 from below, one row for each least difference q₀: each λ of a grid gives a bound.

    ``single`` says where s = 1, so that the sum is binomial.
    """
    from scipy.special import erfc

    tau, lam = np.asarray(shrinkage, float), _MULTIPLIERS
    q, back = np.unique(difference, return_inverse=True)
    tail = erfc(0.5 * math.pi * np.sqrt(q[:, None] / (2.0 * lam)))
    transform = np.minimum(1.0 / np.sqrt(1.0 + 2.0 * lam) + tail, 1.0 - lam + 1.5 * lam**2)
    rates = (-lam * (1.0 - tau[:, None]) - np.log(transform)[:, None, :]).max(axis=2)[back]
    p = 0.5 * (1.0 - tau)
    binomial = math.log(2.0) + p * np.log(p) + (1.0 - p) * np.log1p(-p)
    best = np.where(np.asarray(single)[:, None], np.maximum(rates, binomial), rates)
    return np.asarray(np.maximum(best, 0.0) * (1.0 - 2.0**-44))


def theorem_terms(queries: int, types: int, alpha: float, epsilon: float) -> tuple[float, float, float]:
    """The three growths whose minimum, up to a constant, Theorem 7.1 bounds the sample complexity by, without it.

    k/(εα), √(k ln(N/k))/(εα) and ln(α²N)/(εα²); what is not positive is 0. The theorem asks for N well above k and
    1/α²: outside, the terms say nothing.
    """
    epsilon, k = check_epsilon(epsilon), check_positive_integer("queries", queries)
    N = check_positive_integer("types", types)
    if not 0.0 < alpha < 1.0:
        raise BadValue("alpha", alpha, "be above 0 and below 1", "give for example 0.1")
    second = math.sqrt(k * max(math.log(N / k), 0.0)) / (epsilon * alpha)
    third = max(math.log(alpha**2 * N), 0.0) / (epsilon * alpha**2)
    return k / (epsilon * alpha), second, third


def _kept(log_size: FloatArray, budget: FloatArray) -> FloatArray:
    """ln of ⌊min(M, e^budget)⌋/2, from below; 0 where fewer than two sets remain for certain."""
    found = np.minimum(log_size, budget)
    # ⌊x⌋ ≥ x − 1.
    whole = np.where(found > 0.0, found + np.log(-np.expm1(-np.maximum(found, 1e-9))), 0.0)
    return np.asarray(np.maximum(whole - math.log(2.0), 0.0))
