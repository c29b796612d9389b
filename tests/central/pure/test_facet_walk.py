"""The steps of a walk over facet cones, against the formulas that they update."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.errors import Unavailable
from factormech.mechanisms.pure import facet_walk
from factormech.mechanisms.pure.bodies import body_of
from factormech.mechanisms.pure.bouncy import starting_cone
from factormech.mechanisms.pure.facet_walk import Cone
from factormech.mechanisms.pure.knorm import knorm_noise
from factormech.seeds import rng_for
from factormech.studies.measures.pure import signs as sign_rows
from tests.central.pure.bodies import BODIES, signs

pytestmark = pytest.mark.heavy


def started(name: str) -> tuple[Cone, np.random.Generator]:
    rng = np.random.default_rng(3)
    body = body_of(BODIES[name][0])
    return starting_cone(body.generators, not body.symmetric, rng)[0], rng


def round_body() -> Cone:
    """A body without ties: 21 columns, whose number is no whole number of cache lines, in 6 dimensions."""
    generators = np.random.default_rng(8).standard_normal((21, 6))
    return starting_cone(generators, False, np.random.default_rng(1))[0]


def assert_consistent(cone: Cone) -> None:
    """All that a cone keeps follows from its basis and signs, and η is a vertex of the polar body."""
    basis = cone.columns[cone.basis]
    assert cone.inverse @ basis.T == pytest.approx(np.eye(len(basis)), abs=1e-9)
    assert basis @ cone.dual == pytest.approx(cone.signs, abs=1e-9)
    N = len(cone.columns)
    assert cone.levels[:N] == pytest.approx(cone.columns @ cone.dual, abs=1e-9)
    assert not cone.levels[N:].any()
    assert np.abs(cone.levels).max() <= 1.0 + 1e-9
    assert np.array_equal(np.flatnonzero(cone.place >= 0), np.sort(cone.basis))


@pytest.mark.parametrize("name", sorted(BODIES))
def test_crossing_keeps_the_cone_consistent(name: str) -> None:
    cone, rng = started(name)
    m = len(cone.basis)
    place, velocity = rng.standard_normal((2, cone.columns.shape[1]))
    for _ in range(40):
        r = int(rng.integers(m))
        u, du = cone.inverse @ place, cone.inverse @ velocity
        place = place - u[r] * cone.columns[cone.basis[r]]  # a place on the wall u_r = 0
        u[r] = 0.0
        assert facet_walk.cross(cone, r, u, du)
        assert u == pytest.approx(cone.inverse @ place, abs=1e-8)
        assert du == pytest.approx(cone.inverse @ velocity, rel=1e-8, abs=1e-8)
        assert_consistent(cone)


def test_what_enters_is_the_first_column_to_meet_a_bound() -> None:
    """Where there are no ties: by the ratio test as a textbook has it."""
    cone, rng = round_body(), np.random.default_rng(2)
    for _ in range(60):
        r = int(rng.integers(6))
        rho, sign, before = cone.inverse[r].copy(), cone.signs[r], cone.basis.copy()
        slopes, levels = -sign * cone.columns @ rho, cone.columns @ cone.dual
        slopes[np.delete(before, r)] = 0.0
        with np.errstate(divide="ignore"):
            steps = (1.0 - np.sign(slopes) * levels) / np.abs(slopes)
        expected = cone.dual - steps.min() * sign * rho
        assert facet_walk.cross(cone, r, np.zeros(6), np.zeros(6))
        assert cone.basis[r] == np.argmin(steps)
        assert np.all(np.delete(cone.basis, r) == np.delete(before, r))
        assert cone.dual == pytest.approx(expected, rel=1e-9)


def test_the_check_finds_a_wrong_inverse_and_an_old_one() -> None:
    cone = round_body()
    true = cone.inverse.copy()
    point = np.random.default_rng(3).standard_normal(len(true))
    unseen = np.zeros_like(true)  # by η, which is the signs times the inverse
    unseen[2, 3], unseen[4, 3] = 1e-9 * cone.signs[2], -1e-9 * cone.signs[4]
    assert cone.signs @ unseen == pytest.approx(0.0, abs=0.0)
    one = np.zeros_like(true)
    one[2, 3] = 1.0
    for wrong in (1e-9 * one, one, np.nan * one, unseen):
        cone.inverse[:, :] += wrong
        cone.age[0] = 7
        facet_walk.check(cone, point)
        assert cone.age[0] == 0
        assert cone.inverse == pytest.approx(true, rel=1e-12)
        assert_consistent(cone)
    cone.age[0] = 7
    cone.dual[:], cone.levels[:21] = 0.0, 0.0
    facet_walk.check(cone, point)  # a sound inverse is kept, and η with the levels made of it
    assert cone.age[0] == 7
    assert_consistent(cone)
    cone.age[0] = facet_walk.OLDEST
    facet_walk.check(cone, point)
    assert cone.age[0] == 0


def test_a_long_walk_keeps_its_digits() -> None:
    """Hundreds of walls between inverses: the two sides of every gauge agree as closely as before."""
    body = body_of(signs(24, 400))
    cone, place = starting_cone(body.generators, not body.symmetric, np.random.default_rng(0))
    velocity = np.zeros(len(place))
    velocity[:24] = np.random.default_rng(1).standard_normal(24)
    places, gauge = np.empty((80, len(place))), np.empty(80)
    counts, residual = np.zeros(3, dtype=np.int64), np.zeros(1)
    lifted = int(not body.symmetric)
    rng = np.random.default_rng(2)
    found = (places, np.empty_like(places), gauge, counts, residual)
    recorded = facet_walk.bounce(cone, lifted, place, velocity, 0.8, 8.0, True, rng, *found)
    assert recorded == 80
    assert counts[0] > 4 * facet_walk.OLDEST
    assert residual[0] <= 1e-11


def bounced(reach: float, columns: int = 3000) -> tuple[Cone, np.ndarray, np.ndarray]:
    """A long path of the particle with this first reach: the cone where it ends, its places and its counts."""
    body = body_of(np.random.default_rng(7).standard_normal((12, columns)))
    cone, place = starting_cone(body.generators, not body.symmetric, np.random.default_rng(0))
    cone.reach[:] = reach
    facet_walk.survey(cone, 0.0)
    velocity = np.zeros(len(place))
    velocity[:12] = np.random.default_rng(1).standard_normal(12)
    places, counts = np.empty((60, len(place))), np.zeros(3, dtype=np.int64)
    rest = (True, np.random.default_rng(2), places, np.empty_like(places), np.empty(60), counts, np.zeros(1))
    assert facet_walk.bounce(cone, 1, place, velocity, 0.8, 12.0, *rest) == 60
    return cone, places, counts


def test_columns_far_from_their_bounds_decide_nothing() -> None:
    """The path is the same whether all columns are looked at or those in reach, however short the reach begins."""
    whole, places, counts = bounced(np.inf)
    assert counts[0] > 2 * facet_walk.OLDEST
    for reach in (10.0, 1e-6, 0.02):
        cone, others, walls = bounced(reach)
        assert np.array_equal(walls, counts)
        assert np.array_equal(cone.basis, whole.basis)
        assert others == pytest.approx(places, rel=1e-7, abs=1e-9)


def test_what_is_kept_of_near_columns_is_theirs_at_every_wall() -> None:
    cone, rng, used = bounced(0.05)[0], np.random.default_rng(5), 0
    cone.reach[0] = 0.02
    facet_walk.survey(cone, 0.0)
    for _ in range(400):
        assert facet_walk.cross(cone, int(rng.integers(13)), np.zeros(13), np.zeros(13))
        if cone.reach[1] == np.inf:
            continue
        used += 1
        found = cone.looked[0]
        room = -(-found // 8) * 8
        near = cone.columns[cone.near[:found]]
        assert cone.near_levels[:found] == pytest.approx(near @ cone.dual, abs=1e-9)
        assert np.array_equal(cone.near_entries[: 13 * room].reshape(13, room)[:, :found], near.T)
        far = np.setdiff1d(np.arange(3000), [*cone.near[:found], *cone.basis])
        assert np.abs(cone.columns[far] @ cone.dual).max() < 1.0
        assert np.array_equal(np.flatnonzero(cone.place >= 0), np.sort(cone.basis))
    assert used > 40, used


def test_a_cone_that_rounding_has_spoiled_is_lost_and_no_walk_without_end() -> None:
    for reach in (np.inf, 1e-3):
        cone = bounced(reach)[0]
        cone.reach[:2] = reach
        facet_walk.survey(cone, 0.0)
        cone.inverse[3] = np.nan
        assert not facet_walk.cross(cone, 3, np.zeros(13), np.zeros(13)) or not np.isfinite(cone.dual).all()


def test_the_next_wall_is_the_first_coefficient_to_reach_zero() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        s, size, du = rng.choice((-1.0, 1.0), 9), rng.uniform(0.0, 1.0, 9), rng.standard_normal(9)
        times = np.where(s * du < 0.0, size / np.abs(du), np.inf)
        time, r = facet_walk.next_wall(s, s * size, du)
        assert (time, r) == (times.min(), np.argmin(times))
    ones = np.ones(3)
    assert facet_walk.next_wall(ones, ones, ones) == (np.inf, -1)
    assert facet_walk.next_wall(ones, np.array([1.0, -1e-17, -0.0]), -ones) == (0.0, 1)  # rounding has passed a wall
    assert facet_walk.next_wall(ones, np.array([np.nan, 2.0, 3.0]), np.array([-1.0, -1.0, np.nan])) == (2.0, 1)


@pytest.mark.parametrize("pivot", [1e-6, 1e6])
def test_an_inverse_is_renewed_next_to_a_basis_that_is_nearly_singular(pivot: float) -> None:
    cone = round_body()
    entering = int(np.flatnonzero(cone.place < 0)[0])
    cone.columns[entering] = np.where(np.arange(6) == 2, pivot, 1.0) @ cone.columns[cone.basis]
    u, du = np.ones(6), np.ones(6)
    u[2] = 0.0
    facet_walk.exchange(cone, 2, entering, u, du)
    assert cone.age[0] == facet_walk.OLDEST
    assert facet_walk.OLDEST % facet_walk.REFRESH == 0
    facet_walk.check(cone, cone.columns[cone.basis].sum(axis=0))
    assert cone.age[0] == 0
    assert cone.inverse @ cone.columns[cone.basis].T == pytest.approx(np.eye(6), abs=1e-9)


@pytest.mark.slow
def test_a_chain_leaves_a_nearly_singular_basis_unharmed() -> None:
    """Random signs of 32 queries and 4096 types, where a basis of condition 10¹¹ once spoilt all that came after it."""
    rows = sign_rows(32, 4096, rng_for(0, "pure-constants", "32", "4096", "queries"))
    found = knorm_noise(rows, 1.0).directions.sample(rng_for(0, "pure-constants", "32", "4096", "k-norm"), 2000)
    assert not isinstance(found, Unavailable)
    assert found.diagnosis is not None
    assert found.diagnosis.residual < 1e-8
