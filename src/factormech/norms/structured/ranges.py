r"""γ_F of all ranges of an ordered domain (k = n(n + 1)/2 queries), between certified ends, in O(n) a step.

The dual of γ_F is k^{−1/2} max ‖W D_q^{1/2}‖_* over q in the simplex. WᵀW = N⁻¹, N = tridiag(−1, 2, −1)/(n + 1), so
that S = (D_q^{1/2} WᵀW D_q^{1/2})⁻¹ is the T of a chain of n + 1 resistors n + 1, grounded at both ends, with leaks q.
The minimiser A = S^{−1/4} D_q^{−1/2}, R = W D_q^{1/2} S^{1/4} has a = diag(S^{−1/2})/q and Σ_i r_i = tr S^{−1/2}, which
is Σ_j q_j a_j:

.. math:: \frac{\sum_j q_j a_j}{\sqrt{k \sum_j q_j}} \le \gamma_F(W) \le \sqrt{\frac{\sum_j q_j a_j \max_j a_j}{k}} .

q is a palindrome, as the workload is unchanged if the domain is reversed and the dual is concave.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue
from factormech.norms.certified import CertifiedNorm
from factormech.norms.structured import fixed_point
from factormech.norms.structured.chain import Chain, Diagonals, diagonals
from factormech.norms.structured.prefix import check_gap, check_order, stopped
from factormech.numerics.rounding import growth, total


def ranges_norm(n: int, p: float = 2.0, *, gap: float = 1e-6, iterations: int = 400) -> CertifiedNorm:
    """γ_F of all n(n + 1)/2 ranges over n values; parameters and answer as :func:`.prefix.prefix_norm`.

    Only p = 2 has w = 1 and hence a tridiagonal inverse: other orders weigh the ranges, n²/2 of them. The witness holds
    ``right_weights`` q; all left weights are 1.
    """
    n = check_positive_integer("n", n)
    gap = check_gap(gap)
    check_positive_integer("iterations", iterations)
    if check_order(p) != 2.0:
        raise BadValue("p", p, "be 2 for all ranges in O(n)", "use a dense method for other orders")
    sizes = fixed_point.levels(n)
    logs, done = np.zeros(sizes[0]), 0
    for size in sizes:
        logs = logs if logs.size == size else fixed_point.refined(logs, size)
        problem = RangesDual(size)
        inner = max(0.93 * gap - 12.0 * n * 2.0**-53, 0.2 * gap) if size == n else max(gap, 1e-5)
        evaluate = partial(problem.evaluate, tolerance=inner / 20.0)
        found = fixed_point.accelerated(evaluate, logs, inner, iterations)
        logs, done = found.logs, done + found.iterations
    return _certified(RangesDual(n), logs, gap, done, found.reached)


@dataclass(frozen=True)
class RangesDual:
    """The dual problem over the logarithms of q."""

    n: int

    def weights(self, logs: FloatArray) -> FloatArray:
        """A palindrome of sum about 1."""
        logs = 0.5 * (logs + logs[::-1])
        q = np.exp(np.maximum(logs - logs.max(), fixed_point.FLOOR))
        return np.asarray(q / q.sum())

    def diagonals(self, q: FloatArray, tolerance: float) -> Diagonals:
        # T^{−1/2} over the leaks: a itself.
        return diagonals(Chain(np.full(self.n, self.n + 1.0), q, self.n + 1.0), tolerance)

    def evaluate(self, logs: FloatArray, tolerance: float) -> fixed_point.Ends:
        """Both ends times √k, without their margins, and twice the fixed point's step."""
        q = self.weights(logs)
        a = self.diagonals(q, tolerance).nodes
        dual = float(np.dot(q, a))
        return fixed_point.Ends(dual, math.sqrt(dual * float(a.max())), 2.0 * np.log(a / dual))

    def bounds(self, q: FloatArray, found: Diagonals) -> tuple[float, float]:
        """The two ends, rounded outward."""
        a, k = found.nodes, self.n * (self.n + 1) // 2
        dual = total(q * a)
        lower, upper = dual / math.sqrt(k * total(q)), math.sqrt(dual * float(a.max()) / k)
        return lower / (found.slack * growth(20.0)), upper * found.slack * growth(20.0)


def _certified(problem: RangesDual, logs: FloatArray, gap: float, done: int, reached: bool) -> CertifiedNorm:
    from factormech.norms.structured.factors import ranges_factors

    q = problem.weights(logs)
    found = problem.diagonals(q, gap / 100.0)
    lower, upper = problem.bounds(q, found)
    left, right, error = ranges_factors(q)
    # As for prefix. With v = D_q^{1/2} Wᵀ e_i, r_i = vᵀS^{1/2}v ≤ ‖v‖ (vᵀSv)^{1/2}, ‖v‖² ≤ Σ q, vᵀSv = 2/(n + 1).
    largest_row = math.sqrt(2.0 * total(q) / (problem.n + 1.0)) * growth(20.0)
    residual = error * math.sqrt(largest_row * float(found.nodes.max())) * found.slack
    record: dict[str, object] = {
        "method": "chain",
        "iterations": done,
        "stopped": stopped(upper / lower - 1.0, gap, reached),
        "shifts": found.shifts,
        "certified": "both ends in exact arithmetic, at the weights of the witness",
    }
    return CertifiedNorm(lower, upper, left, right, residual, {"right_weights": q}, record)
