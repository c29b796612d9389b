r"""How well a real randomizer tells hard pairs apart, beside what no randomizer can.

n users of one strategy Q (outputs × types) report; the best test of λ_v^n against μ_v^n accepts where the likelihood
ratio of the counts is above 1, and its advantage P_λ(accept) − P_μ(accept) is the total variation of the two laws of
the counts. ``exact_advantage`` sums over all counts; ``simulate_advantage`` draws them, with an interval: each
probability is a binomial proportion of independent trials, and Hoeffding's inequality holds at any number of trials.
The limit is on the average over π (``divergence.advantage``), and so are the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.bounds.hard import divergence
from factormech.bounds.hard.pairs import HardPairs
from factormech.errors import BadValue
from factormech.privacy.guarantee import verify_ldp

# Two-sided error of an interval, as everywhere in simulations.
LEVEL = 1e-6
_COUNTS_LIMIT = 2_000_000


@dataclass(frozen=True)
class AdvantageRow:
    """One number of users: the π-average advantage, an interval for it, and the limit of every mechanism."""

    users: int
    advantage: float
    low: float
    high: float
    limit: float


def simulate_advantage(
    family: HardPairs,
    strategy: FloatArray,
    epsilon: float,
    users: Sequence[int],
    norm: float,
    rng: np.random.Generator,
    *,
    trials: int = 2000,
) -> list[AdvantageRow]:
    """Rows of a figure: the advantage that this strategy gets against the number of users, beside the limit.

    Parameters
    ----------
    strategy
        Q, outputs × types; verified to be ε-LDP.
    norm
        An upper bound on ‖M‖_{∞→L2(π)} of the family.
    trials
        Collections drawn from each distribution of each pair.
    """
    verify_ldp(strategy, check_epsilon(epsilon))
    trials = check_positive_integer("trials", trials)
    p, q = _laws(family, strategy)
    rows = []
    for n in users:
        n = check_positive_integer("users", n)
        means = [_simulated(a, b, n, trials, rng) for a, b in zip(p, q, strict=True)]
        value = float(family.weights @ np.array(means))
        # The average is Σ_v π_v of differences of two means of ``trials`` independent numbers in [0, 1].
        width = math.sqrt(math.log(2.0 / LEVEL) * float(family.weights @ family.weights) / trials)
        limit = divergence.advantage(norm, epsilon, n, family.row_mass)
        rows.append(AdvantageRow(n, value, max(value - width, 0.0), min(value + width, 1.0), limit))
    return rows


def exact_advantage(family: HardPairs, strategy: FloatArray, users: int) -> FloatArray:
    """The total variation of n reports for each pair, (k,), summed over all counts of outputs."""
    from scipy.special import gammaln

    n = check_positive_integer("users", users)
    counts = _all_counts(len(strategy), n)
    ways = gammaln(n + 1.0) - gammaln(counts + 1.0).sum(axis=1)
    p, q = _laws(family, strategy)
    laws = []
    for law in (p, q):
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(counts[:, :, None] > 0, counts[:, :, None] * np.log(law.T), 0.0)
        laws.append(np.exp(ways[:, None] + terms.sum(axis=1)))
    return np.asarray(0.5 * np.abs(laws[0] - laws[1]).sum(axis=0))


def _laws(family: HardPairs, strategy: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Laws of one report, pairs × outputs."""
    if strategy.ndim != 2 or strategy.shape[1] != family.first.shape[1]:
        rule = f"have {family.first.shape[1]} columns, one for each type"
        raise BadValue("strategy", strategy.shape, rule, "give a strategy for the family's domain")
    Q = strategy / strategy.sum(axis=0)
    laws = [rows @ Q.T for rows in (family.first, family.second)]
    return laws[0] / laws[0].sum(axis=1, keepdims=True), laws[1] / laws[1].sum(axis=1, keepdims=True)


def _simulated(p: FloatArray, q: FloatArray, users: int, trials: int, rng: np.random.Generator) -> float:
    seen = (p > 0.0) | (q > 0.0)
    p, q = p[seen], q[seen]
    # Every output of an ε-LDP strategy that occurs at all has a positive probability under both.
    score = np.log(p / q)
    accepted = [rng.multinomial(users, law, size=trials) @ score > 0.0 for law in (p, q)]
    return float(accepted[0].mean() - accepted[1].mean())


def _all_counts(outputs: int, users: int) -> IntArray:
    """Return all ways to share ``users`` reports among the outputs."""
    from itertools import combinations

    number = math.comb(users + outputs - 1, outputs - 1)
    if number > _COUNTS_LIMIT:
        raise BadValue("outputs and users", (outputs, users), f"have at most {_COUNTS_LIMIT} counts", "simulate")
    bars = np.array(list(combinations(range(users + outputs - 1), outputs - 1)), dtype=np.int64)
    bars = bars.reshape(number, outputs - 1)
    ends = np.hstack([np.full((number, 1), -1), bars, np.full((number, 1), users + outputs - 1)])
    return np.diff(ends, axis=1) - 1
