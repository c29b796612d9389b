"""Errors on data sets, their lower bound, and what consistency gains: closed forms, brute force, the paper's number."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from factormech.bounds.spectral import centred_svd, centred_svd_on
from factormech.data import files
from factormech.data.files import standin
from factormech.data.registry import BINS
from factormech.errors import BadValue
from factormech.mechanisms.local import registry
from factormech.mechanisms.local.errors import Question, built, questions_of
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.studies.measures import consistency
from factormech.studies.measures import data_dependent as on_data
from factormech.studies.measures.consistency import FIXED, FREE, NONE, ConsistencyGrid, paired_ratio, process, student
from factormech.workloads.registry import create
from tests import solutions
from tests.statistics import FALSE_ALARM, at_most_p_value

REAL = os.environ.get(files.VARIABLE)
DATA = {"nettrace-standin": standin("nettrace-standin"), "hepth-standin": standin("hepth-standin")}


def asked(*names: str, n: int = 16) -> list[Question]:
    return questions_of([(create(name, n), 0) for name in names])


# --- exact errors


def test_variance_on_data_is_the_mean_over_the_users() -> None:
    [question] = asked("prefix")
    rows = list(on_data.measure_on_data("hierarchical", built("hierarchical"), [question], [1.0], DATA))
    strategy = registry.build("hierarchical", 16, 1.0)
    assert isinstance(strategy, StrategyMatrix)
    variance = strategy.evaluate(question.centred_gram).variance
    found = {row.data: row.variance for row in rows}
    for name, counts in DATA.items():
        x = counts.reshape(16, -1).sum(axis=1)
        assert found[name] == pytest.approx(sum(x[u] * variance[u] for u in range(16)) / x.sum(), rel=1e-12)
    assert found[on_data.WORST_CASE] == variance.max()


def test_everything_on_one_type_is_that_types_variance() -> None:
    one = np.zeros(BINS, dtype=np.int64)
    one[-1] = 5
    [row, worst] = on_data.measure_on_data("hadamard", built("hadamard"), asked("prefix"), [1.0], {"one": one})
    strategy = registry.build("hadamard", 16, 1.0)
    assert isinstance(strategy, StrategyMatrix)
    assert row.variance == strategy.evaluate(asked("prefix")[0].centred_gram).variance[-1]
    assert row.variance <= worst.variance


def test_reasons_take_the_place_of_numbers() -> None:
    rows = list(on_data.measure_on_data("fourier-3", built("fourier-3"), asked("prefix", n=32), [1.0], DATA))
    assert {(row.status, math.isnan(row.variance)) for row in rows} == {("refused", True)}
    rows = list(on_data.measure_on_data("fourier", built("fourier"), asked("histogram", n=1), [1.0], DATA))
    assert {row.status for row in rows} == {"unavailable"}
    assert len(rows) == 3


@pytest.mark.skipif(not REAL, reason=f"{files.VARIABLE} names no folder")
@pytest.mark.parametrize("version", ["hadamard", "hadamard-table1"])
def test_the_papers_1_69(version: str) -> None:
    """Section 6.4: Hadamard needs 1.69 times as many users on NETTRACE as on HEPTH."""
    names = ["hepth", "medcost", "nettrace"]
    data = files.read_all(names, files.paths(names, Path(str(REAL))))
    rows = on_data.measure_on_data(version, built(version), asked("prefix", n=512), [1.0], data)
    found = {row.data: row.variance for row in rows}
    assert round(found["nettrace"] / found["hepth"], 2) == 1.69
    assert found["hepth"] < found["medcost"] < found["nettrace"] < found[on_data.WORST_CASE]


# --- the bound


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("workload", ["prefix", "histogram", "all-marginals"])
def test_no_mechanism_is_below_the_bound_on_its_data(epsilon: float, workload: str) -> None:
    [question] = asked(workload, n=8)
    rng = np.random.default_rng(0)
    distributions = [np.full(8, 1 / 8), *rng.dirichlet(np.full(8, 0.3), 4), np.eye(8)[2]]
    for name in registry.names():
        if name == "matrix-l2-gaussian":  # (ε, δ)
            continue
        strategy = solutions.strategy(name, workload, 8, epsilon)
        if not hasattr(strategy, "evaluate"):
            continue
        evaluation = strategy.evaluate(question.centred_gram)
        if evaluation.answered:
            for p in distributions:
                bound = centred_svd_on(question.centred_gram, p, epsilon)
                assert bound <= evaluation.on(p) * (1 + 1e-9) + 1e-9, (name, p)


def test_no_reconstruction_for_given_data_is_below_the_bound() -> None:
    """Random private matrices, each with the reconstruction that is best on the data: the bound holds and is near."""
    rng = np.random.default_rng(1)
    [question] = asked("prefix", n=3)
    W, closest = create("prefix", 3).matrix(), math.inf
    for _ in range(300):
        p = rng.dirichlet(np.ones(3))
        high = rng.random((8, 3)) < 0.5
        high[0], high[1:4] = True, np.eye(3, dtype=bool)
        A = np.where(high, math.e, 1.0)
        weights, *_ = np.linalg.lstsq(A.T, np.ones(3), rcond=None)
        if weights.min() < 0:
            continue
        Q = A * weights[:, None]
        mu = Q @ p
        keep = mu > 1e-12
        Q, mu = Q[keep], mu[keep]
        X = Q.T @ (Q / mu[:, None])
        variance = float(np.trace(W @ np.linalg.pinv(X) @ W.T) - p @ (W**2).sum(axis=0))
        bound = centred_svd_on(question.centred_gram, p, 1.0)
        assert bound <= variance * (1 + 1e-9)
        closest = min(closest, variance / bound)
    assert closest < 2.0


def test_on_uniform_data_it_is_nearly_the_bound_on_the_average() -> None:
    """sinh²(ε/2) is at least σ, and equal to it in the limit of many types."""
    workload = create("prefix", 256)
    C, p = workload.centred_gram(), np.full(256, 1 / 256)
    found, wanted = centred_svd_on(C, p, 1.0), centred_svd(workload, 1.0)
    assert wanted * (1 - 1e-3) < found <= wanted * (1 + 1e-12)
    assert centred_svd_on(C, np.eye(256)[0], 1.0) == 0.0
    histogram = create("histogram", 4).centred_gram()
    p = np.array([0.5, 0.25, 0.25, 0.0])
    root = np.sqrt(p)[:3]
    M = (np.eye(3) - p[:3, None]) * root
    trace_norm = np.linalg.svd(M, compute_uv=False).sum()
    # The fourth type is empty: its row of W_pP is zero.
    wanted = trace_norm**2 / math.sinh(1.0) ** 2 - np.sum(M**2)
    assert centred_svd_on(histogram, p, 2.0) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("p", [np.full(3, 0.25), np.full(4, 0.3), np.array([1.5, -0.5, 0, 0]), np.full(4, np.nan)])
def test_shares_are_checked(p: np.ndarray) -> None:
    with pytest.raises(BadValue, match="shares"):
        centred_svd_on(create("histogram", 4).centred_gram(), p, 1.0)


def test_the_strongest_bound_is_chosen_for_each() -> None:
    rows = list(on_data.bounds_on_data(["svd", "centred-svd"], asked("prefix"), [1.0], DATA))
    assert [row.data for row in rows] == [*DATA, on_data.WORST_CASE]
    assert [row.bound_name for row in rows] == ["data-svd", "data-svd", "centred-svd"]
    assert rows[-1].variance_bound == centred_svd(create("prefix", 16), 1.0)


# --- consistency

GRID = ConsistencyGrid([300, 10**5], DATA, 12)


def processed(mechanism: str, *names: str, grid: ConsistencyGrid = GRID) -> list[consistency.Processed]:
    return list(process(mechanism, built(mechanism), asked(*names), [1.0], grid))


def test_errors_fall_and_the_unprocessed_ones_are_exact() -> None:
    rows = processed("hierarchical", "prefix")
    assert [row.processing for row in rows[:3]] == [NONE, FREE, FIXED]
    assert len(rows) == 3 * 2 * 2
    for none, free, fixed in zip(rows[::3], rows[1::3], rows[2::3], strict=True):
        assert none.measured_error == pytest.approx(none.exact_error, abs=6 * none.standard_error)
        assert none.ratio_to_unprocessed == 1.0
        for row in (free, fixed):
            assert row.ratio_to_unprocessed < 1
            assert row.exact_error == none.exact_error
            assert row.ratio_to_unprocessed == pytest.approx(row.measured_error / none.measured_error, rel=1e-12)
            assert row.ratio_low <= row.ratio_to_unprocessed <= row.ratio_high
            assert row.violation < 1e-11


def test_trials_are_processed_as_one_would_by_hand() -> None:
    [question] = asked("prefix")
    rows = processed("hadamard", "prefix", grid=replace(GRID, users=[200], data={"h": DATA["hepth-standin"]}))
    strategy = registry.build("hadamard", 16, 1.0)
    assert isinstance(strategy, StrategyMatrix)
    x = consistency.drawn("h", on_data.shares(DATA["hepth-standin"], 16), 200, 0, 0)
    assert x.sum() == 200
    point = {"mechanism": "hadamard", "epsilon": 1.0, "domain_size": 16, "data": "h", "users": 200, "seed": 0}
    estimates = strategy.simulate_estimates(x, 12, consistency._reports_rng(point, 0)) + 200 / 16
    W = create("prefix", 16).matrix()
    clipped = consistency.NonNegative(W.T @ W)(estimates).values
    errors = ((W @ (clipped - x[:, None])) ** 2).sum(axis=0) / (16 * 200**2)
    assert rows[1].measured_error == pytest.approx(errors.mean(), rel=1e-9)
    assert rows[0].exact_error == pytest.approx(
        strategy.evaluate(question.centred_gram).on(x.astype(float)) / (16 * 200**2)
    )


def test_reports_know_neither_the_workload_nor_the_other_axes() -> None:
    alone = processed("hadamard", "prefix")
    together = [row for row in processed("hadamard", "histogram", "prefix") if row.workload == "prefix"]
    fewer = processed("hadamard", "prefix", grid=replace(GRID, users=[10**5]))
    assert alone == together
    assert [row for row in alone if row.users == 10**5] == fewer


def test_what_cannot_be_processed_has_a_reason() -> None:
    rows = list(process("fourier-3", built("fourier-3"), asked("prefix", n=32), [1.0], GRID))
    assert {row.status for row in rows} == {"refused"}
    assert all("row space" in row.reason and math.isnan(row.measured_error) for row in rows)
    assert len(rows) == 12
    rows = list(process("fourier", built("fourier"), asked("histogram", n=1), [1.0], GRID))
    assert {row.status for row in rows} == {"unavailable"}


def test_intervals_cover_what_they_should() -> None:
    """Of 2000 intervals at level 0.1 about a tenth miss (binomial deviation 0.7 %)."""
    rng = np.random.default_rng(0)
    before = 1 + 0.3 * rng.random((2000, 30))
    after = 0.5 * before + 0.05 * rng.standard_normal((2000, 30))
    cover: dict[str, Callable[[int], bool]] = {
        "mean": lambda i: student(before[i], 0.1)[2] <= 1.15 <= student(before[i], 0.1)[3],
        "ratio_to_unprocessed": lambda i: (
            abs(paired_ratio(after[i], before[i], 0.1)[0] - 0.5)
            <= paired_ratio(after[i], before[i], 0.1)[2] - paired_ratio(after[i], before[i], 0.1)[0]
        ),
    }
    for name, holds in cover.items():
        # The ratio's interval is right in the limit only; 0.01 is what thirty draws leave.
        held = sum(holds(i) for i in range(2000))
        assert at_most_p_value(2000 - held, 2000, 0.1 if name == "mean" else 0.11) > FALSE_ALARM, name
        assert at_most_p_value(held, 2000, 0.9 if name == "mean" else 0.91) > FALSE_ALARM, name
    mean, error, low, high = student(np.array([1.0, 2.0, 3.0]), 0.05)
    assert (mean, error) == (2.0, pytest.approx(1 / math.sqrt(3)))
    assert high - mean == pytest.approx(4.302652729749464 / math.sqrt(3), rel=1e-9)
    assert low == 0.0  # an error is not negative


@pytest.mark.parametrize("bad", [{"users": []}, {"users": [0]}, {"data": {}}, {"trials": 1}, {"level": 1.0}])
def test_the_grid_is_checked(bad: dict[str, object]) -> None:
    with pytest.raises(BadValue):
        replace(GRID, **bad)  # type: ignore[arg-type]
