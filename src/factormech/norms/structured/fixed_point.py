r"""The fixed point of the weights, from a coarse domain to a fine one, with Anderson's acceleration.

The dual of γ₍ₚ₎ is max ‖D_√w W D_√q‖_* over the weights; its fixed point is q_j ∝ q_j a_j and
w_i ∝ (w_i r_i)^{(p−2)/p}. Its steps are those of the logarithms of the weights. Steps of q alone never lower the dual;
an accelerated step that lowers it is taken back, and a plain step follows.

Scaling all of q by t divides every a by √t: along smooth directions twice the residual is Newton's step, and along
rough ones any step is small. So it is the roughness, the corners at both ends, that a coarse start must get right, and
:func:`refined` does: at a fixed distance from an end the weights of different domains are proportional.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.numerics.acceleration import Anderson

MEMORY = 9
# No optimal weight is near e^FLOOR of the largest: a wild step is cut here before floats overflow.
FLOOR = -60.0
COARSEST = 64
RATIO = 4


@dataclass(frozen=True)
class Ends:
    """What a problem says of one choice of weights.

    Attributes
    ----------
    lower, upper
        Both ends, without their margins.
    step
        What the fixed point adds to the logarithms of the weights, by blocks end to end.
    """

    lower: float
    upper: float
    step: FloatArray


@dataclass(frozen=True)
class FixedPoint:
    """Logarithms of the best weights, after how many evaluations, and whether their gap is small enough."""

    logs: FloatArray
    iterations: int
    reached: bool


Evaluate = Callable[[FloatArray], Ends]


def accelerated(evaluate: Evaluate, logs: FloatArray, gap: float, iterations: int) -> FixedPoint:
    """Iterate until upper ≤ (1 + gap) lower, or ``iterations`` evaluations; the best point is returned."""
    best, best_gap = logs, np.inf
    safe, safe_step, safe_lower = logs, np.zeros_like(logs), -np.inf
    memory = Anderson(MEMORY)
    for done in range(1, iterations + 1):
        found = evaluate(logs)
        here = found.upper / found.lower - 1.0
        if here < best_gap:
            best, best_gap = logs, here
        if here <= gap:
            return FixedPoint(best, done, True)
        if found.lower < safe_lower * (1.0 - 0.1 * gap) and len(memory) > 1:
            memory.forget()
            logs = safe + 0.5 * safe_step
            continue
        safe, safe_step, safe_lower = logs, found.step, found.lower
        logs = memory.extrapolate(logs + found.step, found.step)
    return FixedPoint(best, iterations, False)


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
