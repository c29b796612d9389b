"""Groups of neighbouring types: their Gram matrix, weights from them, and the bounds that start from them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.bounds import pair_search, parametric
from factormech.bounds.pair_search import grouped, levels, off_edge, spread_pairs, spread_types, uniform_start
from factormech.bounds.pairwise import pairwise, solve
from factormech.bounds.staircase import InformationLimit, SizeLimit
from factormech.workloads.matrix import MatrixWorkload
from factormech.workloads.registry import create
from tests.tiers import every

pytestmark = pytest.mark.heavy


def shares(n: int, m: int) -> np.ndarray:
    """A_ui by definition: the length of cell u inside group i, relative to the cell."""
    low = np.maximum(np.arange(n)[:, None] / n, np.arange(m) / m)
    high = np.minimum(np.arange(1, n + 1)[:, None] / n, np.arange(1, m + 1) / m)
    return np.asarray(n * np.maximum(high - low, 0.0))


@pytest.mark.parametrize(("n", "m"), [(8, 4), (7, 4), (9, 5), (10, 3), (5, 5)])
def test_groups_overlap_cells(n: int, m: int) -> None:
    W = np.random.default_rng(n).normal(size=(n, n))
    C = (W - W.mean(axis=1, keepdims=True)).T @ (W - W.mean(axis=1, keepdims=True))
    small = grouped(C, m)
    np.testing.assert_allclose(small, shares(n, m).T @ C @ shares(n, m), atol=1e-10)
    np.testing.assert_allclose(small.sum(axis=0), 0.0, atol=1e-10)
    np.testing.assert_array_equal(small, small.T)


def test_levels_end_with_the_matrix_itself() -> None:
    C = create("prefix", 401).centred_gram()
    grams = levels(C)
    assert [len(gram) for gram in grams] == [101, 201, 401]
    assert grams[-1] is C
    assert all(np.abs(gram - gram[::-1, ::-1]).max() <= 1e-11 * np.abs(gram).max() for gram in grams)


@pytest.mark.parametrize(("m", "n"), [(6, 12), (6, 11), (5, 9)])
def test_interpolation_keeps_lines_and_totals(m: int, n: int) -> None:
    def middles(size: int) -> np.ndarray:
        return np.asarray((np.arange(size) + 0.5) / size)

    p = np.exp(0.7 * middles(m))
    expected = np.exp(0.7 * middles(n))
    np.testing.assert_allclose(spread_types(p, n), expected / expected.sum(), rtol=1e-12)
    x, y = middles(m), middles(n)
    N = spread_pairs((1.0 + x[:, None] + x + 3.0 * x[:, None] * x) / m**2, n)
    expected = (1.0 + y[:, None] + y + 3.0 * y[:, None] * y) / n**2
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(N, expected, rtol=1e-12)
    kink = spread_pairs(np.maximum(np.abs(np.subtract.outer(np.arange(m), np.arange(m))) - 2.0, 0.0), n)
    assert kink.min() == 0.0
    np.testing.assert_array_equal(kink, kink.T)


@pytest.mark.parametrize("epsilon", every(2, [1.0, 3.0, 6.0]))
@pytest.mark.parametrize("name", ["prefix", "all-ranges", pytest.param("random", marks=pytest.mark.slow)])
def test_levels_lose_nothing(name: str, epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the search at once, which may end earlier; also where the order of the types means nothing."""
    W = np.random.default_rng(0).normal(size=(30, 60)) * np.exp(np.random.default_rng(1).normal(size=60))
    C = MatrixWorkload("random", W).centred_gram() if name == "random" else create(name, 60).centred_gram()
    at_once = parametric.solve(C, epsilon).objective, solve(C, epsilon).objective
    monkeypatch.setattr(pair_search, "SMALLEST", 20)
    by_levels = parametric.solve(C, epsilon).objective, solve(C, epsilon).objective
    assert by_levels[0] == pytest.approx(at_once[0], rel=2e-3)
    assert by_levels[1] >= at_once[1] * (1 - 2e-3)


def test_interpolated_weights_alone_are_nearly_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    C = create("prefix", 120).centred_gram()
    at_once = solve(C, 5.0).objective
    without = parametric.solve(C, 5.0).objective
    monkeypatch.setattr(pair_search, "SMALLEST", 60)
    monkeypatch.setattr("factormech.bounds.pairwise.FINEST", 60)
    monkeypatch.setattr(parametric, "FINEST", 60)
    found = solve(C, 5.0).objective
    assert found >= 0.99 * at_once > 2.0 * without
    assert found <= at_once * (1 + 1e-3)


@pytest.mark.parametrize("n", [96, 128])
def test_the_search_is_not_held_by_the_edge_of_the_limit(n: int) -> None:
    """At ω = 1/c² exactly B is not smooth, and a search from there used to end at once."""
    C = create("prefix", n).centred_gram()
    assert solve(C, 2.0).objective >= 1.014 * parametric.solve(C, 2.0).objective
    limit = SizeLimit.of(n, 2.0)
    start = uniform_start(n, limit)
    assert off_edge(start, limit) is start or off_edge(start, limit).omega > limit.flatness * 1.01


def test_a_start_is_met_and_kept_inside() -> None:
    C = create("prefix", 40).centred_gram()
    C, limit = C / np.trace(C), InformationLimit.of(40, 1.0)
    assert limit is not None
    best = parametric.best_weights(C, limit)
    again = parametric.best_weights(C, limit, best)
    values = [parametric.objective_bound(C, *found, limit) for found in (best, again)]
    assert values[1] == pytest.approx(values[0], rel=1e-6)
    wild = np.exp(3.0 * np.random.default_rng(0).normal(size=40))  # no ω ≤ 1/c² allows it
    found = parametric.best_weights(C, limit, (wild / wild.sum(), 0.1))
    assert parametric.objective_bound(C, *found, limit) == pytest.approx(values[0], rel=1e-4)
    assert math.isfinite(found[1])


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "ratio"), [(2.0, 1.0025), (4.0, 1.512), (6.0, 4.98), (8.0, 13.88)])
def test_large_domains_gain_from_pairs(epsilon: float, ratio: float) -> None:
    """Ratios within 0.3 % of those of the search at once."""
    workload = create("prefix", 512)
    n, scale = 512, float(np.trace(workload.centred_gram()))
    with_pairs = n * pairwise(workload, epsilon) + scale
    assert with_pairs >= ratio * parametric.solve(workload.centred_gram(), epsilon).objective
