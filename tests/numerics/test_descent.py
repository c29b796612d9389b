"""Steps downhill: what the pairs of L-BFGS know, and the first length that falls enough."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.numerics.descent import Curvature, backtracked, room

RNG = np.random.default_rng(5)
A = RNG.standard_normal((6, 6))
H = A @ A.T + np.eye(6)


def filled(memory: int, count: int) -> tuple[Curvature, list[np.ndarray]]:
    curvature, steps = Curvature(memory), [RNG.standard_normal(6) for _ in range(count)]
    for s in steps:
        curvature.add(s, H @ s)
    return curvature, steps


@pytest.mark.parametrize("metric", [1.0, np.exp(RNG.standard_normal(6))])
def test_the_last_difference_of_gradients_gives_its_step_back(metric: np.ndarray | float) -> None:
    """The secant equation Hy = s."""
    curvature, steps = filled(4, 9)
    np.testing.assert_allclose(curvature.direction(H @ steps[-1], metric), -steps[-1], rtol=1e-10)


def test_conjugate_steps_know_all_of_a_quadratic() -> None:
    """With n conjugate steps remembered the direction is Newton's (Nocedal & Wright, Theorem 6.4)."""
    values, vectors = np.linalg.eigh(H)
    curvature = Curvature(6)
    for value, v in zip(values, vectors.T, strict=True):
        curvature.add(v, value * v)
    g = RNG.standard_normal(6)
    np.testing.assert_allclose(curvature.direction(g), -np.linalg.solve(H, g), rtol=1e-10)


def test_a_metric_is_a_change_of_variables() -> None:
    """The direction with Diag(m) is that of √m·x without, back in x."""
    metric, g = np.exp(RNG.standard_normal(6)), RNG.standard_normal(6)
    curvature, scaled, root = Curvature(3), Curvature(3), np.sqrt(metric)
    for s in RNG.standard_normal((5, 6)):
        curvature.add(s, H @ s)
        scaled.add(root * s, H @ s / root)
    np.testing.assert_allclose(curvature.direction(g, metric), scaled.direction(g / root) / root, rtol=1e-10)


def test_directions_fall_and_pairs_without_curvature_are_left_out() -> None:
    curvature, _ = filled(5, 5)
    for g in RNG.standard_normal((20, 6)):
        assert g @ curvature.direction(g) < 0.0
    before = curvature.direction(np.ones(6))
    curvature.add(np.ones(6), -np.ones(6))
    curvature.add(np.ones(6), np.zeros(6))
    np.testing.assert_array_equal(curvature.direction(np.ones(6)), before)
    curvature.clear()
    assert len(curvature) == 0
    np.testing.assert_array_equal(curvature.direction(np.ones(6)), -np.ones(6))
    np.testing.assert_array_equal(curvature.direction(np.ones(6), np.full(6, 2.0)), np.full(6, -0.5))


def test_only_the_last_pairs_are_remembered() -> None:
    curvature, steps = filled(3, 8)
    fresh = Curvature(3)
    for s in steps[-3:]:
        fresh.add(s, H @ s)
    np.testing.assert_array_equal(curvature.direction(np.ones(6)), fresh.direction(np.ones(6)))


def test_the_first_length_that_falls_enough() -> None:
    """x ↦ (x − 1)² from 0 along 8, infinite beyond 3: the lengths 1 and ½ are refused, ¼ is where it does not fall."""
    looks: list[float] = []

    def attempt(t: float) -> tuple[float, str]:
        looks.append(t)
        x = 8.0 * t
        return (math.inf if x > 3.0 else (x - 1.0) ** 2), f"at {x}"

    assert backtracked(attempt, 1.0, -16.0) == (0.125, 0.0, "at 1.0")
    assert looks == [1.0, 0.5, 0.25, 0.125]
    assert backtracked(attempt, 1.0, -16.0, noise=0.01) == (0.25, 1.0, "at 2.0")
    length, value, _ = backtracked(attempt, 1.0, -16.0, length=0.3, factor=0.1) or (0.0, 0.0, "")
    assert (length, value) == pytest.approx((0.03, 0.76**2))


def test_nothing_lower_is_none() -> None:
    assert backtracked(lambda t: (2.0, None), 1.0, -1.0, tries=5) is None
    assert backtracked(lambda t: (math.nan, None), 1.0, -1.0, tries=5) is None


@pytest.mark.parametrize(("step", "length"), [([0.5, -0.5], 1.0), ([0.5, -1.8], 0.5), ([3.0, 0.0], 1.0)])
def test_room_ends_before_the_boundary(step: list[float], length: float) -> None:
    assert room(np.array(step), 0.9) == pytest.approx(length)
