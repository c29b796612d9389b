"""Projections on the simplex: what makes a point the nearest, and the same bits in both ways."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.numerics import vectors


@pytest.mark.parametrize("shape", [(1,), (2,), (5,), (40,), (3, 4, 7)])
@pytest.mark.parametrize("mass", [1e-3, 1.0, 20.0])
def test_the_level_leaves_the_mass(shape: tuple[int, ...], mass: float) -> None:
    values = 3 * np.random.default_rng(len(shape)).standard_normal(shape)
    left = np.maximum(values - vectors.level(values, mass)[..., None], 0.0).sum(axis=-1)
    np.testing.assert_allclose(left, mass, rtol=1e-11)


@pytest.mark.parametrize("d", [1, 2, 5, 40])
def test_the_nearest_point_has_no_better_neighbour(d: int) -> None:
    """⟨v − p, q − p⟩ ≤ 0 for every vertex q of the simplex, and so for all its points (convexity)."""
    v = 3 * np.random.default_rng(d).standard_normal((20, d))
    p = vectors.nearest(v)
    assert p.min() >= 0.0
    np.testing.assert_allclose(p.sum(axis=-1), 1.0, rtol=1e-13)
    assert ((v - p) - ((v - p) * p).sum(axis=-1, keepdims=True)).max() <= 1e-12


def test_known_points() -> None:
    np.testing.assert_allclose(vectors.nearest(np.array([0.2, 0.8])), [0.2, 0.8])
    np.testing.assert_allclose(vectors.nearest(np.array([5.0, 5.0, 4.5])), [0.5, 0.5, 0.0])


@pytest.mark.parametrize("N", [1, 2, 50, 4096])
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 0.1, 10.0])
def test_what_is_not_sorted_changes_no_bit(N: int, scale: float) -> None:
    rng = np.random.default_rng(N)
    for shift in (0.0, 1.0, -1e4):
        v = scale * rng.laplace(size=N) + shift
        v[: N // 3 + 1] += 3.0 / N
        np.testing.assert_array_equal(vectors.nearest_long(v), vectors.nearest(v))


def test_a_number_that_is_none_ends_with_an_error() -> None:
    with pytest.raises(IndexError), np.errstate(invalid="ignore", divide="ignore"):
        vectors.nearest_long(np.array([0.5, np.nan]))
