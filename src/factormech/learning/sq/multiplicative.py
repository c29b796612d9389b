"""The multiplicative-weights learner of realizable classes by statistical queries, and repeated runs of it.

**The learner, with all its constants.** Feldman (COLT 2017), as Theorem 52 of Edmonds (PhD thesis, University of
Toronto, 2023). A hypothetical law μ of labelled points starts uniform. While the Bayes hypothesis h of μ loses more
than α on it, a query F is drawn from ζ, the optimal queries at μ (:mod:`factormech.learning.sq.dimension`), for which
E|F(λ) − F(μ)| ≥ V(μ) ≥ 1/d; else h itself is asked, F = −b·h(a). An answer r far from F(μ) makes μ ∝ μ·exp(ησF), σ =
sign(r − F(μ)); an answer near it for h ends the search.

**Constants.** Tolerance τ < 1/(2d), the thesis's τ = 1/√d being too coarse: of E|F(λ) − F(μ)| ≥ 1/d nothing need be
left. Put x = (2/3)(1/d − 2τ), θ = τ + x; "far" is |r − F(μ)| ≥ θ.

- *A drawn query is far* with probability at least p = (1/d − θ − τ)/(2 − θ − τ): certainly where |F(λ) − F(μ)| ≥ θ + τ,
  which is at most 2.
- *An update* has σ(F(λ) − F(μ)) ≥ η = |r − F(μ)| − τ ≥ x, and KL(λ‖μ), at first at most ln 2T, falls by at least
  η·η − η²/2 ≥ x²/2 (Hoeffding's lemma for F in [−1, 1]). There are at most M = ⌊2 ln(2T)/x²⌋.
- *The hypothesis returned* has (F(λ) − F(μ))/2 < (θ + τ)/2, so its loss is below α + τ + x/2: at τ = 1/(3d), where x =
  2/(9d), below α + 4/(9d). (The thesis promises α + 3/d.)
- *Queries*: at most M + 1 hypotheses, and with probability 1 − β at most (M + L + √(L² + 2ML))/p drawn ones, L =
  ln(1/β), as fewer than M + 1 of them can be far (Chernoff). That is O(d³ ln T·ln(1/β)).

At τ = 1/(3d) the choice of x makes x²(1/d − 2τ − x), the pace, largest. Where τ ≥ 1/(2d) nothing is promised; "far" is
then θ = τ, the least of which an update has the right sign, and a run that asks more than its limit has *stalled*.

The promise needs V(μ) ≥ 1/d at every μ met, which is certified there; a run that meets a smaller value stops and says
which.

**Repeated runs.** Pilot runs settle d, and only the runs after them are counted. The learner's promise needs a d that
is at least 1/V at every law it meets, and no dimension is known that surely is. So pilot runs settle one; runs with
chance of their own are counted with it, and one that meets a law of which d is too small has failed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue
from factormech.learning.concepts import ConceptClass
from factormech.learning.sq.dimension import QueryValue, check_class, least_loss, value_at
from factormech.learning.sq.dimension_search import smallest_value
from factormech.learning.sq.oracles import Oracle, check_failure, check_tolerance

# The learner, with all its constants.

Ending = Literal["learned", "stalled", "smaller-value"]


@dataclass(frozen=True)
class LearnerPlan:
    """What the learner is promised to do.

    Attributes
    ----------
    dimension, alpha, tolerance, failure
        d, α, τ and β.
    far
        θ: an answer this far from F(μ) is an update.
    updates
        M, at most so many; infinite where nothing is promised.
    queries
        At most so many, with probability 1 − β.
    loss
        Of the hypothesis, at most.
    """

    dimension: float
    alpha: float
    tolerance: float
    failure: float
    far: float
    updates: float
    queries: float
    loss: float


@dataclass(frozen=True)
class Learned:
    """A run of the learner.

    Attributes
    ----------
    ending
        ``learned``; ``stalled``: at its limit of queries; ``smaller-value``: d was too small.
    hypothesis
        Labels ±1 of the points, (T,), of the last Bayes hypothesis.
    queries, drawn, updates
        How many queries in all, how many of them drawn from ζ, how many updates.
    least_value
        The least V(μ), its lower end, at the μ where ζ was needed; infinite if nowhere.
    """

    ending: Ending
    hypothesis: npt.NDArray[np.int8]
    queries: int
    drawn: int
    updates: int
    least_value: float


def plan(
    concepts: ConceptClass, dimension: float, alpha: float, failure: float, *, tolerance: float | None = None
) -> LearnerPlan:
    """The promise for a class of dimension d; the tolerance is 1/(3d) unless given."""
    if not (math.isfinite(dimension) and dimension >= 0.5):
        raise BadValue("dimension", dimension, "be finite and at least 1/2", "give 1/V(μ), for example 3.0")
    if not 0.0 < alpha < 0.5:
        raise BadValue("alpha", alpha, "be above 0 and below 1/2", "give for example 0.1")
    g, beta = 1.0 / dimension, check_failure(failure)
    tau = check_tolerance(min(1.0, g / 3.0) if tolerance is None else tolerance)
    if g - 2.0 * tau <= 0.0:
        return LearnerPlan(dimension, alpha, tau, beta, tau, math.inf, math.inf, alpha + tau)
    x = 2.0 / 3.0 * (g - 2.0 * tau)
    far = tau + x
    M = math.floor(2.0 * math.log(2 * concepts.domain_size) / x**2)
    L, p = -math.log(beta), (g - far - tau) / (2.0 - far - tau)
    drawn = math.ceil((M + L + math.sqrt(L * L + 2.0 * M * L)) / p)
    return LearnerPlan(dimension, alpha, tau, beta, far, M, M + 1 + drawn, alpha + tau + 0.5 * x)


class Learner:
    """The learner of one class; a law that was met before is not solved again.

    Of several optimal ζ that of a law is chosen by the law alone: runs are alike whatever was asked before them, and so
    what pilot runs settle says something of others.
    """

    def __init__(self, concepts: ConceptClass) -> None:
        check_class(concepts)
        self.concepts = concepts
        self._known: dict[bytes, QueryValue] = {}

    def run(
        self, promise: LearnerPlan, oracle: Oracle, rng: np.random.Generator, *, limit: int | None = None
    ) -> Learned:
        """Ask until a hypothesis is accepted, or ``limit`` queries are spent (by default what was promised)."""
        most = promise.queries if limit is None else limit
        if not math.isfinite(most):
            raise BadValue("limit", limit, "be given where nothing is promised", "give for example 10000")
        T = self.concepts.domain_size
        mu, asked, drawn, updates, least = np.full(2 * T, 0.5 / T), 0, 0, 0, math.inf
        while True:
            h = np.where(mu[:T] >= mu[T:], 1, -1).astype(np.int8)
            bayes = least_loss(self.concepts, mu, "all") <= promise.alpha
            if bayes:
                F, weights = np.concatenate([-h, h])[None].astype(float), np.ones(1)
            else:
                found = self._value(mu, 1.0 / promise.dimension)
                least = min(least, found.lower)
                if found.lower < (1.0 - 1e-6) / promise.dimension:
                    return Learned("smaller-value", h, asked, drawn, updates, least)
                F, weights = found.queries, found.probabilities
            upto = np.cumsum(weights / weights.sum())
            upto /= upto[-1]
            moved = False
            while not moved:
                if asked >= most:
                    return Learned("stalled", h, asked, drawn, updates, least)
                # As rng.choice draws with probabilities, without looking at them again each time.
                query = F[upto.searchsorted(rng.random(), side="right")]
                expected = float(query @ mu)
                answer = float(oracle.ask(query[None], towards=expected)[0])
                asked, drawn = asked + 1, drawn + (not bayes)
                step = abs(answer - expected) - promise.tolerance
                # A hypothesis that does worse than μ says is what matters; one that does better is accepted.
                away = answer - expected if bayes else abs(answer - expected)
                moved = away >= promise.far and step > 0.0
                if bayes and not moved:
                    return Learned("learned", h, asked, drawn, updates, least)
            mu = _moved(mu, query, math.copysign(min(step, 1.0), answer - expected))
            updates += 1

    def _value(self, mu: FloatArray, enough: float) -> QueryValue:
        """The queries at μ, as good as needed; a law that was met before is not solved again."""
        key = mu.tobytes()
        known = self._known.get(key)
        if known is None or (known.lower < enough and not known.certified):
            known = self._known[key] = value_at(self.concepts, mu, enough=enough, played=True)
        return known


def _moved(mu: FloatArray, query: FloatArray, exponent: float) -> FloatArray:
    weights = mu * np.exp(exponent * query)
    return np.asarray(weights / weights.sum())


def loss_of(hypothesis: npt.NDArray[np.int8], law: FloatArray) -> float:
    """L_λ(h)."""
    T = len(hypothesis)
    return float(np.where(hypothesis > 0, law[T:], law[:T]).sum())


def realizable_law(concepts: ConceptClass, concept: int, points: FloatArray) -> FloatArray:
    """The law of points labelled by one concept, (2T,)."""
    c = concepts.matrix[concept]
    return np.concatenate([np.where(c > 0, points, 0.0), np.where(c < 0, points, 0.0)])


# Repeated runs.

# A dimension that turns out too small is put so much above the one that was met.
_MARGIN = 1.05

MakeOracle = Callable[[LearnerPlan, FloatArray, np.random.Generator], Oracle]


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

    promise: LearnerPlan
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
    """Return the learning question for a concept class, with an estimate of its dimension over all hypotheses."""
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
    asked: LearningQuestion, promise: LearnerPlan, make_oracle: MakeOracle, rng: np.random.Generator, limit: int | None
) -> tuple[Learned, float, int]:
    """A run on a random concept and law of points, the loss of its hypothesis and the users it spent."""
    concept = int(rng.integers(asked.concepts.size))
    law = realizable_law(asked.concepts, concept, rng.dirichlet(np.ones(asked.concepts.domain_size)))
    oracle = make_oracle(promise, law, rng)
    found = asked.learner.run(promise, oracle, rng, limit=limit)
    return found, loss_of(found.hypothesis, law), oracle.spent
