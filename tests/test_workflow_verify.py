"""The target ``verify``: each optimised strategy that a study measures has a file, which the independent tool reads."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import h5py
import pytest

from factormech.store import content, seals
from tests.test_workflow import ROOT, copy_of_project, edited, made, planned, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

CONFIG = """
studies:
  best:
    paper: mckenna2020
    artefact: beyond Figure 1
    kind: optimality-gap
    title: Best
    grid: {workload: [prefix, random-signs], domain_size: [4], epsilon: [1.0, 2.0], seed: [3]}
    mechanisms: [randomized-response, adaptive-pgd, optimised]
    bounds: [svd]
    quick: {grid: {epsilon: [1.0], workload: [prefix]}}
  worst:
    paper: mckenna2020
    artefact: beyond Figure 2
    kind: optimality-gap
    title: Worst
    grid: {workload: [prefix], domain_size: [4], epsilon: [1.0]}
    mechanisms: [optimised]
    options: {optimised: {objective: worst}}
    bounds: [svd]
  beginnings:
    paper: mckenna2020
    artefact: Figure 3b
    kind: initialisation
    title: Starts
    grid: {workload: [prefix], domain_size: [16], epsilon: [1.0]}
    mechanisms: [optimised]
    rows: [2]
    starts: 1
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copy_of_project(tmp_path_factory.mktemp("verify"))
    shutil.copytree(ROOT / "tools", folder / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "config.yaml").write_text(CONFIG)
    made(folder, "verify", "results/quick/verification.txt")
    return folder


def forge(seal: Path, name: str, path: Path) -> None:
    """Write what a solver that is wrong would leave: a seal of its wrong file."""
    said = json.loads(seal.read_bytes())
    del said["sha256"]
    said["outputs"][name] = seals.digest_of(path)
    said["sha256"] = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    seal.write_text(json.dumps(said, sort_keys=True))


def test_every_strategy_is_verified_once(project: Path) -> None:
    """Those of studies that measure them, however cheap, and none of the clocked or restarted solves."""
    strategies = sorted(str(path.relative_to(project)) for path in (project / "results/strategies").rglob("*.h5"))
    assert len(strategies) == 5
    lines = (project / "results/verification.txt").read_text().splitlines()
    assert lines[-1] == "5 of 5 strategies verified"
    assert sorted(line.split()[1].rstrip(":") for line in lines[:-1]) == strategies
    assert sum("proved exactly" in line for line in lines) == 4
    quick = (project / "results/quick/verification.txt").read_text().splitlines()
    assert quick[-1] == "2 of 2 strategies verified"
    assert not planned(project, "verify")
    assert "evaluate study=best, part=optimised" in planned(project, "quick") | planned(project)


def test_quick_verifies_and_a_changed_tool_verifies_again(project: Path) -> None:
    tool = project / "tools/verify_strategies.py"
    with edited(tool, tool.read_text() + "\n"):
        assert "verify_strategies folder=" in planned(project, "verify")
        assert "verify_strategies folder=quick/" in planned(project, "quick")


def test_a_strategy_that_does_not_hold_stops_the_run(project: Path) -> None:
    path = next((project / "results/strategies/optimised/prefix").rglob("eps2.0-*.h5"))
    original = path.read_bytes()
    with h5py.File(path, "r+") as file:
        file.attrs["objective"] *= 0.999
    content.stamp(path, path.relative_to(project))  # a file that is whole, and wrong; a damaged one would be made again
    seal = project / seals.seal_of(str(path.relative_to(project)))
    honest = seal.read_bytes()
    forge(seal, str(path.relative_to(project)), path)
    done = snakemake(project, "verify", "--quiet", "rules", "--show-failed-logs")
    path.write_bytes(original)
    seal.write_bytes(honest)
    assert done.returncode != 0
    log = (project / "results/logs/verify/verification.log").read_text()
    assert f"FAILED  {path.relative_to(project)}: L is" in log
    assert log.endswith("4 of 5 strategies verified\n")
