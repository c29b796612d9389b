r"""Reports on spherical caps: what half-sphere and PrivUnit have in common.

A user with point x, ‖x‖ = r ≤ 1, x = r·v, in dimension d reports Y = Z/m, Z on the unit sphere:

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
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.local.randomizers import cap_sums
from factormech.local.randomizers.base import check_batch, check_point, check_sums, lengths, units
from factormech.local.randomizers.caps import cap_mass, draw_cap
from factormech.local.randomizers.subgaussian import axis_proxy
from factormech.privacy import Guarantee

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
        Z = cap_sums.sample_sums(x, self.loyalty, self.height, counts, trials, rng, SUM_WORK_LIMIT)
        return np.asarray(self.radius * Z.T)

    def simulation_refusal(self, types: int, users: int) -> str:
        return cap_sums.refusal(types, self.dimension, users, SUM_WORK_LIMIT)
