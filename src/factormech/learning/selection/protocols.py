"""Protocols of selection: their users, their reports, and the protocols by name.

**Users and reports.** A report is randomized response on one coordinate. A user has x ∈ {0, 1}^d. Asked for
coordinate j they report x_j with probability e^ε/(1+e^ε) and its opposite otherwise, so a report on a coordinate of
mean m_j is 1 with probability ½ + (m_j − ½)/c, c = (e^ε+1)/(e^ε−1). Users are drawn independently and asked once, so
nothing else about their law matters.

**The planted law** of gap g ≤ ½: fair coins, but one coordinate of mean ½ + g. Success is to name it.

**The protocols.** Each has n users with one bit of randomized response each. ``moss-uniform`` MOSS chooses the
coordinates J_1, …, J_n; output J_T, T uniform (Edmonds, PhD thesis, Toronto 2023, Theorem 7, before repetition). With
E Σ(m_max − m_{J_i}) ≤ 25c√(nd), J_T loses at most 25c√(d/n) on average. ``moss-validated`` Theorem 7 whole: r such
candidates, the one of the largest mean in fresh reports (see ``promise``). ``moss-most-played`` MOSS, then the
coordinate that was asked for most. ``sequential-halving`` Rounds that keep the better half. ``one-coordinate``
Non-interactive: user i reports on coordinate i mod d.

To add one, write its runs in :mod:`factormech.learning.selection.kernels` and a line in ``_PROTOCOLS``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue, UnknownName
from factormech.privacy.guarantee import Guarantee

# Users and reports.

KeyArray = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Reports:
    """Runs of a protocol before anybody is asked.

    Attributes
    ----------
    probability
        Of reporting 1, (runs, d, 2): by coordinate and by party, each user being of either party with probability ½.
    keys
        What all chance of a run is a function of, (runs,).
    best
        The coordinates of largest mean, (runs,); −1 where there is none to find.
    """

    probability: FloatArray
    keys: KeyArray
    best: IntArray

    @property
    def runs(self) -> int:
        """How many there are."""
        return len(self.keys)

    @property
    def dimension(self) -> int:
        """d."""
        return int(self.probability.shape[1])


def checked_gap(gap: float) -> float:
    """g as a float, above 0 and at most ½."""
    if not (isinstance(gap, (int, float)) and not isinstance(gap, bool) and 0.0 < gap <= 0.5):
        raise BadValue("gap", gap, "be above 0 and at most 1/2", "give for example 0.1")
    return float(gap)


def loss_factor(epsilon: float) -> float:
    """c = (e^ε + 1)/(e^ε − 1)."""
    return 1.0 / math.tanh(0.5 * check_epsilon(epsilon))


def report_probability(means: FloatArray, epsilon: float) -> FloatArray:
    """½ + (m − ½)/c."""
    m = np.asarray(means, dtype=float)
    if not ((m >= 0.0) & (m <= 1.0)).all():
        raise BadValue("means", float(m.max(initial=-1.0)), "be between 0 and 1", "give means of 0/1 coordinates")
    return np.asarray(0.5 + (m - 0.5) / loss_factor(epsilon))


def planted(dimension: int, gap: float, epsilon: float, runs: int, rng: np.random.Generator) -> Reports:
    """Independent runs with the planted law, its coordinate uniform in each."""
    d = check_positive_integer("dimension", dimension, minimum=2)
    runs = check_positive_integer("runs", runs)
    best = rng.integers(d, size=runs)
    means = np.full((runs, d), 0.5)
    means[np.arange(runs), best] += checked_gap(gap)
    return of_means(means, epsilon, best, rng)


def of_means(means: FloatArray, epsilon: float, best: IntArray, rng: np.random.Generator) -> Reports:
    """Independent runs with these means, (runs, d), or (runs, d, 2) where the parties differ."""
    p = report_probability(means, epsilon)
    if p.ndim == 2:
        p = np.repeat(p[:, :, None], 2, axis=2)
    keys = rng.integers(2**64, size=len(p), dtype=np.uint64)
    return Reports(np.ascontiguousarray(p), keys, np.asarray(best, dtype=np.int64))


# The protocols.


@dataclass(frozen=True)
class Protocol:
    """A line of the registry: the kernel of its runs, and whether users wait for one another."""

    kernel: str
    interactive: bool = True
    validated: bool = False


_PROTOCOLS: dict[str, Protocol] = {
    "moss-most-played": Protocol("most_played_runs"),
    "moss-uniform": Protocol("uniform_runs"),
    "moss-validated": Protocol("validated_runs", validated=True),
    "sequential-halving": Protocol("halving_runs"),
    "one-coordinate": Protocol("one_coordinate_runs", interactive=False),
}


@dataclass(frozen=True)
class Validation:
    """r candidates, each with this many fresh reports."""

    repetitions: int
    reports: int


@dataclass(frozen=True)
class Run:
    """What came out: the choice of each run, (runs,), and the counts of reports and of ones, (runs, d, 2) by party."""

    choice: IntArray
    plays: IntArray
    ones: IntArray


def names() -> list[str]:
    """Every protocol, in the order of legends."""
    return list(_PROTOCOLS)


def protocol(name: str) -> Protocol:
    """What is known of a protocol."""
    if name not in _PROTOCOLS:
        raise UnknownName("protocol", name, _PROTOCOLS)
    return _PROTOCOLS[name]


def guarantee(name: str, epsilon: float) -> Guarantee:
    """Of the transcript: every user sends one randomized bit, at most once, whatever was said before."""
    protocol(name)
    return Guarantee(check_epsilon(epsilon))


def run(name: str, reports: Reports, users: int, validation: Validation | None = None) -> Run:
    """Every run of a protocol with n users; equal arguments give equal results.

    Parameters
    ----------
    validation
        For ``moss-validated`` alone, which needs it.
    """
    from factormech.learning.selection import kernels

    line = protocol(name)
    n = check_positive_integer("users", users)
    shape = (reports.runs, reports.dimension, 2)
    plays, ones = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    choice = np.zeros(reports.runs, dtype=np.int64)
    extra: tuple[int, ...] = ()
    if line.validated:
        if validation is None:
            raise BadValue("validation", None, f"be given for {name}", "call validation_for")
        if n < least_users(validation):
            rule = f"be at least {least_users(validation)}, the fresh reports and one for each candidate"
            raise BadValue("users", n, rule, "give more users")
        extra = (validation.repetitions, validation.reports)
    kernel: Callable[..., Any] = getattr(kernels, line.kernel)
    kernel(reports.probability, n, reports.keys, plays, ones, choice, *extra)
    return Run(choice, plays, ones)


def least_users(validation: Validation | None) -> int:
    """The least number of users that a protocol runs with."""
    return 1 if validation is None else validation.repetitions * (validation.reports + 1)


def validation_for(accuracy: float, epsilon: float, beta: float) -> Validation:
    """Candidates and fresh reports of Theorem 7 for failure β, half of it for either.

    r = ⌈log₂(2/β)⌉ candidates, each good with probability ½ or more, are all bad with probability β/2 at most; with
    ⌈2c² ln(4r/β)/α²⌉ fresh reports each, all r means are within α/2 of their own but for β/2 (Hoeffding), so the best
    of them loses at most α more than the best candidate.
    """
    alpha = checked_gap(0.5 * accuracy) * 2.0
    if not 0.0 < beta < 1.0:
        raise BadValue("beta", beta, "be a probability above 0 and below 1", "give for example 1/3")
    r = math.ceil(math.log2(2.0 / beta))
    return Validation(r, math.ceil(2.0 * loss_factor(epsilon) ** 2 * math.log(4.0 * r / beta) / alpha**2))


def promised_users(dimension: int, accuracy: float, epsilon: float, beta: float) -> int:
    """A number of users with which ``moss-validated`` surely loses at most α but for probability β.

    Half of α is for the candidates: by 25c√(d/n) and one Markov inequality n = ⌈4·25²c²d/(α/2)²⌉ makes each good with
    probability ½. The other half is for ``validation_for``.
    """
    d = check_positive_integer("dimension", dimension, minimum=2)
    validation = validation_for(0.5 * accuracy, epsilon, beta)
    each = math.ceil(4.0 * (25.0 * loss_factor(epsilon)) ** 2 * d / (0.5 * accuracy) ** 2)
    return validation.repetitions * (each + validation.reports)
