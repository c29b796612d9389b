r"""A spherical cap: its mass, its moments and exact draws from it.

Let Z be uniform on the unit sphere of ℝ^d and t = ⟨Z, v⟩ for a unit vector v. Its density is

.. math:: f(t) = c_d (1-t^2)^{(d-3)/2}, \qquad c_d = \frac{Γ(d/2)}{\sqrt{π}\,Γ((d-1)/2)} \quad (d \ge 2).

For the cap {t ≥ γ}, 0 ≤ γ < 1:

* mass q = ∫_γ f = ½I_{1−γ²}((d−1)/2, ½), the regularised incomplete beta function;
* first moment A = ∫_γ tf = c_d(1−γ²)^{(d−1)/2}/(d−1), for tf is the derivative of minus that;
* second moment T = ∫_γ t²f = γA + ∫_γ A(t)dt by parts, and A(t) = (1−t²)f(t)/(d−1), so that T = γA + (q−T)/(d−1):

.. math:: \mathbb{E}[t^2 \mid t \ge γ] = \frac{T}{q} = \frac1d\Bigl(1 + (d-1)\frac{γA}{q}\Bigr).

In one dimension t is a sign; every cap is the point v, and q = A = ½.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from factormech.arrays import FloatArray
from factormech.numerics.roots import bisect

# Relative error that the computed mass of a cap certainly keeps: a hundred times what has been seen up to d = 10⁶.
MASS_MARGIN = 1e-12
# Γ((d+1)/2)/Γ(d/2)/√(d/2) as a series in 1/d; used where the next term is below double precision.
_GAMMA_RATIO_SERIES = (1.0, -1 / 4, 1 / 32, 5 / 128, -21 / 2048, -399 / 8192, 869 / 65536, 39325 / 262144)
_GAMMA_RATIO_SERIES_FROM = 150
# Strips that cover the density of a coordinate, a power of two, and the dimension from which they are used.
STRIPS = 256
STRIPS_FROM = 4


def gamma_ratio(d: int) -> float:
    """Γ((d+1)/2)/Γ(d/2) to the last digits for every d (differences of log-gammas lose some)."""
    if d < _GAMMA_RATIO_SERIES_FROM:
        return math.gamma(0.5 * (d + 1)) / math.gamma(0.5 * d)
    return math.sqrt(0.5 * d) * math.fsum(a / d**j for j, a in enumerate(_GAMMA_RATIO_SERIES))


def cap_mass(dimension: int, height: float) -> float:
    """q, to ``MASS_MARGIN`` in relative error.

    The incomplete beta function is asked for at whichever of γ² and 1 − γ² is small, where the rounding of its argument
    does not grow in the tail. For caps near the half sphere its lower end is taken from ½: the upper end loses digits.
    """
    from scipy.special import betainc, betaincc

    d, g = dimension, height
    if d == 1:
        return 0.5
    a = 0.5 * (d - 1)
    if g * g * d < 1:
        return 0.5 - 0.5 * float(betainc(0.5, a, g * g))
    tail = betaincc(0.5, a, g * g) if g * g < 0.5 else betainc(a, 0.5, (1 - g) * (1 + g))
    return 0.5 * float(tail)


def cap_moment(dimension: int, height: float) -> float:
    """A = E[t; t ≥ γ]."""
    d, g = dimension, height
    if d == 1:
        return 0.5
    log_base = math.log1p(-g * g) if g * g < 0.5 else math.log1p(-g) + math.log1p(g)
    return gamma_ratio(d - 1) / math.sqrt(math.pi) / (d - 1) * math.exp(0.5 * (d - 1) * log_base)


def coordinate(size: int, dimension: int, rng: np.random.Generator) -> FloatArray:
    """One coordinate t of uniform unit vectors.

    From four dimensions on its density falls in |t|, and |t| is drawn by rejection from strips of equal area that cover
    it (Marsaglia & Tsang's ziggurat, J. Statistical Software 5(8), 2000, without a tail: the lowest strip has all of
    [0, 1]). Below, the squared length R² of two coordinates has 1 − R² = U^{2/(d−2)} with a uniform U, and their
    direction φ is uniform: t = R cos φ. In two dimensions R = 1, in one t is a sign.
    """
    if dimension == 1:
        return np.asarray(1.0 - 2.0 * rng.integers(0, 2, size), np.float64)
    if dimension >= STRIPS_FROM:
        return _by_strips(size, dimension, rng)
    q, left = _of_two(size, dimension, rng)
    return np.asarray((1.0 - q) / (1.0 + q) * np.sqrt(1.0 - left))


def coordinates(size: int, dimension: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """The same t, and √(1−t²), the length of the other coordinates: where t is made of R, by 1 − R² + R² sin²φ."""
    if dimension == 1:
        return coordinate(size, dimension, rng), np.zeros(size)
    if dimension >= STRIPS_FROM:
        t = _by_strips(size, dimension, rng)
        return t, np.asarray(np.sqrt((1.0 - t) * (1.0 + t)))
    q, left = _of_two(size, dimension, rng)
    square, down = 1.0 - left, 1.0 / (1.0 + q)
    return np.asarray((1.0 - q) * down * np.sqrt(square)), np.asarray(np.sqrt(left + square * (4.0 * q * down**2)))


def _by_strips(size: int, dimension: int, rng: np.random.Generator) -> FloatArray:
    from factormech.local.randomizers.cap_kernels import draw_by_strips

    found = np.empty(size)
    draw_by_strips(*strips(dimension), strip_power(dimension), rng, found)
    return found


def strip_power(dimension: int) -> float:
    """The power of 1 − t² in the density of a coordinate."""
    return 0.5 * (dimension - 3)


@functools.lru_cache(maxsize=64)
def strips(dimension: int) -> tuple[FloatArray, FloatArray]:
    """Edges x and heights y of strips [0, x_i] × [y_i, y_{i+1}] of one area that cover the graph of (1−x²)^{(d−3)/2}.

    x_0 = 1, y_0 = 0; then y_{i+1} = y_i + V/x_i, and x_{i+1} is where the graph has that height. V is the least area at
    which ``STRIPS`` of them reach the top, 1. Whatever V is, draws from the strips that are kept below the graph have
    its law: only the equality of the areas matters, and it holds to rounding.
    """
    least = bisect(lambda area: _stacked(dimension, area)[1][-1] >= 1.0, 0.0, 1.0)[1]
    edges, heights = _stacked(dimension, least)
    return np.array(edges), np.array(heights)


def _stacked(dimension: int, area: float) -> tuple[list[float], list[float]]:
    """The strips of this area, the last of them on top; where fewer are enough, the others have a length of 0."""
    power = strip_power(dimension)
    edges, heights = [1.0], [0.0]
    for _ in range(STRIPS):
        heights.append(heights[-1] + area / edges[-1] if edges[-1] > 0.0 else math.inf)
        edges.append(math.sqrt(-math.expm1(math.log(heights[-1]) / power)) if heights[-1] < 1.0 else 0.0)
    return edges, heights


def _of_two(size: int, dimension: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """q = tan²(φ/2), of which cos φ = (1 − q)/(1 + q) comes faster than by the cosine, and 1 − R²."""
    half = rng.random(size)
    half -= 0.5
    half *= math.pi
    q = np.tan(half, out=half)
    q *= q
    if dimension == 2:
        return q, np.zeros(size)
    left = rng.standard_exponential(size)
    left *= -2.0 / (dimension - 2)
    return q, np.exp(left, out=left)


def draw_cap(size: int, dimension: int, height: float, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """t given t ≥ γ, and √(1−t²): exact, by rejection.

    * γ√d < 1: draws of |t| are kept if they reach γ (a third of them or more);
    * else u = 1 − t² has density ∝ u^{(d−3)/2}(1 − u)^{−1/2} on (0, 1 − γ²]: draws (1 − γ²)·B^{2/(d−1)}, B uniform,
      have the first factor and are kept with probability γ/t (three fifths of them or more).
    """
    if dimension == 1:
        return np.ones(size), np.zeros(size)
    if height == 0.0:
        along, across = coordinates(size, dimension, rng)
        return np.asarray(np.abs(along)), across
    found, beside, filled = np.empty(size), np.empty(size), 0
    while filled < size:
        missing = size - filled
        along, across = _proposals(missing + missing // 2 + 16, dimension, height, rng)
        taken = min(missing, len(along))
        found[filled : filled + taken], beside[filled : filled + taken] = along[:taken], across[:taken]
        filled += taken
    return found, beside


def _proposals(size: int, dimension: int, height: float, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """The draws of t and √(1−t²) that are kept, out of ``size``."""
    if height * height * dimension < 1:
        along, across = coordinates(size, dimension, rng)
        along = np.abs(along)
        kept = along >= height
    else:
        largest = (1 - height) * (1 + height)
        u = largest * rng.random(size) ** (2.0 / (dimension - 1))
        along, across = np.maximum(np.sqrt(1 - u), height), np.sqrt(u)
        kept = rng.random(size) * along < height
    return along[kept], across[kept]
