r"""Exact norms of prefix sums and ranges, between certified ends, without their matrix: O(n) a step.

**γ₍ₚ₎ of prefix sums.** W is n × n, with ones on and below the diagonal. With M = D_w^{1/2} W D_q^{1/2}, the dual of
γ₍ₚ₎ is n^{−1/p} max ‖M‖_* over q in the simplex and w ≥ 0 with ‖w‖_{p/(p−2)} ≤ 1 (p = 2: w = 1; p = ∞: w in the
simplex), since ‖M‖_* = min ½(Σ w_i r_i + Σ q_j a_j) over RA = W, r_i and a_j being the squared norms of the rows of R
and of the columns of A. For any weights > 0, of any scale, the minimiser

.. math:: R = D_w^{-1/2} (MM^T)^{1/4}, \qquad A = (MM^T)^{-1/4} M D_q^{-1/2}

has r = diag((MMᵀ)^{1/2})/w and a = diag((MᵀM)^{1/2})/q, so that

.. math:: n^{-1/p} \frac{\sum_j q_j a_j}{\sqrt{\sum_j q_j\, \lVert w\rVert_{p/(p-2)}}} \le \gamma_{(p)}(W) \le
          n^{-1/p} \sqrt{\lVert r\rVert_{p/2} \max_j a_j} .

As W⁻¹ is bidiagonal, r and a are the two diagonals of a chain with resistances q and leaks w, whose T is (MMᵀ)⁻¹.
For p = ∞ the problem does not change if W is transposed and reversed, and by concavity w is q in reverse.

Both ends are functionals of the same 2n numbers, of which :class:`~factormech.norms.resolvents.Diagonals` gives
the relative error; the weights are the very floats returned.

**γ_F of all ranges.** An ordered domain has k = n(n + 1)/2 of these queries. The dual of γ_F is k^{−1/2} max ‖W
D_q^{1/2}‖_* over q in the simplex. WᵀW = N⁻¹, N = tridiag(−1, 2, −1)/(n + 1), so that S = (D_q^{1/2} WᵀW D_q^{1/2})⁻¹
is the T of a chain of n + 1 resistors n + 1, grounded at both ends, with leaks q. The minimiser A = S^{−1/4}
D_q^{−1/2}, R = W D_q^{1/2} S^{1/4} has a = diag(S^{−1/2})/q and Σ_i r_i = tr S^{−1/2}, which is Σ_j q_j a_j:

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
from factormech.norms import ordered_factors
from factormech.norms.certified import CertifiedNorm
from factormech.norms.ordered_factors import check_order
from factormech.norms.resolvents import Chain, Diagonals, diagonals, mirrored_diagonals
from factormech.numerics.rounding import growth, norm, total

# γ₍ₚ₎ of prefix sums.


def prefix_norm(n: int, p: float = math.inf, *, gap: float = 1e-6, iterations: int = 400) -> CertifiedNorm:
    """γ₍ₚ₎ of the n prefix sums: p = 2 is γ_F, p = ∞ is γ₂.

    Parameters
    ----------
    n
        Domain size.
    p
        At least 2, or infinite.
    gap
        Stop once upper ÷ lower − 1, everything included, is at most this; at least 1e-9. The rounding bound grows with
        n (1.2e-15 n of gap), and where it forbids the gap the record says so.
    iterations
        Evaluations allowed at each size of the multilevel scheme.

    Returns
    -------
    CertifiedNorm
        ``witness``: ``left_weights`` w and ``right_weights`` q. The ends are those of the factors with exact quarter
        powers; ``residual`` is what ``left`` and ``right``, sums of resolvents, leave of W in exact arithmetic.
    """
    n = check_positive_integer("n", n)
    p, gap = check_order(p), check_gap(gap)
    check_positive_integer("iterations", iterations)
    problem = PrefixDual(n, p)
    start = ordered_factors.levels(n)[0]
    logs = PrefixDual(start, p).flat()
    done = 0
    for size in ordered_factors.levels(n):
        level = PrefixDual(size, p)
        if size != start:
            logs = np.concatenate([ordered_factors.refined(block, size) for block in problem.blocks(logs)])
        inner = _inner_gap(gap, level) if size == n else max(gap, 1e-5)
        evaluate = partial(level.evaluate, tolerance=inner / 20.0)
        found = ordered_factors.accelerated(evaluate, logs, inner, iterations)
        logs, done = found.logs, done + found.iterations
    return _certified(problem, logs, gap, done, found.reached)


def check_gap(gap: float) -> float:
    """The gap as a float that floats can certify."""
    if not 1e-9 <= gap <= 0.1:
        raise BadValue("gap", gap, "lie in [1e-9, 0.1]", "give for example 1e-6")
    return float(gap)


@dataclass(frozen=True)
class PrefixDual:
    """The dual problem over n prefix sums; weights as logarithms: q, then w where it is free and not q in reverse."""

    n: int
    p: float

    @property
    def mirrored(self) -> bool:
        return math.isinf(self.p)

    @property
    def free_left(self) -> bool:
        return 2.0 < self.p < math.inf

    def flat(self) -> FloatArray:
        """Logarithms of equal weights."""
        return np.zeros(self.n * (2 if self.free_left else 1))

    def blocks(self, logs: FloatArray) -> list[FloatArray]:
        """The logarithms of q, and of w where it is free."""
        return np.split(logs, 2) if self.free_left else [logs]

    def weights(self, logs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(w, q), of largest weight or of sum about 1."""
        positive = [np.exp(np.maximum(block - block.max(), ordered_factors.FLOOR)) for block in self.blocks(logs)]
        q = positive[0] / positive[0].sum()
        if self.mirrored:
            return q[::-1], q
        return (positive[1], q) if self.free_left else (np.ones(self.n), q)

    def diagonals(self, w: FloatArray, q: FloatArray, tolerance: float) -> Diagonals:
        return mirrored_diagonals(q, tolerance) if self.mirrored else diagonals(Chain(q, w), tolerance)

    def evaluate(self, logs: FloatArray, tolerance: float) -> ordered_factors.Ends:
        """Both ends, without their margins, and the fixed point's step with its scale (see :mod:`.fixed_point`)."""
        w, q = self.weights(logs)
        found = self.diagonals(w, q, tolerance)
        r, a = found.nodes, found.loops
        dual = float(np.dot(q, a))
        lower = dual / math.sqrt(_norm(w, self.dual_order))
        upper = math.sqrt(_norm(r, self.p / 2.0) * a.max())
        step = 2.0 * np.log(a / dual)
        if self.free_left:
            # Newton's scale along smooth directions: the plain step has slope −(p + 2)/2p there.
            left = (1.0 - 2.0 / self.p) * np.log(r) - (2.0 / self.p) * np.log(w)
            step = np.concatenate([step, 2.0 * self.p / (self.p + 2.0) * (left - left.mean())])
        return ordered_factors.Ends(lower, upper, step)

    @property
    def dual_order(self) -> float:
        """p/(p − 2)."""
        if self.p == 2.0:
            return math.inf
        return 1.0 if self.mirrored else self.p / (self.p - 2.0)

    def bounds(self, w: FloatArray, q: FloatArray, found: Diagonals) -> tuple[float, float]:
        """The two ends, rounded outward."""
        r, a = found.nodes, found.loops
        w_norm, w_roundings = norm(w, self.dual_order)
        r_norm, r_roundings = norm(r, self.p / 2.0)
        scale = self.n ** (-1.0 / self.p)
        # Sums, products, roots: fewer than 20. The roundings of p/(p − 2), 1/p and 1/order, as exponents, count
        # ln n < 45 times at most (a norm's logarithm moves with that of its order by an entropy).
        lower = scale * total(q * a) / math.sqrt(total(q) * w_norm)
        upper = scale * math.sqrt(r_norm * float(a.max()))
        return (
            lower / (found.slack * growth(200.0 + w_roundings)),
            upper * found.slack * growth(200.0 + r_roundings),
        )


def _norm(values: FloatArray, order: float) -> float:
    """‖values‖ without its bound, for the iterations."""
    if math.isinf(order):
        return float(values.max())
    largest = float(values.max())
    return float(largest * np.sum((values / largest) ** order) ** (1.0 / order))


def _inner_gap(gap: float, problem: PrefixDual) -> float:
    """Return the gap that the iterations must reach so that the outward margins still fit into the whole gap."""
    return max(0.95 * gap - 2.0 * (gap / 100.0) - 12.0 * problem.n * 2.0**-53, 0.2 * gap)


def _certified(problem: PrefixDual, logs: FloatArray, gap: float, done: int, reached: bool) -> CertifiedNorm:
    from factormech.norms.ordered_factors import prefix_factors

    w, q = (np.ascontiguousarray(weights) for weights in problem.weights(logs))
    found = problem.diagonals(w, q, gap / 100.0)
    lower, upper = problem.bounds(w, q, found)
    left, right, error = prefix_factors(w, q)
    # |e_iᵀ D_w^{−1/2} f(T) M D_q^{−1/2} e_j| ≤ max|f| √(r_i a_j), by Cauchy and Schwarz.
    residual = error * math.sqrt(float(found.nodes.max()) * float(found.loops.max())) * found.slack
    record: dict[str, object] = {
        "method": "chain",
        "iterations": done,
        "stopped": stopped(upper / lower - 1.0, gap, reached),
        "shifts": found.shifts,
        "certified": "both ends in exact arithmetic, at the weights of the witness",
    }
    witness = {"left_weights": w, "right_weights": q}
    return CertifiedNorm(lower, upper, left, right, residual, witness, record)


def stopped(found: float, gap: float, reached: bool) -> str:
    """Why the solver stopped, for the record."""
    if found <= gap:
        return "gap"
    return "rounding" if reached else "iterations"


# γ_F of all ranges.


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
    sizes = ordered_factors.levels(n)
    logs, done = np.zeros(sizes[0]), 0
    for size in sizes:
        logs = logs if logs.size == size else ordered_factors.refined(logs, size)
        problem = RangesDual(size)
        inner = max(0.93 * gap - 12.0 * n * 2.0**-53, 0.2 * gap) if size == n else max(gap, 1e-5)
        evaluate = partial(problem.evaluate, tolerance=inner / 20.0)
        found = ordered_factors.accelerated(evaluate, logs, inner, iterations)
        logs, done = found.logs, done + found.iterations
    return _certified_ranges(RangesDual(n), logs, gap, done, found.reached)


@dataclass(frozen=True)
class RangesDual:
    """The dual problem over the logarithms of q."""

    n: int

    def weights(self, logs: FloatArray) -> FloatArray:
        """A palindrome of sum about 1."""
        logs = 0.5 * (logs + logs[::-1])
        q = np.exp(np.maximum(logs - logs.max(), ordered_factors.FLOOR))
        return np.asarray(q / q.sum())

    def diagonals(self, q: FloatArray, tolerance: float) -> Diagonals:
        # T^{−1/2} over the leaks: a itself.
        return diagonals(Chain(np.full(self.n, self.n + 1.0), q, self.n + 1.0), tolerance)

    def evaluate(self, logs: FloatArray, tolerance: float) -> ordered_factors.Ends:
        """Both ends times √k, without their margins, and twice the fixed point's step."""
        q = self.weights(logs)
        a = self.diagonals(q, tolerance).nodes
        dual = float(np.dot(q, a))
        return ordered_factors.Ends(dual, math.sqrt(dual * float(a.max())), 2.0 * np.log(a / dual))

    def bounds(self, q: FloatArray, found: Diagonals) -> tuple[float, float]:
        """The two ends, rounded outward."""
        a, k = found.nodes, self.n * (self.n + 1) // 2
        dual = total(q * a)
        lower, upper = dual / math.sqrt(k * total(q)), math.sqrt(dual * float(a.max()) / k)
        return lower / (found.slack * growth(20.0)), upper * found.slack * growth(20.0)


def _certified_ranges(problem: RangesDual, logs: FloatArray, gap: float, done: int, reached: bool) -> CertifiedNorm:
    from factormech.norms.ordered_factors import ranges_factors

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
