r"""Matrix games solved by the simplex method, for many small ones.

**The linear program of a game.** With A (J × n) and any a for which B = A + a is positive, y = v·z and w = v·u of

.. math:: 1/v = \max\{\mathbf 1^\top z : Bz \le \mathbf 1, z \ge 0\}
          = \min\{\mathbf 1^\top u : B^\top u \ge \mathbf 1, u \ge 0\}

are optimal strategies: min_y max_j (Ay)_j = max_w min_x (wᵀA)_x = v − a (Dantzig, in Koopmans (ed.), Activity Analysis
of Production and Allocation, 1951). z = 0 is feasible, so there is one phase, and u is what the slacks cost at its end.
A general solver takes longer to be called than these games take.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.compiled import compiled

# The linear program of a game.

# Pivots for each column at most, of which one or two are usual, and how far apart both players' values may be.
_PIVOTS, _GAP = 20, 1e-10


def strategies(A: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Laws (y, w) with max_j (Ay)_j and min_x (wᵀA)_x equal but for rounding; nothing where the method fails."""

    J, n = A.shape
    size = float(np.abs(A).max())
    tableau = np.ones((J + 1, n + 1))
    if size > 0.0:
        np.add(A / size, 2.0, out=tableau[:J, :n])
    tableau[J, :n], tableau[J, n] = -1.0, 0.0
    # The variables of the rows, z_x being x and slack j being n + j, then those of the columns.
    basis = np.concatenate([n + np.arange(J), np.arange(n)])
    if not play(tableau, basis, _PIVOTS * n):
        return None
    z, u = np.zeros(n + J), np.zeros(n + J)
    z[basis[:J]], u[basis[J:]] = tableau[:J, n], tableau[J, :n]
    y, w = np.maximum(z[:n], 0.0), np.maximum(u[n:], 0.0)
    y, w = y / y.sum(), w / w.sum()
    gap = float((A @ y).max() - (w @ A).min())
    return (y, w) if gap <= _GAP * max(size, 1.0) else None


# Steps on the tableau.


@compiled(error_model="numpy")
def play(tableau: FloatArray, basis: IntArray, limit: int) -> bool:
    """Bring the tableau to its optimum, in place; false if that takes more than ``limit`` pivots.

    Rows are (B | 1) of By ≤ 1 over slacks, entries of B positive, and last the costs −1 and the objective; ``basis``
    says of each row what is basic in it: n + row for a slack. Entering and leaving variables exchange columns, so the
    tableau has no identity in it: column c is what ``basis[rows + c]`` has.
    """
    J, n = tableau.shape[0] - 1, tableau.shape[1] - 1
    for _ in range(limit):
        entering, least = -1, -1e-11
        for c in range(n):
            if tableau[J, c] < least:
                entering, least = c, tableau[J, c]
        if entering < 0:
            return True
        leaving, ratio = -1, np.inf
        for r in range(J):
            pivot = tableau[r, entering]
            if pivot > 1e-9:
                q = tableau[r, n] / pivot
                # Of equal ratios the largest pivot, which rounds least.
                if q < ratio - 1e-12 or (q <= ratio + 1e-12 and pivot > tableau[leaving, entering]):
                    leaving, ratio = r, q
        if leaving < 0:
            return False
        exchange(tableau, leaving, entering)
        basis[leaving], basis[J + entering] = basis[J + entering], basis[leaving]
    return False


@compiled(error_model="numpy")
def exchange(tableau: FloatArray, leaving: int, entering: int) -> None:
    """One pivot: the variable of the row and that of the column change places."""
    inverse = 1.0 / tableau[leaving, entering]
    width = tableau.shape[1]
    for c in range(width):
        tableau[leaving, c] *= inverse
    tableau[leaving, entering] = inverse
    for r in range(tableau.shape[0]):
        if r != leaving:
            factor = tableau[r, entering]
            if factor != 0.0:
                tableau[r, entering] = 0.0
                for c in range(width):
                    tableau[r, c] -= factor * tableau[leaving, c]
