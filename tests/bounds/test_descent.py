"""L-BFGS finds known minima, also beside a wall of infinite values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.numerics.descent import minimise


def test_a_quadratic_with_condition_number_ten_thousand() -> None:
    scales = np.geomspace(1.0, 1e4, 30)
    target = np.linspace(-1.0, 1.0, 30)
    x, f = minimise(
        lambda x: (0.5 * scales @ (x - target) ** 2, scales * (x - target)), np.zeros(30), gain=1e-16, steps=500
    )
    assert f < 1e-10
    np.testing.assert_allclose(x, target, atol=1e-5)


def test_a_valley_that_bends() -> None:
    def rosenbrock(x: FloatArray) -> tuple[float, FloatArray]:
        a, b = 1.0 - x[0], x[1] - x[0] ** 2
        return float(a**2 + 100 * b**2), np.array([-2 * a - 400 * x[0] * b, 200 * b])

    x, _ = minimise(rosenbrock, np.array([-1.2, 1.0]), gain=1e-16, steps=500)
    np.testing.assert_allclose(x, 1.0, atol=1e-6)


@pytest.mark.parametrize("barrier", [1e-2, 1e-5])
def test_a_minimum_beside_a_wall(barrier: float) -> None:
    """x − β log x has its minimum at β; first steps overshoot."""

    def walled(x: FloatArray) -> tuple[float, FloatArray]:
        if x[0] <= 0.0:
            return math.inf, np.full(1, math.nan)
        return float(x[0] - barrier * math.log(x[0])), 1.0 - barrier / x

    x, _ = minimise(walled, np.ones(1), gain=1e-14, steps=200)
    assert x[0] == pytest.approx(barrier, rel=1e-3)


def test_never_above_the_start() -> None:
    x, f = minimise(lambda x: (float(np.abs(x).sum()), np.sign(x)), np.array([3.0, -2.0]), gain=1e-9, steps=100)
    assert f <= 5.0
    assert f == np.abs(x).sum()


def test_a_stationary_start_stays() -> None:
    x, f = minimise(lambda x: (float(x @ x), 2 * x), np.zeros(3), gain=1e-9, steps=10)
    assert (f, x.tolist()) == (0.0, [0.0] * 3)
