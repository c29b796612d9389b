"""The workflow itself, on a copy of the project with a small configuration: what it makes, what it makes again."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import pytest

import factormech
from tests import snakemake_forks

pytestmark = pytest.mark.workflow

ROOT = Path(__file__).resolve().parent.parent
CONFIG = """
studies:
  small:
    paper: mckenna2020
    artefact: Figure 1
    kind: sample-complexity
    title: Small
    caption: A small study.
    grid: {workload: [histogram, prefix], domain_size: [8], epsilon: [0.5, 1.0]}
    mechanisms: [randomized-response, hadamard, hierarchical]
    alpha: 0.01
  other:
    paper: edmonds2020
    artefact: Table 1
    kind: sample-complexity
    title: Other
    caption: ""
    grid: {workload: [prefix], domain_size: [8, 16], epsilon: [1.0]}
    mechanisms: [subset-selection, fourier-3]
    alpha: 0.01
    quick: {grid: {domain_size: [4, 8]}}
"""
# Those of a batch are indented, each under its rule.
JOBS = re.compile(r"^(?P<margin> *)(?:local)?rule (?P<rule>\S+):\n(?P<said>(?:(?P=margin)    .*\n)+)", re.MULTILINE)


def copy_of_project(folder: Path) -> Path:
    """The tracked files, with a configuration of their own, and the byte code that Python has compiled of them."""
    names = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    names += [str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.pyc")]
    for name in filter(None, names):
        if name.split("/")[0] in {"src", "workflow", "Snakefile", "environment.yml", "profiles"}:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    (folder / "config.yaml").write_text(CONFIG)
    return folder


def snakemake(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Snakemake on the copy, with the copy's own package."""
    bin_folder = Path(sys.executable).parent
    environment = os.environ | {
        "PYTHONPATH": str(folder / "src"),
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONDONTWRITEBYTECODE": "",  # the jobs of a run import the same modules
    }
    return snakemake_forks.run(folder, ("--cores", "2", *arguments), environment)


def made(folder: Path, *targets: str) -> None:
    """Make the targets; where that fails, show the end of what Snakemake said."""
    done = snakemake(folder, *targets, "--quiet", "rules", "--show-failed-logs")
    assert done.returncode == 0, done.stderr[-2000:]


def planned(folder: Path, *targets: str) -> set[str]:
    """The jobs of a dry run, as ``rule`` or ``rule wildcards``, the targets' own left out."""
    return jobs_of(snakemake(folder, *(targets or ("all",)), "--dry-run"))


def jobs_of(done: subprocess.CompletedProcess[str]) -> set[str]:
    """The jobs that a dry run lists."""
    assert done.returncode == 0, done.stderr[-2000:]
    jobs = set()
    for job in JOBS.finditer(done.stdout + done.stderr):
        wildcards = re.search(r"wildcards: (.*)", job["said"])
        if wildcards:
            jobs.add(f"{job['rule']} {wildcards[1]}")
    return jobs


@contextmanager
def edited(path: Path, new: str) -> Iterator[None]:
    """A file with another content; on leaving, content and time stamp are as they were."""
    original, stamp = path.read_bytes(), path.stat().st_mtime_ns
    try:
        path.write_text(new)
        yield
    finally:
        path.write_bytes(original)
        os.utime(path, ns=(stamp, stamp))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy in which everything has been made once."""
    folder = copy_of_project(tmp_path_factory.mktemp("project"))
    made(folder, "all", "quick")
    return folder


def test_everything_is_made(project: Path) -> None:
    for study in ("small", "other", "quick/small", "quick/other"):
        for suffix in ("pdf", "svg", "png", "txt"):
            assert (project / f"figures/{study}.{suffix}").stat().st_size > 0
        table = factormech.load(project / f"results/tables/{study}.csv")
        assert set(table["study"]) == {study}
        stored = factormech.load(project / f"results/{study}.h5")
        assert stored.equals(table)
        assert (project / f"results/tables/{study}.tex").read_text().startswith("% The table of ")
    small = factormech.load(project / "results/tables/small.csv")
    assert len(small) == 2 * 2 * (3 + 2)
    histogram = small[(small["workload"] == "histogram") & (small["mechanism"] == "randomized-response")]
    for row in histogram.itertuples():
        a = np.expm1(row.epsilon)
        expected = 7 / (0.01 * 8) * (8 / a**2 + 2 / a)
        assert row.sample_complexity == pytest.approx(expected, rel=1e-9)
        assert row.lower_bound <= row.sample_complexity
    quick = factormech.load(project / "results/tables/quick/other.csv")
    assert sorted(set(quick["domain_size"])) == [4, 8]
    refused = factormech.load(project / "results/tables/other.csv").query("status == 'refused'")
    assert set(refused["mechanism"]) == {"fourier-3"}
    assert set(refused["domain_size"]) == {16}
    assert refused["reason"].str.contains("relative residual").all()


def test_files_explain_themselves(project: Path) -> None:
    """With nothing but h5py: parameters, versions, digest of the code."""
    with h5py.File(project / "results/parts/small/hadamard.h5") as file:
        attributes = dict(file.attrs)
    assert attributes["kind"] == "part"
    assert (attributes["study"], attributes["part"]) == ("small", "hadamard")
    assert json.loads(attributes["asked"])["grid"]["epsilon"] == [0.5, 1.0]
    assert len(attributes["code"]) == 12
    assert attributes["package_version"] == factormech.__version__
    assert str(attributes["blas_threads"]) == "1"
    assert {"numpy", "scipy", "h5py"} <= {name.removesuffix("_version") for name in attributes}


@pytest.mark.slow
def test_nothing_is_made_twice(project: Path) -> None:
    assert planned(project) == set()
    assert planned(project, "quick") == set()
    stamps = {path: path.stat().st_mtime_ns for path in (project / "src").rglob("*.py")}
    try:
        for path in stamps:  # a fresh checkout changes every time stamp
            os.utime(path)
        assert planned(project) == set()
    finally:
        for path, stamp in stamps.items():
            os.utime(path, ns=(stamp, stamp))


def test_targets_are_known_by_their_names(project: Path) -> None:
    targets = ("figures", "tables", "mckenna2020", "edmonds2020", "small", "quick")
    assert planned(project, *targets) == set()
    assert snakemake(project, "nonsense", "--dry-run").returncode == 1


LEDGER = """\
paper: liu2024
claims:
  liu2024-small:
    kind: measured
    where: here
    claim: subset selection needs users
    study: [other]
    measure:
      name: value
      points: 1
      of: {where: {mechanism: subset-selection, domain_size: 16}, value: sample_complexity}
    expect: {at_least: 1, because: it answers}
  liu2024-elsewhere:
    kind: measured
    where: there
    claim: so it is
    study: [not-here]
    measure: {name: value, points: 1, of: {value: error}}
    expect: {at_least: 0, because: it is}
"""


@pytest.mark.slow
def test_claims_are_judged_on_the_studies_that_are_there(project: Path) -> None:
    """In the full run and in the quick one, whose grid may be too small for a verdict."""
    ledger = project / "studies/liu2024.claims.yaml"
    ledger.parent.mkdir(exist_ok=True)
    try:
        ledger.write_text(LEDGER)
        assert planned(project) == {"judge folder="}
        made(project, "claims", "quick")
        full, quick = ((project / f"results/{folder}claims.csv").read_text() for folder in ("", "quick/"))
        assert "liu2024-small,liu2024,here,measured,reproduced," in full
        assert "liu2024-small,liu2024,here,measured,not evaluated," in quick
        assert "the study not-here was not made" in full
        assert "reproduced                         1\n" in (project / "results/logs/judge/claims.log").read_text()
        assert not planned(project)
        ledger.write_text("claims: {}")
        assert "claims" in snakemake(project, "all", "--dry-run").stderr
    finally:
        ledger.unlink()
        for folder in ("", "quick/"):
            (project / f"results/{folder}claims.csv").unlink(missing_ok=True)
            (project / f"results/{folder}claims.md").unlink(missing_ok=True)


def test_plain_snakemake_makes_all(project: Path) -> None:
    module = project / "src/factormech/plots/style.py"
    with edited(module, module.read_text() + "\nOTHER = 1\n"):
        plain, everything = (snakemake(project, *targets, "--dry-run") for targets in ((), ("all",)))
    assert plain.returncode == 0, plain.stderr[-2000:]
    jobs = re.compile(r"^(rule|localrule) (\w+):", re.M)
    found = [sorted(jobs.findall(done.stdout + done.stderr)) for done in (plain, everything)]
    assert ("rule", "draw") in found[0]
    # The targets themselves aside: the one that the file at the top has for Snakemake's default repeats the other.
    assert [one for one in found[0] if one[1] != "default"] == [one for one in found[1] if one[1] != "all"]


HADAMARD_AND_WHAT_USES_IT = {
    "evaluate study=small, part=hadamard",
    "evaluate study=small, part=hierarchical",
    "tabulate study=small",
    "draw study=small",
}


@pytest.mark.slow
def test_a_changed_mechanism_makes_its_dependents_stale_and_nothing_else(project: Path) -> None:
    """With Snakemake's memory of earlier runs and without it; then back, and nothing is stale any more."""
    module = project / "src/factormech/mechanisms/local/hadamard.py"
    memory = project / ".snakemake/metadata"
    with edited(module, module.read_text() + "\nOTHER = 1\n"):
        assert planned(project) == HADAMARD_AND_WHAT_USES_IT
        memory.rename(memory.with_name("lost"))
        try:
            assert planned(project) == HADAMARD_AND_WHAT_USES_IT
        finally:
            shutil.rmtree(memory, ignore_errors=True)
            memory.with_name("lost").rename(memory)
    assert planned(project) == set()


@pytest.mark.slow
def test_a_change_under_an_old_time_stamp_is_seen(project: Path) -> None:
    """A copied or unpacked file may be older than the results: the digest sees it all the same."""
    module = project / "src/factormech/mechanisms/local/hadamard.py"
    old = module.stat().st_mtime - 10**6
    with edited(module, module.read_text() + "\nOTHER = 1\n"):
        os.utime(module, (old, old))
        assert planned(project) == HADAMARD_AND_WHAT_USES_IT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "stale"),
    [
        ("workloads/ranges.py", {"evaluate", "tabulate", "draw"}),
        pytest.param("bounds/spectral.py", {"evaluate", "tabulate", "draw"}, marks=pytest.mark.slow),
        pytest.param("plots/style.py", {"draw"}, marks=pytest.mark.slow),  # test_plain_snakemake_makes_all edits it
        ("mechanisms/local/registry.py", set()),
        pytest.param("cli/norms.py", set(), marks=pytest.mark.slow),
        ("labels.py", {"tabulate", "draw"}),
    ],
)
def test_what_depends_on_a_module_is_made_again(project: Path, file: str, stale: set[str]) -> None:
    module = project / "src/factormech" / file
    with edited(module, module.read_text() + "\nOTHER = 1\n"):
        assert {job.partition(" ")[0] for job in planned(project)} == stale


@pytest.mark.slow
def test_another_target_error_makes_only_tables_and_figures_again(project: Path) -> None:
    config = project / "config.yaml"
    with edited(config, config.read_text().replace("alpha: 0.01", "alpha: 0.02", 1)):
        assert planned(project) == {"tabulate study=small", "draw study=small"}


@pytest.mark.slow
def test_the_grid_of_one_study_can_be_overridden_alone(project: Path) -> None:
    """From the command line, numbers inside ``--config`` included; the other study stays as it is."""
    done = snakemake(project, "all", "--dry-run", "--config", "studies={small: {grid: {epsilon: [2.5], seed: [1]}}}")
    assert done.returncode == 0, done.stderr[-2000:]
    report = done.stdout + done.stderr
    wildcards = {match[1] for match in re.finditer(r"wildcards: (.*)", report)}
    assert "study=small, part=hadamard" in wildcards
    assert not any("study=other" in found for found in wildcards)


@pytest.mark.slow
def test_a_figure_is_drawn_again_from_its_csv_alone(project: Path, tmp_path: Path) -> None:
    shutil.copy(project / "results/tables/small.csv", tmp_path / "small.csv")
    subprocess.run(
        [
            *(sys.executable, "-m", "factormech.pipeline.draw", "--kind", "sample-complexity"),
            *("--title", "Small", "--caption", "A small study.", "small.csv", "again"),
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(project / "src")},
        check=True,
    )
    for suffix in ("svg", "pdf", "png", "txt"):
        assert (tmp_path / f"again.{suffix}").read_bytes() == (project / f"figures/small.{suffix}").read_bytes()


@pytest.mark.slow
def test_equal_inputs_give_equal_files(project: Path, tmp_path: Path) -> None:
    """Another folder, another run: byte for byte the same results and figures."""
    again = copy_of_project(tmp_path)
    made(again, "small")
    for folder in ("results/parts/small", "results/tables", "figures"):
        for path in sorted((again / folder).rglob("*")):
            if path.is_file():
                relative = path.relative_to(again)
                assert path.read_bytes() == (project / relative).read_bytes(), relative


def test_a_bad_configuration_is_answered_in_lines(project: Path) -> None:
    """All problems at once, before anything is planned; no traceback; exit 1."""
    bad = "{small: {alpha: -1, grid: {workload: [prefixx], epsilon: [0]}, epsilson: 3}}"
    done = snakemake(project, "all", "--config", f"studies={bad}")
    output = done.stdout + done.stderr
    assert done.returncode == 1
    assert "Traceback" not in output
    lines = [line for line in output.splitlines() if line.startswith("config: ")]
    for part in ("alpha = -1", "did you mean 'prefix'", "epsilon[0] = 0", "epsilson"):
        assert any(part in line for line in lines), (part, output)


@pytest.mark.slow
def test_a_damaged_result_is_to_be_made_again(project: Path) -> None:
    """A bit that turned over under an old time stamp, in a file that everything was already made from."""
    path = project / "results/parts/small/hadamard.h5"
    whole, stamp = path.read_bytes(), path.stat().st_mtime_ns
    path.write_bytes(whole[:-100] + bytes([whole[-100] ^ 1]) + whole[-99:])
    os.utime(path, ns=(stamp, stamp))
    done = snakemake(project, "all")
    assert done.returncode == 0, done.stderr[-2000:]
    assert "to be made again: results/parts/small/hadamard.h5" in done.stderr
    assert path.read_bytes() == whole
    assert {"evaluate", "tabulate", "draw"} <= set(re.findall(r"\(Rule: (\w+)\)", done.stdout + done.stderr))
    assert planned(project) == set()


ON_DATA = """
data_source: SOURCE
studies:
  users-on-data:
    paper: mckenna2020
    artefact: Figure 3a
    kind: data-dependent
    title: On data
    grid: {workload: [prefix], domain_size: [16], epsilon: [1.0], data: [hepth, nettrace]}
    mechanisms: [hadamard]
  gain:
    paper: mckenna2020
    artefact: full version
    kind: consistency
    title: Gain
    grid: {workload: [prefix], domain_size: [16], epsilon: [1.0], users: [100, 1000], data: [nettrace]}
    mechanisms: [hadamard]
    trials: 3
"""


def without_data(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Snakemake on the copy where the environment names no folder of data sets."""
    named = os.environ.pop("FACTORMECH_DATA", None)
    try:
        return snakemake(folder, *arguments, "--show-failed-logs")
    finally:
        if named is not None:
            os.environ["FACTORMECH_DATA"] = named


@pytest.mark.slow
def test_studies_on_data_sets(tmp_path: Path) -> None:
    """Without data, stand-ins, called so; where a folder is named, what it lacks is answered before anything runs."""
    folder = copy_of_project(tmp_path)
    (folder / "config.yaml").write_text(ON_DATA.replace("SOURCE", "http://127.0.0.1:9/"))
    done = without_data(folder, "all")
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    table = factormech.load(folder / "results/tables/users-on-data.csv")
    assert set(table["data"]) == {"hepth-standin", "nettrace-standin", "worst-case"}
    assert set(factormech.load(folder / "results/tables/gain.csv")["data"]) == {"nettrace-standin"}
    for study in ("users-on-data", "gain"):
        assert "NETTRACE (stand-in): SYNTHETIC data" in (folder / f"figures/{study}.txt").read_text()
    (folder / "data").mkdir()
    done = without_data(folder, "all")
    assert done.returncode == 1
    assert "HEPTH.n4096.npy" in done.stdout + done.stderr
    assert "run 'snakemake data'" in done.stdout + done.stderr
    assert factormech.load(folder / "results/tables/users-on-data.csv").equals(table)
    # Nothing answers at the address: one line, and nothing is left behind.
    done = without_data(folder, "data")
    assert done.returncode == 1
    assert "be a file that can be fetched" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert list((folder / "data").iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif("FACTORMECH_DATA" not in os.environ, reason="FACTORMECH_DATA names no folder")
def test_snakemake_data_fetches_what_studies_then_use(tmp_path: Path) -> None:
    """From a server on loopback, which has the real files."""
    import functools
    import http.server
    import threading

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    folder = copy_of_project(tmp_path)
    handler = functools.partial(Quiet, directory=os.environ["FACTORMECH_DATA"])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        source = f"http://127.0.0.1:{server.server_address[1]}/"
        (folder / "config.yaml").write_text(ON_DATA.replace("SOURCE", source))
        try:
            done = without_data(folder, "data")
        finally:
            server.shutdown()
            thread.join()
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert len(list((folder / "data").iterdir())) == 3
    done = without_data(folder, "results/tables/users-on-data.csv")
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    table = factormech.load(folder / "results/tables/users-on-data.csv")
    assert set(table["data"]) == {"hepth", "nettrace", "worst-case"}
