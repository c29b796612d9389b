r"""Masked parities: one more round saves exponentially many users.

A concept has a mask r ∈ {0,1}^d and a bit a; a point is (x, i, b), x ∈ {0,1}^d, i ∈ [d], b ∈ {0, 1}:

.. math:: c_{r,a}(x, i, 1) = (-1)^{r_i}, \qquad c_{r,a}(x, i, 0) = (-1)^{⟨r,x⟩ + a}

(Kasiviswanathan, Lee, Nissim, Raskhodnikova & Smith, What can we learn privately?, SIAM J. Comput. 40(3), 2011). Points
are uniform and labelled by one of the concepts; a learner succeeds if its loss is below ¼.

**Without interaction** users are exponentially many. D_{r,0} and D_{r,1} are equal where b = 1 and have opposite labels
where b = 0: every hypothesis loses at least ½ on both together, so it is below ¼ on one of them at most. A learner with
failure probability β tells them apart, for every r, by errors of at most β. With g(x) = ½E_i(f(x,i,0,+) − f(x,i,0,−)),
|g| ≤ 1,

.. math:: M_r f = E_x χ_r(x) g(x), \qquad E_r (M_r f)^2 = 2^{-d} E g^2 \le 2^{-d},

so ‖M‖ = 2^{−d/2}, ‖M_r‖₁ = 1, in ``bounds.hard.divergence``. And D_{r,a} = ν_r ± M_r/2, where ν_r has half of its mass
uniform on labelled points with b = 0, whatever r. What is shown there for pairs around a centre uses of it, pair by
pair, that ν_r ≥ φy/Y, and here φ = ½.

**With a second round** they are few. Users of the first round, each with public random signs z ∈ {±1}^d, report z_i
times their label if b = 1, else a fair coin, by randomized response. Report times z_j is a sign of mean r̄_j/(2dc),
r̄_j = (−1)^{r_j}, c = coth(ε/2): a binomial count for every bit of r. Knowing r, users of the second round report label
times χ_r(x) if b = 0, else a coin: a sign of mean (−1)^a/2c. Both tails are exact; a union over d bits makes the number
of users *guaranteed*, under the uniform law, with probability 1 − β.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from factormech.arrays import check_epsilon, check_positive_integer
from factormech.bounds.hard.divergence import checked_error, users_around_centre, users_to_distinguish
from factormech.learning import tails

# The share of the failure probability that is left to the first round, which takes nearly all users.
_FIRST = 0.95


@dataclass(frozen=True)
class MaskedParities:
    """Masked parities of d bits under ε-LDP (see the module).

    Attributes
    ----------
    attributes
        d.
    epsilon
        The privacy budget of every user.

    Examples
    --------
    >>> problem = MaskedParities(20, 1.0)
    >>> problem.non_interactive_users(0.1) > 50 * sum(problem.sequential_users(0.1))
    True
    """

    attributes: int
    epsilon: float

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        check_positive_integer("attributes", self.attributes)
        check_epsilon(self.epsilon)

    def non_interactive_users(self, beta: float) -> float:
        """A number of users that no protocol without interaction learns with fewer than, with failure probability β."""
        norm = 2.0 ** (-0.5 * self.attributes) * (1.0 + 2.0**-50)
        plain = users_to_distinguish(norm, self.epsilon, beta, row_mass=1.0)
        return max(plain, users_around_centre(norm, self.epsilon, beta, 0.5, 1.0))

    def sequential_users(self, beta: float) -> tuple[int, int]:
        """Users of both rounds that are proved to learn the concept with probability 1 − β, on uniform points."""
        error = checked_error(beta)
        return (
            self._users(1.0 / (2.0 * self.attributes), _FIRST * error / self.attributes),
            self._users(0.5, (1.0 - _FIRST) * error),
        )

    def learned(self, users: tuple[int, int], trials: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """(trials,): whether simulated runs end with the concept itself, uniform points being labelled by it.

        Counts of signs have the law of the users' reports. Randomized response is right with the probability ½ + m/2:
        it is the truth with probability m, else a fair coin. So of n reports of the first round those that tell bit j
        the truth, with probability m/2d each, are multinomial, and all other products with z_j are fair, independently.
        """
        d, (first, second) = self.attributes, users
        right = _likelier(self.epsilon)
        told = (right - 0.5) / d
        true = rng.multinomial(first, [told] * d + [1.0 - d * told], size=trials)[:, :d]
        mask = (2 * (true + rng.binomial(first - true, 0.5)) > first).all(axis=1)
        labelled = rng.binomial(second, 0.5, size=trials)
        # With a wrong mask the products are fair coins: the bit is then guessed, and the concept is not learned.
        bit = 2 * (rng.binomial(labelled, right) + rng.binomial(second - labelled, 0.5)) > second
        return np.asarray(mask & bit)

    def _users(self, share: float, error: float) -> int:
        """The least number of reports whose majority is wrong with at most this probability, where they say a share."""
        mean = share / (1.0 / math.tanh(0.5 * self.epsilon))
        return tails.least_trials(0.5 * (1.0 - mean), 0.5 * (1.0 + mean), error)[0]


def _likelier(epsilon: float) -> float:
    """The probability that randomized response tells the truth."""
    return 1.0 / (1.0 + math.exp(-epsilon))
