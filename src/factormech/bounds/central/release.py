r"""Lower bounds on the error of releasing Wx, x a histogram of counts, by any trusted curator.

W is k × N with columns W_j, 2 ≤ p ≤ ∞, and *total* norms and errors carry no factor k^{−1/p}:

.. math:: Γ_p = k^{1/p}γ_{(p)}(W) = \min_{RA=W} \bigl(\textstyle\sum_i\lVert R_{i\cdot}\rVert^p\bigr)^{1/p}
          \lVert A\rVert_{1\to2} .

*Noise that does not depend on the data.* If M(x) = Wx + Z is (ε, δ)-private when one count changes by one, then
⟨v, Z⟩/⟨v, W_j⟩ is admissible (``one_dimensional``) for every v, Z biased or not.

(``moment`` 2) C = E ZZᵀ has vᵀCv ≥ V(ε, δ)⟨v, W_j⟩². So W_j is in the range of C, and R = C^{½}, A = C^{+½}W is a
factorization with ‖A‖²_{1→2} ≤ 1/V and row norms C_ii^{½}; and (Σ C_ii^{p/2})^{2/p} = ‖E(Z_i²)‖_{p/2} ≤ E‖Z‖²_p. Hence

.. math:: (E\lVert Z\rVert_p^p)^{1/p} \ge (E\lVert Z\rVert_p^2)^{1/2} \ge \sqrt{V(ε, δ)}\,Γ_p

(the left-hand side for p < ∞).

(``moment`` 1) Let S = E‖Z‖_p and H = E ZZᵀ/‖Z‖_p. By Cauchy and Schwarz (E|⟨v, Z⟩|)² ≤ vᵀHv·S, so
vᵀHv ≥ V₁²⟨v, W_j⟩²/S, while (Σ H_ii^{p/2})^{2/p} ≤ E‖(Z_i²)_i‖_{p/2}/‖Z‖_p = S. So Γ_p ≤ √S·√S/V₁:

.. math:: E\lVert Z\rVert_p \ge V_1(ε, δ)\,Γ_p , \qquad E\lVert Z\rVert_\infty \ge V_1(ε, δ)\,γ_2(W) ,

both with equality for one query, δ = 0 and discrete Laplace noise: E‖Z‖_∞ may be below √V·γ₂.

*Any mechanism: box averaging.* For u uniform in {0 … T}^N let Z = M(u) − Wu. u ↦ u − e_j pairs all of the box but a
layer of mass 1/(T+1), and M(u) − Wu, M(u − e_j) − Wu are (ε, δ)-indistinguishable, so Z and Z + W_j are
(ε, δ_T)-indistinguishable, δ_T = (1 + Tδ)/(T + 1). E‖Z‖_p^t is a mean of M's, so on some data in the box M's error is
at least the bound at δ_T. V is continuous from the right in δ (minimisers are tight, constraints tested on continuous
functions pass to weak limits, and E Z² is lower semicontinuous), so over data of every size the bounds hold with δ
itself. Real counts: u uniform in [0, T]^N, every shift in [−1, 1], δ_T = δ + (1 − δ)/T.

*One user replaced, n users.* For u uniform on {u ≥ 0, Σu = n} and u ↦ u − e_j + e_i only u_j = 0 is lost, of
probability (N−1)/(n+N−1): the same with the columns W_i − W_j and δ' = δ + (1 − δ)(N−1)/(n+N−1), at every n.

The box and replacement arguments, the bound on mean norms and all constants are ours; without constants, for small ε
and δ, the bounds are Theorem 4 of Liu, Upadhyay & Zou (ICLR 2025) and §5 of Edmonds, Nikolov & Ullman (STOC 2020).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_dense_size, check_epsilon, check_positive_integer
from factormech.bounds.central.line import check_failure, least_noise
from factormech.errors import BadValue, UnknownName
from factormech.norms.certificates import trace_bound
from factormech.norms.certified import checked_matrix
from factormech.norms.weighted import checked_exponent
from factormech.numerics.rounding import below
from factormech.workloads.base import Workload

NORMS = ("certified", "trace")
ONE_COUNT, ONE_REAL, REPLACED = "one count by 1", "real counts by 1 in all", "one user replaced"


@dataclass(frozen=True)
class CentralBound:
    """A lower bound on an error, and what it holds for.

    Attributes
    ----------
    total
        The bound, in counts: with moment 2 on (E‖M(x) − Wx‖_p²)^{1/2}, hence on (E‖M(x) − Wx‖_p^p)^{1/p} for p < ∞;
        with moment 1 on E‖M(x) − Wx‖_p.
    per_query
        k^{−1/p} times that: on the error of a query in the p-mean.
    delta, delta_used
        δ of the mechanism, and what averaging left of it.
    noise
        √V or V₁, from below.
    norm
        The certified lower end of Γ_p = k^{1/p}γ₍ₚ₎.
    error, relation, data, mechanisms
        What is bounded, what neighbours are, over which data the error is worst, and for which mechanisms.
    """

    total: float
    per_query: float
    p: float
    moment: int
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
    workload: Workload | Any, epsilon: float, delta: float, *, p: float = 2.0, moment: int = 2, shifts: str = "unit",
    norm: str = "certified",
) -> CentralBound:  # fmt: skip
    """√V(ε, δ)·Γ_p, or V₁·Γ_p, for M(x) = Wx + Z, Z independent of x, possibly biased: the same error on all data.

    Parameters
    ----------
    workload
        W, or a dense matrix.
    p
        At least 2, possibly ∞.
    moment
        2 for the root mean square of ‖Z‖_p (and (E‖Z‖_p^p)^{1/p}), 1 for its mean.
    shifts
        ``unit`` if neighbours differ by one in one count, ``interval`` if by at most one in all, in real counts.
    norm
        ``certified``, or ``trace`` for the Schatten-1 bound k^{1/p−½}N^{−½}‖W‖_{S₁} ≤ Γ_p (Liu et al., Theorem 3).
    """
    epsilon, delta = check_epsilon(epsilon), check_failure(delta)
    sizes = _norm_below(workload, p, norm)
    return _bound(
        sizes, (p, moment), epsilon, (delta, delta), shifts, _relation(shifts), ("all", "noise independent of data")
    )


def general_bound(
    workload: Workload | Any, epsilon: float, delta: float, *, p: float = 2.0, moment: int = 2, shifts: str = "unit",
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
    return _bound(sizes, (p, moment), epsilon, (delta, used), shifts, _relation(shifts), (data, "all"))


def replacement_bound(
    workload: Workload | Any,
    epsilon: float,
    delta: float,
    users: int,
    *,
    p: float = 2.0,
    moment: int = 2,
    norm: str = "certified",
) -> CentralBound:
    """The bound at a given number of users when neighbours replace one: N(N−1)/2 columns W_i − W_j, dense."""
    return replacement_bounds(workload, epsilon, delta, [users], p=p, moment=moment, norm=norm)[0]


def replacement_bounds(
    workload: Workload | Any, epsilon: float, delta: float, users: Sequence[int], *, p: float = 2.0, moment: int = 2,
    norm: str = "certified",
) -> list[CentralBound]:  # fmt: skip
    """The same at several numbers of users, for which the norm is found once."""
    epsilon, delta = check_epsilon(epsilon), check_failure(delta)
    counts = [check_positive_integer("users", n) for n in users]
    sizes = _norm_below(column_differences(workload), p, norm)
    N = checked_matrix("workload", workload).shape[1]
    found = []
    for n in counts:
        used = delta + (1.0 - delta) * (N - 1) / (n + N - 1)
        holds = f"worst over {n} users", "all"
        found.append(_bound(sizes, (p, moment), epsilon, (delta, used), "unit", REPLACED, holds))
    return found


def column_differences(workload: Workload | Any) -> FloatArray:
    """The N(N−1)/2 differences W_i − W_j, i < j, as columns."""
    W = checked_matrix("workload", workload)
    k, N = W.shape
    if N < 2:
        raise BadValue("domain_size", N, "be at least 2 for a user to be replaced", "give a larger domain")
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
    sizes: tuple[float, int],
    of: tuple[float, int],
    epsilon: float,
    deltas: tuple[float, float],
    shifts: str,
    relation: str,
    holds: tuple[str, str],
) -> CentralBound:
    (norm, k), (p, moment), used = sizes, of, deltas[1] * (1.0 + 1e-15)
    noise = 0.0
    if used < 1.0:
        # What hides every shift hides the unit shift: V₁ of the latter holds for both.
        least = least_noise(epsilon, used, shifts=shifts if moment == 2 else "unit", moment=moment)
        noise = below(math.sqrt(least.lower) if moment == 2 else least.lower, 2)
    total = below(noise * norm, 2)
    per_query = below(total * below(k ** (-1.0 / p), 8), 2)
    error = ("mean norm", "root mean square norm")[moment - 1]
    return CentralBound(total, per_query, p, moment, epsilon, *deltas, noise, norm, error, relation, *holds)
