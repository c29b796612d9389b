r"""Matrix games solved by the simplex method, for many small ones.

With A (J × n) and any a for which B = A + a is positive, y = v·z and w = v·u of

.. math:: 1/v = \max\{\mathbf 1^\top z : Bz \le \mathbf 1, z \ge 0\}
          = \min\{\mathbf 1^\top u : B^\top u \ge \mathbf 1, u \ge 0\}

are optimal strategies: min_y max_j (Ay)_j = max_w min_x (wᵀA)_x = v − a (Dantzig, in Koopmans (ed.), Activity Analysis
of Production and Allocation, 1951). z = 0 is feasible, so there is one phase, and u is what the slacks cost at its end.
A general solver takes longer to be called than these games take.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray

# Pivots for each column at most, of which one or two are usual, and how far apart both players' values may be.
_PIVOTS, _GAP = 20, 1e-10


def strategies(A: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Laws (y, w) with max_j (Ay)_j and min_x (wᵀA)_x equal but for rounding; nothing where the method fails."""
    from factormech.queries.game_kernels import play

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
