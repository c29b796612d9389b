"""What a run finds before it plans: others at work, leftovers of the dead, damaged and unfinished results."""

from __future__ import annotations

import errno
import os
import platform
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from factormech.errors import BadValue
from factormech.pipeline import recovery, starved
from factormech.store import atomic, hdf5

HOLD = """
import fcntl, sys, time
file = open(sys.argv[1], "a")
fcntl.flock(file, int(sys.argv[2]))
print("locked", flush=True)
time.sleep(60)
"""
SHARED, ALONE = 1, 2


@contextmanager
def locked(path: Path, how: int) -> Iterator[int]:
    """Another process, which has a lock until it is killed as by ``kill -9``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with subprocess.Popen([sys.executable, "-c", HOLD, path, str(how)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        try:
            yield process.pid
        finally:
            process.kill()


def test_a_second_run_is_told_who_is_at_work(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    with locked(notes / "run.lock", ALONE) as process:
        with pytest.raises(BadValue) as refusal:
            recovery.claim(tmp_path, notes)
        assert f"another run ({process})" in str(refusal.value)
        assert f"kill {process}" in str(refusal.value)
        assert "\n" not in str(refusal.value)
    run = recovery.claim(tmp_path, notes)  # the kernel has given it back
    assert run is not None
    with pytest.raises(BadValue, match="another run"):
        recovery.claim(tmp_path, notes)
    run.close()
    again = recovery.claim(tmp_path, notes)
    assert again is not None
    again.close()


def test_jobs_that_outlive_their_run_are_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = tmp_path / "notes"
    with locked(notes / "jobs.lock", SHARED) as process:
        with pytest.raises(BadValue, match=rf"jobs of a run that was killed \({process}\)"):
            recovery.claim(tmp_path, notes)
        assert recovery.holders(notes / "run.lock") == []  # a refusal holds nothing
    dead = recovery.claim(tmp_path, notes)
    assert dead is not None
    monkeypatch.setenv(recovery.VARIABLE, recovery.ticket(notes))
    with recovery.job(), recovery.job():  # the run's own
        with pytest.raises(BadValue, match="another run"):
            recovery.claim(tmp_path, notes)
        dead.close()
        with pytest.raises(BadValue, match="jobs of a run"):
            recovery.claim(tmp_path, notes)
    run = recovery.claim(tmp_path, notes)
    assert run is not None
    with pytest.raises(BadValue, match="run of this job = 'over'"), recovery.job():  # of the dead run, and late
        raise AssertionError("a job of a dead run beside a living one")
    run.close()
    monkeypatch.setenv(recovery.VARIABLE, f"0 {tmp_path / 'none' / 'there'}")
    with pytest.raises(ValueError, match="mine"), recovery.job():
        raise ValueError("mine")


def test_the_last_run_was_on_this_machine(tmp_path: Path) -> None:
    run = recovery.claim(tmp_path, tmp_path)
    assert run is not None
    assert not recovery.was_here(run)
    assert recovery.was_here(run)
    run.truncate(0)
    run.write("another\n")
    run.flush()
    assert not recovery.was_here(run)
    run.close()


def test_only_what_the_dead_of_this_machine_left_is_swept(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    here = f"{zlib.crc32(platform.node().encode()):08x}"
    dead = tmp_path / "a" / f".x.h5.{here}-{process.pid}-0123abcd.tmp"
    others = [
        tmp_path / f".x.h5.{here}-{os.getpid()}-0123abcd.tmp",
        tmp_path / f".x.h5.{'0' * 8}-{process.pid}-0123abcd.tmp",
        tmp_path / ".mine.tmp",
        tmp_path / "x.h5",
    ]
    dead.parent.mkdir()
    for path in (dead, *others):
        path.touch()
    assert atomic.sweep(tmp_path) == [dead]
    assert not dead.exists()
    assert all(path.exists() for path in others)
    with atomic.replacing(tmp_path / "y") as temporary:
        temporary.touch()
        assert atomic.sweep(tmp_path) == []
        assert temporary.name.startswith(f".y.{here}-{os.getpid()}-")


def test_a_place_is_no_place_of_a_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal results of equal relative places have equal bytes in any folder."""
    contents = set()
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        monkeypatch.chdir(folder)
        hdf5.write("results/x.h5", "measurement", datasets={"x": np.ones(3)}, attributes={})
        contents.add(Path("results/x.h5").read_bytes())
        hdf5.write(folder / "x.h5", "measurement", datasets={"x": np.ones(3)}, attributes={})
        contents.add(Path("x.h5").read_bytes())
    assert len(contents) == 2


def test_a_disk_without_room_or_rights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recovery.check_writable(tmp_path / "not" / "yet", tmp_path)
    monkeypatch.setattr(recovery, "ROOM", 2**60)
    with pytest.raises(BadValue, match=r"MiB of free disk.*free some space"):
        recovery.check_writable(tmp_path)
    assert "free some space" in recovery.after_failure(tmp_path)
    monkeypatch.setattr(recovery, "ROOM", 0)
    assert recovery.after_failure(tmp_path).startswith("some jobs failed: ")
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(BadValue, match="read-only"):
        recovery.check_writable(tmp_path)
    assert "give yourself the right" in recovery.after_failure(tmp_path)


def test_the_errors_of_failed_jobs_are_found_in_their_logs(tmp_path: Path) -> None:
    logs = {
        "solve/a.log": "error: Q.h5 = 'full': must have room; free some space\n",
        "solve/b.log": "Traceback (most recent call last):\n  …\nZeroDivisionError: division by zero\n",
        "solve/c.log": "error: caught, and gone on\nprocessor: 0.3 s to start, 0.5 s of work\n",
        "draw/d.log": "",
        "draw/old.log": "error: of an earlier run\n",
    }
    for name, text in logs.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    os.utime(tmp_path / "draw/old.log", (1000.0, 1000.0))
    assert recovery.errors_in(tmp_path, 2000.0) == [
        f"{tmp_path / 'solve/a.log'}: error: Q.h5 = 'full': must have room; free some space",
        f"{tmp_path / 'solve/b.log'}: ZeroDivisionError: division by zero",
    ]
    for k in range(7):
        (tmp_path / f"{k}.log").write_text("error: again\n")
    found = recovery.errors_in(tmp_path, 2000.0)
    assert len(found) == recovery.SHOWN + 1
    assert found[-1] == "… and 4 more"
    assert recovery.errors_in(tmp_path / "none", 0.0) == []


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (BadValue("a", 1, "be 2", "make it so"), "a = 1: must be 2; make it so"),
        (MemoryError(), "memory = 'exhausted'"),
        (MemoryError("Unable to allocate 8. GiB"), "Unable to allocate"),
        (ImportError("lib.so: failed to map segment from shared object"), "memory = "),
        (OSError(errno.ENOSPC, "No space left on device", "x.h5"), "x.h5 = 'full'"),
        (OSError("Can't write data (errno = 28, error message = 'No space left on device')"), "free some space"),
        (RuntimeError("Unable to flush file (file write failed: errno = 28)"), "free some space"),
        (OSError(errno.EROFS, "Read-only file system", "x.h5"), "x.h5 = 'no right to write'"),
        (PermissionError(errno.EACCES, "Permission denied", "x.h5"), "be writable"),
    ],
)
def test_failures_that_are_not_of_the_code_are_one_line(error: Exception, words: str) -> None:
    line = recovery.line_of(error)
    assert line is not None
    assert words in line
    assert "\n" not in line


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), RuntimeError("x"), OSError(errno.EIO, "x")])
def test_failures_of_the_code_keep_their_traceback(error: Exception) -> None:
    assert recovery.line_of(error) is None


def test_a_refusal_ends_a_program_with_its_line() -> None:
    full = r"^error: disk = 'full': must have room for the results; free some space"
    with pytest.raises(SystemExit, match=full), recovery.refusing():
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(SystemExit, match=r"^error: n = 0: must be positive; give 1$"), recovery.refusing():
        raise BadValue("n", 0, "be positive", "give 1")
    with pytest.raises(ZeroDivisionError), recovery.refusing():
        raise ZeroDivisionError


@pytest.mark.parametrize("mebibytes", [40, 170])  # at 170, OpenBLAS would try for ever to be loaded
def test_a_job_without_memory_for_its_libraries_says_so(mebibytes: int) -> None:
    done = subprocess.run(
        ["sh", "-c", f'ulimit -v {mebibytes << 10}; exec "$0" -m factormech.pipeline.evaluate', sys.executable],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr == (
        f"error: memory = {mebibytes} MiB: must have at least 320 MiB of address space; raise the limit (ulimit -v),"
        " and run the same command again\n"
    )


def test_a_library_that_cannot_be_loaded_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for error in (MemoryError(), ImportError("lib.so: failed to map segment from shared object")):
        starved.in_one_line(type(error), error, None)
        said = capsys.readouterr().err
        assert said.startswith("error: memory = ")
        assert said.count("\n") == 1
    error = ValueError("x")
    starved.in_one_line(ValueError, error, None)
    assert "ValueError: x" in capsys.readouterr().err
