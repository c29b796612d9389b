r"""Users that learn or refute classes on sets of attributes, from norms that are never written out: to d = 30.

Reports of factors with γ = ‖R‖‖A‖ through the half sphere estimate one number for each of the k rows. With a
subgaussian proxy v of one user's estimates, and deviations s and s′ of the row that is chosen and of the right one,

.. math:: n = v\Bigl(\frac{\sqrt{2\ln(k/b)} + \sqrt{2\ln(1/b)}}{m}\Bigr)^2, \qquad v = πc^2γ^2 + σ^2,
          \quad c = \coth(ε/2),

users make k·P(e_c > s) and P(−e_{c*} > s′), s + s′ = m, at most b each: *guaranteed* (``local.factorized.
marginal_users`` has the proxy πc²γ² of the report). By the central limit theorem half of it is enough, with Gaussian
quantiles for the roots: *predicted*. A learner fails with probability at most 2b, a refuter has both errors at most b.

* **Agnostic** (Edmonds, PhD thesis, Toronto, 2023, Theorem 29): γ = γ₂(W, a), σ = 1 + a; the learner has m = 2(α − a)
  for excess loss α, the refuter m = 2α − a (``learning.agnostic``).
* **Realizable** (Theorem 42): γ = η(C, a), m = (1 + a)α − 2a for both (``learning.realizable``). Penalties of a row
  span at most 2γ, so that σ = γ by Hoeffding's lemma.

The a is chosen by the lines of ``local.factorized.factors``: no a makes γ(a)/m(a) much smaller.

**Monotone conjunctions** of d bits are learned agnostically with γ₂(W, a) at an a near the best; *guaranteed* and
*predicted*. Below is the bound of ``learning.bounds`` for the pairs of a conjunction and the empty one, which is
always true: rows (c − 1)/2 of the half differences are again a class that permutations leave as it is.

Realizable data are learned by Kearns' learner (``learning.realizable``), whose number of users, polynomial in d,
is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from factormech.arrays import FloatArray, check_epsilon
from factormech.bounds.hard.divergence import checked_error
from factormech.errors import BadValue
from factormech.learning.bounds import confident_learning_users
from factormech.learning.reports import checked_loss_gap
from factormech.mechanisms.local.factorized.factors import search
from factormech.norms.certified import CertifiedNorm
from factormech.norms.subsets.classes import SubsetClass, subset_class
from factormech.norms.subsets.norms import class_hardness, subset_norm
from factormech.numerics.rounding import above

# Below so many attributes bounds are tried for larger classes, too.
_FEW = 6
# Norms at so many a at most, a few seconds each at 20 attributes.
_SOLVES = 3


@dataclass(frozen=True)
class SubsetReports:
    """Reports of a factorization of a class on sets of attributes, and the margin that noise must stay below.

    Attributes
    ----------
    queries
        The class.
    epsilon
        The privacy budget.
    quantity
        The norm: ``gamma-2-approximate`` or ``eta``.
    norm
        γ between certified ends.
    distance
        The a of the factorization.
    margin
        m, above 0.
    """

    queries: SubsetClass
    epsilon: float
    quantity: str
    norm: CertifiedNorm
    distance: float
    margin: float

    def __post_init__(self) -> None:
        """Refuse a margin that no number of users overcomes."""
        check_epsilon(self.epsilon)
        if not self.margin > 0.0:
            raise BadValue("distance", self.distance, "leave a margin to the noise", "give a smaller one")

    @property
    def spread(self) -> float:
        """σ, of what the user's own type adds to an estimate."""
        return self.norm.upper if self.quantity == "eta" else 1.0 + self.distance

    def users(self, beta: float, *, refute: bool = False, proved: bool = False) -> int:
        """Return how many users keep the failures at most β: predicted, or ``proved`` for every law and n."""
        b, k = checked_error(beta) * (1.0 if refute else 0.5), float(self.queries.queries)
        noise = math.pi * (self.norm.upper / math.tanh(0.5 * self.epsilon)) ** 2
        if proved:
            deviations = math.sqrt(2.0 * math.log(k / b)) + math.sqrt(-2.0 * math.log(b))
        else:
            noise, deviations = 0.5 * noise, -float(ndtri(b / k)) - float(ndtri(b))
        return math.ceil(above((noise + self.spread**2) * (deviations / self.margin) ** 2, 24))


def agnostic_reports(
    queries: SubsetClass, epsilon: float, alpha: float, *, refute: bool = False, distance: float | None = None
) -> SubsetReports:
    """Return the reports of γ₂(W, a) for learning to excess loss α, or for refuting at α.

    Parameters
    ----------
    queries
        A class with labels ±1.
    epsilon, alpha
        The privacy budget, and α below ½.
    refute
        Whether they are for refutation.
    distance
        The a of the factorization, below α; without it the best of a few.
    """
    full = checked_loss_gap(alpha) * (2.0 if refute else 1.0)
    W = np.where(queries.exists, queries.values, 0.0)

    def solve(a: float) -> CertifiedNorm:
        return subset_norm(queries, "gamma-2-approximate", a)

    def numbers(U: FloatArray) -> tuple[float, float]:
        return float(np.abs(U).sum()), float((W * U).sum())

    if distance is None:
        best = search(solve, numbers, full, solves=_SOLVES).best
        distance, norm = best.distance, best.norm
    else:
        norm = solve(distance)
    margin = (full - distance) * (1.0 if refute else 2.0)
    return SubsetReports(queries, epsilon, "gamma-2-approximate", norm, distance, margin)


def realizable_reports(queries: SubsetClass, epsilon: float, alpha: float) -> SubsetReports:
    """Return the reports of η(C, a) for learning to loss α, or refuting at α, where a concept loses nothing."""
    a = checked_loss_gap(alpha)
    wrong = np.hstack([queries.values < 0.0, queries.values > 0.0])

    def numbers(U: FloatArray) -> tuple[float, float]:
        return float(np.abs(U[~wrong]).sum()), float(U[wrong].sum())

    best = search(lambda at: subset_norm(queries, "eta", at), numbers, a / (2.0 - a), solves=_SOLVES).best
    margin = (1.0 + best.distance) * a - 2.0 * best.distance
    return SubsetReports(queries, epsilon, "eta", best.norm, best.distance, margin)


# a ÷ α of the factorization, near the best at 24 bits and more; at few bits a = 0 is best, by some 10 % of the users.
DISTANCE = 0.05


@dataclass(frozen=True)
class AgnosticUsers:
    """Users for excess loss at most α with probability 1 − β on every law.

    Attributes
    ----------
    norm_low, norm_high
        The certified ends of γ₂(W, a).
    guaranteed, predicted
        Users that suffice: proved, and by the central limit theorem.
    needed
        A number that no protocol without interaction can do with fewer than.
    """

    norm_low: float
    norm_high: float
    guaranteed: int
    predicted: int
    needed: float


def _needed(attributes: int, epsilon: float, alpha: float, beta: float) -> float:
    queries = subset_class("conjunctions", attributes)
    differences = replace(queries, values=0.5 * (queries.values - 1.0))
    return confident_learning_users([class_hardness(differences, 2.0 * alpha * (1.0 + 1e-6))], epsilon, alpha, beta)


def agnostic_users(attributes: int, epsilon: float, alpha: float, beta: float) -> AgnosticUsers:
    """Return how many users learn monotone conjunctions agnostically, from above and from below.

    Parameters
    ----------
    attributes
        d, at most 30.
    epsilon
        The privacy budget.
    alpha
        The excess loss, below ½.
    beta
        The failure probability, below ½.

    Examples
    --------
    >>> found = agnostic_users(6, 1.0, 0.1, 0.1)
    >>> found.needed < found.predicted < found.guaranteed
    True
    """
    queries, a = subset_class("conjunctions", attributes), DISTANCE * checked_loss_gap(alpha)
    reports = agnostic_reports(queries, epsilon, alpha, distance=a)
    # Where all other attributes hold, a class has the conjunctions of fewer: their bounds are bounds for it.
    sizes = {*range(1, min(attributes, _FEW)), attributes}
    needed = max(_needed(size, epsilon, alpha, beta) for size in sizes)
    norm, guaranteed, predicted = reports.norm, reports.users(beta, proved=True), reports.users(beta)
    return AgnosticUsers(norm.lower, norm.upper, guaranteed, predicted, needed)
