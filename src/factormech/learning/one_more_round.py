r"""A learner turned into a refuter by one more round of fresh users (Edmonds, PhD thesis, Toronto, 2023, Lemma 50).

A learner of loss α₁ < α, which fails with probability at most β₁, hands its hypothesis to n₂ new users, who send
whether it is wrong about them as a randomized bit. The protocol is sequential, each user speaks once. Where a concept
fits, the hypothesis loses at most α₁ unless the learner failed, and the count of ones is too high with probability at
most β − β₁; where every hypothesis loses at least α, it is too low with probability at most β. Both are exact binomial
tails. (The thesis takes α₁ = α/3 and estimates the loss within α/3: here α₁ and β₁ are those of the fewest users.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray
from factormech.bounds.hard.divergence import checked_error
from factormech.learning import counts
from factormech.learning.reports import checked_loss_gap

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
        low, high = counts.reported([self.accuracy, self.alpha], self.epsilon).tolist()
        return replace(self, first=first, second=second, threshold=counts.threshold(low, high, second)[0])

    def says_fit(self, law: npt.ArrayLike, trials: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """(trials,): whether a concept is said to fit."""
        wrong = counts.reported(self.learner.losses(law, self.first, trials, rng), self.epsilon)
        return np.asarray(rng.binomial(self.second, wrong) <= self.threshold)


def refuter_of(
    make: Callable[[float], ConfidentLearner], epsilon: float, alpha: float, beta: float, *, proved: bool = False
) -> SequentialRefuter:
    """The refuter of the fewest users from learners ``make(α₁)``; ``proved`` counts the learner's users that are."""
    a, b = checked_loss_gap(alpha), checked_error(beta)
    found = []
    for part in _ACCURACIES:
        learner = make(part * a)
        low, high = counts.reported([part * a, a], epsilon).tolist()
        for share in _FAILURES:
            failure = share * b
            first = learner.confident_users(failure) if proved else learner.likely_users(failure)
            second, t = counts.least_trials(low, high, b, b / (b - failure))
            found.append(SequentialRefuter(learner, epsilon, a, part * a, failure, first, second, t))
    return min(found, key=lambda one: one.users)
