"""The interior point method of lifts: its linear map against matrices, its answers against Frank–Wolfe."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.mechanisms.pure import bodies as body
from factormech.mechanisms.pure import covariance
from factormech.mechanisms.pure.covariance import lift
from factormech.numerics.vectors import pack, unpack


def symmetric(d: int, seed: int) -> FloatArray:
    G = np.random.default_rng(seed).standard_normal((d, d))
    return np.asarray(G + G.T)


def certified(Y: FloatArray, T: FloatArray, A: FloatArray) -> float:
    """max(λ_max(R), 0) − ⟨R, A⟩ anew."""
    R = unpack(T.T @ (Y - T @ pack(A)), len(A))
    return max(float(np.linalg.eigvalsh(R)[-1]), 0.0) - float((R * A).sum())


@pytest.mark.parametrize("scale", [1e-3, 0.1, 3.0, 100.0])
@pytest.mark.parametrize("more", [0, 7])
def test_the_unique_minimiser_is_that_of_frank_wolfe(scale: float, more: int) -> None:
    d, rng = 5, np.random.default_rng(3)
    T = rng.standard_normal((15 + more, 15)) / 4.0
    Y = T @ pack(np.eye(d) / d) + scale * rng.standard_normal(len(T))
    found = lift(Y, T, d)
    A = found.matrix
    assert found.iterations < 40
    assert np.linalg.eigvalsh(A)[0] > -1e-15
    assert np.trace(A) <= 1.0 + 1e-12
    assert found.gap == pytest.approx(certified(Y, T, A), abs=1e-9)
    assert found.gap <= 1e-8 * max(scale, 0.01) ** 2
    # Within √gap of the projection, each of them.
    other = covariance._corrected(Y, T, d, False, 1e-4, 5000)
    assert other.gap <= 1e-8
    assert np.linalg.norm(T @ pack(A - other.matrix)) <= 1.2e-4


def test_what_is_seen_without_noise_is_found() -> None:
    X = np.random.default_rng(4).standard_normal((2, 6))
    M = body.second_moment(body.clipped(X, unit=True)) * 0.9
    T = np.random.default_rng(5).standard_normal((30, 21))
    np.testing.assert_allclose(lift(T @ pack(M), T, 6, tolerance=1e-4).matrix, M, atol=1e-6)


def test_a_sum_that_it_does_not_reach_is_left_to_frank_wolfe() -> None:
    T = np.random.default_rng(6).standard_normal((12, 10))
    Y = np.full(12, 0.2)
    few = covariance._interior(Y, T, 4, 1e-3, 1)
    assert few.iterations == 1
    assert few.gap > 1e-6
    one = lift(Y, T, 4, iterations=1)
    assert one.gap == covariance._corrected(Y, T, 4, False, 1e-3, 1).gap
