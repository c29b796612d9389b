"""The blocks of symmetric workloads: the symmetries found, and the same duals as from whole matrices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from factormech.mechanisms.local import l2_strategies
from factormech.mechanisms.local.l2_strategies import Blocks, blocks_of, symmetries
from factormech.numerics.vectors import root
from tests.oracles import all_ranges, prefix


def windows(n: int) -> np.ndarray:
    """Sums of four neighbours in a circle of eight, for each of n/8 circles."""
    circle = sum(np.roll(np.eye(8), k, axis=1) for k in range(4))
    return np.kron(np.eye(n // 8), circle)


def skewed(n: int) -> np.ndarray:
    return prefix(n) * np.linspace(1.0, 2.0, n)[:, None]


# The workload, its size, and how many symmetries of these kinds it has.
CASES: dict[str, tuple[Callable[[int], np.ndarray], int, int]] = {
    "histogram": (np.eye, 16, 16),
    "prefix": (prefix, 16, 2),
    "prefix, no power of two": (prefix, 12, 2),
    "prefix, odd": (prefix, 9, 1),
    "all ranges": (all_ranges, 16, 2),
    "windows": (windows, 16, 8),
    "skewed": (skewed, 16, 1),
}
cases = pytest.mark.parametrize("name", CASES)


def centred(name: str) -> np.ndarray:
    make, n, _ = CASES[name]
    W = make(n)
    W = W - W.mean(axis=1, keepdims=True)
    return np.asarray(W.T @ W)


def whole(name: str) -> tuple[np.ndarray, Blocks]:
    C = centred(name)
    return root(C).T, Blocks.of(C, symmetries(C))


@cases
def test_symmetries_are_a_group_of_involutions_that_fix_c(name: str) -> None:
    C = centred(name)
    images = symmetries(C)
    assert len(images) == CASES[name][2]
    assert np.array_equal(images[0], np.arange(len(C)))
    for i, one in enumerate(images):
        np.testing.assert_allclose(C[np.ix_(one, one)], C, atol=1e-10 * np.abs(C).max())
        assert i == 0 or not np.any(one == np.arange(len(C)))
        for j, other in enumerate(images):
            assert np.array_equal(one[other], images[i ^ j])


@cases
def test_ball_by_blocks_is_that_of_the_whole_matrix(name: str) -> None:
    B, blocks = whole(name)
    q = np.random.default_rng(1).dirichlet(np.ones(len(blocks.types)))
    A, phi = l2_strategies._ball_columns(B, blocks.by_type(q / blocks.order))
    found, squares = blocks.ball(q)
    assert found == pytest.approx(phi, rel=1e-12)
    np.testing.assert_allclose(blocks.by_type(squares), np.sum(A**2, axis=0), rtol=1e-10)


@cases
def test_diameter_by_blocks_is_that_of_the_whole_matrix(name: str) -> None:
    B, blocks = whole(name)
    w = np.random.default_rng(2).dirichlet(np.ones(len(blocks.pairs[0])))
    full, pairs = blocks.all_pairs(w), l2_strategies._pairs(B.shape[1])
    assert np.array_equal(full, full.T)
    assert full[pairs].sum() == pytest.approx(1.0)
    A, phi = l2_strategies._pair_columns(B, full[pairs], pairs)
    found, squares = blocks.diameter(w)
    distances = blocks.all_pairs(squares * blocks.pair_sizes)
    assert found == pytest.approx(phi, rel=1e-12)
    np.testing.assert_allclose(distances, l2_strategies._squared_distances(A), atol=1e-10 * distances.max())
    # What makes φ² a lower bound and the step a fixed point: Σ w·s = φ.
    assert float(w @ squares) == pytest.approx(phi, rel=1e-12)


@cases
def test_products_of_weights_are_summed_over_the_orbits_of_pairs(name: str) -> None:
    _, blocks = whole(name)
    q = blocks.by_type(np.random.default_rng(3).random(len(blocks.types)))
    products = blocks.all_pairs(blocks.pair_products(q))
    np.testing.assert_allclose(products, np.outer(q, q) * (1 - np.eye(len(q))), atol=1e-14)


@cases
def test_search_by_blocks_ends_where_that_of_the_whole_ends(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    B, _ = whole(name)
    A, q, ball = l2_strategies.enclosing_ball_strategy(B)
    D, diameter = l2_strategies.diameter_strategy(B, q)
    monkeypatch.setattr(l2_strategies, "blocks_of", lambda B: None)
    _, _, slow_ball = l2_strategies.enclosing_ball_strategy(B)
    _, slow = l2_strategies.diameter_strategy(B, q)
    assert ball.objective == pytest.approx(slow_ball.objective, rel=2e-9)
    assert diameter.objective == pytest.approx(slow.objective, rel=2e-4)
    assert diameter.stopped == slow.stopped == "gap below tolerance"
    # The record of the blocks holds of the whole strategy: ‖R‖_F² is φ, the size that of its columns.
    assert ball.objective == pytest.approx(_energy(A, B) * np.sum(A**2, axis=0).max(), rel=1e-8)
    assert diameter.objective == pytest.approx(_energy(D, B) * l2_strategies._squared_distances(D).max(), rel=1e-8)


def _energy(A: np.ndarray, B: np.ndarray) -> float:
    return float(np.sum((B @ np.linalg.pinv(A - A.mean(axis=1, keepdims=True))) ** 2))


def test_no_blocks_without_symmetry() -> None:
    assert blocks_of(root(centred("skewed")).T) is None
