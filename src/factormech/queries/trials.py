"""Repeated runs of the multiplicative-weights learner, with a dimension that every law it met has confirmed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
        The plan; its dimension is at least 1/V at every law of every run.
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
        limit = self.promise.loss
        return sum(r.ending == "learned" and loss <= limit for r, loss in zip(self.runs, self.losses, strict=True))


@dataclass(frozen=True)
class Question:
    """A class, the accuracy α, the failure β, and the least value found over its laws."""

    concepts: ConceptClass
    learner: Learner
    alpha: float
    failure: float
    value: QueryValue


def question(concepts: ConceptClass, alpha: float, failure: float, rng: np.random.Generator) -> Question:
    """The question with an estimate of its dimension, for all hypotheses."""
    value = smallest_value(concepts, alpha, losers="all", starts=4, rng=rng)
    return Question(concepts, Learner(concepts), alpha, failure, value)


def settled_runs(
    asked: Question,
    make_oracle: MakeOracle,
    trials: int,
    rng_of: Callable[[int], np.random.Generator],
    *,
    dimension: float | None = None,
    tolerance_of: Callable[[float], float] | None = None,
    limit: int | None = None,
) -> Runs:
    """Runs on random concepts and random laws of points, all with one d; begun again with a larger one where it fails.

    ``rng_of`` gives each trial its chance, the same for all oracles and tolerances; ``tolerance_of`` gives τ from d,
    1/(3d) by default.
    """
    check_positive_integer("trials", trials)
    d = dimension if dimension is not None else _MARGIN * asked.value.dimension
    while True:
        tau = None if tolerance_of is None else min(1.0, tolerance_of(d))
        promise = plan(asked.concepts, d, asked.alpha, asked.failure, tolerance=tau)
        runs, losses, spent, least = [], [], [], float("inf")
        for trial in range(trials):
            rng = rng_of(trial)
            concept = int(rng.integers(asked.concepts.size))
            law = realizable_law(asked.concepts, concept, rng.dirichlet(np.ones(asked.concepts.domain_size)))
            oracle = make_oracle(promise, law, rng)
            found = asked.learner.run(promise, oracle, rng, limit=limit)
            least = min(least, found.least_value)
            if found.ending == "smaller-value":
                break
            runs.append(found)
            losses.append(loss_of(found.hypothesis, law))
            spent.append(oracle.spent)
        else:
            return Runs(promise, tuple(runs), tuple(losses), tuple(spent))
        d = _MARGIN / least
