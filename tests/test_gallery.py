"""The gallery: copies of what a run made, and a page that lists them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

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
    for name in ("one", "one-improvement", "onesie"):
        (run / f"results/tables/{name}.csv").write_text("a\n1\n")
    monkeypatch.setattr(gallery, "GALLERY", target)
    monkeypatch.setattr(sys, "argv", ["gallery", "--root", str(run)])
    gallery.main()
    copied = {path.name for path in target.iterdir()}
    assert copied == {"one.svg", "one.txt", "one.csv", "one-improvement.csv", "config.yaml", "README.md", "claims.csv"}
    page = (target / "README.md").read_text()
    assert "## Figure 1: First" in page
    assert "What it shows." in page
    assert "Second" not in page
    assert "[one-improvement.csv](one-improvement.csv)" in page
    assert "## mckenna2020" in (tmp_path / "claims.md").read_text()
    assert "two: not made" in capsys.readouterr().out
    before = {path.name: path.stat().st_mtime_ns for path in target.iterdir()}
    gallery.main()
    assert before == {path.name: path.stat().st_mtime_ns for path in target.iterdir()}
