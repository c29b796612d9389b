"""Norms through the workflow: a factorization of its own job, the same numbers, the same bytes, what runs again."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import factormech
from factormech.norms import registry
from factormech.norms.stored import from_datasets
from factormech.store import hdf5
from factormech.workloads.registry import create
from tests.test_workflow import copy_of_project, edited, made, planned

pytestmark = pytest.mark.workflow

CONFIG = """
workloads:
  mine: {file: mine.csv}
studies:
  norms-of-six:
    paper: edmonds2020
    artefact: norms
    kind: norms
    title: Norms
    grid: {workload: [prefix, mine], domain_size: [4], entry_error: [0.0, 0.1, 1.0]}
    norms: [gamma-f, gamma-p4, gamma-2, gamma-2-approximate, gamma-2-shifted]
  ranges:
    paper: edmonds2020
    artefact: norms
    kind: norms
    title: Ranges
    grid: {workload: [all-ranges], domain_size: [4, 72]}
    norms: [gamma-f, gamma-2]
  general:
    paper: edmonds2023
    artefact: Lemma 22
    kind: norms
    title: By a general solver
    grid: {workload: [prefix], domain_size: [4, 256], entry_error: [0.1]}
    norms: [gamma-f, gamma-2-approximate]
    solver: cvxpy
  classes:
    paper: edmonds2023
    artefact: Lemma 38
    kind: norms
    title: Classes
    grid: {workload: [prefix, histogram], domain_size: [4, 8], entry_error: [0.1]}
    concepts: true
    norms: [eta, margin-complexity]
  prefix-errors:
    paper: liu2024
    artefact: Theorem 5
    kind: prefix-factorizations
    title: Prefix
    grid: {workload: [prefix], domain_size: [2, 8, 64]}
    norms: [gamma-f, gamma-2]
"""
STUDIES = ("norms-of-six", "ranges", "prefix-errors", "general", "classes")


def copied(folder: Path) -> Path:
    copy_of_project(folder)
    (folder / "config.yaml").write_text(CONFIG)
    (folder / "mine.csv").write_text("1,0,0,0\n1,1,0,0\n0,2,0,3\n")
    return folder


def run(folder: Path) -> Path:
    made(copied(folder), "all")
    return folder


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy in which all studies have been made."""
    return run(tmp_path_factory.mktemp("norms"))


def table(project: Path, study: str) -> object:
    return factormech.load(project / f"results/tables/{study}.csv")


@pytest.mark.slow
def test_every_study_is_planned_and_only_the_expensive_factorization_has_a_job(tmp_path: Path) -> None:
    """As planned on a copy without results; the slow tests run them."""
    jobs = planned(copied(tmp_path))
    parts = Counter(job.partition("study=")[2].partition(",")[0] for job in jobs if job.startswith("evaluate "))
    assert parts == {"norms-of-six": 5, "ranges": 2, "general": 2, "classes": 2, "prefix-errors": 2}
    for rule in ("tabulate", "draw"):
        assert {f"{rule} study={study}" for study in STUDIES} == {job for job in jobs if job.startswith(f"{rule} ")}
    [solve] = [job for job in jobs if job.startswith("solve ")]
    assert solve.startswith("solve family=factorizations, name=gamma-2, workload=all-ranges, domain_size=72")


@pytest.mark.slow
def test_tables_and_figures_are_made_once(project: Path) -> None:
    for study in STUDIES:
        for suffix in ("pdf", "svg", "png", "txt"):
            assert (project / f"figures/{study}.{suffix}").stat().st_size > 0
        assert factormech.load(project / f"results/{study}.h5").equals(table(project, study))
        assert (project / f"results/tables/{study}.tex").read_text().startswith("% The table of ")
    assert planned(project, *STUDIES) == set()


@pytest.mark.slow
def test_numbers_are_of_the_grid(project: Path) -> None:
    six = factormech.load(project / "results/tables/norms-of-six.csv")
    assert len(six) == 2 * (3 + 2 * 3)
    prefix = six[(six["workload"] == "prefix") & (six["norm"] == "gamma-2")].iloc[0]
    assert prefix["lower"] <= 1.3261226665 * (1 + 1e-7)
    assert prefix["upper"] >= 1.3261226665 * (1 - 1e-7)
    mine = six[(six["workload"] == "mine") & (six["norm"] == "gamma-f")].iloc[0]
    wanted = registry.solve("gamma-f", np.loadtxt(project / "mine.csv", delimiter=","))
    assert max(mine["lower"], wanted.lower) <= min(mine["upper"], wanted.upper)
    assert six.loc[six["entry_error"].isna(), "norm"].value_counts().to_dict() == {
        "gamma-f": 2,
        "gamma-p4": 2,
        "gamma-2": 2,
    }
    signs = (six["workload"] == "prefix") & (six["entry_error"] == 1.0)
    assert (six.loc[signs, "upper"] < 1e-100).all()
    assert signs.sum() == 2
    errors = factormech.load(project / "results/tables/prefix-errors.csv")
    assert len(errors) == 3 * 2 * 4
    assert set(errors["p"]) == {2.0, math.inf}
    assert (errors.loc[errors["factorization"] == "optimal", "ratio_to_bound"] < 1 + 1e-6).all()


@pytest.mark.slow
def test_classes_of_concepts_have_norms(project: Path) -> None:
    classes = factormech.load(project / "results/tables/classes.csv")
    assert set(classes["norm"]) == {"eta", "margin-complexity"}
    assert (classes.loc[classes["norm"] == "margin-complexity", "entry_error"].isna()).all()


@pytest.mark.slow
def test_a_study_may_name_a_general_solver(project: Path) -> None:
    general = factormech.load(project / "results/tables/general.csv").set_index(["norm", "domain_size"])
    small = general.xs(4, level="domain_size")
    assert (small["status"] == "ok").all()
    assert "cvxpy CLARABEL" in set(small["method"])
    for norm, row in small.iterrows():
        ours = registry.compute(norm, create("prefix", 4), alpha=0.1 if norm == "gamma-2-approximate" else None)
        assert max(row["lower"], ours.lower) <= min(row["upper"], ours.upper)
    large = general.xs(256, level="domain_size")
    assert (large["status"] == "unavailable").all()
    assert large["reason"].str.contains("rows and columns together for a general solver").all()


@pytest.mark.slow
def test_an_expensive_factorization_has_a_file_that_gives_back_r_and_a(project: Path) -> None:
    [path] = (project / "results/factorizations").rglob("*.h5")
    assert path.parent.relative_to(project / "results/factorizations") == Path("gamma-2/all-ranges/n72")
    record = hdf5.read(path, "factorization")
    workload = create("all-ranges", 72)
    norm = from_datasets(record.datasets, record.attributes, workload)
    rows = (norm.left.dense() ** 2).sum(axis=1).max()
    columns = (norm.right.dense() ** 2).sum(axis=0).max()
    np.testing.assert_allclose(norm.left.dense() @ norm.right.dense(), workload.matrix(), atol=1e-9)
    assert math.sqrt(rows * columns) == pytest.approx(norm.upper, rel=1e-6)
    ranges = factormech.load(project / "results/tables/ranges.csv")
    [row] = ranges[(ranges["norm"] == "gamma-2") & (ranges["domain_size"] == 72)].to_dict("records")
    assert (row["lower"], row["upper"]) == (norm.lower, norm.upper)


@pytest.mark.slow
def test_what_depends_on_a_method_is_made_again(project: Path) -> None:
    module = project / "src/factormech/norms/boxes.py"
    with edited(module, module.read_text() + "\nOTHER = 1\n"):
        jobs = planned(project)
    assert "evaluate study=norms-of-six, part=gamma-2-shifted" in jobs
    assert "evaluate study=classes, part=eta" in jobs
    rules = project / "src/factormech/workloads/ranges.py"
    with edited(rules, rules.read_text() + "\nOTHER = 1\n"):
        jobs = planned(project, "ranges")
    assert any(
        job.startswith("solve family=factorizations, name=gamma-2, workload=all-ranges, domain_size=72") for job in jobs
    )
    data = project / "mine.csv"
    with edited(data, data.read_text() + "1,1,1,1\n"):
        jobs = planned(project)
    assert "evaluate study=norms-of-six, part=gamma-2" in jobs
    assert "evaluate study=ranges, part=gamma-2" not in jobs


@pytest.mark.slow
def test_another_run_gives_the_same_bytes(project: Path, tmp_path: Path) -> None:
    again = run(tmp_path)
    files = [p for room in ("results", "figures") for p in sorted((again / room).rglob("*")) if p.is_file()]
    names = [str(path.relative_to(again)) for path in files]
    kept = [name for name in names if not name.startswith(("results/benchmarks", "results/logs"))]
    assert len(kept) > 30
    for name in kept:
        assert (again / name).read_bytes() == (project / name).read_bytes(), name
