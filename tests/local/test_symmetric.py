"""Symmetric strategies: their error, privacy, reports and decoding against matrices and enumeration; their bounds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chisquare

from factormech.arrays import FloatArray
from factormech.bounds.registry import variance_bound
from factormech.bounds.staircase import best_subset_size, largest_information
from factormech.errors import BadValue
from factormech.mechanisms.local.error_law import _pair_moments
from factormech.mechanisms.local.subsets import subset_selection
from factormech.mechanisms.local.symmetric import collection as collection_room
from factormech.mechanisms.local.symmetric import mixture
from factormech.mechanisms.local.symmetric import strategy as strategy_room
from factormech.mechanisms.local.symmetric.collection import alias_tables
from factormech.mechanisms.local.symmetric.kernels import transform_in_place
from factormech.mechanisms.local.symmetric.patterns import Channel, PatternFamily, characters, gains, permute, rank
from factormech.mechanisms.local.symmetric.solver import Options, SymmetricSolution, level_spectrum, solve
from factormech.mechanisms.local.symmetric.strategy import PatternReports, SymmetricStrategy, spectrum_of
from factormech.privacy.guarantee import verify_ldp
from factormech.workloads import binary
from factormech.workloads.registry import create
from tests.statistics import FALSE_ALARM, covariance_p_value, mean_p_value
from tests.tiers import every

pytestmark = pytest.mark.heavy

QUICK = Options(rounds=4, starts=40, sets=6, steps=3)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def family(bits: str, masks: list[list[int]], weights: list[float], permuted: bool = False) -> PatternFamily:
    return PatternFamily(np.array([b == "1" for b in bits]), np.array(masks), np.array(weights), permuted)


def mixed(epsilon: float = 1.0) -> SymmetricStrategy:
    """Every kind of family at once, on 8 types."""
    families = [
        family("0001", [[0b011, 0b110]], [0.3], permuted=True),
        family("01", [[1], [5], [6]], [0.1, 0.05, 0.15]),
        family("10010000", [[1, 2, 4], [4, 2, 1], [3, 2, 4]], [0.1, 0.1, 0.05]),
        family("0111", [[0b001, 0b111]], [0.15], permuted=True),
    ]
    return SymmetricStrategy(3, families, epsilon)


def solved(name: str, n: int, epsilon: float = 1.0, options: Options = QUICK) -> SymmetricSolution:
    return solve(create(name, n), epsilon, options=options, rng=rng())


def every_report(strategy: SymmetricStrategy) -> tuple[PatternReports, FloatArray]:
    """All reports there are, and their probabilities under each type, from the definition in words."""
    d, n = strategy.attributes, strategy.domain_size
    rows: list[tuple[int, int, tuple[int, ...], int]] = []
    chances = []
    for index, f in enumerate(strategy.families):
        channel = Channel.of(f, strategy.epsilon)
        orders = list(itertools.permutations(range(d))) if f.permuted else [tuple(range(d))]
        for (matrix, weight), order in itertools.product(enumerate(f.weights), orders):
            for word in range(f.points):
                row = []
                for u in range(n):
                    moved = sum(((u >> order[j]) & 1) << j for j in range(d))  # the user seen through the permutation
                    z = sum((bin(int(A) & moved).count("1") & 1) << i for i, A in enumerate(f.masks[matrix]))
                    row.append(channel.high if f.table[z ^ word] else channel.low)
                rows.append((index, matrix, order, word))
                chances.append(np.array(row) * weight / len(orders))
    order_array = np.array([r[2] for r in rows], dtype=np.int8)
    reports = PatternReports(
        np.array([r[0] for r in rows]), np.array([r[1] for r in rows]), order_array, np.array([r[3] for r in rows])
    )
    return reports, np.array(chances)


def one(reports: PatternReports, i: int) -> PatternReports:
    part = slice(i, i + 1)
    return PatternReports(reports.family[part], reports.matrix[part], reports.permutation[part], reports.word[part])


# Pieces ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [0, 1, 2, 5, 12, 13, 14, 15])
def test_transform_in_place(d: int) -> None:
    x = rng(d).standard_normal(1 << d)
    expected = binary.transform(x)
    transform_in_place(x)
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-12 * (1 << d))


def test_characters_rank_and_permutation() -> None:
    assert characters(np.array([1, 6])).tolist() == [0, 1, 6, 7]
    assert [rank(np.array(a)) for a in ([1, 2, 3], [5, 2, 4], [0], [7, 7])] == [2, 3, 0, 1]
    assert permute(np.array([[0b011]]), np.array([[2, 0, 1]])).tolist() == [[0b101]]


def test_gains_are_the_normalised_characters_of_the_rows() -> None:
    f = family("10110010", [[1, 2, 4]], [1.0])
    channel = Channel.of(f, 1.3)
    z = np.arange(8)
    for word in range(8):
        row = np.where(f.table[z ^ word], channel.high, channel.low)
        sign = 1 - 2 * (np.bitwise_count(z & word).astype(int) & 1)
        found = binary.transform(row) / row.sum()
        np.testing.assert_allclose(found[1:], (gains(f, channel) * sign)[1:], atol=1e-15)


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 1.0, 4.0, 12.0, 30.0])
@pytest.mark.parametrize("ones", [1, 3, 8, 15])
def test_channel_keeps_the_budget_and_uses_it(epsilon: float, ones: int) -> None:
    f = PatternFamily(np.arange(16) < ones, np.array([[1, 2, 4, 8]]), np.array([1.0]), False)
    channel = Channel.of(f, epsilon)
    assert channel.inside * 2.0**53 == int(channel.inside * 2.0**53)
    assert channel.inside + (1.0 - channel.inside) == 1.0
    assert channel.loss <= epsilon
    slack = 1e-9 * epsilon if epsilon < 12 else 0.05  # at 30, 1 − π is a few dozen steps of the grid
    assert channel.loss >= epsilon - slack


@pytest.mark.parametrize(
    ("bits", "masks", "weights"),
    [("1111", [[1, 2]], [1.0]), ("0001", [[3, 3]], [1.0]), ("0001", [[1, 2]], [-1.0]), ("01", [[1, 2]], [1.0])],
)
def test_bad_families_are_refused(bits: str, masks: list[list[int]], weights: list[float]) -> None:
    with pytest.raises(BadValue):
        family(bits, masks, weights)


def test_bad_strategies_are_refused() -> None:
    with pytest.raises(BadValue, match="weights"):
        SymmetricStrategy(3, [family("01", [[1]], [0.5])], 1.0)
    with pytest.raises(BadValue, match="masks"):
        SymmetricStrategy(3, [family("01", [[8]], [1.0])], 1.0)


# The strategy, its matrix and its reports ------------------------------------------------------------------


def test_information_is_explicit_averaging() -> None:
    """X of the enumerated reports is diagonal in the characters, with the eigenvalues of the closed form."""
    strategy = mixed()
    _, Q = every_report(strategy)
    X = Q.T @ (Q / Q.sum(axis=1, keepdims=True))
    H = binary.transform(np.eye(8))
    diagonal = H @ X @ H / 8
    np.testing.assert_allclose(np.diagonal(diagonal)[1:], strategy.information[1:], atol=1e-14)
    np.testing.assert_allclose(diagonal - np.diag(np.diagonal(diagonal)), 0.0, atol=1e-14)


def test_matrix_is_the_enumeration() -> None:
    """Equal rows put together or not: XX is the same, and the columns are distributions."""
    strategy = mixed()
    _, Q = every_report(strategy)
    dense = strategy.as_matrix().matrix
    np.testing.assert_allclose(dense.sum(axis=0), 1.0, atol=1e-14)
    np.testing.assert_allclose(
        dense.T @ (dense / dense.sum(axis=1, keepdims=True)), Q.T @ (Q / Q.sum(axis=1, keepdims=True)), atol=1e-15
    )
    assert strategy.outputs == len(Q)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_privacy_by_enumeration(epsilon: float) -> None:
    _, Q = every_report(mixed(epsilon))
    ratio = Q.max(axis=1) / Q.min(axis=1)
    assert ratio.max() <= math.exp(epsilon) * (1 + 1e-15)
    assert ratio.max() >= math.exp(epsilon) * (1 - 1e-9)
    assert mixed(epsilon).privacy_loss <= epsilon
    assert verify_ldp(mixed(epsilon).as_matrix().matrix, epsilon) <= epsilon


@pytest.mark.parametrize("name", ["all-marginals", "2-way-marginals", "parities", "histogram"])
@pytest.mark.parametrize("n", [8, 16])
def test_error_agrees_with_the_strategy_matrix(name: str, n: int) -> None:
    workload, solution = create(name, n), solved(name, n)
    C, g = workload.centred_gram(), workload.centred_walsh_spectrum()
    assert g is not None
    closed, dense = solution.strategy.evaluate(C), solution.strategy.as_matrix().evaluate(C)
    np.testing.assert_allclose(closed.variance, dense.variance, rtol=1e-9)
    assert solution.objective == pytest.approx(n * dense.average + np.trace(C), rel=1e-9)
    assert solution.constant + solution.objective == pytest.approx(
        solution.strategy.as_matrix().objective(C, workload.total_squared()), rel=1e-9
    )


def test_workloads_without_translations_are_left_to_the_matrix() -> None:
    C = create("prefix", 8).centred_gram()
    assert spectrum_of(C) is None
    strategy = mixed()
    np.testing.assert_allclose(strategy.evaluate(C).variance, strategy.as_matrix().evaluate(C).variance, rtol=1e-9)


def test_unanswered_workloads_are_refused() -> None:
    strategy = SymmetricStrategy(3, [family("01", [[1]], [1.0])], 1.0)
    workload = create("parities", 8)
    found = strategy.evaluate(workload.centred_gram())
    assert not found.answered
    assert np.isnan(found.variance).all()
    assert strategy.objective(np.ones(8)) == math.inf
    with pytest.raises(BadValue, match="residual"):
        strategy.answers(strategy.randomise(np.array([1, 2]), rng()), workload)


def test_decoder_is_unbiased_and_its_covariance_is_the_matrix_one() -> None:
    """Exactly, by enumeration: E[estimate | u] = χ(u), and the variance summed over a workload is the closed form."""
    strategy = mixed()
    reports, Q = every_report(strategy)
    estimates = np.array([strategy.coefficients(one(reports, i)) for i in range(len(reports))])
    np.testing.assert_allclose(estimates.T @ Q, binary.transform(np.eye(8)), atol=1e-12)
    g = create("all-marginals", 8).centred_walsh_spectrum()
    assert g is not None
    second = (estimates**2).T @ Q  # by character and type
    variance = g @ (second - 1.0) / 8.0
    np.testing.assert_allclose(variance, strategy.variance_per_user(g), rtol=1e-12)


def test_decoding_together_is_the_sum_of_decoding_one_by_one() -> None:
    strategy = mixed()
    reports = strategy.randomise(rng().integers(8, size=50), rng())
    alone = sum(strategy.coefficients(one(reports, i)) for i in range(50))
    np.testing.assert_allclose(strategy.coefficients(reports), alone, atol=1e-10)


@pytest.mark.parametrize("cells_per_user", every(2, [0, 16]), ids=["kept", "counted"])
def test_sampler_follows_the_probabilities(cells_per_user: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mean and covariance of the estimated data vector at a simultaneous level, over every kind of family."""
    monkeypatch.setattr(strategy_room, "_CELLS_PER_USER", cells_per_user)
    strategy, counts, trials = mixed(2.0), np.array([5, 0, 9, 1, 0, 3, 7, 2]), 1500
    samples = strategy.simulate_estimates(counts, trials, rng(5))
    reports, Q = every_report(strategy)
    found = np.array([strategy.coefficients(one(reports, i)) for i in range(len(reports))])
    found[:, 0] = 0.0
    b = binary.transform(found.T) / 8
    covariance = (b * (Q @ counts)) @ b.T - (b @ Q * counts) @ (b @ Q).T
    mean = counts - counts.mean()
    assert mean_p_value(samples, mean, covariance) > FALSE_ALARM
    assert covariance_p_value(samples, mean, covariance) > FALSE_ALARM


def test_alias_tables_give_back_the_weights() -> None:
    weights = rng(3).random(1000) ** 4
    choice, alias = alias_tables(weights)
    kept = choice + np.bincount(alias, weights=1.0 - choice, minlength=1000)
    np.testing.assert_allclose(kept / 1000, weights / weights.sum(), rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("many", [0.0, math.inf])
@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 4.0])
def test_counts_follow_the_probabilities(many: float, epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every report, from users of one type and of another: a multinomial of the columns of the matrix."""
    monkeypatch.setattr(collection_room, "_MANY", many)
    strategy, users = mixed(epsilon), 200_000
    Q, collection = strategy.as_matrix().matrix, strategy._collection
    assert collection is not None
    for u in (0, 5):
        found = collection.counts(users * (np.arange(8) == u), rng(u))
        assert found.sum() == users
        assert chisquare(found, users * Q[:, u]).pvalue > FALSE_ALARM
    mixture = np.array([3, 0, 1, 0, 0, 2, 4, 0])
    assert chisquare(collection.counts(20_000 * mixture, rng(9)), 20_000 * (Q @ mixture)).pvalue > FALSE_ALARM


def test_every_report_is_counted_once() -> None:
    """A permuted family on four attributes, whose equal placements are one: as many reports as users."""
    strategy = solved("2-way-marginals", 16, 1.0).strategy
    counts = np.arange(16) * 40
    collection = strategy._collection
    assert collection is not None
    found = collection.counts(counts, rng(4))
    assert found.sum() == counts.sum()
    assert len(found) == collection.cells


def test_answers_of_a_workload() -> None:
    """Marginals of three thousand users on 64 types: the squared error has the expectation of the closed form."""
    workload, solution = create("2-way-marginals", 64), solved("2-way-marginals", 64, 3.0)
    users = rng(1).integers(0, 64, 3000)
    truth = workload.answer(np.bincount(users, minlength=64).astype(float))
    g = workload.centred_walsh_spectrum()
    assert g is not None
    due = 3000 * solution.strategy.variance_per_user(g)
    errors = np.array(
        [
            np.sum((solution.strategy.answers(solution.strategy.randomise(users, rng(t)), workload) - truth) ** 2)
            for t in range(40)
        ]
    )
    assert abs(errors.mean() / due - 1.0) < 5.2 * errors.std() / due / math.sqrt(40)


def test_reports_are_reproducible_and_checked() -> None:
    strategy = mixed()
    a, b = (strategy.randomise(np.arange(8), rng(3)) for _ in range(2))
    np.testing.assert_array_equal(a.word, b.word)
    with pytest.raises(BadValue, match="users"):
        strategy.randomise(np.array([8]), rng())


# Solvers and bounds ----------------------------------------------------------------------------------------


def test_histogram_reaches_subset_selection() -> None:
    """The closed form: (n−1)²/σ, which subset selection of the best size has."""
    solution = solved("histogram", 16, options=Options())
    closed = 15.0**2 / largest_information(16, 1.0)
    rival = subset_selection(16, 1.0).evaluate(create("histogram", 16).centred_gram())
    assert closed == pytest.approx(16 * rival.average + 15.0, rel=1e-9)
    assert solution.objective == pytest.approx(closed, rel=1e-6)
    assert solution.lower_bound <= closed * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", every(2, [0.5, 1.0, 4.0]))
@pytest.mark.parametrize("name", ["2-way-marginals", "at-most-3-way-parities", "all-marginals"])
def test_bound_holds_for_all_mixtures_of_sets(name: str, epsilon: float) -> None:
    """On 16 types every set can be listed: the best mixture of all profiles is the optimum, and the bound is below."""
    g = create(name, 16).centred_walsh_spectrum()
    assert g is not None
    levels = level_spectrum(g)
    assert levels is not None
    sets = (np.arange(1, 2**15)[:, None] >> np.arange(16)) & 1
    hat = sets @ binary.transform(np.eye(16)) / 16
    c = math.expm1(epsilon) / (1 + math.expm1(epsilon) * hat[:, 0])
    sizes = binary.popcounts(16)
    profiles = np.array([np.sum(hat[:, sizes == j] ** 2, axis=1) * c**2 for j in range(5)])
    profiles[0] = 0.0
    distinct = np.unique(np.round(profiles.T, 14), axis=0).T
    squares = np.array([math.comb(4, j) for j in range(5)]) ** 2 * levels
    _, optimum = mixture.best_weights(distinct[:, distinct.any(axis=0)], squares)
    bound = mixture.lower_bound(levels, epsilon)
    plain = float(np.sqrt(squares).sum() ** 2 / largest_information(16, epsilon))
    assert plain * (1 - 1e-3) <= bound <= optimum * (1 + 1e-9)
    found = solved(name, 16, epsilon, Options())
    assert found.objective == pytest.approx(optimum, rel=1e-4)
    assert found.lower_bound <= optimum * (1 + 1e-9)


def test_sets_satisfy_what_the_bound_assumes() -> None:
    """Random sets, subcubes and balls: every inequality of the programme, and the ceiling of its multipliers."""
    sets = mixture.Sets(6)
    size = binary.popcounts(64)
    tables = [size <= r for r in range(3)] + [(np.arange(64) & mask) == mask for mask in (1, 3, 7, 33)]
    tables += [rng(t).random(64) < 0.05 * (t + 1) for t in range(9)]
    multipliers, _ = sets.programme(np.array([0.0, 3.0, 2.0, 1.0, 0.0, 0.0, 0.0]), 11)
    for table in tables:
        k = int(table.sum())
        w = np.bincount(size, weights=(binary.transform(table.astype(float)) / 64) ** 2)[1:]
        right = sets.right(np.array([k]))[:, 0] * k / 64
        assert np.all(sets.matrix @ w <= right + 1e-12)
        assert w @ [3.0, 2.0, 1.0, 0.0, 0.0, 0.0] <= sets.ceiling(multipliers, np.array([k]))[0] + 1e-12


def test_odd_parities_alone_are_answered_by_randomized_response() -> None:
    """Only odd characters: a set and its reflection are disjoint in spectrum, so half the power must be elsewhere."""
    levels = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    exact = 20.0**2 / math.tanh(0.5) ** 2
    assert mixture.lower_bound(levels, 1.0) == pytest.approx(exact, rel=1e-3)
    assert mixture.lower_bound(levels, 1.0) <= exact


def test_mixture_against_a_closed_form() -> None:
    """Disjoint profiles: p ∝ s, value (Σs)²."""
    s = np.array([1.0, 3.0, 0.5])
    weights, value = mixture.best_weights(np.eye(3), s**2)
    np.testing.assert_allclose(weights, s / s.sum(), rtol=1e-5)
    assert value == pytest.approx(s.sum() ** 2, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n", "limit"),
    [
        ("3-way-marginals", 2**7, 1.005),
        pytest.param("3-way-marginals", 2**20, 1.005, marks=pytest.mark.slow),
        ("at-most-3-way-parities", 2**10, 1.025),
        pytest.param("at-most-3-way-parities", 2**14, 1.025, marks=pytest.mark.slow),
    ],
)
def test_low_order_workloads_near_their_bound(name: str, n: int, limit: float) -> None:
    solution = solved(name, n, options=Options())
    assert 1.0 <= solution.ratio <= limit


def test_wider_patterns_are_found_where_few_parities_leave_a_gap() -> None:
    """A set of 64 types that six parities describe; of sets by five, the best is 1.087 times the bound from pairs."""
    workload, epsilon = create("at-most-3-way-parities", 512), 2.5
    found = solve(workload, epsilon, rng=rng())
    variance = found.strategy.evaluate(workload.centred_gram()).average
    assert variance <= 1.08 * variance_bound("pairwise", workload, epsilon)
    assert max(family.bits for family in found.strategy.families) >= 6


@pytest.mark.slow
def test_many_characters_near_their_bound() -> None:
    solution = solved("all-marginals", 2**10, options=Options(rounds=6, sets=8, steps=3))
    assert 1.0 <= solution.ratio <= 1.01


def test_spectrum_without_permutations() -> None:
    """A spectrum that differs from character to character: shaped sets come near the bound of Cauchy and Schwarz."""
    g = np.exp(rng(2).standard_normal(512))
    solution = solve(g, 1.0, rng=rng())
    assert level_spectrum(g) is None
    assert solution.lower_bound == pytest.approx(np.sqrt(g[1:]).sum() ** 2 / largest_information(512, 1.0))
    assert 1.0 <= solution.ratio <= 1.005
    assert int(solution.strategy.families[0].table.sum()) == best_subset_size(512, 1.0)


def test_few_characters_fall_back_to_parities() -> None:
    g = np.zeros(256)
    g[[3, 17, 200]] = [4.0, 1.0, 9.0]
    solution = solve(g, 1.0, rng=rng())
    assert solution.method == "parity"
    assert solution.objective == pytest.approx(36.0 / math.tanh(0.5) ** 2, rel=1e-9)


@pytest.mark.slow
def test_a_budget_of_rows_leaves_out_what_has_more(monkeypatch: pytest.MonkeyPatch) -> None:
    workload = create("all-marginals", 64)
    free = solve(workload, 1.0, rng=np.random.default_rng(0))
    assert free.strategy.outputs > 2 * math.factorial(6)  # no permuted pattern has fewer
    large = solve(workload, 1.0, rng=np.random.default_rng(0), rows=free.strategy.outputs)
    assert large.objective == free.objective
    assert large.lower_bound == free.lower_bound

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("searched in vain")

    for searched in ("patterns.solve", "patterns.solve_thresholds", "mixture.lower_bound"):
        monkeypatch.setattr(f"factormech.mechanisms.local.symmetric.{searched}", refuse)
    few = solve(workload, 1.0, rng=np.random.default_rng(0), rows=2 * math.factorial(6) - 1)
    assert few.method == "parity"
    assert few.strategy.outputs == 2 * np.count_nonzero(workload.centred_walsh_spectrum()) <= 128
    assert few.lower_bound <= free.lower_bound <= few.objective


def test_solutions_are_reproducible() -> None:
    a, b = (solved("all-marginals", 64) for _ in range(2))
    assert a.objective == b.objective


@pytest.mark.parametrize("bad", [np.ones(6), np.ones((2, 2)), -np.ones(4), np.array([1.0, np.nan])])
def test_bad_spectra_are_refused(bad: FloatArray) -> None:
    with pytest.raises(BadValue):
        solve(bad, 1.0, rng=rng())


def test_other_workloads_are_refused() -> None:
    with pytest.raises(BadValue, match="workload"):
        solve(create("prefix", 8), 1.0, rng=rng())


@pytest.mark.slow
def test_a_million_types() -> None:
    """All marginals at n = 2²⁰: solved, reported and decoded without a dense matrix."""
    workload, n = create("all-marginals", 2**20), 2**20
    solution = solve(workload, 1.0, rng=rng())
    assert 1.0 <= solution.ratio <= 1.05
    users = rng(1).integers(0, n, 20_000)
    found = solution.strategy.coefficients(solution.strategy.randomise(users, rng(2)))
    chi = np.array([1, 2, 3, 1 << 19])
    truth = np.array([np.sum(1 - 2 * (np.bitwise_count(users & c).astype(int) & 1)) for c in chi])
    deviation = np.sqrt(20_000 / solution.strategy.information[chi])
    assert np.all(np.abs(found[chi] - truth) < 5.5 * deviation)


@pytest.mark.parametrize("name", ["3-way-marginals", "1-way-marginals", "prefix"])
@pytest.mark.parametrize("epsilon", [0.3, 4.0])
def test_the_law_by_characters_is_that_of_the_matrix(name: str, epsilon: float) -> None:
    """Of every kind of family at once; prefix sums have no symmetry, and their law is the matrix's own."""
    strategy, C = mixed(epsilon), create(name, 8).centred_gram()
    explicit = strategy.as_matrix()
    found, expected = strategy.error_law(C), explicit.error_law(C)
    for one, other in (
        (found.variance, expected.variance),
        (found.excess, expected.excess),
        (found.jump, expected.jump),
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    x = np.arange(float(len(C)))
    covariance = expected.covariance(x)
    np.testing.assert_allclose(found.covariance(x), covariance, rtol=0.0, atol=1e-11 * np.abs(covariance).max())
    assert found.on(x).variance == pytest.approx(expected.on(x).variance, rel=1e-9)


def test_characters_without_information_are_never_estimated() -> None:
    """Parities of single attributes alone: the law on them is the matrix's, though nothing is said of any other."""
    weights = [0.5, 0.3, 0.2]
    strategy = SymmetricStrategy(3, [family("01", [[1], [2], [4]], weights)], 1.0)
    C = create("1-way-marginals", 8).centred_gram()
    found, expected = strategy.error_law(C), strategy.as_matrix().error_law(C)
    x = np.array([3.0, 0.0, 1.0, 5.0, 2.0, 0.0, 0.0, 4.0])
    np.testing.assert_allclose(found.excess, expected.excess, rtol=1e-9)
    assert found.on(x).variance == pytest.approx(expected.on(x).variance, rel=1e-9)
    assert found.on(x).scale == pytest.approx(expected.on(x).scale, rel=1e-9)


def test_a_workload_of_another_domain_has_no_law() -> None:
    with pytest.raises(BadValue, match="domain_size"):
        mixed().error_law(create("3-way-marginals", 16).centred_gram())


@pytest.mark.parametrize(("m", "types"), [(3, 5), (3, 1), (200, 5), (200, 1), (3000, 4)])
def test_both_ways_to_the_moments_of_pairs_agree(m: int, types: int) -> None:
    draw, n = np.random.default_rng(m), 5
    A, B, Q = draw.normal(size=(n, n)), draw.normal(size=(n, m)), draw.random((m, types))
    C = A @ A.T
    expected = [np.trace(np.linalg.matrix_power(C @ ((B * Q[:, u]) @ B.T), 2)) for u in range(types)]
    np.testing.assert_allclose(_pair_moments(C, Q, B, C @ B), expected, rtol=1e-10)
