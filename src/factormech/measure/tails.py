r"""Tails of the mean of a total squared error over repeated collections, for tests at very small levels.

Let T̄ be the mean of t independent copies of T = Σ λ_iχ²_i (independent χ²₁, λ_i ≥ 0), μ = E T, v = Var T = 2Σλ_i²,
λ = max λ_i. Write ψ(θ) = −½log(1−2θ) − θ for the logarithm of the moment-generating function of (χ²₁ − 1).

**Lower tail.** For θ < 0, Σψ(θλ_i) = Σ λ_i·[ψ(θλ_i)/λ_i], and ψ(θl)/l is concave in l: by Jensen's inequality with
weights λ_i it is at most its value for all λ_i equal to λ* = Σλ_i²/Σλ_i. That is the gamma distribution of mean μ and
variance v. In the same way a sum of rare events, μ = Σ m_iJ_i and v = Σ m_iJ_i² (Poisson numbers m_i of jumps J_i), is
bounded by m = μ²/v events of one size v/μ. That bound is the larger of the two, and the one that is used:

.. math:: P(\bar T \le \mu(1-y)) \le \exp\bigl(-tm\,[y+(1-y)\log(1-y)]\bigr), \qquad m = \mu^2/v .

**Upper tail.** For θ > 0, ψ(θl)/l² increases in l, so Σψ(θλ_i) ≤ (Σλ_i²/λ²)ψ(θλ): T − μ has the bound of a centred
gamma distribution of the same variance and scale λ, with κ = v/(2λ²) degrees of freedom,

.. math:: P(\bar T \ge \mu + \kappa\lambda y) \le \exp\bigl(-\tfrac{t\kappa}{2}\,[y-\log(1+y)]\bigr) .

For a sum of rare events of jumps up to M it holds with λ = M/4: (e^{θM} − 1 − θM)/M² ≤ ψ(θM/4)/(M²/8), term by term.

Both are proved for a Gaussian error, and for rare events that never coincide. A collection is neither: v is its exact
variance, and λ is the sum of what both need (``SquaredError``). Between the two extremes the bounds are approximations,
on the safe side by the factor of about √(2π)z that Chernoff's bound loses at z deviations; the tests measure them on
collections of all kinds. A few users, whose error takes a few values only, are outside what they describe.
"""

from __future__ import annotations

import math

from factormech.errors import BadValue
from factormech.local.error_law import SquaredError

# Two-sided level of intervals of single points, and simultaneous level of verdicts: one in a million.
LEVEL = 1e-6


def tail_probability(mean: float, law: SquaredError, trials: int) -> float:
    """A bound on the probability that the mean of ``trials`` copies is as far from ``law.mean``, to its own side."""
    if law.mean <= 0 or law.variance <= 0:
        return 1.0
    deviation = mean - law.mean
    if deviation <= 0:
        rate = _poisson_rate(min(-deviation / law.mean, 1.0))
        return math.exp(-trials * law.mean**2 / law.variance * rate)
    kappa = law.variance / (2.0 * law.scale**2)
    y = deviation / (kappa * law.scale)
    return math.exp(-0.5 * trials * kappa * (y - math.log1p(y)))


def two_sided(mean: float, law: SquaredError, trials: int) -> float:
    """A p-value for the mean of ``trials`` copies: twice the bound of its side, at most one."""
    return min(1.0, 2.0 * tail_probability(mean, law, trials))


def interval(mean: float, law: SquaredError, trials: int, level: float) -> tuple[float, float]:
    """The values of E T that a mean of ``trials`` copies does not reject at ``level``, two-sided.

    The shape of the law (its variance and scale relative to its mean) is taken from ``law``, its size from the
    measurement alone: the interval is a multiple of ``mean`` and moves with it.
    """
    level = check_level(level)
    if law.mean <= 0 or law.variance <= 0:
        return mean, mean
    need = math.log(2.0 / level) / trials
    kappa = law.variance / (2.0 * law.scale**2)
    above = kappa * law.scale / law.mean * _inverse_gamma_rate(2.0 * need / kappa)
    below = _inverse_poisson_rate(need * law.variance / law.mean**2)
    return mean / (1.0 + above), mean / (1.0 - below) if below < 1.0 else math.inf


def check_level(level: float) -> float:
    """Return the level: strictly between 0 and 1."""
    if not 0 < level < 1:
        raise BadValue("level", level, "be a number between 0 and 1", "give for example 1e-6")
    return float(level)


def _poisson_rate(y: float) -> float:
    """y + (1−y)log(1−y) for 0 ≤ y ≤ 1."""
    return y + (1.0 - y) * math.log1p(-y) if y < 1.0 else 1.0


def _inverse_poisson_rate(s: float) -> float:
    """The y in [0, 1] with y + (1−y)log(1−y) = s, or 1 where s is larger than that can be."""
    if s >= 1.0:
        return 1.0
    y = min(math.sqrt(2.0 * s), 1.0 - 1e-16)
    for _ in range(100):  # Newton's iteration from above on a convex function
        step = (_poisson_rate(y) - s) / -math.log1p(-y)
        y -= step
        if abs(step) <= 1e-14 * y:
            break
    return y


def _inverse_gamma_rate(s: float) -> float:
    """The y > 0 with y − log(1+y) = s, by Newton's iteration from above on a convex function."""
    y = s + math.sqrt(s * (s + 2.0))
    for _ in range(100):
        step = (y - math.log1p(y) - s) * (1.0 + y) / y
        y -= step
        if abs(step) <= 1e-14 * y:
            break
    return y
