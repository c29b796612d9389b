"""The filter of Snakemake's report drops noise and nothing else."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parent.parent / "tools"
FILTER = TOOLS / "progress.py"
sys.path.insert(0, str(TOOLS))
progress = pytest.importorskip("progress")
REPORT = """\
Using workflow specific profile profiles/default for setting default command line arguments.
Building DAG of jobs...
Select jobs to execute...
[Wed Nov 18 10:33:08 2026]
Finished jobid: 46 (Rule: bound)
1 of 250 steps (0.4%) done
Error in rule measure:
    message: None
error: epsilon = -1: must be a finite number above 0; give for example 1.0
Finished jobid: 0 (Rule: quick)
250 of 250 steps (100%) done
"""


def filtered(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, FILTER, *words]
    return subprocess.run(command, input=REPORT, capture_output=True, text=True, check=True, cwd=folder)


def test_progress_is_shown_and_errors_pass(tmp_path: Path) -> None:
    done = filtered(tmp_path)
    lines = done.stdout.splitlines()
    assert lines[:-1] == [
        "Error in rule measure:",
        "    message: None",
        "error: epsilon = -1: must be a finite number above 0; give for example 1.0",
    ]
    assert lines[-1].startswith("[250/250]  100 %")
    assert lines[-1].endswith("quick")


def expecting(folder: Path, monkeypatch: pytest.MonkeyPatch, cores: int, **seconds: float) -> progress.Pace:
    """The pace of a run of which the workflow noted this; the clock began at 100."""
    expected = folder / "expected.json"
    expected.write_text(json.dumps({"cores": cores, "seconds": {name[1:]: value for name, value in seconds.items()}}))
    monkeypatch.setattr(progress, "EXPECTED", expected)
    return progress.Pace(100.0)


def test_a_dear_job_is_more_of_the_work_than_a_cheap_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pace = expecting(tmp_path, monkeypatch, 1, _0=1.0, _1=1.0, _2=198.0)
    pace.finished("0")
    pace.steps(1, 3)
    pace.finished("1")
    pace.steps(2, 3)
    assert pace.share() == 0.01
    # As slow as was expected: what is left is what was expected of it.
    assert pace.left(102.0) == pytest.approx(198.0)
    pace.finished("2")
    pace.steps(3, 3)
    assert (pace.share(), pace.left(400.0)) == (1.0, 0.0)


def test_the_time_left_follows_the_pace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cores, twice as slow as expected: at first the expectation counts, after hours the pace."""
    pace = expecting(tmp_path, monkeypatch, 2, _0=6e4, _1=6e4)
    pace.finished("0")
    pace.steps(1, 2)
    assert pace.left(100.0 + 6e4) == pytest.approx(6e4, rel=0.01)
    soon = expecting(tmp_path, monkeypatch, 2, _0=2.0, _1=2000.0)
    soon.finished("0")
    soon.steps(1, 2)
    assert soon.left(102.0) == pytest.approx(1000.0 * 62 / 61)


def test_without_expectations_jobs_are_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EXPECTED", tmp_path / "none.json")
    pace = progress.Pace(0.0)
    pace.finished("7")
    pace.steps(1, 4)
    assert (pace.share(), pace.left(10.0)) == (0.25, 30.0)


def test_a_run_is_noted(tmp_path: Path) -> None:
    for _ in range(2):
        filtered(tmp_path, "--note", "results/runs.csv")
    with (tmp_path / "results/runs.csv").open(newline="") as file:
        runs = list(csv.DictReader(file))
    assert [(run["jobs"], run["of"], run["cores"]) for run in runs] == [("250", "250", "1")] * 2


def test_a_run_with_nothing_to_do_is_not(tmp_path: Path) -> None:
    command = [sys.executable, FILTER, "--note", "runs.csv"]
    subprocess.run(command, input="Nothing to be done\n", text=True, check=True, cwd=tmp_path)
    assert not (tmp_path / "runs.csv").exists()
