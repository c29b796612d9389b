"""Norms of classes on sets of attributes: dense solvers, dense re-checks of both ends, closed forms, exact
arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest

import factormech as fm
from factormech.arrays import FloatArray
from factormech.errors import BadValue, UnknownName
from factormech.learning.concepts import concept_class
from factormech.norms.approximate import approximate_norm, eta_norm, margin_complexity, numerator
from factormech.norms.boxes import around, of_eta, of_margin
from factormech.norms.certificates import dual_norm
from factormech.norms.certified import CertifiedNorm
from factormech.norms.subsets import certificate, semidefinite, zonal
from factormech.norms.subsets.classes import doubled, names, subset_class
from factormech.norms.subsets.marginals import conjunctions_norm, krawtchouk, marginals_norm
from factormech.norms.subsets.norms import QUANTITIES, certified, subset_norm
from factormech.numerics import rational
from factormech.workloads.given import workload

CLASSES = ("conjunctions", "disjunctions", "majorities", "threshold-counts")
ASKED = [("gamma-2-approximate", 0.1), ("gamma-2-shifted", 0.2), ("eta", 0.1), ("margin-complexity", None)]


# Zonal functions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 5, 6])
def test_coefficients_are_inner_products_of_unit_vectors(d: int) -> None:
    masks = np.arange(1 << d)
    sizes, common = np.bitwise_count(masks), np.bitwise_count(masks[:, None] & masks[None, :])
    c = zonal.coefficients(d)
    for k in range(d // 2 + 1):
        phi = zonal.vectors(d, k)
        assert phi.shape == (1 << d, zonal.dimension(d, k))
        assert np.allclose(phi @ phi.T, c[k][sizes[:, None], sizes[None, :], common], atol=1e-12)
        inside = (sizes >= k) & (sizes <= d - k)
        assert np.allclose(np.linalg.norm(phi, axis=1), inside)


def test_coefficients_are_orthogonal_at_thirty_attributes() -> None:
    d = 30
    c, sizes = zonal.coefficients(d), (9, 15)
    shares = np.array([zonal.share(d, *sizes, t) for t in range(d + 1)])
    gram = np.einsum("kt,lt,t->kl", c[:, sizes[0], sizes[1]], c[:, sizes[0], sizes[1]], shares)
    m = np.array([zonal.dimension(d, k) for k in range(len(c))])
    inside = np.arange(len(c)) <= 9
    assert np.allclose(gram * np.sqrt(np.outer(m, m)), np.diag(inside), atol=1e-9)
    assert math.isclose(shares.sum(), 1.0)
    assert np.abs(c).max() <= 1.0 + 1e-14


@pytest.mark.parametrize("d", [9, 30])
def test_coefficients_are_within_their_roundings_of_exact_ones(d: int) -> None:
    """c² is rational: c_k(i, j, t)² = β²/N_t² · C(d,i)C(d,j)/(C(d−2k,i−k)C(d−2k,j−k))."""
    rng, c = np.random.default_rng(d), zonal.coefficients(d)
    for _ in range(60):
        k = int(rng.integers(0, d // 2 + 1))
        i, j = sorted(rng.integers(k, d - k + 1, 2).tolist())
        t = int(rng.integers(max(0, i + j - d), i + 1))
        beta = sum(
            (-1) ** (u - t) * comb(u, t) * comb(d - 2 * k, u - k) * comb(d - k - u, i - u) * comb(d - k - u, j - u)
            for u in range(max(t, k), min(i, d - k) + 1)
        )
        square = Fraction(beta, zonal.pairs(d, i, j, t)) ** 2 * Fraction(
            comb(d, i) * comb(d, j), comb(d - 2 * k, i - k) * comb(d - 2 * k, j - k)
        )
        found = Fraction(float(c[k, i, j, t]))
        assert abs(found**2 - square) <= 2 * zonal.ROUNDINGS * Fraction(1, 2**53) * square
        assert square <= 1
        assert (found > 0) == (beta > 0)


# The matrices ------------------------------------------------------------------------------------------------


def test_tables_are_the_matrices() -> None:
    built = subset_class("conjunctions", 4)
    order = np.argsort(np.bitwise_count(np.arange(16)), kind="stable")
    listed = concept_class("conjunctions", 4)  # by mask, equal concepts merged: there are none
    assert np.array_equal(built.dense(built.values), listed.labels[np.ix_(order, order)])
    small, registered = subset_class("conjunctions-2", 4), workload("conjunctions-2", 16).matrix()
    assert np.array_equal(small.dense(small.values), registered[:, order])
    counts = subset_class("threshold-counts", 3)
    assert counts.queries == len(counts.dense(counts.values)) == 2 + sum(s * comb(3, s) for s in range(4))


# Both ends ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("quantity", "alpha"), ASKED)
@pytest.mark.parametrize("name", CLASSES)
def test_intervals_meet_those_of_the_dense_solver(name: str, quantity: str, alpha: float | None) -> None:
    d = 3 if name == "threshold-counts" else 4
    queries = subset_class(name, d)
    found, W = subset_norm(queries, quantity, alpha), queries.dense(queries.values)
    dense = {
        "gamma-2-approximate": lambda: approximate_norm(W, 0.1, gap=1e-4),
        "gamma-2-shifted": lambda: approximate_norm(W, 0.2, shifted=True, gap=1e-4),
        "eta": lambda: eta_norm(W, 0.1, gap=1e-4),
        "margin-complexity": lambda: margin_complexity(W, gap=1e-4),
    }[quantity]()
    assert found.gap < 1e-5
    assert found.lower <= dense.upper
    assert dense.lower <= found.upper


@pytest.mark.parametrize("name", ["conjunctions", "majorities"])
@pytest.mark.parametrize("quantity", ["gamma-2-approximate", "eta"])
def test_ends_hold_for_the_dense_matrices(name: str, quantity: str) -> None:
    """The factors and the dual matrix, written out, prove the same numbers: no solver and no block is trusted."""
    queries = subset_class(name, 5)
    found = subset_norm(queries, quantity, 0.1)
    W = queries.dense(queries.values)
    boxes = around(W, 0.1, shifted=False) if quantity != "eta" else of_eta(W, 0.1)
    _recheck(queries if quantity != "eta" else doubled(queries), found, boxes)


def _recheck(queries, found: CertifiedNorm, boxes) -> None:  # type: ignore[no-untyped-def]
    R, A = found.left.dense(), found.right.dense()
    assert R.shape == found.left.shape
    assert A.shape == found.right.shape
    shift = np.repeat(found.witness["shift"], [comb(queries.attributes, int(s)) for s in queries.rows])
    P = R @ A - shift[:, None]
    assert (boxes.low - 1e-9 <= P).all()
    assert (boxes.high + 1e-9 >= P).all()
    assert np.linalg.norm(R, axis=1).max() * np.linalg.norm(A, axis=0).max() <= found.upper * (1 + 1e-9)
    d = queries.attributes
    counts = queries.on_columns * np.tile([comb(d, int(s)) for s in queries.columns], (d + 1, 1)).T.ravel()
    each = np.divide(found.witness["dual"], counts, out=np.zeros(counts.shape), where=counts > 0)
    U = queries.dense(each)
    assert np.isclose(np.abs(U).sum(), np.abs(found.witness["dual"]).sum())
    if boxes.shifted:
        assert np.abs(U.sum(axis=1)).max() < 1e-12
    assert numerator(boxes, np.where(np.abs(U) < 1e-15, 0.0, U)) / dual_norm(U, gap=1e-6).upper >= found.lower * (
        1 - 2e-6
    )


def test_margins_beyond_the_dense_matrix() -> None:
    """At d = 7 the dense solver takes 128 × 128 labels."""
    found, W = fm.norm("conjunctions", "margin", attributes=7), concept_class("conjunctions", 7).labels
    dense = margin_complexity(W)
    assert found.lower <= dense.upper
    assert dense.lower <= found.upper
    assert found.gap < 1e-6
    assert of_margin(W).shape == (128, 128)


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 5, 12, 20])
def test_tensor_powers_have_their_closed_form(d: int) -> None:
    found = fm.norm(f"conjunctions-{d}", "gamma-2", attributes=d)
    assert found.lower <= (2 / math.sqrt(3)) ** d * (1 + 1e-15)
    assert (2 / math.sqrt(3)) ** d <= found.upper * (1 + 1e-15)
    assert found.gap < 1e-5


def test_parities_have_their_closed_form() -> None:
    for quantity, value in (("gamma-2", 0.9), ("eta", 0.45)):
        found = fm.norm("parities", quantity, attributes=6, alpha=0.1)
        assert found.lower <= value * 8 * (1 + 1e-12)
        assert found.upper >= value * 8 * (1 - 1e-12)
        assert found.gap < 1e-5


def test_ends_need_no_solver() -> None:
    """From random numbers in the place of a solution the interval is wide, and holds the norm."""
    rng = np.random.default_rng(5)
    queries, boxes = QUANTITIES["eta"](subset_class("conjunctions", 5), 0.1)
    good = semidefinite.solve(queries, boxes)
    true = certified(queries, boxes, good)
    for size in (1e-3, 0.3):
        noisy = semidefinite.SemidefiniteSolution(
            good.dual + size * rng.standard_normal(good.dual.shape) * (good.dual != 0),
            np.abs(good.row_weights + 0.1 * size * rng.standard_normal(good.row_weights.shape)),
            np.abs(good.column_weights + 0.1 * size * rng.standard_normal(good.column_weights.shape)),
            [root + size * rng.standard_normal(root.shape) * root.any(axis=1, keepdims=True) for root in good.roots],
            good.record,
        )  # fmt: skip
        found = certified(queries, boxes, noisy)
        assert found.lower <= true.lower * (1 + 1e-6)
        assert true.upper <= found.upper * (1 + 1e-6)
        assert found.gap > 1e-4


def test_a_dual_matrix_that_is_too_large_is_scaled() -> None:
    queries, boxes = QUANTITIES["margin-complexity"](subset_class("conjunctions", 4), 0.0)
    good = semidefinite.solve(queries, boxes)
    p, q = good.row_weights + 1e-6, good.column_weights + 1e-6
    one = certificate.dual_size(queries, good.dual, p, q)
    assert math.isclose(certificate.dual_size(queries, 3.0 * good.dual, p, q), 3.0 * one, rel_tol=1e-9)


# Marginals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "w"), [(3, 1), (4, 2), (4, 4)])
@pytest.mark.parametrize("shifted", [False, True])
def test_marginals_by_coefficients_meet_the_dense_solver(d: int, w: int, shifted: bool) -> None:
    found = marginals_norm(d, w, 0.125, shifted=shifted)
    dense = approximate_norm(workload(f"{w}-way-marginals", 1 << d), 0.125, shifted=shifted, gap=1e-4)
    assert found.lower <= dense.upper
    assert dense.lower <= found.upper
    assert found.gap < 1e-15


@pytest.mark.parametrize(("d", "w"), [(2, 1), (3, 2), (4, 1), (4, 2), (5, 2)])
def test_ends_of_conjunctions_hold_the_dense_solver(d: int, w: int) -> None:
    lower, upper = conjunctions_norm(d, w, 0.125)
    dense = approximate_norm(workload(f"conjunctions-{w}", 1 << d), 0.125, gap=1e-4)
    assert lower <= dense.upper
    assert dense.lower <= upper
    assert upper <= 4.0 * lower


@pytest.mark.parametrize(("d", "w"), [(2, 1), (2, 2), (3, 2)])
def test_conjunctions_and_marginals_are_parts_of_each_other(d: int, w: int) -> None:
    """The two embeddings of ``conjunctions_norm``, as matrices: rows are compared as sets."""

    def rows(matrix: FloatArray) -> set[tuple[float, ...]]:
        return {tuple(row) for row in matrix}

    marginals = workload(f"{w}-way-marginals", 1 << d).matrix()
    doubled_types = [y | (y ^ (1 << d) - 1) << d for y in range(1 << d)]
    assert rows(marginals) <= rows(workload(f"conjunctions-{w}", 1 << 2 * d).matrix()[:, doubled_types])
    padded_types = [y | ((1 << w) - 1) << d for y in range(1 << d)]
    padded = workload(f"{w}-way-marginals", 1 << d + w).matrix()[:, padded_types]
    assert rows(workload(f"conjunctions-{w}", 1 << d).matrix()) <= rows(padded)


def test_marginals_at_thousands_of_attributes_are_proved_exactly() -> None:
    d, w, a = 4096, 5, Fraction(1, 8)
    found = marginals_norm(d, w, float(a))
    K = krawtchouk(w)
    assert found.distance <= a
    assert sum((math.sqrt(comb(d, t) * comb(w, t)) * abs(f) for t, f in enumerate(found.coefficients)), 0.0) <= (
        found.upper * (1 + 1e-12)
    )
    for t in range(w + 1):  # Σ_s y_s κ_t(s) at most √(C(d,t)C(w,t)), in whole numbers
        value = sum(y * K[s][t] for s, y in enumerate(found.masses))
        assert value**2 <= comb(d, t) * comb(w, t)
    assert found.masses[w] - a * sum(map(abs, found.masses)) >= Fraction(found.lower)


def test_exact_programs() -> None:
    from scipy.optimize import linprog

    rng = np.random.default_rng(3)
    for _ in range(20):
        A, x = rng.integers(-5, 6, size=(6, 4)), rng.integers(0, 4, size=4)
        b, c = A @ x + rng.integers(0, 3, size=6), rng.integers(0, 9, size=4)
        found = rational.least(c.tolist(), A.tolist(), b.tolist())
        assert math.isclose(float(found.value), linprog(c, A_ub=A, b_ub=b).fun, abs_tol=1e-9)
        assert found.value == -sum(int(v) * y for v, y in zip(b, found.multipliers, strict=True))
    with pytest.raises(BadValue):
        rational.least([1], [[1], [-1]], [1, -2])
    assert rational.root_below(2) ** 2 < 2 < rational.root_above(2) ** 2
    assert rational.root_above(9) == 3


# Bad input ---------------------------------------------------------------------------------------------------


def test_bad_input_is_refused() -> None:
    with pytest.raises(BadValue, match="from 1 to 30"):
        fm.norm("conjunctions", "eta", attributes=31, alpha=0.1)
    with pytest.raises(UnknownName, match="majorities"):
        fm.norm("half-planes", "eta", attributes=3, alpha=0.1)
    with pytest.raises(UnknownName, match="gamma-2"):
        fm.norm("conjunctions", "gamma-f", attributes=3)
    with pytest.raises(BadValue, match="leave it out"):
        fm.norm("conjunctions", "gamma-2", attributes=3, n=8)
    with pytest.raises(BadValue, match="number of attributes"):
        fm.norm("5-way-marginals", "gamma-2", attributes=3)
    with pytest.raises(BadValue, match="conjunctions"):
        fm.norm("2-way-marginals", "eta", attributes=3, alpha=0.1)
    with pytest.raises(BadValue, match="kinds of entries"):
        fm.norm("threshold-counts", "margin", attributes=20)
    assert "conjunctions" in names()
