"""Simulated sums of reports have exactly the law of the strategy, whatever structure the sampler makes use of."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import multivariate_hypergeom

from factormech.arrays import FloatArray, IntArray
from factormech.errors import BadValue
from factormech.mechanisms.local import memberships, registry, reports
from factormech.mechanisms.local.memberships import SubsetLaw
from factormech.mechanisms.local.reports import ReportTree, check_counts
from factormech.mechanisms.local.strategy import SimulatedStrategy, StrategyMatrix
from factormech.mechanisms.local.subsets import SubsetStrategy, subset_matrix
from factormech.mechanisms.local.two_valued import two_valued
from factormech.privacy.guarantee import inner_ratio
from tests.oracles import random_strategy
from tests.statistics import FALSE_ALARM, binomial_p_value, covariance_p_value, mean_p_value, table_p_value
from tests.tiers import every, every_pair

pytestmark = pytest.mark.heavy

FIXED = [name for name in registry.names() if not registry.is_solved(name)]
COUNTS = np.array([40, 0, 3, 120, 11, 26])
TRIALS = 6000


def matrix_of(name: str, n: int, epsilon: float) -> FloatArray:
    if name == "random":
        return random_strategy(np.random.default_rng(0), 6, n, epsilon)
    strategy = registry.build(name, n, epsilon)
    assert isinstance(strategy, StrategyMatrix)
    return strategy.matrix


def closed_form(law: FloatArray, epsilon: float) -> SubsetStrategy:
    n, a = len(law) - 1, inner_ratio(epsilon)
    s = np.arange(n + 1.0)
    return SubsetStrategy(epsilon, law, a * s / (a * s + n - s), (n - s) / (a * s + n - s))


def report_law(Q: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance of the sum of reports, by their definition."""
    mean = Q @ x
    return mean, np.diag(mean) - (Q * x) @ Q.T


# Matrices ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*FIXED, "random"])
def test_sums_of_reports_have_the_exact_mean_and_covariance(name: str) -> None:
    """And the same tests reject reports sampled at an ε that is a tenth too large."""
    Q = matrix_of(name, len(COUNTS), 1.0)
    mean, covariance = report_law(Q, COUNTS)
    y = ReportTree(Q).sample(COUNTS, TRIALS, np.random.default_rng(1)).astype(float)
    assert (y.sum(axis=0) == COUNTS.sum()).all()
    assert mean_p_value(y, mean, covariance) >= FALSE_ALARM
    assert covariance_p_value(y, mean, covariance) >= FALSE_ALARM
    if name != "random":
        wrong = ReportTree(matrix_of(name, len(COUNTS), 1.1)).sample(COUNTS, TRIALS, np.random.default_rng(1))
        if len(wrong) == len(y):
            assert mean_p_value(wrong.astype(float), mean, covariance) < FALSE_ALARM


def test_a_wrong_covariance_is_seen() -> None:
    """Reports of users drawn anew for each trial have the right mean and a larger covariance."""
    Q = matrix_of("hadamard", 6, 3.0)
    mean, covariance = report_law(Q, COUNTS)
    y = np.random.default_rng(2).multinomial(COUNTS.sum(), mean / mean.sum(), size=TRIALS).T.astype(float)
    assert mean_p_value(y, mean, covariance) >= FALSE_ALARM
    assert covariance_p_value(y, mean, covariance) < FALSE_ALARM


def exact_table(Q: FloatArray, types: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """The probability of each vector of sums of reports of these few users."""
    table: dict[tuple[int, ...], float] = {}
    for outcome in itertools.product(range(len(Q)), repeat=len(types)):
        y = tuple(np.bincount(outcome, minlength=len(Q)).tolist())
        table[y] = table.get(y, 0.0) + math.prod(Q[o, u] for o, u in zip(outcome, types, strict=True))
    return table


@pytest.mark.parametrize("name", ["randomized-response", "hadamard", "hierarchical", "fourier", "random"])
def test_the_joint_law_of_a_few_users_is_the_product_of_theirs(name: str) -> None:
    Q = matrix_of(name, 3, 1.5)
    trials = 50_000
    y = ReportTree(Q).sample(np.array([2, 0, 1]), trials, np.random.default_rng(3))
    keys, found = np.unique(y.T, axis=0, return_counts=True)
    seen = {tuple(key.tolist()): count for key, count in zip(keys, found, strict=True)}

    def p_value(strategy: FloatArray) -> float:
        table = exact_table(strategy, (0, 0, 2))
        assert seen.keys() <= table.keys()
        expected = trials * np.array(list(table.values()))
        return table_p_value(np.array([float(seen.get(key, 0)) for key in table]), expected)

    assert p_value(Q) >= FALSE_ALARM
    if name != "random":
        assert p_value(matrix_of(name, 3, 1.7)) < FALSE_ALARM


def test_structure_makes_the_tree_small() -> None:
    """About 2m log m classes for a strategy that a multinomial for each type would take m·n for."""
    for name, factor in (("randomized-response", 1.5), ("hadamard-table1", 2.0), ("fourier", 3.0)):
        Q = matrix_of(name, 128, 1.0)
        tree = ReportTree(Q)
        classes = sum(len(level.left_share) for level in tree._levels)
        assert classes <= factor * len(Q) * math.log2(len(Q))
        assert classes < Q.size / 4


@pytest.mark.parametrize("m", [1, 2, 3, 8, 13])
def test_any_number_of_outputs_and_a_single_type(m: int) -> None:
    rng = np.random.default_rng(m)
    Q = rng.dirichlet(np.ones(m), size=1).T
    y = ReportTree(Q).sample(np.array([1000]), 2000, rng)
    assert y.shape == (m, 2000)
    mean, covariance = report_law(Q, np.array([1000.0]))
    assert mean_p_value(y.astype(float), mean, covariance) >= FALSE_ALARM


def test_outputs_that_some_types_never_give() -> None:
    """Probabilities of zero, in one column or in a whole half of the tree."""
    Q = np.array([[0.5, 0.0], [0.5, 0.0], [0.0, 0.25], [0.0, 0.75]])
    y = ReportTree(Q).sample(np.array([10, 1000]), 500, np.random.default_rng(4))
    assert (y[:2].sum(axis=0) == 10).all()
    assert (y[2:].sum(axis=0) == 1000).all()
    assert binomial_p_value(int(y[3].sum()), 500_000, 0.75) > FALSE_ALARM


def test_trials_come_in_blocks_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = ReportTree(matrix_of("hadamard", 6, 1.0))
    whole = tree.sample(COUNTS, 7, np.random.default_rng(5))
    monkeypatch.setattr(reports, "CELLS_LIMIT", 3 * tree._widest)
    blocks = tree.sample(COUNTS, 7, np.random.default_rng(5))
    assert blocks.shape == whole.shape
    assert (blocks.sum(axis=0) == COUNTS.sum()).all()
    np.testing.assert_array_equal(blocks, tree.sample(COUNTS, 7, np.random.default_rng(5)))


def every_count_split(tree: ReportTree, x: IntArray, trials: int, rng: np.random.Generator) -> IntArray:
    """The sums of reports by the tree's definition: a binomial for every class and trial, of none too."""
    from factormech.mechanisms.local.binomial_kernels import parts

    state = np.zeros((tree._classes, trials), dtype=np.int64)
    for place, count in zip(tree._root, x, strict=True):
        state[place] += count
    for level in tree._levels:
        below = np.zeros((level.below, trials), dtype=np.int64)
        shares = np.split(level.left_share, len(state))
        left = [parts(counts[:, None], share, rng)[:, 0] for counts, share in zip(state, shares, strict=True)]
        for place in range(len(state)):
            below[level.left[place]] += left[place]
            below[level.right[place]] += state[place] - left[place]
        state = below
    return np.asarray(np.add.reduceat(state, tree._row_starts, axis=0)[: tree._outputs])


@pytest.mark.parametrize("name", ["randomized-response", "hadamard", "hierarchical", "random"])
@pytest.mark.parametrize("users", [1, 50, 10**6])
def test_the_counts_of_nobody_take_no_chance(name: str, users: int) -> None:
    """Leaving them out changes neither the sums nor where the stream of random numbers stands."""
    tree = ReportTree(matrix_of(name, 24, 1.0))
    x = np.random.default_rng(users).multinomial(users, np.full(24, 1 / 24))
    one, other = np.random.default_rng(13), np.random.default_rng(13)
    np.testing.assert_array_equal(tree.sample(x, 9, one), every_count_split(tree, x, 9, other))
    assert one.random() == other.random()


# Subsets -------------------------------------------------------------------------------------------------------


def membership_p_values(law: FloatArray, epsilon: float, way: str, sampled: float) -> tuple[float, float]:
    """Simulated estimates at ε = ``sampled``, weighed for ``epsilon``, against the explicit matrix of ``epsilon``."""
    mixture, true = closed_form(law, sampled).mixture, closed_form(law, epsilon)
    mixture = SubsetLaw(
        mixture.domain_size, mixture.sizes, mixture.forced, mixture.free, mixture.silent, true.mixture.weights
    )
    h = getattr(mixture, f"sample_{way}")(COUNTS, TRIALS, np.random.default_rng(6))
    dense = StrategyMatrix(subset_matrix(law, epsilon), epsilon)
    y_mean, y_covariance = report_law(dense.matrix, COUNTS.astype(float))
    B = dense.reconstruction
    estimates, mean, covariance = h - h.mean(axis=0), B @ y_mean, B @ y_covariance @ B.T
    return mean_p_value(estimates, mean, covariance), covariance_p_value(estimates, mean, covariance)


@pytest.mark.parametrize("way", ["by_users", "by_types"])
@pytest.mark.parametrize("law", every(2, ["one size", "all sizes"]))
def test_subset_estimates_have_the_law_of_the_explicit_matrix(law: str, way: str) -> None:
    """And reports at an ε a quarter too large are rejected."""
    n = len(COUNTS)
    sizes = np.eye(n + 1)[2] if law == "one size" else np.array([0.05, 0.2, 0.2, 0.2, 0.15, 0.15, 0.05])
    assert min(membership_p_values(sizes, 1.0, way, sampled=1.0)) >= FALSE_ALARM
    assert min(membership_p_values(sizes, 1.0, way, sampled=1.25)) < FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("way", every(2, ["by_users", "by_types"]))
def test_the_joint_law_of_two_subset_reports_is_that_of_the_matrix(way: str) -> None:
    """Each value that Σ g_s 1_S can take, with its exact probability, for users of two types."""
    law, epsilon, trials = np.array([0.1, 0.3, 0.4, 0.2, 0.0]), 1.2, 40_000
    strategy = closed_form(law, epsilon)
    g = np.array([0.0, *strategy.weights, 0.0])
    a = inner_ratio(epsilon)
    sets = [np.array(bits, dtype=float) for bits in itertools.product((0, 1), repeat=4)]

    def probability(S: FloatArray, u: int) -> float:
        s = int(S.sum())
        inside = a if S[u] else 1.0
        ways = 1.0 if s in (0, 4) else math.comb(3, s - 1) * a + math.comb(3, s)
        return float(law[s] * (1.0 if s in (0, 4) else inside) / ways)

    table: dict[tuple[float, ...], float] = {}
    for S, T in itertools.product(sets, repeat=2):
        key = tuple(np.round(g[int(S.sum())] * S + g[int(T.sum())] * T, 8).tolist())
        table[key] = table.get(key, 0.0) + probability(S, 1) * probability(T, 3)
    assert sum(table.values()) == pytest.approx(1.0)
    h = getattr(strategy.mixture, f"sample_{way}")(np.array([0, 1, 0, 1]), trials, np.random.default_rng(7))
    keys, found = np.unique(np.round(h.T, 8), axis=0, return_counts=True)
    seen = {tuple(key.tolist()): count for key, count in zip(keys, found, strict=True)}
    assert seen.keys() <= table.keys()
    expected = trials * np.array(list(table.values()))
    assert table_p_value(np.array([float(seen.get(key, 0)) for key in table]), expected) >= FALSE_ALARM


@pytest.mark.parametrize(("name", "n"), every_pair(2, [("subset-selection", 40), ("rappor", 40)]))
def test_both_ways_agree_on_domains_without_a_matrix(name: str, n: int) -> None:
    strategy = registry.build(name, n, 1.0)
    assert isinstance(strategy, SubsetStrategy)
    x = np.random.default_rng(8).integers(0, 8, n)
    covariance = strategy.error_law(np.eye(n) - 1.0 / n).covariance(x.astype(float))
    for way in ("by_users", "by_types"):
        h = getattr(strategy.mixture, f"sample_{way}")(x, 2000, np.random.default_rng(9))
        estimates = h - h.mean(axis=0)
        assert mean_p_value(estimates, x - x.mean(), covariance) >= FALSE_ALARM
        assert covariance_p_value(estimates, x - x.mean(), covariance) >= FALSE_ALARM


def test_sampling_without_replacement_is_multivariate_hypergeometric() -> None:
    state, samples = np.array([3, 0, 2, 4, 1]), 4
    trials = 30_000
    rng = np.random.default_rng(10)
    found = memberships._take(np.tile(state, (trials, 1)), np.full(trials, samples), rng)
    keys, counts = np.unique(found, axis=0, return_counts=True)
    every = [k for k in itertools.product(*(range(c + 1) for c in state.tolist())) if sum(k) == samples]
    seen = {tuple(key.tolist()): count for key, count in zip(keys, counts, strict=True)}
    assert seen.keys() <= set(every)
    expected = trials * np.array([multivariate_hypergeom.pmf(k, state, samples) for k in every])
    assert table_p_value(np.array([float(seen.get(k, 0)) for k in every]), expected) >= FALSE_ALARM


def test_trials_of_subset_reports_come_in_blocks_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    mixture = closed_form(np.eye(7)[2], 1.0).mixture
    monkeypatch.setattr(memberships, "_CELLS_LIMIT", 20)
    for way in ("by_users", "by_types"):
        h = getattr(mixture, f"sample_{way}")(COUNTS, 5, np.random.default_rng(11))
        np.testing.assert_allclose(h.sum(axis=0), 2 * COUNTS.sum() * mixture.weights[0])


def test_what_is_too_much_work_is_refused_with_the_reason() -> None:
    strategy = registry.build("rappor", 1024, 1.0)
    assert isinstance(strategy, SubsetStrategy)
    assert not strategy.simulation_refusal(1000)
    assert "fewer users or a smaller domain" in strategy.simulation_refusal(10**7)
    x = np.zeros(1024, dtype=int)
    x[5] = 10**7
    with pytest.raises(BadValue, match="users = 10000000: must be few enough to simulate"):
        strategy.simulate_estimates(x, 1, np.random.default_rng(0))
    one_size = registry.build("subset-selection", 256, 1.0)
    assert isinstance(one_size, SubsetStrategy)
    assert not one_size.simulation_refusal(10**8)
    assert "hypergeometric" in one_size.simulation_refusal(10**9)


def test_sets_that_avoid_the_type_are_refused() -> None:
    strategy = SubsetStrategy(1.0, np.eye(5)[2], np.full(5, 0.4), np.full(5, 0.6))
    with pytest.raises(BadValue, match="favour sets that contain the user's type"):
        strategy.simulate_estimates(np.ones(4), 1, np.random.default_rng(0))


# What all strategies share ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 5, 33])
@pytest.mark.parametrize("name", FIXED)
def test_every_mechanism_is_simulated_reproducibly(name: str, n: int) -> None:
    strategy = registry.build(name, n, 1.0)
    if name.startswith("fourier") and n == 1:
        return
    assert isinstance(strategy, SimulatedStrategy)
    x = np.arange(n) % 3 + 1
    first = strategy.simulate_estimates(x, 3, np.random.default_rng(12))
    assert first.shape == (n, 3)
    np.testing.assert_allclose(first.sum(axis=0), 0.0, atol=1e-9 * np.abs(first).max(initial=1.0))
    np.testing.assert_array_equal(first, strategy.simulate_estimates(x, 3, np.random.default_rng(12)))


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, -2, 3], r"counts\[1\] = -2: must be a whole number from 0"),
        ([1, 2.5, 3], r"counts\[1\] = 2.5: must be a whole number"),
        ([1, np.nan, 3], r"counts\[1\] = nan: must be a whole number"),
        ([1, np.inf, 3], r"counts\[1\] = inf"),
        ([0, 0, 0], r"users = 0\.0: must be from 1"),
        ([1, 2], r"shape of counts = \(2,\): must have shape \(3,\)"),
        ([[1, 2, 3]], r"shape of counts"),
        (["a", "b", "c"], r"type of counts"),
        ([True, False, True], r"type of counts"),
        ([2**53, 1, 0], r"counts\[0\]"),
    ],
)
def test_counts_are_checked(counts: list[object], message: str) -> None:
    strategy = StrategyMatrix(two_valued(np.eye(3, dtype=bool), 1.0), 1.0)
    with pytest.raises(BadValue, match=message):
        strategy.simulate_reports(np.array(counts), 1, np.random.default_rng(0))


def test_trials_are_checked_and_whole_floats_are_counts() -> None:
    strategy = StrategyMatrix(two_valued(np.eye(3, dtype=bool), 1.0), 1.0)
    with pytest.raises(BadValue, match="trials = 0"):
        strategy.simulate_reports(np.ones(3), 0, np.random.default_rng(0))
    assert check_counts([1.0, 2.0]).dtype == np.int64
