"""What jobs ask for: learned from the committed benchmark, enough for every job in it, and more for a retry."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from factormech.config.studies import load, read_yaml
from factormech.pipeline.planning import Plan
from factormech.studies import cost, grids
from factormech.studies.asked import Asked
from factormech.studies.cost import Work

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def jobs() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "benchmarks/jobs.py"))


def test_the_costs_are_those_of_the_benchmark(jobs: dict[str, Any]) -> None:
    """After a change of either: python benchmarks/jobs.py fit."""
    assert (ROOT / "src/factormech/studies/costs.json").read_text() == jobs["text"]()


def test_every_job_of_the_benchmark_fits_into_its_request(jobs: dict[str, Any]) -> None:
    for row in jobs["rows"]():
        units = tuple(map(float, row["units"].split()))
        work = Work(row["rule"], row["name"], units, float(row["arrays_mb"]), float(row["known"]))
        assert float(row["seconds"]) < 60 * cost.requested_minutes(work), row
        assert float(row["memory_mb"]) < cost.requested_memory_mb(work) - cost.SNAKEMAKE_MB, row


def test_a_large_solve_asks_for_more_than_a_small_one_and_a_retry_for_twice_as_much() -> None:
    small, large = cost.solve("optimised", 64), cost.solve("optimised", 4096)
    assert 8000 > cost.requested_memory_mb(large) > 4000 > 1000 > cost.requested_memory_mb(small)
    assert cost.requested_minutes(large) > 20 > cost.requested_minutes(small)
    for work in (small, large):
        assert cost.requested_memory_mb(work, 2) >= 1.8 * cost.requested_memory_mb(work)
        assert cost.requested_minutes(work, 2) >= 2 * cost.requested_minutes(work) - 1


def test_a_name_that_was_never_measured_asks_for_as_much_as_the_dearest() -> None:
    assert cost.seconds(cost.solve("new", 256)) >= cost.seconds(cost.solve("adaptive-pgd", 256))
    assert cost.seconds(cost.experiment("new", 10.0, 500.0)) > 1.0


def test_chance_at_one_size_is_not_laid_on_the_others(jobs: dict[str, Any]) -> None:
    """A small job that was four times too slow, and a line of large ones: the large ask for their line."""
    features = np.array([[1.0], [1.0], [100.0], [200.0]])
    measured = np.array([2.0, 8.0, 101.0, 201.0])
    (rate,), start = jobs["upper_line"](features, measured, 1.0, features[:, 0] < 10, [1e-3])
    assert start == 8.0
    assert np.all(start + rate * features[:, 0] >= measured - 1e-9)
    assert start + rate * 1e4 < 1.01e4


def test_bounds_of_a_study_are_evaluated_where_they_are_cheap_and_read_where_they_have_a_job() -> None:
    assert not cost.bound_deserves_a_job("svd", 64)
    assert cost.bound_deserves_a_job("certified", 2048)
    axes = {"workload": ("prefix",), "domain_size": (64, 2048), "epsilon": (1.0,), "seed": (0,)}
    question = Asked(axes, {"mechanisms": [], "bounds": ["svd", "certified"]})
    [request] = grids.requests(question)
    assert (request.family, request.name, request.domain_size) == ("bound", "certified", 2048)
    here = [("svd", 64), ("svd", 2048), ("certified", 64)]
    assert grids.solved_here(question) == pytest.approx(sum(cost.bound_seconds(*pair) for pair in here))


def test_cheap_solves_are_batched_and_dear_ones_are_arrays() -> None:
    assert cost.batch("solve", cost.solve("optimised", 8)) == "solves-of-2-seconds"
    config = load(read_yaml(ROOT / "examples/sweep.yaml"), ROOT / "workflow/schemas/config.schema.yaml", base=ROOT)
    plan = Plan(config)
    arrays = plan.arrays()
    assert all(family == "strategy" for family, _, _ in arrays.values())
    assert all(cost.batch("solve", cost.solve(name, n)) is None for _, name, n in arrays.values())
    assert sum(len(list(study.asked.points())) for study in config.studies.values()) == 2000
