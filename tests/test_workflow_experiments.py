"""A kind of study added as the page says, through the whole workflow: what it makes, makes again, and refuses."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import factormech
from factormech.store import hdf5
from tests.test_workflow import ROOT, copy_of_project, edited, made, planned, snakemake

pytestmark = pytest.mark.workflow

CONFIG = """
workloads:
  mine: {file: mine.csv}
studies:
  toy-study:
    paper: nobody2020
    artefact: nothing
    kind: toy
    title: Toy
    caption: Of no use.
    grid: {workload: [prefix, random-signs, mine], domain_size: [4], p: [2.0, inf]}
    quick: {grid: {workload: [prefix]}}
  calibration:
    paper: liu2024
    artefact: noise
    kind: gaussian-calibration
    title: Noise
    grid: {epsilon: [0.5, 1.0], delta: [1.0e-6]}
"""
PARTS = {f"evaluate study=toy-study, part={name}" for name in ("prefix", "random-signs", "mine")}
AFTER = {"tabulate study=toy-study", "draw study=toy-study"}


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy with the toy as a kind more: a module."""
    folder = copy_of_project(tmp_path_factory.mktemp("experiments"))
    room = folder / "src/factormech/studies"
    shutil.copy(ROOT / "tests/experiments/toy.py", room / "toy.py")
    (folder / "config.yaml").write_text(CONFIG)
    (folder / "mine.csv").write_text("1,0,0,0\n1,1,0,0\n0,2,0,3\n")
    return folder


@pytest.fixture(scope="module")
def project(copied: Path) -> Path:
    """The same copy, in which everything has been made once."""
    made(copied, "all", "figures/quick/toy-study.pdf")
    return copied


@pytest.mark.slow
def test_the_added_kind_is_planned(copied: Path) -> None:
    """As planned on a copy without results; the slow tests run the jobs."""
    calibration = {"evaluate study=calibration, part=all", "tabulate study=calibration", "draw study=calibration"}
    assert planned(copied) == PARTS | AFTER | calibration


def test_a_setting_that_the_added_kind_lacks_is_refused(copied: Path) -> None:
    old, new = "p: [2.0, inf]", "p: [2.0, inf]}\n    scale: 3\n    options: {"
    assert old in CONFIG
    with edited(copied / "config.yaml", CONFIG.replace(old, new, 1)):
        done = snakemake(copied, "all", "--dry-run")
    assert done.returncode != 0
    assert "studies.toy-study.options = {}: must be a known setting;" in done.stderr + done.stdout


@pytest.mark.slow
def test_everything_is_made_once(project: Path) -> None:
    for study in ("toy-study", "calibration"):
        for suffix in ("pdf", "svg", "png", "txt"):
            assert (project / f"figures/{study}.{suffix}").stat().st_size > 0
        stored = hdf5.read(project / f"results/{study}.h5", "table")
        assert len(stored["table"]) == {"toy-study": 12, "calibration": 4}[study]
        assert (project / f"results/tables/{study}.tex").read_text().startswith("% The table of ")
    header = (project / "results/tables/toy-study.csv").read_text().partition("\n")[0]
    assert header == "study,kind,workload,domain_size,p,method,l2_error,low,high,lower_bound,reason,origin"
    assert "Of no use. Values of no worth." in (project / "figures/toy-study.txt").read_text()
    assert factormech.load(project / "results/tables/calibration.csv").equals(
        factormech.load(project / "results/calibration.h5")
    )
    assert planned(project) == set()


@pytest.mark.slow
def test_a_part_says_what_it_was_asked(project: Path) -> None:
    record = hdf5.read(project / "results/parts/toy-study/mine.h5", "part")
    asked = record.attributes["asked"]
    assert asked["grid"]["workload"] == ["mine"]
    assert asked["definitions"] == {"mine": {"file": "mine.csv"}}
    assert (record.attributes["study"], record.attributes["part"]) == ("toy-study", "mine")
    assert len(record.attributes["code"]) == 12
    assert record["rows"]["l2_error"].dropna().between(18.0, 19.0).all()  # three queries, squared, twice, and noise


@pytest.mark.slow
def test_another_run_gives_equal_bytes(project: Path) -> None:
    names = [
        *("results/parts/toy-study/random-signs.h5", "results/tables/toy-study.csv", "results/toy-study.h5"),
        *("results/tables/toy-study.tex", "figures/toy-study.svg", "figures/toy-study.pdf", "figures/toy-study.txt"),
    ]
    before = {name: (project / name).read_bytes() for name in names}
    made(project, "toy-study", "--forceall")
    assert {name: (project / name).read_bytes() for name in names} == before
    assert planned(project) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "stale"),
    [
        ("p: [2.0, inf]", "p: [2.0]", PARTS | AFTER),
        ("[prefix, random-signs, mine]", "[random-signs, mine]", AFTER),
        (
            "[prefix, random-signs, mine]",
            "[prefix, random-signs, mine, histogram]",
            {"evaluate study=toy-study, part=histogram", *AFTER},
        ),
        ("kind: toy\n", "kind: toy\n    methods: [analytic]\n", PARTS | AFTER),
        ("title: Toy", "title: Other", {"draw study=toy-study"}),
        ("studies:", "seed: 1\nstudies:", PARTS | AFTER),
        ("[0.5, 1.0]", "[0.5]", {"evaluate study=calibration, part=all", "tabulate study=calibration"}),
    ],
)
def test_a_changed_setting_makes_its_parts_again(project: Path, old: str, new: str, stale: set[str]) -> None:
    """And no others: the seed is nothing to what is not random."""
    assert old in CONFIG
    with edited(project / "config.yaml", CONFIG.replace(old, new, 1)):
        assert planned(project) - {"draw study=calibration"} == stale


@pytest.mark.slow
def test_a_changed_matrix_makes_its_part_again(project: Path) -> None:
    with edited(project / "mine.csv", "1,0,0,0\n"):
        assert planned(project) == {"evaluate study=toy-study, part=mine", *AFTER}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "stale"),
    [
        ("src/factormech/studies/toy.py", PARTS | AFTER),
        ("src/factormech/studies/registry.py", set()),
        ("src/factormech/plots/declared.py", {"draw study=toy-study", "draw study=calibration"}),
        ("src/factormech/mechanisms/local/hadamard.py", set()),
        ("src/factormech/config/kinds.py", set()),
    ],
)
def test_changed_code_makes_what_depends_on_it_again(project: Path, file: str, stale: set[str]) -> None:
    with edited(project / file, (project / file).read_text() + "\nOTHER = 1\n"):
        assert planned(project) == stale


@pytest.mark.slow
def test_a_part_of_another_study_is_refused(project: Path) -> None:
    """By the job itself, in one line."""
    forms = [word for name in ("csv", "latex", "hdf5") for word in (f"--{name}", f"out.{name}")]
    command = [sys.executable, "-m", "factormech.pipeline.tabulate", "--kind", "gaussian-calibration"]
    asked = hdf5.read(project / "results/calibration.h5", "table").attributes["asked"]
    command += ["--study", "other", "--asked", json.dumps(asked), "--parts", "results/parts/calibration/all.h5", *forms]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "must be a part of study other" in done.stderr
    assert not list(project.glob("out.*"))
