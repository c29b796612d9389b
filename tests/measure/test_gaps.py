"""Distances from a lower bound: known answers, what has none, random starts, and time to a gap."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.local import registry
from factormech.mechanisms.local.errors import (
    Question,
    built,
    measure_bounds,
    measure_mechanism,
    questions_of,
)
from factormech.mechanisms.local.optimal.problem import Step
from factormech.mechanisms.local.strategy import Strategy
from factormech.studies.grids import BOUNDS_PART
from factormech.studies.measures.solvers import Starts, Trace, iterations, measure_starts, time_iterations, trace
from factormech.studies.timing import CLOCK, ITERATIONS_PART
from factormech.tables import kinds as tables
from factormech.workloads.registry import create
from tests.studies import frame_from, table_from
from tests.tiers import every_pair

pytestmark = pytest.mark.heavy

POINT: dict[str, Any] = {"workload": "prefix", "domain_size": 8, "seed": 0, "epsilon": 1.0}


def parts(measurements: Sequence[pd.DataFrame], bounds: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {str(i): frame for i, frame in enumerate(measurements)} | {BOUNDS_PART: bounds}


def gap_table(measurements: Sequence[pd.DataFrame], bounds: pd.DataFrame) -> pd.DataFrame:
    return table_from("optimality-gap", parts(measurements, bounds))


def timing_table(
    traces: Sequence[pd.DataFrame], bounds: pd.DataFrame, iterations: pd.DataFrame, gaps: list[float]
) -> pd.DataFrame:
    return table_from("timing", parts(traces, bounds) | {ITERATIONS_PART: iterations}, {"gaps": gaps})


def measured(**variances: tuple[float, float] | str) -> list[pd.DataFrame]:
    """Average and worst variance of each mechanism at the point; a text is a reason to be refused."""
    rows = []
    for name, found in variances.items():
        average, worst = (math.nan, math.nan) if isinstance(found, str) else found
        status = {"status": "refused", "reason": found} if isinstance(found, str) else {"status": "ok", "reason": ""}
        row = {**POINT, "mechanism": name, "average_variance": average, "worst_variance": worst, "rows": math.nan}
        rows.append(pd.DataFrame([row | status]))
    return rows


def bounds(**values: float) -> pd.DataFrame:
    return pd.DataFrame([{**POINT, "bound_name": name, "variance_bound": value} for name, value in values.items()])


def test_ratios_are_over_the_strongest_bound() -> None:
    frame = gap_table(measured(a=(6.0, 8.0), b="no", c=(0.0, 0.0)), bounds(weak=1.0, strong=4.0))
    assert frame["status"].tolist() == ["ok", "refused", "free"]
    assert set(frame["bound_name"]) == {"strong"}
    np.testing.assert_array_equal(frame["ratio_to_bound"], [1.5, math.nan, math.nan])
    np.testing.assert_array_equal(frame["worst_ratio"], [2.0, math.nan, math.nan])
    assert frame["reason"].tolist() == ["", "no", "its variance is 0"]


def test_a_vacuous_bound_gives_no_ratio() -> None:
    frame = gap_table(measured(a=(6.0, 8.0)), bounds(weak=0.0))
    assert frame.loc[0, "status"] == "unbounded"
    assert math.isnan(frame.loc[0, "ratio_to_bound"])


def test_below_the_bound_is_refused_but_for_rounding() -> None:
    """A bound above a private strategy is wrong, and an (ε, δ)-private mechanism does not belong here."""
    assert gap_table(measured(a=(4.0 - 1e-12, 4.0)), bounds(b=4.0)).loc[0, "ratio_to_bound"] < 1
    with pytest.raises(BadValue, match="at least 1, as for every ε-LDP strategy"):
        gap_table(measured(a=(3.999, 4.0)), bounds(b=4.0))


def test_the_best_mechanism_on_histogram_has_no_gap() -> None:
    """Subset selection attains the centred bound on Histogram."""
    workloads = [(create("histogram", n), 0) for n in (8, 32)]
    questions = questions_of(workloads)
    found = [
        frame_from(measure_mechanism(name, built(name), questions, [1.0, 3.0]))
        for name in ("subset-selection", "randomized-response")
    ]
    frame = gap_table(found, frame_from(measure_bounds(["svd", "centred-svd"], workloads, [1.0, 3.0])))
    best = frame[frame["mechanism"] == "subset-selection"]
    np.testing.assert_allclose(best[["ratio_to_bound", "worst_ratio"]], 1.0, rtol=1e-9)
    assert (frame.loc[frame["mechanism"] == "randomized-response", "ratio_to_bound"] > 1.01).any()


def prefix(n: int = 8) -> tuple[Any, pd.DataFrame]:
    workloads = [(create("prefix", n), 0)]
    return questions_of(workloads), frame_from(measure_bounds(["centred-svd"], workloads, [1.0]))


def test_every_start_is_its_own_and_repeats() -> None:
    asked, bound = prefix()
    wanted = Starts((2, 4), 3, root_seed=5)
    first, again = (frame_from(measure_starts("adaptive-pgd", asked, [1.0], wanted)) for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    assert first["average_variance"].nunique() == len(first) == 6
    assert (first["rows"] <= 8 * first["row_factor"]).all()
    # One of them, solved by hand.
    rng = registry.strategy_spec("adaptive-pgd", asked[0].workload, 1.0, root_seed=5).stream(4, 2)
    solution = registry.solve_with_rows("adaptive-pgd", asked[0].workload, 1.0, rng, 32)
    assert not isinstance(solution, Unavailable)
    strategy = registry.restore("adaptive-pgd", solution, 1.0)
    assert first["average_variance"].iloc[-1] == strategy.evaluate(asked[0].centred_gram).average
    none = frame_from(measure_starts("matrix-l2", asked, [1.0], wanted))
    assert set(none["reason"]) == {"it does not choose a number of rows"}
    frame = table_from("initialisation", parts([first, none], bound))
    assert (frame["ratio_to_bound"].dropna() > 1).all()
    assert frame["status"].tolist() == ["ok"] * 6 + ["unavailable"] * 6
    assert tables.kind_of(frame) == "initialisation"


def test_a_trace_is_the_best_so_far_of_the_very_solve() -> None:
    asked, _ = prefix()
    frame = frame_from(trace("adaptive-pgd", asked, [1.0], root_seed=3))
    assert (frame["average_variance"].diff().dropna() <= 0).all()
    assert (frame["seconds"].diff().dropna() >= 0).all()
    assert (frame["told"].diff().dropna() >= 0).all()
    assert frame["stage"].iloc[-1] == "end"
    assert {"step size", "descent"} <= set(frame["stage"])
    workload = asked[0].workload
    solution = registry.solution_for(registry.strategy_spec("adaptive-pgd", workload, 1.0, root_seed=3), workload)
    average = registry.restore("adaptive-pgd", solution, 1.0).evaluate(asked[0].centred_gram).average
    assert frame["average_variance"].iloc[-1] == pytest.approx(average, rel=1e-9)


def test_only_improvements_that_are_strategies_are_kept() -> None:
    heard = Trace()
    for objective in (math.inf, 5.0, 7.0, 1.0, 5.0, 3.0):
        heard(Step("descent", 0, 9, objective, 0.0))
    assert [(row["told"], row["objective"]) for row in heard.improvements(3.0)] == [(2, 5.0), (6, 3.0)]
    assert len(heard.steps) == 6


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n"), every_pair(2, [("prefix", 8), ("prefix", 24), ("histogram", 16)]))
def test_no_trace_is_below_what_was_returned(name: str, n: int) -> None:
    """Whatever scale or infeasible point an optimiser tells of, the trace ends at its least, near the lower bound."""
    workloads = [(create(name, n), 0)]
    frame = frame_from(trace("optimised", questions_of(workloads), [1.0], 0))
    [bound] = frame_from(measure_bounds(["certified"], workloads, [1.0]))["variance_bound"]
    assert frame["average_variance"].min() == frame["average_variance"].iloc[-1] >= bound * (1 - 1e-9)
    assert frame["average_variance"].iloc[-1] < 1.05 * bound


def test_the_certified_gap_is_that_of_the_variance() -> None:
    """Of n·average + ‖W‖_F² the gap would be smaller, and at a large budget next to nothing."""
    workload = create("prefix", 8)
    questions = questions_of([(workload, 0)])
    solution = registry.solve("optimised", workload, 3.0, np.random.default_rng(0))

    def strategy(asked: Question, epsilon: float) -> Strategy:
        return registry.restore("optimised", solution, epsilon)

    [found] = measure_mechanism("optimised", strategy, questions, [3.0], lambda asked, epsilon: solution.record)
    constant = workload.frobenius_squared()
    bound = (solution.record["lower_bound"] - constant) / 8
    assert found.rows == solution.record["rows"]
    assert found.certified_gap == pytest.approx(max(found.average_variance / bound - 1, 0), abs=1e-9)
    # A lower bound 1 % below makes a gap of more than 1 %.
    weaker = dict(solution.record) | {"variance_bound": 0.98 * solution.record["variance_bound"]}
    [again] = measure_mechanism("optimised", strategy, questions, [3.0], lambda asked, epsilon: weaker)
    assert again.certified_gap > 0.011
    [none] = measure_mechanism("optimised", strategy, questions, [3.0])
    assert math.isnan(none.rows)
    assert math.isnan(none.certified_gap)


def told(mechanism: str, rows: list[tuple[int, float, float]], reason: str = "") -> pd.DataFrame:
    """A trace of (steps told, seconds, average variance)."""
    ends = [{**POINT, "mechanism": mechanism, "stage": "end", "reason": reason}]
    columns = ("told", "seconds", "average_variance")
    return pd.DataFrame([{**ends[0], **dict(zip(columns, row, strict=True))} for row in rows])


SINGLE = pd.DataFrame(
    [{"domain_size": 8, "mechanism": "adaptive-pgd", "iterations": 15, "seconds": 2.0, "least_seconds": 1.0}]
)


def test_time_to_a_gap_is_the_first_time_within_it() -> None:
    traces = [
        told("adaptive-pgd", [(1, 0.1, 40.0), (7, 0.5, 13.0), (20, 2.0, 11.0), (25, 3.0, 11.0)]),
        told("matrix-l2", [(0, math.nan, math.nan)], "silent"),
    ]
    frame = timing_table(traces, bounds(a=10.0, b=2.0), iterations=SINGLE, gaps=[1.05, 1.1, 1.3, 5.0])
    assert frame["quantity"].tolist() == ["iteration"] + ["to-gap"] * 8
    near = frame[(frame["quantity"] == "to-gap") & (frame["mechanism"] == "adaptive-pgd")]
    assert near["status"].tolist() == ["not reached", "ok", "ok", "ok"]
    np.testing.assert_array_equal(near["seconds"], [math.nan, 2.0, 0.5, 0.1])
    np.testing.assert_array_equal(near["iterations"], [math.nan, 20, 7, 1])
    assert near["reason"].iloc[0] == "ends at 1.100 times the lower bound"
    assert set(near["final_seconds"]) == {3.0}
    assert set(frame.loc[frame["mechanism"] == "matrix-l2", "reason"]) == {"silent"}


def test_no_time_to_a_vacuous_bound() -> None:
    frame = timing_table([told("adaptive-pgd", [(1, 0.1, 40.0)])], bounds(a=0.0), iterations=SINGLE, gaps=[1.1])
    assert frame["status"].tolist() == ["ok", "unbounded"]


def test_time_is_of_the_processor() -> None:
    """A turn of somebody else on the same core is not the solver's."""
    heard = Trace()
    time.sleep(0.3)
    heard(Step("descent", 0, 1, 1.0, 0.0))
    [(_, idle, _)] = heard.steps
    begin = time.process_time()
    while time.process_time() < begin + 0.1:
        pass
    heard(Step("descent", 1, 1, 1.0, 0.0))
    assert 0.0 <= idle < 0.1 <= heard.steps[1][1] < 0.3


def test_iterations_are_clocked() -> None:
    one, two = iterations(8, 2)
    for found in (one, two):
        assert 0 < found.gradient + found.projection < found.seconds
    [row] = time_iterations([16])
    assert 0 < row["least_seconds"] <= row["seconds"]
    assert row["iterations"] == 15
    assert set(row) & CLOCK == {"seconds", "least_seconds"}
