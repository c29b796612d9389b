"""Repeated runs of the multiplicative-weights learner: d is settled by pilot runs, and others are counted.

The learner's promise needs a d that is at least 1/V at every law it meets, and no dimension is known that surely is.
So pilot runs settle one; runs with chance of their own are counted with it, and one that meets a law of which d is too
small has failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.learning.concepts import ConceptClass
from factormech.queries.dimension import QueryValue
from factormech.queries.dimension_search import smallest_value
from factormech.queries.multiplicative import Learned, Learner, Plan, loss_of, plan, realizable_law
from factormech.queries.oracles import Oracle

# A dimension that turns out too small is put so much above the one that was met.
_MARGIN = 1.05

MakeOracle = Callable[[Plan, FloatArray, np.random.Generator], Oracle]


@dataclass(frozen=True)
class Runs:
    """Runs of one plan, and what they used.

    Attributes
    ----------
    promise
        The plan.
    runs, losses, spent
        Each run, the loss of its hypothesis, and the users of its oracle.
    """

    promise: Plan
    runs: tuple[Learned, ...]
    losses: tuple[float, ...]
    spent: tuple[int, ...]

    @property
    def learned(self) -> int:
        """How many runs kept the promise: they ended, with the loss that was promised."""
        return sum(self._kept)

    @property
    def users(self) -> FloatArray:
        """The users of the runs that kept the promise; of all runs, if none did."""
        kept = [spent for spent, good in zip(self.spent, self._kept, strict=True) if good]
        return np.array(kept or self.spent, dtype=float)

    @property
    def _kept(self) -> list[bool]:
        limit = self.promise.loss
        return [r.ending == "learned" and loss <= limit for r, loss in zip(self.runs, self.losses, strict=True)]

    @property
    def beyond(self) -> int:
        """How many runs met a law of which d was too small."""
        return sum(run.ending == "smaller-value" for run in self.runs)


@dataclass(frozen=True)
class LearningQuestion:
    """A class, the accuracy α, the failure β, and the least value found over its laws."""

    concepts: ConceptClass
    learner: Learner
    alpha: float
    failure: float
    value: QueryValue


def question(concepts: ConceptClass, alpha: float, failure: float, rng: np.random.Generator) -> LearningQuestion:
    """The question with an estimate of its dimension, for all hypotheses."""
    value = smallest_value(concepts, alpha, losers="all", starts=4, rng=rng)
    return LearningQuestion(concepts, Learner(concepts), alpha, failure, value)


def settled_dimension(
    asked: LearningQuestion,
    make_oracles: Sequence[MakeOracle],
    pilots: int,
    rng_of: Callable[[int], np.random.Generator],
) -> float:
    """A d that is at least 1/V at every law that the pilot runs meet, ``pilots`` of them with each oracle.

    It begins with the estimate; a run that meets less raises it, and all are begun again. Every run has a chance of its
    own, ``rng_of`` of its number: laws of points are what d depends on most, and all of them are different.
    """
    check_positive_integer("pilots", pilots)
    d = _MARGIN * asked.value.dimension
    while True:
        promise = plan(asked.concepts, d, asked.alpha, asked.failure)
        for number, (make_oracle, _) in enumerate(product(make_oracles, range(pilots))):
            found, _, _ = _run(asked, promise, make_oracle, rng_of(number), None)
            if found.ending == "smaller-value":
                d = _MARGIN / found.least_value
                break
        else:
            return d


def counted_runs(
    asked: LearningQuestion,
    dimension: float,
    make_oracle: MakeOracle,
    trials: int,
    rng_of: Callable[[int], np.random.Generator],
    *,
    tolerance_of: Callable[[float], float] | None = None,
    limit: int | None = None,
) -> Runs:
    """Runs on random concepts and random laws of points, all with this d, whatever laws they meet.

    ``rng_of`` gives each trial its chance, the same for all oracles and tolerances, and must not be that of the pilot
    runs which d was settled with; ``tolerance_of`` gives τ from d, 1/(3d) by default.
    """
    check_positive_integer("trials", trials)
    tau = None if tolerance_of is None else min(1.0, tolerance_of(dimension))
    promise = plan(asked.concepts, dimension, asked.alpha, asked.failure, tolerance=tau)
    every = [_run(asked, promise, make_oracle, rng_of(trial), limit) for trial in range(trials)]
    runs, losses, spent = zip(*every, strict=True)
    return Runs(promise, runs, losses, spent)


def _run(
    asked: LearningQuestion, promise: Plan, make_oracle: MakeOracle, rng: np.random.Generator, limit: int | None
) -> tuple[Learned, float, int]:
    """A run on a random concept and law of points, the loss of its hypothesis and the users it spent."""
    concept = int(rng.integers(asked.concepts.size))
    law = realizable_law(asked.concepts, concept, rng.dirichlet(np.ones(asked.concepts.domain_size)))
    oracle = make_oracle(promise, law, rng)
    found = asked.learner.run(promise, oracle, rng, limit=limit)
    return found, loss_of(found.hypothesis, law), oracle.spent
