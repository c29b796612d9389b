r"""One query: the Bayes risk of N coins, which no protocol on two types passes.

Let a protocol have the transcript T and P(T|x) = g(T)Πφ_i(T, x_i) on two types, φ_i(T, 0)/φ_i(T, 1) between 1/a and a.
With q = a/(1+a) let ψ_i(T, y) = (qφ_i(T, y) − (1−q)φ_i(T, 1−y))/(2q−1) ≥ 0. Then K(T|y) = g(T)Πψ_i(T, y_i) is a
channel, as its sum over T is one, and T is its output for the randomized responses y_i of the types. So every protocol,
interactive or not, is worth N coins of bias (1 + (a−1)p)/(1+a), p the share of the second type, and under every prior
on p its expected error is at least the Bayes risk of N coins. The prior here has finitely many p, so that the risk is
a finite sum of positive terms: nothing is integrated.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from factormech.arrays import FloatArray
from factormech.bounds.hard import single

# Shapes β of Beta(β, β), which the finite priors follow; points for each √N, between two limits.
_SHAPES = (1.0, 2.0, 4.0, 10.0)
_FEWEST, _POINTS = 128, 10.0
# Up to so many coins; Theorem C is within 2 % above it.
COINS_LIMIT = 2000
# Relative error of a probability of so many coins, from log Γ, and of the sums.
_MARGIN = 1e-8


def risk(value_range: float, epsilon: float, users: int) -> float:
    """A lower bound on the worst expected error of every protocol for one query of this range, users drawn."""
    two_points = single.risk(value_range, epsilon, users)
    if users > COINS_LIMIT:
        return two_points
    return max(two_points, value_range * max(_bayes_risk(epsilon, users, shape) for shape in _SHAPES))


def _bayes_risk(epsilon: float, users: int, shape: float) -> float:
    """The least E|p̂ − p| under the finite prior with this shape, less a margin for rounding."""
    p, prior = _prior(users, shape)
    low = math.exp(-epsilon)
    heads = np.log((low + (1.0 - low) * p) / (1.0 + low))
    counts = np.arange(users + 1.0)[:, None]
    ways = gammaln(users + 1.0) - gammaln(counts + 1.0) - gammaln(users - counts + 1.0)
    joint = prior * np.exp(ways + counts * heads + (users - counts) * heads[::-1])
    below = np.cumsum(joint, axis=1)
    median = p[(below >= 0.5 * below[:, -1:]).argmax(axis=1)]
    return float(np.sum(joint * np.abs(p - median[:, None]))) * (1.0 - _MARGIN)


def _prior(users: int, shape: float) -> tuple[FloatArray, FloatArray]:
    """Points, symmetric about ½, and their probabilities."""
    half = math.ceil(0.5 * max(_FEWEST, _POINTS * math.sqrt(users)))
    x, weights = np.polynomial.legendre.leggauss(2 * half)
    x = 0.5 * (x - x[::-1])
    weights = 0.5 * (weights + weights[::-1]) * ((1.0 + x) * (1.0 - x)) ** (shape - 1.0)
    return 0.5 * (1.0 + x), weights / weights.sum()
