"""The privacy of every kind of mechanism again, from its density or its probabilities, and not from what it says.

``loss`` gives the largest log-ratio of densities over all neighbours and a grid of outputs that holds where it is
largest, or for Gaussian noise the δ at the promised ε. A kind that is not here fails.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np
from scipy.stats import kstest

from factormech.arrays import FloatArray
from factormech.learning.selection.protocols import report_probability
from factormech.learning.sq import streams
from factormech.mechanisms.central.mechanism import CentralMechanism
from factormech.mechanisms.central.projection import ProjectedMechanism
from factormech.mechanisms.local.calibrated_columns import CalibratedColumns
from factormech.mechanisms.local.factorized.releases import (
    AdditiveRelease,
    FactorizationRelease,
    OneQuery,
    StrategyRelease,
)
from factormech.mechanisms.local.noisy_columns import NoisyColumns
from factormech.mechanisms.local.randomizers import cap_randomizers
from factormech.mechanisms.local.randomizers.base import GaussianNoise
from factormech.mechanisms.local.randomizers.cap_randomizers import CapRandomizer
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.mechanisms.local.subsets import SubsetStrategy
from factormech.mechanisms.local.symmetric.strategy import SymmetricStrategy
from factormech.mechanisms.pure import bodies
from factormech.mechanisms.pure import mechanism as laws
from factormech.mechanisms.pure.bodies import body_of
from factormech.mechanisms.pure.bouncy import Gauge, Sample
from factormech.mechanisms.pure.covariance import MomentRelease, SketchRelease
from factormech.mechanisms.pure.eigenvalues import TraceNoise
from factormech.mechanisms.pure.jl import CoarseJLRelease, JLRelease
from factormech.mechanisms.pure.knorm import KNormNoise
from factormech.mechanisms.pure.mechanism import NoisyRelease, PureMechanism
from factormech.mechanisms.pure.recursive import RecursiveNoise
from factormech.numerics.vectors import pack
from factormech.privacy.gaussian import gaussian_delta_bounds
from tests.oracles import largest_loss
from tests.privacy.subjects import EPSILON, Protocol
from tests.statistics import FALSE_ALARM

# Neighbours of a matrix of many columns that are compared: each takes a gauge at every output.
DIFFERENCES = 60


@dataclass(frozen=True)
class Loss:
    """The least ε (at δ = 0), or the δ at the promised ε, or the ρ, that the law really has."""

    epsilon: float = 0.0
    delta: float = 0.0
    rho: float = 0.0
    ratio: Fraction | None = None  # exactly, where it is rational


@singledispatch
def loss(mechanism: Any) -> Loss:
    raise AssertionError(f"no density check for {type(mechanism).__name__}: add one to tests/privacy/losses.py")


def below_exponential(ratio: Fraction, epsilon: float) -> bool:
    """Whether a rational number is at most e^ε, with sixty digits."""
    with localcontext() as context:
        context.prec = 60
        return Decimal(ratio.numerator) <= Decimal(epsilon).exp() * Decimal(ratio.denominator)


def exact(ratio: Fraction) -> Loss:
    return Loss(math.log(ratio), ratio=ratio)


# Probabilities -----------------------------------------------------------------------------------------------------


@loss.register
def _(mechanism: StrategyMatrix) -> Loss:
    """Exactly, for columns divided by their exact sums."""
    rows = [list(map(Fraction, row)) for row in mechanism.matrix.tolist()]
    sums = [sum(column, Fraction(0)) for column in zip(*rows, strict=True)]
    normal = [[q / s for q, s in zip(row, sums, strict=True)] for row in rows]
    return exact(max(max(row) / min(row) for row in normal))


@loss.register
def _(mechanism: SubsetStrategy) -> Loss:
    """P(S | u ∈ S)/P(S | u ∉ S) = (P_s/C(n−1, s−1))/((1 − P_s)/C(n−1, s)), for the floats P_s and 1 − P_s."""
    n, ratios = mechanism.domain_size, []
    for s in np.flatnonzero(mechanism.size_law).tolist():
        if 0 < s < n:
            near = Fraction(mechanism.inside[s]) / math.comb(n - 1, s - 1)
            far = Fraction(mechanism.outside[s]) / math.comb(n - 1, s)
            ratios.append(max(near / far, far / near))
    return exact(max(ratios))


@loss.register
def _(mechanism: SymmetricStrategy) -> Loss:
    """A word in the pattern against one outside: π/K and (1 − π)/(M − K), π a multiple of 2⁻⁵³."""
    ratios = []
    for family, channel in zip(mechanism.families, mechanism.channels, strict=True):
        K, M, inside = len(family.ones), family.points, Fraction(channel.inside)
        ratio = inside / K / ((1 - inside) / (M - K))
        ratios.append(max(ratio, 1 / ratio))
    return exact(max(ratios))


@loss.register
def _(mechanism: OneQuery) -> Loss:
    """Of the very probabilities of a face that are drawn with."""
    asked = mechanism.asked
    faces = 0.5 + 0.5 * (2.0 * mechanism.p - 1.0) * (mechanism._signal[asked] / mechanism.half[asked, None])
    both = [list(map(Fraction, row)) for row in faces.tolist()]
    return exact(max(r for row in both for r in (max(row) / min(row), (1 - min(row)) / (1 - max(row)))))


@loss.register
def _(mechanism: Protocol) -> Loss:
    """Of a bit; of a user of group size 1, times as many users as the subject moves."""
    low, high = map(Fraction, report_probability(np.array([0.0, 1.0]), EPSILON).tolist())
    return Loss(mechanism.moved * math.log(max(high / low, (1 - low) / (1 - high))))


@loss.register
def _(mechanism: StrategyRelease) -> Loss:
    return loss(mechanism.strategy)


# Reports of the ball -----------------------------------------------------------------------------------------------


def directions(dimension: int) -> FloatArray:
    """A grid of the sphere with the axes, and a hair beside them."""
    Z = np.random.default_rng(0).standard_normal((500, dimension))
    Z = np.concatenate([Z, np.eye(dimension), -np.eye(dimension), np.eye(dimension) + 1e-9])
    return np.asarray(Z / np.linalg.norm(Z, axis=1, keepdims=True))


def of_densities(densities: FloatArray) -> float:
    """From densities (inputs, outputs)."""
    return float(np.log(densities.max(axis=0) / densities.min(axis=0)).max())


@loss.register
def _(mechanism: CapRandomizer) -> Loss:
    """On a grid of points of the ball and of directions; 1 + λ/((1 − λ)q) is the supremum."""
    d = mechanism.dimension
    points = np.concatenate([r * directions(d)[-2 * d - 3 :] for r in (0.0, 0.5, 1.0)])
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1.0)
    found = of_densities(np.stack([mechanism.density(x, directions(d)) for x in points]))
    q = float(mechanism.density(np.eye(d)[0], np.eye(d)[:1])[0] - (1 - mechanism.loyalty)) / mechanism.loyalty
    assert found <= math.log1p(mechanism.loyalty / (1 - mechanism.loyalty) * q) + 1e-12
    return Loss(found)


@loss.register
def _(mechanism: GaussianNoise) -> Loss:
    return of_gaussian(mechanism.sigma, 2.0, mechanism.epsilon)


@loss.register
def _(mechanism: FactorizationRelease) -> Loss:
    """Of its randomizer, whose points must lie in the ball."""
    squares = [sum((Fraction(x) ** 2 for x in point), Fraction(0)) for point in mechanism.points.tolist()]
    assert max(squares) <= 1 + Fraction(1, 2**40)
    return loss(mechanism.randomizer)


# Columns with noise ------------------------------------------------------------------------------------------------


def of_gaussian(sigma: float, sensitivity: float, epsilon: float) -> Loss:
    if epsilon == math.inf:
        return Loss(rho=sensitivity**2 / (2 * sigma**2))
    return Loss(delta=gaussian_delta_bounds(sigma, sensitivity, epsilon)[1])


def of_laplace(columns: FloatArray, scale: float) -> Loss:
    """Exactly at the columns, which is where ‖y − a_v‖₁ − ‖y − a_u‖₁ is largest; and a grid of outputs beside them."""
    exact_columns = [list(map(Fraction, column)) for column in columns.T.tolist()]
    pairs = itertools.combinations(exact_columns, 2)
    largest = max(sum((abs(x - y) for x, y in zip(a, b, strict=True)), Fraction(0)) for a, b in pairs) / Fraction(scale)
    outputs = columns.T[:, None] + scale * np.random.default_rng(0).standard_normal((1, 200, len(columns)))
    rows = np.concatenate([outputs.reshape(-1, len(columns)), columns.T])
    logs = -np.abs(rows[None] - columns.T[:, None]).sum(axis=2) / scale
    on_grid = float((logs.max(axis=0) - logs.min(axis=0)).max())
    assert abs(on_grid - float(largest)) <= 1e-12
    return Loss(float(largest))


@loss.register
def _(mechanism: NoisyColumns) -> Loss:
    A = mechanism.columns
    if mechanism.noise == "laplace":
        return of_laplace(A, mechanism.scale)
    if mechanism.noise == "gaussian":
        pairs = itertools.combinations(A.T, 2)
        return of_gaussian(mechanism.scale, max(math.dist(a, b) for a, b in pairs), mechanism.epsilon)
    densities = [cap_randomizers.density(a, directions(len(A)), mechanism.epsilon) for a in A.T]
    return Loss(of_densities(np.stack(densities)))


@loss.register
def _(mechanism: CalibratedColumns) -> Loss:
    return loss(mechanism.noisy)


@loss.register
def _(mechanism: AdditiveRelease) -> Loss:
    return loss(mechanism.noisy)


# Central -----------------------------------------------------------------------------------------------------------


@loss.register
def _(mechanism: CentralMechanism) -> Loss:
    """The longest column of R, and the δ of its own σ; no mixture of ±e_j moves Rx further."""
    return of_gaussian(mechanism.sigma, max(math.hypot(*c) for c in mechanism.right.dense().T), mechanism.epsilon)


@loss.register
def _(mechanism: ProjectedMechanism) -> Loss:
    return loss(mechanism.base)


def differences(Q: FloatArray) -> FloatArray:
    """All of them, or so many drawn of them where they are too many."""
    found = np.array([x - y for x, y in itertools.permutations(np.unique(Q, axis=1).T, 2)])
    return found if len(found) <= DIFFERENCES else np.random.default_rng(2).choice(found, DIFFERENCES, replace=False)


def points_near(Q: FloatArray) -> FloatArray:
    """Outputs: the differences themselves, beyond them, and around."""
    S = differences(Q)
    return np.concatenate(
        [S, -2.0 * S, np.random.default_rng(0).standard_normal((200, len(Q))) @ np.diag(np.ptp(Q, axis=1))]
    )


def of_noise(noise: Any, Q: FloatArray) -> Loss:
    """Additive noise Z of density ∝ exp(−ε·norm) on the answers Q of one person, n = 1: norm is read off the draws."""
    S = differences(Q)
    if isinstance(noise, laws.GaussianLaw):
        return Loss(rho=0.0) if noise.sigma == 0 else of_gaussian(noise.sigma, max(map(np.linalg.norm, S)), EPSILON)
    if isinstance(noise, RecursiveNoise):
        return Loss(_recursive(noise, Q))
    assert isinstance(noise, KNormNoise)
    if noise.law == "cross-polytope" and not np.allclose(
        noise.frame, body_of(Q).frame
    ):  # Laplace: frame is Δ₁ times axes
        radius = np.abs(drawn(noise) @ noise.frame.T).sum(axis=1)
        np.testing.assert_allclose(radius, radius[0], rtol=1e-12)
        return Loss(noise.epsilon * float(np.abs(S).sum(axis=1).max()) / float(radius[0]))
    if noise.law == "ball":
        radius = np.linalg.norm(drawn(noise) @ noise.frame.T, axis=1)
        np.testing.assert_allclose(radius, radius[0], rtol=1e-12)
        return Loss(noise.epsilon * float(np.linalg.norm(S, axis=1).max()) / float(radius[0]))
    gauge = Gauge(body_of(Q))
    return Loss(noise.epsilon * largest_loss(gauge, points_near(Q), S) / scale_of(gauge, noise))


def drawn(noise: KNormNoise) -> FloatArray:
    sample = noise.directions.sample(np.random.default_rng(0), 200)
    assert isinstance(sample, Sample)
    return sample.directions


def scale_of(gauge: Gauge, noise: KNormNoise, basis: FloatArray | None = None) -> float:
    """The gauge of the directions, which is 1: they lie on the boundary of the body."""
    D = drawn(noise) @ noise.frame.T
    gauges = gauge.of(D if basis is None else D @ basis)
    np.testing.assert_allclose(gauges, gauges[0], rtol=1e-9)
    return float(gauges[0])


def _recursive(noise: RecursiveNoise, Q: FloatArray) -> float:
    """max Σ ε_i‖P_i(Q_x − Q_y)‖ over the stages; a stage that projects its noise is measured before it does."""
    total = np.zeros(len(differences(Q)))
    for i, (stage, share) in enumerate(zip(noise.stages, noise.shares, strict=True)):
        F = stage.noise.frame
        if stage.noise.dimension > stage.dimension:
            assert i == 0, "only the first body is known here"
            coordinates = Gauge(body_of(Q)).of_coordinates(drawn(stage.noise))
            np.testing.assert_allclose(coordinates, coordinates[0], rtol=1e-9)
            total += share * Gauge(body_of(Q)).of(differences(Q)) / coordinates[0]
            continue
        W = np.linalg.qr(F)[0]
        gauge = Gauge(body_of(W.T @ Q))
        total += share * gauge.of(differences(Q) @ W) / scale_of(gauge, stage.noise, W)
    return float(total.max())


@loss.register
def _(mechanism: PureMechanism) -> Loss:
    return of_noise(mechanism.noise, mechanism.queries)


@loss.register
def _(mechanism: NoisyRelease) -> Loss:
    return of_law(mechanism, mechanism.queries)


@loss.register
def _(mechanism: JLRelease) -> Loss:
    T = np.random.default_rng(1).standard_normal((mechanism.rows, len(mechanism.queries)))
    return of_law(mechanism, T @ mechanism.columns)


@loss.register
def _(mechanism: CoarseJLRelease) -> Loss:
    return loss(mechanism.inner)


def of_law(release: NoisyRelease | JLRelease, V: FloatArray) -> Loss:
    noise = release.law.of(V)
    if isinstance(noise, laws.ShapedNoise):
        # Of covariance Σ: the longest difference in the norm of Σ⁻¹.
        S = differences(V)
        covariance = noise.inner.sigma**2 * noise.shape @ noise.shape.T
        longest = math.sqrt(float(np.einsum("si,ij,sj->s", S, np.linalg.pinv(covariance), S).max()))
        return of_gaussian(1.0, longest, release.guarantee.epsilon)
    if isinstance(noise, laws.GaussianLaw):
        return of_gaussian(noise.sigma, max(map(np.linalg.norm, differences(V))), release.guarantee.epsilon)
    return of_noise(noise, V)


def unit_differences(dimension: int) -> Iterable[FloatArray]:
    """xxᵀ − yyᵀ of unit vectors, the axes and their middles among them."""
    X = directions(dimension)[-120:]
    return (np.outer(x, x) - np.outer(y, y) for x, y in itertools.combinations(X, 2))


@loss.register
def _(mechanism: MomentRelease) -> Loss:
    S = np.array(list(unit_differences(mechanism.size)))
    D = mechanism.size * (mechanism.size + 1) // 2
    if mechanism.noise == "trace":
        sample = TraceNoise.of(mechanism.size, mechanism.epsilon).chain.sample(np.random.default_rng(0), 200)
        assert isinstance(sample, Sample)
        scale, longest = bodies.eigenvalue_gauge(sample.directions), float(bodies.gauge(S).max())
        np.testing.assert_allclose(scale, 1.0, rtol=1e-9)
    else:
        longest = float(np.linalg.norm(S, axis=(1, 2)).max()) / math.sqrt(2.0)
    drawn_noise = mechanism.draw(np.random.default_rng(2), 4000)
    Z = drawn_noise.noise  # type: ignore[union-attr]
    norms = bodies.gauge(Z) if mechanism.noise == "trace" else np.linalg.norm(Z, axis=(1, 2)) / math.sqrt(2.0)
    return Loss(longest * of_radii(norms, D))


@loss.register
def _(mechanism: SketchRelease) -> Loss:
    drawn_sketch = mechanism.draw(np.random.default_rng(2), 4000)
    T = drawn_sketch.matrix
    longest = max(float(np.linalg.norm(T @ pack(S))) for S in unit_differences(mechanism.size))
    norms = np.linalg.norm(drawn_sketch.noise, axis=1)
    # The exact diameter is over all of K − K; the operator norm bounds it, and both are within a factor here.
    return Loss(longest * of_radii(norms, mechanism.rows))


def of_radii(norms: FloatArray, dimension: int) -> float:
    """The ε of norms that are Gamma(d)/ε, from their mean, which is d/ε; refused where the law is another.

    An estimate: it is moved to the true side by five deviations.
    """
    epsilon = dimension / float(norms.mean())
    assert kstest(epsilon * norms, "gamma", (dimension,)).pvalue > FALSE_ALARM
    return epsilon * (1 - 5 / math.sqrt(dimension * len(norms)))


# Sequential --------------------------------------------------------------------------------------------------------


@loss.register
def _(mechanism: streams.CountingStream) -> Loss:
    """State at any time and output, for every user of four replaced."""
    users, scales = (0, 1, 0, 1), (mechanism.scale, mechanism.scale)
    cases = itertools.product(range(4), (0, 1), range(5))
    return Loss(max(streams.audit(mechanism.query, users, i, by, t, scales) for i, by, t in cases))


def transcript_probability(
    policy: Callable[[tuple[int, ...]], FloatArray], epsilon: float, users: Sequence[int], transcript: Sequence[int]
) -> float:
    """The probability of a transcript: what any intrusions see is a function of it."""
    probability, factor = 1.0, streams.privacy_factor(epsilon)
    for i, (user, bit) in enumerate(zip(users, transcript, strict=True)):
        mean = float(policy(tuple(transcript[:i]))[user]) / factor
        probability *= 0.5 * (1.0 + bit * mean)
    return probability


@loss.register
def _(mechanism: streams.TranscriptStream) -> Loss:
    """Every transcript of three users, the policy of the subject being one query."""
    logs = np.array(
        [
            [
                math.log(transcript_probability(mechanism._policy, EPSILON, users, bits))
                for bits in itertools.product((-1, 1), repeat=3)
            ]
            for users in ((0, 0, 1), (0, 1, 1), (1, 0, 1))
        ]
    )
    return Loss(float(max(np.abs(logs[0] - logs[1]).max(), np.abs(logs[0] - logs[2]).max())))


@loss.register
def _(mechanism: streams.LocalOracle) -> Loss:
    up = 0.5 * (1.0 + 1.0 / mechanism.factor)
    return Loss(math.log(up / (1.0 - up)))


@loss.register
def _(mechanism: streams.PanPrivateOracle) -> Loss:
    return loss(streams.CountingStream(np.array([1.0, -1.0]), mechanism.epsilon, mechanism.rng))
