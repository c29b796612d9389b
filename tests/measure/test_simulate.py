"""Measured errors agree with exact ones at one in a million, and would not if anything were slightly wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from factormech.errors import BadValue
from factormech.mechanisms.local import populations, registry
from factormech.mechanisms.local.simulate import Simulated, compare, simulate, tail_probability
from factormech.mechanisms.local.strategy import SimulatedStrategy, Strategy, StrategyMatrix
from factormech.studies.measures.collection import agreement
from factormech.workloads.registry import create
from tests import solutions


def built(name: str, n: int, epsilon: float) -> SimulatedStrategy:
    return for_workload(name, "histogram", n, epsilon)


def for_workload(name: str, workload: str, n: int, epsilon: float) -> SimulatedStrategy:
    strategy = solutions.strategy(name, workload, n, epsilon)
    assert isinstance(strategy, SimulatedStrategy)
    return strategy


def run(name: str, workload: str, n: int, epsilon: float, users: int, trials: int, seed: int = 0) -> Simulated:
    x = populations.population("zipf", n, users, seed)
    strategy = for_workload(name, workload, n, epsilon)
    return simulate(strategy, create(workload, n), x, trials, np.random.default_rng([seed, 1]))


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("name", registry.names())
def test_every_mechanism_agrees_with_its_exact_error(name: str, epsilon: float) -> None:
    """Both domains with a matrix and without, small and large populations, at one simultaneous level."""
    large = name not in solutions.SOLVED
    results = [
        run(name, workload, n, epsilon, users, 20)
        for workload in (("3-way-marginals",) if name == "fourier-3" else ("histogram", "prefix"))
        for n in ((8, 32) if large else (8,))
        for users in (10**3, 10**6 if large else 10**5)
    ]
    found = agreement(results, pools={"all": range(len(results))})
    assert found.passed, found
    for result in results:
        assert result.ratio == pytest.approx(1.0, abs=1.0)
        assert np.sign(result.z) == np.sign(result.ratio - 1.0)


def test_errors_are_those_of_the_answers() -> None:
    """eᵀCe of the centred estimates is ‖Wx − Vy‖² of the queries, V = WB + W11ᵀ/n."""
    workload, n = create("all-ranges", 6), 6
    strategy = built("hadamard", n, 1.0)
    assert isinstance(strategy, StrategyMatrix)
    x = np.array([5, 0, 9, 2, 2, 30])
    result = simulate(strategy, workload, x, 4, np.random.default_rng(3))
    y = strategy.simulate_reports(x, 4, np.random.default_rng(3)).astype(float)
    W = workload.matrix()
    V = W @ (strategy.reconstruction + 1.0 / n)
    np.testing.assert_allclose(result.errors, (((W @ x)[:, None] - V @ y) ** 2).sum(axis=0), rtol=1e-9)
    assert result.mean == pytest.approx(result.errors.mean())
    assert result.standard_error == pytest.approx(result.errors.std(ddof=1) / 2)
    assert result.expected == pytest.approx(strategy.evaluate(workload.centred_gram()).on(x.astype(float)))
    mean_error = np.linalg.norm(W @ x - (V @ y).mean(axis=1)) ** 2
    assert result.bias == pytest.approx(4 * mean_error)


def test_a_sampler_of_another_epsilon_is_rejected() -> None:
    """Reports at ε = 1.05 read with the reconstruction of ε = 1: bias and error are both off, and seen."""
    n, workload = 64, create("histogram", 64)
    right, wrong = built("hadamard", n, 1.0), built("hadamard", n, 1.05)
    assert isinstance(right, StrategyMatrix)
    assert isinstance(wrong, StrategyMatrix)
    x = populations.population("zipf", n, 10**6, 0)
    law = right.error_law(workload.centred_gram())
    estimates = right.reconstruction @ wrong.simulate_reports(x, 50, np.random.default_rng(0))
    result = compare(law, x, estimates)
    assert result.bias_p_value < 1e-12
    assert not agreement([result]).passed


def test_errors_ten_percent_off_are_rejected() -> None:
    """At a single point with a hundred trials, and for a heavy-tailed law in a pool of points."""
    result = run("hadamard", "histogram", 128, 1.0, 10**5, 100)
    assert agreement([result]).passed
    for factor in (1.1, 0.9):
        off = agreement([replace(result, errors=result.errors * factor)])
        assert not off.passed
        assert off.z == pytest.approx(result.z + (factor - 1) * result.mean / np.sqrt(result.law.variance / 100))
    results = [run("hadamard", "prefix", 32, 1.0, 10**5, 100, seed) for seed in range(80)]
    pools = {"all": range(len(results))}
    assert agreement(results, pools=pools).passed
    for factor in (1.1, 0.9):
        scaled = [replace(r, errors=r.errors * factor) for r in results]
        assert agreement(scaled).passed  # too small for any point alone
        together = agreement(scaled, pools=pools)
        assert not together.passed
        assert together.worst == "all"


def test_a_bias_below_the_noise_of_a_trial_is_rejected() -> None:
    n, trials = 32, 100
    strategy, C = built("hadamard", n, 1.0), create("prefix", n).centred_gram()
    x = populations.population("uniform", n, 10**5, 0)
    estimates = strategy.simulate_estimates(x, trials, np.random.default_rng(0))
    law = strategy.error_law(C)
    honest = compare(law, x, estimates)
    assert honest.bias_p_value > 1e-3
    shift = np.zeros(n)
    shift[0], shift[1] = 1.0, -1.0
    size = np.sqrt(0.5 * honest.expected / (shift @ C @ shift))  # half the variance of one trial
    biased = compare(law, x, estimates + size * shift[:, None])
    assert not agreement([biased]).passed


def test_agreement_counts_all_comparisons() -> None:
    results = [run("randomized-response", "histogram", 8, 1.0, 1000, 5, seed) for seed in range(6)]
    found = agreement(results, 0.01, pools={"all": range(6), "first": [0]})
    smallest = min(min(r.p_value, r.bias_p_value) for r in results)
    assert (found.points, found.comparisons, found.level) == (6, 16, 0.01)
    assert found.p_value <= min(1.0, 16 * smallest)
    alone = agreement(results[:1])
    assert alone.worst == 0
    assert alone.p_value == pytest.approx(min(1.0, 2 * min(results[0].p_value, results[0].bias_p_value)))
    assert alone.z == results[0].z


def test_a_pool_of_one_point_is_that_point() -> None:
    result = run("randomized-response", "prefix", 8, 1.0, 1000, 5)
    far = replace(result, errors=result.errors * 4)
    point, pool = agreement([far]), agreement([far], pools={"pool": [0]})
    assert pool.p_value == pytest.approx(2 * point.p_value)


def test_nothing_asked_agrees_exactly() -> None:
    """The number of users is public: the total is answered without error."""
    result = simulate(built("hadamard", 8, 1.0), create("total", 8), np.arange(8), 5, np.random.default_rng(0))
    assert result.mean == 0.0
    assert (result.z, result.p_value, result.bias_p_value, result.interval) == (0.0, 1.0, 1.0, (0.0, 0.0))
    assert np.isnan(result.ratio)
    assert agreement([result], pools={"all": [0]}).passed


SPARSE = [("randomized-response", 8, 6.0), ("hadamard", 8, 6.0), ("rappor", 8, 8.0), ("subset-selection", 32, 4.0)]


@pytest.mark.parametrize("workload", ["histogram", "prefix"])
@pytest.mark.parametrize(("name", "n", "epsilon"), [*SPARSE, ("hierarchical", 16, 1.0), ("fourier", 16, 1.0)])
def test_intervals_cover(name: str, n: int, epsilon: float, workload: str) -> None:
    """2000 runs of five trials: an interval at level 0.02 misses no more often, nor is it twice a normal one."""
    strategy, C = built(name, n, epsilon), create(workload, n).centred_gram()
    x = populations.population("zipf", n, 300, 0)
    law = strategy.error_law(C)
    estimates = strategy.simulate_estimates(x, 10_000, np.random.default_rng(2))
    whole = compare(law, x, estimates)
    runs = [replace(whole, errors=part, level=0.02) for part in np.split(whole.errors, 2000)]
    intervals = np.array([r.interval for r in runs])
    missed = np.sum((intervals[:, 0] > whole.expected) | (intervals[:, 1] < whole.expected))
    assert missed <= 2000 * 0.02 + 5 * np.sqrt(2000 * 0.02)
    assert agreement([whole]).passed
    spread = 2.33 * np.sqrt(whole.law.variance / 5)
    assert np.median(intervals[:, 0]) > 0
    assert np.median(whole.expected - intervals[:, 0]) < 2 * spread


@pytest.mark.slow
@pytest.mark.parametrize("workload", ["histogram", "prefix"])
@pytest.mark.parametrize(("name", "n", "epsilon"), SPARSE)
@pytest.mark.parametrize("users", [30, 1000])
def test_tails_of_collections_are_bounded(name: str, n: int, epsilon: float, workload: str, users: int) -> None:
    """Frequencies down to one in ten thousand, of single trials and of means of twenty, against their bounds."""
    strategy, C = built(name, n, epsilon), create(workload, n).centred_gram()
    x = populations.population("uniform", n, users, 0)
    parts = [strategy.simulate_estimates(x, 20_000, np.random.default_rng([3, k])) for k in range(5)]
    whole = compare(strategy.error_law(C), x, np.concatenate(parts, axis=1))
    for trials in (1, 20):
        means = np.sort(whole.errors.reshape(-1, trials).mean(axis=1))
        for q in (1e-1, 1e-2, 1e-3, 1e-4):
            k = max(int(q * len(means)), 5)
            for at, frequency in (
                (means[-k], np.mean(means >= means[-k])),
                (means[k - 1], np.mean(means <= means[k - 1])),
            ):
                bound = tail_probability(float(at), whole.law, trials)
                assert frequency <= bound + 6 * np.sqrt(bound / len(means)) + 3 / len(means) or bound > 0.3


class _Silent:
    """A strategy that nobody can simulate."""

    epsilon, domain_size, outputs = 1.0, 8, 2

    def evaluate(self, centred_gram: np.ndarray) -> object:
        raise NotImplementedError


def test_what_cannot_be_run_is_refused_with_the_reason() -> None:
    x, rng = np.ones(8, dtype=int), np.random.default_rng(0)
    strategy: Strategy = built("hadamard", 8, 1.0)
    with pytest.raises(BadValue, match=r"shape of counts = \(8,\): must have shape \(16,\)"):
        simulate(strategy, create("histogram", 16), x, 5, rng)
    with pytest.raises(BadValue, match="trials = 0"):
        simulate(strategy, create("histogram", 8), x, 0, rng)
    with pytest.raises(BadValue, match="level = 2"):
        simulate(strategy, create("histogram", 8), x, 5, rng, level=2)
    with pytest.raises(BadValue, match="outside the strategy's row space"):
        simulate(built("fourier-3", 32, 1.0), create("histogram", 32), np.ones(32), 5, rng)
    with pytest.raises(BadValue, match="give it the methods of SimulatedStrategy"):
        simulate(_Silent(), create("histogram", 8), x, 5, rng)  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="hold at least one measured point"):
        agreement([])
