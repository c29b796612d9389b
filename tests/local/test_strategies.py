"""Every registered mechanism, on every workload: private, unbiased, and its variance right to the last digits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.bounds.staircase import largest_information
from factormech.errors import BadValue, Unavailable, UnknownName
from factormech.mechanisms.local import hadamard, hierarchical, registry
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.mechanisms.local.subsets import SubsetStrategy, subset_matrix, subset_strategy
from factormech.privacy.guarantee import inner_ratio, privacy_loss
from factormech.workloads.registry import create
from tests import solutions
from tests.oracles import all_ranges, centred_gram, naive_variances, prefix

SIZES = [1, 2, 3, 5, 8, 12, 17, 32]
FIXED = [name for name in registry.names() if not registry.is_solved(name)]


def matrix_of(name: str, n: int, epsilon: float) -> StrategyMatrix:
    strategy = registry.build(name, n, epsilon)
    if not isinstance(strategy, StrategyMatrix):
        pytest.skip(f"{name} has no matrix at domain size {n}")
    return strategy


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 4.0, 12.0])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", FIXED)
def test_strategies_are_private_distributions(name: str, n: int, epsilon: float) -> None:
    strategy = registry.build(name, n, epsilon)
    if isinstance(strategy, Unavailable):
        assert strategy.reason
        assert n == 1
        return
    assert strategy.domain_size == n
    assert strategy.evaluate(np.zeros((n, n))).privacy_loss <= epsilon
    if isinstance(strategy, StrategyMatrix):
        np.testing.assert_allclose(strategy.matrix.sum(axis=0), 1.0, atol=1e-14)


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("name", solutions.SOLVED)
def test_solved_strategies_are_private_and_answer_what_they_were_solved_for(name: str, epsilon: float) -> None:
    strategy = solutions.strategy(name, "prefix", 8, epsilon)
    assert not isinstance(strategy, Unavailable)
    evaluation = strategy.evaluate(create("prefix", 8).centred_gram())
    assert (strategy.domain_size, strategy.epsilon) == (8, epsilon)
    assert 0.9 * epsilon <= evaluation.privacy_loss <= epsilon
    assert evaluation.answered
    assert evaluation.variance.min() > 0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("n", [2, 3, 5, 8])
@pytest.mark.parametrize("name", FIXED)
def test_variance_is_theorem_3_4(name: str, n: int, epsilon: float) -> None:
    strategy = matrix_of(name, n, epsilon)
    for W in (np.eye(n), prefix(n), all_ranges(n)):
        evaluation = strategy.evaluate(centred_gram(W))
        if not evaluation.answered:
            assert name == "fourier-3"
            continue
        expected = naive_variances(W, strategy.matrix)
        np.testing.assert_allclose(evaluation.variance, expected, rtol=1e-9, atol=1e-9 * expected.max())


@pytest.mark.parametrize("name", FIXED)
def test_reconstruction_is_unbiased_and_optimal(name: str) -> None:
    """By + 1/n estimates x without bias; any other unbiased V has a larger objective."""
    n, rng = 9, np.random.default_rng(1)
    strategy = matrix_of(name, n, 1.0)
    Q, B = strategy.matrix, strategy.reconstruction
    X = B @ Q + 1.0 / n
    if strategy.evaluate(centred_gram(np.eye(n))).answered:
        np.testing.assert_allclose(X, np.eye(n), atol=1e-10)
    d = Q.sum(axis=1)
    V = B + 1.0 / n
    kernel = np.linalg.svd(Q.T)[2][np.linalg.matrix_rank(Q) :]
    for _ in range(5):
        other = V + 0.1 * rng.normal(size=(n, len(kernel))) @ kernel
        np.testing.assert_allclose(other @ Q, V @ Q, atol=1e-9)
        assert np.sum(other**2 * d) >= np.sum(V**2 * d) * (1 - 1e-12)


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("n", [4, 16, 33])
def test_no_strategy_carries_more_information_than_the_staircase(name: str, n: int) -> None:
    for epsilon in (0.1, 1.0, 3.0):
        strategy = matrix_of(name, n, epsilon)
        assert np.trace(strategy.information) <= largest_information(n, epsilon) * (1 + 1e-12)


def test_randomized_response_has_the_papers_variance() -> None:
    """Example 3.7, at every domain size and far into both ends of ε; above the limit of matrices too."""
    for n in (2, 5, 64, 512, 4200):
        C = np.eye(n) - 1.0 / n
        for epsilon in (1e-3, 0.5, 1.0, 4.0, 20.0):
            strategy = registry.build("randomized-response", n, epsilon)
            expected = (n - 1) * (n / math.expm1(epsilon) ** 2 + 2 / math.expm1(epsilon))
            assert not isinstance(strategy, Unavailable)
            evaluation = strategy.evaluate(C)
            tolerance = 1e-9 + 1e-13 / epsilon  # the strategy is built 2⁻⁴⁶ inside e^ε
            np.testing.assert_allclose(evaluation.variance, expected, rtol=tolerance)


def test_rappor_is_its_definition() -> None:
    """Table 1: Q ∝ e^{(ε/2)(n − ‖o − e_u‖₁)}; rows agree up to their order."""
    n, epsilon = 5, 1.3
    codes = np.array([[(o >> u) & 1 for u in range(n)] for o in range(2**n)])
    distance = np.abs(codes[:, None, :] - np.eye(n)[None]).sum(axis=2)
    Q = np.exp(epsilon / 2 * (n - distance))
    Q /= Q.sum(axis=0)
    built = matrix_of("rappor", n, epsilon).matrix
    np.testing.assert_allclose(built[np.lexsort(built.T)], Q[np.lexsort(Q.T)], rtol=1e-12)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 5.0, 25.0])
@pytest.mark.parametrize("n", [2, 3, 6, 9])
def test_closed_form_of_subset_mechanisms_is_the_matrix(n: int, epsilon: float) -> None:
    """A law on all sizes at once, against the explicit matrix, on an asymmetric workload."""
    rng = np.random.default_rng(n)
    for law in (*np.eye(n + 1)[1:], rng.dirichlet(np.ones(n + 1))):
        if law[1:n].sum() == 0:
            continue
        Q = subset_matrix(law, epsilon)
        a, s = inner_ratio(epsilon), np.arange(n + 1.0)
        closed = SubsetStrategy(epsilon, law, a * s / (a * s + n - s), (n - s) / (a * s + n - s))
        C = centred_gram(rng.normal(size=(4, n)))
        dense = StrategyMatrix(Q, epsilon).evaluate(C)
        np.testing.assert_allclose(closed.evaluate(C).variance, dense.variance, rtol=1e-8, atol=1e-9 * dense.worst)
        assert closed.outputs == sum(1 for row in Q if row.any())


def test_a_large_domain_needs_no_matrix() -> None:
    strategy = registry.build("rappor", 3000, 1.0)
    assert isinstance(strategy, SubsetStrategy)
    C = np.eye(3000) - 1.0 / 3000
    expm = math.expm1(0.5)
    usual = 2999 * math.exp(0.5) / expm**2 / (3000 - 1) * 3000  # n·q(1−q)/(p−q)² + …, to leading order
    assert strategy.evaluate(C).worst == pytest.approx(usual, rel=0.01)


def test_a_subset_law_outside_epsilon_is_refused() -> None:
    s, n, a = np.arange(5.0), 4, math.exp(1.0) * (1 + 1e-13)
    with pytest.raises(BadValue, match="privacy loss of the subset law"):
        SubsetStrategy(1.0, np.eye(5)[2], a * s / (a * s + n - s), (n - s) / (a * s + n - s))


def test_a_law_that_favours_sets_without_the_type_is_measured_too() -> None:
    """The ratio counts both ways: a_s far below 1 is as telling as its inverse."""
    s, n, a = np.arange(5.0), 4, math.exp(-2.0)
    with pytest.raises(BadValue, match=r"privacy loss of the subset law, 2\.0"):
        SubsetStrategy(1.0, np.eye(5)[2], a * s / (a * s + n - s), (n - s) / (a * s + n - s))


def test_hadamard_shapes_are_the_papers() -> None:
    """B = 2^(⌈log₂ min(e^ε, 2n)⌉−1), b = 2^⌈log₂(n/B + 1)⌉; Table 1's K = 2^⌈log₂(n+1)⌉."""
    for n in (1, 2, 7, 8, 100, 512):
        for epsilon in (0.01, 0.5, 0.7, 1.0, 2.0, 4.0, 9.0):
            blocks, size = hadamard.block_shape(n, epsilon)
            B = 2.0 ** (math.ceil(math.log2(min(math.exp(epsilon), 2 * n))) - 1)
            assert blocks == B
            assert size == 2 ** math.ceil(math.log2(n / B + 1))
            assert hadamard.block_sets(n, epsilon).shape == (blocks * size, n)
        assert len(hadamard.table1_sets(n, 1.0)) == 2 ** math.ceil(math.log2(n + 1))
    np.testing.assert_array_equal(hadamard.block_sets(20, 0.5), hadamard.table1_sets(20, 0.5))


def test_hierarchy_asks_for_every_level_but_the_root() -> None:
    assert hierarchical.level_sizes(512) == [512, 128, 32, 8, 2]
    assert hierarchical.level_sizes(64) == [64, 16, 4]
    assert hierarchical.level_sizes(4) == [4]
    assert hierarchical.level_sizes(5) == [5, 2]
    assert hierarchical.level_sizes(1) == [1]


@pytest.mark.parametrize(
    ("workload", "n", "answered"),
    [("3-way-marginals", 32, True), ("at-most-3-way-parities", 32, True), ("prefix", 32, False), ("total", 32, True)],
)
def test_low_order_parities_answer_low_order_workloads_only(workload: str, n: int, answered: bool) -> None:
    asked = create(workload, n)
    strategy = registry.build("fourier-3", n, 1.0)
    assert isinstance(strategy, StrategyMatrix)
    evaluation = strategy.evaluate(asked.centred_gram())
    assert evaluation.answered is answered
    assert np.isnan(evaluation.variance).all() is not answered or answered
    if not answered:
        assert "relative residual" in evaluation.refusal
        W = asked.matrix()
        P = np.eye(n) - 1.0 / n
        row_space = np.linalg.pinv(strategy.matrix) @ strategy.matrix
        outside = np.linalg.norm(W - W @ row_space) / np.linalg.norm(W @ P)
        assert evaluation.residual == pytest.approx(outside, rel=1e-8)


@pytest.mark.parametrize("epsilon", [0.1, 1.5, 2.0, 8.0])
@pytest.mark.parametrize("workload", ["at-most-3-way-parities", "3-way-marginals"])
def test_row_spaces_are_told_apart_from_rounding(workload: str, epsilon: float) -> None:
    """A strategy of low rank on a large domain: what it answers, it answers to the last digits."""
    strategy = registry.build("fourier-3", 512, epsilon)
    assert isinstance(strategy, StrategyMatrix)
    assert strategy.evaluate(create(workload, 512).centred_gram()).residual <= 1e-11
    assert strategy.evaluate(create("4-way-parities", 512).centred_gram()).residual >= 0.99


def test_a_query_hidden_in_a_union_with_a_tiny_weight_is_not_answered() -> None:
    marginals = create("3-way-marginals", 32)
    outside = create("5-way-parities", 32)
    C = marginals.centred_gram() + (1e-4) ** 2 * outside.centred_gram()
    strategy = registry.build("fourier-3", 32, 1.0)
    assert not isinstance(strategy, Unavailable)
    assert not strategy.evaluate(C).answered


def test_variance_on_data_lies_between_the_types() -> None:
    workload = create("prefix", 16)
    strategy = registry.build("hierarchical", 16, 1.0)
    assert not isinstance(strategy, Unavailable)
    evaluation = strategy.evaluate(workload.centred_gram())
    x = np.arange(16.0)
    assert evaluation.on(x) == pytest.approx(sum(x * evaluation.variance))
    assert evaluation.on(np.eye(16)[3]) == evaluation.variance[3]
    assert evaluation.variance.min() <= evaluation.on(x / x.sum()) <= evaluation.worst


def test_the_objective_is_theorem_3_9() -> None:
    W, strategy = prefix(8), matrix_of("hadamard", 8, 1.0)
    Q = strategy.matrix
    expected = np.trace(np.linalg.pinv(Q.T @ (Q / Q.sum(axis=1, keepdims=True))) @ W.T @ W)
    assert strategy.objective(centred_gram(W), np.sum(W.sum(axis=1) ** 2)) == pytest.approx(expected, rel=1e-11)


def test_outputs_that_never_occur_are_dropped() -> None:
    Q = matrix_of("hadamard", 5, 1.0).matrix
    padded = StrategyMatrix(np.vstack([Q, np.zeros((2, 5))]), 1.0)
    assert padded.outputs == len(Q)
    assert padded.privacy_loss == privacy_loss(Q)


def test_a_workload_of_another_domain_is_refused() -> None:
    with pytest.raises(BadValue, match="domain_size = 6: must be the strategy's domain size, 5"):
        matrix_of("hadamard", 5, 1.0).evaluate(np.eye(6))


def test_unknown_mechanisms_are_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'hadamard'\? known: .*subset-selection"):
        registry.build("hadamrd", 4, 1.0)


def test_a_large_epsilon_loses_no_digits() -> None:
    """At ε = 25 variances are 10⁻⁸ of the second moments: matrix and closed form agree all the same."""
    n, epsilon = 12, 25.0
    C = centred_gram(prefix(n))
    law = np.eye(n + 1)[1]
    a, s = inner_ratio(epsilon), np.arange(n + 1.0)
    closed = SubsetStrategy(epsilon, law, a * s / (a * s + n - s), (n - s) / (a * s + n - s)).evaluate(C)
    dense = subset_strategy(law, epsilon).evaluate(C)
    assert closed.worst < 1e-8
    np.testing.assert_allclose(dense.variance, closed.variance, rtol=1e-9)
