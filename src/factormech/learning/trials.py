"""Whether a learner or a refuter keeps its promise: what it needs, what it is run on, and how often it succeeds.

A *task* has a number of users that it is predicted to need (proved for Kearns' learner) for success with probability
1 − β: excess or loss at most α for a learner, neither error for a refuter. ``run`` counts successes in fresh runs at a
share of these users, on the worst law found for that many; a refuter is run on laws of both kinds, and the kind with
fewer successes counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray
from factormech.learning import bounds, naming, populations, realizable_bounds
from factormech.learning import populations as realizable
from factormech.learning.agnostic import AgnosticLearner, AgnosticRefuter, SequentialRefuter, refuter_of
from factormech.learning.concepts import ConceptClass
from factormech.learning.realizable import KearnsLearner, RealizableLearner, RealizableRefuter

# Where certificates of agnostic learning are made besides 2α: a larger θ may have a centre.
_THETAS = (0.5, 0.9)
# Runs at a share of the users: (share, runs, random numbers of the search, of the runs) -> successes.
Run: TypeAlias = Callable[[float, int, np.random.Generator, np.random.Generator], int]


@dataclass(frozen=True)
class Task:
    """Users predicted and guaranteed, a lower bound on them, how often the runs are of two kinds, and the runs."""

    predicted: int
    guaranteed: int
    least: float
    kinds: int
    run: Run


@dataclass(frozen=True)
class Promise:
    """What is asked of a task."""

    concepts: ConceptClass
    epsilon: float
    alpha: float
    beta: float


def agnostic_learner(ask: Promise) -> Task:
    """Excess loss at most α, whatever the law; the lower bound is on learners that output a concept."""
    made = AgnosticLearner(ask.concepts, ask.epsilon, ask.alpha)
    least_gap = 2.0 * ask.alpha * (1.0 + 1e-6)
    thetas = (least_gap, *(theta for theta in _THETAS if theta > least_gap))
    witnesses = bounds.learning_certificates(ask.concepts, thetas, gap=1e-2)
    family = populations.bases(ask.concepts, witnesses[:1])

    def run(share: float, trials: int, search: np.random.Generator, rng: np.random.Generator) -> int:
        n = _part(made.likely_users(ask.beta), share)
        law = populations.worst_for_learner(made, family, n, search, above=ask.alpha)
        return int((made.excess_losses(law, n, trials, rng) <= ask.alpha).sum())

    least = max(
        bounds.confident_learning_users(witnesses, ask.epsilon, ask.alpha, ask.beta),
        naming.least_learning_users(ask.concepts, ask.epsilon, ask.alpha, ask.beta, proper=True),
    )
    return Task(made.likely_users(ask.beta), made.confident_users(ask.beta), least, 1, run)


def realizable_learner(ask: Promise) -> Task:
    """Loss at most α where a concept fits, by η."""
    made = RealizableLearner(ask.concepts, ask.epsilon, ask.alpha)
    found = realizable_bounds.learning_certificate(ask.concepts)
    laws = realizable.realizable_laws(ask.concepts, found, ask.alpha)

    def run(share: float, trials: int, search: np.random.Generator, rng: np.random.Generator) -> int:
        n = _part(made.likely_users(ask.beta), share)
        law = realizable.worst_realizable_law(made, laws, n, search, above=ask.alpha)
        return int((made.losses(law, n, trials, rng) <= ask.alpha).sum())

    least = realizable_bounds.learning_users(found, ask.epsilon, ask.alpha, ask.beta)
    return Task(made.likely_users(ask.beta), made.confident_users(ask.beta), least, 1, run)


def kearns_learner(ask: Promise) -> Task:
    """The same for conjunctions by Kearns' queries."""
    made = _kearns(ask)(ask.alpha)
    found = realizable_bounds.learning_certificate(ask.concepts)
    laws = realizable.conjunction_laws(made)
    users = made.confident_users(ask.beta)

    def run(share: float, trials: int, search: np.random.Generator, rng: np.random.Generator) -> int:
        n = max(_part(users, share), made.d)
        law = realizable.worst_by_simulation(made, laws, n, search)
        return int((made.losses(law, n, trials, rng) <= ask.alpha).sum())

    least = realizable_bounds.learning_users(found, ask.epsilon, ask.alpha, ask.beta)
    return Task(users, users, least, 1, run)


def agnostic_refuter(ask: Promise) -> Task:
    """Tells a concept of loss ½ − α from fair coins."""
    made = AgnosticRefuter(ask.concepts, ask.epsilon, ask.alpha)
    found = bounds.refutation_certificate(ask.concepts, ask.alpha)
    family = populations.bases(ask.concepts, (found,))

    def run(share: float, trials: int, search: np.random.Generator, rng: np.random.Generator) -> int:
        n = _part(made.predicted_users(ask.beta), share)
        fit = populations.worst_for_refuter(made, family, n, search)
        coins = populations.worst_coins(made, family, n, search)
        return _fewer(made.says_fit(fit, n, trials, rng), ~made.says_fit(coins, n, trials, rng))

    least = bounds.refutation_users(found, ask.epsilon, ask.alpha, ask.beta)
    return Task(made.predicted_users(ask.beta), made.guaranteed_users(ask.beta), least, 2, run)


def realizable_refuter(ask: Promise) -> Task:
    """Tells laws that a concept labels from laws on which every concept loses α, by η."""
    made = RealizableRefuter(ask.concepts, ask.epsilon, ask.alpha)
    found = realizable_bounds.refutation_certificate(ask.concepts, ask.alpha)
    fits, unfit = _both_kinds(ask)

    def run(share: float, trials: int, search: np.random.Generator, rng: np.random.Generator) -> int:
        n = _part(made.predicted_users(ask.beta), share)
        fit, other = realizable.worst_fit(made, fits, n, search), realizable.worst_unfit(made, unfit, n, search)
        return _fewer(made.says_fit(fit, n, trials, rng), ~made.says_fit(other, n, trials, rng))

    least = realizable_bounds.refutation_users(found, ask.epsilon, ask.alpha, ask.beta)
    return Task(made.predicted_users(ask.beta), made.guaranteed_users(ask.beta), least, 2, run)


def one_more_round(ask: Promise) -> Task:
    """The same by the learner of η and one more round."""

    def make(alpha: float) -> RealizableLearner:
        return RealizableLearner(ask.concepts, ask.epsilon, alpha)

    made = refuter_of(make, ask.epsilon, ask.alpha, ask.beta)
    proved = refuter_of(make, ask.epsilon, ask.alpha, ask.beta, proved=True).users

    def worst(refuter: SequentialRefuter, fits: FloatArray, search: np.random.Generator) -> FloatArray:
        learner = make(refuter.accuracy)
        return realizable.worst_realizable_law(learner, fits, refuter.first, search, above=refuter.accuracy)

    return _sequential(ask, made, proved, worst)


def kearns_one_more_round(ask: Promise) -> Task:
    """The same for conjunctions by Kearns' learner and one more round."""
    make = _kearns(ask)
    made = refuter_of(make, ask.epsilon, ask.alpha, ask.beta)

    def worst(refuter: SequentialRefuter, _: FloatArray, search: np.random.Generator) -> FloatArray:
        learner = make(refuter.accuracy)
        return realizable.worst_by_simulation(learner, realizable.conjunction_laws(learner), refuter.first, search)

    return _sequential(ask, made, made.users, worst)


TASKS: dict[str, Callable[[Promise], Task]] = {
    "users/agnostic-learner": agnostic_learner,
    "users/realizable-learner": realizable_learner,
    "users/kearns-learner": kearns_learner,
    "users/agnostic-refuter": agnostic_refuter,
    "users/realizable-refuter": realizable_refuter,
    "users/one-more-round": one_more_round,
    "users/kearns-one-more-round": kearns_one_more_round,
}
OF_CONJUNCTIONS = ("users/kearns-learner", "users/kearns-one-more-round")


def _sequential(
    ask: Promise,
    made: SequentialRefuter,
    proved: int,
    worst: Callable[[SequentialRefuter, FloatArray, np.random.Generator], FloatArray],
) -> Task:
    fits, unfit = _both_kinds(ask)

    def run(share: float, trials: int, search: np.random.Generator, rng: np.random.Generator) -> int:
        part = made.scaled(share) if share != 1.0 else made
        # Of laws that nothing fits every one is as hard for the second round, whose hypothesis loses α at least.
        other = unfit[int(search.integers(len(unfit)))]
        return _fewer(part.says_fit(worst(part, fits, search), trials, rng), ~part.says_fit(other, trials, rng))

    least = realizable_bounds.sequential_refutation_users(ask.epsilon, ask.alpha, ask.beta)
    return Task(made.users, proved, least, 2, run)


def _both_kinds(ask: Promise) -> tuple[FloatArray, FloatArray]:
    found = realizable_bounds.refutation_certificate(ask.concepts, ask.alpha)
    pairs = None
    if found.strength > 0.0:
        pairs = realizable_bounds.refutation_pairs(ask.concepts, found, ask.alpha)
    return realizable.realizable_laws(ask.concepts), realizable.unfit_laws(ask.concepts, ask.alpha, pairs)


def _kearns(ask: Promise) -> Callable[[float], KearnsLearner]:
    d = ask.concepts.domain_size.bit_length() - 1
    return lambda alpha: KearnsLearner(d, ask.epsilon, alpha)


def _fewer(*successes: npt.NDArray[np.bool_]) -> int:
    return int(min(side.sum() for side in successes))


def _part(users: int, share: float) -> int:
    return max(1, round(share * users))
