"""Pieces of descents: the memory of L-BFGS, step lengths by halving, and how far a boundary is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from factormech.arrays import FloatArray

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
