r"""Lower bounds on the error of releasing Wx, x a histogram of counts, by any trusted curator.

W is k × N with columns W_j, p ≥ 2, C = E ZZᵀ, and *total* norms and errors carry no factor k^{−1/p}:

.. math:: \mathrm{err}_p = \max_x \bigl(E\lVert M(x) - Wx\rVert_p^p\bigr)^{1/p}, \qquad
          Γ_p = k^{1/p}γ_{(p)}(W) = \min_{RA=W} \bigl(\textstyle\sum_i\lVert R_{i\cdot}\rVert^p\bigr)^{1/p}
          \lVert A\rVert_{1\to2} .

*Noise that does not depend on the data.* If M(x) = Wx + Z is (ε, δ)-private when one count changes by one, then
⟨v, Z⟩/⟨v, W_j⟩ is admissible (``one_dimensional``) for every v, so vᵀCv ≥ V(ε, δ)⟨v, W_j⟩², biased or not. Hence W_j is
in the range of C and R = C^{½}, A = C^{+½}W is a factorization with ‖A‖²_{1→2} ≤ 1/V and row norms C_ii^{½}:
(Σ C_ii^{p/2})^{1/p} ≥ √V·Γ_p; and E|Z_i|^p ≥ C_ii^{p/2}. At p = ∞ it is (E‖Z‖²_∞)^{½} that exceeds max C_ii^{½}.

*Any mechanism: box averaging.* For u uniform in {0 … T}^N let Z = M(u) − Wu. u ↦ u − e_j pairs all of the box but a
layer of mass 1/(T+1), and M(u) − Wu, M(u − e_j) − Wu are (ε, δ)-indistinguishable, so Z and Z + W_j are
(ε, δ_T)-indistinguishable, δ_T = (1 + Tδ)/(T + 1). E‖Z‖_p^p is a mean of M's, so on some data in the box M's error is
at least √V(ε, δ_T)·Γ_p. V is continuous from the right in δ (minimisers are tight, constraints tested on continuous
functions pass to weak limits, and E Z² is lower semicontinuous), so over data of every size err_p ≥ √V(ε, δ)·Γ_p. Real
counts: u uniform in [0, T]^N, every shift in [−1, 1], δ_T = δ + (1 − δ)/T.

*One person replaced, n persons.* For u uniform on {u ≥ 0, Σu = n} and u ↦ u − e_j + e_i only u_j = 0 is lost, of
probability (N−1)/(n+N−1): the same with the columns W_i − W_j and δ' = δ + (1 − δ)(N−1)/(n+N−1), at every n.

*E‖·‖_∞ itself.* Let S = E‖Z‖_∞, 0 < q < 1, and condition Z on ‖Z‖_∞ ≤ S/q, an event of probability at least 1 − q: what
is left is (ε, δ_q)-indistinguishable from its shifts, δ_q = (δ + e^ε q)/(1 − q), and its (E‖·‖²_∞) is at most
(S/q)·S. So S ≥ √(q·V(ε, δ_q))·γ₂(W) for every q. One coordinate alone gives S ≥ V₁(ε, δ)·max|W_ij|.

The box argument, the replacement argument and the constants are ours; without constants, and for the sizes of all data,
the bound is Theorem 4 of Liu, Upadhyay & Zou (ICLR 2025) and Theorem 30 of Edmonds, Nikolov & Ullman (STOC 2020).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_dense_size, check_epsilon, check_positive_integer
from factormech.bounds.central.one_dimensional import check_failure, least_noise
from factormech.errors import BadValue, UnknownName
from factormech.norms.matrices import checked_matrix
from factormech.norms.rounding import below
from factormech.norms.spectral import trace_bound
from factormech.norms.weighted import checked_exponent
from factormech.workloads.base import Workload

NORMS = ("certified", "trace")
ONE_COUNT, ONE_REAL, REPLACED = "one count by 1", "real counts by 1 in all", "one person replaced"


@dataclass(frozen=True)
class CentralBound:
    """A lower bound on an error, and what it holds for.

    Attributes
    ----------
    total
        The bound on (E‖M(x) − Wx‖_p^p)^{1/p}, in counts.
    per_query
        k^{−1/p} times that: on the p-mean error of a query.
    p
        ∞ for the two errors of the largest query, which ``error`` tells apart.
    delta, delta_used
        δ of the mechanism, and what averaging left of it.
    noise
        √V, or the constant before γ₂.
    norm
        The certified lower end of Γ_p = k^{1/p}γ₍ₚ₎.
    error, relation, data, mechanisms
        What is bounded, what neighbours are, over which data the error is worst, and for which mechanisms.
    """

    total: float
    per_query: float
    p: float
    epsilon: float
    delta: float
    delta_used: float
    noise: float
    norm: float
    error: str
    relation: str
    data: str
    mechanisms: str


def additive_bound(
    workload: Workload | Any, epsilon: float, delta: float, *, p: float = 2.0, shifts: str = "unit",
    norm: str = "certified",
) -> CentralBound:  # fmt: skip
    """√V(ε, δ)·Γ_p for M(x) = Wx + Z, Z independent of x, possibly biased: the same error on all data.

    Parameters
    ----------
    workload
        W, or a dense matrix.
    p
        At least 2; ∞ for (E‖Z‖²_∞)^{½}.
    shifts
        ``unit`` if neighbours differ by one in one count, ``interval`` if by at most one in all, in real counts.
    norm
        ``certified``, or ``trace`` for the Schatten-1 bound k^{1/p−½}N^{−½}‖W‖_{S₁} ≤ Γ_p (Liu et al., Theorem 3).
    """
    epsilon, delta = check_epsilon(epsilon), check_failure(delta)
    sizes = _norm_below(workload, p, norm)
    return _bound(sizes, p, epsilon, (delta, delta), shifts, _relation(shifts), ("all", "noise independent of data"))


def general_bound(
    workload: Workload | Any, epsilon: float, delta: float, *, p: float = 2.0, shifts: str = "unit",
    norm: str = "certified", counts: int | None = None,
) -> CentralBound:  # fmt: skip
    """The same for every mechanism, by box averaging: its worst error over all data, or over {0 … ``counts``}^N."""
    epsilon, delta = check_epsilon(epsilon), check_failure(delta)
    used, data = delta, "worst over counts of every size"
    if counts is not None:
        T = check_positive_integer("counts", counts)
        lost = 1.0 / (T + 1) if shifts == "unit" else 1.0 / T
        used, data = delta + (1.0 - delta) * lost, f"worst over counts from 0 to {T}"
    sizes = _norm_below(workload, p, norm)
    return _bound(sizes, p, epsilon, (delta, used), shifts, _relation(shifts), (data, "all"))


def replacement_bound(
    workload: Workload | Any, epsilon: float, delta: float, users: int, *, p: float = 2.0, norm: str = "certified"
) -> CentralBound:
    """The bound at a given number of persons when neighbours replace one: N(N−1)/2 columns W_i − W_j, dense."""
    epsilon, delta = check_epsilon(epsilon), check_failure(delta)
    n = check_positive_integer("users", users)
    D = column_differences(workload)
    N = checked_matrix("workload", workload).shape[1]
    used = delta + (1.0 - delta) * (N - 1) / (n + N - 1)
    sizes = _norm_below(D, p, norm)
    return _bound(sizes, p, epsilon, (delta, used), "unit", REPLACED, (f"worst over {n} persons", "all"))


def largest_error_bound(
    workload: Workload | Any, epsilon: float, delta: float, *, additive: bool = False
) -> CentralBound:
    """On E‖M(x) − Wx‖_∞, no squares: the better of √(q·V(ε, δ_q))·γ₂ over q, and V₁·max|W_ij|."""
    epsilon, delta = check_epsilon(epsilon), check_failure(delta)
    matrix = checked_matrix("workload", workload)
    sizes = (*_norm_below(workload, math.inf, "certified")[:1], len(matrix))
    best, constant = truncated_constant(epsilon, delta), float(np.max(np.abs(matrix)))
    single = least_noise(epsilon, delta, moment=1).lower * constant
    value = max(below(best * sizes[0], 2), below(single, 2))
    data, kind = ("all", "noise independent of data") if additive else ("worst over counts of every size", "all")
    return CentralBound(
        value, value, math.inf, epsilon, delta, delta, best, sizes[0], "mean of the largest", ONE_COUNT, data, kind
    )


def truncated_constant(epsilon: float, delta: float) -> float:
    """max over q of √(q·V(ε, (δ + e^ε q)/(1 − q))), from below; any q is valid, and 64 of them are tried."""
    a, best = math.exp(epsilon), 0.0
    # δ_q < 1 needs q < (1 − δ)/(1 + e^ε).
    for q in (1.0 - delta) / (1.0 + a) * np.geomspace(1e-3, 0.999, 64):
        used = (delta + a * float(q)) / (1.0 - float(q)) * (1.0 + 1e-14)
        if used < 1.0:
            best = max(best, math.sqrt(float(q) * least_noise(epsilon, used).lower))
    return below(best, 8)


def column_differences(workload: Workload | Any) -> FloatArray:
    """The N(N−1)/2 differences W_i − W_j, i < j, as columns."""
    W = checked_matrix("workload", workload)
    k, N = W.shape
    if N < 2:
        raise BadValue("domain_size", N, "be at least 2 for a person to be replaced", "give a larger domain")
    check_dense_size("differences of columns", k, N * (N - 1) // 2)
    i, j = np.triu_indices(N, 1)
    return np.asarray(W[:, i] - W[:, j])


def _norm_below(workload: Workload | Any, p: float, norm: str) -> tuple[float, int]:
    """(the lower end of Γ_p, k)."""
    from factormech.norms import registry

    p = checked_exponent(p)
    if norm not in NORMS:
        raise UnknownName("norm", norm, NORMS)
    k = workload.queries if isinstance(workload, Workload) else len(checked_matrix("workload", workload))
    if norm == "trace":
        return trace_bound(workload, p, normalised=False), k
    name = {2.0: "gamma-f", math.inf: "gamma-2"}.get(p, "gamma-p")
    found = registry.solve(name, workload, p=p if name == "gamma-p" else None)
    return below(found.lower * below(k ** (1.0 / p), 8), 2), k


def _relation(shifts: str) -> str:
    return ONE_REAL if shifts == "interval" else ONE_COUNT


def _bound(
    sizes: tuple[float, int], p: float, epsilon: float, deltas: tuple[float, float], shifts: str, relation: str,
    holds: tuple[str, str],
) -> CentralBound:  # fmt: skip
    norm, k = sizes
    used = deltas[1] * (1.0 + 1e-15)
    noise = below(math.sqrt(least_noise(epsilon, used, shifts=shifts).lower), 2) if used < 1.0 else 0.0
    total = below(noise * norm, 2)
    per_query = below(total * below(k ** (-1.0 / p), 8), 2)
    error = "root mean square of the largest" if math.isinf(p) else "p-th root of the mean p-th powers' sum"
    return CentralBound(total, per_query, p, epsilon, *deltas, noise, norm, error, relation, *holds)
