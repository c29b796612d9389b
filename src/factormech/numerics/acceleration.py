r"""Anderson acceleration of a fixed-point map T.

Of the last images T(x_i) and steps f_i = T(x_i) − x_i the combination Σa_iT(x_i) is taken, Σa_i = 1, whose Σa_if_i is
shortest (Anderson, J. ACM 12, 1965; Walker & Ni, SIAM J. Numer. Anal. 49, 2011). On an affine map of k numbers k + 1
steps are enough for the fixed point.

Without weights the products of the steps are kept, and a new step costs one more line of them: this is for matrices.
With weights w, that may change from step to step, the length is that of √w f, and differences of steps are combined
by an orthogonal factorization, which keeps more digits: this is for logarithms of weights, of which small ones matter
less.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray

# Relative size of what is added to the diagonal of the products, and singular values of differences that count as 0.
_RIDGE = 1e-10
_NEGLIGIBLE = 1e-10


class Anderson:
    """The last ``memory`` images and steps of one sequence of arrays of one shape."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        # A row for each, and which rows are in use, oldest first.
        self._images, self._steps = np.zeros((memory, 0)), np.zeros((memory, 0))
        self._products = np.zeros((memory, memory))
        self._used: list[int] = []
        self.forget()

    def forget(self, keep: int = 0) -> None:
        """Start afresh, as after a change of the map; the last ``keep`` pairs stay."""
        last = self._used[len(self._used) - keep :] if keep else []
        for rows in (self._images, self._steps):
            rows[: len(last)] = rows[last]
        self._used = list(range(len(last)))
        self._products[: len(last), : len(last)] = self._steps[: len(last)] @ self._steps[: len(last)].T
        self._length = np.inf
        self._plain: FloatArray | None = None

    def __len__(self) -> int:
        return len(self._used)

    def next(self, image: FloatArray, step: FloatArray) -> FloatArray:
        """The point to go on from, given T(x) and T(x) − x at the last answer, where T's own steps never grow.

        Where a step after an accelerated point is longer than the last good one, that point is given up for the plain
        image before it, and the memory is forgotten: what is left without the failures converges as plain steps do.
        """
        length = float(np.linalg.norm(step))
        if self._plain is not None and length > self._length:
            plain = self._plain
            self.forget()
            return plain
        self._length, self._plain = length, image if self._used else None
        return self.extrapolate(image, step)

    def extrapolate(
        self, image: FloatArray, step: FloatArray, weights: FloatArray | None = None, reach: float = np.inf
    ) -> FloatArray:
        """The combination itself; with weights, no entry of it is further than ``reach`` from the image."""
        row = self._remember(image, step)
        n = len(self._used)
        if weights is None:
            self._products[row, :n] = self._products[:n, row] = self._steps[:n] @ self._steps[row]
        if n < 2:
            return image
        found = self._by_products() if weights is None else self._by_differences(np.sqrt(weights.ravel()), reach)
        return found.reshape(image.shape)

    def _remember(self, image: FloatArray, step: FloatArray) -> int:
        if self._images.shape[1] != image.size:
            self._images, self._steps = np.zeros((self.memory, image.size)), np.zeros((self.memory, image.size))
        row = len(self._used) if len(self._used) < self.memory else self._used.pop(0)
        self._used.append(row)
        self._images[row], self._steps[row] = image.ravel(), step.ravel()
        return row

    def _by_products(self) -> FloatArray:
        """Weights a of the least ‖Σa_if_i‖ with sum 1: a ∝ G⁻¹1, G the products of the steps."""
        n = len(self._used)
        size = self._products[:n, :n].diagonal().mean()
        if not size > 0.0:
            return np.array(self._images[self._used[-1]])
        G = self._products[:n, :n] / size
        a = np.linalg.solve(G + _RIDGE * np.eye(n), np.ones(n))
        a /= a.sum()
        return np.asarray(a @ self._images[:n])

    def _by_differences(self, roots: FloatArray, reach: float) -> FloatArray:
        """The last image less the differences of images, by the coefficients that those of steps make of the step."""
        images, steps = self._images[self._used], self._steps[self._used]
        F = np.diff(steps, axis=0).T * roots[:, None]
        coefficients = np.linalg.lstsq(F, steps[-1] * roots, rcond=_NEGLIGIBLE)[0]
        return np.asarray(images[-1] - np.clip(np.diff(images, axis=0).T @ coefficients, -reach, reach))
