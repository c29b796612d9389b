"""What is believed: outputs whose seal is of this request, and whose contents and inputs are those of the seal."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import factormech as fm
from factormech.code import Sources
from factormech.errors import BadValue
from factormech.pipeline import freshness
from factormech.pipeline.freshness import Job, Request, note, note_code, why_stale
from factormech.store import seals
from factormech.tables import kinds

REQUEST = Request(("results/table.csv", "results/table.tex"), ("matrix.csv",), {"epsilon": [1.0]}, "abc")
FILE, CODE = Path("request/table.json"), Path("code.json")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of work with a matrix, and the code behind a job."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "src"
    (folder / "pack").mkdir(parents=True)
    (folder / "pack" / "__init__.py").touch()
    (folder / "pack" / "job.py").write_text("value = 1\n")
    monkeypatch.setattr(freshness, "_SOURCE", folder)
    Path("matrix.csv").write_text("1,2\n")
    return folder


def planned(request: Request = REQUEST) -> str | None:
    """Plan: say why the outputs are stale, and write the file of the request."""
    note_code(Sources(freshness._SOURCE).code_of("pack.job"), CODE)
    stale = why_stale(request)
    note(request, FILE, CODE, stale)
    return stale


def work(content: str = "1\n") -> None:
    job = Job(FILE)
    for name in REQUEST.outputs:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(content)
    job.finish()


def is_newer() -> bool:
    """Whether the file of the request tells the workflow to make the outputs again."""
    return FILE.stat().st_mtime > max(Path(name).stat().st_mtime for name in REQUEST.outputs)


@pytest.fixture
def made(package: Path) -> Path:
    planned()
    work()
    return package


def test_what_a_job_has_sealed_is_fresh(made: Path) -> None:
    assert not is_newer()
    before = FILE.stat().st_ino
    assert planned() == planned() == None  # noqa: E711
    assert not is_newer()
    assert FILE.stat().st_ino != before  # it said why; from then on it is left alone
    before = FILE.stat().st_ino
    assert planned() is None
    assert FILE.stat().st_ino == before


def stamped(path: str, seconds: float) -> None:
    os.utime(path, (time.time() + seconds,) * 2)


def under_an_older_stamp(made: Path) -> Request:
    Path("matrix.csv").write_text("3,4\n")
    stamped("matrix.csv", -1e6)
    return REQUEST


def behind_results_from_the_future(made: Path) -> Request:
    for name in REQUEST.outputs:
        stamped(name, 3600)
    Path("matrix.csv").write_text("3,4\n")
    return REQUEST


def with_another_budget(made: Path) -> Request:
    return replace(REQUEST, parameters={"epsilon": [3.0]})


def with_other_code(made: Path) -> Request:
    return replace(REQUEST, code="abd")


def with_another_input(made: Path) -> Request:
    Path("other.csv").write_text("1,2\n")
    return replace(REQUEST, inputs=("other.csv",))


def with_an_input_more(made: Path) -> Request:
    return replace(REQUEST, inputs=("matrix.csv", "more.csv"))


def with_an_edited_table(made: Path) -> Request:
    Path("results/table.csv").write_text("2\n")
    return REQUEST


def with_a_damaged_second_output(made: Path) -> Request:
    Path("results/table.tex").write_bytes(b"")
    return REQUEST


def with_a_folder_for_a_file(made: Path) -> Request:
    Path("matrix.csv").unlink()
    Path("matrix.csv").mkdir()
    return REQUEST


def without_the_seal(made: Path) -> Request:
    shutil.rmtree("results/seals")
    return REQUEST


def with_a_forged_seal(made: Path) -> Request:
    Path("results/table.csv").write_text("2\n")
    seal = REQUEST.seal()
    said = json.loads(seal.read_bytes())
    said["outputs"]["results/table.csv"] = freshness.digest_of("results/table.csv")
    seal.write_text(json.dumps(said))
    return REQUEST


def with_a_seal_that_is_no_seal(made: Path) -> Request:
    REQUEST.seal().write_text("[" * 100_000)
    return REQUEST


CASES = [
    under_an_older_stamp,
    behind_results_from_the_future,
    with_another_budget,
    with_other_code,
    with_another_input,
    with_an_input_more,
    with_an_edited_table,
    with_a_damaged_second_output,
    with_a_folder_for_a_file,
    without_the_seal,
    with_a_forged_seal,
    with_a_seal_that_is_no_seal,
]


@pytest.mark.parametrize("change", CASES, ids=lambda change: change.__name__)
def test_what_is_not_asked_for_is_stale(made: Path, change: Callable[[Path], Request]) -> None:
    request = change(made)
    reason = planned(request) or ""
    assert reason
    assert "\n" not in reason
    assert is_newer()
    first = FILE.read_bytes()
    planned(request)
    assert FILE.read_bytes() != first, "the same content twice is no change to Snakemake"


def test_another_version_of_a_library_makes_stale(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "versions", lambda libraries: dict.fromkeys(libraries, "0"))
    assert planned() is not None


def test_only_figures_follow_the_plotting_library(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = replace(REQUEST, outputs=("figures/one.pdf",))
    before = REQUEST.digest(), drawn.digest()
    own = freshness.versions
    monkeypatch.setattr(freshness, "versions", lambda names: own(names) | {n: "0" for n in names if n == "matplotlib"})
    assert REQUEST.digest() == before[0]
    assert drawn.digest() != before[1]


@pytest.mark.parametrize("solver", ["clarabel", "cvxpy"])
def test_what_a_general_solver_computes_follows_its_version(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A linear or semidefinite program has other last digits with another version; other jobs are left alone."""
    module = {"clarabel": "factormech.norms.subsets.semidefinite", "cvxpy": "factormech.norms.semidefinite"}[solver]
    code = Sources().code_of(module)
    assert solver in code.libraries
    solved = replace(REQUEST, libraries=code.libraries)
    before = REQUEST.digest(), solved.digest()
    own = freshness.versions
    monkeypatch.setattr(freshness, "versions", lambda names: own(names) | {n: "0" for n in names if n == solver})
    assert REQUEST.digest() == before[0]
    assert solved.digest() != before[1]


@pytest.mark.parametrize("read", [fm.load, kinds.read_csv])
def test_an_edited_table_of_a_run_is_not_read(
    package: Path, read: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a reader who does not run the workflow: a manuscript, a notebook, the command line."""
    planned()
    frame = fm.compare(fm.workload("prefix", 4), 1.0, ["rappor"])
    work(frame.to_csv(index=False))
    table = Path(REQUEST.outputs[0])
    whole = table.read_text()
    elsewhere = package / "table.csv"
    elsewhere.write_text(whole.replace("rappor", "rapper", 1))
    seals.check_table(elsewhere)  # no table of a run
    for path in (table, table.absolute()):
        seals.check_table(path)
        table.write_text(whole.replace("rappor", "rapper", 1))
        with pytest.raises(BadValue, match=r"table\.csv = 'other bytes"):
            read(path)
        table.write_text(whole)
    monkeypatch.chdir("results")
    Path(table.name).write_text(whole + "1")
    with pytest.raises(BadValue, match="other bytes"):
        read(Path(table.name))


def test_a_job_that_was_killed_leaves_nothing_that_is_believed(made: Path) -> None:
    Job(FILE)
    assert planned() is not None
    for name in REQUEST.outputs:  # nor where what it was to make is not there, though what was made from it is
        Path(name).unlink()
    Path("made from them").touch()
    time.sleep(0.02)
    assert planned() is not None
    assert FILE.stat().st_mtime > Path("made from them").stat().st_mtime


def test_what_a_user_has_deleted_is_not_stale(made: Path) -> None:
    """The workflow makes it where it needs it; what was made from it stays."""
    for name in REQUEST.outputs:
        Path(name).unlink()
    assert planned() is None


def edited(path: Path) -> None:
    path.write_text("value = 2\n")


def edited_and_restored(path: Path) -> None:
    """With its old content, and its old time stamp."""
    content, status = path.read_bytes(), path.stat()
    path.write_text("value = 2\n")
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize("change", [edited, edited_and_restored, Path.unlink])
def test_a_job_refuses_code_that_was_not_planned(package: Path, change: Callable[[Path], None]) -> None:
    planned()
    code = package / "pack" / "job.py"
    time.sleep(0.02)  # more than the clock of a file system may stand still
    change(code)
    with pytest.raises(BadValue, match="edited since the run was planned"):
        Job(FILE)
    assert not REQUEST.seal().exists()


@pytest.mark.parametrize("change", [edited, edited_and_restored, Path.unlink])
def test_a_job_does_not_seal_what_other_code_may_have_made(package: Path, change: Callable[[Path], None]) -> None:
    planned()
    job = Job(FILE)
    time.sleep(0.02)
    change(package / "pack" / "job.py")
    with pytest.raises(BadValue, match="run the same command again"):
        job.finish()
    assert not REQUEST.seal().exists()


@pytest.mark.parametrize("change", [edited, edited_and_restored])
def test_a_job_does_not_seal_what_it_made_of_a_file_that_changed(package: Path, change: Callable[[Path], None]) -> None:
    """Also if the file is restored before the job ends: the job may have read what was there in between."""
    planned()
    job = Job(FILE)
    time.sleep(0.02)
    change(Path("matrix.csv"))
    with pytest.raises(BadValue, match=r"matrix\.csv"):
        job.finish()
    assert not REQUEST.seal().exists()


def test_code_elsewhere_is_compared_by_its_contents(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node of a cluster may have a copy of the package under another path."""
    planned()
    copy = package.with_name("copy")
    shutil.copytree(package, copy)
    monkeypatch.setattr(freshness, "_SOURCE", copy)
    Job(FILE)
    (copy / "pack" / "job.py").write_text("value = 2\n")
    with pytest.raises(BadValue):
        Job(FILE)
