r"""Users of monotone conjunctions of d bits, agnostic and realizable, from norms that are never written out: to d = 30.

**Agnostic learner**, by a factorization |RA − W| ≤ a of the ±1 matrix with γ = ‖R‖‖A‖ = γ₂(W, a)
(``learning.agnostic``): it outputs the concept of the largest estimated agreement. Its excess loss is at most ½(2a +
e_ĉ − e_{c*}), so it is at most α unless some e_c > s or −e_{c*} > s', s + s' = 2(α − a). With a subgaussian proxy v of
one user's estimates

.. math:: n = \frac{2v\bigl(\sqrt{\ln(2k/β)} + \sqrt{\ln(2/β)}\bigr)^2}{4(α-a)^2}, \qquad k = 2^d,

users make both unlikely to β/2. v = πc²γ² + (1 + a)² is proved (``local.factorized.marginal_users``, c = coth(ε/2)):
*guaranteed*. By the central limit theorem half of the first term is enough, with Gaussian quantiles for roots:
*predicted*.

**Below** is the bound of ``learning.bounds`` for the pairs of a conjunction and the empty one, which is always true:
rows (c − 1)/2 of the half differences are again a class that permutations leave as it is.

**Realizable** data are learned by Kearns' learner (``learning.conjunctions``), whose number of users, polynomial in d,
is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from scipy.special import ndtri

from factormech.arrays import check_epsilon
from factormech.bounds.hard.divergence import checked_error
from factormech.learning.bounds import confident_learning_users
from factormech.learning.reports import checked_loss_gap
from factormech.norms.subsets.classes import subset_class
from factormech.norms.subsets.norms import class_hardness, subset_norm
from factormech.numerics.rounding import above

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
    norm = subset_norm(queries, "gamma-2-approximate", a)
    coth, k = 1.0 / math.tanh(0.5 * check_epsilon(epsilon)), 2.0**attributes
    noise, sampling, b = math.pi * (coth * norm.upper) ** 2, (1.0 + a) ** 2, 0.5 * checked_error(beta)

    def users(variance: float, deviations: float) -> int:
        return math.ceil(above(variance * (0.5 * deviations / (alpha - a)) ** 2, 24))

    guaranteed = users(noise + sampling, math.sqrt(2.0 * math.log(k / b)) + math.sqrt(-2.0 * math.log(b)))
    predicted = users(0.5 * noise + sampling, -float(ndtri(b / k)) - float(ndtri(b)))
    differences = replace(queries, values=0.5 * (queries.values - 1.0))
    found = class_hardness(differences, 2.0 * alpha * (1.0 + 1e-6))
    needed = confident_learning_users([found], epsilon, alpha, beta)
    return AgnosticUsers(norm.lower, norm.upper, guaranteed, predicted, needed)
