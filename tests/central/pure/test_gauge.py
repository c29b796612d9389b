"""The body K − K and its gauge, against linear programs, brute force and the inequality that privacy is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.mechanisms.pure.bodies import body_of
from factormech.mechanisms.pure.bouncy import Gauge, polar_vertex
from tests.central.pure.bodies import BODIES, corners, signs
from tests.oracles import largest_loss

NAMES = sorted(BODIES)


def by_linear_program(Q: FloatArray, z: FloatArray) -> float:
    """min ½‖u‖₁ with Qu = z and Σu = 0."""
    A = np.vstack([Q, np.ones(Q.shape[1])])
    found = linprog(np.full(2 * Q.shape[1], 0.5), A_eq=np.hstack([A, -A]), b_eq=np.append(z, 0.0), method="highs")
    return float(found.fun)


def differences(Q: FloatArray) -> FloatArray:
    return np.array([a - b for a, b in itertools.permutations(Q.T, 2)])


@pytest.mark.parametrize("name", NAMES)
def test_the_gauge_is_the_linear_program(name: str) -> None:
    Q, d, _ = BODIES[name]
    body, rng = body_of(Q), np.random.default_rng(5)
    assert body.dimension == d == np.linalg.matrix_rank(Q - Q.mean(axis=1, keepdims=True))
    inside = body.answers(rng.standard_normal((6, d)))
    vertices = rng.permutation(differences(Q))[:6]
    Z = np.vstack([inside, vertices, 0.5 * (vertices[:3] + vertices[3:]), np.zeros((1, len(Q)))])
    low, high = Gauge(body).interval(Z @ body.inverse.T)
    reference = np.array([by_linear_program(Q, z) for z in Z])
    assert np.abs(Gauge(body).of(Z) - reference).max() < 1e-9 * max(1.0, reference.max())
    assert np.all(high - low <= 1e-12 * max(1.0, reference.max()))


@pytest.mark.parametrize("name", NAMES)
def test_frame_support_and_diameters(name: str) -> None:
    Q = BODIES[name][0]
    body, shifts = body_of(Q), differences(Q)
    assert body.answers(shifts @ body.inverse.T) == pytest.approx(shifts, abs=1e-12)
    y = np.random.default_rng(6).standard_normal((4, body.dimension))
    assert body.support(y) == pytest.approx((shifts @ body.inverse.T @ y.T).max(axis=0))
    for found, order in zip(body.diameters, (1, 2), strict=True):
        true = np.linalg.norm(shifts, order, axis=1).max()
        assert true <= found <= true * (1 + 1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_the_loss_is_one_and_attained_on_a_ray(name: str) -> None:
    """|‖z‖ − ‖z + s‖| ≤ 1 for every z and every s = Q_x − Q_y, with equality where s is on the boundary of K − K."""
    Q = BODIES[name][0]
    body = body_of(Q)
    gauge, shifts = Gauge(body), np.unique(differences(Q), axis=0)
    sizes = gauge.of(shifts)
    assert sizes.max() == pytest.approx(1.0, abs=1e-12)
    far = shifts[np.argmax(sizes)]
    on_ray = gauge.of(np.array([-far, -1.5 * far, -40.0 * far])) - gauge.of(
        np.array([0 * far, -0.5 * far, -39.0 * far])
    )
    assert on_ray == pytest.approx(np.ones(3), abs=1e-12)
    points = body.answers(3.0 * np.random.default_rng(7).standard_normal((20, body.dimension)))
    some = shifts[np.argsort(-sizes)[:6]]
    assert largest_loss(gauge, points, some) <= 1 + 1e-12
    assert largest_loss(gauge, -2.0 * some, some) == pytest.approx(1.0, abs=1e-11)


def test_noise_of_k_alone_would_lose_twice_as_much() -> None:
    """Of a symmetric K: K − K = 2K, so the gauge of K (that of K/2 − K/2) moves by 2."""
    Q = corners(np.ones(3))
    assert largest_loss(Gauge(body_of(Q / 2)), -differences(Q), differences(Q)) == pytest.approx(2.0)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 5), st.integers(2, 14), st.integers(0, 10**6))
def test_random_lattice_bodies(k: int, columns: int, seed: int) -> None:
    """Small whole numbers make duplicates, relations, flat facets and columns inside K."""
    rng = np.random.default_rng(seed)
    Q = rng.integers(0, 3, (k, columns)).astype(float)
    body = body_of(Q)
    if body.dimension == 0:
        with pytest.raises(BadValue, match="two different columns"):
            Gauge(body)
        return
    z = body.answers(rng.standard_normal((1, body.dimension)))
    assert Gauge(body).of(z)[0] == pytest.approx(by_linear_program(Q, z[0]), rel=1e-9)
    assert Gauge(body).of(-3.0 * z)[0] == pytest.approx(3.0 * Gauge(body).of(z)[0], rel=1e-12)


def test_larger_bodies_keep_their_digits() -> None:
    body = body_of(signs(24, 400))
    points = np.random.default_rng(0).standard_normal((20, 24))
    low, high = Gauge(body).interval(points)
    assert np.all(high - low <= 1e-11 * high)
    z = body.answers(points[:1])[0]
    assert low[0] == pytest.approx(by_linear_program(body.columns, z), rel=1e-9)


def test_duplicates_and_relations_change_nothing() -> None:
    Q = signs(4, 12)
    body = body_of(Q)
    z = body.answers(np.ones((1, 4)))
    assert Gauge(body_of(Q[:, [*range(12), 3, 3, 0]])).of(z) == pytest.approx(Gauge(body).of(z))
    more = body_of(np.vstack([Q, Q[0] + Q[1], np.full(12, 7.0)]))
    assert more.dimension == 4
    assert Gauge(more).of(np.column_stack([z, z[:, 0] + z[:, 1], [0.0]])) == pytest.approx(Gauge(body).of(z))
    assert Gauge(more).of(np.column_stack([z, z[:, 0], [0.0]])) == np.inf  # off the span of K − K


@pytest.mark.parametrize("name", NAMES)
def test_a_start_is_a_vertex_of_the_polar_body(name: str) -> None:
    body = body_of(BODIES[name][0])
    A = body.generators
    basis, s = polar_vertex(A, not body.symmetric, np.random.default_rng(1))
    eta = np.linalg.solve(A[basis], s)
    assert np.abs(A @ eta).max() <= 1 + 1e-9
    assert body.symmetric or {-1.0, 1.0} == set(s)


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (np.zeros(3), "matrix of real numbers"),
        (np.zeros((2, 0)), "matrix of real numbers"),
        ([[1.0, np.nan]], r"queries\[0, 1\]"),
        ([[1.0, np.inf]], "bounded answers"),
        ([["a", "b"]], "matrix of real numbers"),
        ([[0.0, 1.0, 2.0], [0.0, 1.0, 2.0 + 1e-11]], "beyond doubt"),
    ],
)
def test_bad_queries_are_refused(queries: object, message: str) -> None:
    with pytest.raises(BadValue, match=message):
        body_of(queries)
