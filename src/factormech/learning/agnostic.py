r"""Agnostic learning and refutation without interaction, and refuters made of learners.

**Learner.** It outputs the concept ĉ of the largest estimate. With estimates q + b + e, |b| ≤ a and E e = 0, c* the
best concept: 2(L(ĉ) − L(c*)) = q_{c*} − q_ĉ ≤ (b+e)_ĉ − (b+e)_{c*}, so the expected excess loss is at most

.. math:: \tfrac12\bigl(a + \operatorname{E}\max_c(b+e)_c\bigr)

(Edmonds, PhD thesis, Toronto, 2023, Theorem 29, doubles the noise: it bounds both errors by the largest. A quarter of
the users is enough.) In terms of releasing agreements: excess α is met by expected error 2α − a.

With probability 1 − β: e_c − e_{c*} is subgaussian with a proxy V_{cc*}, so by the union bound over the k − 1 others

.. math:: n \ge \frac{2V\ln((k-1)/\beta)}{4(\alpha-a)^2} \quad\Rightarrow\quad P(\text{excess} > \alpha) \le \beta .

**Refuter.** To tell laws on which some concept loses at most ½ − α from laws whose labels are fair coins, it compares
the largest estimate with a threshold τ. Under coins every estimate is unbiased for 0; else one has a mean of at least
2α − a. A false alarm has probability at most Σ_c P(e_c > τ), a miss at most max_c P(e_c ≤ τ − 2α + a); τ makes both
bounds equal.

*Predicted* is by the central limit theorem with worst-case variances, *guaranteed* by moment generating functions.

**A refuter in two rounds.** A learner and one more round of fresh users make a refuter (Edmonds, PhD thesis, Toronto,
2023, Lemma 50). A learner of loss α₁ < α, which fails with probability at most β₁, hands its hypothesis to n₂ new
users, who send whether it is wrong about them as a randomized bit. The protocol is sequential, each user speaks once.
Where a concept fits, the hypothesis loses at most α₁ unless the learner failed, and the count of ones is too high
with probability at most β − β₁; where every hypothesis loses at least α, it is too low with probability at most β.
Both are exact binomial tails. (The thesis takes α₁ = α/3 and estimates the loss within α/3: here α₁ and β₁ are those
of the fewest users.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, check_positive_integer
from factormech.bounds.hard.divergence import checked_error
from factormech.learning import tails
from factormech.learning.concepts import ConceptClass
from factormech.learning.reports import AgreementReports, checked_loss_gap, losses, reports_for
from factormech.mechanisms.local.factorized import release
from factormech.mechanisms.local.factorized.tails import expected_maximum
from factormech.numerics.roots import least_whole

# One round.


class AgnosticLearner:
    """Learns a class to expected excess loss α (see the module).

    Parameters
    ----------
    alpha
        The excess loss that the factorization is made for, 0 < α < ½.
    randomizer
        Of the unit ball: ``half-sphere`` or ``priv-unit``.
    """

    def __init__(
        self, concepts: ConceptClass, epsilon: float, alpha: float, *, randomizer: str = "half-sphere"
    ) -> None:
        self.alpha = checked_loss_gap(alpha)
        self.concepts, self.epsilon = concepts, float(epsilon)
        self.reports: AgreementReports = reports_for(concepts, epsilon, self.alpha, randomizer=randomizer)

    def predicted_excess(self, users: int) -> float:
        """Central-limit bound on the expected excess loss of so many users, whatever their law."""
        n = check_positive_integer("users", users)
        spreads = np.sqrt(self.reports.variances / n)
        offsets = self.reports.release.offsets
        return 0.5 * (self.reports.distance + expected_maximum(offsets, spreads))

    def predicted_users(self) -> int:
        """The least n whose ``predicted_excess`` is at most α; a prediction, no guarantee."""
        return least_whole(self.predicted_excess, self.alpha)

    def guaranteed_users(self) -> int:
        """The least n that is proved to give expected excess at most α, whatever the law."""
        return release.guaranteed_users(self.reports.release, 2.0 * self.alpha - self.reports.distance)

    def confident_users(self, beta: float) -> int:
        """A number of users that is proved to give excess at most α with probability at least 1 − β."""
        return tails.certain_users(self._difference_proxy, self.concepts.size, self.margin, beta)

    def likely_users(self, beta: float) -> int:
        """The least n at which the central limit puts P(excess > α) at most β, whatever the law; a prediction."""
        return tails.likely_users(self.difference_variances, self.margin, beta)

    @property
    def margin(self) -> float:
        """2(α − a): by how much estimates of two concepts must move for an excess above α."""
        return 2.0 * (self.alpha - self.reports.distance)

    @cached_property
    def difference_variances(self) -> FloatArray:
        """(k, k): worst variances of the differences of two estimates, times the number of users."""
        return tails.difference_variances(self.reports.release)

    @cached_property
    def _difference_proxy(self) -> float:
        return tails.difference_proxy(self.reports.release)

    def excess_losses(self, law: npt.ArrayLike, users: int, trials: int, rng: np.random.Generator) -> FloatArray:
        """(trials,): excess losses of what is learnt from simulated reports of users drawn from the law."""
        found = np.argmax(self.reports.estimates(law, users, trials, rng), axis=1)
        q = self.reports.agreements(law)
        return np.asarray(0.5 * (q.max() - q[found]))

    def predicted_loss(self, users: int) -> float:
        """``predicted_excess``, which is the loss where some concept loses nothing."""
        return self.predicted_excess(users)

    def losses(self, law: npt.ArrayLike, users: int, trials: int, rng: np.random.Generator) -> FloatArray:
        """(trials,): losses of what is learnt, the best concept's own included."""
        return self.excess_losses(law, users, trials, rng) + float(losses(self.concepts, law).min())


class AgnosticRefuter:
    """Tells laws on which some concept loses at most ½ − α from fair coins (see the module).

    The factors have the best distance a, or the ``distance`` that is given.
    """

    def __init__(
        self,
        concepts: ConceptClass,
        epsilon: float,
        alpha: float,
        *,
        randomizer: str = "half-sphere",
        distance: float | None = None,
    ) -> None:
        self.alpha = checked_loss_gap(alpha)
        self.concepts, self.epsilon = concepts, float(epsilon)
        self.reports: AgreementReports = reports_for(
            concepts, epsilon, 2.0 * self.alpha, randomizer=randomizer, distance=distance
        )

    @property
    def signal(self) -> float:
        """2α − a: what the mean of the best concept's estimate is at least, away from coins."""
        return 2.0 * self.alpha - self.reports.distance

    def threshold(self, users: int) -> float:
        """τ, where both bounds of errors are equal."""
        return self._balance(users)[0]

    def predicted_error(self, users: int) -> float:
        """Central-limit bound on either error of so many users, at most 1."""
        return self._balance(users)[1]

    def predicted_users(self, beta: float) -> int:
        """The least n whose ``predicted_error`` is at most β; a prediction, no guarantee."""
        return least_whole(self.predicted_error, checked_error(beta))

    def guaranteed_users(self, beta: float) -> int:
        """A number of users with which a threshold is proved to make both errors at most β.

        exp(−nτ²/2V) ≤ β/k and exp(−n(2α−a−τ)²/2V) ≤ β, V the largest proxy.
        """
        proxy = float(self.reports.proxies.max())
        return tails.certain_refuter_users(proxy, self.concepts.size, self.signal, beta)

    def says_fit(self, law: npt.ArrayLike, users: int, trials: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """(trials,): whether a concept is said to fit."""
        return np.asarray(self.statistics(law, users, trials, rng) > self.threshold(users))

    def statistics(self, law: npt.ArrayLike, users: int, trials: int, rng: np.random.Generator) -> FloatArray:
        """(trials,): the largest estimate from simulated reports; above ``threshold`` some concept is said to fit."""
        return np.asarray(self.reports.estimates(law, users, trials, rng).max(axis=1))

    def _balance(self, users: int) -> tuple[float, float]:
        n = check_positive_integer("users", users)
        return tails.balanced(np.sqrt(self.reports.variances / n), self.signal)


# A refuter in two rounds.

# Parts of α and of β that the learner may have.
_ACCURACIES = (0.4, 0.55, 0.7, 0.8)
_FAILURES = (0.5, 0.8)


class ConfidentLearner(Protocol):
    """A realizable learner made for one accuracy."""

    def likely_users(self, beta: float) -> int: ...

    def confident_users(self, beta: float) -> int: ...

    def losses(self, law: npt.ArrayLike, users: int, trials: int, rng: np.random.Generator) -> FloatArray: ...


@dataclass(frozen=True)
class SequentialRefuter:
    """Users who learn, then users who try.

    Attributes
    ----------
    learner
        Made for loss α₁.
    alpha
        What every hypothesis loses where none fits.
    accuracy, failure
        α₁ and β₁.
    first, second
        Users of either round.
    threshold
        Up to so many ones of the second round say that a concept fits.
    """

    learner: ConfidentLearner
    epsilon: float
    alpha: float
    accuracy: float
    failure: float
    first: int
    second: int
    threshold: int

    @property
    def users(self) -> int:
        """Of both rounds."""
        return self.first + self.second

    def scaled(self, share: float) -> SequentialRefuter:
        """The same with a share of the users of either round, whose errors nothing is promised about."""
        first, second = (max(1, round(share * n)) for n in (self.first, self.second))
        low, high = tails.reported([self.accuracy, self.alpha], self.epsilon).tolist()
        return replace(self, first=first, second=second, threshold=tails.threshold(low, high, second)[0])

    def says_fit(self, law: npt.ArrayLike, trials: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """(trials,): whether a concept is said to fit."""
        wrong = tails.reported(self.learner.losses(law, self.first, trials, rng), self.epsilon)
        return np.asarray(rng.binomial(self.second, wrong) <= self.threshold)


def refuter_of(
    make: Callable[[float], ConfidentLearner], epsilon: float, alpha: float, beta: float, *, proved: bool = False
) -> SequentialRefuter:
    """The refuter of the fewest users from learners ``make(α₁)``; ``proved`` counts the learner's users that are."""
    a, b = checked_loss_gap(alpha), checked_error(beta)
    found = []
    for part in _ACCURACIES:
        learner = make(part * a)
        low, high = tails.reported([part * a, a], epsilon).tolist()
        for share in _FAILURES:
            failure = share * b
            first = learner.confident_users(failure) if proved else learner.likely_users(failure)
            second, t = tails.least_trials(low, high, b, b / (b - failure))
            found.append(SequentialRefuter(learner, epsilon, a, part * a, failure, first, second, t))
    return min(found, key=lambda one: one.users)
