r"""Spherical caps: masses, moments, exact draws, and sums of the reports of a population.

**One cap.** This part has the mass and the moments of a cap, and exact draws from it. Let Z be uniform on the unit
sphere of ℝ^d and t = ⟨Z, v⟩ for a unit vector v. Its density is

.. math:: f(t) = c_d (1-t^2)^{(d-3)/2}, \qquad c_d = \frac{Γ(d/2)}{\sqrt{π}\,Γ((d-1)/2)} \quad (d \ge 2).

For the cap {t ≥ γ}, 0 ≤ γ < 1:

* mass q = ∫_γ f = ½I_{1−γ²}((d−1)/2, ½), the regularised incomplete beta function;
* first moment A = ∫_γ tf = c_d(1−γ²)^{(d−1)/2}/(d−1), for tf is the derivative of minus that;
* second moment T = ∫_γ t²f = γA + ∫_γ A(t)dt by parts, and A(t) = (1−t²)f(t)/(d−1), so that T = γA + (q−T)/(d−1):

.. math:: \mathbb{E}[t^2 \mid t \ge γ] = \frac{T}{q} = \frac1d\Bigl(1 + (d-1)\frac{γA}{q}\Bigr).

In one dimension t is a sign; every cap is the point v, and q = A = ½.

**Sums of reports.** The sum over a whole population is simulated exactly, with a few numbers for each user. A report
is a multiple of Z on the unit sphere of ℝ^d: half-sphere or PrivUnit (``cap_randomizers.py``). What an
estimate needs is the sum of all Z. Drawing each Z takes d normal numbers a user; three facts about its law make it
about two numbers a user, whatever d.

**Mixture.** With probability λr_u, r_u = ‖a_u‖, a report is *loyal*, uniform on a cap {⟨Z, â_u⟩ ≥ γ} around its user's
axis â_u; else it is *free*, uniform on the whole sphere whatever u. (The half sphere is the cap of γ = 0: Z faces â_u
with probability (1 + r_u(2p−1))/2, which is this mixture for λ = 2p − 1.) How many reports of a type are loyal is
binomial.

**Walks.** The sum of two independent isotropic vectors of lengths ρ, ρ' is isotropic of length √(ρ² + ρ'² + 2ρρ't), t
being one coordinate of a uniform unit vector. So a walk of M steps needs M − 1 such coordinates, taken pair by pair,
and in the end one direction: the free reports of all types are one walk.

**Loyal reports** of one type are Z = sâ_u + √(1−s²)w, w uniform on the unit sphere of the complement of â_u: the sum of
the s along the axis, and in its complement a walk of steps √(1−s²), in dimension d − 1. For the half sphere s = |t|.

In one dimension Z is a sign, the cap is a point, and the number of signs that face â_u is binomial at once.

No law is approximated. The numbers are NumPy's uniform, exponential, normal, gamma and binomial ones.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.errors import BadValue
from factormech.mechanisms.local.randomizers.base import check_points, lengths, units
from factormech.numerics.roots import bisect

# One cap.

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
    from factormech.mechanisms.local.randomizers.cap_kernels import draw_by_strips

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
    """Return q = tan²(φ/2) and 1 − R²; cos φ = (1 − q)/(1 + q) is faster than the cosine."""
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


# Sums of reports.

# Work of one trial, in uniform numbers (10 ns each), above which a simulation is refused: a fifth of a second of one
# core, so that a study of a thousand trials takes minutes.
WORK_LIMIT = 2e7
_WALK, _DIRECTION = 6.0, 2.0  # work of a user, and of a coordinate of the direction of a type; fitted to times
_CELLS_LIMIT = 2**20  # numbers held at once


def refusal(types: int, dimension: int, users: int, limit: float = WORK_LIMIT) -> str:
    """Why the reports of that many users of so many types cannot be simulated, or nothing."""
    work = _WALK * users + _DIRECTION * dimension * min(users, types)
    if dimension <= 1 or work <= limit:
        return ""
    return (
        f"simulating {users} reports takes the work of {work:.1e} random numbers a trial, above the limit of "
        f"{limit:.0e}; ask for fewer users"
    )


def sample_sums(
    points: FloatArray,
    loyalty: float,
    height: float,
    counts: IntArray,
    trials: int,
    rng: np.random.Generator,
    limit: float = WORK_LIMIT,
) -> FloatArray:
    """Return ΣZ over the reports of ``counts`` users of each type, (d, trials); row u of ``points`` is type u.

    ``loyalty`` is λ, ``height`` γ; ``limit`` the work of one trial above which the simulation is refused.
    """
    x = check_points(points)
    n, d = x.shape
    reason = refusal(n, d, int(counts.sum()), limit)
    if reason:
        raise BadValue("users", int(counts.sum()), "be few enough to simulate", reason)
    loyal, axes = lengths(x) * loyalty, units(x)
    if d == 1:
        return _sums_of_signs(axes[:, 0], loyal, counts, trials, rng)[None, :]
    found = np.zeros((trials, d))
    for part in _parts(counts):
        u = np.flatnonzero(part)
        block = max(1, _CELLS_LIMIT // max(int(part.sum()), len(u) * d))
        for start in range(0, trials, block):
            now = found[start : start + block]
            now += _sums(axes[u], loyal[u], height, part[u], len(now), rng)
    return found.T.copy()


def _parts(counts: IntArray) -> list[IntArray]:
    """The users cut into parts that fit, in the order of their types."""
    ends = np.cumsum(counts)
    cuts = range(0, int(ends[-1]), _CELLS_LIMIT)
    inside = [np.clip(ends - cut, 0, _CELLS_LIMIT) for cut in cuts]
    return [part - np.concatenate([[0], part[:-1]]) for part in inside]


def _sums_of_signs(
    axes: FloatArray, loyal: FloatArray, counts: IntArray, trials: int, rng: np.random.Generator
) -> FloatArray:
    """The sums in one dimension, (trials,)."""
    facing = rng.binomial(counts, 0.5 * (1 + loyal), size=(trials, len(counts)))
    return np.asarray((2 * facing - counts) @ axes)


def _sums(
    axes: FloatArray, loyal: FloatArray, height: float, counts: IntArray, trials: int, rng: np.random.Generator
) -> FloatArray:
    """The sums, (trials, d)."""
    n, d = axes.shape
    loyals = rng.binomial(counts, loyal, size=(trials, n))
    free = counts.sum() - loyals.sum(axis=1)
    found = walk_lengths(np.ones(int(free.sum())), free, d, rng)[:, None] * _directions((trials, d), rng)
    along, across = draw_cap(int(loyals.sum()), d, height, rng)
    group = np.repeat(np.arange(trials * n), loyals.ravel())
    ahead = np.bincount(group, weights=along, minlength=trials * n).reshape(trials, n)
    beside = walk_lengths(across, loyals.ravel(), d - 1, rng).reshape(trials, n)
    w = rng.standard_normal((trials, n, d))
    w -= np.einsum("tui,ui->tu", w, axes)[:, :, None] * axes
    beside /= np.sqrt(np.einsum("tui,tui->tu", w, w))
    return np.asarray(found + ahead @ axes + np.einsum("tu,tui->ti", beside, w))


def walk_lengths(steps: FloatArray, sizes: IntArray, dimension: int, rng: np.random.Generator) -> FloatArray:
    """Lengths of sums of independent isotropic vectors of the lengths ``steps``; each sum takes its size in turn."""
    square, sizes = steps**2, np.array(sizes, dtype=np.int64)
    while sizes.max(initial=0) > 1:
        square = square[: _joined(square, sizes, dimension, rng)]
    found = np.zeros(len(sizes))
    found[sizes > 0] = np.sqrt(square)
    return found


def _joined(square: FloatArray, sizes: IntArray, dimension: int, rng: np.random.Generator) -> int:
    """Join the steps of every walk two by two, in place; how many there are now."""
    from factormech.mechanisms.local.randomizers import cap_kernels

    if dimension >= STRIPS_FROM:
        return int(cap_kernels.join_by_strips(square, sizes, *strips(dimension), strip_power(dimension), rng))
    cosines = coordinate(int((sizes // 2).sum()), dimension, rng)
    return int(cap_kernels.join_pairs(square, sizes, cosines))


def _directions(shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """Uniform unit vectors, one a row."""
    Z = rng.standard_normal(shape)
    return np.asarray(Z / np.linalg.norm(Z, axis=1, keepdims=True))
