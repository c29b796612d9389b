r"""Second moments, covariances and 2-way marginals with ε-privacy (Nikolov, *Private query release via the
Johnson–Lindenstrauss transform*, SODA 2023, Section 6), errors in Frobenius norm.

* ``trace``: M + Z/n with K-norm noise of the trace body (:mod:`factormech.central.pure.eigenvalues`);
* ``l2-ball``: Z of uniform direction and Frobenius norm Gamma(D)·√2/ε, as ‖xxᵀ − yyᵀ‖_F ≤ √2 for ‖x‖, ‖y‖ ≤ 1;

each with or without the projection on K. JL release is :mod:`factormech.central.pure.trace_sketch`.

**Covariance** (Theorem 1.3): M is released with ε/2, the mean with ε/2 by the ball of diameter 2 (Lemma 4.2) and
projected on the unit ball; Σ̂ = M̂ − μ̂μ̂ᵀ, whose error is at most ‖M̂ − M‖_F + 2‖μ̂ − μ‖.

**2-way marginals** over {0, 1}^d: x/√d lies in the unit ball, and the marginal of i ≠ j is d·M_ij.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.central.pure import trace_body
from factormech.central.pure.eigenvalues import LARGEST, TraceNoise
from factormech.errors import BadValue, UnknownName
from factormech.numerics.symmetric import unpack
from factormech.privacy import CHAIN_LIMIT, REAL_LAW, Guarantee
from factormech.unavailable import Unavailable

NOISES = ("trace", "l2-ball")


@dataclass(frozen=True)
class MomentDraws:
    """Z, (draws, d, d), for every data set and n."""

    noise: FloatArray
    projected: bool
    unit: bool

    def moments(self, moment: Any, users: int) -> FloatArray:
        """Released second moments, (draws, d, d), of n rows with this one."""
        n = check_positive_integer("users", users)
        M = trace_body.checked_moment(moment, self.noise.shape[1], unit=self.unit)
        found = M + self.noise / n
        return trace_body.project(found, unit=self.unit) if self.projected else found


@dataclass(frozen=True)
class MomentRelease:
    """The second moment of rows in the unit ball, or on the unit sphere if ``unit``."""

    size: int
    epsilon: float
    noise: str = "trace"
    projected: bool = True
    unit: bool = False

    @classmethod
    def of(
        cls, size: int, epsilon: float, *, noise: str = "trace", projected: bool = True, unit: bool = False
    ) -> MomentRelease:
        """For rows of d entries."""
        if noise not in NOISES:
            raise UnknownName("noise", noise, NOISES)
        d = check_positive_integer("size", size, minimum=2 if unit else 1)
        if noise == "trace" and d > LARGEST:
            raise BadValue("size", d, f"be at most {LARGEST} for trace noise", 'use noise="l2-ball"')
        return cls(d, check_epsilon(epsilon), noise, projected, unit)

    @property
    def name(self) -> str:
        return self.noise + ("-projection" if self.projected else "")

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, ground=CHAIN_LIMIT if self.noise == "trace" else REAL_LAW)

    def draw(self, rng: np.random.Generator, draws: int) -> MomentDraws | Unavailable:
        """Noise of that many releases."""
        if self.noise == "trace":
            Z = TraceNoise.of(self.size, self.epsilon, unit=self.unit).draw(rng, draws)
            if isinstance(Z, Unavailable):
                return Z
        else:
            Z = ball_matrices(self.size, self.epsilon, rng, draws, unit=self.unit)
        return MomentDraws(Z, self.projected, self.unit)


def ball_matrices(size: int, epsilon: float, rng: np.random.Generator, trials: int, *, unit: bool) -> FloatArray:
    """Noise of the Frobenius ball of radius √2, (trials, d, d); of trace 0 if ``unit``."""
    d = check_positive_integer("size", size, minimum=2 if unit else 1)
    dimension = d * (d + 1) // 2 - int(unit)
    Z = unpack(rng.standard_normal((check_positive_integer("trials", trials), d * (d + 1) // 2)), d)
    if unit:
        Z -= np.trace(Z, axis1=1, axis2=2)[:, None, None] / d * np.eye(d)
    radius = rng.standard_gamma(dimension, trials) * math.sqrt(2.0) * (1.0 + 2.0**-50) / epsilon
    return np.asarray(Z * (radius / np.linalg.norm(Z, axis=(1, 2)))[:, None, None])


def released_covariances(
    rows: Any,
    epsilon: float,
    rng: np.random.Generator,
    trials: int = 1,
    *,
    noise: str = "trace",
    projected: bool = True,
) -> FloatArray | Unavailable:
    """Σ̂ of repeated releases, (trials, d, d), of rows (n, d), clipped to the unit ball; for experiments."""
    X = trace_body.clipped(rows)
    n, d = X.shape
    half = 0.5 * check_epsilon(epsilon)
    drawn = MomentRelease.of(d, half, noise=noise, projected=projected).draw(rng, trials)
    if isinstance(drawn, Unavailable):
        return drawn
    means = X.mean(axis=0) + ball_vectors(d, 2.0, half, rng, trials) / n
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1.0)
    moments = drawn.moments(trace_body.second_moment(X), n)
    return np.asarray(moments - means[:, :, None] * means[:, None, :])


def ball_vectors(dimension: int, diameter: float, epsilon: float, rng: np.random.Generator, trials: int) -> FloatArray:
    """Uniform directions times Gamma(d)·diameter/ε, (trials, d): Nikolov's Lemma 4.2."""
    z = rng.standard_normal((trials, dimension))
    radius = rng.standard_gamma(dimension, (trials, 1)) * (diameter * (1.0 + 2.0**-50) / epsilon)
    return np.asarray(radius * z / np.linalg.norm(z, axis=1, keepdims=True))


def covariance(rows: FloatArray) -> FloatArray:
    """M − μμᵀ of rows (n, d)."""
    mean = rows.mean(axis=0)
    return np.asarray(trace_body.second_moment(rows) - np.outer(mean, mean))


def binary_rows(data: Any) -> FloatArray:
    """x/√d for rows of zeros and ones, (n, d): in the unit ball but for roundings, which are clipped."""
    X = np.asarray(data)
    if X.ndim != 2 or 0 in X.shape or not np.isin(X, (0, 1)).all():
        raise BadValue("data", f"array of shape {X.shape}", "be rows (n, d) of zeros and ones", "repair it")
    return trace_body.clipped(X / math.sqrt(X.shape[1]))


def marginals(moments: FloatArray) -> FloatArray:
    """The 2-way marginals d·M_ij, i < j, of second moments (…, d, d) of :func:`binary_rows`."""
    d = moments.shape[-1]
    first, second = np.triu_indices(d, 1)
    return np.asarray(d * moments[..., first, second])


def frobenius_errors(found: FloatArray, truth: FloatArray) -> FloatArray:
    """‖M̂ − M‖_F of each draw."""
    return np.asarray(np.linalg.norm(found - truth, axis=(-2, -1)))


def marginal_errors(found: FloatArray, truth: FloatArray) -> FloatArray:
    """Root mean square over the pairs, of each draw."""
    return np.asarray(np.sqrt(((marginals(found) - marginals(truth)) ** 2).mean(axis=-1)))
