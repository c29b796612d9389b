r"""Simulated collections: their squared error against its exact expectation.

**Tails of the mean.** They are of a total squared error over repeated collections, for tests at very small levels.
Let T̄ be the mean of t independent copies of T = Σ λ_iχ²_i (independent χ²₁, λ_i ≥ 0), μ = E T, v = Var T = 2Σλ_i², λ
= max λ_i. Write ψ(θ) = −½log(1−2θ) − θ for the logarithm of the moment-generating function of (χ²₁ − 1).

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

**Simulations.** One trial samples the reports of a whole population and estimates the workload's answers. With e the
error of the centred estimate of the data vector, the total squared error of the answers is T = ‖We‖² = eᵀCe, C = PGP:
nothing of the size of the queries is made. Over t independent trials three things are measured, each with an exact
law to compare to (``error_law.py``):

* the mean of T, whose expectation is Σ_u x_u·(variance per user of type u);
* an interval for that expectation, from the measurement;
* the bias: t·ēᵀCē, ē being the mean of e, has the expectation of T too if the estimate is unbiased, and grows
  with t if it is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.errors import BadValue
from factormech.mechanisms.local.error_law import ErrorLaw, SquaredError
from factormech.mechanisms.local.reports import check_counts
from factormech.mechanisms.local.strategy import SimulatedStrategy, Strategy
from factormech.workloads.base import Workload

# Tails of the mean.

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


# Simulations.


@dataclass(frozen=True)
class Simulated:
    """The estimate of the total squared error of one collection from its trials.

    Attributes
    ----------
    errors
        ‖Wx − estimate‖² of each trial, summed over the queries, (trials,).
    bias
        trials·ēᵀCē, the scaled squared error of the mean of the estimates.
    law
        Exact expectation and variance of one such error, and the scale of its upper tail.
    level
        Of ``interval``, two-sided.
    """

    errors: FloatArray
    bias: float
    law: SquaredError
    level: float = LEVEL

    @property
    def trials(self) -> int:
        """How often the collection was run."""
        return len(self.errors)

    @property
    def mean(self) -> float:
        """The measured mean of the total squared error."""
        return float(self.errors.mean())

    @property
    def standard_error(self) -> float:
        """The standard error of ``mean``, from the spread of the trials; NaN for a single trial."""
        return float(self.errors.std(ddof=1) / np.sqrt(self.trials)) if self.trials > 1 else float("nan")

    @property
    def expected(self) -> float:
        """The exact expectation Σ_u x_u·variance_u."""
        return self.law.mean

    @property
    def interval(self) -> tuple[float, float]:
        """An interval for the expectation, by the size of the measurement and the shape of the exact law."""
        return interval(self.mean, self.law, self.trials, self.level)

    @property
    def ratio(self) -> float:
        """Measured over exact; not a number where the exact error is zero."""
        return self.mean / self.expected if self.expected > 0 else float("nan")

    @property
    def z(self) -> float:
        """(measured − exact)/its exact standard deviation; 0 where the exact error is zero."""
        spread = np.sqrt(self.law.variance / self.trials)
        return float((self.mean - self.expected) / spread) if spread > 0 else 0.0

    @property
    def relative_variance(self) -> float:
        """Exact variance of one error over its squared expectation; 0 where the exact error is zero."""
        return self.law.relative.variance

    @property
    def relative_scale(self) -> float:
        """Scale of the upper tail of one error over its expectation; 0 where the exact error is zero."""
        return self.law.relative.scale

    @property
    def bias_ratio(self) -> float:
        """``bias`` over the exact error, which is its expectation where there is no bias."""
        return self.bias / self.expected if self.expected > 0 else float("nan")

    @property
    def p_value(self) -> float:
        """Two-sided, of the measured mean under the exact law."""
        return two_sided(self.mean, self.law, self.trials)

    @property
    def bias_p_value(self) -> float:
        """One-sided, of the squared error of the mean estimate where there is no bias."""
        return tail_probability(max(self.bias, self.expected), self.law, 1)


def simulate(
    strategy: Strategy,
    workload: Workload,
    counts: npt.ArrayLike,
    trials: int,
    rng: np.random.Generator,
    *,
    level: float = LEVEL,
) -> Simulated:
    """Run a collection ``trials`` times on ``counts`` users by type, and measure its squared error.

    Refused where the strategy cannot be simulated, or the workload is outside its row space.
    """
    x = check_counts(counts, workload.domain_size)
    trials, level = check_positive_integer("trials", trials), check_level(level)
    able = simulated(strategy)
    C = workload.centred_gram()
    evaluation = strategy.evaluate(C)
    reason = able.simulation_refusal(int(x.sum())) if evaluation.answered else evaluation.refusal
    if reason:
        raise BadValue("strategy", type(strategy).__name__, f"run on workload {workload.name}", reason)
    return compare(able.error_law(C), x, able.simulate_estimates(x, trials, rng), level=level)


def simulated(strategy: Strategy) -> SimulatedStrategy:
    """The strategy, if it can be simulated."""
    if not isinstance(strategy, SimulatedStrategy):
        rule = "be one that can be simulated"
        raise BadValue("strategy", type(strategy).__name__, rule, "give it the methods of SimulatedStrategy")
    return strategy


def compare(law: ErrorLaw, counts: IntArray, estimates: FloatArray, *, level: float = LEVEL) -> Simulated:
    """Errors of centred ``estimates`` (types, trials) of the data vector ``counts``, with their exact law."""
    x = counts.astype(float)
    e = estimates - (x - x.mean())[:, None]
    Ce = law.centred_gram @ e
    errors = np.maximum(np.einsum("ut,ut->t", e, Ce), 0.0)
    bias = e.shape[1] * float(e.mean(axis=1) @ Ce.mean(axis=1))
    return Simulated(errors, max(bias, 0.0), law.on(x), level)
