r"""Compiled walks over the facet cones of a polytope conv(±a_1, …, ±a_N) in R^m: its gauge, and a particle in it.

**Cones.** The gauge ‖z‖ = min{‖u‖₁ : Au = z} is a linear program. Its dual, max{⟨η, z⟩ : |⟨a_i, η⟩| ≤ 1}, is attained
at a vertex η of the polar polytope, where m independent columns a_i (the *basis*) have ⟨a_i, η⟩ = s_i = ±1. On the cone
of the points whose coefficients u = A_B^{-1}z have the signs s, the gauge is the linear function ⟨η, z⟩. The cones of
all such vertices cover the space, and a line leaves one where a coefficient u_r reaches 0.

**Crossing** is one pivot of the dual simplex method: with ρ = row r of A_B^{-1} and α = Aᵀρ, the dual point moves along
−s_r ρ until a column q meets its bound ±1, and q takes the place of r (or r itself reaches its other bound, −s_r, and
only changes its sign). Ties, of which symmetric bodies are full, are met by a ratio test of two passes (Harris,
Mathematical Programming 5, 1973): the smallest step with the bounds relaxed by ``SLACK``, then among the columns within
it the one of largest |α_q|. The columns are never perturbed. Cost O(mN + m²).

**Rounding.** Every ``REFRESH`` walls the inverse is checked from both sides (Freivalds' checks of a product: O(m²),
where an inverse takes O(m³)): s·A_B^{-1}, which is η, times A_B is compared with s, and A_B times the coefficients of
the point at which the walk is, a point in no special position, with that point. Where they differ by more than
``DRIFT`` the inverse is computed afresh, and in any case after ``OLDEST`` walls; η and all levels are computed afresh
every time.

**The particle.** The density exp(−‖z‖) has a potential that is linear on every cone, so the bouncy particle sampler
(Bouchard-Côté, Vollmer & Doucet, JASA 113, 2018) can be followed exactly: it moves on straight lines with velocity w,
bounces, w ← w − 2⟨w, η⟩η/‖η‖², at the rate max(0, ⟨w, η⟩), which is constant on a cone, and takes a new
w ~ N(0, I) at a constant rate. At those instants the gauge may be drawn afresh too (``radial``): it is Gamma(d) and
independent of the ray, so this is a step of Gibbs sampling, and the slowest coordinate of the process mixes at once.
Only rounding separates the path from the process.

**Lifted** bodies have a last coordinate that is 0 on every path: it makes the coefficients sum to 0 (see
:mod:`factormech.central.pure.bodies`). Only the first d = m − 1 coordinates move.

Importing this module imports numba, so its users import it where they need it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.compiled import compiled

REFRESH = 50  # walls between two checks of the inverse
OLDEST = 500  # and walls after which it is computed afresh, whatever they find
DRIFT = 1e-11  # by how much a level of the basis may be off ±1, and a point off itself, relatively
SLACK = 1e-10  # by which the first pass of the ratio test relaxes the bounds ±1
TIGHT = 1e-12  # and what is left of a bound at least, where rounding has passed it
_LINE = 8  # numbers in a cache line
_SMALL = 1e-9  # entries of α, next to its largest, on which no pivot may stand


RESTS, LOST = 0, 1  # how a walk ended: where it was sent; or no column could enter (rounding has won)


class Cone(NamedTuple):
    """A facet cone, as arrays that the kernels change in place.

    ``columns`` are the a_i as lines, (N, m), and ``entries`` the same with a line for each coordinate, which begins
    with a cache line and has zeros behind the N columns: BLAS then makes a product with all of them in half the time.
    ``inverse`` is A_B^{-1}, one line for each coefficient; ``levels`` are ⟨a_i, η⟩ for every i, and 0 of the zeros;
    ``pivot`` is room for α; ``age`` counts walls since the inverse was computed.
    """

    columns: FloatArray
    entries: FloatArray
    basis: IntArray
    signs: FloatArray
    inverse: FloatArray
    dual: FloatArray
    levels: FloatArray
    pivot: FloatArray
    age: IntArray


def cone_of(columns: FloatArray, basis: IntArray, signs: FloatArray) -> Cone:
    """The cone of a basis and its signs, which it keeps and changes."""
    N, m = columns.shape
    padded = -(-N // _LINE) * _LINE
    cone = Cone(
        columns=columns,
        entries=_aligned(m * padded).reshape(m, padded),
        basis=basis,
        signs=signs,
        inverse=np.empty((m, m)),
        dual=np.empty(m),
        levels=_aligned(padded),
        pivot=_aligned(padded),
        age=np.zeros(1, dtype=np.int64),
    )
    cone.entries[:, :N] = columns.T
    renew(cone)
    return cone


def _aligned(size: int) -> FloatArray:
    """Zeros that begin with a cache line."""
    room = np.zeros(size + _LINE)
    start = -(room.ctypes.data // room.itemsize) % _LINE
    return room[start : start + size]


@compiled()
def renew(cone: Cone) -> None:
    """The inverse, η and the levels computed from the basis and its signs alone."""
    m = cone.columns.shape[1]
    basis_matrix = np.empty((m, m))
    for j in range(m):
        basis_matrix[:, j] = cone.columns[cone.basis[j]]
    cone.inverse[:, :] = np.linalg.inv(basis_matrix)
    cone.dual[:] = np.dot(cone.signs, cone.inverse)
    np.dot(cone.dual, cone.entries, cone.levels)
    cone.age[0] = 0


@compiled()
def check(cone: Cone, point: FloatArray) -> None:
    """η and the levels computed from the inverse; the inverse too where it is old, or fails at bounds or the point."""
    cone.dual[:] = np.dot(cone.signs, cone.inverse)
    np.dot(cone.dual, cone.entries, cone.levels)
    sound = cone.age[0] < OLDEST
    for j in range(cone.basis.size):
        sound = sound and abs(cone.levels[cone.basis[j]] - cone.signs[j]) <= DRIFT
    off, coefficients = -point, np.dot(cone.inverse, point)
    for j in range(cone.basis.size):
        off += coefficients[j] * cone.columns[cone.basis[j]]
    sound = sound and np.abs(off).max() <= DRIFT * np.abs(point).max()
    if not sound:
        renew(cone)


@compiled()
def largest_of(values: FloatArray) -> float:
    """The largest of numbers of at least 0: of their bits, which are in the same order and which vectors compare."""
    bits = values.view(np.int64)
    largest = np.int64(0)
    for i in range(bits.size):
        largest = max(largest, bits[i])
    return float(np.array([largest]).view(np.float64)[0])


@compiled()
def smallest_of(values: FloatArray) -> float:
    """The smallest of numbers of at least 0, or infinity: by their bits too."""
    bits = values.view(np.int64)
    smallest = np.array([np.inf]).view(np.int64)[0]
    for i in range(bits.size):
        smallest = min(smallest, bits[i])
    return float(np.array([smallest]).view(np.float64)[0])


@compiled(error_model="numpy")
def entering(cone: Cone, sign: float) -> int:
    """The column that meets its bound first when η moves along −sign·ρ; −1 if there is none.

    Its loops have no branches, and no minimum of floats, so that all of them run on vectors: the ratio test is half of
    a crossing where m is small. The smallest step is sought as the largest speed, its inverse.
    """
    alpha, levels = cone.pivot, cone.levels
    sizes, room = np.abs(alpha), np.empty(alpha.size)
    small = _SMALL * largest_of(sizes)
    for i in range(alpha.size):
        room[i] = 1.0 + (-levels[i] if -sign * alpha[i] > 0.0 else levels[i])
    speed = np.empty(alpha.size)
    for i in range(alpha.size):
        speed[i] = (sizes[i] if sizes[i] > small else 0.0) / max(room[i] + SLACK, TIGHT)
    step = 1.0 / largest_of(speed)
    for i in range(alpha.size):
        sizes[i] = sizes[i] if (sizes[i] > small) & (room[i] <= step * sizes[i]) else 0.0
    best = largest_of(sizes)
    if best == 0.0:
        return -1
    for i in range(alpha.size):
        if sizes[i] == best:
            return i
    return -1


@compiled()
def cross(cone: Cone, r: int, u: FloatArray, du: FloatArray) -> bool:
    """Cross the wall u_r = 0 into the next cone; u and its rate du follow. False if no column can enter."""
    rho = cone.inverse[r].copy()
    np.dot(rho, cone.entries, cone.pivot)
    sign = cone.signs[r]
    q = entering(cone, sign)
    if q < 0:
        return False
    slope = -sign * cone.pivot[q]
    room = 1.0 - cone.levels[q] if slope > 0.0 else 1.0 + cone.levels[q]
    step = max(0.0, room / abs(slope))
    for i in range(cone.levels.size):
        cone.levels[i] -= step * sign * cone.pivot[i]
    for j in range(rho.size):
        cone.dual[j] -= step * sign * rho[j]
    cone.signs[r] = 1.0 if slope > 0.0 else -1.0
    cone.age[0] += 1
    if q == cone.basis[r]:
        return True
    exchange(cone, r, q, u, du)
    return True


@compiled()
def exchange(cone: Cone, r: int, q: int, u: FloatArray, du: FloatArray) -> None:
    """Column q in the place of the r-th of the basis: a rank-one change of the inverse, of u (with u_r = 0) and du."""
    weights = np.dot(cone.inverse, cone.columns[q])
    line, rate = cone.inverse[r] / weights[r], du[r] / weights[r]
    for i in range(weights.size):
        weight, other = weights[i], cone.inverse[i]
        for j in range(line.size):
            other[j] -= weight * line[j]
        du[i] -= weight * rate
    cone.inverse[r] = line
    u[r], du[r] = 0.0, rate
    cone.basis[r] = q


@compiled(error_model="numpy")
def next_wall(signs: FloatArray, u: FloatArray, du: FloatArray) -> tuple[float, int]:
    """When the first coefficient reaches 0, and which; infinity and −1 if none does. No branches, as above."""
    due = np.empty(u.size)
    for j in range(u.size):
        left, closing = signs[j] * u[j], -signs[j] * du[j]
        due[j] = (0.0 if left <= 0.0 else left) / closing if closing > 0.0 else np.inf
    time = smallest_of(due)
    for j in range(u.size):
        if due[j] == time < np.inf:
            return time, j
    return np.inf, -1


@compiled()
def walk(cone: Cone, start: FloatArray, goal: FloatArray, u: FloatArray, limit: int) -> tuple[int, int]:
    """From ``start``, inside the cone, on a straight line to ``goal``: how it ended, and the walls crossed.

    ``u`` are the coefficients of the start, and then of the goal. Both points have all m coordinates.
    """
    move = goal - start
    du = np.dot(cone.inverse, move)
    at = 0.0
    for crossed in range(limit):
        time, r = next_wall(cone.signs, u, du)
        if at + time >= 1.0:
            renew(cone)
            u[:] = np.dot(cone.inverse, goal)
            return RESTS, crossed
        at += time
        for j in range(u.size):
            u[j] += time * du[j]
        if not cross(cone, r, u, du):
            return LOST, crossed
        if cone.age[0] % REFRESH == 0:
            check(cone, start + at * move)
            u[:] = np.dot(cone.inverse, start + at * move)
            du = np.dot(cone.inverse, move)
    return LOST, limit


@compiled()
def gauges(cone: Cone, start: FloatArray, points: FloatArray, found: FloatArray, upper: FloatArray, limit: int) -> int:
    """‖z‖ of each line of ``points``, every walk from where the last ended; how many were found.

    ``found`` is ⟨η, z⟩ divided by max|⟨a_i, η⟩|, a lower bound whatever η is; ``upper`` is ‖u‖₁, an upper bound.
    """
    here = start.copy()
    u = np.dot(cone.inverse, here)
    for t in range(len(points)):
        ended, _ = walk(cone, here, points[t], u, limit)
        if ended != RESTS:
            return t
        here = points[t].copy()
        found[t] = np.dot(cone.dual, here) / max(1.0, np.abs(cone.levels).max())
        upper[t] = np.abs(u).sum()
    return len(points)


@compiled()
def turn(cone: Cone, lifted: int, velocity: FloatArray, rng: np.random.Generator, afresh: bool) -> None:
    """A new velocity, or a bounce off the level sets of the cone."""
    d = velocity.size - lifted
    if afresh:
        for j in range(d):
            velocity[j] = rng.standard_normal()
        return
    along, size = 0.0, 0.0
    for j in range(d):
        along += velocity[j] * cone.dual[j]
        size += cone.dual[j] * cone.dual[j]
    for j in range(d):
        velocity[j] -= 2.0 * along / size * cone.dual[j]


@compiled()
def climb(cone: Cone, lifted: int, velocity: FloatArray) -> float:
    """⟨w, η⟩ over the coordinates that move: how fast the gauge grows."""
    total = 0.0
    for j in range(velocity.size - lifted):
        total += velocity[j] * cone.dual[j]
    return total


@compiled()
def gap(cone: Cone, place: FloatArray) -> float:
    """How far the gauge may be off, next to itself: the two bounds that the cone proves of it."""
    upper = np.abs(np.dot(cone.inverse, place)).sum()
    largest = 1.0
    for i in range(cone.levels.size):
        largest = max(largest, abs(cone.levels[i]))
    return float((upper - np.dot(cone.dual, place) / largest) / upper)


@compiled()
def rescale(cone: Cone, lifted: int, place: FloatArray, rng: np.random.Generator) -> None:
    """The same ray at a gauge drawn afresh from its law, Gamma(d), which does not depend on the ray."""
    factor = rng.standard_gamma(place.size - lifted) / climb(cone, 0, place)
    for j in range(place.size):
        place[j] *= factor


@compiled()
def bounce(
    cone: Cone,
    lifted: int,
    place: FloatArray,
    velocity: FloatArray,
    refreshment: float,
    interval: float,
    radial: bool,
    rng: np.random.Generator,
    places: FloatArray,
    gauge: FloatArray,
    counts: IntArray,
    residual: FloatArray,
) -> int:
    """The bouncy particle sampler: its place and gauge every ``interval`` of time, into ``places`` and ``gauge``.

    ``counts`` gathers walls crossed, bounces and refreshments, ``residual`` the largest :func:`gap`. Returns how
    many places were recorded: all, but where rounding left no column to enter.
    """
    u, du = np.dot(cone.inverse, place), np.dot(cone.inverse, velocity)
    rate = climb(cone, lifted, velocity)
    budget, fresh, record = rng.standard_exponential(), rng.standard_exponential() / refreshment, interval
    recorded = 0
    while recorded < len(places):
        wall, r = next_wall(cone.signs, u, du)
        hit = budget / rate if rate > 0.0 else np.inf
        time = min(min(wall, hit), min(fresh, record))
        for j in range(u.size):
            u[j] += time * du[j]
            place[j] += time * velocity[j]
        budget -= time * max(rate, 0.0)
        fresh -= time
        record -= time
        if time == wall:
            counts[0] += 1
            if not cross(cone, r, u, du):
                return recorded
            if cone.age[0] % REFRESH == 0:
                check(cone, place)
                u, du = np.dot(cone.inverse, place), np.dot(cone.inverse, velocity)
        elif time == record:
            places[recorded] = place
            gauge[recorded] = climb(cone, 0, place)
            residual[0] = max(residual[0], gap(cone, place))
            recorded += 1
            record = interval
        else:
            afresh = time == fresh
            counts[2 if afresh else 1] += 1
            turn(cone, lifted, velocity, rng, afresh)
            du = np.dot(cone.inverse, velocity)
            if afresh:
                fresh = rng.standard_exponential() / refreshment
                if radial:
                    rescale(cone, lifted, place, rng)
                    # A scaled u would keep the rounding of the old gauge: small next to it, not next to the new one.
                    u = np.dot(cone.inverse, place)
            else:
                budget = rng.standard_exponential()
        rate = climb(cone, lifted, velocity)
    return recorded
