"""Unions and Kronecker products against dense linear algebra."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factormech.errors import BadValue
from factormech.workloads import base as secular
from factormech.workloads import combinators, registry
from factormech.workloads.base import Workload
from factormech.workloads.combinators import Kronecker, Union, check_weight
from factormech.workloads.matrix import MatrixWorkload

from .oracles import centring, check_against, matrix

UNIONS = [
    (["histogram"], 5),
    (["prefix", "total"], 7),
    (["histogram", "prefix", "all-ranges"], 6),
    (["2-way-marginals", "parities"], 8),
    (["2-way-parities-01", "histogram", "1-way-marginals"], 8),
    (["conjunctions-2", "total"], 8),
    (["total", "total"], 1),
]
KRONECKERS = [
    [("prefix", 5)],
    [("histogram", 3), ("prefix", 4)],
    [("prefix", 4), ("histogram", 3)],
    [("prefix", 3), ("prefix", 4)],
    [("all-ranges", 4), ("all-ranges", 3), ("prefix", 2)],
    [("all-ranges", 6), ("total", 2)],
    [("2-way-marginals", 4), ("1-way-marginals", 8)],
    [("2-way-parities-01", 8), ("histogram", 3)],
    [("2-way-parities-01", 8), ("conjunctions-1", 4)],
    [("total", 3), ("histogram", 2), ("all-ranges", 2), ("prefix", 1)],
    [("2-way-parities", 4), ("prefix", 3)],
    [("total", 1), ("total", 1)],
]


@pytest.mark.parametrize(("names", "n"), UNIONS)
@pytest.mark.parametrize("weighted", [False, True])
def test_union(names, n, weighted):
    weights = [0.5 + i for i in range(len(names))] if weighted else [1] * len(names)
    union = Union("mine", [registry.create(name, n) for name in names], weights if weighted else None)
    W = np.concatenate([w * matrix(name, n) for w, name in zip(weights, names, strict=True)])
    check_against(union, W, spectral=1e-11 if union.walsh_spectrum() is not None else 1e-7)


@pytest.mark.parametrize("factors", KRONECKERS)
def test_kronecker(factors):
    product = Kronecker("mine", [registry.create(name, n) for name, n in factors])
    W = reduce(np.kron, [matrix(name, n) for name, n in factors])
    assert np.array_equal(product.matrix(), W)
    unbalanced = sum(not combinators._is_balanced(f) for f in product.factors)
    check_against(product, W, spectral=1e-11 if unbalanced < 2 else 1e-7)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 5), st.sampled_from([None, 0, 1, 2, 3]))
@settings(max_examples=120, deadline=None)
def test_kronecker_of_random_matrices(seed, n1, n2, kind):
    rng = np.random.default_rng(seed)
    A, B = rng.integers(-2, 3, size=(3, n1)).astype(float), rng.normal(size=(4, n2))
    if kind == 0:
        B = B - B.mean(axis=1, keepdims=True)  # 1 is in the kernel
    elif kind == 1:
        A = np.repeat(A[:, :1], n1, axis=1)  # rank one
    elif kind == 2:
        B = np.eye(n2)
    elif kind == 3:
        A *= 0
    product = Kronecker("mine", [MatrixWorkload("a", A), MatrixWorkload("b", B)])
    W, n = np.kron(A, B), n1 * n2
    wanted = np.linalg.eigvalsh(centring(n) @ W.T @ W @ centring(n))[::-1]
    found = product.centred_singular_values() ** 2
    np.testing.assert_allclose(found, wanted, atol=1e-11 * (1 + np.linalg.norm(W) ** 2))


def test_kronecker_of_binary_families_is_xor_invariant_and_fast():
    product = Kronecker("mine", [registry.create("2-way-marginals", 2**9), registry.create("parities", 2**9)])
    assert product.walsh_spectrum().shape == (2**18,)
    one, other = (f.walsh_spectrum() for f in product.factors)
    assert product.walsh_spectrum()[3 * 2**9 + 5] == one[3] * other[5]


def test_invariance_needs_all_parts():
    marginals, prefix = registry.create("2-way-marginals", 8), registry.create("prefix", 8)
    boolean = registry.create("parities-01", 8)
    for made in (Union("u", [marginals, prefix]), Kronecker("k", [marginals, prefix])):
        assert made.walsh_spectrum() is None
        assert made.centred_walsh_spectrum() is None
    union = Union("u", [marginals, boolean])
    assert union.walsh_spectrum() is None
    assert union.centred_walsh_spectrum() is not None


def test_grid_prefix_sums_need_no_dense_product(monkeypatch):
    """Two factors of which 1 is no eigenvector: the secular equation."""
    product = Kronecker("grid", [registry.create("all-ranges", 96), registry.create("prefix", 32)])

    def refuse(*_):
        raise AssertionError("dense")

    for name in ("gram", "centred_gram", "matrix"):
        monkeypatch.setattr(Kronecker, name, refuse)
    squares = product.centred_singular_values() ** 2
    trace = product.frobenius_squared() - product.total_squared() / product.domain_size
    assert squares.sum() == pytest.approx(trace, rel=1e-12)
    full = product.singular_values() ** 2
    assert np.all(squares <= full * (1 + 1e-12))  # interlacing
    assert np.all(squares[:-1] >= full[1:] * (1 - 1e-12))


def test_nested():
    inner = Union("inner", [registry.create("prefix", 3), registry.create("total", 3)], [2, 0.5])
    outer = Kronecker("outer", [inner, registry.create("histogram", 2)])
    W = np.kron(np.concatenate([2 * matrix("prefix", 3), 0.5 * matrix("total", 3)]), np.eye(2))
    check_against(outer, W, spectral=1e-7)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.booleans())
@settings(max_examples=100, deadline=None)
def test_secular_roots_are_the_centred_eigenvalues(seed, n, repeated):
    rng = np.random.default_rng(seed)
    values = rng.random(n) * 10.0 ** rng.integers(-6, 3)
    if repeated:
        values = values[rng.integers(0, n, size=n)] * rng.integers(0, 2, size=n)
    V = np.linalg.qr(rng.normal(size=(n, n)))[0]
    weights = V.sum(axis=0) ** 2 / n
    wanted = np.linalg.eigvalsh(centring(n) @ (V * values) @ V.T @ centring(n))
    found = np.sort(secular.centred_eigenvalues(values, weights))
    np.testing.assert_allclose(found, wanted, atol=1e-12 * (values.max() + 1e-300))


def test_secular_blocks_are_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    values, weights = rng.random(50), rng.random(50)
    whole = secular.centred_eigenvalues(values, weights)
    monkeypatch.setattr(secular, "BLOCK", 300)
    np.testing.assert_allclose(secular.centred_eigenvalues(values, weights), whole, rtol=1e-13)


@pytest.mark.parametrize("weight", [0, -1.0, float("nan"), float("inf"), True, "2", None, 1e-200, 1e200])
def test_bad_weights(weight):
    with pytest.raises(BadValue, match=r"weight = .* must be a number above 0"):
        Union("mine", [registry.create("prefix", 3)], [weight])
    with pytest.raises(BadValue, match=r"workloads.mine.union\[1\].weight"):
        check_weight(weight, "workloads.mine.union[1].weight")


def test_bad_parts():
    prefix = registry.create("prefix", 3)
    with pytest.raises(BadValue, match="at least one part"):
        Union("mine", [])
    with pytest.raises(BadValue, match="at least one factor"):
        Kronecker("mine", [])
    with pytest.raises(BadValue, match="domain_size of prefix = 4: must be 3"):
        Union("mine", [prefix, registry.create("prefix", 4)])
    with pytest.raises(BadValue, match="number of weights = 2"):
        Union("mine", [prefix], [1, 2])


def test_counts_of_products_are_exact():
    product = Kronecker("mine", [registry.create("all-ranges", 2**20) for _ in range(3)])
    assert product.queries == (2**19 * (2**20 + 1)) ** 3
    assert isinstance(product, Workload)
