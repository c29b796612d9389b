"""A finite family of sets with its features, and the best masses known on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.local.optimal.feasible import project
from factormech.local.optimal.frame import Blocks, Frame
from factormech.local.optimal.lists import Lists
from factormech.local.optimal.objective import Evaluated, evaluate
from factormech.local.optimal.problem import BoolArray
from factormech.local.optimal.reweight import improve


@dataclass(frozen=True)
class Columns:
    """Sets, one of each pair of reflections; see ``frame.py``.

    Attributes
    ----------
    frame
        The problem.
    supports
        S, (m, n), without repetitions.
    features
        u_S, a block each.
    """

    frame: Frame
    supports: BoolArray
    features: Blocks

    @classmethod
    def of(cls, frame: Frame, supports: BoolArray, dtype: type[np.floating[Any]]) -> Columns:
        """The columns of these sets (canonical ones, see ``Frame.canonical``)."""
        return cls(frame, supports, frame.features(supports, dtype))

    def __len__(self) -> int:
        return len(self.supports)

    @cached_property
    def multiplicity(self) -> IntArray:
        """How many rows each set stands for."""
        return self.frame.multiplicity(self.supports)

    @property
    def rows(self) -> int:
        """How many rows a strategy of all these sets has."""
        return int(self.multiplicity.sum())

    @cached_property
    def lists(self) -> Lists | None:
        """The small sets as lists (``lists.py``); None where they are few."""
        return Lists.of(self.frame, self.supports, self.features)

    def place(self, masses: FloatArray, near: Evaluated | None = None) -> Evaluated | None:
        """The objective at the feasible masses nearest to these; None if there are none, or none that answer."""
        inverse = near.inverses[0] if near is not None else None
        p, found = project(self.frame, self.features[0], masses, inverse)
        if not found:
            return None
        place = evaluate(self.frame, self.features, p, self.lists)
        return place if np.isfinite(place.value) else None

    def keep(self, chosen: IntArray) -> Columns:
        """A part of the columns."""
        return Columns(self.frame, self.supports[chosen], tuple(U[chosen] for U in self.features))


@dataclass(frozen=True)
class Candidate:
    """A strategy: columns, and where their masses are."""

    columns: Columns
    place: Evaluated

    @property
    def value(self) -> float:
        """The objective, in the frame's scale."""
        return self.place.value

    def improved(self, steps: int, gain: float, gap: float = 0.0) -> tuple[Candidate, int]:
        """The same sets with better masses, and the steps this took."""
        columns = self.columns
        place, taken = improve(columns.frame, columns.features, self.place, steps, gain, gap, columns.lists)
        return Candidate(columns, place), taken

    def kept(self, chosen: IntArray) -> Candidate | None:
        """The candidate without the other columns; None if these do not suffice."""
        columns = self.columns.keep(chosen)
        place = columns.place(self.place.masses[chosen], self.place)
        return None if place is None else Candidate(columns, place)

    def joined(self, supports: BoolArray, share: float) -> Candidate | None:
        """With more sets, which get ``share`` of the mass together; None if none of them is new."""
        old, frame = self.columns, self.columns.frame
        both = frame.canonical(np.concatenate([old.supports, supports]))
        fresh = len(both) - len(old)
        if not fresh:
            return None
        new = frame.features(both[len(old) :], old.features[0].dtype.type)
        features = tuple(np.concatenate([U, V]) for U, V in zip(old.features, new, strict=True))
        columns = Columns(frame, both, features)
        masses = np.concatenate([(1.0 - share) * self.place.masses, np.full(fresh, share / fresh)])
        place = columns.place(masses, self.place)
        return None if place is None else Candidate(columns, place)

    def in_double(self) -> Candidate | None:
        """The same in double precision, columns without mass dropped."""
        live = self.place.masses > 0.0
        columns = Columns.of(self.columns.frame, self.columns.supports[live], np.float64)
        place = columns.place(self.place.masses[live])
        return None if place is None else Candidate(columns, place)
