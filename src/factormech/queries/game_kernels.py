"""The simplex method on the tableau of a matrix game."""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.compiled import compiled


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
