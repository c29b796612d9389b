"""Least widths against facets, closed forms and each other; the picture's ellipsoid covers its polytope."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from factormech.bounds.central.published import marginal_entries, parity_entries, prefix_entries
from factormech.bounds.central.width import hadamard_width, minimum_width, polytope_picture, prefix_width
from factormech.errors import BadValue
from factormech.studies.measures.central import gaussian_moment, published_rows, workload_rows
from factormech.workloads.registry import create


def by_facets(W: np.ndarray) -> float:
    """Twice the distance of the nearest facet of conv(±W_j) from the origin."""
    return 2 * float(np.min(-ConvexHull(np.concatenate([W.T, -W.T])).equations[:, -1]))


@pytest.mark.parametrize("n", [1, 2, 3, 8, 13])
def test_prefix_sums_are_not_of_constant_width(n: int) -> None:
    W = np.tril(np.ones((n, n)))
    found = minimum_width(W)
    assert found.method == "signs"
    assert found.lower <= prefix_width(n) <= found.upper <= found.lower * (1 + 1e-12)
    assert np.linalg.norm(found.direction) == pytest.approx(1)
    assert 2 * np.abs(W.T @ found.direction).max() == pytest.approx(prefix_width(n))


def test_parities() -> None:
    found = minimum_width(create("2-way-parities", 16).matrix())
    assert found.lower == pytest.approx(hadamard_width(), rel=1e-6)
    assert found.lower <= 2 <= found.upper <= 2 * (1 + 1e-12)


@pytest.mark.parametrize(("k", "N", "seed"), [(2, 5, 0), (3, 8, 1), (4, 9, 2), (4, 4, 3)])
def test_random_matrices(k: int, N: int, seed: int) -> None:
    W = np.random.default_rng(seed).standard_normal((k, N))
    found = minimum_width(W)
    assert found.lower <= by_facets(W) * (1 + 1e-12)
    assert found.upper == pytest.approx(by_facets(W), rel=1e-9)
    assert found.lower > 0.8 * found.upper


def test_dependent_rows_have_no_width() -> None:
    found = minimum_width(np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 1.0], [1.0, 3.0, 4.0]]))
    assert found.lower < 1e-3
    assert found.upper < 1e-12


@pytest.mark.parametrize("rows", [2, 3])
def test_the_picture(rows: int) -> None:
    W = np.tril(np.ones((rows, rows)))
    picture = polytope_picture(W)
    sizes = np.linalg.norm(np.linalg.pinv(picture.ellipsoid) @ picture.points.T, axis=0)
    assert sizes.max() == pytest.approx(1, abs=1e-6)
    assert picture.facets.shape[1] == rows
    assert picture.width.upper == pytest.approx(prefix_width(rows))
    with pytest.raises(BadValue):
        polytope_picture(np.eye(4))


def test_rows_of_workloads() -> None:
    rows = list(workload_rows([create("prefix", 8)], [2.0, 4.0, np.inf], [(0.5, 1e-6), (2.0, 1e-3)]))
    assert len(rows) == 6
    for row in rows:
        gap = row["scaled_norm_upper"] / row["scaled_norm_lower"]
        assert row["trace_lower"] <= row["lower_bound"] < row["total_error"]
        constant = row["analytic_sigma"] * gaussian_moment(row["p"], 8) / row["least_noise"]
        assert row["ratio_to_bound"] == pytest.approx(constant * gap, rel=1e-12)
    with pytest.raises(BadValue):
        next(workload_rows([create("prefix", 8)], [2.0], [(1.0, 0.0)]))


def test_moments() -> None:
    assert gaussian_moment(2.0, 5) == pytest.approx(1)
    assert gaussian_moment(4.0, 5) == pytest.approx(3**0.25)
    largest = np.abs(np.random.default_rng(0).standard_normal((2000, 50))).max(axis=1)
    assert 0.8 * gaussian_moment(np.inf, 50) < np.sqrt(np.mean(largest**2)) < gaussian_moment(np.inf, 50)


@pytest.mark.parametrize("p", [2.0, 4.0, np.inf])
def test_families_agree_with_the_solved_norms(p: float) -> None:
    """The closed forms contain what the solver finds for the same workloads."""
    entries = [*prefix_entries([16], p), *parity_entries([4], 2, p), *marginal_entries([4], 2, p)]
    for entry, name in zip(entries, ("prefix", "2-way-parities", "2-way-marginals"), strict=True):
        (row,) = workload_rows([create(name, 16)], [p], [(1.0, 1e-6)])
        assert row["queries"] == entry.queries
        assert entry.norm_lower <= row["scaled_norm_upper"]
        assert row["scaled_norm_lower"] <= entry.norm_upper
        assert entry.norm_upper / entry.norm_lower < (1.3 if name == "prefix" else 1 + 1e-9)
        assert entry.polytope_width == pytest.approx(minimum_width(create(name, 16)).upper, abs=1e-9)


def test_published_growth() -> None:
    """Upper and lower errors keep a bounded ratio to the proved growth, over many sizes."""
    rows = list(published_rows(prefix_entries([2**6, 2**12, 2**20], 2.0), [(0.5, 1e-6)]))
    shares = [row["lower_bound"] / row["growth"] for row in rows]
    assert max(shares) / min(shares) < 1.6
    assert all(row["ratio_to_bound"] < 3.5 for row in rows)
    (local,) = parity_entries([6], 2, 2.0, local=True)
    assert (local.queries, local.setting, local.growth) == (22, "local", 9.0)
    with pytest.raises(BadValue):
        next(parity_entries([3], 4, 2.0))
