r"""Realizable learning and refutation without interaction.

**Any class.** Private estimates say how often each concept is contradicted. The *penalties* V (k × 2T) of a class
have |V_c| ≤ a on labelled points (x, c(x)), and V_c ≥ 1 on (x, −c(x)). η(C, a) is the least γ₂ of V + θ1ᵀ, and a
factorization RA of it through a randomizer of the ball estimates p_c = V_c·λ (Edmonds, PhD thesis, Toronto, 2023,
Definition 44 and Theorem 42). Of the penalties that are really released let h and −l be the largest and the least at
right labels and w the least at wrong ones (h = l = a, w = 1 but for the solver's accuracy). For every law

.. math:: p_c \ge w L_λ(c) - l(1 - L_λ(c)), \qquad p_{c^*} \le h \text{ if } L_λ(c^*) = 0 .

**Learner**: ĉ of the least estimate p + e. As (p+e)_ĉ ≤ (p+e)_{c*} and E e_{c*} = 0,

.. math:: \operatorname{E} L_λ(ĉ) \le \frac{h + l + \operatorname{E}\max_c(-e_c)}{w + l},

so accuracy α leaves m(α) = (w + l)α − h − l to the noise, one margin where the thesis counts the error of each of two
estimates (and prints η(C, α/2) with error of order α, which does not give α: at a = α/2 the bias alone makes
α/(1 + α/2) of it). P(L(ĉ) > α) ≤ Σ_c P(e_{c*} − e_c ≥ m(α)).

**Refuter**: to tell laws that some concept labels from laws on which every concept loses at least α, it compares the
least estimate with a threshold; their means are m(α) apart.

**Choice of a.** Users grow like (η(C, a)/m(α))², m(α) = (2 − α)(α' − a) with α' = α/(2 − α); a dual matrix proves that
η(C, a) is at least a line in a, so Kelley's method of ``local.factorized.distance`` finds the best a with a proof.

**Monotone conjunctions.** Kearns' non-adaptive learner runs on randomized bits, for realizable laws only, in time
polynomial in d. Query i asks how often bit i is 0 at points labelled +1: q_i = P(x_i = 0, b = +1), which is 0 for
bits of the concept. The learner keeps the bits whose q_i seems below α/d (Kearns, Efficient noise-tolerant learning
from statistical queries, STOC 1993). If every bit of the concept is kept and none with q_i > α/d, the conjunction of
the kept bits is wrong only where the concept is true: it loses at most Σ_{kept} q_i ≤ α.

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
from factormech.learning import tails
from factormech.learning.concepts import ConceptClass, bits, concept_class
from factormech.learning.reports import checked_law, checked_loss_gap, drawn_estimates, losses
from factormech.mechanisms.local.factorized import release as drawn
from factormech.mechanisms.local.factorized import tails as chernoff
from factormech.mechanisms.local.factorized.factors import GAP, factorization, search
from factormech.mechanisms.local.factorized.registry import release_of
from factormech.mechanisms.local.factorized.releases import FactorizationRelease
from factormech.mechanisms.local.factorized.tails import expected_largest
from factormech.norms.approximate import eta_norm
from factormech.numerics.roots import least_whole

# Any class.


class PenaltyReports:
    """A release of all penalties, and what is certified of them.

    Attributes
    ----------
    concepts
        The class.
    release
        The factorization mechanism of V, its shift θ; exact but for rounding.
    distance
        The a that the factors were made for.
    low, high, wrong
        l, h and w, rounding counted.
    variances
        (k,): the largest variance of each estimate over all laws, times the number of users.
    """

    def __init__(self, concepts: ConceptClass, release: FactorizationRelease, distance: float) -> None:
        self.concepts, self.release, self.distance = concepts, release, distance
        V, right = release.workload, ~wrong_labels(concepts)
        slack = 2.0 * release.distance
        self.low, self.high = float(-V[right].min()) + slack, float(V[right].max()) + slack
        self.wrong = float(V[~right].min()) - slack
        self.variances = drawn.worst_variances(release)

    def margin(self, alpha: float) -> float:
        """m(α) = (w + l)α − h − l."""
        return (self.wrong + self.low) * alpha - self.high - self.low

    @cached_property
    def proxies(self) -> FloatArray:
        """(k,): a subgaussian proxy of one user's estimates, for every law: the report's and Hoeffding's."""
        rows = np.einsum("cs,cs->c", self.release.decoder, self.release.decoder)
        ranges = np.ptp(self.release.workload, axis=1)
        return np.asarray(self.release.randomizer.subgaussian_proxy * rows + 0.25 * ranges**2)

    def estimates(self, law: npt.ArrayLike, users: int, trials: int, rng: np.random.Generator) -> FloatArray:
        """(trials, k): estimated penalties from ``users`` drawn from the law, anew in every trial."""
        return drawn_estimates(self.release, self.concepts, law, users, trials, rng)


def wrong_labels(concepts: ConceptClass) -> npt.NDArray[np.bool_]:
    """(k, 2T): where b ≠ c(x), of columns (x, +1), then (x, −1)."""
    return np.hstack([concepts.matrix < 0, concepts.matrix > 0])


def penalties_for(
    concepts: ConceptClass, epsilon: float, alpha: float, *, randomizer: str = "half-sphere"
) -> PenaltyReports:
    """The reports whose η(C, a) over m(α) is least over a."""
    wrong = wrong_labels(concepts)

    def numbers(U: FloatArray) -> tuple[float, float]:
        return float(np.abs(U[~wrong]).sum()), float(U[wrong].sum())

    best = search(lambda a: eta_norm(concepts.labels, a, gap=0.5 * GAP), numbers, alpha / (2.0 - alpha)).best
    R, A, theta = best.norm.left.dense(), best.norm.right.dense(), best.norm.witness["shift"]
    factors = factorization(R @ A - theta[:, None], R, A, theta)
    release = release_of("approximate", factors, check_epsilon(epsilon), randomizer=randomizer)
    if not isinstance(release, FactorizationRelease):
        raise BadValue("alpha", alpha, "be less than what no report gives", "ask for more accuracy")
    return PenaltyReports(concepts, release, best.distance)


class RealizableLearner:
    """Learns a class to loss α from data that one of its concepts labels (see the module).

    Parameters
    ----------
    alpha
        The loss that the factorization is made for, 0 < α < ½.
    randomizer
        Of the unit ball: ``half-sphere`` or ``priv-unit``.
    """

    def __init__(
        self, concepts: ConceptClass, epsilon: float, alpha: float, *, randomizer: str = "half-sphere"
    ) -> None:
        self.alpha = checked_loss_gap(alpha)
        self.concepts, self.epsilon = concepts, float(epsilon)
        self.reports: PenaltyReports = penalties_for(concepts, epsilon, self.alpha, randomizer=randomizer)

    @property
    def margin(self) -> float:
        """m(α), what noise must make up for."""
        return self.reports.margin(self.alpha)

    def predicted_loss(self, users: int) -> float:
        """Central-limit bound on the expected loss of so many users, whichever concept labels them."""
        r, n = self.reports, check_positive_integer("users", users)
        return (r.high + r.low + expected_largest(np.sqrt(r.variances / n))) / (r.wrong + r.low)

    def predicted_users(self) -> int:
        """The least n whose ``predicted_loss`` is at most α; a prediction, no guarantee."""
        return least_whole(self.predicted_loss, self.alpha)

    def guaranteed_users(self) -> int:
        """The least n that is proved to give expected loss at most α."""
        V = self.reports.proxies
        if len(V) == 1:
            return 1
        return chernoff.least_users(lambda tau: 0.5 * tau**2 * V, self.margin / float(V.max()), self.margin)

    def likely_users(self, beta: float) -> int:
        """The least n at which the central limit puts P(loss > α) at most β; a prediction."""
        return tails.likely_users(self.difference_variances, self.margin, beta)

    def confident_users(self, beta: float) -> int:
        """A number of users that is proved to give loss at most α with probability at least 1 − β."""
        return tails.certain_users(self._difference_proxy, self.concepts.size, self.margin, beta)

    @cached_property
    def difference_variances(self) -> FloatArray:
        """(k, k): worst variances of the differences of two estimates, times the number of users."""
        return tails.difference_variances(self.reports.release)

    @cached_property
    def _difference_proxy(self) -> float:
        return tails.difference_proxy(self.reports.release)

    def losses(self, law: npt.ArrayLike, users: int, trials: int, rng: np.random.Generator) -> FloatArray:
        """(trials,): losses of what is learnt from simulated reports of users drawn from the law."""
        found = np.argmin(self.reports.estimates(law, users, trials, rng), axis=1)
        return np.asarray(losses(self.concepts, law)[found])


class RealizableRefuter:
    """Tells laws that some concept labels from laws on which every concept loses at least α (see the module)."""

    def __init__(
        self, concepts: ConceptClass, epsilon: float, alpha: float, *, randomizer: str = "half-sphere"
    ) -> None:
        self.alpha = checked_loss_gap(alpha)
        self.concepts, self.epsilon = concepts, float(epsilon)
        self.reports: PenaltyReports = penalties_for(concepts, epsilon, self.alpha, randomizer=randomizer)

    @property
    def signal(self) -> float:
        """m(α): how far apart the least penalties of both kinds of law are."""
        return self.reports.margin(self.alpha)

    def threshold(self, users: int) -> float:
        """A least estimate up to this says that a concept fits: h + m(α) − y, y where the bounds on errors are equal.

        Of k estimates one too low is a false alarm; a miss takes the right one too high.
        """
        return self.reports.high + self.signal - self._balance(users)[0]

    def predicted_error(self, users: int) -> float:
        """Central-limit bound on either error of so many users, at most 1."""
        return self._balance(users)[1]

    def predicted_users(self, beta: float) -> int:
        """The least n whose ``predicted_error`` is at most β; a prediction, no guarantee."""
        return least_whole(self.predicted_error, checked_error(beta))

    def guaranteed_users(self, beta: float) -> int:
        """A number of users with which a threshold is proved to make both errors at most β."""
        return tails.certain_refuter_users(float(self.reports.proxies.max()), self.concepts.size, self.signal, beta)

    def says_fit(self, law: npt.ArrayLike, users: int, trials: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """(trials,): whether a concept is said to fit."""
        return np.asarray(self.reports.estimates(law, users, trials, rng).min(axis=1) <= self.threshold(users))

    def _balance(self, users: int) -> tuple[float, float]:
        n = check_positive_integer("users", users)
        return tails.balanced(np.sqrt(self.reports.variances / n), self.signal)


# Monotone conjunctions.


class KearnsLearner:
    """Learns monotone conjunctions of d bits to loss α (see the module)."""

    def __init__(self, d: int, epsilon: float, alpha: float) -> None:
        self.d, self.epsilon, self.alpha = (
            check_positive_integer("d", d),
            check_epsilon(epsilon),
            checked_loss_gap(alpha),
        )
        self._rare, self._frequent = tails.reported([0.0, self.alpha / self.d], self.epsilon).tolist()

    @cached_property
    def concepts(self) -> ConceptClass:
        """All monotone conjunctions of d bits; only a simulation lists them."""
        return concept_class("conjunctions", self.d)

    def confident_users(self, beta: float) -> int:
        """A number of users proved to give loss at most α with probability at least 1 − β."""
        return self.d * tails.least_trials(self._rare, self._frequent, checked_error(beta) / self.d)[0]

    def likely_users(self, beta: float) -> int:
        """Return ``confident_users``: for this learner nothing is approximated."""
        return self.confident_users(beta)

    def losses(self, law: npt.ArrayLike, users: int, trials: int, rng: np.random.Generator) -> FloatArray:
        """(trials,): losses of what is learnt from so many users drawn from the law."""
        p = checked_law(law, self.concepts.domain_size)
        m = check_positive_integer("users", users) // self.d
        if m < 1:
            raise BadValue("users", users, f"be at least one for each of the {self.d} bits", "give more")
        shares = p[: self.concepts.domain_size] @ (1 - bits(self.d))
        ones = rng.binomial(m, tails.reported(shares, self.epsilon), size=(trials, self.d))
        kept = ones <= tails.threshold(self._rare, self._frequent, m)[0]
        return losses(self.concepts, p)[kept @ (1 << np.arange(self.d))]
