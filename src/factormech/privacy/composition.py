r"""Several private releases of the same data, and one guarantee in terms of another.

All statements hold for mechanisms that are chosen one after the other, each knowing the answers so far.

* **Sums**: (Σε_i, Σδ_i), and Σρ_i for zCDP (Bun & Steinke, TCC 2016, Lemma 1.7).
* **Optimal composition** of k mechanisms that are (ε, δ)-private (Kairouz, Oh & Viswanath, ICML 2015, Theorem 3.3):
  they are (ε', 1 − (1 − δ)^k(1 − δ'))-private for every ε' ≥ 0, with

  .. math:: δ' = \sum_{l} \binom kl \frac{\max(e^{(k-l)ε} - e^{ε' + lε}, 0)}{(1 + e^ε)^k} ,

  and for no smaller δ if randomized response is among them. Unequal ε_i are taken for the largest.
* **From ε to ρ**: ε-privacy is ε²/2-zCDP (Bun & Steinke, Proposition 1.4).
* **From ρ to (ε, δ)**: for every α > 1,

  .. math:: ε = ρα + \frac{\log(1/(αδ))}{α - 1} + \log\Bigl(1 - \frac1α\Bigr)

  (Canonne, Kamath & Steinke, NeurIPS 2020, Proposition 12, for Rényi divergence ρα). Any α is a proof, so a numerical
  search for the best one is, too.

Numbers are rounded up past the error of their own computation (``_ROUNDING``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from factormech.errors import BadValue
from factormech.numerics.roots import bisect
from factormech.numerics.rounding import rounded_up
from factormech.privacy.gaussian import check_delta
from factormech.privacy.guarantee import GROUNDS, Guarantee

# Relative: logarithms of factorials of 10⁶ and their sums keep twelve digits of the probabilities.
_ROUNDING = 1e-9


def concentrated(guarantee: Guarantee) -> Guarantee:
    """Return the guarantee as ρ-zCDP; refuse one with δ > 0, which no ρ covers."""
    if guarantee.rho is not None:
        return guarantee
    if guarantee.delta > 0.0:
        raise BadValue("delta", guarantee.delta, "be 0 for a guarantee in zCDP", "compose it with compose(..., delta)")
    rho = rounded_up(Fraction(guarantee.epsilon) ** 2 / 2)
    return Guarantee(math.inf, 0.0, rho, guarantee.relation, guarantee.ground)


def approximate(guarantee: Guarantee, delta: float) -> Guarantee:
    """Return the (ε, δ)-guarantee with this δ; refused where the guarantee's own δ is larger."""
    delta = check_delta(delta)
    if guarantee.rho is None:
        if guarantee.delta > delta:
            raise BadValue("delta", delta, f"be at least the guarantee's, {guarantee.delta:g}", "ask for a larger one")
        return Guarantee(guarantee.epsilon, delta, None, guarantee.relation, guarantee.ground)
    epsilon = concentrated_epsilon(guarantee.rho, delta)
    return Guarantee(epsilon, delta, None, guarantee.relation, guarantee.ground)


def concentrated_epsilon(rho: float, delta: float) -> float:
    """An ε at which ρ-zCDP is (ε, δ)-privacy: the least that the module's formula gives, at best 0."""
    if rho == 0.0:
        return 0.0
    from scipy.optimize import minimize_scalar

    def epsilon(log_excess: float) -> float:
        excess = math.exp(log_excess)  # α − 1
        alpha = 1.0 + excess
        return rho * alpha - (math.log(delta) + math.log(alpha)) / excess + math.log(excess / alpha)

    guess = 0.5 * math.log(math.log(1.0 / delta) / rho)
    best = minimize_scalar(epsilon, bounds=(guess - 6.0, guess + 6.0), method="bounded", options={"xatol": 1e-10})
    value = min(float(best.fun), epsilon(guess))
    return max(value + _ROUNDING * (abs(value) + rho), 0.0)


def compose(parts: Sequence[Guarantee], delta: float | None = None) -> Guarantee:
    """The guarantee of all parts together, the best that is proved here.

    Parameters
    ----------
    parts
        Guarantees for the same neighbours.
    delta
        The δ to be reached, where there is one: then the least ε of the sums, optimal composition and zCDP. Without it
        the numbers are summed, as zCDP if a part says ρ.
    """
    relation, ground = _common(parts)
    if delta is None:
        if any(part.rho is not None for part in parts):
            total = rounded_up(sum((Fraction(_rho(concentrated(part))) for part in parts), Fraction(0)))
            return Guarantee(math.inf, 0.0, total, relation, ground)
        return Guarantee(*_sums(parts), None, relation, ground)
    delta = check_delta(delta)
    found = [*_by_sums(parts, delta), *_optimally(parts, delta), *_by_concentration(parts, delta)]
    if not found:
        rule = "leave room for the δ of the parts, and mix no ρ with a δ"
        raise BadValue("delta", delta, rule, "ask for a larger one, or convert the parts with approximate")
    return Guarantee(min(found), delta, None, relation, ground)


def optimal_delta(epsilon: float, count: int, total_epsilon: float) -> float:
    """δ' of the module's formula: k mechanisms of ε each are (``total_epsilon``, δ')-private."""
    from scipy.special import gammaln

    lost = np.arange(count + 1)
    margin = (count - 2 * lost) * epsilon - total_epsilon
    lost, margin = lost[margin > 0.0], margin[margin > 0.0]
    if not len(lost):
        return 0.0
    choices = gammaln(count + 1) - gammaln(lost + 1) - gammaln(count - lost + 1)
    # (1 + e^ε)^k e^{-(k−l)ε} = (1 + e^{−ε})^k e^{lε}.
    logs = choices - lost * epsilon - count * math.log1p(math.exp(-epsilon))
    return min(math.fsum((np.exp(logs) * -np.expm1(-margin)).tolist()) * (1.0 + _ROUNDING), 1.0)


def _by_sums(parts: Sequence[Guarantee], delta: float) -> list[float]:
    if any(part.rho is not None for part in parts):
        return []
    epsilon, spent = _sums(parts)
    return [epsilon] if spent <= delta else []


def _optimally(parts: Sequence[Guarantee], delta: float) -> list[float]:
    """The least ε' with 1 − Π(1 − δ_i)(1 − δ') ≤ δ, by bisection from above."""
    if any(part.rho is not None for part in parts):
        return []
    epsilon, spent = max(part.epsilon for part in parts), math.fsum(part.delta for part in parts)
    room = (delta - spent) * (1.0 - _ROUNDING)  # 1 − Π(1 − δ_i)(1 − δ') ≤ Σδ_i + δ'
    if room <= 0.0:
        return []
    k = len(parts)
    least = bisect(lambda total: optimal_delta(epsilon, k, total) <= room, 0.0, k * epsilon)[1]
    return [least * (1.0 + _ROUNDING)]


def _by_concentration(parts: Sequence[Guarantee], delta: float) -> list[float]:
    if any(part.delta > 0.0 for part in parts):
        return []
    total = rounded_up(sum((Fraction(_rho(concentrated(part))) for part in parts), Fraction(0)))
    return [concentrated_epsilon(total, delta)]


def _sums(parts: Sequence[Guarantee]) -> tuple[float, float]:
    epsilon = rounded_up(sum((Fraction(part.epsilon) for part in parts), Fraction(0)))
    return epsilon, rounded_up(sum((Fraction(part.delta) for part in parts), Fraction(0)))


def _rho(guarantee: Guarantee) -> float:
    return guarantee.rho if guarantee.rho is not None else math.inf


def _common(parts: Sequence[Guarantee]) -> tuple[str, str]:
    """The one relation of all parts, and their weakest ground."""
    if not parts:
        raise BadValue("parts", parts, "hold at least one guarantee", "nothing was released")
    relations = sorted({part.relation for part in parts})
    if len(relations) > 1:
        raise BadValue("parts", relations, "be guarantees for the same neighbours", "move them with Guarantee.under")
    return relations[0], max((part.ground for part in parts), key=GROUNDS.index)
