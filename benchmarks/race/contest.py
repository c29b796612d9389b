"""What a contest is: one piece of work, and who does it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

OURS = "factormech"
# What a disagreement may be of answers that are random: the χ² test's −log₁₀ p.
SAME_LAW = 6.0


@dataclass(frozen=True)
class Work:
    """What one contestant is about to do.

    Attributes
    ----------
    inputs
        The arrays that define the work, equal for all contestants of a contest and size.
    run
        What is measured.
    answer
        From what ``run`` returned, the numbers that contestants must agree on; not measured.
    excluded
        CPU and wall seconds of ``run`` that do not count, filled by it (compiling).
    """

    inputs: tuple[np.ndarray, ...]
    run: Callable[[], Any]
    answer: Callable[[Any], Sequence[float]]
    excluded: list[float] = field(default_factory=lambda: [0.0, 0.0])

    @property
    def digest(self) -> str:
        """Of the inputs, to tell that two contestants do the same work."""
        found = hashlib.sha256()
        for array in self.inputs:
            values = np.ascontiguousarray(array, dtype=np.float64)
            found.update(repr(values.shape).encode() + (values + 0.0).tobytes())  # 0.0 for -0.0
        return found.hexdigest()[:12]


# Of a size and what another contestant lends (its first number), or None.
Prepare = Callable[[int, float | None], Work]


@dataclass(frozen=True)
class Contestant:
    """Who does the work, at which sizes, and how.

    Attributes
    ----------
    name
        Ours begin with ``factormech``.
    package
        The distribution whose version is recorded.
    peers
        Whether it runs in the environment of the peers, and not in ours.
    lender
        The contestant whose answer it is lent.
    warm
        What is run before; at default the work itself at the contest's tiny size.
    unlike
        What is not like for like.
    """

    name: str
    package: str
    prepare: Prepare
    sizes: tuple[int, ...]
    peers: bool = False
    lender: str | None = None
    warm: Callable[[], object] | None = None
    unlike: str = ""

    @property
    def is_ours(self) -> bool:
        return self.name.startswith(OURS)


def relative_distance(answer: Sequence[float], reference: Sequence[float]) -> float:
    """The largest difference of two answers over the largest number of the reference."""
    a, r = np.asarray(answer, dtype=float), np.asarray(reference, dtype=float)
    if a.shape != r.shape:
        return float("inf")
    return float(np.abs(a - r).max() / np.abs(r).max())


def own_surprise(answer: Sequence[float], reference: Sequence[float]) -> float:
    """Of a random answer: −log₁₀ of the probability of an error as far from its exact law, whatever ours was."""
    del reference
    return float(answer[0])


@dataclass(frozen=True)
class Contest:
    """One piece of work at some sizes.

    ``tolerance`` is the most that ``disagreement(answer, answer of the first contestant)`` may be; ``agreement`` says
    so in words. ``tiny`` is a size that takes no time, ``first`` what the first number of an answer is.
    """

    name: str
    title: str
    size: str
    contestants: tuple[Contestant, ...]
    tolerance: float
    agreement: str
    tiny: int
    first: str
    disagreement: Callable[[Sequence[float], Sequence[float]], float] = relative_distance

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(sorted({size for contestant in self.contestants for size in contestant.sizes}))

    def at(self, size: int) -> list[Contestant]:
        """Who takes part at this size, lenders before those that they lend to."""
        found = [contestant for contestant in self.contestants if size in contestant.sizes]
        return sorted(found, key=lambda contestant: contestant.lender is not None)

    def contestant(self, name: str) -> Contestant:
        """By name."""
        [found] = [contestant for contestant in self.contestants if contestant.name == name]
        return found
