r"""The half-sphere randomizer: a pure ε-LDP, unbiased report of a point of the Euclidean unit ball.

Duchi, Jordan & Wainwright (JASA 113, 2018); stated in this form in Edmonds, Nikolov & Ullman (STOC
2020, Lemma 9) after Blasiok, Bun, Nikolov & Steinke (SODA 2019).

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
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue
from factormech.local.randomizers import cap_sums
from factormech.local.randomizers.base import check_points, lengths, units
from factormech.local.randomizers.cap_randomizer import CapRandomizer
from factormech.local.randomizers.caps import gamma_ratio
from factormech.privacy import loss_of_ratio

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
    """ΣZ over the reports of ``counts`` users, the points of whose types are the rows of ``points``, (d, trials)."""
    loyalty = 2 * facing_probability(epsilon) - 1
    return cap_sums.sample_sums(points, loyalty, 0.0, counts, trials, rng)


class HalfSphere(CapRandomizer):
    """The randomizer of the unit ball of ℝ^dimension: the cap of γ = 0, and λ = 2p − 1."""

    name: ClassVar[str] = "half-sphere"

    def __init__(self, dimension: int, epsilon: float) -> None:
        radius = half_sphere_radius(dimension, epsilon)
        loyalty = 2 * facing_probability(epsilon) - 1
        super().__init__(int(dimension), float(epsilon), 0.0, loyalty, 1.0 / radius, privacy_loss(epsilon))

    def _sample_block(self, x: FloatArray, rng: np.random.Generator) -> FloatArray:
        return sample(x, self.epsilon, rng)  # a reflection turns a direction onto its half: less work than a draw
