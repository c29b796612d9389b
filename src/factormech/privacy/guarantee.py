r"""What a privacy guarantee is, and the exact verification of strategy matrices on the very floats that are used.

**Guarantees** are values (:class:`Guarantee`): ε, δ or ρ, between which neighbours, and on what ground. Every mechanism
states its own as ``guarantee``; :func:`guarantee_of` refuses what states none, or none for the neighbours asked for.
They are composed and converted in :mod:`factormech.privacy.composition`.

**Verification.** A strategy matrix Q (m × n) is sampled by drawing output o for user type u with probability
Q_ou / s_u, where s_u is the exact sum of column u (columns of floats never sum to 1 exactly). Its privacy loss, a
user's type u exchanged for any u', is therefore

.. math:: \max_{o,u,u'} \log \frac{Q_{ou}}{Q_{ou'}} \frac{s_{u'}}{s_u}
          \;\le\; \log \max_o \frac{\max_u Q_{ou}}{\min_u Q_{ou}} + \log \frac{\max_u s_u}{\min_u s_u} .

What is verified is the law with the columns divided by their sums, not the matrix itself, whose columns are no
distributions. The ratios and sums are computed with every rounding outward and compared with a rational number below
e^ε, as fractions: a strategy that passes is ε-LDP in exact arithmetic, whatever the mathematical library does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue

# Neighbours. A step of ‖x − x'‖₁ ≤ 1 is half of a replacement, which moves a histogram of counts by 2.
REPLACE_ONE = "one of n users replaced, n fixed"
UNIT_STEP = "‖x − x'‖₁ ≤ 1 on histograms of real numbers"
UNIT_STEP_OF_EQUAL_TOTALS = f"{UNIT_STEP}, of equal and public totals"
_STEPS = {UNIT_STEP: 2, UNIT_STEP_OF_EQUAL_TOTALS: 2}
# Grounds, from the strongest.
VERIFIED = "verified on the very floats"
REAL_LAW = "proved for the real law, which floating-point draws follow up to rounding"
CHAIN_LIMIT = "proved for the limit of a Markov chain, which is stopped and diagnosed"
GROUNDS = (VERIFIED, REAL_LAW, CHAIN_LIMIT)

_UNIT = 2.0**-53  # half an ulp of 1: the relative error of one rounded operation
_MARGIN = 2.0**-46  # what entries, normalisation and column sums may lose to rounding: 128 units
_COLUMN_TOLERANCE = 1e-9
_MOST = 2**61  # whole multiples of 2⁻⁵² that are counted: a column beyond sums to 512 or more
_FOUR_ROUNDINGS = 1 + Fraction(1, 2**50)  # 8 units: more than (1 − 2⁻⁵³)⁻⁴


@dataclass(frozen=True)
class Guarantee:
    """A privacy guarantee: what holds for any two neighbours under ``relation``, and on what ground.

    ε-privacy (``delta`` 0), (ε, δ)-privacy or, with ``rho``, ρ-zCDP (Bun & Steinke, TCC 2016), where ε is infinite.
    ``ground`` says of what it is proved.

    Examples
    --------
    >>> import factormech as fm
    >>> fm.Guarantee(1.0).for_group(2).epsilon
    2.0
    """

    epsilon: float
    delta: float = 0.0
    rho: float | None = None
    relation: str = REPLACE_ONE
    ground: str = REAL_LAW

    def __post_init__(self) -> None:
        if self.ground not in GROUNDS:
            raise BadValue("ground", self.ground, "be one of privacy.GROUNDS", "say of what it is proved")
        if not 0.0 <= self.delta < 1.0:
            raise BadValue("delta", self.delta, "be at least 0 and below 1", "give for example 1e-9")
        if self.rho is not None:
            if not (0.0 <= self.rho < math.inf and self.epsilon == math.inf and self.delta == 0.0):
                rule = "be finite and at least 0, with an infinite epsilon and no delta"
                raise BadValue("rho", self.rho, rule, "convert it with composition.approximate")
        elif not 0.0 <= self.epsilon < math.inf:
            raise BadValue("epsilon", self.epsilon, "be finite and at least 0", "a guarantee without ε needs rho")

    @property
    def pure(self) -> bool:
        """Whether it is ε-privacy."""
        return self.rho is None and self.delta == 0.0

    def covers(self, other: Guarantee) -> bool:
        """Return whether it is at least as strong, number by number, for the same neighbours."""
        mine, theirs = (math.inf if g.rho is None else g.rho for g in (self, other))
        numbers = self.epsilon <= other.epsilon and self.delta <= other.delta and mine <= theirs
        return self.relation == other.relation and numbers

    def for_group(self, size: int) -> Guarantee:
        """Return the guarantee for data that are ``size`` steps of neighbours apart.

        kε, δ(e^{kε} − 1)/(e^ε − 1) (Vadhan, The complexity of differential privacy, 2017, Lemma 2.2), and k²ρ (Bun &
        Steinke, Proposition 1.9).
        """
        k = check_positive_integer("size", size)
        if self.rho is not None:
            return replace(self, rho=rounded_up(k * k * Fraction(self.rho)))
        losses = [j * self.epsilon for j in range(k)] if self.delta > 0.0 else []
        # Beyond e^700 the sum counts as infinite: it is refused, and never rounded down.
        grown = sum(math.exp(x) if x <= 700.0 else math.inf for x in losses) * self.delta * (1.0 + 16 * k * _UNIT)
        if grown >= 1.0:
            raise BadValue("size", k, f"leave delta below 1; it grows to {grown:.3g}", "take a smaller delta or group")
        return replace(self, epsilon=rounded_up(k * Fraction(self.epsilon)), delta=grown)

    def under(self, relation: str) -> Guarantee:
        """Return the guarantee for other neighbours; refuse them where nothing is proved of them."""
        if relation == self.relation:
            return self
        if relation == REPLACE_ONE and self.relation in _STEPS:
            return replace(self.for_group(_STEPS[self.relation]), relation=relation)
        rule = f"be covered by a guarantee for {self.relation}"
        raise BadValue("relation", relation, rule, "ask for the mechanism's own relation")


def guarantee_of(mechanism: Any, relation: str | None = None) -> Guarantee:
    """Return the guarantee that a mechanism states for the neighbours asked for; refused where it states none."""
    found = getattr(mechanism, "guarantee", None)
    if not isinstance(found, Guarantee):
        name = getattr(mechanism, "name", type(mechanism).__name__)
        raise BadValue("mechanism", name, "state its guarantee", "call verify_ldp for a matrix of your own")
    return found if relation is None else found.under(relation)


def rounded_up(value: Fraction) -> float:
    """A float at least a rational number."""
    found = float(value)
    return found if Fraction(found) >= value else math.nextafter(found, math.inf)


# Verification ------------------------------------------------------------------------------------------------------


def inner_ratio(epsilon: float) -> float:
    """The ratio that strategies are built with: e^ε less 2⁻⁴⁶, so that their rounded entries keep e^ε itself."""
    return math.exp(epsilon) * (1.0 - _MARGIN)


def ratio_is_within(ratio: float, epsilon: float) -> bool:
    """Return whether ``ratio``, known up to four roundings, is certainly at most the real number e^ε."""
    return math.isfinite(ratio) and Fraction(ratio) * _FOUR_ROUNDINGS <= exponential_below(epsilon)


def loss_of_ratio(ratio: float) -> float:
    """An upper bound of log(ratio) for a ratio known up to four roundings."""
    if not math.isfinite(ratio):
        return math.inf
    largest = Fraction(ratio) * _FOUR_ROUNDINGS
    loss = math.nextafter(math.log(ratio * (1.0 + 8 * _UNIT)) * (1.0 + 4 * _UNIT), math.inf)
    while exponential_below(loss) < largest:  # never, with a library that is right to two units in the last place
        loss = math.nextafter(loss, math.inf)
    return loss


@lru_cache(maxsize=1024)
def exponential_below(x: float) -> Fraction:
    """A rational number at most e^x, by less than 2⁻⁹⁰ relatively; for x of 710 or more, e^710, above all floats.

    Taylor's series of positive terms in whole multiples of 2⁻¹⁵⁰, each rounded down.
    """
    one = 1 << 150
    numerator, denominator = min(float(x), 710.0).as_integer_ratio()
    if numerator < 0:
        raise BadValue("exponent", x, "be at least 0", "use the reciprocal of the ratio")
    total, term, k = one, one, 0
    while term:
        k += 1
        term = term * numerator // (denominator * k)
        total += term
    return Fraction(total, one)


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
    the fractions are too small for the rounding of their sum to matter. The upper bound of a sum of 512 or more is ∞.
    """
    m, n = strategy.shape
    whole = np.zeros(n, dtype=np.int64)
    part = np.zeros(n)
    for start in range(0, m, 1024):
        scaled = strategy[start : start + 1024] * 2.0**52
        floor = np.floor(scaled)
        whole = np.minimum(whole + floor.astype(np.int64).sum(axis=0), _MOST)  # 2⁶¹ + 1024·2⁵² < 2⁶³
        part += (scaled - floor).sum(axis=0)
    slack = part * (m * 2 * _UNIT)
    low = (whole + (part - slack)) * (1 - 4 * _UNIT) * 2.0**-52
    high = (whole + (part + slack)) * (1 + 4 * _UNIT) * 2.0**-52
    return low, np.where(whole < _MOST, high, np.inf)


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

    The loss of a matrix is that of Proposition 2.6 of McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020).

    Parameters
    ----------
    strategy
        Q, outputs × user types, the very array that will be sampled from.
    epsilon
        The promised budget, replace-one relation.

    Returns
    -------
    float

    Raises
    ------
    BadValue
        If a column is no distribution, or the loss may be above ε.

    Examples
    --------
    >>> import factormech as fm, numpy as np
    >>> fm.verify_ldp(np.array([[0.7, 0.3], [0.3, 0.7]]), 1.0) < 0.848
    True
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
