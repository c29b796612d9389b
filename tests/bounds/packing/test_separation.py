"""Separation numbers: known codes, exhaustive search, both sides of Theorem 1.4."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from factormech.bounds.packing.families import (
    EXACT_LIMIT,
    coarse_ratio,
    distances_of,
    separation,
    separation_bound,
    traversal,
)
from factormech.errors import BadValue
from tests.bounds.packing import mechanisms


def cube(d: int) -> np.ndarray:
    """All of {0,1}^d as columns."""
    return (np.arange(2**d)[None, :] >> np.arange(d)[:, None] & 1).astype(float)


def exhaustive(D: np.ndarray, t: float) -> int:
    best = 1
    for size in range(2, len(D) + 1):
        if any(
            all(D[i, j] >= t for i, j in itertools.combinations(c, 2))
            for c in itertools.combinations(range(len(D)), size)
        ):
            best = size
        else:
            break
    return best


def test_the_cube_has_the_sizes_of_the_best_codes() -> None:
    for d, sizes in [(3, [8, 4, 2]), (4, [16, 8, 2, 2]), (5, [32, 16, 4, 2, 2])]:
        W = cube(d)
        found = separation(distances_of(W.T @ W, d), exact=True)
        assert found.lower.tolist() == sizes[::-1] == found.upper.tolist()
        assert found.distance == pytest.approx(np.sqrt(np.arange(d, 0, -1) / d), rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_search_and_traversal_enclose_the_truth(seed: int) -> None:
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(int(rng.integers(1, 6)), 8))
    D = distances_of(W.T @ W, len(W))
    exact, rough = separation(D, exact=True), separation(D)
    for t, low, high in zip(exact.distance, exact.lower, exact.upper, strict=True):
        assert low == high == exhaustive(D, t * (1 - 1e-9))
    for t, low, high in zip(rough.distance, rough.lower, rough.upper, strict=True):
        assert low <= exhaustive(D, t) <= high


def test_the_traversal_is_separated_and_covers() -> None:
    W = np.random.default_rng(3).normal(size=(3, 200))
    D = distances_of(W.T @ W, 3)
    order, radii = traversal(D)
    assert len(set(order.tolist())) == 200
    assert np.all(np.diff(radii) <= 0)
    for M in (2, 5, 50):
        first = D[np.ix_(order[:M], order[:M])] + np.diag([np.inf] * M)
        assert first.min() == radii[M - 2]
        assert D[order[:M]].min(axis=0).max() == radii[M - 1]


def test_equal_answers_are_one_point() -> None:
    W = np.repeat(np.random.default_rng(0).normal(size=(4, 3)), 5, axis=1)
    found = separation(distances_of(W.T @ W, 4))
    assert found.lower.max() == found.upper.max() == 3
    none = separation(distances_of(np.ones((6, 6)), 1))
    assert none.diameter == 0.0
    assert separation_bound(none, 5, 1.0).value == 0.0


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
def test_no_mechanism_is_contradicted(epsilon: float) -> None:
    rng = np.random.default_rng(7)
    for k, N in [(1, 5), (3, 20), (30, 12)]:
        W = rng.normal(size=(k, N))
        found = separation(distances_of(W.T @ W, k))
        for n in (1, 4, 50, 10**5):
            bound = separation_bound(found, n, epsilon)
            assert 0.0 < bound.value <= mechanisms.ball_noise(W, n, epsilon)
            assert bound.value == pytest.approx(bound.witness["distance"] * bound.witness["share"], rel=1e-9)


def test_theorem_1_4_between_its_sides() -> None:
    W = cube(4)
    found = separation(distances_of(W.T @ W, 4), exact=True)
    for alpha in (0.02, 0.1, 0.5, 0.9):
        ratio = coarse_ratio(found, alpha)
        assert ratio.ratio == pytest.approx(ratio.upper / ratio.lower)
        assert ratio.ratio <= ratio.allowed * (1 + 1e-9)
        t, P = found.distance, found.lower
        far = t > alpha / 4
        assert ratio.lower == pytest.approx((t * np.log(P))[far].max() / alpha)
        assert ratio.upper == pytest.approx((t**2 * np.log(P))[far].max() * math.log(1 / alpha) ** 2 / alpha**2)


def test_bad_values_are_refused() -> None:
    with pytest.raises(BadValue, match="types"):
        separation(np.ones((EXACT_LIMIT + 1,) * 2), exact=True)
    found = separation(distances_of(np.eye(3), 3))
    for alpha in (0.0, 5.0):
        with pytest.raises(BadValue, match="alpha"):
            coarse_ratio(found, alpha)
