r"""Randomizers that report on spherical caps: the half-sphere and PrivUnit.

**Caps.** Both randomizers share this part. A user with point x, ‖x‖ = r ≤ 1, x = r·v, in dimension d reports Y = Z/m,
Z on the unit sphere:

* *loyal*, with probability λr: Z uniform on the cap {⟨Z, v⟩ ≥ γ}, of mass q and first moment A (``caps.py``);
* *free*, else: Z uniform on the whole sphere.

*Unbiased*: E Z = λr(A/q)v, and m = λA/q.

*Private*: the density of Z against the uniform law is 1 − λr off the cap and 1 − λr + λr/q on it: between 1 − λ and
1 − λ + λ/q for every x. The ratio of two densities is at most 1 + λ/((1−λ)q), and equals it for unit vectors whose caps
differ. All of it rests on two numbers: λ, a multiple of 2⁻⁵³ that 53-bit uniform numbers meet exactly, and q, of which
a certain lower bound is used.

*Inside the ball* this takes free reports where others round x to ±x/r first (with probabilities (1 ± r)/2). For
the half sphere both are the same law. For γ > 0 this one is better: E‖Y‖² is the same, a report of 0 is isotropic
and needs no arbitrary axis, and the largest variance in a direction falls from about 1 + 1/(dm²) to ¼ + 1/(dm²).

*Moments*: Z is even in all directions across v, so E ZZᵀ = a·vvᵀ + b(I − vvᵀ) with a + (d−1)b = 1, and by the second
moment of the cap a = (1 − λr)/d + λrT/q = (1 + r(d−1)γm)/d. In terms of g = (d−1)γ/(dm), of the free second moment
s = 1/(dm²), and of the report Y,

.. math:: \mathbb{E}\,YY^\top = (s - \tfrac{rγ}{dm})\,I + \tfrac{rγ}{m}\,vv^\top , \qquad
          \operatorname{Var}\langle v, Y\rangle = s + rg - r^2 .

The variance in a direction is largest along v at r = g/2 (if that is at most 1), where it is s + g²/4;
the second moment at r = 1, where it is s + g.

*In floating point* the proof holds for λ and q as said. Normal, gamma and uniform numbers of 53 bits, and the products
that place Z, follow the real law up to rounding: an adversary who sees all the last bits of a report sees more than Z.

**The half-sphere randomizer.** It is a pure ε-LDP, unbiased report of a point of the Euclidean unit ball. Duchi,
Jordan & Wainwright (JASA 113, 2018); stated in this form in Edmonds, Nikolov & Ullman (STOC 2020, Lemma 9) after
Blasiok, Bun, Nikolov & Steinke (SODA 2019).

A user with point x, ‖x‖ ≤ 1, in dimension d

1. rounds x to the sphere: v = x/‖x‖ with probability (1 + ‖x‖)/2, else −x/‖x‖ (x = 0: any fixed
   direction);
2. draws Z uniformly from the unit half sphere facing v with probability p = e^ε/(1 + e^ε), else from
   the other half;
3. reports BZ, with B = c·√π·Γ((d+1)/2)/Γ(d/2) and c = 1/(2p − 1) = (e^ε + 1)/(e^ε − 1).

*Unbiased*: E[Z | v] = (2p − 1)·E|Z₁|·v and E|Z₁| = Γ(d/2)/(√π Γ((d+1)/2)), so E[BZ | v] = v, and
rounding gives E v = x.

*Private*: with respect to the uniform law on the sphere the density of Z is 2p on one half and 2(1−p)
on the other, so after rounding it lies in [2/(1+e^ε), 2e^ε/(1+e^ε)] for every x: the ratio of two
densities is at most e^ε, and equals it for opposite unit vectors.

*In floating point* p is a multiple of 2⁻⁵³ just below e^ε/(1 + e^ε) (``facing_probability``). Such a p is met
exactly by 53-bit uniform numbers, and 1 − p and 2p − 1 are floats without rounding: the loss of this very p is
certainly below ε, and B, made of the same p, keeps the report unbiased for it.

*Second moment*: z ↦ zzᵀ is even, so both halves give E ZZᵀ = I/d, whatever x: E[BZ(BZ)ᵀ] = (B²/d)·I
exactly, and the covariance is (B²/d)·I − xxᵀ. B²/d increases with d from c² (d = 1, where this is
randomized response) to (π/2)·c².

**PrivUnit.** It is the pure ε-LDP, unbiased report of a unit vector with the least squared norm. Bhowmick, Duchi,
Freudiger, Kapoor & Rogers (arXiv 1812.00984, 2018). Asi, Feldman & Talwar (ICML 2022) show that with its parameters
chosen best no unbiased ε-LDP randomizer of the unit sphere has a smaller worst-case E‖Y‖².

With γ > 0 the cap is smaller than the half sphere, and its loyalty may be larger for its mass:
κ = e^ε − 1 allows λ/(1 − λ) = κq, hence

.. math:: m(γ) = \frac{λA}{q} = \frac{κA(γ)}{1 + κq(γ)} .

In the classical description the cap is drawn with probability p = λ + (1−λ)q = e^εq/(e^εq + 1 − q).

**The best γ.** A' = −γf and q' = −f give m'(γ) = κf·(m(γ) − γ)/(1 + κq). As m(0) > 0, m rises until it meets the line
m = γ, whose crossing is downward and so the only one. *The best cap reaches down to the mean of the report:* γ = m(γ).
(d = 3: q = (1−γ)/2, A = (1−γ²)/4, and γ = tanh(ε/4).) Iterating γ ← m(γ) from 0 is Dinkelbach's method for this ratio:
it rises monotonically and ends quadratically, m' being 0 at the end.

**Consequences of γ = m**, for unit vectors v: the second moment along v is 1 more than across, so that the *covariance
is isotropic*, (1/m² − 1)/d·I. (In the computed randomizer γ and m differ by the rounding of λ, and the moments are
those of the computed one.)

**In floating point** λ is a multiple of 2⁻⁵³ below κq/(1 + κq) for a q that is certainly not above the mass of the
cap of this very γ, and m = λA/q belongs to this λ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue
from factormech.mechanisms.local.randomizers import caps
from factormech.mechanisms.local.randomizers.base import (
    check_batch,
    check_point,
    check_points,
    check_sums,
    lengths,
    units,
)
from factormech.mechanisms.local.randomizers.caps import MASS_MARGIN, cap_mass, cap_moment, draw_cap, gamma_ratio
from factormech.mechanisms.local.randomizers.subgaussian import axis_proxy
from factormech.privacy.guarantee import Guarantee, loss_of_ratio

# Caps.

# Work of one trial of a sum, in random numbers (some 10 ns each), above which it is refused: 10⁸ users and more.
SUM_WORK_LIMIT = 1e9
_CELLS = 2**20  # numbers that one block of users holds


@dataclass(frozen=True)
class CapRandomizer:
    """A randomizer whose loyal reports are uniform on a cap.

    Attributes
    ----------
    dimension, epsilon
        d and the promised ε.
    height
        γ, 0 ≤ γ < 1.
    loyalty
        λ, a multiple of 2⁻⁵³.
    mean
        m = E⟨Z, v⟩ of a unit vector; all reports have norm 1/m.
    loss
        An upper bound of the privacy loss.
    """

    name: ClassVar[str]
    delta: ClassVar[float] = 0.0

    dimension: int
    epsilon: float
    height: float
    loyalty: float
    mean: float
    loss: float

    @property
    def radius(self) -> float:
        return 1.0 / self.mean

    @property
    def squared_norm(self) -> float:
        return self.radius**2

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.delta)

    def privacy_loss(self) -> float:
        return self.loss

    # Exact moments ---------------------------------------------------------------------------------------------

    @property
    def free_moment(self) -> float:
        """s = 1/(dm²): the second moment of a free report in every direction."""
        return self.squared_norm / self.dimension

    @property
    def loyal_gain(self) -> float:
        """g = (d−1)γ/(dm): what a loyal report of a unit vector adds to the second moment along it."""
        return (self.dimension - 1) * self.height / (self.dimension * self.mean)

    @property
    def worst_second_moment(self) -> float:
        return self.free_moment + self.loyal_gain

    @property
    def worst_direction(self) -> float:
        r = min(0.5 * self.loyal_gain, 1.0)
        return self.free_moment + r * self.loyal_gain - r * r

    @cached_property
    def subgaussian_proxy(self) -> float:
        variance = self.worst_direction * self.mean**2
        return axis_proxy(self.dimension, self.height, self.loyalty, self.mean, variance) * self.squared_norm

    def second_moment(self, point: FloatArray) -> FloatArray:
        x = check_point(point, self.dimension)[None, :]
        v, r = units(x)[0], lengths(x)[0]
        across = self.free_moment - r * self.loyal_gain / max(self.dimension - 1, 1)
        return np.asarray(across * np.eye(self.dimension) + r * self.height / self.mean * np.outer(v, v))

    def covariance(self, point: FloatArray) -> FloatArray:
        x = check_point(point, self.dimension)
        return np.asarray(self.second_moment(x) - np.outer(x, x))

    def density(self, point: FloatArray, directions: FloatArray) -> FloatArray:
        x = check_point(point, self.dimension)[None, :]
        loyal = self.loyalty * lengths(x)[0]
        threshold = self.height if self.dimension > 1 else 0.5
        facing = directions @ units(x)[0] >= threshold
        return np.asarray(1 - loyal + np.where(facing, loyal / cap_mass(self.dimension, self.height), 0.0))

    # Sampling --------------------------------------------------------------------------------------------------

    def sample(self, points: FloatArray, rng: np.random.Generator) -> FloatArray:
        x = check_batch(points, self.dimension)
        reports = np.empty_like(x)
        block = max(1, _CELLS // self.dimension)
        for start in range(0, len(x), block):
            reports[start : start + block] = self._sample_block(x[start : start + block], rng)
        return reports

    def _sample_block(self, x: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Reports of few users: directions, and those of the loyal ones turned onto their caps."""
        Z = rng.standard_normal(x.shape)
        loyal = np.flatnonzero(rng.random(len(x)) < self.loyalty * lengths(x))
        v = units(x[loyal])
        if self.dimension == 1:
            Z[loyal] = v
        else:
            w = Z[loyal]
            w -= np.einsum("ui,ui->u", w, v)[:, None] * v
            along, across = draw_cap(len(loyal), self.dimension, self.height, rng)
            across /= np.sqrt(np.einsum("ui,ui->u", w, w))
            Z[loyal] = along[:, None] * v + across[:, None] * w
        Z *= (self.radius / np.sqrt(np.einsum("ui,ui->u", Z, Z)))[:, None]
        return np.asarray(Z)

    def sample_sums(self, points: FloatArray, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        x, counts, trials = check_sums(points, counts, trials, self.dimension)
        Z = caps.sample_sums(x, self.loyalty, self.height, counts, trials, rng, SUM_WORK_LIMIT)
        return np.asarray(self.radius * Z.T)

    def simulation_refusal(self, types: int, users: int) -> str:
        return caps.refusal(types, self.dimension, users, SUM_WORK_LIMIT)


# The half-sphere randomizer.

_UNIT = 2.0**-53


def half_sphere_radius(dimension: int, epsilon: float) -> float:
    """Norm B of every report: c·√π·Γ((d+1)/2)/Γ(d/2), c = 1/(2p − 1) for the p that is drawn with."""
    d = check_positive_integer("dimension", dimension)
    return math.sqrt(math.pi) * gamma_ratio(d) / (2 * facing_probability(epsilon) - 1)


def second_moment(dimension: int, epsilon: float) -> float:
    """E⟨θ, report⟩² for every unit vector θ, whatever the user's point: B²/d."""
    return half_sphere_radius(dimension, epsilon) ** 2 / dimension


def covariance(point: FloatArray, epsilon: float) -> FloatArray:
    """Exact covariance matrix (d × d) of the report of one ``point`` (d,): (B²/d)·I − xxᵀ."""
    x = check_points(np.asarray(point, dtype=np.float64)[None, :])[0]
    return second_moment(len(x), epsilon) * np.eye(len(x)) - np.outer(x, x)


def density(point: FloatArray, directions: FloatArray, epsilon: float) -> FloatArray:
    """Density of Z at unit vectors ``directions`` (N, d), against the uniform law on the sphere.

    (1+‖x‖)/2·f(⟨z, x⟩) + (1−‖x‖)/2·f(−⟨z, x⟩) with f = 2p on the facing half sphere and 2(1−p) on the
    other.
    """
    x = check_points(np.asarray(point, dtype=np.float64)[None, :])[0]
    towards = 0.5 * (1 + lengths(x[None, :])[0])
    facing = directions @ units(x[None, :])[0] >= 0
    p = facing_probability(epsilon)
    near, far = 2 * p, 2 * (1 - p)
    densities = np.where(facing, towards * near + (1 - towards) * far, towards * far + (1 - towards) * near)
    return np.asarray(densities)


def sample(points: FloatArray, epsilon: float, rng: np.random.Generator) -> FloatArray:
    """Independent reports (N, d) of the users whose points, in the unit ball, are the rows of ``points``.

    The privacy proof is for real arithmetic; floating-point samplers follow it up to rounding.
    """
    x = check_points(np.asarray(points, dtype=np.float64))
    N, d = x.shape
    B = half_sphere_radius(d, epsilon)
    Z = rng.standard_normal((N, d))
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    towards = rng.random(N) < 0.5 * (1 + lengths(x))
    facing = rng.random(N) < facing_probability(epsilon)
    # Z must face x exactly when the rounded vector is x and its half is drawn, or neither.
    faces = np.einsum("ui,ui->u", Z, units(x)) >= 0
    Z *= np.where(faces == (towards == facing), B, -B)[:, None]
    return Z


def facing_probability(epsilon: float) -> float:
    """p: the multiple of 2⁻⁵³ that is at most four of them below e^ε/(1 + e^ε) = (1 + tanh(ε/2))/2, never above.

    The hyperbolic tangent is off by two units in the last place at most, which are half as large in p, and the sum by
    half a unit: two units down are enough.
    """
    p = 0.5 + 0.5 * math.tanh(0.5 * check_epsilon(epsilon)) - 2 * _UNIT
    if p <= 0.5:
        rule = "be large enough for a probability above one half in steps of 2**-53"
        raise BadValue("epsilon", epsilon, rule, "give for example 0.001")
    return p


def privacy_loss(epsilon: float) -> float:
    """A rigorous upper bound of the loss log(p/(1 − p)) for the p that is drawn with, at most ε."""
    p = facing_probability(epsilon)
    return min(loss_of_ratio(p / (1 - p)), epsilon)  # below ε by the choice of p


def sample_sums(
    points: FloatArray, epsilon: float, counts: IntArray, trials: int, rng: np.random.Generator
) -> FloatArray:
    """Return ΣZ over the reports of ``counts`` users of each type, (d, trials); row u of ``points`` is type u."""
    loyalty = 2 * facing_probability(epsilon) - 1
    return caps.sample_sums(points, loyalty, 0.0, counts, trials, rng)


class HalfSphere(CapRandomizer):
    """The randomizer of the unit ball of ℝ^dimension: the cap of γ = 0, and λ = 2p − 1."""

    name: ClassVar[str] = "half-sphere"

    def __init__(self, dimension: int, epsilon: float) -> None:
        radius = half_sphere_radius(dimension, epsilon)
        loyalty = 2 * facing_probability(epsilon) - 1
        super().__init__(int(dimension), float(epsilon), 0.0, loyalty, 1.0 / radius, privacy_loss(epsilon))

    def _sample_block(self, x: FloatArray, rng: np.random.Generator) -> FloatArray:
        return sample(x, self.epsilon, rng)  # a reflection turns a direction onto its half: less work than a draw


# PrivUnit.

_STEP = 2.0**-53
_LARGEST_EPSILON = 650.0  # e^ε is a float
# 1 − γ falls as e^{−2ε/(d+1)}. More budget than 12(d+1) is not spent: it would bring 1/m nearer to 1 than 1e-10, by a
# cap that floats can no longer tell from a point.
_EPSILON_BY_DIMENSION = 12.0


class PrivUnit(CapRandomizer):
    """The randomizer of the unit ball of ℝ^dimension on the best cap."""

    name: ClassVar[str] = "priv-unit"

    def __init__(self, dimension: int, epsilon: float) -> None:
        d, epsilon = check_positive_integer("dimension", dimension), check_epsilon(epsilon)
        spent = min(epsilon, _LARGEST_EPSILON if d == 1 else _EPSILON_BY_DIMENSION * (d + 1))
        kappa = math.expm1(min(spent, _LARGEST_EPSILON))
        height = best_height(d, kappa)
        q = cap_mass(d, height)
        loyalty = loyal_probability(kappa * q * (1 - MASS_MARGIN))
        if loyalty <= 0:
            rule = "be large enough for a loyal report in steps of 2**-53"
            raise BadValue("epsilon", epsilon, rule, "give for example 0.001")
        mean = loyalty * cap_moment(d, height) / q
        ratio = 1 + loyalty / (1 - loyalty) / (q * (1 - MASS_MARGIN))
        super().__init__(d, epsilon, height, loyalty, mean, min(loss_of_ratio(ratio), epsilon))


def best_height(dimension: int, kappa: float) -> float:
    """γ = m(γ), from below; in one dimension, where all caps are one, 0."""
    if dimension == 1:
        return 0.0
    height = 0.0
    while True:
        mean = kappa * cap_moment(dimension, height) / (1 + kappa * cap_mass(dimension, height))
        if not mean > height:
            return height
        height = mean


def loyal_probability(odds: float) -> float:
    """The multiple of 2⁻⁵³ that is at most four of them below odds/(1 + odds), never above.

    The quotient is off by at most two of them when the odds themselves are off by a few units in their last place.
    """
    return (math.floor(odds / (1 + odds) / _STEP) - 3) * _STEP
