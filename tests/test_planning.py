"""What a run is planned to do, what studies share, and which setting changes which stage."""

from __future__ import annotations

import json
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from factormech.config.studies import Config, load
from factormech.errors import BadValue
from factormech.mechanisms.local import registry as mechanisms
from factormech.pipeline.planning import Plan, work_of
from factormech.spec import Spec, find, shared
from factormech.store import hdf5
from factormech.studies import cost, registry, solves
from factormech.studies.asked import Asked
from factormech.studies.registry import experiment
from factormech.studies.run import figure_settings, parts_of, until
from factormech.studies.solves import Solve, start_of
from factormech.workloads.registry import create

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"
STUDY: dict[str, Any] = {
    "paper": "nobody2020",
    "artefact": "nothing",
    "kind": "sample-complexity",
    "title": "Title",
    "grid": {"workload": ["prefix"], "domain_size": [8, 16], "epsilon": [1.0]},
    "mechanisms": ["hadamard", "optimised"],
    "bounds": ["svd"],
}
LARGER = {"grid": STUDY["grid"] | {"domain_size": [16, 32]}}
WORST = {"optimised": {"objective": "worst"}}


def config(**studies: dict[str, Any]) -> Config:
    return load({"studies": {name: STUDY | changes for name, changes in studies.items()}}, SCHEMA, base=ROOT)


def asked(**changes: Any) -> Asked:
    return config(one=changes).studies["one"].asked


# The plan.


def test_equal_requests_of_two_studies_are_one_file() -> None:
    plan = Plan(config(one={}, two={"kind": "optimality-gap", "grid": STUDY["grid"] | {"domain_size": [16, 32]}}))
    of_one, of_two = (plan.solved_for([name]) for name in ("one", "two"))
    [both] = of_one.keys() & of_two.keys()
    assert of_one[both] == of_two[both]
    assert of_one[both].domain_size == 16
    assert plan.solved_for(["one", "two"]).keys() == of_one.keys() | of_two.keys()
    assert len(of_one | of_two) == 3
    assert plan.needs["one"] == {"hadamard": [], "optimised": sorted(of_one, key=len), "lower.bounds": []}


def test_the_quick_run_shares_the_files_of_the_full_one() -> None:
    plan = Plan(config(one={"quick": {"grid": {"domain_size": [8]}}}))
    assert plan.solved_for(["quick/one"]).items() < plan.solved_for(["one"]).items()


def test_a_start_is_planned_with_its_solve() -> None:
    """Above 16 types, where the solver begins with the strategy for the average."""
    plan = Plan(config(one=LARGER | {"options": WORST}))
    small, large = sorted(plan.needs["one"]["optimised"], key=lambda file: plan.requests[file].domain_size)
    assert plan.start(small) == []
    [start] = plan.start(large)
    request, first = plan.requests[large], plan.requests[start]
    assert first == start_of(request)
    assert (request.options, first.options) == ({"objective": "worst"}, {})
    assert plan.start(start) == []
    assert plan.solved_for(["one"]).keys() == {small, large, start}
    # A study of the other objective asks for that very file.
    assert start in Plan(config(one=LARGER)).solved_for(["one"])


def test_costs_are_sums_over_parts_and_what_is_shared_counts_once() -> None:
    plan = Plan(config(one=LARGER, two=LARGER, three=LARGER | {"options": WORST}))
    shown = cost.seconds(cost.table("tabulate")) + cost.seconds(cost.table("draw"))
    parts = sum(map(cost.seconds, plan.part_works["one"].values()))
    solved = sum(cost.seconds(work_of(request)) for request in plan.solved_for(["one"]).values())
    assert plan.seconds(["one"]) == pytest.approx(parts + shown + solved)
    assert plan.seconds(["one", "two"]) == pytest.approx(2 * (parts + shown) + solved)
    assert plan.seconds(["one", "three"]) < plan.seconds(["one"]) + plan.seconds(["three"])
    wildcards = {"study": "one", "part": "optimised"}
    assert plan.work("evaluate", wildcards) == plan.part_works["one"]["optimised"]
    [file, _] = plan.needs["one"]["optimised"]
    assert plan.work("solve", {}, file) == cost.solve("optimised", plan.requests[file].domain_size)
    assert plan.measurements(["one"]) == 3 * 2


def test_one_job_makes_all_parts_of_a_quick_study() -> None:
    plan = Plan(config(one={"quick": {"grid": {"domain_size": [8]}}}, two={"quick": {"grid": {"epsilon": [2.0]}}}))
    parts = ("hadamard", "optimised", "lower.bounds")
    assert plan.together() == {"evaluate_together_1": (parts, ["quick/one", "quick/two"])}
    assert plan.apart() == ["one", "two"]
    [(first, work)] = plan.part_works["quick/one"].items()
    assert first == parts[0]  # the first output of the job, by which its progress is told
    assert plan.work("evaluate", {"study": "quick/one"}) == work
    apart = [plan.parts["quick/one"][part] for part in parts]
    expected = cost.experiment("sample-complexity", sum(map(experiment("sample-complexity").seconds, apart)), 0)
    assert cost.seconds(work) == pytest.approx(cost.seconds(expected))


# Requests.


REQUEST = Solve(
    "strategy",
    "optimised",
    "mine",
    8,
    epsilon=1.0,
    alpha=0.1,
    options={"objective": "worst"},
    seed=1,
    root_seed=2,
    definitions={"mine": {"union": [{"workload": "prefix"}]}},
)
OTHER: dict[str, Any] = {
    "family": "bound",
    "name": "adaptive-pgd",
    "workload": "prefix",
    "domain_size": 16,
    "epsilon": 0.1 + 0.2,
    "alpha": None,
    "options": {},
    "seed": 3,
    "root_seed": 0,
    "definitions": {"mine": {"union": [{"workload": "total"}]}},
}


def test_a_request_reads_back_as_it_was_written() -> None:
    for request in (REQUEST, replace(REQUEST, epsilon=0.1 + 0.2), Solve("bound", "svd", "prefix", 8)):
        again = Solve.from_json(request.to_json())
        assert again == request
        assert (hash(again), again.file, again.to_json()) == (hash(request), request.file, request.to_json())


@pytest.mark.parametrize("text", ["", "[]", "3", "{}", '{"family": "bound"}', '{"nonsense": 1}'])
def test_a_job_refuses_what_is_no_request(text: str) -> None:
    with pytest.raises(BadValue, match="be a request for a solution"):
        Solve.from_json(text)


def test_the_name_of_a_file_depends_on_every_field() -> None:
    assert OTHER.keys() == {field.name for field in fields(Solve)}
    files = {replace(REQUEST, **{name: value}).file for name, value in OTHER.items()} | {REQUEST.file}
    assert len(files) == len(OTHER) + 1


def test_default_options_are_no_part_of_a_request() -> None:
    options = mechanisms.solver_of("optimised").options
    plain = solves.strategy("optimised", "prefix", 8, 1.0)
    for name, option in options.items():
        assert solves.strategy("optimised", "prefix", 8, 1.0, options={name: option.default}) == plain
    assert solves.strategy("optimised", "prefix", 8, 1.0, options={"objective": "worst"}).file != plain.file


def test_seeds_are_of_what_is_drawn() -> None:
    """Of a random workload each seed is another request; one without chance is solved once for all of them."""
    for kind, count in (("prefix", 1), ("random-signs", 2)):
        bounds = {solves.of_workload("bound", "svd", kind, 8, seed=s, root_seed=5, own={}).file for s in (0, 1)}
        assert len(bounds) == count


# Files.


def test_a_part_gives_the_same_bits_with_files_and_without(tmp_path: Path) -> None:
    kind = registry.experiment("sample-complexity")
    question = asked(grid=STUDY["grid"] | {"domain_size": [8]}, bounds=["svd", "certified"])
    parts = parts_of("sample-complexity", question)
    files = []
    for request in {request for part in parts.values() for request in kind.solves(part)}:
        solution = mechanisms.solution_for(request.spec(request.made()), request.made())
        files.append(tmp_path / Path(request.file).name)
        attributes = {"spec": request.spec(request.made()).text, **solution.record}
        hdf5.write(files[-1], "strategy", datasets=solution.datasets, attributes=attributes)
    assert len(files) == 1
    for part in parts.values():
        alone = pd.DataFrame(kind.measure(part))
        with shared(files):
            pd.testing.assert_frame_equal(pd.DataFrame(kind.measure(part)), alone, check_exact=True)


def test_what_is_in_a_file_is_read_and_not_solved_again(tmp_path: Path) -> None:
    """A bound that is known to be another one: within the context it is taken from the file, and only there."""
    from factormech.studies.grids import evaluate_bound

    workload = create("prefix", 8)
    spec = Spec("bound", "svd", workload.spec(), epsilon=1.0)
    path = tmp_path / "b.h5"
    hdf5.write(path, "bound", datasets={"value": np.array([12345.0])}, attributes={"spec": spec.text})
    true = evaluate_bound("svd", workload, 1.0)
    assert find(spec) is None
    with shared([path]):
        assert evaluate_bound("svd", workload, 1.0) == 12345.0
        assert evaluate_bound("svd", workload, 2.0) != 12345.0
    assert evaluate_bound("svd", workload, 1.0) == true != 12345.0


# Stages.


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("sample-complexity", {"band": True}),
        ("sample-complexity", {"alpha": 0.5}),
        ("sample-complexity", {"compare": "optimised"}),
        ("sample-complexity", {"compare": "optimised", "exclude": ["hadamard"]}),
    ],
)
def test_a_later_setting_leaves_the_parts_as_they_are(kind: str, changes: dict[str, Any]) -> None:
    plain, other = asked(), asked(**changes)
    assert plain.to_json() != other.to_json()
    before, after = (parts_of(kind, question) for question in (plain, other))
    assert {name: part.to_json() for name, part in after.items()} == {n: p.to_json() for n, p in before.items()}
    table = [until("table", kind, question).to_json() for question in (plain, other)]
    assert (table[0] == table[1]) == (changes.keys() == {"band"})


def test_the_settings_of_the_figure_reach_the_figure_alone() -> None:
    question = asked(band=True)
    assert figure_settings("sample-complexity", question) == {"band": True, "groups": {}}
    assert figure_settings("optimality-gap", question) == {}
    assert "band" not in until("table", "sample-complexity", question).settings
    assert "alpha" in until("table", "sample-complexity", question).grid
    asked_of_parts = json.loads(until("measure", "sample-complexity", question).to_json())
    measured = asked_of_parts["settings"]
    assert "alpha" not in asked_of_parts["grid"]
    assert measured.keys() == {"mechanisms", "options", "bounds"}


SWEEP = """
seed: 0
studies:
  sweep:
    paper: demo
    artefact: a sweep
    kind: sample-complexity
    title: A sweep of 100 000 measurements
    grid:
      workload: [histogram, prefix, all-ranges, all-marginals, total, parities, parities-01, 1-way-marginals,
        2-way-marginals, at-most-2-way-marginals]
      domain_size: [4, 8, 16, 32, 64]
      epsilon: [{epsilons}]
      seed: [0, 1, 2, 3, 4]
    mechanisms: [randomized-response, rappor, subset-selection, hadamard, hadamard-table1, hierarchical,
      hierarchical-table1, fourier, matrix-l1, optimised]
    bounds: [svd]
    figure: none
"""


@pytest.mark.slow
def test_a_sweep_of_a_hundred_thousand_measurements_is_planned_in_seconds() -> None:
    text = SWEEP.format(epsilons=", ".join(f"{0.1 * i:.1f}" for i in range(1, 41)))
    config = load(yaml.safe_load(text), SCHEMA, base=".")
    start = time.process_time()
    plan = Plan(config)
    measured = plan.measurements(["sweep"])
    assert measured == 100_000 + 10_000  # of mechanisms, and of the bound at every point
    assert len(plan.requests) == 10_000  # the strategies that a solver finds
    assert len(plan.parts["sweep"]) == 11
    assert plan.seconds(["sweep"]) > 10_000
    assert time.process_time() - start < 20.0  # 2 s on an idle core; Snakemake itself takes the most of a plan
    assert config.studies["sweep"].formats == ()


def test_a_setting_of_the_measurement_changes_the_parts_that_it_is_of() -> None:
    before, after = parts_of("sample-complexity", asked()), parts_of("sample-complexity", asked(options=WORST))
    assert {name for name in before if before[name] != after[name]} == {"optimised"}
