"""The page of the last full run: what it adds up, and which runs count as whole."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
run_page = pytest.importorskip("run_page")

JOBS = """\
rule,name,jobs,measured,wall_seconds,cpu_seconds,start_seconds,peak_mebibytes
solve,optimised,3,3,100.0,90.0,1.0,250
draw,,2,2,20.0,10.0,1.0,120
"""
RUNS = "began,seconds,jobs,of,cores\n"


def results(folder: Path, runs: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "jobs.csv").write_text(JOBS)
    (folder / "runs.csv").write_text(RUNS + runs)
    return folder


@pytest.mark.parametrize(
    ("runs", "seconds"),
    [
        ("a,60,6,6,2\n", "60"),
        ("a,60,6,6,2\nb,70,6,6,2\nc,5,2,2,2\n", "70"),  # the last whole one, whatever was made again after it
        ("a,60,3,6,2\nb,30,4,4,2\n", None),  # one that was stopped, and one that made the rest
        ("", None),
    ],
)
def test_a_run_is_whole_if_it_made_everything_at_once(tmp_path: Path, runs: str, seconds: str | None) -> None:
    found = run_page.whole_run(results(tmp_path, runs))
    assert (found and found["seconds"]) == seconds


def test_runs_take_the_place_of_earlier_ones(tmp_path: Path) -> None:
    known = [{"target": "quick", "began": "x", "seconds": "9", "jobs": "9", "cores": "4"}]
    found = run_page.runs_of(results(tmp_path, "a,60,6,6,2\n"), known)
    assert [(run["target"], run["seconds"]) for run in found] == [("all", "60"), ("quick", "9")]
    results(tmp_path, "b,99,3,6,2\n")
    assert [run["target"] for run in run_page.runs_of(tmp_path, found)] == ["quick"]
    results(tmp_path, "a,60,6,6,2\n")
    results(tmp_path / "quick", "b,7,5,5,2\n")
    found = run_page.runs_of(tmp_path, known)
    assert run_page.csv_of(found) == "target,began,seconds,jobs,cores\nall,a,60,6,2\nquick,b,7,5,2\n"


def test_the_page_adds_up(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "run.csv").write_text("target,began,seconds,jobs,cores\nall,2026-01-02T03:04,60,6,2\n")
    spent = run_page.spent({"seconds": "60", "cores": "2"}, run_page.rows(tmp_path / "jobs.csv"))
    assert (spent.total, spent.work, spent.starts, spent.rest) == (120.0, 98.0, 2.0, 20.0)
    text = run_page.page(tmp_path)
    assert "**1 minutes on 2 cores** for 6 jobs, begun 2026-01-02" in text
    assert "| computing | 1.6 | 81.7 % |" in text
    assert "Outside computations: 18.3 %." in text
    assert "Its 5 jobs took 1.7 minutes of one core, 2.0 % of it to start." in text
    assert "The one with the most memory held 250 MiB (solve optimised)" in text
    assert "| solve | 3 | 1.5 | 0.0 |\n| draw | 2 | 0.2 | 0.0 |" in text
    assert "90.0 % of all" in text
    (tmp_path / "run.csv").unlink()
    text = run_page.page(tmp_path)
    assert "beside other work" in text
    assert "Its 5 jobs took 1.7 minutes of one core" in text


def test_the_committed_page_is_what_the_gallery_says() -> None:
    assert run_page.PAGE.read_text(encoding="utf-8") == run_page.page(run_page.GALLERY)
