r"""Agnostic learning and refutation without interaction: the concept of the largest estimate, and whether it is large.

**Learner.** It outputs the concept ĉ of the largest estimate. With estimates q + b + e, |b| ≤ a and E e = 0, c* the
best concept: 2(L(ĉ) − L(c*)) = q_{c*} − q_ĉ ≤ (b+e)_ĉ − (b+e)_{c*}, so the expected excess loss is at most

.. math:: \tfrac12\bigl(a + \operatorname{E}\max_c(b+e)_c\bigr)

(Edmonds, PhD thesis, Toronto, 2023, chapter 6, doubles the noise: it bounds both errors by the largest. A quarter of
the users is enough.) In terms of releasing agreements: excess α is met by expected error 2α − a.

With probability 1 − β: e_c − e_{c*} is subgaussian with a proxy V_{cc*}, so by the union bound over the k − 1 others

.. math:: n \ge \frac{2V\ln((k-1)/\beta)}{4(\alpha-a)^2} \quad\Rightarrow\quad P(\text{excess} > \alpha) \le \beta .

**Refuter.** To tell laws on which some concept loses at most ½ − α from laws whose labels are fair coins, it compares
the largest estimate with a threshold τ. Under coins every estimate is unbiased for 0; else one has a mean of at least
2α − a. A false alarm has probability at most Σ_c P(e_c > τ), a miss at most max_c P(e_c ≤ τ − 2α + a); τ makes both
bounds equal.

*Predicted* is by the central limit theorem with worst-case variances, *guaranteed* by moment generating functions.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from factormech.arrays import FloatArray, check_positive_integer
from factormech.bounds.hard.divergence import checked_error
from factormech.learning.concepts import ConceptClass
from factormech.learning.reports import AgreementReports, checked_loss_gap, reports_for
from factormech.local.factorized import chernoff, drawn
from factormech.local.factorized.gaussian_maximum import expected_maximum

_HALVINGS = 80


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
        return chernoff.whole_users(self.predicted_excess, self.alpha)

    def guaranteed_users(self) -> int:
        """The least n that is proved to give expected excess at most α, whatever the law."""
        return drawn.guaranteed_users(self.reports.release, 2.0 * self.alpha - self.reports.distance)

    def confident_users(self, beta: float) -> int:
        """A number of users that is proved to give excess at most α with probability at least 1 − β."""
        b, k = checked_error(beta), self.concepts.size
        if k == 1:
            return 1
        margin = 2.0 * (self.alpha - self.reports.distance)
        return max(1, math.ceil(2.0 * self._difference_proxy * math.log((k - 1) / b) / margin**2))

    @cached_property
    def _difference_proxy(self) -> float:
        """The largest proxy of e_c − e_c′: v‖R_c − R_c′‖² of the randomizer, max |W̃_c − W̃_c′|² of the points."""
        R, W = self.reports.release.decoder, self.reports.approximated
        v = self.reports.release.randomizer.subgaussian_proxy
        worst = 0.0
        for c in range(len(R) - 1):
            noise = v * np.einsum("cs,cs->c", R[c + 1 :] - R[c], R[c + 1 :] - R[c])
            worst = max(worst, float((noise + np.abs(W[c + 1 :] - W[c]).max(axis=1) ** 2).max()))
        return worst

    def excess_losses(self, law: npt.ArrayLike, users: int, trials: int, rng: np.random.Generator) -> FloatArray:
        """(trials,): excess losses of what is learnt from simulated reports of users drawn from the law."""
        found = np.argmax(self.reports.estimates(law, users, trials, rng), axis=1)
        q = self.reports.agreements(law)
        return np.asarray(0.5 * (q.max() - q[found]))


class AgnosticRefuter:
    """Tells laws on which some concept loses at most ½ − α from fair coins (see the module)."""

    def __init__(
        self, concepts: ConceptClass, epsilon: float, alpha: float, *, randomizer: str = "half-sphere"
    ) -> None:
        self.alpha = checked_loss_gap(alpha)
        self.concepts, self.epsilon = concepts, float(epsilon)
        self.reports: AgreementReports = reports_for(concepts, epsilon, 2.0 * self.alpha, randomizer=randomizer)

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
        return chernoff.whole_users(self.predicted_error, checked_error(beta))

    def guaranteed_users(self, beta: float) -> int:
        """A number of users with which a threshold is proved to make both errors at most β.

        exp(−nτ²/2V) ≤ β/k and exp(−n(2α−a−τ)²/2V) ≤ β, V the largest proxy.
        """
        b = checked_error(beta)
        V = float(self.reports.proxies.max())
        roots = math.sqrt(math.log(self.concepts.size / b)) + math.sqrt(-math.log(b))
        return max(1, math.ceil(2.0 * V * (roots / self.signal) ** 2))

    def statistics(self, law: npt.ArrayLike, users: int, trials: int, rng: np.random.Generator) -> FloatArray:
        """(trials,): the largest estimate from simulated reports; above ``threshold`` some concept is said to fit."""
        return np.asarray(self.reports.estimates(law, users, trials, rng).max(axis=1))

    def _balance(self, users: int) -> tuple[float, float]:
        n = check_positive_integer("users", users)
        s = np.sqrt(self.reports.variances / n)
        low, high = 0.0, self.signal
        for _ in range(_HALVINGS):
            tau = 0.5 * (low + high)
            alarm, miss = float(ndtr(-tau / s).sum()), float(ndtr((tau - self.signal) / s).max())
            low, high = (tau, high) if alarm > miss else (low, tau)
        return high, min(max(alarm, miss), 1.0)
