"""Minimisation and fixed points: L-BFGS, step lengths, Anderson acceleration.

**Parts of descents.** The memory of L-BFGS, step lengths by halving, and the distance to a boundary.

**Anderson acceleration of a fixed-point map T.** Of the last images T(x_i) and steps f_i = T(x_i) − x_i the
combination Σa_iT(x_i) is taken, Σa_i = 1, whose Σa_if_i is shortest (Anderson, J. ACM 12, 1965; Walker & Ni, SIAM J.
Numer. Anal. 49, 2011). On an affine map of k numbers k + 1 steps are enough for the fixed point.

Without weights the products of the steps are kept, and a new step costs one more line of them: this is for matrices.
With weights w, that may change from step to step, the length is that of √w f, and differences of steps are combined
by an orthogonal factorization, which keeps more digits: this is for logarithms of weights, of which small ones matter
less.

**L-BFGS with a bracketing line search.** It minimises a smooth function that is infinite outside an open set.
Variables may have lower limits: a step is cut off at them, and a variable that rests on its limit while the function
would fall beyond it stays out of the step.

The search of a step asks for sufficient decrease and a sufficiently increased slope (the weak Wolfe conditions), and
halves or doubles its bracket: an infinite value only says that the step is too long. scipy's searches interpolate
values, and end where they meet an infinite one.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from factormech.arrays import FloatArray

# Parts of descents.

_Found = TypeVar("_Found")


class Curvature:
    """The last ``memory`` steps s of a descent with their differences of gradients y: L-BFGS.

    A pair with sᵀy ≤ ``least``·‖s‖‖y‖ says nothing of a convex function, and is left out.
    """

    def __init__(self, memory: int, least: float = 1e-10) -> None:
        self.least = least
        self._pairs: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=memory)

    def __len__(self) -> int:
        return len(self._pairs)

    def clear(self) -> None:
        """Forget all pairs."""
        self._pairs.clear()

    def add(self, s: FloatArray, y: FloatArray) -> None:
        """Remember a pair."""
        if s @ y > self.least * float(np.linalg.norm(s) * np.linalg.norm(y)):
            self._pairs.append((s, y))

    def direction(self, gradient: FloatArray, metric: FloatArray | float = 1.0) -> FloatArray:
        """−Hg by the two loops over the pairs (Nocedal, Math. Comp. 35, 1980).

        H begins as Diag(1/``metric``), of the size that the last pair says: without pairs this is −g/``metric``.
        """
        q, shares = gradient, []
        for s, y in reversed(self._pairs):
            share = (s @ q) / (s @ y)
            q = q - share * y
            shares.append(share)
        if self._pairs:
            s, y = self._pairs[-1]
            q = q * (s @ y) / float(np.sum(y * y / metric))
        d = np.asarray(q / metric)
        for (s, y), share in zip(self._pairs, reversed(shares), strict=True):
            d += (share - (y @ d) / (s @ y)) * s
        return -d


def backtracked(
    attempt: Callable[[float], tuple[float, _Found]],
    now: float,
    slope: float,
    *,
    length: float = 1.0,
    factor: float = 0.5,
    tries: int = 40,
    share: float = 1e-4,
    noise: float = 0.0,
) -> tuple[float, float, _Found] | None:
    """The first length t of t, t·``factor``, … whose value is low enough, with the value and what was found there.

    Low enough is at most ``now`` + ``share``·t·``slope`` + ``noise`` (Armijo); None where none of so many ``tries`` is.
    The value of an ``attempt`` may be infinite.
    """
    for _ in range(tries):
        value, found = attempt(length)
        if value <= now + share * length * slope + noise:
            return length, value, found
        length *= factor
    return None


def room(relative: FloatArray, share: float) -> float:
    """At most 1, and at most ``share`` of the way along the ``relative`` step Δx/x to where an x > 0 would be 0."""
    return min(1.0, share / max(-float(relative.min()), 1e-300))


# Anderson acceleration of a fixed-point map T.

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


# L-BFGS with a bracketing line search.

Function = Callable[[FloatArray], tuple[float, FloatArray]]

# Pairs of steps and gradient differences that are kept; steps over which a gain is judged; tries of one step.
MEMORY = 20
PATIENCE = 4
TRIES = 40


def minimise(
    function: Function, start: FloatArray, gain: float, steps: int, lower: FloatArray | float = -math.inf
) -> tuple[FloatArray, float]:
    """The best point found and its value; it ends where ``PATIENCE`` steps gain less than ``gain`` together.

    Parameters
    ----------
    function
        Value and gradient at a point; the gradient of an infinite value is not looked at.
    start
        A point of finite value.
    gain
        What is too little.
    steps
        The most steps taken.
    lower
        The limits.
    """
    x = np.maximum(start, lower)
    f, g = function(x)
    pairs: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=MEMORY)
    history = deque([f], maxlen=PATIENCE + 1)
    for _ in range(steps):
        free = (x > lower) | (g < 0.0)
        direction = np.where(free, _direction(np.where(free, g, 0.0), pairs), 0.0)
        found = _step(function, x, f, g, direction, lower)
        if found is None:
            break
        new, f, slope = found
        s, y = new - x, slope - g
        if s @ y > 1e-14 * float(np.linalg.norm(s) * np.linalg.norm(y)):
            pairs.append((s, y))
        x, g = new, slope
        history.append(f)
        if len(history) > PATIENCE and history[0] - f < gain:
            break
    return x, f


def _direction(g: FloatArray, pairs: deque[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """−Hg by the two loops over the kept pairs; a short step down the gradient where there are none."""
    if not pairs:
        return -g / max(float(np.linalg.norm(g)), 1e-300)
    q, shares = g.copy(), []
    for s, y in reversed(pairs):
        share = (s @ q) / (s @ y)
        q -= share * y
        shares.append(share)
    s, y = pairs[-1]
    q *= (s @ y) / (y @ y)
    for (s, y), share in zip(pairs, reversed(shares), strict=True):
        q += (share - (y @ q) / (s @ y)) * s
    return np.asarray(-q)


def _step(
    function: Function, x: FloatArray, f: float, g: FloatArray, direction: FloatArray, lower: FloatArray | float
) -> tuple[FloatArray, float, FloatArray] | None:
    """A point along the direction with its value and gradient; None where nothing lower is found."""
    slope = float(g @ direction)
    low, high, t = 0.0, math.inf, 1.0
    best = None
    if not slope < 0.0:
        return None
    for _ in range(TRIES):
        new = np.maximum(x + t * direction, lower)
        moved = new - x
        value, gradient = function(new)
        if not value <= f + 1e-4 * min(float(g @ moved), 0.0):
            high = t
        else:
            best = (new, value, gradient)
            if gradient @ moved >= 0.9 * (g @ moved):
                break
            low = t
        t = 0.5 * (low + high) if math.isfinite(high) else 2.0 * low
    return best
