r"""Pairs of distributions seen through one strategy matrix, beside what no ε-LDP matrix can show of them.

Reports of λ_v and μ_v have laws p_v = Qλ_v and q_v = Qμ_v. Each divergence is averaged over the weights π, and its
limit is that of :mod:`factormech.bounds.hard.divergence`, with χ̄² = (e^ε−1)²/4·‖M‖²_{∞→L2(π)}: χ̄² for χ², κ(ε)χ̄² for KL
either way round, χ̄²/4 for Σ(√p − √q)², (e^ε−1)/4·‖M‖ for the total variation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.bounds.hard import divergence
from factormech.bounds.hard.pairs import HardPairs
from factormech.errors import BadValue
from factormech.information.channel import checked_channel
from factormech.privacy import verify_ldp


@dataclass(frozen=True)
class Divergences:
    """π-averages: of χ²(p‖q), KL(p‖q), Σ(√p − √q)² and ½Σ|p − q|."""

    chi_squared: float
    kullback_leibler: float
    squared_hellinger: float
    total_variation: float


def through(family: HardPairs, strategy: FloatArray, epsilon: float) -> Divergences:
    """The average divergences of one report of each pair through an ε-LDP strategy matrix.

    Parameters
    ----------
    family
        Pairs λ_v, μ_v with weights π.
    strategy
        Q, outputs × types; verified to be ε-LDP.
    """
    verify_ldp(strategy, check_epsilon(epsilon))
    Q = checked_channel(strategy)
    if Q.shape[1] != family.first.shape[1]:
        rule = f"have {family.first.shape[1]} columns, one for each type"
        raise BadValue("strategy", strategy.shape, rule, "give a strategy for the family's domain")
    p, q = (family.first @ Q.T, family.second @ Q.T)
    d = family.difference @ Q.T
    rows = (
        (d * d / q).sum(axis=1),
        # p ln(p/q) − p + q, term by term ≥ 0, so that the linear parts cancel before they are added up.
        (p * np.log1p(d / q) - d).sum(axis=1),
        (d * d / (np.sqrt(p) + np.sqrt(q)) ** 2).sum(axis=1),
        0.5 * np.abs(d).sum(axis=1),
    )
    return Divergences(*(max(float(family.weights @ row), 0.0) for row in rows))


def limits(norm: float, epsilon: float) -> Divergences:
    """What no ε-LDP report exceeds, ``norm`` being an upper bound on ‖M‖_{∞→L2(π)}."""
    return Divergences(
        divergence.chi_squared(norm, epsilon),
        divergence.kullback_leibler(norm, epsilon),
        divergence.squared_hellinger(norm, epsilon),
        divergence.total_variation(norm, epsilon),
    )
