"""The gallery: copies of what a run made, and a page that lists them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
gallery = pytest.importorskip("gallery")

CONFIG = """\
studies:
  one:
    paper: p
    artefact: Figure 1
    kind: sample-complexity
    title: First
    grid: {workload: [prefix], domain_size: [8], epsilon: [1.0]}
    mechanisms: [hadamard]
  two:
    paper: p
    artefact: Figure 2
    kind: sample-complexity
    title: Second
    grid: {workload: [prefix], domain_size: [8], epsilon: [1.0]}
    mechanisms: [hadamard]
"""


def test_what_is_made_is_copied_once_and_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run, target = tmp_path / "run", tmp_path / "gallery"
    (run / "workflow/schemas").mkdir(parents=True)
    shutil.copy(ROOT / "workflow/schemas/config.schema.yaml", run / "workflow/schemas")
    (run / "config.yaml").write_text(CONFIG)
    (run / "figures").mkdir()
    (run / "results/tables").mkdir(parents=True)
    (run / "figures/one.svg").write_text("<svg/>")
    (run / "figures/one.txt").write_text("What it shows.\n")
    (run / "figures/one.notes.txt").write_text("What is missing.\n")
    for name in ("one", "one-improvement", "onesie"):
        (run / f"results/tables/{name}.csv").write_text("a\n1\n")
    Image.new("RGB", (1400, 700), "white").save(run / "figures/one.png")
    monkeypatch.setattr(gallery, "GALLERY", target)
    monkeypatch.setattr(sys, "argv", ["gallery", "--root", str(run)])
    gallery.main()
    copied = {path.name for path in target.iterdir()}
    made = {"one.svg", "one.txt", "one.notes.txt", "one.csv", "one-improvement.csv"}
    assert copied == made | {"config.yaml", "README.md", "p.md", "thumbnails", "times.csv", "run.csv", "claims.csv"}
    assert "No whole run has been measured yet" in (tmp_path / "full-run.md").read_text()
    contents, page = (target / "README.md").read_text(), (target / "p.md").read_text()
    assert "## [p](p.md)\n\n* [First](p.md#first) (Figure 1)" in contents
    assert '## First\n\n*Figure 1*\n\n<a href="one.svg"><img src="thumbnails/one.webp"' in page
    assert "What it shows." in page
    assert "<summary>Notes</summary>\n\nWhat is missing." in page
    with Image.open(target / "thumbnails/one.webp") as small:
        assert small.size == (480, 240)
    assert "Second" not in page
    assert "[one-improvement.csv](one-improvement.csv)" in page
    assert "## mckenna2020" in (tmp_path / "claims.md").read_text()
    assert "two: not made" in capsys.readouterr().out
    before = {path: path.stat().st_mtime_ns for path in target.rglob("*.*")}
    gallery.main()
    assert before == {path: path.stat().st_mtime_ns for path in target.rglob("*.*")}


HEADER = "study,jobs,measured,wall_seconds,cpu_seconds\n"


def test_times_are_those_of_the_last_run_of_each_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, target = tmp_path / "run", tmp_path / "gallery"
    (run / "results/quick").mkdir(parents=True)
    target.mkdir()
    monkeypatch.setattr(gallery, "GALLERY", target)
    config = SimpleNamespace(studies={"one": None, "two": None})
    (target / "times.csv").write_text(HEADER + "one,1,1,1.0,1.0\ntwo,2,2,2.0,2.0\ngone,1,1,1.0,1.0\nall,3,3,3.0,3.0\n")
    (run / "results/times.csv").write_text(HEADER + "one,5,5,5.0,5.0\nall,5,5,5.0,5.0\n")
    assert gallery.times(config, run, set()) == HEADER + "one,1,1,1.0,1.0\ntwo,2,2,2.0,2.0\nall,3,3,3.0,3.0\n"
    (run / "results/quick/times.csv").write_text(HEADER + "quick/one,5,5,5.0,5.0\nquick,9,9,9.0,9.0\n")
    expected = HEADER + "one,5,5,5.0,5.0\ntwo,2,2,2.0,2.0\nall,3,3,3.0,3.0\nquick,9,9,9.0,9.0\n"
    assert gallery.times(config, run, {"one"}) == expected
    (run / "results/times.csv").write_text(HEADER + "one,5,5,5.0,5.0\ntwo,6,6,6.0,6.0\nall,8,8,8.0,8.0\n")
    assert "all,8,8,8.0,8.0\n" in gallery.times(config, run, {"one", "two"})
