"""Randomizers of the Euclidean unit ball, and the one with Gaussian noise.

**Randomizers of the unit ball.** A user holds a point x of the unit ball of ℝ^d and sends one report Y ∈ ℝ^d, drawn
so that E Y = x and that no report tells x from any other point x' of the ball beyond ε (or (ε, δ)): the *replace one*
relation of local privacy.

All directions are unit vectors θ; all moments are those of the randomizer that is really sampled, not of its ideal.
A point whose norm exceeds 1 by more than the rounding of its own computation is refused, never scaled.

**Gaussian noise on a point of the ball.** It is (ε, δ)-private, unbiased, and the same in every direction. Y = x +
σG, G standard normal. Two points of the ball are at most 2 apart, so σ is twice the least noise multiplier of the
analytic Gaussian mechanism (Balle & Wang, ICML 2018; :mod:`factormech.privacy.gaussian`), which is exact for the
worst pair ±v: no smaller σ is (ε, δ)-private. A relative margin of 1e-12 covers the rounding of σ and of points that
exceed the ball by the rounding of their normalisation.

*In floating point* normal numbers have finitely many values; the guarantee is that of the real law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue
from factormech.privacy.gaussian import check_delta, gaussian_delta, gaussian_noise_multiplier
from factormech.privacy.guarantee import Guarantee

# Randomizers of the unit ball.


@runtime_checkable
class BallRandomizer(Protocol):
    """One user's private, unbiased report of a point of the unit ball."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int:
        """d."""
        ...

    @property
    def epsilon(self) -> float:
        """The ε that the randomizer guarantees."""
        ...

    @property
    def delta(self) -> float:
        """The δ that the randomizer guarantees; 0.0 where the privacy is pure."""
        ...

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one report: a point of the ball is exchanged for any other."""
        ...

    def sample(self, points: FloatArray, rng: np.random.Generator) -> FloatArray:
        """One report (N, d) for each row of ``points`` (N, d)."""
        ...

    def sample_sums(self, points: FloatArray, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        """Sum of the reports of all users, (trials, d): ``counts`` (n,) users of each type, its point a row of (n, d).

        The exact law of the sum, in less work than a report for each user. Too many users are refused with the reason
        that ``simulation_refusal`` gives.
        """
        ...

    def simulation_refusal(self, types: int, users: int) -> str:
        """Why the sums over that many users of so many types cannot be simulated, or nothing."""
        ...

    def covariance(self, point: FloatArray) -> FloatArray:
        """Exact covariance matrix (d, d) of the report of ``point`` (d,)."""
        ...

    def second_moment(self, point: FloatArray) -> FloatArray:
        """Exact E YYᵀ, (d, d)."""
        ...

    @property
    def squared_norm(self) -> float:
        """sup over ‖x‖ ≤ 1 of E‖Y‖²."""
        ...

    @property
    def worst_direction(self) -> float:
        """sup over ‖x‖ ≤ 1 and ‖θ‖ = 1 of Var⟨θ, Y⟩."""
        ...

    @property
    def worst_second_moment(self) -> float:
        """sup over ‖x‖ ≤ 1 and ‖θ‖ = 1 of E⟨θ, Y⟩²."""
        ...

    @property
    def subgaussian_proxy(self) -> float:
        """A certified v with E exp⟨θ, Y − x⟩ ≤ exp(v‖θ‖²/2) for all ‖x‖ ≤ 1 and all θ of any length."""
        ...

    def privacy_loss(self) -> float:
        """Return a rigorous upper bound on the ε of the samples (at this δ), at most the ε of the guarantee."""
        ...


def check_points(x: FloatArray) -> FloatArray:
    """Return the rows of x, all in the unit ball to rounding; a vector outside is refused, never scaled.

    A vector divided by its own norm may end up above 1 by a few units in the last place: ``lengths`` counts it as 1,
    and so no report is drawn with more than the probabilities of the proof.
    """
    if x.ndim != 2 or x.shape[1] == 0:
        raise BadValue("points", x.shape, "be an array (users, dimension)", "give one row per user")
    worst = float(np.max(np.einsum("ui,ui->u", x, x), initial=0.0))
    if not worst <= 1.0 + min(x.shape[1] + 8, 1024) * 2.0**-52:
        raise BadValue(
            "points",
            math.sqrt(worst) if worst >= 0 else worst,
            "lie in the unit ball (the value is the largest norm)",
            "divide all columns of the strategy by their largest norm",
        )
    return x


def check_point(point: FloatArray, dimension: int) -> FloatArray:
    """Return one point of the unit ball of ℝ^dimension."""
    return np.asarray(check_batch(np.asarray(point, dtype=np.float64)[None, ...], dimension)[0])


def check_batch(points: FloatArray, dimension: int) -> FloatArray:
    """Return the points of users, rows in the unit ball of ℝ^dimension."""
    x = check_points(np.asarray(points, dtype=np.float64))
    if x.shape[1] != dimension:
        raise BadValue("points", x.shape, f"have {dimension} columns", "build the randomizer for this dimension")
    return x


def check_sums(points: FloatArray, counts: IntArray, trials: int, dimension: int) -> tuple[FloatArray, IntArray, int]:
    """Return the points of the types, the number of users of each and of trials, all checked."""
    x = check_batch(points, dimension)
    found = np.asarray(counts)
    whole = found.dtype.kind in "iu" or (found.dtype.kind == "f" and bool(np.all(found == np.floor(found))))
    if found.shape != (len(x),) or not whole or not np.all(found >= 0) or not found.sum() < 2.0**62:
        rule = "be whole numbers of at least 0, one for each row of points"
        raise BadValue("counts", counts, rule, "give the number of users of each type")
    return x, found.astype(np.int64), check_positive_integer("trials", trials)


def units(x: FloatArray) -> FloatArray:
    """Rows of x divided by their norms; the first axis where a row is 0."""
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    units = x / np.where(norms > 0, norms, 1.0)
    units[norms[:, 0] == 0, 0] = 1.0
    return units


def lengths(x: FloatArray) -> FloatArray:
    """Norms of the rows of x, at most 1."""
    return np.asarray(np.minimum(np.linalg.norm(x, axis=1), 1.0))


# Gaussian noise on a point of the ball.

_DIAMETER = 2.0


@dataclass(frozen=True)
class GaussianNoise:
    """The randomizer of the unit ball of ℝ^dimension by Gaussian noise."""

    name: ClassVar[str] = "gaussian"

    dimension: int
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_positive_integer("dimension", self.dimension)
        check_epsilon(self.epsilon)
        check_delta(self.delta)

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise in every direction."""
        return _DIAMETER * gaussian_noise_multiplier(self.epsilon, self.delta)

    @property
    def squared_norm(self) -> float:
        return self.dimension * self.sigma**2 + 1.0

    @property
    def worst_direction(self) -> float:
        return self.sigma**2

    @property
    def worst_second_moment(self) -> float:
        return self.sigma**2 + 1.0

    @property
    def subgaussian_proxy(self) -> float:
        return self.sigma**2

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.delta)

    def privacy_loss(self) -> float:
        """Return ε, after a check that the exact δ of this σ at ε is at most the δ of the guarantee."""
        found = gaussian_delta(self.sigma / _DIAMETER, self.epsilon)
        if not found <= self.delta:
            raise BadValue("delta", self.delta, f"be at least the noise's, {found!r}", "give a larger delta")
        return self.epsilon

    def covariance(self, point: FloatArray) -> FloatArray:
        check_point(point, self.dimension)
        return np.asarray(self.sigma**2 * np.eye(self.dimension))

    def second_moment(self, point: FloatArray) -> FloatArray:
        x = check_point(point, self.dimension)
        return np.asarray(self.covariance(x) + np.outer(x, x))

    def sample(self, points: FloatArray, rng: np.random.Generator) -> FloatArray:
        x = check_batch(points, self.dimension)
        reports = rng.standard_normal(x.shape)
        reports *= self.sigma
        reports += x
        return np.asarray(reports)

    def sample_sums(self, points: FloatArray, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        x, counts, trials = check_sums(points, counts, trials, self.dimension)
        spread = self.sigma * np.sqrt(float(counts.sum()))
        return np.asarray(counts @ x + spread * rng.standard_normal((trials, self.dimension)))

    def simulation_refusal(self, types: int, users: int) -> str:
        """Nothing: the noise of a sum is one Gaussian."""
        del types, users
        return ""
