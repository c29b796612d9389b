"""The bound from triples: its algebra is that of sets, it is below every strategy, and nothing false is believed."""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace
from fractions import Fraction
from math import comb
from pathlib import Path

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.bounds import pairwise, triples
from factormech.bounds.centred import CentredGram
from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.local.optimal import exact
from factormech.mechanisms.local.optimal.mechanism import COMPETITORS, MECHANISM
from factormech.mechanisms.local.optimal.problem import Problem
from factormech.workloads.registry import create

TOOLS = Path(__file__).resolve().parents[2] / "tools"
PARITIES = ("at-most-3-way-parities", 64, 3.0)


def probabilities(types: list[int], d: int) -> FloatArray:
    """y of a set, by its definition: a walk over three of its types for each kind of triple."""
    scheme = triples.Scheme.of(d)
    number = {}
    for i, row in enumerate(scheme.sums):  # the kinds in the order in which they are first met
        for v, _ in row:
            number.setdefault(v, i)
    kinds: dict[tuple[int, ...], int] = {}
    total, ways = np.zeros(scheme.kinds), np.zeros(scheme.kinds)
    for i, j in itertools.product(range(d + 1), repeat=2):
        for t in range(max(0, i + j - d), min(i, j) + 1):
            kinds.setdefault(tuple(sorted((i, j, i + j - 2 * t))), len(kinds))
    for v, w in itertools.product(range(2**d), repeat=2):
        ways[kinds[tuple(sorted((v.bit_count(), w.bit_count(), (v ^ w).bit_count())))]] += 1
    for u, v, w in itertools.product(types, repeat=3):
        total[kinds[tuple(sorted(((u ^ v).bit_count(), (u ^ w).bit_count(), (v ^ w).bit_count())))]] += 1
    return np.asarray(total / (len(types) * ways))


def some_sets(d: int, seed: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 2**d, size=4)
    return [sorted(rng.choice(2**d, size=s, replace=False).tolist()) for s in sizes]


@pytest.mark.parametrize("d", [2, 3, 4])
def test_the_blocks_have_the_eigenvalues_of_the_whole_matrices(d: int) -> None:
    """Each eigenvalue of block k as often as there are copies of it, C(d,k) − C(d,k−1) times."""
    program, n = triples.Program(d, np.ones(d + 1), 3.0), 2**d
    y = np.random.default_rng(d).normal(size=program.scheme.kinds)
    kinds: dict[tuple[int, ...], int] = {}
    for i, j in itertools.product(range(d + 1), repeat=2):
        for t in range(max(0, i + j - d), min(i, j) + 1):
            kinds.setdefault(tuple(sorted((i, j, i + j - 2 * t))), len(kinds))
    sizes = [v.bit_count() for v in range(n)]
    both = np.array([[y[kinds[tuple(sorted((sizes[v], sizes[w], sizes[v ^ w])))]] for w in range(n)] for v in range(n)])
    pair = np.array([[y[program.pair[sizes[v ^ w]]] for w in range(n)] for v in range(n)])
    for which, whole in ((1, both), (2, pair - both)):
        found: list[float] = []
        for k, block in enumerate(program.blocks):
            m = len(block[0])
            values = np.linalg.eigvalsh((block[which] @ y).reshape(m, m))
            found += (comb(d, k) - (comb(d, k - 1) if k else 0)) * values.tolist()
        np.testing.assert_allclose(sorted(found), np.linalg.eigvalsh(whole), atol=1e-12)


@pytest.mark.parametrize(("d", "seed"), [(2, 0), (3, 1), (4, 2), (5, 3)])
def test_sets_satisfy_what_is_asked_of_them(d: int, seed: int) -> None:
    program = triples.Program(d, np.ones(d + 1), 3.0)
    for types in some_sets(d, seed):
        y, s = probabilities(types, d), len(types)
        np.testing.assert_allclose(program.sums @ y, s * y[program.pair], atol=1e-12)
        for scale, A, B in program.blocks:
            for part in (A, B):
                assert np.linalg.eigvalsh((part @ y).reshape(len(scale), -1)).min() >= -1e-12
        # The eigenvalues by pairs are those of the set's characters.
        inside = np.isin(np.arange(2**d), types).astype(float)
        signs = [[(-1) ** (k & u).bit_count() for u in range(2**d)] for k in range(2**d)]
        squares = (np.array(signs) @ inside) ** 2
        of_size = [squares[[k.bit_count() == j for k in range(2**d)]].mean() for j in range(d + 1)]
        x = program.characters @ (program.counts * y[program.pair]) * s / program.counts
        np.testing.assert_allclose(x, of_size, atol=1e-9)


def named_by(d: int, found: triples.TripleCertificate, s: int) -> float:
    prices = [round(x * 2**triples.BITS) for x in found.prices]
    squares = [triples._squares(triples.Scheme.of(d), row) for row in found.roots]
    return float(triples.named_at_most(d, s, prices, found, squares))


def test_no_set_of_types_exceeds_the_certificate() -> None:
    """All 2^16 sets of four attributes' types, for the prices of a program and for its squares distorted."""
    d, rng = 4, np.random.default_rng(5)
    program = triples.Program(d, np.array([0.0, 1.0, 1.0, 0.3, 0.0]), 12.0)
    _, prices, roots = program.solve([1, 2, 3, 5])
    honest, _ = program.certificate(prices, [1, 2, 3, 5], roots)
    sets = (np.arange(2**16)[:, None] >> np.arange(16)) & 1
    signs = np.array([[(-1) ** (k & u).bit_count() for u in range(16)] for k in range(16)])
    sizes = np.array([k.bit_count() for k in range(16)])
    value = (sets @ signs.T) ** 2 @ prices[sizes]
    count = sets.sum(axis=1)
    for noise in (0.0, 0.05):
        changed = {
            "roots": honest.roots * (1.0 + noise * rng.normal(size=honest.roots.shape)),
            "sizes": np.c_[honest.sizes[:, :1], honest.sizes[:, 1:] * (1 + noise * rng.normal(size=(15, 2 * d + 2)))],
        }
        found = replace(honest, **changed)
        most = [value[count == s].max() / s for s in range(1, 16)]
        proved = [named_by(d, found, s) for s in range(1, 16)]
        assert all(high >= low * (1.0 - 1e-12) for high, low in zip(proved, most, strict=True))
        if noise == 0.0:  # one type, and two: nothing is lost
            np.testing.assert_allclose(proved[:2], most[:2], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "n"),
    [("at-most-3-way-parities", 16), ("2-way-marginals", 8), ("2-way-marginals", 16), ("all-marginals", 16)],
)
@pytest.mark.parametrize("epsilon", [1.0, 2.5])
def test_it_is_between_the_bound_from_pairs_and_the_least_variance(name: str, n: int, epsilon: float) -> None:
    workload = create(name, n)
    gram = CentredGram.of(workload)
    least = exact.solve(Problem(workload.centred_gram(), epsilon), np.random.default_rng(0))
    optimum = (least.objective - float(np.trace(workload.centred_gram()))) / n
    pairs = pairwise.pairwise(workload, epsilon)
    found = triples.search(gram, epsilon, 0.0)
    assert found is not None
    assert pairs * (1.0 - 1e-3) <= triples.average_variance(gram, epsilon, found) <= optimum * (1.0 + 1e-9)


@pytest.mark.slow
def test_it_closes_the_gap_of_parities() -> None:
    """By pairs the best strategy for parities of 6 attributes may be 7.6 % from the optimum: it is not."""
    name, n, epsilon = PARITIES
    workload = create(name, n)
    solution = MECHANISM.solve(workload, epsilon, np.random.default_rng(0))
    assert pairwise.pairwise(workload, epsilon) < 0.94 * solution.record["average_variance"]
    assert 0.0 <= solution.record["gap"] < 1e-6
    bound = pairwise.certified(workload, epsilon)
    assert solution.record["average_variance"] * (1.0 - 1e-4) < bound <= solution.record["average_variance"]


def test_the_checker_without_the_package_finds_the_same() -> None:
    sys.path.insert(0, str(TOOLS))
    try:
        import verify_triples  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(TOOLS))
    name, n, epsilon = PARITIES
    workload = create(name, n)
    value, found = triples.proved(workload, epsilon, 0.0)
    assert found is not None
    spectrum = workload.centred_walsh_spectrum()
    assert spectrum is not None
    g = [float(spectrum[2**j - 1]) for j in range(n.bit_length())]
    said = verify_triples.triple_bound(g, epsilon, found.prices, found.roots, found.sizes)
    ours = triples.objective(CentredGram.of(workload), epsilon, found)
    assert float(said) == pytest.approx(float(ours), rel=1e-12)
    assert 0.0 < value <= float(said - Fraction(float(np.trace(workload.centred_gram())))) / n * (1.0 + 1e-12)


def test_eigenvalues_are_bounded_from_below_for_a_matrix_that_is_only_near() -> None:
    workload = create("all-marginals", 16)
    C = CentredGram.of(workload)
    true = triples.spectrum_below(C)
    rng = np.random.default_rng(3)
    noise = rng.uniform(-1.0, 1.0, size=C.matrix.shape) * 1e-11 * np.abs(C.matrix).max()
    near = triples.spectrum_below(replace(C, matrix=C.matrix + noise + noise.T))
    assert true is not None
    assert near is not None
    assert all(0 <= b <= a and a - b <= 1e-9 * max(true) for a, b in zip(true, near, strict=True))
    assert triples.spectrum_below(CentredGram.of(create("prefix", 16))) is None


def test_where_triples_say_nothing_new_pairs_are_kept() -> None:
    nothing_new = (("histogram", 64, 2.0), ("prefix", 64, 3.0), ("all-marginals", 64, 1.0), (PARITIES[0], 64, 0.1))
    for name, n, epsilon in nothing_new:
        workload = create(name, n)
        assert triples.proved(workload, epsilon, pairwise.pairwise(workload, epsilon)) == (0.0, None)


def test_a_solver_that_is_not_accurate_is_not_believed() -> None:
    """At small ε the sets of the first program are nearly all types, and its numbers span many orders."""
    workload = create("at-most-3-way-parities", 64)
    gram = CentredGram.of(workload)
    for epsilon in (1e-3, 0.1, 12.0, 40.0):
        found = triples.search(gram, epsilon, 0.0)
        proved = 0.0 if found is None else triples.average_variance(gram, epsilon, found)
        fixed = COMPETITORS["randomized-response"](64, epsilon)
        assert not isinstance(fixed, Unavailable)
        assert proved <= fixed.evaluate(workload.centred_gram()).average


def test_what_is_no_certificate_is_refused() -> None:
    d = 2
    roots, sizes = np.zeros((1, triples.Scheme.of(d).entries)), np.zeros((3, 2 * d + 3))
    prices = np.ones(d + 1)
    triples.TripleCertificate(prices, roots, sizes)
    for bad in (
        (np.ones((1, 1)), roots, sizes),
        (-prices, roots, sizes),
        (prices * np.nan, roots, sizes),
        (prices, roots[:, 1:], sizes),
        (prices, roots, sizes[1:]),
        (prices, roots, sizes + 0.5),
        (prices, np.full_like(roots, np.inf), sizes),
    ):
        with pytest.raises(BadValue):
            triples.TripleCertificate(*bad)
