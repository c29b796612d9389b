r"""Compiled: the active-set method of Lawson & Hanson (Solving Least Squares Problems, 1974, chapter 23).

The free entries F, in order of entry, have G_FF = LLᵀ and u = L⁻¹b_F. Both grow by a row when an entry is freed; when
one is bound, rotations of neighbouring columns bring L without its row back to a triangle, and u is rotated alike.
Only the columns of G = WᵀW that were free once are ever made.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.compiled import compiled

# A pivot of L² below this share of the diagonal of G is taken for a singular G_FF.
LEAST_PIVOT = 1e-12
# Least normal number: no length that is divided by is below it.
TINY = float(np.finfo(np.float64).tiny)


@compiled()
def grown(L: FloatArray, u: FloatArray, members: IntArray, k: int, column: FloatArray, entry: int, b: float) -> bool:
    """Write row k of L and u for an entry with its column of G; false if G_FF would be singular."""
    row, pivot = L[k], column[entry]
    for i in range(k):
        value = column[members[i]]
        for t in range(i):
            value -= L[i, t] * row[t]
        row[i] = value / L[i, i]
        pivot -= row[i] * row[i]
        b -= row[i] * u[i]
    if not pivot > LEAST_PIVOT * column[entry]:
        return False
    row[k] = math.sqrt(pivot)
    u[k] = b / row[k]
    members[k] = entry
    return True


@compiled()
def shrink(L: FloatArray, u: FloatArray, members: IntArray, x: FloatArray, k: int, at: int) -> None:
    """Remove entry ``at`` of the k free ones from the factor L, from u and from x, in place."""
    for i in range(at, k - 1):
        members[i], x[i] = members[i + 1], x[i + 1]
        L[i, : i + 2] = L[i + 1, : i + 2]
    for t in range(at, k - 1):
        length = math.hypot(L[t, t], L[t, t + 1])
        cosine, sine = L[t, t] / length, L[t, t + 1] / length
        u[t], u[t + 1] = cosine * u[t] + sine * u[t + 1], cosine * u[t + 1] - sine * u[t]
        for i in range(t, k - 1):
            one, two = L[i, t], L[i, t + 1]
            L[i, t], L[i, t + 1] = cosine * one + sine * two, cosine * two - sine * one


@compiled()
def back(L: FloatArray, u: FloatArray, k: int, z: FloatArray) -> None:
    """Solve Lᵀz = u by substitution, into the first k entries of z."""
    z[:k] = u[:k]
    for i in range(k - 1, -1, -1):
        z[i] /= L[i, i]
        for t in range(i):
            z[t] -= z[i] * L[i, t]


@compiled()
def walk(L: FloatArray, u: FloatArray, members: IntArray, x: FloatArray, z: FloatArray, k: int) -> tuple[int, int]:
    """Go from x to z and bind what would become negative on the way; return what is left of k, and the solves."""
    for solves in range(1, k + 2):  # each but the last binds one at least
        back(L, u, k, z)
        step = 1.0
        for i in range(k):
            if z[i] <= 0.0:
                step = min(step, x[i] / max(x[i] - z[i], TINY))
        if k == 0 or z[:k].min() > 0.0:
            x[:k] = z[:k]
            return k, solves
        for i in range(k - 1, -1, -1):
            blocks = z[i] <= 0.0 and x[i] / max(x[i] - z[i], TINY) <= step
            x[i] += step * (z[i] - x[i])
            if blocks:
                shrink(L, u, members, x, k, i)
                k -= 1
    return k, k + 1


@compiled()
def slopes(columns: FloatArray, slot: IntArray, members: IntArray, x: FloatArray, k: int, y: FloatArray) -> None:
    """Add Gx to y."""
    for i in range(k):
        column = columns[slot[members[i]]]
        for j in range(len(y)):
            y[j] += x[i] * column[j]


@compiled()
def nearest(
    W: FloatArray, columns: FloatArray, slot: IntArray, b: FloatArray, tolerance: float, found: FloatArray
) -> tuple[bool, int]:
    """Write the x ≥ 0 of least xᵀGx/2 − bᵀx into ``found`` (zeros); return whether it is optimal, and the solves.

    Optimal is only what is so strictly: yᵢ above the tolerance wherever i is bound, so that x is the only optimum.
    Columns of G that are not there yet (``slot`` < 0) are made.
    """
    n = len(b)
    L, u, x, z = np.empty((n, n)), np.empty(n), np.empty(n), np.empty(n)
    members, made, k, solves = np.empty(n, np.int64), slot.max() + 1, 0, 0
    for _ in range(3 * n):
        y = -b
        slopes(columns, slot, members, x, k, y)
        y[members[:k]] = np.inf
        enters = int(np.argmin(y))
        if k == n or y[enters] > tolerance:
            found[members[:k]] = x[:k]
            return True, solves
        if slot[enters] < 0:
            columns[made] = np.dot(W.T, np.ascontiguousarray(W[:, enters]))
            slot[enters], made = made, made + 1
        if y[enters] >= -tolerance or not grown(L, u, members, k, columns[slot[enters]], enters, b[enters]):
            break
        x[k] = 0.0
        k, more = walk(L, u, members, x, z, k + 1)
        solves += more
    return False, solves


@compiled()
def violation(W: FloatArray, x: FloatArray, b: FloatArray) -> float:
    """Return how far x ≥ 0 is from y ≥ 0 and xᵢyᵢ = 0 for y = WᵀWx − b, relative to ‖b‖_∞ + ‖WᵀWx‖_∞."""
    products = np.dot(W.T, np.dot(W, x))
    worst, largest, largest_b = 0.0, 0.0, 0.0
    for i in range(len(b)):
        y = products[i] - b[i]
        worst = max(worst, abs(y) if x[i] > 0.0 else -y)
        largest, largest_b = max(largest, abs(products[i])), max(largest_b, abs(b[i]))
    return worst / (largest_b + largest + TINY)


@compiled()
def nearest_of_each(W: FloatArray, rows: FloatArray, tolerance: float, X: FloatArray) -> tuple[FloatArray, IntArray]:
    """Write into the rows of X (zeros) the x ≥ 0 of least ‖Wx − Wx̂‖ for every row x̂; violations, and systems solved.

    The violation is infinite where no strict optimum was found.
    """
    count, n = rows.shape
    columns, slot = np.empty((n, n)), np.full(n, -1)
    missed, solves = np.full(count, np.inf), np.zeros(count, np.int64)
    for i in range(count):
        b = np.dot(W.T, np.dot(W, rows[i]))
        if np.isfinite(b).all():
            solved, solves[i] = nearest(W, columns, slot, b, tolerance * np.abs(b).max(), X[i])
            if solved:
                missed[i] = violation(W, X[i], b)
    return missed, solves
