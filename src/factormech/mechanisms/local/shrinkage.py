r"""Biased answers that need fewer users: a constant, and an unbiased strategy shrunk towards it.

Lower bounds on unbiased strategies say nothing of them. The data are N users, a share p_u of them of type u; ŷ is the
unbiased estimate of the answers Wp by a strategy whose user of type u adds the variance σ_u² (summed over the queries),
and w_u = We_u. A user who knows nothing answers Wπ, π a *prior* on the types.

**Theorem.** The estimate Wπ + c(ŷ − Wπ), 0 ≤ c ≤ 1, has in the worst case over all data of N users the squared error

.. math:: \max_u\; \frac{c^2\sigma_u^2}{N} + (1-c)^2 D_u , \qquad D_u = \lVert w_u - W\pi\rVert^2 .

*Proof.* Its variance is c²Σp_uσ_u²/N and its bias (1−c)W(π − p). The sum of the variance and the squared bias is convex
in p, so that it is largest at a vertex of the simplex: where all users are of one type. ∎

For c = 0 it is the error of the constant Wπ, with no users: max_u D_u. It is least where Wπ is the centre of the least
ball that contains all w_u.

**Users.** A total error τ needs N(c) = max_u c²σ_u²/(τ − (1−c)²D_u) users. Each term falls up to c_u = 1 − τ/D_u and
rises from there, so that N(c) has one descent, which ends before max_u c_u. Where σ_u² and D_u do not depend on u,
N = (σ²/τ)(1 − τ/D): shrinkage saves the share τ/D of the users.

The prior is public, and shrinking is done to the estimate: the strategy's privacy is that of the shrunk answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue

# The ball is within this share of the least one, if it is found in so many steps for each type.
TOLERANCE, STEPS = 1e-9, 200
# Steps of the search for c; each leaves two thirds of the interval.
_THIRDS = 120


@dataclass(frozen=True)
class Constant:
    """A constant answer.

    Attributes
    ----------
    prior
        π, (n,): the answer is Wπ.
    distances
        D_u, (n,).
    """

    prior: FloatArray
    distances: FloatArray

    @property
    def error(self) -> float:
        """The squared error in the worst case over data, summed over the queries, with no users."""
        return float(self.distances.max())


@dataclass(frozen=True)
class Shrunk:
    """The users that a strategy needs when its estimate is shrunk (not rounded up), and the factor c."""

    users: float
    factor: float


def best_constant(gram: FloatArray) -> Constant:
    """Return the constant answer of least worst-case error for the Gram matrix WᵀW, or PWᵀWP.

    Any prior gives an exact error. The one returned is found by steps that move weight from the nearest type with
    weight to the farthest type, each of the best length, from the uniform prior.
    """
    G = np.asarray(gram, dtype=float)
    n, diagonal = len(G), np.diagonal(G)
    prior = np.full(n, 1.0 / n)
    products = G @ prior
    for step in range(STEPS * n + 1):
        if step % n == 0:
            products = G @ prior  # rounding of the updates ends here
        distances = diagonal - 2.0 * products + float(prior @ products)
        far = int(np.argmax(distances))
        if step == STEPS * n or distances[far] - float(prior @ distances) <= TOLERANCE * distances[far]:
            break
        near = int(np.argmin(np.where(prior > 0.0, distances, np.inf)))
        apart = float(G[far, far] + G[near, near] - 2.0 * G[far, near])
        if not apart > 0.0:
            break
        length = min(float(prior[near]), 0.5 * float(distances[far] - distances[near]) / apart)
        prior[far] += length
        prior[near] -= length
        products = products + length * (G[far] - G[near])
    return Constant(prior, np.maximum(distances, 0.0))


def shrunk_users(variance: FloatArray, distances: FloatArray, total: float) -> Shrunk:
    """Return the least N(c) for the total squared error τ = ``total``, and its c; no users where a constant is enough.

    Parameters
    ----------
    variance, distances
        σ_u² of one user by type and D_u, (n,).
    total
        τ, summed over the queries, above 0.
    """
    if not total > 0.0:
        raise BadValue("total", total, "be above 0", "give queries · α")
    largest = float(distances.max())
    if total >= largest:
        return Shrunk(0.0, 0.0)

    def needed(c: float) -> float:
        left = total - (1.0 - c) ** 2 * distances
        return float(np.max(c**2 * variance / left)) if left.min() > 0.0 else np.inf

    low, high = 1.0 - np.sqrt(total / largest), 1.0 - total / largest
    for _ in range(_THIRDS):
        first, second = low + (high - low) / 3.0, high - (high - low) / 3.0
        if needed(first) <= needed(second):
            high = second
        else:
            low = first
    return Shrunk(needed(high), float(high))
