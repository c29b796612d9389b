"""Projection onto {z ≤ q ≤ a·z, 1ᵀq = 1}: feasibility, optimality, and the derivative in z."""

from __future__ import annotations

import math
from fractions import Fraction

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.mechanisms.local.pgd_descent import bounds_are_feasible, project_columns, pull_back, step_columns

pytestmark = pytest.mark.heavy

LAST_DIGITS = 4 * np.finfo(float).eps


@st.composite
def problems(draw: st.DrawFn) -> tuple[FloatArray, FloatArray, float]:
    """Points R, bounds z and a ratio: with ties, zeros in z, and the two ends of feasibility."""
    m, n = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    a = draw(st.sampled_from([1.0, 1 + 1e-9, 1.01, math.e, 50.0, 1e10]) | st.floats(1, 100))
    weights = draw(hnp.arrays(np.float64, m, elements=st.sampled_from([0.0, 1e-6, 1.0, 1.0, 2.5])))
    weights[draw(st.integers(0, m - 1))] = 1.0
    # 1ᵀz anywhere between 1/a and 1, both included
    total = (1 / a) ** draw(st.sampled_from([0.0, 1.0]) | st.floats(0, 1))
    z = weights / weights.sum() * total
    # quarters make ties and points on the bounds likely
    quarters = hnp.arrays(np.float64, (m, n), elements=st.integers(-8, 8).map(lambda k: k / 4))
    spread = hnp.arrays(np.float64, (m, n), elements=st.floats(-3, 3, allow_subnormal=False))
    R = draw(quarters | spread) * draw(st.sampled_from([1e-6, 0.1, 1.0, 1e3, 1e9]))
    return R, z, a


def by_bisection(r: FloatArray, z: FloatArray, a: float) -> FloatArray:
    """The slow oracle: bisection on λ until the bracket cannot shrink."""
    low, high = float(np.min(z - r)) - 1, float(np.max(a * z - r)) + 1
    for _ in range(2000):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if np.clip(r + middle, z, a * z).sum() < 1:
            low = middle
        else:
            high = middle
    return np.clip(r + low, z, a * z)


@given(problems())
@settings(deadline=None, max_examples=60)
def test_projection_is_feasible_to_the_last_digit(problem: tuple[FloatArray, FloatArray, float]) -> None:
    R, z, a = problem
    Q = project_columns(R, z, a)
    assert np.all(z[:, None] <= Q)
    assert np.all(np.minimum(a * z, 1.0)[:, None] >= Q)
    for q in Q.T:
        assert abs(sum(map(Fraction, q)) - 1) <= LAST_DIGITS


@given(problems())
@settings(deadline=None, max_examples=60)
def test_projection_obeys_the_optimality_conditions(problem: tuple[FloatArray, FloatArray, float]) -> None:
    """One λ with q − r = λ on free entries, ≥ λ on the lower bound and ≤ λ on the upper one."""
    R, z, a = problem
    Q = project_columns(R, z, a)
    for r, q in zip(R.T, Q.T, strict=True):
        rounding = 8 * np.finfo(float).eps * (1 + np.abs(r).max())
        # r + λ has an error of this size, so an entry nearer to a bound than that may belong on it
        can_rise, can_fall = q < np.minimum(a * z, 1.0) - rounding, q > z + rounding
        if can_rise.any() and can_fall.any():
            assert (q - r)[can_fall].max() <= (q - r)[can_rise].min() + rounding


@given(problems())
@settings(deadline=None, max_examples=60)
def test_projection_agrees_with_bisection(problem: tuple[FloatArray, FloatArray, float]) -> None:
    R, z, a = problem
    Q = project_columns(R, z, a)
    for r, q in zip(R.T, Q.T, strict=True):
        rounding = 64 * np.finfo(float).eps * (1 + np.abs(r).max())
        np.testing.assert_allclose(q, by_bisection(r, z, a), rtol=0, atol=rounding)


@given(problems())
@settings(deadline=None, max_examples=100)
def test_projection_is_idempotent_and_ignores_shifts(problem: tuple[FloatArray, FloatArray, float]) -> None:
    R, z, a = problem
    Q = project_columns(R, z, a)
    np.testing.assert_allclose(project_columns(Q, z, a), Q, rtol=0, atol=LAST_DIGITS)
    shifted = project_columns(R + 0.5, z, a)
    rounding = 64 * np.finfo(float).eps * (1 + np.abs(R).max())
    np.testing.assert_allclose(shifted, Q, rtol=0, atol=rounding)


def test_large_problem_is_feasible_and_optimal() -> None:
    rng = np.random.default_rng(1)
    m, n, a = 4096, 7, math.e
    z = rng.random(m)
    z *= (1 + 1 / a) / 2 / z.sum()
    R = rng.normal(size=(m, n))
    Q = project_columns(R, z, a)
    for r, q in zip(R.T, Q.T, strict=True):
        assert abs(sum(map(Fraction, q)) - 1) <= LAST_DIGITS
        np.testing.assert_allclose(q, by_bisection(r, z, a), rtol=0, atol=1e-14)


@pytest.mark.parametrize("size", [1e20, 1e150, 1e300])
def test_enormous_points_still_give_distributions(size: float) -> None:
    """A step far too long must not produce a matrix that is no strategy."""
    rng = np.random.default_rng(2)
    z = np.full(40, 1.5 / (2 * 40))
    Q = project_columns(size * rng.normal(size=(40, 5)), z, 2.0)
    assert np.all((z[:, None] <= Q) & (2.0 * z[:, None] >= Q))
    assert max(abs(sum(map(Fraction, q)) - 1) for q in Q.T) <= LAST_DIGITS


def test_overwriting_uses_the_memory_given() -> None:
    R = np.asfortranarray(np.random.default_rng(3).random((6, 4)))
    z = np.full(6, 0.1)
    expected = project_columns(R, z, 3.0)
    Q = project_columns(R, z, 3.0, overwrite=True)
    assert np.shares_memory(Q, R)
    np.testing.assert_array_equal(Q, expected)


@pytest.mark.parametrize(
    ("lower", "ratio", "part"),
    [
        ([0.6, 0.6], 2.0, "sum(lower)"),  # 1ᵀz > 1
        ([0.1, 0.1], 2.0, "sum(lower)"),  # a·1ᵀz < 1
        ([0.5, 0.5 + 1e-12], 2.0, "sum(lower)"),
        ([0.5 - 1e-12, 0.0], 2.0, "sum(lower)"),
        ([0.0, 0.0], 2.0, "sum(lower)"),
        ([-0.1, 0.7], 2.0, "lower"),
        ([np.nan, 0.7], 2.0, "lower"),
        ([[0.5], [0.4]], 2.0, "lower"),
        ([0.3, 0.4], 0.9, "ratio"),
        ([0.3, 0.4], np.inf, "ratio"),
        ([0.3, 0.2, 0.2], 2.0, "points"),
    ],
)
def test_what_cannot_be_projected_is_refused(lower: list[float], ratio: float, part: str) -> None:
    with pytest.raises(BadValue) as refusal:
        project_columns(np.ones((2, 3)), np.array(lower), ratio)
    assert refusal.value.name == part


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_points_must_be_finite(bad: float) -> None:
    R = np.ones((2, 3))
    R[1, 2] = bad
    with pytest.raises(BadValue, match="finite"):
        project_columns(R, np.array([0.3, 0.4]), 2.0)


def test_feasibility_forgives_rounding_only() -> None:
    tenths = np.full(10, 0.1)  # 0.1 is a little more than a tenth: the exact sum exceeds 1
    assert bounds_are_feasible(tenths, 1.0)
    assert not bounds_are_feasible(tenths * (1 + 1e-14), 2.0)
    assert not bounds_are_feasible(tenths * (0.5 - 1e-14), 2.0)


def generic_problem(seed: int, m: int = 9, n: int = 5) -> tuple[FloatArray, FloatArray, float, FloatArray]:
    """Points, bounds, ratio and a linear functional; entries on all three pieces, none near a kink."""
    rng = np.random.default_rng(seed)
    a = 3.0
    z = rng.random(m) + 0.5
    z *= 0.6 / z.sum()
    return 0.15 * rng.normal(size=(m, n)), z, a, rng.normal(size=(m, n))


@pytest.mark.parametrize("seed", range(6))
def test_pull_back_is_the_derivative(seed: int) -> None:
    """⟨C, Π_z(R)⟩ is piecewise linear in z: central differences are exact off the kinks."""
    R, z, a, C = generic_problem(seed)
    Q = project_columns(R, z, a)
    low, high = z[:, None] == Q, (a * z)[:, None] == Q
    assert low.any()
    assert high.any()
    assert not (low | high).all()
    h = 1e-7
    differences = [
        np.sum(C * (project_columns(R, z + h * e, a) - project_columns(R, z - h * e, a))) / (2 * h)
        for e in np.eye(z.size)
    ]
    np.testing.assert_allclose(pull_back(C, Q, z, a), differences, rtol=0, atol=1e-7)


def test_pull_back_ignores_constants_per_column() -> None:
    R, z, a, C = generic_problem(10)
    Q = project_columns(R, z, a)
    expected = pull_back(C, Q, z, a)
    np.testing.assert_allclose(pull_back(C + np.arange(5.0), Q, z, a), expected, rtol=0, atol=1e-12)


def test_pull_back_with_multipliers_held_is_the_sum_over_bounds() -> None:
    R, z, a, C = generic_problem(11)
    Q = project_columns(R, z, a)
    expected = np.sum(C * (z[:, None] == Q), axis=1) + a * np.sum(C * ((a * z)[:, None] == Q), axis=1)
    held = pull_back(C, Q, z, a, multipliers_move=False)
    np.testing.assert_allclose(held, expected, rtol=1e-14)
    assert not np.allclose(held, pull_back(C, Q, z, a))


def test_pull_back_without_free_entries_keeps_its_invariance() -> None:
    z = np.array([0.2, 0.2, 0.2])
    Q = np.array([[0.6], [0.2], [0.2]])
    C = np.array([[1.0], [2.0], [6.0]])
    np.testing.assert_allclose(pull_back(C, Q, z, Q[0, 0] / 0.2), [-6.0, -1.0, 3.0], rtol=1e-14)


@pytest.mark.parametrize("size", [0.0, 1e-6, 1.0, 1e9])
def test_a_step_of_an_iterate_is_the_projection_but_for_the_last_digits(size: float) -> None:
    rng = np.random.default_rng(5)
    m, n, ratio = 40, 17, math.e
    z = rng.dirichlet(np.ones(m)) * 0.7
    Q = project_columns(rng.random((m, n)), z, ratio)
    gradient = np.asfortranarray(rng.normal(size=(m, n)))
    stepped = Q.copy(order="F")
    step_columns(stepped, gradient, size, z, ratio)
    assert np.all(stepped >= z[:, None])
    assert np.all(stepped <= ratio * z[:, None])
    np.testing.assert_allclose(stepped.sum(axis=0), 1.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(
        stepped, project_columns(Q - size * gradient, z, ratio), rtol=0, atol=1e-13 + 1e-15 * size
    )


@pytest.mark.parametrize("size", [0.0, 1e-3, 1.0, 1e9])
def test_a_step_of_singles_is_the_same_to_their_digits(size: float) -> None:
    rng = np.random.default_rng(5)
    m, n, ratio = 400, 17, math.e
    z = (rng.dirichlet(np.ones(m)) * 0.7).astype(np.float32)
    Q = project_columns(rng.random((m, n)), z, ratio).astype(np.float32, order="F")
    gradient = np.asfortranarray(rng.normal(size=(m, n)).astype(np.float32))
    stepped = Q.copy(order="F")
    step_columns(stepped, gradient, size, z, ratio)
    assert stepped.dtype == np.float32
    assert np.all(stepped >= z[:, None])
    assert np.all(stepped <= np.float32(ratio) * z[:, None])
    np.testing.assert_allclose(stepped.sum(axis=0, dtype=np.float64), 1.0, rtol=0, atol=2e-6)
    expected = project_columns(Q - np.float64(size) * gradient, z, ratio)
    np.testing.assert_allclose(stepped, expected, rtol=0, atol=1e-6 * (1.0 + size))


def test_a_step_without_end_is_refused() -> None:
    Q = np.asfortranarray(np.full((2, 2), 0.5))
    with pytest.raises(BadValue, match="finite"):
        step_columns(Q, np.asfortranarray(np.full((2, 2), 1e300)), 1e20, np.full(2, 0.4), 2.0)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 2, 63, 64, 65, 127, 128, 200, 512])
def test_the_bracket_of_a_line_of_any_length_is_that_of_its_extremes(size: int, precision: type) -> None:
    from factormech.mechanisms.local import column_kernels

    rng = np.random.default_rng(size)
    for place in {0, size // 2, size - 1}:
        r, lower = rng.standard_normal(size).astype(precision), rng.random(size).astype(precision)
        r[place], upper = 9.0 * rng.choice([-1.0, 1.0]), 2 * lower
        assert column_kernels.root_bracket(r, lower, upper) == ((lower - r).min(), (upper - r).max())


def test_lines_are_added_in_their_order_in_double_precision() -> None:
    from factormech.mechanisms.local import column_kernels

    T = np.random.default_rng(3).standard_normal((40, 37)).astype(np.float32)
    sums = np.zeros(37)
    column_kernels.add_lines(T, sums)
    np.testing.assert_array_equal(sums, T.sum(axis=0, dtype=np.float64))
