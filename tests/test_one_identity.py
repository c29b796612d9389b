"""One name, one object: the Python call, the command line and the pipeline's stored file agree in every bit."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import factormech as fm
from factormech.errors import Unavailable
from factormech.mechanisms.local import registry
from factormech.mechanisms.local.solved import Solution
from factormech.pipeline import evaluate as evaluate_job
from factormech.pipeline import solve as solve_job
from factormech.store import hdf5
from factormech.studies import solves
from factormech.studies.asked import Asked
from factormech.workloads.base import Workload
from factormech.workloads.registry import create
from tests.cli import conftest as command_line
from tests.tiers import every_pair

pytestmark = pytest.mark.heavy

Ask, Run = command_line.Ask, command_line.Run
run, ask = command_line.run, command_line.ask

# Two workloads and two budgets; the slow tests have all pairs of them.
POINTS = every_pair(
    2, [("prefix", 8, 0.5), ("prefix", 8, 1.0), ("2-way-marginals", 8, 1.0), ("2-way-marginals", 8, 0.5)]
)
CASES = [(name, {}) for name in registry.names()] + [("optimised", {"objective": "worst"})]
NUMBERS = ("worst_variance", "average_variance", "privacy_loss")


def job(main: Any, *arguments: object) -> None:
    """Run a job of the workflow in this process."""
    before, sys.argv = sys.argv, ["job", *map(str, arguments)]
    try:
        main()
    finally:
        sys.argv = before


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


def pipeline(
    folder: Path,
    mechanism: str,
    options: dict[str, Any],
    name: str,
    n: int,
    epsilon: float,
    *,
    seed: int = 0,
    root_seed: int = 0,
) -> tuple[Solution | None, dict[str, Any]]:
    """What the pipeline's files say: the stored solution, if a solver found it, and the row of the part."""
    stored, measured, solution = folder / "strategy.h5", folder / "part.h5", None
    if registry.is_solved(mechanism):
        request = solves.strategy(mechanism, name, n, epsilon, options=options, seed=seed, root_seed=root_seed)
        job(solve_job.main, "--solve", request.to_json(), "--output", stored)
        record = hdf5.read(stored, "strategy")
        solution = Solution(record.datasets, record.attributes)
    grid: dict[str, tuple[Any, ...]] = {
        "workload": (name,),
        "domain_size": (n,),
        "epsilon": (epsilon,),
        "seed": (seed,),
    }
    settings = {"mechanisms": [mechanism], "options": {mechanism: options} if options else {}, "bounds": []}
    asked = Asked(grid, settings, root_seed).to_json()
    given = ["--kind", "sample-complexity", "--study", "one", "--part", mechanism, "--asked", asked]
    job(evaluate_job.main, *given, "--solved", *([stored] if solution else []), "--output", measured)
    return solution, hdf5.read(measured, "part").datasets["rows"].iloc[0].to_dict()


@cache
def workload(name: str, n: int) -> Workload:
    return create(name, n)


def same_bits(one: Any, other: Any) -> bool:
    return np.asarray(one).tobytes() == np.asarray(other).tobytes()


@pytest.mark.parametrize(("name", "n", "epsilon"), POINTS)
@pytest.mark.parametrize(("mechanism", "options"), CASES, ids=lambda value: str(value or ""))
def test_the_call_and_the_file_of_the_pipeline_agree_in_every_bit(
    folder: Path, mechanism: str, options: dict[str, Any], name: str, n: int, epsilon: float
) -> None:
    W = workload(name, n)
    stored, row = pipeline(folder, mechanism, options, name, n, epsilon)
    fitted = fm.mechanism(mechanism, epsilon, **options).fit(W)
    assert (row["status"], row["reason"]) == (fitted.status, fitted.unavailable)
    if fitted.unavailable:
        return
    if stored is not None:
        found = fitted.solution
        assert {key: same_bits(found.datasets[key], stored.datasets[key]) for key in stored.datasets} == dict.fromkeys(
            found.datasets, True
        )
        assert {key: stored.record[key] for key in found.record} == dict(found.record)
    mine = (fitted.worst_variance, fitted.average_variance, fitted.evaluation.privacy_loss)
    assert dict(zip(NUMBERS, mine, strict=True)) == {key: row[key] for key in NUMBERS}
    table = fm.compare(W, epsilon, [fitted.mechanism]).iloc[0]
    same = (
        "workload",
        "domain_size",
        "epsilon",
        *NUMBERS[:2],
        "rows",
        "certified_gap",
        "log2_outputs",
        "status",
        "reason",
    )
    pd.testing.assert_series_equal(table[list(same)], pd.Series(row)[list(same)], check_names=False, rtol=0, atol=0)
    strategy = registry.strategy_for(mechanism, W, epsilon, options=options)
    assert strategy.evaluate(W.centred_gram()).worst == fitted.worst_variance


def test_so_they_do_for_other_seeds_and_each_seed_is_another_stream(folder: Path) -> None:
    W, averages = workload("prefix", 8), set()
    for seed, root_seed in ((0, 0), (1, 0), (0, 1), (2, 3)):
        strategy = registry.strategy_for("adaptive-pgd", W, 1.0, seed=seed, root_seed=root_seed)
        _, row = pipeline(folder, "adaptive-pgd", {}, "prefix", 8, 1.0, seed=seed, root_seed=root_seed)
        assert not isinstance(strategy, Unavailable)
        assert strategy.evaluate(W.centred_gram()).average == row["average_variance"]
        averages.add(row["average_variance"])
    assert len(averages) == 4


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n", "epsilon"), POINTS)
def test_the_command_line_agrees_with_the_files_of_the_pipeline(
    folder: Path,
    ask: Ask,
    name: str,
    n: int,
    epsilon: float,
) -> None:
    ranked = ask("strategy", "compare", name, "--domain-size", n, "--epsilon", epsilon)["mechanisms"]
    assert {one["mechanism"] for one in ranked} == set(registry.names())
    for one in ranked:
        options = {"objective": "worst"} if one["mechanism"] == "optimised" else {}
        _, row = pipeline(folder, one["mechanism"], options, name, n, epsilon)
        assert (one["status"], one["reason"]) == (row["status"], row["reason"] or one["reason"])
        if one["status"] == "ok":
            assert {key: one[key] for key in NUMBERS} == {key: row[key] for key in NUMBERS}


@pytest.mark.parametrize("objective", ["average", "worst"])
def test_the_file_of_the_command_line_is_that_of_the_pipeline(folder: Path, run: Run, objective: str) -> None:
    file = folder / "Q.h5"
    words = ["--domain-size", 8, "--epsilon", 1, "--objective", objective, "--gap-limit", 1, "--out", file]
    assert run("strategy", "optimise", "prefix", *words).code == 0
    options = {} if objective == "average" else {"objective": objective}
    stored, _ = pipeline(folder, "optimised", options, "prefix", 8, 1.0)
    mine = hdf5.read(file, "strategy")
    assert stored is not None
    assert {key: same_bits(mine.datasets[key], stored.datasets[key]) for key in stored.datasets} == dict.fromkeys(
        mine.datasets, True
    )
    about = ("mechanism", "workload", "domain_size", "epsilon", "root_seed", "seed", "options")
    assert {key: mine.attributes[key] for key in about} == {key: stored.record[key] for key in about}


def test_bits_of_a_report_are_those_of_its_outputs_where_these_can_be_counted() -> None:
    outputs = {"randomized-response": 8, "rappor": 2**8, "hadamard-table1": 16}
    table = fm.compare(workload("prefix", 8), 1.0, [*outputs, "matrix-l1"]).set_index("mechanism")["log2_outputs"]
    assert {name: 2 ** table[name] for name in outputs} == outputs
    assert np.isnan(table["matrix-l1"])
