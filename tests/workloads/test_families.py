"""Every registered family, at every kind of domain size, against its definition."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factormech.errors import BadValue
from factormech.workloads import registry
from factormech.workloads.base import Workload
from factormech.workloads.marginals import Marginals

from .oracles import MEMBERS, STRUCTURED, centring, check_against, matrix


@pytest.mark.parametrize(("name", "n"), STRUCTURED)
def test_agrees_with_its_definition(name, n):
    check_against(registry.create(name, n), matrix(name, n))


@pytest.mark.parametrize(("name", "n"), STRUCTURED)
def test_order_of_queries_is_the_documented_one_exactly(name, n):
    assert np.array_equal(registry.create(name, n).matrix(), matrix(name, n))


@pytest.mark.parametrize("n", [1, 2, 5, 16])
def test_random_signs(n):
    workload = registry.create("random-signs", n, seed=3)
    W = workload.matrix()
    assert W.shape == (n, n)
    assert np.all(np.abs(W) == 1)
    check_against(workload, W)
    assert np.array_equal(W, registry.create("random-signs", n, seed=3).matrix())


def test_random_signs_look_random_and_depend_on_seed_and_stream():
    one, other, streamed = (
        registry.create("random-signs", 64, seed=seed, stream=stream).matrix()
        for seed, stream in [(0, ()), (1, ()), (0, ("a",))]
    )
    # 4096 fair signs: a mean (or correlation) above 0.08 has probability 3e-7.
    assert max(abs(M.mean()) for M in (one, other, one * other, one * streamed)) < 0.08


@pytest.mark.parametrize(("name", "n"), STRUCTURED)
def test_needs_neither_w_nor_a_dense_gram(name, n, monkeypatch):
    workload, W = registry.create(name, n), matrix(name, n)
    monkeypatch.setattr(Workload, "matrix", lambda *_: pytest.fail("W was built"))
    monkeypatch.setattr(np.linalg, "eigvalsh", lambda *_: pytest.fail("a dense matrix was decomposed"))
    scale = np.abs(W).sum() + 1.0
    np.testing.assert_allclose(workload.gram(), W.T @ W, atol=1e-12 * scale**2)  # closed form: W is not needed
    monkeypatch.setattr(type(workload), "gram", lambda *_: pytest.fail("G was built"))
    for method in ("gram_diagonal", "column_sums", "frobenius_squared", "total_squared"):
        getattr(workload, method)()
    workload.singular_values()
    workload.centred_singular_values()
    np.testing.assert_allclose(
        workload.adjoint(workload.answer(np.ones(n))), W.T @ W.sum(axis=1), atol=1e-12 * scale**2
    )
    np.testing.assert_allclose(workload.gram_times(np.ones(n)), W.T @ W.sum(axis=1), atol=1e-12 * scale**2)


@given(st.sampled_from(MEMBERS), st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_identities(member, seed):
    workload = registry.create(*member)
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=workload.domain_size), rng.normal(size=workload.queries)
    answers = workload.answer(x)
    tolerance = 1e-11 * (1 + np.linalg.norm(answers) * np.linalg.norm(y))
    assert answers @ y == pytest.approx(x @ workload.adjoint(y), abs=tolerance)
    # The same three numbers by three ways: trace, singular values, and answers to unit vectors.
    total = workload.frobenius_squared()
    assert np.sum(workload.singular_values() ** 2) == pytest.approx(total, rel=1e-11)
    assert np.sum(workload.gram_diagonal()) == pytest.approx(total, rel=1e-11)
    # tr PGP = tr G − 1ᵀG1/n.
    centred = total - workload.total_squared() / workload.domain_size
    assert np.sum(workload.centred_singular_values() ** 2) == pytest.approx(centred, abs=1e-11 * total)
    assert np.all(np.diff(workload.centred_singular_values()) <= 0)


@pytest.mark.parametrize(("name", "n"), MEMBERS[:: len(MEMBERS) // 40])
def test_results_are_new_arrays_and_arguments_untouched(name, n):
    workload = registry.create(name, n)
    x, y = np.ones(n), np.ones(workload.queries)
    for call in (
        lambda: workload.answer(x),
        lambda: workload.adjoint(y),
        lambda: workload.gram_times(x),
        workload.gram,
        workload.gram_diagonal,
        workload.column_sums,
        workload.singular_values,
        workload.centred_singular_values,
        workload.walsh_spectrum,
        workload.centred_walsh_spectrum,
        workload.matrix,
    ):
        first = call()
        if first is None:
            continue
        kept = first.copy()
        first[...] = np.nan
        assert np.array_equal(call(), kept)
    assert np.all(x == 1)
    assert np.all(y == 1)


@pytest.mark.parametrize("n", [64, 81])
@pytest.mark.parametrize("name", ["prefix", "all-ranges"])
def test_closed_spectra_agree_with_eigvalsh(name, n):
    workload = registry.create(name, n)
    G, P = workload.gram(), centring(n)
    for M, found in [(G, workload.singular_values()), (P @ G @ P, workload.centred_singular_values())]:
        wanted = np.sqrt(np.maximum(np.linalg.eigvalsh(M)[::-1], 0))
        wanted[-1] = 0.0 if found[-1] == 0 else wanted[-1]
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


@pytest.mark.parametrize("d", [7, 8])
@pytest.mark.parametrize("pattern", ["{}-way-parities-01", "at-most-{}-way-parities-01", "conjunctions-{}"])
def test_block_spectra_agree_with_dense_ones(pattern, d):
    for k in (0, 1, 3, d):
        workload = registry.create(pattern.format(k), 2**d)
        gram, top = workload.gram(), workload.singular_values()[0]
        wanted = np.linalg.eigvalsh(gram)[::-1]
        np.testing.assert_allclose(workload.singular_values() ** 2, wanted, atol=1e-11 * top**2)
        wanted = np.linalg.eigvalsh(workload.centred_gram())[::-1]
        np.testing.assert_allclose(workload.centred_singular_values() ** 2, wanted, atol=1e-11 * top**2)


def test_full_conjunctions_have_powers_of_the_golden_ratio():
    d, phi = 12, (1 + math.sqrt(5)) / 2
    wanted = np.concatenate([np.full(math.comb(d, i), phi ** (d - 2 * i)) for i in range(d + 1)])
    np.testing.assert_allclose(registry.create(f"conjunctions-{d}", 2**d).singular_values(), wanted, rtol=1e-10)


def test_known_counts_and_spectra():
    assert registry.create("all-marginals", 512).queries == 3**9
    assert registry.create("3-way-marginals", 512).queries == math.comb(9, 3) * 8
    assert registry.create("all-ranges", 4096).queries == 8_390_656
    d = 7
    sizes = [s.bit_count() for s in range(2**d)]
    spectrum = registry.create("all-marginals", 2**d).walsh_spectrum()
    assert np.array_equal(spectrum, [3.0 ** (d - s) for s in sizes])
    spectrum = registry.create("2-way-marginals", 2**d).walsh_spectrum()
    assert np.array_equal(spectrum, [math.comb(d - s, 2 - s) * 2.0 ** (d - 2) if s <= 2 else 0 for s in sizes])


def test_all_marginals_and_parities_are_those_of_all_sizes():
    for n in (1, 8):
        d = n.bit_length() - 1
        for one, other in [
            ("all-marginals", "at-most-{}-way-marginals"),
            ("parities", "at-most-{}-way-parities"),
        ]:
            first, second = registry.create(one, n), registry.create(other.format(d), n)
            assert np.array_equal(first.gram(), second.gram())


def test_marginals_of_whole_numbers_are_exact():
    x = np.random.default_rng(0).integers(0, 10**9, size=1024).astype(float)
    answers = registry.create("3-way-marginals", 1024).answer(x)
    assert np.array_equal(answers, np.round(answers))
    assert answers.reshape(-1, 8).sum(axis=1).tolist() == [x.sum()] * math.comb(10, 3)


def test_marginals_in_blocks_are_the_same(monkeypatch):
    workload = registry.create("at-most-4-way-marginals", 64)
    x = np.random.default_rng(0).normal(size=(64, 2))
    y = np.random.default_rng(1).normal(size=(workload.queries, 2))
    whole = workload.answer(x), workload.adjoint(y)
    monkeypatch.setattr("factormech.workloads.marginals.BLOCK", 40)
    assert np.array_equal(workload.answer(x), whole[0])
    np.testing.assert_allclose(workload.adjoint(y), whole[1], atol=1e-12)


@pytest.mark.parametrize("name", ["3-way-marginals", "parities", "all-ranges", "histogram"])
@pytest.mark.parametrize("shape", [(), (7,), (9,), (8, 2, 2), (1, 8)])
def test_wrong_shapes_are_refused(name, shape):
    workload = registry.create(name, 8)
    for call in (workload.answer, workload.gram_times):
        with pytest.raises(BadValue, match=r"shape of x = .* must be \(8,\) or \(8, columns\)"):
            call(np.zeros(shape))
    with pytest.raises(BadValue, match="shape of y"):
        workload.adjoint(np.zeros((workload.queries + 1,)))


@pytest.mark.parametrize("x", [np.ones(8, complex), np.array(["a"] * 8), [None] * 8])
def test_other_than_real_numbers_are_refused(x):
    with pytest.raises(BadValue, match=r"type of x = .*: must be real numbers"):
        registry.create("prefix", 8).answer(x)


def test_a_flat_matrix_needs_no_square_one():
    assert registry.create("total", 2**20).matrix().shape == (1, 2**20)
    W = registry.create("1-way-marginals", 2**16).matrix()
    assert np.array_equal(W.sum(axis=0), np.full(2**16, 16.0))


@pytest.mark.parametrize("value", [0, -1, 2.0, True, "8", None])
def test_bad_domain_sizes_are_refused(value):
    with pytest.raises(BadValue, match="domain_size"):
        registry.create("prefix", value)
    with pytest.raises(BadValue, match="domain_size"):
        Marginals("mine", value, [0])


def test_too_big_to_be_dense_is_refused_with_the_size():
    workload = registry.create("all-ranges", 2**17)
    for call in (workload.gram, workload.matrix, lambda: workload.answer(np.zeros(2**17))):
        with pytest.raises(BadValue, match=r"must fit in 4 GiB"):
            call()


def test_counts_beyond_64_bits_are_exact():
    assert registry.create("all-marginals", 2**50).queries == 3**50
    assert registry.create("at-most-30-way-marginals", 2**60).queries > sys.maxsize
    assert registry.create("all-ranges", 2**40).queries == 2**39 * (2**40 + 1)
    assert registry.create("prefix", 2**40).total_squared() == pytest.approx(2**120 / 3, rel=1e-9)


class Bare(Workload):
    """A family that knows nothing beside what it must."""

    def __init__(self, W):
        super().__init__("bare", W.shape[1])
        self.W = W

    @property
    def queries(self):
        return len(self.W)

    def answer(self, x):
        return self.W @ x


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (9, 4)])
def test_a_bare_family_gets_everything_from_its_answers(shape):
    W = np.random.default_rng(0).normal(size=shape)
    # Through the Gram matrix, a singular value is accurate to the root of the rounding error.
    bare = Bare(W)
    G = W.T @ W
    np.testing.assert_allclose(bare.gram(), G, atol=1e-12)
    np.testing.assert_allclose(bare.adjoint(W[:, 0]), W.T @ W[:, 0])
    np.testing.assert_allclose(bare.column_sums(), W.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(bare.gram_diagonal(), np.diagonal(G))
    np.testing.assert_allclose(bare.total_squared(), np.sum(W.sum(axis=1) ** 2))
    wanted = np.linalg.eigvalsh(G)[::-1]
    np.testing.assert_allclose(bare.singular_values() ** 2, wanted, atol=1e-12)
    P = centring(shape[1])
    np.testing.assert_allclose(bare.centred_gram(), P @ G @ P, atol=1e-12)
    wanted = np.linalg.eigvalsh(P @ G @ P)[::-1]
    np.testing.assert_allclose(bare.centred_singular_values() ** 2, wanted, atol=1e-12)
    assert "bare: " in repr(bare)
