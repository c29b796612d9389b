r"""The mean of repeated draws to a stated relative width: a bounded number of looks, each at its share of the level.

The draws double from look to look, and the procedure ends at the first look whose interval is narrow enough. With J
looks at most, each at the level level/J (Bonferroni), the interval holds wherever it ends. An interval is Student's, on
``FIRST`` draws or more: as good as the central limit theorem is there. For the largest entry of a Gaussian vector a
second one needs no limit theorem: ‖Lz‖_∞ is a Lipschitz function of z with the constant ρ = max‖L_i‖, so that the mean
of t draws is within ρ√(2 ln(2J/level)/t) of the expectation (Gaussian concentration; Boucheron, Lugosi & Massart,
Concentration Inequalities, 2013, Theorem 5.6).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue
from factormech.numerics.intervals import Estimate as Estimate
from factormech.numerics.intervals import student_half_width

FIRST = 256
LEVEL = 1e-6
LOOKS = 14


@dataclass(frozen=True)
class SimulatedMean:
    """What the draws M say of E M and of (E M²)^{1/2}.

    Attributes
    ----------
    mean, root_mean_square
        With intervals that hold together at the level asked for.
    certain
        E M within the limits of Gaussian concentration, which assumes nothing of the law of M; ``None`` where M is no
        Lipschitz function of the noise.
    draws, looks
        How many.
    reached
        Whether both intervals are as narrow as asked; if not, the looks ran out.
    """

    mean: Estimate
    root_mean_square: Estimate
    certain: Estimate | None
    draws: int
    looks: int
    level: float
    reached: bool


def estimate(
    draw: Callable[[int], FloatArray],
    relative_width: float,
    *,
    level: float = LEVEL,
    looks: int = LOOKS,
    lipschitz: float | None = None,
) -> SimulatedMean:
    """E M and (E M²)^{1/2} of non-negative draws M, both to this relative width; ``draw(t)`` makes t of them."""
    if not (isinstance(relative_width, (int, float)) and 0.0 < relative_width < 1.0):
        raise BadValue("relative_width", relative_width, "be above 0 and below 1", "give for example 0.02")
    if not (isinstance(level, (int, float)) and 0.0 < level < 1.0):
        raise BadValue("level", level, "be above 0 and below 1", "give for example 1e-6")
    looks = check_positive_integer("looks", looks)
    seen = np.empty(0)
    for look in itertools.count(1):
        seen = np.concatenate([seen, draw(max(FIRST, seen.size))])
        # Two intervals a look.
        mean, square = student(seen, level / (2 * looks)), student(seen * seen, level / (2 * looks))
        root = Estimate(*(math.sqrt(max(end, 0.0)) for end in (square.value, square.low, square.high)))
        reached = max(mean.relative_width, root.relative_width) <= relative_width
        if reached or look == looks:
            break
    certain = None
    if lipschitz is not None:
        half = lipschitz * math.sqrt(2.0 * math.log(2.0 * looks / level) / seen.size)
        certain = Estimate(mean.value, max(mean.value - half, 0.0), mean.value + half)
    return SimulatedMean(mean, root, certain, seen.size, look, level, reached)


def student(values: FloatArray, level: float = LEVEL) -> Estimate:
    """The mean of independent draws, with Student's interval; infinite above where there is one draw alone."""
    mean = float(values.mean())
    if len(values) < 2:
        return Estimate(mean, 0.0, math.inf)
    half = student_half_width(values, level)
    return Estimate(mean, mean - half, mean + half)
