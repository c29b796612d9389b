r"""Collections simulated until their mean ℓ_∞ error is known to a relative width.

Trials are run in batches, and looked at when there are m₁, 2m₁, 4m₁, … of them. At each of at most J looks the mean has
a two-sided Student interval at level η/J, so that by the union bound the one at which the run stops holds at level η,
whenever that is. The interval is exact for normal errors; an ℓ_∞ error is a maximum, whose mean over m₁ or more trials
is close to normal, and the tests measure how often the interval misses. The number of trials never depends on the
clock. A run that is not narrow enough at its last look says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.local.factorized.release import LocalRelease
from factormech.local.reports import check_counts
from factormech.numerics.intervals import student_half_width

FIRST, LOOKS = 32, 8


@dataclass(frozen=True)
class SimulatedRelease:
    """What the simulated collections measured.

    Attributes
    ----------
    users
        n of each.
    maxima, squares
        ‖answers − truth‖_∞ and ‖answers − truth‖₂² of each, (trials,).
    mean, low, high
        Mean of the maxima, and its interval at ``level``.
    stopped
        ``width`` where the interval is as narrow as asked, else ``looks``.
    """

    users: int
    maxima: FloatArray
    squares: FloatArray
    mean: float
    low: float
    high: float
    level: float
    stopped: str

    @property
    def trials(self) -> int:
        return len(self.maxima)

    @property
    def relative_width(self) -> float:
        """Half the interval over the mean; 0 where there is no error."""
        return 0.5 * (self.high - self.low) / self.mean if self.mean > 0 else 0.0


def simulate(
    release: LocalRelease,
    counts: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    relative_width: float = 0.02,
    level: float = 0.01,
    first: int = FIRST,
    looks: int = LOOKS,
) -> SimulatedRelease:
    """Collect from ``counts`` users by type until half the interval is ``relative_width`` of the mean."""
    x = check_counts(counts, release.domain_size)
    users = int(x.sum())
    _check_stopping(relative_width, level, first, looks)
    reason = release.simulation_refusal(users)
    if reason:
        raise BadValue("users", users, f"be few enough to simulate {release.name}", reason)
    truth = release.truth(x)
    maxima, squares = np.empty(0), np.empty(0)
    for look in range(looks):
        batch = first if look == 0 else len(maxima)
        errors = release.estimates(x, batch, rng) - truth
        maxima = np.concatenate([maxima, np.abs(errors).max(axis=1, initial=0.0)])
        squares = np.concatenate([squares, np.einsum("tq,tq->t", errors, errors)])
        mean = float(maxima.mean())
        half = student_half_width(maxima, level / looks)
        if half <= relative_width * mean:
            break
    stopped = "width" if half <= relative_width * mean else "looks"
    return SimulatedRelease(users, maxima, squares, mean, max(mean - half, 0.0), mean + half, level, stopped)


def _check_stopping(relative_width: float, level: float, first: int, looks: int) -> None:
    for name, value in (("relative_width", relative_width), ("level", level)):
        if not 0.0 < value < 1.0:
            raise BadValue(name, value, "be a number between 0 and 1", "give for example 0.02")
    if first < 8:
        raise BadValue("first", first, "be at least 8 trials", f"give for example {FIRST}")
    if looks < 1:
        raise BadValue("looks", looks, "be at least 1", f"give for example {LOOKS}")
