"""The archive of strategies: the files as they are, their digests, and certificates that are verified from it alone."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from factormech.cli.main import main

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
archive = pytest.importorskip("strategy_archive")
FILE = "results/strategies/optimised/prefix/n8/eps1.0.h5"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a run that has one strategy."""
    folder = tmp_path / "run"
    (folder / FILE).parent.mkdir(parents=True)
    asked = ["prefix", "--domain-size", "8", "--epsilon", "1", "--objective", "worst"]
    assert main(["strategy", "optimise", *asked, "--out", str(folder / FILE)]) == 0
    monkeypatch.setattr(archive, "strategies", lambda *_: [FILE])
    return folder


def test_a_reader_verifies_from_the_archive_alone(run: Path, tmp_path: Path) -> None:
    made = [tmp_path / name for name in ("one", "two")]
    for out in made:
        assert archive.main(["--root", str(run), "--out", str(out)]) == 0
    assert (made[0] / "strategies.tar").read_bytes() == (made[1] / "strategies.tar").read_bytes()
    with (made[0] / "certificates.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["workload"], row["domain_size"], row["epsilon"]) == ("prefix", "8", "1.0")
    assert 0 <= float(row["gap"]) < 0.05
    shutil.rmtree(run)
    there = tmp_path / "there"
    there.mkdir()
    subprocess.run(["tar", "-xf", str(made[0] / "strategies.tar")], cwd=there, check=True)
    check = ["sha256sum", "--check", "SHA256SUMS"]
    assert subprocess.run(check, cwd=there, capture_output=True, check=False).returncode == 0
    assert main(["strategy", "verify", str(there / FILE)]) == 0
    (there / FILE).write_bytes((there / FILE).read_bytes()[:-1] + b"x")
    assert subprocess.run(check, cwd=there, capture_output=True, check=False).returncode == 1


def test_what_is_missing_is_said(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / FILE).unlink()
    assert archive.main(["--root", str(run), "--out", str(tmp_path / "out")]) == 1
    assert "1 of 1 strategies are missing" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


def test_figures_1_and_2_have_strategies_at_all_their_points() -> None:
    files = [file for file in archive.strategies(ROOT, archive.STUDIES) if "/optimised/" in file]
    places = {tuple(Path(file).parts[3:5]) for file in files}
    assert {("prefix", "n512"), ("all-ranges", "n1024"), ("histogram", "n8")} <= places
    assert len(files) == len(set(files)) > 80


def test_the_published_certificates_are_those_of_the_published_tables() -> None:
    """Of each point of Figures 1 and 2 in the gallery, the variances that its strategy's file states."""
    gallery, known = ROOT / "docs/gallery", {}
    with (gallery / "strategies/certificates.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if json.loads(row["options"] or "{}") == {"objective": "worst"}:
                known[row["workload"], int(row["domain_size"]), float(row["epsilon"])] = row
    compared = 0
    for study in archive.STUDIES:
        with (gallery / f"{study}.csv").open(newline="") as file:
            for row in csv.DictReader(file):
                if row["mechanism"] == "optimised":
                    stated = known[row["workload"], int(row["domain_size"]), float(row["epsilon"])]
                    for column in ("average_variance", "worst_variance"):
                        assert float(row[column]) == pytest.approx(float(stated[column]), rel=1e-9), stated["file"]
                    compared += 1
    assert compared == 2 * 48
