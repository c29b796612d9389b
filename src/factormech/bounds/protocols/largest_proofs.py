"""What bounds on the expected largest error follow from: Theorems C, D and E, and coins, with all roundings.

**One query.** No protocol on two types passes the Bayes risk of N coins. Let a protocol have the transcript T and
P(T|x) = g(T)Πφ_i(T, x_i) on two types, φ_i(T, 0)/φ_i(T, 1) between 1/a and a. With q = a/(1+a) let ψ_i(T, y) =
(qφ_i(T, y) − (1−q)φ_i(T, 1−y))/(2q−1) ≥ 0. Then K(T|y) = g(T)Πψ_i(T, y_i) is a channel, as its sum over T is one, and
T is its output for the randomized responses y_i of the types. So every protocol, interactive or not, is worth N coins
of bias (1 + (a−1)p)/(1+a), p the share of the second type, and under every prior on p its expected error is at least
the Bayes risk of N coins. The prior here has finitely many p, so that the risk is a finite sum of positive terms:
nothing is integrated.

**The four proofs.** The theorems are those of ``largest.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from scipy.special import gammaln

from factormech.arrays import FloatArray
from factormech.bounds.hard import release
from factormech.bounds.protocols import faces, prior
from factormech.bounds.protocols.squared import BETAS, CONSTANT

# One query.

# Shapes β of Beta(β, β), which the finite priors follow; points for each √N, between two limits.
_SHAPES = (1.0, 2.0, 4.0, 10.0)
_FEWEST, _POINTS = 128, 10.0
# Up to so many coins; Theorem C is within 2 % above it.
COINS_LIMIT = 2000
# Relative error of a probability of so many coins, from log Γ, and of the sums.
_RISK_MARGIN = 1e-8


def risk(value_range: float, epsilon: float, users: int) -> float:
    """A lower bound on the worst expected error of every protocol for one query of this range, users drawn."""
    two_points = release.risk(value_range, epsilon, users)
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
    return float(np.sum(joint * np.abs(p - median[:, None]))) * (1.0 - _RISK_MARGIN)


def _prior(users: int, shape: float) -> tuple[FloatArray, FloatArray]:
    """Points, symmetric about ½, and their probabilities."""
    half = math.ceil(0.5 * max(_FEWEST, _POINTS * math.sqrt(users)))
    x, weights = np.polynomial.legendre.leggauss(2 * half)
    x = 0.5 * (x - x[::-1])
    weights = 0.5 * (weights + weights[::-1]) * ((1.0 + x) * (1.0 - x)) ** (shape - 1.0)
    return 0.5 * (1.0 + x), weights / weights.sum()


# The four proofs.

Types: TypeAlias = tuple[int, ...]

# −a'₁: the least eigenvalue of −u″ + |x|u, rounded down; c_1 follows from it.
_AIRY = 1.018792971647
ONE = (2.0 / 3.0) * _AIRY * math.sqrt(4.0 * _AIRY / 3.0)
# Relative rounding of c_r, of a determinant's root, and of the quotient: far more than they have.
_MARGIN = 1e-11
_UNIT = 2.0**-53


def constant_of(rows: int) -> float:
    """c_r, rounded down."""
    if rows == 1:
        return ONE * (1.0 - _MARGIN)
    root = math.exp(math.lgamma(rows + 1.0) / rows)
    return math.sqrt(2.0 * math.pi * math.e) * rows / (2.0 * math.e * root) * (1.0 - _MARGIN)


@dataclass(frozen=True)
class LargestProof:
    """The quantities that prove a bound α ≥ strength/√(N·information + prior) on the largest error.

    Attributes
    ----------
    theorem
        ``C``, ``D`` or ``E``.
    types
        The face.
    queries
        V on the face, (r, m); of Theorem D all rows with weight.
    beta
        β.
    strength
        c_r·det(VDVᵀ)^{1/2r}, 0.7916 or C_r; rounded down.
    information, prior
        L and j, or those of Theorem D; rounded up.
    spread
        What a data set may differ from its distribution by, times √N, in expectation.
    weights
        w of Theorem D.
    """

    theorem: str
    types: tuple[int, ...]
    queries: FloatArray
    beta: Fraction
    strength: float
    information: float
    prior: float
    spread: float
    weights: FloatArray | None = None

    def error(self, users: int, data: str) -> float:
        """A lower bound on the expected largest error with this many users; it may be below 0."""
        drawn = self.strength / math.sqrt(users * self.information + self.prior) * (1.0 - _MARGIN)
        return drawn if data == "drawn" else drawn - self.spread / math.sqrt(users) * (1.0 + _MARGIN)


@dataclass(frozen=True)
class CoinsProof:
    """The Bayes risk of N coins for the query of the largest range."""

    types: tuple[int, ...]
    value_range: float
    epsilon: float

    def two_points(self, users: int) -> float:
        """The risk under a prior on two points, which takes no time."""
        return release.risk(self.value_range, self.epsilon, users)

    def error(self, users: int, data: str) -> float:
        """The risk of this many users, which falls as their number grows."""
        spread = 0.0 if data == "drawn" else 0.5 * self.value_range / math.sqrt(users)
        return risk(self.value_range, self.epsilon, users) - spread * (1.0 + _MARGIN)


def determinant_strength(queries: FloatArray) -> float:
    """c_r·det(VDVᵀ)^{1/2r} of Theorem C, rounded down; 0 for dependent rows."""
    roots, rows = _roots_below(queries), len(queries)
    if len(roots) < rows:
        return 0.0
    return constant_of(rows) * math.exp(float(np.log(roots).sum()) / rows) * (1.0 - _MARGIN)


def determinant_proof(
    types: Types, V: FloatArray, beta: Fraction, epsilon: float, spread: float
) -> LargestProof | None:
    """Theorem C for the rows V on a face, with all roundings accounted for."""
    rows, m = V.shape
    strength = determinant_strength(V)
    trace, cap, prior_ = known(m, beta, epsilon)
    both = _above(min(trace / rows, cap)), _above(prior_)
    if strength == 0.0:
        return None
    return LargestProof("C", types, V, beta, strength, *both, spread)


def box_proof(types: Types, V: FloatArray, beta: Fraction, epsilon: float, spread: float) -> LargestProof | None:
    """Theorem E for the rows V on a face, with all roundings accounted for."""
    rows, m = V.shape
    roots = _roots_below(V)
    if len(roots) < rows:
        return None
    trace, cap, prior_ = known(m, beta, epsilon)
    largest, mean = Fraction(roots[-1]) ** -2, sum((Fraction(x) ** -2 for x in roots), Fraction(0)) / rows
    both = _above(min(trace * largest / rows, cap * mean)), _above(prior_ * mean)
    return LargestProof("E", types, V, beta, prior.box_constant(rows), *both, spread)


def weighted_proof(
    types: Types, V: FloatArray, weights: FloatArray, Z: FloatArray, users: int, epsilon: float
) -> LargestProof:
    """Theorem D for any weights and fields, z_v scaled so that W_vz_v = 1, with the best β for this many users."""
    m = len(types)
    answers = np.einsum("vu,vu->v", V, Z)
    keep = (weights > 1e-12) & (answers > 1e-9 * answers.max())
    V, w, Z = V[keep], weights[keep] / weights[keep].sum(), Z[keep] / answers[keep, None]
    # What is wrong with W_vz_v and Σw_v is far below this share of it.
    safe = 1.0 - 1e-9
    M = (Z.T * w) @ Z
    largest = m * (float(np.linalg.eigvalsh(M)[-1]) + m * 1e-12 * float(np.trace(M)))
    spent = m * float(np.trace(M)) * (1.0 + 1e-9)
    grid = numbers(m, epsilon)
    i = int(np.argmin(users * largest * grid[0] + grid[2] * spent))
    count = np.sqrt(0.5 * math.log(2.0 * len(V)))
    spread = float(np.ptp(V, axis=1).max()) * max(0.5, float(count))
    beta = BETAS[CONSTANT][i]
    trace, _, prior_ = known(m, beta, epsilon)
    both = largest * _above(trace) * (1.0 + 1e-9), _above(prior_) * spent
    return LargestProof("D", types, V, beta, ONE * safe, *both, spread, w)


def known(types: int, beta: Fraction, epsilon: float) -> tuple[Fraction, Fraction, Fraction]:
    """σ_m(1+χ), the largest information in one direction, and j, in fractions."""
    exact = prior.ratio_above(epsilon)
    tanh_squared = prior.contraction(exact)
    field = prior.constant_field(types, beta, prior.uniform_trace_limit(types, exact), tanh_squared)
    return field.information, tanh_squared * (types * beta - 1) / (types * (beta - 1)), field.prior


@lru_cache(maxsize=1024)
def numbers(types: int, epsilon: float) -> FloatArray:
    """σ_m(1+χ), the largest information in one direction and j for every β of the grid, (3, betas)."""
    exact = prior.ratio_above(epsilon)
    limit, tanh_squared = float(prior.uniform_trace_limit(types, exact)), prior.contraction(float(exact))
    beta = np.array([float(x) for x in BETAS[CONSTANT]])
    field = prior.constant_field(types, beta, limit, tanh_squared)
    return np.array([field.information, tanh_squared * (types * beta - 1) / (types * (beta - 1)), field.prior])


def _roots_below(V: FloatArray) -> FloatArray:
    """Lower bounds on the square roots of the eigenvalues of VDVᵀ, largest first."""
    m = V.shape[1]
    A = (V - V.mean(axis=1, keepdims=True)) / math.sqrt(m)
    largest = float(np.square(V).sum()) / m
    return faces.singular_values_below(A @ A.T, (4 * m + 32) * _UNIT * largest * (1.0 + 1e-6))


def _above(value: float | Fraction) -> float:
    """A float that is not below a positive number."""
    return math.nextafter(float(value), math.inf)
