r"""Tails of the mean of a total squared error over repeated collections, for tests at very small levels.

Let T̄ be the mean of t independent copies of T = Σ λ_iχ²_i (independent χ²₁, λ_i ≥ 0), μ = E T, v = Var T = 2Σλ_i²,
λ = max λ_i. Write ψ(θ) = −½log(1−2θ) − θ for the logarithm of the moment-generating function of (χ²₁ − 1).

**Lower tail.** For θ < 0, Σψ(θλ_i) = Σ λ_i·[ψ(θλ_i)/λ_i], and ψ(θl)/l is concave in l: by Jensen's inequality with
weights λ_i it is at most its value for all λ_i equal to λ* = Σλ_i²/Σλ_i. That is the gamma distribution of mean μ and
variance v (Satterthwaite's), of ν = 2μ²/v degrees of freedom, so Chernoff's bound for it holds for T:

.. math:: P(\bar T \le \mu(1-y)) \le \exp\bigl(-\tfrac{t\nu}{2}\,[-y-\log(1-y)]\bigr) .

**Upper tail.** For θ > 0, ψ(θl)/l² increases in l, so Σψ(θλ_i) ≤ (Σλ_i²/λ²)ψ(θλ): T − μ has the bound of a centred
gamma distribution of the same variance and scale λ, with κ = v/(2λ²) degrees of freedom,

.. math:: P(\bar T \ge \mu + \kappa\lambda y) \le \exp\bigl(-\tfrac{t\kappa}{2}\,[y-\log(1+y)]\bigr) .

Both are proved for a Gaussian error. For sums of reports v is the exact variance, and λ is widened by the largest jump
that one user can make (``SquaredError``); there they are approximations, on the safe side by the factor of about
√(2π)z that Chernoff's bound loses at z deviations; the tests measure their coverage, sparse collections included.
"""

from __future__ import annotations

import math

from factormech.errors import BadValue
from factormech.local.error_law import SquaredError


def tail_probability(mean: float, law: SquaredError, trials: int) -> float:
    """A bound on the probability that the mean of ``trials`` copies is as far from ``law.mean``, to its own side."""
    if law.mean <= 0 or law.variance <= 0:
        return 1.0
    deviation = mean - law.mean
    if deviation <= 0:
        y = min(-deviation / law.mean, 1.0)
        if y == 1.0:
            return 0.0
        return math.exp(-0.5 * trials * _freedom(law) * (-y - math.log1p(-y)))
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
    need = 2.0 * math.log(2.0 / level) / trials
    kappa = law.variance / (2.0 * law.scale**2)
    above = kappa * law.scale / law.mean * _inverse_upper(need / kappa)
    remaining = 1.0 - _inverse_lower(need / _freedom(law))
    return mean / (1.0 + above), mean / remaining if remaining > 0 else math.inf


def check_level(level: float) -> float:
    """Return the level: strictly between 0 and 1."""
    if not 0 < level < 1:
        raise BadValue("level", level, "be a number between 0 and 1", "give for example 1e-6")
    return float(level)


def _freedom(law: SquaredError) -> float:
    """ν = 2μ²/v."""
    return 2.0 * law.mean**2 / law.variance


def _inverse_upper(s: float) -> float:
    """The y > 0 with y − log(1+y) = s: Newton's iteration from above on a convex function."""
    y = s + math.sqrt(s * (s + 2.0))
    for _ in range(100):
        step = (y - math.log1p(y) - s) * (1.0 + y) / y
        y -= step
        if abs(step) <= 1e-14 * y:
            break
    return y


def _inverse_lower(s: float) -> float:
    """The y in (0, 1) with −y − log(1−y) = s, or 1 where no float below it is large enough."""
    y = min(math.sqrt(2.0 * s), -math.expm1(-1.0 - s))
    for _ in range(100):
        if y >= 1.0:
            return 1.0
        step = (-y - math.log1p(-y) - s) * (1.0 - y) / y
        y -= step
        if abs(step) <= 1e-14 * y:
            break
    return y
