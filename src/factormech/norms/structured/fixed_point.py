r"""The fixed point of the weights, from a coarse domain to a fine one, with Anderson's acceleration.

The dual of γ₍ₚ₎ is max ‖D_√w W D_√q‖_* over the weights; its fixed point is q_j ∝ q_j a_j and
w_i ∝ (w_i r_i)^{(p−2)/p}. In the logarithms of the weights the step is a residual f, which the acceleration (Anderson,
J. ACM 12(4), 1965) combines with the residuals before. Steps of q alone never lower the dual; an accelerated step that
lowers it is taken back, and a plain step follows.

Scaling all of q by t divides every a by √t: along smooth directions twice the residual is Newton's step, and along
rough ones any step is small. So it is the roughness, the corners at both ends, that a coarse start must get right, and
:func:`refined` does: at a fixed distance from an end the weights of different domains are proportional.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from factormech.arrays import FloatArray

MEMORY = 8
# No optimal weight is near e^FLOOR of the largest: a wild step is cut here before floats overflow.
FLOOR = -60.0
COARSEST = 64
RATIO = 4


class Evaluation(Protocol):
    """What a problem says of one choice of weights."""

    @property
    def lower(self) -> float: ...

    @property
    def upper(self) -> float: ...

    @property
    def step(self) -> FloatArray:
        """What the fixed point adds to the logarithms of the weights, by blocks end to end."""
        ...


@dataclass(frozen=True)
class Found:
    """Logarithms of the best weights, after how many evaluations, and whether their gap is small enough."""

    logs: FloatArray
    iterations: int
    reached: bool


Evaluate = Callable[[FloatArray], Evaluation]


def accelerated(evaluate: Evaluate, logs: FloatArray, gap: float, iterations: int) -> Found:
    """Iterate until upper ≤ (1 + gap) lower, or ``iterations`` evaluations; the best point is returned."""
    best, best_gap = logs, np.inf
    safe, safe_step, safe_lower = logs, np.zeros_like(logs), -np.inf
    memory = Memory()
    for done in range(1, iterations + 1):
        found = evaluate(logs)
        here = found.upper / found.lower - 1.0
        if here < best_gap:
            best, best_gap = logs, here
        if here <= gap:
            return Found(best, done, True)
        if found.lower < safe_lower * (1.0 - 0.1 * gap) and len(memory) > 0:
            memory = Memory()
            logs = safe + 0.5 * safe_step
            continue
        safe, safe_step, safe_lower = logs, found.step, found.lower
        memory.append(logs, found.step)
        logs = memory.next(logs, found.step)
    return Found(best, iterations, False)


class Memory:
    """Differences of the last points and of their steps, and the normal equations of the steps'."""

    def __init__(self) -> None:
        self._points: list[FloatArray] = []
        self._steps: list[FloatArray] = []
        self._gram = np.zeros((0, 0))
        self._last: tuple[FloatArray, FloatArray] | None = None

    def __len__(self) -> int:
        return len(self._steps)

    def append(self, point: FloatArray, step: FloatArray) -> None:
        """Remember a point and its step."""
        if self._last is not None:
            self._points.append(point - self._last[0])
            self._steps.append(step - self._last[1])
            column = np.array([np.dot(old, self._steps[-1]) for old in self._steps])
            gram = np.zeros((len(column), len(column)))
            gram[:-1, :-1] = self._gram
            gram[-1], gram[:, -1] = column, column
            self._gram = gram
        if len(self._steps) > MEMORY:
            del self._points[0], self._steps[0]
            self._gram = self._gram[1:, 1:]
        self._last = point, step

    def next(self, point: FloatArray, step: FloatArray) -> FloatArray:
        """Where the remembered steps, extrapolated linearly, would vanish."""
        result: FloatArray = np.add(point, step)
        if self._steps:
            right = np.array([np.dot(old, step) for old in self._steps])
            scale = 1.0 / np.sqrt(np.maximum(np.diagonal(self._gram), 1e-300))
            scaled = self._gram * np.outer(scale, scale)
            mix = scale * np.linalg.lstsq(scaled, scale * right, rcond=1e-13)[0]
            for factor, point_change, step_change in zip(mix, self._points, self._steps, strict=True):
                result -= factor * (point_change + step_change)
        return result


def levels(n: int) -> list[int]:
    """Sizes of the domains solved one after the other, the last being n."""
    sizes = [n]
    while sizes[0] > RATIO * COARSEST:
        sizes.insert(0, -(-sizes[0] // RATIO))
    return sizes


def refined(logs: FloatArray, n: int) -> FloatArray:
    """A start for n weights from the logarithms of fewer: stretched inside, kept at the ends, and blended between.

    The two agree at a sixteenth of the coarse domain by a constant factor, and the blend moves from one to the other
    between a quarter and four times that distance.
    """
    m = logs.size
    stretched = np.interp((np.arange(n) + 0.5) * (m / n) - 0.5, np.arange(m), logs)
    result: FloatArray = np.array(stretched)
    near, far = m / 64.0, m / 4.0
    reach, middle = int(far), m // 16
    blend = np.clip(np.log((np.arange(reach) + 0.5) / near) / np.log(far / near), 0.0, 1.0)
    blend = blend * blend * (3.0 - 2.0 * blend)
    for end in (slice(None), slice(None, None, -1)):
        kept = logs[end][:reach] + stretched[end][middle] - logs[end][middle]
        result[end][:reach] = (1.0 - blend) * kept + blend * stretched[end][:reach]
    return result
