"""Sensitivities against brute force over all columns, on both sides of every size where a program may take a turn."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.mechanisms.central import factorization
from factormech.mechanisms.central.mechanism import from_factorization
from factormech.mechanisms.local import l1_strategies, noisy_columns
from factormech.mechanisms.pure import bodies, covariance
from factormech.mechanisms.pure.bouncy import Gauge
from factormech.privacy.guarantee import guarantee_of
from factormech.workloads.registry import create

SIZES = (2, 63, 64, 65, 66, 129, 255, 257, 300)


def columns_of(n: int) -> FloatArray:
    """Columns of which the last two alone are far apart, and the last alone is long."""
    A = np.random.default_rng(n).uniform(-0.1, 0.1, (5, n))
    A[:, -2] = -0.4, 0.3, -0.2, 0.1, 0.3
    A[:, -1] = 0.9, -0.8, 0.7, -0.6, 0.5
    return A


def l1(a: FloatArray, b: FloatArray) -> float:
    return math.fsum(abs(x - y) for x, y in zip(a.tolist(), b.tolist(), strict=True))


def largest(distance: Callable[[FloatArray, FloatArray], float], A: FloatArray) -> float:
    return max(distance(a, b) for a, b in itertools.combinations(A.T, 2))


def laplace(A: FloatArray) -> tuple[float, float]:
    return noisy_columns.with_laplace_noise(A, 1.0).sensitivity, largest(l1, A)


def gaussian(A: FloatArray) -> tuple[float, float]:
    return noisy_columns.with_gaussian_noise(A, 1.0, 1e-6).sensitivity, largest(math.dist, A)


def half_sphere(A: FloatArray) -> tuple[float, float]:
    noisy = noisy_columns.with_half_sphere_noise(A, 1.0)
    return 1.0, max(math.hypot(*column) for column in noisy.columns.T)


def plain_l1(A: FloatArray) -> tuple[float, float]:
    return l1_strategies.l1_diameter(A) * (1 + 1e-14), largest(l1, A)


def body_l1(A: FloatArray) -> tuple[float, float]:
    return bodies.body_of(A).diameters[0], largest(l1, A)


def body_l2(A: FloatArray) -> tuple[float, float]:
    return bodies.body_of(A).diameters[1], largest(math.dist, A)


def curator(A: FloatArray) -> tuple[float, float]:
    return factorization.dense_sensitivity(A), max(math.hypot(*column) for column in A.T)


def curator_in_use(A: FloatArray) -> tuple[float, float]:
    """Of a mechanism: what its σ is calibrated to."""
    workload = create("histogram", A.shape[1])
    R = np.eye(A.shape[1])
    R[:, -1] *= 2.0
    found = factorization.of_matrices(workload, np.linalg.inv(R), R)
    mechanism = from_factorization("own", found, 1.0, 1e-6)
    verified = mechanism.verify()
    assert verified.delta_found <= guarantee_of(mechanism).delta
    return verified.sensitivity, 2.0


def gauge(A: FloatArray) -> tuple[float, float]:
    """K-norm noise hides every difference of two columns: their gauges are at most 1."""
    A = A[:2]
    pairs = np.array([a - b for a, b in itertools.combinations(A.T, 2)])
    return 1.0 + 1e-9, float(Gauge(bodies.body_of(A)).of(pairs).max())


CASES = [laplace, gaussian, half_sphere, plain_l1, body_l1, body_l2, curator, curator_in_use, gauge]


def check(case: Callable[[FloatArray], tuple[float, float]], sizes: tuple[int, ...] = SIZES) -> None:
    for n in sizes:
        used, needed = case(columns_of(n))
        assert needed <= used <= needed * (1 + 1e-6), (case.__name__, n)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_sensitivities_are_those_of_all_columns(case: Callable[[FloatArray], tuple[float, float]]) -> None:
    check(case)


@pytest.mark.parametrize("dimension", [2, 5, 9])
def test_the_diameter_of_a_sketch_covers_all_pairs_of_directions(dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    T = rng.standard_normal((4, dimension * dimension))
    x, y = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in rng.standard_normal((2, 300, dimension)))
    moved = [T @ (np.outer(a, a) - np.outer(b, b)).ravel() for a, b in zip(x, y, strict=True)]
    assert max(np.linalg.norm(step) for step in moved) <= covariance.diameter(T, dimension)
