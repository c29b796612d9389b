r"""Users of monotone conjunctions of d bits, agnostic and realizable, from norms that are never written out: to d = 30.

**Agnostic learner**: ``learning.subset_users``, with γ₂(W, a) at an a near the best; *guaranteed* and *predicted*.

**Below** is the bound of ``learning.bounds`` for the pairs of a conjunction and the empty one, which is always true:
rows (c − 1)/2 of the half differences are again a class that permutations leave as it is.

**Realizable** data are learned by Kearns' learner (``learning.conjunctions``), whose number of users, polynomial in d,
is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from factormech.learning.bounds import confident_learning_users
from factormech.learning.reports import checked_loss_gap
from factormech.learning.subset_users import agnostic_reports
from factormech.norms.subsets.classes import subset_class
from factormech.norms.subsets.norms import class_hardness

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
    differences = replace(queries, values=0.5 * (queries.values - 1.0))
    found = class_hardness(differences, 2.0 * alpha * (1.0 + 1e-6))
    needed = confident_learning_users([found], epsilon, alpha, beta)
    norm, guaranteed, predicted = reports.norm, reports.users(beta, proved=True), reports.users(beta)
    return AgnosticUsers(norm.lower, norm.upper, guaranteed, predicted, needed)
