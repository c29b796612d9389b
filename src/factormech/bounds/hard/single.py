r"""The least number of users for one query, from two distributions on its two extreme types, solved exactly.

Let r be the query's range, max − min over the types, and 0 < θ ≤ r/2. The pair puts ½ ± θ/r on the type of the largest
value and the rest on that of the smallest: the answers differ by 2θ.

**Randomized response is best.** On two types every ε-LDP report y is a function of the randomized response of the type,
with fresh randomness: with p = e^ε/(1+e^ε), K(y|1) = (p·r(y|1) − (1−p)·r(y|0))/(2p−1) ≥ 0 and K(y|0) likewise, both
sums being 1. So n users know no more than a binomial number of n coins of bias ½ ± η, η = tanh(ε/2)·θ/r; of a
sequential protocol too, as each report may choose its K from those before it.

**Two points.** If the expected error is at most α on both, 2α ≥ E_λ|a − q(λ)| + E_μ|a − q(μ)| ≥ 2θ(1 − TV), and
1 − TV = 2·P(most coins are wrong, ties counted half): the regularised incomplete beta function I_{½−η}(m+1, m+1) for
n = 2m + 1 and for 2m + 2 coins. So the risk of n users is at least max_θ 2θ·I, and for each pair the answer of
the majority attains 2θ·I.

The answer of a whole workload errs by no less than each of its rows does.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import check_epsilon
from factormech.errors import BadValue

# Standardised gaps 2η√n that are tried: the best is near 1.5 for many users; few users are at the end θ = r/2.
_GAPS = np.geomspace(0.2, 4.0, 600)
# The incomplete beta function of scipy is right to about 1e-12.
_MARGIN = 1e-9


def risk(value_range: float, epsilon: float, users: int) -> float:
    """No protocol of this many users answers a query of this range with a smaller expected error everywhere.

    That is the worst expected error over all distributions of the users' types, pure ε, sequential or not.
    """
    from scipy.special import betainc

    r, e = _checked_range(value_range), check_epsilon(epsilon)
    if isinstance(users, bool) or not isinstance(users, (int, np.integer)) or users < 0:
        raise BadValue("users", users, "be a whole number of at least 0", "give for example 1000")
    if users == 0:
        return 0.5 * r
    t, m = math.tanh(0.5 * e), (int(users) - 1) // 2
    theta = np.minimum(0.5 * r, _GAPS * r / (2.0 * t * math.sqrt(2 * m + 1)))
    error = betainc(m + 1.0, m + 1.0, 0.5 - t * theta / r)
    return float((2.0 * theta * error).max()) * (1.0 - _MARGIN)


def users_for_query(value_range: float, epsilon: float, alpha: float) -> int:
    """The least number of users whose ``risk`` is at most α; fewer cannot answer the query to expected error α."""
    if not 0.0 < alpha < math.inf:
        raise BadValue("alpha", alpha, "be a finite number above 0", "give for example 0.1")
    if _checked_range(value_range) == 0.0 or risk(value_range, epsilon, 0) <= alpha:
        return 0
    low, high = 0, 1
    while risk(value_range, epsilon, high) > alpha:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if risk(value_range, epsilon, middle) > alpha else (low, middle)
    return high


def _checked_range(value_range: float) -> float:
    if not 0.0 <= value_range < math.inf:
        raise BadValue("value_range", value_range, "be a finite number of at least 0", "give max - min of the query")
    return float(value_range)
