r"""Noise of the K-norm type: Z = Gamma(d)·D/ε, where D is a direction of a body that holds every Q_x − Q_y.

The density of Z on the span of B is ∝ e^{−ε‖z‖}, and ‖z + s‖ ≤ ‖z‖ + 1 for s in B: Q(X) + Z/n is ε-private for
neighbours that differ in one user of n (Hardt & Talwar, STOC 2010; Nikolov, SODA 2023, Lemma 4.1). E‖Z‖ = d·E‖D‖/ε
and E‖Z‖² = d(d + 1)·E‖D‖²/ε², the paper's (k + 1)E‖U‖/ε and (k + 1)(k + 2)E‖U‖²/ε².

The bodies: B = K − K itself (``knorm_noise``); the Euclidean ball of radius diam K in the span (``ball_noise``, Lemma
4.2: E‖Z‖ = d·diam/ε); and {‖z‖₁ ≤ Δ₁} over the queries that are not constant (``laplace_noise``: independent Laplace
noise of scale Δ₁/ε, Dwork, McSherry, Nissim & Smith, TCC 2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.errors import Unavailable
from factormech.mechanisms.central.moments import LEVEL, Estimate
from factormech.mechanisms.pure.bodies import Body, body_of
from factormech.mechanisms.pure.bouncy import Diagnosis, Sample
from factormech.mechanisms.pure.directions import Directions, ExactDirections, ball, cross_polytope, directions_of

DRAWS = 8000  # directions behind an estimate, unless more are asked for


@dataclass(frozen=True)
class Moments:
    """E‖Z‖² and E‖Z‖; an interval of width 0 is exact. ``diagnoses`` are of the chains behind the others."""

    mean_square: Estimate
    mean_norm: Estimate
    diagnoses: tuple[Diagnosis, ...] = ()


class PureNoise(Protocol):
    """Z, before division by the number of users."""

    @property
    def epsilon(self) -> float:
        """Q(X) + Z/n is ε-private: one of n users replaced."""
        ...

    @property
    def queries(self) -> int:
        """k."""
        ...

    @property
    def exact(self) -> bool:
        """Whether its directions are drawn by their law, and not by a chain."""
        ...

    def draw(self, rng: np.random.Generator, trials: int) -> FloatArray | Unavailable:
        """Draws of Z, (trials, k). Where a chain makes them they are not quite independent of each other."""
        ...

    def moments(self, rng: np.random.Generator, draws: int = DRAWS, level: float = LEVEL) -> Moments | Unavailable:
        """E‖Z‖² and E‖Z‖, exact or with intervals that miss with probability about ``level``."""
        ...


@dataclass(frozen=True)
class KNormNoise:
    """Z = Gamma(d)·FD/ε.

    Attributes
    ----------
    frame
        F, (k, d), from the coordinates of the directions to answers.
    """

    frame: FloatArray
    directions: Directions
    epsilon: float

    @property
    def queries(self) -> int:
        return int(self.frame.shape[0])

    @property
    def exact(self) -> bool:
        return isinstance(self.directions, ExactDirections)

    @property
    def dimension(self) -> int:
        """d, the shape of the Gamma law."""
        return int(self.frame.shape[1])

    @property
    def law(self) -> str:
        """The name of the law of the directions."""
        return self.directions.name

    @property
    def exact_mean_square(self) -> float | None:
        """E‖Z‖² where E D Dᵀ is known."""
        inside = self.directions.second_moment
        if inside is None:
            return None
        d = self.dimension
        return (
            float(np.einsum("ki,ij,kj->", self.frame, inside, self.frame, optimize=True))
            * d
            * (d + 1)
            / self.epsilon**2
        )

    def draw(self, rng: np.random.Generator, trials: int) -> FloatArray | Unavailable:
        trials = check_positive_integer("trials", trials)
        if self.dimension == 0:
            return np.zeros((trials, self.queries))
        sample = self.directions.sample(rng, trials)
        if isinstance(sample, Unavailable):
            return sample
        D = sample.directions
        chosen = D if sample.diagnosis is None else D[rng.permutation(len(D))[:trials]]
        radius = rng.standard_gamma(self.dimension, (trials, 1)) / self.epsilon
        return np.asarray((radius * chosen) @ self.frame.T)

    def moments(self, rng: np.random.Generator, draws: int = DRAWS, level: float = LEVEL) -> Moments | Unavailable:
        d = self.dimension
        if d == 0:
            return Moments(_known(0.0), _known(0.0))
        sample = self.directions.sample(rng, draws)
        if isinstance(sample, Unavailable):
            return sample

        norms = sample.mean(lambda D: np.sqrt(self.squared_lengths(D)), level)
        first = scaled(norms, d / self.epsilon)
        return Moments(self.mean_square(sample, level), first, () if sample.diagnosis is None else (sample.diagnosis,))

    def squared_lengths(self, directions: FloatArray) -> FloatArray:
        """‖FD‖² of directions (…, d)."""
        return np.asarray(((directions @ self.frame.T) ** 2).sum(axis=-1))

    def mean_square(self, sample: Sample, level: float = LEVEL) -> Estimate:
        """E‖Z‖²: exact, or from a sample of directions."""
        exact, d = self.exact_mean_square, self.dimension
        if exact is not None:
            return _known(exact)
        return scaled(sample.mean(self.squared_lengths, level), d * (d + 1) / self.epsilon**2)


def knorm_noise(queries: Any, epsilon: float) -> KNormNoise:
    """K-norm noise of B = K − K for the columns of Q, (k, N)."""
    body = queries if isinstance(queries, Body) else body_of(queries)
    return KNormNoise(body.frame, directions_of(body), check_epsilon(epsilon))


def ball_noise(queries: Any, epsilon: float) -> KNormNoise:
    """Noise of the Euclidean ball of radius diam K, in the span of B."""
    body = queries if isinstance(queries, Body) else body_of(queries)
    orthonormal = np.linalg.qr(body.frame)[0]
    return KNormNoise(orthonormal, ball(body.dimension, body.diameters[1]), check_epsilon(epsilon))


def laplace_noise(queries: Any, epsilon: float) -> KNormNoise:
    """Independent Laplace noise of scale Δ₁/ε on every query that is not constant, Δ₁ = max‖Q_x − Q_y‖₁."""
    body = queries if isinstance(queries, Body) else body_of(queries)
    moving = np.flatnonzero(np.ptp(body.columns, axis=1) > 0)
    frame = np.zeros((body.queries, len(moving)))
    frame[moving, np.arange(len(moving))] = body.diameters[0]
    return KNormNoise(frame, cross_polytope(np.eye(len(moving))), check_epsilon(epsilon))


def scaled(estimate: Estimate, factor: float) -> Estimate:
    """An estimate in other units."""
    return Estimate(factor * estimate.value, factor * estimate.low, factor * estimate.high)


def _known(value: float) -> Estimate:
    return Estimate(value, value, value)
