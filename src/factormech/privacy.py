r"""What a local privacy guarantee is, and its exact verification on the floating-point entries that are used.

A strategy matrix Q (m × n) is sampled by drawing output o for user type u with probability Q_ou / s_u, where s_u is
the exact sum of column u (columns of floats never sum to 1 exactly). Its privacy loss under the *replace one* relation,
a user's type u exchanged for any u', is therefore

.. math:: \max_{o,u,u'} \log \frac{Q_{ou}}{Q_{ou'}} \frac{s_{u'}}{s_u}
          \;\le\; \log \max_o \frac{\max_u Q_{ou}}{\min_u Q_{ou}} + \log \frac{\max_u s_u}{\min_u s_u} .

The right-hand side is computed with every rounding outward, so a strategy that passes is ε-LDP in exact arithmetic.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.errors import BadValue

_UNIT = 2.0**-53  # half an ulp of 1: the relative error of one rounded operation
_MARGIN = 2.0**-46  # what entries, normalisation and column sums may lose to rounding: 128 units
_COLUMN_TOLERANCE = 1e-9


def inner_ratio(epsilon: float) -> float:
    """The ratio that strategies are built with: e^ε less 2⁻⁴⁶, so that their rounded entries keep e^ε itself."""
    return math.exp(epsilon) * (1.0 - _MARGIN)


def ratio_is_within(ratio: float, epsilon: float) -> bool:
    """Whether ``ratio``, known up to four roundings, is certainly at most the real number e^ε."""
    return ratio * (1.0 + 8 * _UNIT) <= math.exp(epsilon) * (1.0 - 4 * _UNIT)


def loss_of_ratio(ratio: float) -> float:
    """An upper bound of log(ratio) for a ratio known up to four roundings."""
    if not math.isfinite(ratio):
        return math.inf
    return math.nextafter(math.log(ratio * (1.0 + 8 * _UNIT)) * (1.0 + 4 * _UNIT), math.inf)


def check_probabilities(strategy: FloatArray) -> None:
    """Refuse a matrix whose columns are not probability distributions over the outputs."""
    Q = strategy
    if Q.ndim != 2 or 0 in Q.shape:
        raise BadValue("strategy", f"array of shape {Q.shape}", "be an outputs × user types matrix", "give both axes")
    bad = np.argwhere(~(np.isfinite(Q) & (Q >= 0) & (Q <= 1)))
    if bad.size:
        o, u = bad[0]
        where = f"strategy[{o}, {u}]"
        raise BadValue(where, float(Q[o, u]), "be a probability", f"repair it ({len(bad)} such entries)")
    low, high = column_sum_bounds(Q)
    off = np.flatnonzero((high > 1 + _COLUMN_TOLERANCE) | (low < 1 - _COLUMN_TOLERANCE))
    if off.size:
        u = int(off[0])
        remedy = f"divide the column by its sum ({off.size} such columns)"
        raise BadValue(f"sum of strategy column {u}", float(high[u]), "be 1 to within 1e-9", remedy)


def column_sum_bounds(strategy: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rigorous lower and upper bounds of the exact column sums of a matrix with entries in [0, 1].

    Every entry is split at 2⁻⁵² into an integer and a fraction, both exact; the integers add up exactly in 64 bits, and
    the fractions are too small for the rounding of their sum to matter.
    """
    m, n = strategy.shape
    whole = np.zeros(n, dtype=np.int64)
    part = np.zeros(n)
    for start in range(0, m, 1024):
        scaled = strategy[start : start + 1024] * 2.0**52
        floor = np.floor(scaled)
        whole += floor.astype(np.int64).sum(axis=0)
        part += (scaled - floor).sum(axis=0)
    slack = part * (m * 2 * _UNIT)
    low = (whole + (part - slack)) * (1 - 4 * _UNIT) * 2.0**-52
    high = (whole + (part + slack)) * (1 + 4 * _UNIT) * 2.0**-52
    return low, high


def likelihood_ratio(strategy: FloatArray) -> float:
    """Upper bound (but for four roundings) of the likelihood ratio of any output under any two user types."""
    high, low = strategy.max(axis=1), strategy.min(axis=1)
    used = high > 0
    if np.any(low[used] <= 0):
        return math.inf
    smallest, largest = column_sum_bounds(strategy)
    return float(np.max(high[used] / low[used])) * float(largest.max() / smallest.min())


def privacy_loss(strategy: FloatArray) -> float:
    """A rigorous upper bound of the ε of a strategy matrix, from its own floating-point entries."""
    check_probabilities(strategy)
    return loss_of_ratio(likelihood_ratio(strategy))


def verify_ldp(strategy: FloatArray, epsilon: float) -> float:
    """Return a rigorous upper bound of the strategy's privacy loss; refuse if it is not certainly ≤ ε.

    Parameters
    ----------
    strategy
        Q, outputs × user types, the very array that will be sampled from.
    epsilon
        The promised budget, replace-one relation.
    """
    epsilon = check_epsilon(epsilon)
    check_probabilities(strategy)
    ratio = likelihood_ratio(strategy)
    if not ratio_is_within(ratio, epsilon):
        high, low = strategy.max(axis=1), strategy.min(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            o = int(np.argmax(np.where(high > 0, high / low, 0.0)))
        raise BadValue(
            "epsilon",
            epsilon,
            f"be at least the privacy loss of the strategy, {loss_of_ratio(ratio):.17g} (output {o} has "
            f"probabilities from {low[o]:.3g} to {high[o]:.3g})",
            "build the rows with privacy.inner_ratio(epsilon), or state the larger epsilon",
        )
    return min(loss_of_ratio(ratio), epsilon)
