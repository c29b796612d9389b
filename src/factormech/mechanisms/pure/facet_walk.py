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

**Columns near their bounds** alone are looked at where there are ``MANY``. A survey computes all levels ⟨a_i, η₀⟩;
while the η of a wall and its relaxed step are within a *reach* t of η₀, |⟨a_i, η − η₀⟩| ≤ ‖a_i‖t (Cauchy & Schwarz, in
a norm that weights the coordinates), so that a column with 1 − |⟨a_i, η₀⟩| > ‖a_i‖t meets no bound, and enters no ratio
test. Where η leaves the reach there is a new survey first: the column that enters is the one of all N.

**Rounding.** Every ``REFRESH`` walls the inverse is checked from both sides (Freivalds' checks of a product: O(m²),
where an inverse takes O(m³)): s·A_B^{-1}, which is η, times A_B is compared with s, and A_B times the coefficients of
the point at which the walk is, a point in no special position, with that point. Where they differ by more than
``DRIFT`` the inverse is computed afresh, and in any case after ``OLDEST`` walls; η and all levels are computed afresh
every time. A pivot below ``SHARP``, or above its inverse, leads into a basis that is nearly singular or out of one: the
inverse is computed afresh at once, as its errors would stay when the basis is a good one again.

**The particle.** The density exp(−‖z‖) has a potential that is linear on every cone, so the bouncy particle sampler
(Bouchard-Côté, Vollmer & Doucet, JASA 113, 2018) can be followed exactly: it moves on straight lines with velocity w,
bounces, w ← w − 2⟨w, η⟩η/‖η‖², at the rate max(0, ⟨w, η⟩), which is constant on a cone, and takes a new
w ~ N(0, I) at a constant rate. At those instants the gauge may be drawn afresh too (``radial``): it is Gamma(d) and
independent of the ray, so this is a step of Gibbs sampling, and the slowest coordinate of the process mixes at once.
Only rounding separates the path from the process.

**Lifted** bodies have a last coordinate that is 0 on every path: it makes the coefficients sum to 0 (see
:mod:`factormech.mechanisms.pure.bodies`). Only the first d = m − 1 coordinates move.

Importing this module imports numba, so its users import it where they need it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.compiled import compiled

REFRESH = 50  # walls between two checks of the inverse
OLDEST = 500  # and walls after which it is computed afresh, whatever they find
DRIFT = 1e-11  # by how much a level of the basis may be off ±1, and a point off itself, relatively
SLACK = 1e-10  # by which the first pass of the ratio test relaxes the bounds ±1
TIGHT = 1e-12  # and what is left of a bound at least, where rounding has passed it
FAR = 1e-9  # by how much a column that is not looked at stays within ±1: more than the bounds are relaxed by
MANY = 512  # columns from which on those near their bounds are gathered
_CHANGED = 1.1  # by how much a reach grows or shrinks
_PATIENCE = 2.0  # walls at which all columns are looked at after one long step has asked for it
_LINE = 8  # numbers in a cache line
SHARP = 1e-4  # how small a pivot may be, and its inverse, for the inverse not to be computed afresh
_SMALL = 1e-9  # entries of α, next to its largest, on which no pivot may stand


RESTS, LOST = 0, 1  # how a walk ended: where it was sent; or no column could enter (rounding has won)


class Cone(NamedTuple):
    """A facet cone, as arrays that the kernels change in place.

    ``columns`` are the a_i as lines, (N, m), and ``entries`` the same with a line for each coordinate, which begins
    with a cache line and has zeros behind the N columns: BLAS then makes a product with all of them in half the time.
    ``inverse`` is A_B^{-1}, one line for each coefficient; ``levels`` are ⟨a_i, η⟩ for every i, and 0 of the zeros,
    at the dual point ``seen`` of the last survey; ``age`` counts walls since the inverse was computed.

    Of the columns ``near`` their bounds, and zeros up to a whole cache line, ``near_levels`` and ``near_entries`` are
    the like at η itself; ``looked`` is how many they are, and at how many walls they were looked at; ``pivot`` is room
    for their α. ``place`` has the place of every column in the basis, or −1. ``scales`` weight the coordinates of a
    norm in which the a_i have the ``sizes``, and ``reach`` is how far in the dual norm η may be from ``seen``: what the
    next survey begins with, and now, infinite where all columns are looked at; and at how many walls they are.
    """

    columns: FloatArray
    entries: FloatArray
    basis: IntArray
    signs: FloatArray
    inverse: FloatArray
    dual: FloatArray
    levels: FloatArray
    age: IntArray
    place: IntArray
    scales: FloatArray
    sizes: FloatArray
    seen: FloatArray
    reach: FloatArray
    looked: IntArray
    near: IntArray
    near_levels: FloatArray
    near_entries: FloatArray
    pivot: FloatArray


def cone_of(columns: FloatArray, basis: IntArray, signs: FloatArray) -> Cone:
    """The cone of a basis and its signs, which it keeps and changes."""
    N, m = columns.shape
    padded = -(-N // _LINE) * _LINE
    scales = np.sqrt((columns**2).mean(axis=0))
    scales[scales == 0.0] = 1.0
    place = np.full(N, -1, dtype=np.int64)
    place[basis] = np.arange(m)
    cone = Cone(
        columns=columns,
        entries=_aligned(m * padded).reshape(m, padded),
        basis=basis,
        signs=signs,
        inverse=np.empty((m, m)),
        dual=np.empty(m),
        levels=_aligned(padded),
        age=np.zeros(1, dtype=np.int64),
        place=place,
        scales=scales,
        sizes=np.linalg.norm(columns / scales, axis=1) * (1.0 + 1e-12),
        seen=np.empty(m),
        reach=np.array([1.0 / m if N >= MANY else np.inf, np.inf, np.inf]),
        looked=np.zeros(2, dtype=np.int64),
        near=np.zeros(padded, dtype=np.int64),
        near_levels=_aligned(padded),
        near_entries=_aligned(m * padded),
        pivot=_aligned(padded),
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
def survey(cone: Cone, due: float) -> None:
    """All levels computed from η, and the columns gathered that may meet a bound while η moves by less than the reach.

    The reach is ``due`` at least, and follows the work: it shrinks where more α were computed since the last survey
    than a survey costs, and grows where fewer were before η had gone too far. Where half of the columns are near, all
    are looked at where they are: then η may move anywhere.
    """
    N = cone.columns.shape[0]
    np.dot(cone.dual, cone.entries, cone.levels)
    if cone.looked[0] * cone.looked[1] > N and cone.reach[2] == np.inf:
        cone.reach[0] /= _CHANGED
    elif due > 0.0:
        cone.reach[0] *= _CHANGED
    reach = max(cone.reach[0], 1.5 * due)
    found = 0
    if reach < np.inf:
        cone.seen[:] = cone.dual
        for i in range(N):
            cone.near[found] = i
            close = (1.0 - FAR - abs(cone.levels[i]) <= reach * cone.sizes[i]) & (cone.place[i] < 0)
            found += 1 if close else 0
    whole = reach == np.inf or 2 * found > N
    cone.looked[0], cone.looked[1] = N if whole else found, 0
    cone.reach[1] = np.inf if whole else reach
    cone.reach[2] = _PATIENCE if whole and reach > cone.reach[0] else np.inf
    if not whole:
        gather(cone, found)


@compiled()
def gather(cone: Cone, found: int) -> None:
    """The levels and entries of the columns near their bounds, a cache line of each coordinate at a time."""
    m = cone.columns.shape[1]
    room = -(-found // _LINE) * _LINE
    cone.near[found:room] = 0
    for e in range(room):
        cone.near_levels[e] = cone.levels[cone.near[e]] if e < found else 0.0
    for start in range(0, room, _LINE):
        for j in range(m):
            line = cone.near_entries[j * room + start : j * room + start + _LINE]
            for e in range(_LINE):
                line[e] = cone.columns[cone.near[start + e], j]
    for e in range(found, room):
        for j in range(m):
            cone.near_entries[j * room + e] = 0.0


@compiled()
def renew(cone: Cone) -> None:
    """The inverse, η and the levels computed from the basis and its signs alone."""
    m = cone.columns.shape[1]
    basis_matrix = np.empty((m, m))
    for j in range(m):
        basis_matrix[:, j] = cone.columns[cone.basis[j]]
    cone.inverse[:, :] = np.linalg.inv(basis_matrix)
    cone.dual[:] = np.dot(cone.signs, cone.inverse)
    cone.age[0] = 0
    survey(cone, 0.0)


@compiled()
def check(cone: Cone, point: FloatArray) -> None:
    """η and the levels computed from the inverse; the inverse too where it is old, or fails at bounds or the point."""
    cone.dual[:] = np.dot(cone.signs, cone.inverse)
    survey(cone, 0.0)
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
    most = np.int64(0)
    for i in range(bits.size):
        most = max(most, bits[i])
    return np.int64(most).view(np.float64)


@compiled()
def smallest_of(values: FloatArray) -> float:
    """The smallest of one or more numbers of at least 0: by their bits too."""
    bits = values.view(np.int64)
    least = np.int64(bits[0])
    for i in range(1, bits.size):
        least = min(least, bits[i])
    return np.int64(least).view(np.float64)


@compiled(error_model="numpy")
def entering(alpha: FloatArray, levels: FloatArray, sign: float) -> tuple[int, float]:
    """Which of the columns near their bounds meets one first when η moves along −sign·ρ, and the relaxed step.

    The leaving column, of α = 1, is 2 from its other bound: −1 stands for it, −2 for none, which only NaNs can bring.
    The loops have no branches, and no minimum of floats, so that all of them run on vectors: the ratio test is half
    of a crossing where m is small. The smallest step is sought as the largest speed, its inverse.
    """
    sizes, room = np.abs(alpha), np.empty(alpha.size)
    small = _SMALL * max(largest_of(sizes), 1.0)
    for i in range(alpha.size):
        room[i] = 1.0 + (-levels[i] if -sign * alpha[i] > 0.0 else levels[i])
    speed = np.empty(alpha.size)
    for i in range(alpha.size):
        speed[i] = (sizes[i] if sizes[i] > small else 0.0) / max(room[i] + SLACK, TIGHT)
    step = 1.0 / max(largest_of(speed), 1.0 / (2.0 + SLACK))
    for i in range(alpha.size):
        sizes[i] = sizes[i] if (sizes[i] > small) & (room[i] <= step * sizes[i]) else 0.0
    best = largest_of(sizes)
    if step >= 2.0 and best <= 1.0:
        return -1, step
    for i in range(alpha.size):
        if sizes[i] == best and best > 0.0:
            return i, step
    return -2, step


@compiled(inline="always")
def _distance(cone: Cone, step: float, rho: FloatArray) -> float:
    """How far η − step·ρ is from where the levels were computed, in the norm dual to that of the sizes."""
    total = 0.0
    for j in range(rho.size):
        gone = (cone.dual[j] - cone.seen[j] - step * rho[j]) * cone.scales[j]
        total += gone * gone
    return math.sqrt(total)


@compiled(inline="always")
def cross(cone: Cone, r: int, u: FloatArray, du: FloatArray) -> bool:
    """Cross the wall u_r = 0 into the next cone; u and its rate du follow. False if no column can enter."""
    rho, sign = cone.inverse[r].copy(), cone.signs[r]
    if cone.looked[1] >= cone.reach[2]:
        survey(cone, 0.0)
    while True:
        room = -(-cone.looked[0] // _LINE) * _LINE
        alpha, whole = cone.pivot[:room], cone.reach[1] == np.inf
        levels = cone.levels if whole else cone.near_levels[:room]
        entries = cone.entries if whole else cone.near_entries[: rho.size * room].reshape(rho.size, room)
        np.dot(rho, entries, alpha)
        e, relaxed = entering(alpha, levels, sign)
        if e == -2 or not relaxed < np.inf:
            return False
        if whole or _distance(cone, relaxed * sign, rho) <= cone.reach[1]:
            break
        due = relaxed * math.sqrt(np.sum((rho * cone.scales) ** 2))
        if not due < np.inf:
            return False
        survey(cone, due)  # η has gone too far for the last one: a column that was not looked at might come before
    slope = -sign * alpha[e] if e >= 0 else -sign
    gap = 2.0 if e < 0 else 1.0 - levels[e] if slope > 0.0 else 1.0 + levels[e]
    step = max(0.0, gap / abs(slope))
    for i in range(room):
        levels[i] -= step * sign * alpha[i]
    for j in range(rho.size):
        cone.dual[j] -= step * sign * rho[j]
    cone.signs[r] = 1.0 if slope > 0.0 else -1.0
    cone.age[0] += 1
    cone.looked[1] += 1
    if e < 0 or (whole and e == cone.basis[r]):
        return True
    q = e if whole else cone.near[e]
    if not whole:
        levels[e] = sign * (1.0 - step)
        trade(cone, e, cone.basis[r])
    exchange(cone, r, q, u, du)
    return True


@compiled(inline="always")
def trade(cone: Cone, e: int, gone: int) -> None:
    """The column that leaves the basis for the e-th of those near their bounds."""
    room = -(-cone.looked[0] // _LINE) * _LINE
    for j in range(cone.dual.size):
        cone.near_entries[j * room + e] = cone.columns[gone, j]
    cone.near[e] = gone


@compiled(inline="always")
def exchange(cone: Cone, r: int, q: int, u: FloatArray, du: FloatArray) -> None:
    """Column q in the place of the r-th of the basis: a rank-one change of the inverse, of u (with u_r = 0) and du."""
    cone.place[cone.basis[r]], cone.place[q] = -1, r
    weights = np.dot(cone.inverse, cone.columns[q])
    if not SHARP <= abs(weights[r]) <= 1.0 / SHARP:
        cone.age[0] = OLDEST  # into a nearly singular basis, or out of one: the check that is due now renews
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
    """Return ⟨w, η⟩ over the coordinates that move: how fast the gauge grows."""
    total = 0.0
    for j in range(velocity.size - lifted):
        total += velocity[j] * cone.dual[j]
    return total


@compiled()
def gap(cone: Cone, place: FloatArray) -> float:
    """Return the relative distance between the two bounds on the gauge that the cone proves."""
    survey(cone, 0.0)
    upper = np.abs(np.dot(cone.inverse, place)).sum()
    largest = max(1.0, largest_of(np.abs(cone.levels)))
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
    normals: FloatArray,
    gauge: FloatArray,
    counts: IntArray,
    residual: FloatArray,
) -> int:
    """The bouncy particle sampler: its place, η and gauge every ``interval`` of time, into the arrays of these names.

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
            normals[recorded] = cone.dual
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
