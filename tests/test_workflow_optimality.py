"""Gaps, starts and times through the workflow, run twice: the same bytes but for what a clock wrote, and only there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import factormech
from factormech.studies.timing import CLOCK
from tests.test_workflow import copy_of_project, edited, made, planned, snakemake

pytestmark = pytest.mark.workflow

CONFIG = """
studies:
  gap:
    paper: mckenna2020
    artefact: beyond Figure 1
    kind: optimality-gap
    title: Gap
    grid: {workload: [prefix], domain_size: [8], epsilon: [1.0, 2.0]}
    mechanisms: [subset-selection, adaptive-pgd]
    bounds: [svd, parametric]
  beginnings:
    paper: mckenna2020
    artefact: Figure 3b
    kind: initialisation
    title: Starts
    grid: {workload: [prefix, histogram], domain_size: [8], epsilon: [1.0]}
    mechanisms: [adaptive-pgd]
    rows: [2, 4]
    starts: 2
  times:
    paper: mckenna2020
    artefact: Figure 3c
    kind: timing
    title: Times
    grid: {workload: [prefix], domain_size: [8, 16], epsilon: [1.0]}
    mechanisms: [adaptive-pgd]
    gaps: [1.2, 2.0]
    iteration_sizes: [8, 16]
  band:
    paper: mckenna2020
    artefact: Figure 1
    kind: sample-complexity
    title: Band
    grid: {workload: [prefix], domain_size: [8], epsilon: [1.0, 2.0]}
    mechanisms: [subset-selection, hadamard, adaptive-pgd]
    compare: subset-selection
    exclude: [adaptive-pgd]
    band: true
"""
STUDIES = ("gap", "beginnings", "times", "band")
# Made from a clock's numbers: the only results of the project that another run does not repeat byte for byte.
EXEMPT = re.compile(
    r"results/(times\.h5|tables/times\.(csv|tex)|parts/times/.*|(benchmarks|logs)/.*)"
    r"|figures/times\.(svg|pdf|png)"
)


def run(folder: Path) -> Path:
    copy_of_project(folder)
    (folder / "config.yaml").write_text(CONFIG)
    made(folder, "all")
    return folder


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("first"))


@pytest.mark.slow
def test_every_rule_has_its_jobs(tmp_path: Path) -> None:
    """As planned on a copy without results; the slow tests run them."""
    copy_of_project(tmp_path)
    (tmp_path / "config.yaml").write_text(CONFIG)
    rules = Counter(job.partition(" ")[0] for job in planned(tmp_path))
    assert rules == {"evaluate": 13, "tabulate": 4, "derive": 1, "draw": 4}


@pytest.mark.slow
def test_tables_and_figures_are_made_once(project: Path) -> None:
    for study in STUDIES:
        for suffix in ("pdf", "svg", "png", "txt"):
            assert (project / f"figures/{study}.{suffix}").stat().st_size > 0
        table = factormech.load(project / f"results/tables/{study}.csv")
        assert factormech.load(project / f"results/{study}.h5").equals(table)
        assert (project / f"results/tables/{study}.tex").read_text().startswith("% The table of ")
    assert planned(project) == set()


@pytest.mark.slow
def test_numbers_are_of_the_grid(project: Path) -> None:
    gap, starts, times, band = (factormech.load(project / f"results/tables/{study}.csv") for study in STUDIES)
    assert len(gap) == 2 * 2
    assert (gap["ratio_to_bound"] > 1).all()
    assert gap.loc[gap["mechanism"] == "adaptive-pgd", "rows"].between(8, 32).all()
    assert len(starts) == 2 * 2 * 2
    assert (starts["rows"] <= 8 * starts["row_factor"]).all()
    assert times["quantity"].tolist() == ["iteration"] * 2 + ["to-gap"] * 4
    assert times.loc[times["gap"] == 2.0, "seconds"].gt(0).all()
    solved = band["mechanism"] == "adaptive-pgd"
    assert band.loc[solved, "rows"].between(8, 32).all()
    assert band.loc[~solved, "rows"].isna().all()
    improvement = factormech.load(project / "results/tables/band-improvement.csv")
    assert set(improvement["excluded"]) == {"adaptive-pgd"}
    assert set(improvement["competitor"]) == {"hadamard"}
    assert "lies in the band" in (project / "figures/band.txt").read_text()


@pytest.mark.slow
def test_only_clocks_differ_in_another_run(project: Path, tmp_path: Path) -> None:
    again = run(tmp_path)
    files = [p for room in ("results", "figures") for p in sorted((again / room).rglob("*")) if p.is_file()]
    names = [str(path.relative_to(again)) for path in files]
    kept = [name for name in names if not EXEMPT.fullmatch(name)]
    kept = [name for name in kept if "seals/" not in name or "times" not in name]  # digests of what has clocks in it
    assert len(kept) > 20
    for name in kept:
        assert (again / name).read_bytes() == (project / name).read_bytes(), name
    one, other = (factormech.load(folder / "results/tables/times.csv") for folder in (project, again))
    same = [column for column in one.columns if column not in {*CLOCK, "origin"}]
    assert one[same].equals(other[same])
    assert not one["seconds"].equals(other["seconds"])


@pytest.mark.slow
def test_a_clock_leaves_cores_to_others(project: Path) -> None:
    """Seconds are of the processor: the rules that count them need no machine of their own."""
    done = snakemake(project, "times", "--forceall", "--dry-run", "--cores", "2")
    for body in re.findall(r"^rule evaluate:\n((?:    .*\n)+)", done.stdout + done.stderr, re.MULTILINE):
        threads = re.search(r"threads: (\d+)", body)
        assert threads is None or threads[1] == "1"


@pytest.mark.slow
def test_what_depends_on_the_optimiser_is_made_again(project: Path) -> None:
    module = project / "src/factormech/mechanisms/local/adaptive_pgd.py"
    with edited(module, module.read_text() + "\nOTHER = 1\n"):
        jobs = planned(project)
    assert "evaluate study=beginnings, part=adaptive-pgd_prefix" in jobs
    assert "evaluate study=times, part=adaptive-pgd_prefix" in jobs
    assert "evaluate study=gap, part=adaptive-pgd" in jobs
    assert "evaluate study=gap, part=subset-selection" not in jobs
