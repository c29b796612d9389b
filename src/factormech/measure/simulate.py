r"""Collections really run: the squared error of simulated reports against its exact expectation.

One trial samples the reports of a whole population and estimates the workload's answers. With e the error of the
centred estimate of the data vector, the total squared error of the answers is T = ‖We‖² = eᵀCe, C = PGP: nothing of the
size of the queries is made. Over t independent trials three things are measured, each with an exact law to compare to
(``local/error_law.py``, ``measure/tails.py``):

* the mean of T, whose expectation is Σ_u x_u·(variance per user of type u);
* an interval for that expectation, from the measurement;
* the bias: t·ēᵀCē, ē being the mean of e, has the expectation of T too if the estimate is unbiased, and grows
  with t if it is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.errors import BadValue
from factormech.local.error_law import ErrorLaw, SquaredError
from factormech.local.reports import check_counts
from factormech.local.strategy import SimulatedStrategy, Strategy
from factormech.measure.tails import LEVEL, check_level, interval, tail_probability, two_sided
from factormech.workloads.base import Workload


@dataclass(frozen=True)
class Simulated:
    """What the trials of one collection say about its total squared error.

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
        """Of ``mean``, from the trials' own spread; not a number for a single trial."""
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
