r"""Sets that would improve a strategy: those whose excess over the multipliers is positive.

With Y = M⁻C_πM⁻ and μ of ``objective.py`` (Y1 = 0, μᵀ1 = 0), the score of a set is

.. math:: h_S - \mu^\top u_S = \beta_S^2\, 1_S^\top Y 1_S - \beta_S\, \mu^\top 1_S ,

and S deserves mass where it exceeds ν. No efficient search finds the best S of all; a local search that flips one type
at a time, from each set of the strategy, finds many good ones. With g = Y1_S at hand a flip is scored in constant time.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray
from factormech.local.optimal.frame import Frame
from factormech.local.optimal.objective import Evaluated
from factormech.local.optimal.problem import BoolArray


def slopes_of(frame: Frame, place: Evaluated) -> tuple[FloatArray, FloatArray]:
    """(Y, μ) in the coordinates of the user types."""
    Y = frame.whole(tuple(half @ half.T for half in place.halves))
    return np.ascontiguousarray(Y, dtype=float), np.ascontiguousarray(frame.whole_vector(place.multipliers))


def climb(frame: Frame, place: Evaluated, supports: BoolArray, flips: int) -> tuple[BoolArray, FloatArray]:
    """Where the local search from each set ends, and the excess there."""
    from factormech.local.optimal import pricing_kernels

    Y, mu = slopes_of(frame, place)
    found = np.ascontiguousarray(supports).copy()
    scores = pricing_kernels.climb(found, Y, mu, frame.prior, frame.shift, flips)
    return found, scores / place.value - 1.0
