r"""The fixed point w^s = h/f, q = g/f of ``weighted``, with safeguarded Anderson acceleration.

The plain step was never seen to lower the lower bound (proved when q alone moves); an accelerated one, in the
logarithms of the weights, may: then the plain step from the last good point is taken instead, and the memory is
forgotten. A weight whose limit is zero goes there only geometrically: ``barrier`` is
made for those.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray
from factormech.norms.weighted import DualOutcome, DualPoint, DualProblem, Stopped
from factormech.numerics.acceleration import Anderson

_MEMORY = 12
# An accelerated step moves no logarithm by more than this from the plain one.
_REACH = 3.0
# All weights keep this fraction of the gap, spread over them: by concavity it costs no more of the lower bound, and
# below it a singular value that matters to the upper bound cannot be told from rounding.
_FLOOR_SHARE, _FLOOR = 0.02, 1e-13
# Stop early when the gap shrinks by less than this factor over this many iterations.
_SLOW_FACTOR, _SLOW_AFTER = 3.0, 10


def solve(
    problem: DualProblem,
    gap: float,
    iterations: int,
    *,
    start: FloatArray | None = None,
    patient: bool = True,
) -> DualOutcome:
    """Both best points found; without patience it also stops, ``stalled``, once progress is slow."""
    floor = max(_FLOOR_SHARE * gap / len(problem.exponents), _FLOOR)
    point = problem.at(_floored(problem, problem.start() if start is None else start, floor))
    outcome = DualOutcome(point, point, 1, "iteration_limit")
    memory, gaps, fallback = Anderson(_MEMORY), [outcome.gap], False
    stopped: Stopped = "iteration_limit"
    for iteration in range(1, iterations + 1):
        outcome = DualOutcome(outcome.best_lower, outcome.best_upper, iteration, stopped)
        if outcome.gap <= gap:
            stopped = "gap"
            break
        gaps.append(outcome.gap)
        if not patient and iteration > _SLOW_AFTER and gaps[-1] * _SLOW_FACTOR > gaps[-1 - _SLOW_AFTER]:
            stopped = "stalled"
            break
        if iteration == iterations:
            break
        image = np.log(_plain(problem, point))
        if fallback:
            memory.forget()
        target = memory.extrapolate(image, image - np.log(point.weights), point.powers, _REACH)
        candidate = problem.at(_floored(problem, np.exp(target), floor))
        fallback = candidate.lower < point.lower * (1.0 - 1e-14)
        if fallback:
            candidate = problem.at(_floored(problem, np.exp(image), floor))
        outcome, point = outcome.or_better(candidate), candidate
    return DualOutcome(outcome.best_lower, outcome.best_upper, outcome.iterations, stopped)


def _plain(problem: DualProblem, point: DualPoint) -> FloatArray:
    """The weights whose powers are the masses over f; what vanished in rounding keeps a floor."""
    shares = np.maximum(point.masses / point.total, 1e-300)
    return np.asarray(shares ** (1.0 / problem.exponents))


def _floored(problem: DualProblem, weights: FloatArray, floor: float) -> FloatArray:
    """At least a fixed fraction of the largest weight of the same side."""
    k, floored = problem.rows, weights.copy()
    for side in (floored[:k], floored[k:]):
        if side.size:
            np.maximum(side, floor * side.max(), out=side)
    return floored
