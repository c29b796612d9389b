r"""Anderson acceleration of a map of matrices, safeguarded.

Of the last images T(V_i) and steps f_i = T(V_i) − V_i the combination Σa_iT(V_i) is taken, Σa_i = 1, whose Σa_if_i is
shortest (Walker & Ni, SIAM J. Numer. Anal. 49, 2011). The splitting's own step never grows (it is averaged); where a
step after an accelerated point is longer than the last good one, that point is given up for the plain image before it
and the memory is forgotten. So the sequence without its failures converges as the plain one does.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray

# Relative size of what is added to the normal equations' diagonal.
_RIDGE = 1e-10


class Anderson:
    """The memory of one sequence of matrices."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        # The last images and steps, a row each, and which rows are in use, oldest first.
        self._images, self._steps = np.zeros((memory, 0)), np.zeros((memory, 0))
        self._shape: tuple[int, ...] = (0,)
        self.forget()

    def forget(self) -> None:
        """Start afresh, as after a change of the map."""
        self._used: list[int] = []
        self._products = np.zeros((self.memory, self.memory))
        self._length = np.inf
        self._plain: FloatArray | None = None

    def next(self, image: FloatArray, step: FloatArray) -> FloatArray:
        """The point to go on from, given T(V) and T(V) − V at the point that was last answered."""
        length = float(np.linalg.norm(step))
        if self._plain is not None and length > self._length:
            plain = self._plain
            self.forget()
            return plain
        self._length = length
        self._remember(image, step)
        if len(self._used) < 2:
            self._plain = None
            return image
        self._plain = image
        return self._combined()

    def _remember(self, image: FloatArray, step: FloatArray) -> None:
        if self._images.shape[1] != image.size:
            self._images, self._steps = np.zeros((self.memory, image.size)), np.zeros((self.memory, image.size))
        row = len(self._used) if len(self._used) < self.memory else self._used.pop(0)
        self._used.append(row)
        self._shape = image.shape
        self._images[row], self._steps[row] = image.ravel(), step.ravel()
        n = len(self._used)
        self._products[row, :n] = self._products[:n, row] = self._steps[:n] @ self._steps[row]

    def _combined(self) -> FloatArray:
        """Weights a of the least ‖Σa_if_i‖ with sum 1: a ∝ G⁻¹1, G the products of the steps."""
        n = len(self._used)
        G = self._products[:n, :n] / self._products[:n, :n].diagonal().mean()
        a = np.linalg.solve(G + _RIDGE * np.eye(n), np.ones(n))
        a /= a.sum()
        return np.asarray((a @ self._images[:n]).reshape(self._shape))
