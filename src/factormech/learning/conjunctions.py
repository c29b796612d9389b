r"""Kearns' non-adaptive learner of monotone conjunctions, run on randomized bits: realizable only, polynomial in d.

Query i asks how often bit i is 0 at points labelled +1: q_i = P(x_i = 0, b = +1), which is 0 for bits of the concept.
The learner keeps the bits whose q_i seems below α/d (Kearns, Efficient noise-tolerant learning from statistical
queries, STOC 1993). If every bit of the concept is kept and none with q_i > α/d, the conjunction of the kept bits is
wrong only where the concept is true: it loses at most Σ_{kept} q_i ≤ α.

Users are dealt into d groups of m; one of group i sends [x_i = 0, b = +1] as a randomized bit. The count of ones is
binomial, and a threshold keeps both of its errors at most β/d. They are summed over d bits, each of which can make one
of them only: loss ≤ α with probability at least 1 − β, *proved*, by exact binomial tails. m grows like 2c²(d/α)²·
2ln(d/β) at most, c = (e^ε+1)/(e^ε−1): users grow like d³ln d, where an agnostic learner's grow with γ₂(W, α)², which is
exponential in √d.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.bounds.hard.divergence import checked_error
from factormech.errors import BadValue
from factormech.learning import counts
from factormech.learning.concepts import ConceptClass, bits, concept_class
from factormech.learning.reports import checked_law, checked_loss_gap, losses


class KearnsLearner:
    """Learns monotone conjunctions of d bits to loss α (see the module)."""

    def __init__(self, d: int, epsilon: float, alpha: float) -> None:
        self.d, self.epsilon, self.alpha = (
            check_positive_integer("d", d),
            check_epsilon(epsilon),
            checked_loss_gap(alpha),
        )
        self._rare, self._frequent = counts.reported([0.0, self.alpha / self.d], self.epsilon).tolist()

    @cached_property
    def concepts(self) -> ConceptClass:
        """All monotone conjunctions of d bits; only a simulation lists them."""
        return concept_class("conjunctions", self.d)

    def confident_users(self, beta: float) -> int:
        """A number of users proved to give loss at most α with probability at least 1 − β."""
        return self.d * counts.least_trials(self._rare, self._frequent, checked_error(beta) / self.d)[0]

    def likely_users(self, beta: float) -> int:
        """The same: nothing is approximated."""
        return self.confident_users(beta)

    def losses(self, law: npt.ArrayLike, users: int, trials: int, rng: np.random.Generator) -> FloatArray:
        """(trials,): losses of what is learnt from so many users drawn from the law."""
        p = checked_law(law, self.concepts.domain_size)
        m = check_positive_integer("users", users) // self.d
        if m < 1:
            raise BadValue("users", users, f"be at least one for each of the {self.d} bits", "give more")
        shares = p[: self.concepts.domain_size] @ (1 - bits(self.d))
        ones = rng.binomial(m, counts.reported(shares, self.epsilon), size=(trials, self.d))
        kept = ones <= counts.threshold(self._rare, self._frequent, m)[0]
        return losses(self.concepts, p)[kept @ (1 << np.arange(self.d))]
