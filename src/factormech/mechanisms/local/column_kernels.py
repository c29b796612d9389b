"""Compiled inner loops over the columns of a strategy; importing this module imports numba (half a second).

**Loops of the published optimiser.** They serve :mod:`factormech.mechanisms.local.pgd_descent`. Matrices arrive
transposed, (columns, m) in C order: one contiguous line for each column. All numbers of a call are of one precision,
double or single, and so is its arithmetic; tolerances are in units of its last place.

**Loops for ℓ1 balls.** They serve :mod:`factormech.mechanisms.local.l1_strategies`, over all columns of a matrix side
by side. Sums run down the columns, row by row: one vector operation serves many columns, and no sum is reordered.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray, RealArray
from factormech.compiled import compiled

# Loops of the published optimiser.

# These sums may be reordered, so that they vectorise: the search for the root needs direction more than
# digits, and `settle` finds the digits afterwards.
_REORDERED = {"reassoc", "nsz", "contract"}
# The extremes of a line are taken in so many places side by side, which is a loop over vectors; in one it would not be.
_SIDE_BY_SIDE = 64
# Lines of a block, and numbers of each that are looked at together: two blocks stay in the cache.
_BLOCK, _CHUNK = 16, 512


@compiled(fastmath=_REORDERED)
def clipped_sum(r: RealArray, shift: float, lower: RealArray, upper: RealArray) -> tuple[float, float]:
    """Σ clip(r + shift, lower, upper), and the number of entries strictly between their bounds."""
    one, zero = r.dtype.type(1.0), r.dtype.type(0.0)
    total: float = zero
    free: float = zero
    for o in range(r.size):
        value = r[o] + shift
        low, high = lower[o], upper[o]
        free += one if low < value < high else zero
        value = low if value < low else value
        total += high if value > high else value
    return total, free


@compiled(fastmath=_REORDERED)
def root_bracket(r: RealArray, lower: RealArray, upper: RealArray) -> tuple[float, float]:
    """The shifts below which every entry is on its lower bound, and above which on its upper."""
    left, right = lower[0] - r[0], upper[0] - r[0]
    whole = r.size - r.size % _SIDE_BY_SIDE
    if whole:
        lefts, rights = lower[:_SIDE_BY_SIDE] - r[:_SIDE_BY_SIDE], upper[:_SIDE_BY_SIDE] - r[:_SIDE_BY_SIDE]
        for start in range(_SIDE_BY_SIDE, whole, _SIDE_BY_SIDE):
            for i in range(_SIDE_BY_SIDE):
                down, up = lower[start + i] - r[start + i], upper[start + i] - r[start + i]
                lefts[i] = down if down < lefts[i] else lefts[i]
                rights[i] = up if up > rights[i] else rights[i]
        left, right = lefts.min(), rights.max()
    for o in range(whole, r.size):
        down, up = lower[o] - r[o], upper[o] - r[o]
        left = down if down < left else left
        right = up if up > right else right
    return left, right


@compiled()
def root(r: RealArray, lower: RealArray, upper: RealArray) -> float:
    """The shift λ at which Σ clip(r + λ, lower, upper) = 1, by Newton steps kept inside a shrinking bracket.

    The sum is piecewise linear in λ: a Newton step from the piece that holds the root lands on it. A step
    that would leave the bracket, or that has not halved the residual, is followed by a bisection, so the
    search always ends.
    """
    zero, half, one, two = r.dtype.type(0.0), r.dtype.type(0.5), r.dtype.type(1.0), r.dtype.type(2.0)
    enough = r.dtype.type(1.8) * np.finfo(r.dtype).eps
    left, right = root_bracket(r, lower, upper)
    shift: float = min(max(zero, left), right)
    before = two
    for _ in range(2200):
        total, free = clipped_sum(r, shift, lower, upper)
        missing = one - total
        if abs(missing) <= enough:
            break
        if missing > zero:
            left = shift
        else:
            right = shift
        newton = shift + missing / free if free > zero else left
        if free > zero and newton == shift:
            break
        if abs(missing) <= half * before and left < newton < right:
            before = abs(missing)
            shift = newton
            continue
        before = two
        middle = half * (left + right)
        if not left < middle < right:
            break
        shift = middle
    return shift


@compiled()
def exact_sum(values: FloatArray) -> float:
    """Sum with error compensation (Neumaier): right to the last digit or two, whatever the length."""
    total, lost = 0.0, 0.0
    for o in range(values.size):
        value = values[o]
        new = total + value
        lost += (total - new) + value if abs(total) >= abs(value) else (value - new) + total
        total = new
    return total + lost


@compiled()
def shift_and_clip(q: RealArray, shift: float, lower: RealArray, upper: RealArray) -> None:
    """q ← clip(q + shift, lower, upper)."""
    for o in range(q.size):
        q[o] = min(max(q[o] + shift, lower[o]), upper[o])


@compiled()
def settle(q: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
    """Move the free entries of q by the rounding that the root left, so that q sums to 1 to the last digits.

    If no entry is free, the residual (rounding still) is spread over the entries that can take it.
    """
    for _ in range(4):
        missing = 1.0 - exact_sum(q)
        if abs(missing) <= 1.2e-16:
            return
        free, movable = 0, 0
        for o in range(q.size):
            free += lower[o] < q[o] < upper[o]
            movable += q[o] < upper[o] if missing > 0.0 else q[o] > lower[o]
        if movable == 0:
            return
        step = missing / (free if free > 0 else movable)
        for o in range(q.size):
            if free == 0 or lower[o] < q[o] < upper[o]:
                q[o] = min(max(q[o] + step, lower[o]), upper[o])


@compiled()
def project(T: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
    """Replace every line of T by its projection onto {lower ≤ q ≤ upper, 1ᵀq = 1}."""
    for u in range(T.shape[0]):
        q = T[u]
        shift_and_clip(q, root(q, lower, upper), lower, upper)
        # Where the points were far larger than q, r + λ has lost digits of q: again, at the size of q.
        if abs(1.0 - exact_sum(q)) > 1e-13:
            shift_and_clip(q, root(q, lower, upper), lower, upper)
        settle(q, lower, upper)


@compiled()
def step(T: RealArray, G: RealArray, size: float, lower: RealArray, upper: RealArray) -> None:
    """T ← Π(T − size·G), up to the last digits of the sums: what an iterate needs, of which there are hundreds."""
    amount, zero = T.dtype.type(size), T.dtype.type(0.0)
    lost = 450 * np.finfo(T.dtype).eps
    for u in range(T.shape[0]):
        q = T[u]
        for o in range(q.size):
            q[o] -= amount * G[u, o]
        shift = root(q, lower, upper)
        shift_and_clip(q, shift, lower, upper)
        # Where the points were far larger than q, r + λ has lost digits of q: again, at the size of q.
        if abs(1.0 - clipped_sum(q, zero, lower, upper)[0]) > lost:
            shift_and_clip(q, root(q, lower, upper), lower, upper)


@compiled(fastmath=_REORDERED)
def free_mean(g: RealArray, q: RealArray, lower: RealArray, upper: RealArray) -> float:
    """Mean of g over the free entries of q, or over all entries if none is free."""
    total, free, everything = 0.0, 0.0, 0.0
    for o in range(q.size):
        inside = 1.0 if lower[o] < q[o] < upper[o] else 0.0
        total += inside * g[o]
        free += inside
        everything += g[o]
    return total / free if free > 0.0 else everything / q.size


@compiled()
def pull_back(
    G: RealArray,
    T: RealArray,
    lower: RealArray,
    upper: RealArray,
    ratio: float,
    multipliers_move: bool,
    out: FloatArray,
) -> None:
    """Add to ``out`` the derivative in the lower bounds; the upper bounds are ``ratio`` times as large."""
    for u in range(T.shape[0]):
        g, q = G[u], T[u]
        mean = free_mean(g, q, lower, upper) if multipliers_move else 0.0
        for o in range(q.size):
            slope = 1.0 if q[o] <= lower[o] else (ratio if q[o] >= upper[o] else 0.0)
            out[o] += slope * (g[o] - mean)


@compiled()
def add_lines(T: RealArray, sums: FloatArray) -> None:
    """Add the lines of T to ``sums``, one after the other, in double precision."""
    for u in range(T.shape[0]):
        for o in range(sums.size):
            sums[o] += T[u, o]


@compiled()
def centre(T: RealArray, means: RealArray, factors: RealArray, out: RealArray) -> None:
    """Write (T − means)·Diag(factors)."""
    for u in range(T.shape[0]):
        for o in range(factors.size):
            out[u, o] = (T[u, o] - means[o]) * factors[o]


@compiled()
def combine(out: RealArray, factors: RealArray, row_terms: RealArray, column_terms: RealArray) -> None:
    """P ← P·Diag(factors) + row terms − column terms."""
    for u in range(out.shape[0]):
        for o in range(factors.size):
            out[u, o] = out[u, o] * factors[o] + (row_terms[o] - column_terms[u])


@compiled(fastmath=_REORDERED)
def distance(one: FloatArray, other: FloatArray) -> float:
    """‖one − other‖₁; in an order of its own, so that it runs on vectors."""
    total = 0.0
    for i in range(one.size):
        total += abs(one[i] - other[i])
    return total


@compiled()
def largest_l1_distance(lines: FloatArray) -> float:
    """max ‖a_u − a_v‖₁ over the pairs of lines, (n, m) in C order; a sum of absolute differences each."""
    n, m = lines.shape
    largest = 0.0
    for first in range(0, n, _BLOCK):
        for second in range(first, n, _BLOCK):
            u_end, v_end = min(first + _BLOCK, n), min(second + _BLOCK, n)
            for u in range(first, u_end):
                for v in range(max(second, u + 1), v_end):
                    total = 0.0
                    for start in range(0, m, _CHUNK):
                        total += distance(lines[u, start : start + _CHUNK], lines[v, start : start + _CHUNK])
                    largest = max(largest, total)
    return largest


# Loops for ℓ1 balls.


@compiled()
def raise_thresholds(A: FloatArray, largest: FloatArray, t: FloatArray, total: FloatArray, count: FloatArray) -> bool:
    """One step of Michelot's method, t ← max(t, (Σ_active m − 1)/#active), m = |a| − max|a|; whether any t moved."""
    total[:] = 0.0
    count[:] = 0.0
    for i in range(A.shape[0]):
        for u in range(A.shape[1]):
            m = abs(A[i, u]) - largest[u]
            active = m > t[u]
            total[u] += m if active else 0.0
            count[u] += 1.0 if active else 0.0
    moved = False
    for u in range(A.shape[1]):
        if t[u] > -np.inf:
            raised = (total[u] - 1.0) / count[u]
            if raised > t[u]:
                t[u] = raised
                moved = True
    return moved


@compiled()
def thresholds(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The largest |a| of each column, and the t by which |a| less that is lowered; −∞ for columns within the ball.

    From the largest entry down: only what is less than 1 below it survives, and huge steps keep their digits.
    """
    n = A.shape[1]
    largest, norms = np.zeros(n), np.zeros(n)
    for i in range(A.shape[0]):
        for u in range(n):
            size = abs(A[i, u])
            norms[u] += size
            largest[u] = size if size > largest[u] else largest[u]
    t = np.where(norms > 1.0, -1.0, -np.inf)
    total, count = np.empty(n), np.empty(n)
    while raise_thresholds(A, largest, t, total, count):
        pass
    return largest, t
