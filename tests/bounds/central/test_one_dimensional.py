"""The least noise on the line: closed forms, brute-force programs, and noises that are known to be private."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from factormech.bounds.central.line import _SolvedProgram, _Windows, least_noise, pure_interval, pure_unit
from factormech.errors import BadValue
from factormech.privacy.gaussian import gaussian_noise_multiplier
from tests.bounds.central.oracles import lattice_noise
from tests.tiers import every_pair

pytestmark = pytest.mark.heavy

GRID = [(e, d) for e in (0.05, 0.5, 2.0, 5.0) for d in (1e-9, 1e-6, 1e-3, 0.1)]


def staircase(epsilon: float, gamma: float) -> float:
    """E Z² of the staircase noise by its series."""
    b, k = math.exp(-epsilon), np.arange(3000)
    height = (1 - b) / (2 * (gamma + b * (1 - gamma)))
    inner = ((k + gamma) ** 3 - k**3) / 3 + b * ((k + 1) ** 3 - (k + gamma) ** 3) / 3
    return float(2 * height * np.sum(b**k * inner))


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 3.0])
def test_pure_closed_forms(epsilon: float) -> None:
    z = np.arange(-3000, 3001)
    p = np.exp(-epsilon * np.abs(z))
    p /= p.sum()
    assert pure_unit(epsilon) == pytest.approx(float(p @ z**2), rel=1e-12)
    assert pure_unit(epsilon, 1) == pytest.approx(float(p @ np.abs(z)), rel=1e-12)
    best = minimize_scalar(
        lambda g: staircase(epsilon, g), bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-9}
    )
    assert pure_interval(epsilon) == pytest.approx(best.fun, rel=1e-10)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.1), (1.0, 0.01), (2.0, 0.1), (0.05, 0.1)])
def test_the_hull_is_the_program_over_every_fibre(epsilon: float, delta: float) -> None:
    """Noise on a quarter lattice that hides the shift 1 alone is real noise, so above V; and its fibres come near."""
    found = least_noise(epsilon, delta)
    program = lattice_noise(epsilon, delta, 4, 8, [4])
    assert found.lower <= program * (1 + 1e-7)
    assert program <= found.upper * 1.002


def test_whole_numbers_alone_are_no_lower_bound() -> None:
    """Fractional noise does better than noise on the whole numbers, which is what V must not be above."""
    whole = lattice_noise(0.5, 0.1, 1, 10, [1])
    assert whole == pytest.approx(1.35195997**2, rel=1e-7)
    assert least_noise(0.5, 0.1).upper < 0.985 * whole


@pytest.mark.parametrize(("epsilon", "delta"), every_pair(5, GRID))
def test_intervals(epsilon: float, delta: float) -> None:
    unit, mean = least_noise(epsilon, delta), least_noise(epsilon, delta, moment=1)
    assert 0 < unit.lower <= unit.upper <= pure_unit(epsilon) * (1 + 1e-11)
    assert max(unit.gap, mean.gap) < 1e-11
    assert mean.lower <= math.sqrt(unit.upper)
    every = least_noise(epsilon, delta, shifts="interval")
    assert unit.lower <= every.lower <= every.upper <= min(unit.upper + 1 / 12, pure_interval(epsilon)) * (1 + 1e-12)
    assert every.gap < (0.04 if epsilon == 5.0 else 0.006)
    assert gaussian_noise_multiplier(epsilon, delta) ** 2 >= every.upper


def test_published_values() -> None:
    assert math.sqrt(least_noise(0.5, 1e-6).lower) == pytest.approx(2.79876878, abs=1e-8)
    every = least_noise(0.5, 1e-6, shifts="interval")
    assert 2.813 < math.sqrt(every.lower) < math.sqrt(every.upper) < 2.8138


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.05), (3.0, 0.02)])
def test_every_shift_against_the_brute_program(epsilon: float, delta: float) -> None:
    """On ℤ/4: V is within 1/(4M²) below and 1/(12M²) above the program's value."""
    found, M = least_noise(epsilon, delta, shifts="interval"), 4
    program = lattice_noise(epsilon, delta, M, 5 if epsilon < 2 else 3, [1, 2, 3, 4])
    assert program - 0.25 / M**2 <= found.upper
    assert found.lower <= program + 1 / (12 * M**2)


def test_it_falls_in_epsilon_and_delta_and_tends_to_the_pure_value() -> None:
    by_delta = [least_noise(0.7, d) for d in (1e-12, 1e-6, 1e-3, 0.1, 0.4, 0.8)]
    assert all(x.lower > y.upper for x, y in pairwise(by_delta))
    assert by_delta[0].lower == pytest.approx(pure_unit(0.7), rel=1e-8)
    by_epsilon = [least_noise(e, 1e-3) for e in (0.1, 0.3, 1.0, 3.0)]
    assert all(x.lower > y.upper for x, y in pairwise(by_epsilon))


@pytest.mark.parametrize(
    ("epsilon", "delta", "options"),
    [
        (0.0, 0.1, {}),
        (1.0, 1.0, {}),
        (1.0, -0.1, {}),
        (1.0, 0.1, {"shifts": "some"}),
        (1.0, 0.1, {"moment": 3}),
        (1.0, 0.1, {"moment": 1, "shifts": "interval"}),
        (1e-4, 1e-9, {}),
    ],
)
def test_refusals(epsilon: float, delta: float, options: dict[str, object]) -> None:
    with pytest.raises(BadValue):
        least_noise(epsilon, delta, **options)  # type: ignore[arg-type]


def test_every_slope_proves_a_bound_and_every_window_is_needed() -> None:
    """At δ of an uneven window, where the hull of even windows alone would prove too much."""
    windows = _Windows(0.5, 2, 60)
    d, m, _ = windows.points(1)
    delta = float(d[2])
    found = least_noise(0.5, delta)
    assert found.upper <= m[2] * (1 + 1e-12)
    best = max(windows._dual_value(slope, delta, 0.0) for slope in np.geomspace(1.0, 200.0, 400))
    assert 0.999 * found.lower < best <= found.upper


def test_the_constraints_of_the_certificate_written_out() -> None:
    """Random tests with 0 ≤ f ≤ λ, zero up to s/2: the sums over shifts, and what is proved after the repair."""
    M, J, epsilon, rng = 3, 12, 0.8, np.random.default_rng(0)
    multipliers, tests = np.array([0.3, 0.4, 2.0]), np.zeros((M + 1, J + M + 1))
    for s in range(1, M + 1):
        tests[s, s // 2 + 1 : J + s + 1] = multipliers[s - 1] * rng.random(J + s - s // 2)
    program = _SolvedProgram(epsilon, M, 1.0, np.ones(J + 1), multipliers, tests, 1.0)
    reach = 20
    f = program._extended(reach + M + 1)
    rest = program._without_unit_test(f, reach, math.exp(epsilon))
    for z in range(reach + 1):
        by_hand = (z / M) ** 2
        for s in range(1, M):
            by_hand += f[s, z + s] + (f[s, s - z] if s > z else 0.0) - math.exp(epsilon) * f[s, z]
        assert rest[z] == pytest.approx(by_hand, abs=1e-12)
    assert program.lower_end(0.01) <= least_noise(epsilon, 0.01, shifts="interval").upper + 0.25 / M**2
