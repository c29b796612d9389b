"""Hadamard packings: the matrices, the distances of explicit data sets, mechanisms that attain more."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from factormech.bounds.packing.marginals import Construction, hadamard, hadamard_orders, marginals
from factormech.errors import BadValue
from factormech.workloads.registry import create
from tests.bounds.packing import mechanisms


def member_types(c: Construction, y: np.ndarray) -> np.ndarray:
    """The user types of one data set of the packing, as bit masks: word part y, (S, b), blocks, ones."""
    G = (1 + hadamard(c.order)[1:]) // 2
    index = np.unravel_index(np.arange(c.sequences), (c.order - 1,) * c.blocks) if c.blocks else ()
    bits = np.hstack([y, *(G[i] for i in index), np.ones((c.sequences, c.ones), dtype=np.int64)])
    return np.asarray(bits @ (1 << np.arange(bits.shape[1], dtype=np.int64)))


@pytest.mark.parametrize("order", [1, *hadamard_orders(72)])
def test_hadamard_matrices_are(order: int) -> None:
    H = hadamard(order)
    assert set(np.unique(H)) <= {-1, 1}
    assert np.all(H[0] == 1)
    assert np.array_equal(H @ H.T, order * np.eye(order))


def test_most_orders_are_known() -> None:
    """Up to 72 all multiples of four but 28, 36, 52, 56 (which need prime powers) and those that double them."""
    assert hadamard_orders(50) == (2, 4, 8, 12, 16, 20, 24, 32, 40, 44, 48)
    with pytest.raises(BadValue, match="order"):
        hadamard(28)


def conjunctions(types: np.ndarray, d: int, w: int) -> np.ndarray:
    """All conjunctions of exactly w attributes, (queries, types)."""
    bits = (types[:, None] >> np.arange(d)) & 1
    return np.array([bits[:, list(S)].prod(axis=1) for S in itertools.combinations(range(d), w)], dtype=float)


@pytest.mark.parametrize(
    "made",
    [
        Construction(1, 4, 0, 1, 0, 1), Construction(2, 3, 1, 4, 0, 3), Construction(2, 3, 1, 4, 0, 2),
        Construction(2, 3, 0, 1, 4, 1), Construction(3, 2, 2, 4, 0, 9), Construction(3, 2, 1, 4, 3, 3),
        Construction(3, 3, 0, 1, 4, 1), Construction(2, 2, 1, 8, 0, 7),
    ],
)  # fmt: skip
@pytest.mark.parametrize("cells", [False, True])
def test_distances_of_explicit_data_sets(made: Construction, cells: bool) -> None:
    """For pairs of words, the squared distance over all queries is at least gain × Hamming distance."""
    d, w = made.attributes, made.width
    rng = np.random.default_rng(made.sequences)
    words = rng.integers(0, 2, size=(40, made.sequences, made.word))
    W = create(f"{w}-way-marginals", 2**d).matrix() if cells else conjunctions(np.arange(2**d), d, w)
    answers = np.array([W[:, member_types(made, word)].sum(axis=1) for word in words])
    worst = min(
        float(np.sum((answers[i] - answers[j]) ** 2)) / int(np.sum(words[i] != words[j]))
        for i, j in itertools.combinations(range(len(words)), 2)
        if np.any(words[i] != words[j])
    )
    assert worst >= made.squared_gain(cells=cells) * (1 - 1e-12)


def test_one_changed_bit_has_nearly_the_distance_that_is_claimed() -> None:
    """One block: ½(h_0 + h_σ) has squared norm o/2; the projection claims o/4, and many words reach towards it."""
    made = Construction(2, 1, 1, 8, 0, 7)
    y = np.ones((7, 1), dtype=np.int64)
    W = conjunctions(np.arange(2**9), 9, 2)
    z = np.linalg.eigh(np.eye(7) + 1)[1][:, 0]
    columns = W[:, member_types(made, y)] - W[:, member_types(made, 0 * y)]
    assert float(np.sum((columns @ z) ** 2)) == pytest.approx(made.squared_gain(cells=False))


@pytest.mark.parametrize(("d", "w"), [(1, 1), (4, 1), (8, 1), (5, 2), (8, 2), (7, 3), (3, 3)])
@pytest.mark.parametrize("cells", [False, True])
def test_no_mechanism_is_contradicted(d: int, w: int, cells: bool) -> None:
    W = create(f"{w}-way-marginals", 2**d).matrix() if cells else conjunctions(np.arange(2**d), d, w)
    for n in (1, 3, 10, 100, 10**4, 10**7):
        for epsilon in (0.05, 1.0, 6.0):
            bound = marginals(d, w, n, epsilon, cells=cells).value
            assert bound <= mechanisms.ball_noise(W, n, epsilon)
            # The middle of the cube, whatever the data.
            assert bound <= 0.5
            assert bound > 0.0


def test_the_witness_makes_the_bound() -> None:
    for d, w, n in [(16, 1, 50), (64, 2, 1000), (48, 3, 5000)]:
        found = marginals(d, w, n, 1.0)
        u, made = found.witness, found.witness["construction"]
        assert made.attributes <= d
        assert u["replacements"] == u["copies"] * made.sequences <= n
        square = made.squared_gain(cells=False) * u["code_distance"] / math.comb(d, w)
        assert u["distance"] == pytest.approx(u["copies"] / n * math.sqrt(square))
        assert found.value == pytest.approx(u["distance"] * u["share"], rel=1e-9)


@pytest.mark.slow
def test_the_growth_of_theorem_7_3() -> None:
    """For many persons nε·err grows like d^{(w+1)/2}: its second term, without logarithms."""
    for w, sizes in [(1, (64, 256)), (2, (64, 256)), (3, (64, 192))]:
        small, large = (marginals(d, w, 10**7, 1.0).value for d in sizes)
        slope = math.log(large / small) / math.log(sizes[1] / sizes[0])
        # 1-way marginals: d, the first term.
        assert slope == pytest.approx(1.0 if w == 1 else (w + 1) / 2, abs=0.25)


def test_more_queries_divide_the_error() -> None:
    one = marginals(8, 2, 100, 1.0)
    four = marginals(8, 2, 100, 1.0, queries=4 * math.comb(8, 2))
    assert four.value == pytest.approx(one.value / 2, rel=1e-9)


def test_bad_values_are_refused() -> None:
    for arguments, name in [((3, 4, 1, 1.0), "width"), ((0, 1, 1, 1.0), "attributes"), ((3, 1, 0, 1.0), "users")]:
        with pytest.raises(BadValue, match=name):
            marginals(*arguments)
    with pytest.raises(BadValue, match="queries"):
        marginals(4, 2, 10, 1.0, queries=5)
