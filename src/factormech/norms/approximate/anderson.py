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
        self.forget()

    def forget(self) -> None:
        """Start afresh, as after a change of the map."""
        self._images: list[FloatArray] = []
        self._steps: list[FloatArray] = []
        self._products = np.zeros((0, 0))
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
        if len(self._steps) < 2:
            self._plain = None
            return image
        self._plain = image
        return self._combined()

    def _remember(self, image: FloatArray, step: FloatArray) -> None:
        self._images, self._steps = [*self._images, image][-self.memory :], [*self._steps, step][-self.memory :]
        column = np.array([float(np.vdot(step, other)) for other in self._steps])
        old = self._products[-(len(column) - 1) :, -(len(column) - 1) :] if len(column) > 1 else np.zeros((0, 0))
        self._products = np.block([[old, column[:-1, None]], [column[None, :]]])

    def _combined(self) -> FloatArray:
        """Weights a of the least ‖Σa_if_i‖ with sum 1: a ∝ G⁻¹1, G the products of the steps."""
        G = self._products / self._products.diagonal().mean()
        a = np.linalg.solve(G + _RIDGE * np.eye(len(G)), np.ones(len(G)))
        a /= a.sum()
        return np.asarray(sum(x * image for x, image in zip(a, self._images, strict=True)))
