"""Strategies that the optimiser is given, and must not do worse than."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.local.optimal import peeling
from factormech.local.optimal.columns import Candidate, Columns
from factormech.local.optimal.frame import Frame
from factormech.local.optimal.objective import evaluate
from factormech.local.optimal.problem import BoolArray


@dataclass(frozen=True)
class Start:
    """A strategy matrix Q, (m, n), and its objective in the frame's scale; infinite if it cannot answer."""

    frame: Frame
    matrix: FloatArray
    value: float

    @classmethod
    def of(cls, frame: Frame, strategy: FloatArray) -> Start:
        """A given strategy, checked."""
        Q = np.asarray(strategy, dtype=float)
        if Q.ndim == 2 and Q.shape[1] != frame.domain_size:
            remedy = "give strategies for the problem's domain"
            raise BadValue("types of start", Q.shape[1], f"be {frame.domain_size}", remedy)
        peeling.check(Q, frame.shift)
        Q = Q[Q.any(axis=1)]
        return cls(frame, Q, evaluate(frame, *frame.features_of_rows(Q)).value)

    def candidate(self, most: int | None = None) -> Candidate | None:
        """Staircase rows that are as good, if ``most`` does not cut them off; None if those kept are no strategy."""
        frame = self.frame
        supports, weights = peeling.staircase_rows(self.matrix, frame.shift, most)
        if not len(supports):
            return None
        masses = weights * (frame.domain_size + frame.shift * (supports @ frame.prior)) / frame.domain_size
        if frame.symmetric:
            supports, masses = folded(frame, supports, masses)
        columns = Columns.of(frame, supports, np.float64)
        place = columns.place(masses)
        return None if place is None else Candidate(columns, place)


def folded(frame: Frame, supports: BoolArray, masses: FloatArray) -> tuple[BoolArray, FloatArray]:
    """The strategy averaged with its reflection: one set of each pair, with the mass of both."""
    canonical = frame.canonical(supports)
    place = {S.tobytes(): k for k, S in enumerate(canonical)}
    owner = [place[S.tobytes()] if S.tobytes() in place else place[S[::-1].tobytes()] for S in supports]
    return canonical, np.bincount(owner, weights=masses, minlength=len(canonical)).astype(float)
