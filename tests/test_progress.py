"""The logger of a run drops noise and nothing else, and says how much of the work is done."""

from __future__ import annotations

import csv
import json
import logging
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "workflow" / "logger"))
logger = pytest.importorskip("snakemake_logger_plugin_factormech")


def handler(**settings: Any) -> Any:
    """A handler as Snakemake makes it."""
    return logger.LogHandler(SimpleNamespace(show_failed_logs=True), logger.LogHandlerSettings(**settings))


def tell(to: Any, event: str | None, message: str | None = None, **told: Any) -> None:
    """A record as Snakemake writes it."""
    record = logging.LogRecord("snakemake", logging.INFO, "", 0, message, None, None)
    record.__dict__.update(told if event is None else {"event": event, **told})
    to.emit(record)


def run(to: Any, jobs: int = 2) -> None:
    tell(to, "run_info", stats={"evaluate": jobs, "total": jobs})
    for job in range(jobs):
        tell(to, "job_info", jobid=job, rule_name="evaluate", output=[f"{job}.h5"])
        tell(to, "job_finished", job_id=job)
        tell(to, "progress", done=job + 1, total=jobs)


def test_progress_is_shown_and_errors_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    to = handler()
    tell(to, None, "Building DAG of jobs...")
    tell(to, None, "")
    tell(to, None, "damaged, to be made again: x.h5")
    tell(to, "error", "error: epsilon = -1: must be above 0")
    run(to)
    to.close()
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["damaged, to be made again: x.h5", "error: epsilon = -1: must be above 0"]
    assert lines[-1].startswith("[2/2]  100 %")
    assert lines[-1].endswith("evaluate")
    assert len(lines) == 4


def pace(**seconds: float) -> Any:
    """The pace of a run whose files are expected to take so long, on one core; the clock began at 100."""
    files = {f"{name[1:]}.h5": value for name, value in seconds.items()}
    mean = sum(files.values()) / len(files)
    found = logger.Pace(100.0, {"files": files, "rules": {"evaluate": mean}, "cores": 1})
    found.planned({"evaluate": len(files), "total": len(files)})
    for job, file in enumerate(files):
        found.started(job, "evaluate", [file])
    found.of = len(files)
    return found


def test_the_share_is_of_seconds_and_not_of_jobs() -> None:
    found = pace(_0=10.0, _1=10.0, _2=10.0, _3=10.0)
    found.finished(0)
    found.jobs = 1
    assert found.share() == pytest.approx(0.25)
    # As slow as was expected: what is left is what was expected of the rest.
    assert found.left(110.0) == pytest.approx(30.0)
    # Twice as slow, after hours: the pace counts.
    slow = pace(_0=6e4, _1=6e4)
    slow.finished(0)
    slow.jobs = 1
    assert slow.left(100.0 + 12e4) == pytest.approx(12e4, rel=0.01)
    slow.finished(1)
    slow.jobs = 2
    assert (slow.share(), slow.left(1e6)) == (1.0, 0.0)


def test_without_expectations_jobs_are_alike() -> None:
    found = logger.Pace(0.0, {})
    found.planned({"draw": 4})
    found.started(7, "draw", ["a.pdf"])
    found.finished(7)
    found.jobs, found.of = 1, 4
    assert (found.share(), found.left(10.0)) == (0.25, 30.0)


def test_expectations_are_read_where_the_workflow_wrote_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert logger.expected() == {}
    logger.EXPECTED.parent.mkdir(parents=True)
    logger.EXPECTED.write_text(json.dumps({"cores": 2}))
    assert logger.expected() == {"cores": 2}
    logger.EXPECTED.write_text("[")
    assert logger.expected() == {}


def test_a_run_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        to = handler(note="results/runs.csv")
        run(to, 5)
        to.close()
    with (tmp_path / "results/runs.csv").open(newline="") as file:
        runs = list(csv.DictReader(file))
    assert [(run["jobs"], run["of"], run["cores"]) for run in runs] == [("5", "5", "1")] * 2


def test_a_run_with_nothing_to_do_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    to = handler(note="runs.csv")
    tell(to, None, "Nothing to be done")
    to.close()
    assert not (tmp_path / "runs.csv").exists()
