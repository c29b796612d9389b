r"""Better masses for given sets: the multiplicative (EM) step, and a quasi-Newton method that it preconditions.

*The EM step.* p'_S = p_S (h_S/(ν + μᵀu_S))^e with (ν, μ) such that Σp' = 1 and Σp'u = 0. The reconstruction that is
best for p is one for p' too, so f(p') ≤ nΣp_S²h_S/p'_S; hence e = 1 never increases f, and e = ½ minimises this bound.
e = 1 is faster as a rule, but can cycle for ever.

*The quasi-Newton method.* Put p = Π(exp φ), Π the entropic projection onto the feasible masses (``masses.py``): a
problem without constraints. The derivative in φ is −ν·p·x with x_S = (h_S − ν − μᵀu_S)/ν, the excess, and the step
φ ← φ + x is the EM step but for terms of second order. So L-BFGS with the metric νDiag(p) starts from EM and
gathers what the metric leaves out: the overlap of sets. A step is taken only if it lowers the objective enough, so
the value never increases.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray
from factormech.mechanisms.local.optimal.frame import Blocks, Frame
from factormech.mechanisms.local.optimal.masses import Evaluated, Lists, evaluate, project
from factormech.numerics.descent import Curvature, backtracked

MEMORY = 12
# No log-mass moves further than this in one step.
LONGEST_MOVE = 1.0
_HALVINGS = 12


def improve(
    frame: Frame,
    features: Blocks,
    place: Evaluated,
    steps: int,
    gain: float,
    gap: float = 0.0,
    lists: Lists | None = None,
) -> tuple[Evaluated, int]:
    """At most ``steps`` quasi-Newton steps; it ends where one gains less than ``gain`` or the excess is below ``gap``.

    ``gain`` is relative, and asked of two steps in a row. ``lists`` are those of the sets, where many are small.
    """
    curvature = Curvature(MEMORY)
    poor, taken = 0, 0
    while taken < steps and place.column_gap > gap:
        direction = curvature.direction(_gradient(place), np.maximum(place.masses, 1e-300))
        new = _line_search(frame, features, place, direction, lists)
        if new is None:
            if not len(curvature):
                break
            curvature.clear()
            continue
        taken += 1
        curvature.add(*_pair(place, new))
        poor = poor + 1 if place.value - new.value <= gain * new.value else 0
        place = new
        if poor == 2:
            break
    return place, taken


def _gradient(place: Evaluated) -> FloatArray:
    """∂(log f)/∂φ = −p·x."""
    return -place.masses * place.excess


def _pair(old: Evaluated, new: Evaluated) -> tuple[FloatArray, FloatArray]:
    """The step of the log-masses and the difference of the gradients."""
    live = (old.masses > 0) & (new.masses > 0)
    s = np.zeros(len(old.masses))
    s[live] = np.log(new.masses[live] / old.masses[live])
    return s, _gradient(new) - _gradient(old)


def _line_search(
    frame: Frame, features: Blocks, place: Evaluated, direction: FloatArray, lists: Lists | None
) -> Evaluated | None:
    """A lower place along the direction; None where halving finds none."""
    direction = np.clip(direction, -LONGEST_MOVE, LONGEST_MOVE)
    slope = float(_gradient(place) @ direction)
    if not slope < 0.0:
        return None

    def attempt(t: float) -> tuple[float, Evaluated | None]:
        masses, feasible = project(frame, features[0], place.masses * np.exp(t * direction), place.inverses[0])
        new = evaluate(frame, features, masses, lists) if feasible else None
        return (new.value if new else math.inf), new

    tries = _HALVINGS if features[0].dtype == np.float64 else 3
    found = backtracked(attempt, place.value, place.value * slope, factor=0.4, tries=tries)
    return found[2] if found else None
