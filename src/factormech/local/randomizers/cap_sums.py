r"""Simulate the sum of the reports of a whole population on spherical caps, exactly, with a few numbers for each user.

A report is a multiple of Z on the unit sphere of ℝ^d: half-sphere (``half_sphere.py``), PrivUnit (``priv_unit.py``).
What an estimate needs is the sum of all Z. Drawing each Z takes d normal numbers a user; three facts about its law make
it about two numbers a user, whatever d.

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

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.errors import BadValue
from factormech.local.randomizers.base import check_points, lengths, units
from factormech.local.randomizers.caps import STRIPS_FROM, coordinate, draw_cap, strip_power, strips

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
    """ΣZ over the reports of ``counts`` users, the points of whose types are the rows of ``points``, (d, trials).

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
    from factormech.local.randomizers import cap_kernels

    if dimension >= STRIPS_FROM:
        return int(cap_kernels.join_by_strips(square, sizes, *strips(dimension), strip_power(dimension), rng))
    cosines = coordinate(int((sizes // 2).sum()), dimension, rng)
    return int(cap_kernels.join_pairs(square, sizes, cosines))


def _directions(shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """Uniform unit vectors, one a row."""
    Z = rng.standard_normal(shape)
    return np.asarray(Z / np.linalg.norm(Z, axis=1, keepdims=True))
