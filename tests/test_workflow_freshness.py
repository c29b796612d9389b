"""No old table with exit 0: matrices, clocks, lost memories, tables and pages that changed behind the workflow."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import factormech
from tests.test_workflow import copy_of_project, jobs_of, made, planned, snakemake

pytestmark = pytest.mark.workflow

CONFIG = """
workloads:
  mine: {file: mine.csv}
studies:
  small:
    paper: mckenna2020
    artefact: Figure 1
    kind: sample-complexity
    title: Small
    grid: {workload: [mine], domain_size: [2], epsilon: [1.0]}
    mechanisms: [randomized-response]
    alpha: 0.01
"""
FROM_THE_MATRIX = {"evaluate", "tabulate", "draw"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copy_of_project(tmp_path_factory.mktemp("fresh"))
    (folder / "config.yaml").write_text(CONFIG)
    (folder / "mine.csv").write_text("1,0\n1,1\n")
    made(folder, "all")
    assert rules(folder) == set()
    return folder


def rules(folder: Path) -> set[str]:
    return rules_of(planned(folder))


def rules_of(jobs: set[str]) -> set[str]:
    return {job.partition(" ")[0] for job in jobs}


@contextmanager
def changed(path: Path, content: str, seconds: float) -> Iterator[None]:
    """A file with another content and a time stamp so far from now; on leaving, as it was."""
    kept = path.with_name(f"{path.name}.kept")
    shutil.copy2(path, kept)
    try:
        path.write_text(content)
        os.utime(path, (time.time() + seconds,) * 2)
        yield
    finally:
        kept.replace(path)


@pytest.mark.slow
def test_a_matrix_under_an_older_time_stamp(project: Path) -> None:
    with changed(project / "mine.csv", "5,0\n9,7\n", -1e6):
        assert rules(project) == FROM_THE_MATRIX
    assert rules(project) == set()


@pytest.mark.slow
def test_results_from_the_future_and_no_memory(project: Path, tmp_path: Path) -> None:
    """As after a move to another machine whose clock is an hour behind: a run elsewhere leaves its files alone."""
    shutil.copytree(project, tmp_path / "there", ignore=shutil.ignore_patterns(".snakemake"))
    there = tmp_path / "there"
    assert rules(there) == set()
    for path in (there / "results").rglob("*"):
        os.utime(path, (time.time() + 3600,) * 2)
    with changed(there / "mine.csv", "5,0\n9,7\n", 7200):
        assert rules(there) == FROM_THE_MATRIX
    config = there / "config.yaml"
    config.write_text(config.read_text().replace("epsilon: [1.0]", "epsilon: [3.0]"))
    os.utime(there / "mine.csv", (time.time() + 7200,) * 2)
    made(there, "all")
    assert [*factormech.load(there / "results/tables/small.csv")["epsilon"].unique()] == [3.0]
    assert rules(there) == set()


@pytest.mark.slow
def test_an_edited_file_is_made_again(project: Path) -> None:
    """The job that wrote the file is named by its first output."""
    part = "results/parts/small/lower.bounds.h5"
    for file, first, again in (
        ("results/tables/small.csv", "results/tables/small.csv", {"tabulate", "draw"}),
        ("results/tables/small.tex", "results/tables/small.csv", {"tabulate", "draw"}),
        ("figures/small.txt", "figures/small.pdf", {"draw"}),
        (part, part, {"evaluate", "tabulate", "draw"}),
    ):
        with changed(project / file, (project / file).read_text(errors="replace") + "1", -1e6):
            said = snakemake(project, "all", "--dry-run")
            assert f"to be made again: {first} (" in said.stdout + said.stderr
            assert rules_of(jobs_of(said)) == again
    assert rules(project) == set()


@pytest.mark.slow
def test_a_job_refuses_code_that_is_not_the_planned_one(project: Path) -> None:
    """Edited while the run was at work, and restored: one line, exit 1, and the next run makes what is missing."""
    module = project / "src/factormech/mechanisms/local/errors.py"
    request = next((project / ".snakemake/factormech/requests").glob("*/evaluate.json"))
    rules(project)
    content, stamp = module.read_bytes(), module.stat().st_mtime_ns
    module.write_text("raise SystemExit('edited')")
    module.write_bytes(content)
    os.utime(module, ns=(stamp, stamp))
    environment = os.environ | {"PYTHONPATH": str(project / "src")}
    command = ["python", "-m", "factormech.pipeline.evaluate", "--request", str(request.relative_to(project))]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "edited since the run was planned" in done.stderr
    assert rules(project) == set(), "the results are of this code"


VERIFIED = """
studies:
  small:
    paper: mckenna2020
    artefact: Figure 1
    kind: sample-complexity
    title: Small
    grid: {workload: [prefix], domain_size: [4], epsilon: [1.0]}
    mechanisms: [optimised]
    alpha: 0.01
"""


@pytest.mark.slow
def test_an_edited_verification_is_made_again(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parent.parent
    folder = copy_of_project(tmp_path)
    shutil.copytree(root / "tools", folder / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "config.yaml").write_text(VERIFIED)
    made(folder, "verify")
    page = folder / "results/verification.txt"
    assert planned(folder, "verify") == set()
    with changed(page, page.read_text() + "1", -1e6):
        assert {job.partition(" ")[0] for job in planned(folder, "verify")} == {"verify_strategies"}
