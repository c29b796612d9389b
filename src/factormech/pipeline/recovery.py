"""What a run of the workflow does before it plans: it makes sure that it is alone, and tidies up after one that died.

A run that was killed (``kill -9``, a lost machine) leaves three things behind: jobs that go on without it, temporary
files beside results, and the locks of the workflow system. Two files are locked here with ``flock``, which the kernel
gives back when a process ends, however it ends: one by each run, the other, shared, by each of its jobs. Who gets both
knows that nobody else is at work in the folder, so that what is left there belongs to nobody. It writes a mark of its
own into the second file: a job of a dead run that had not locked it yet finds another mark than its run's, and ends.

Where a file system has no such locks, nothing is locked: the workflow system's own locks remain.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from factormech.errors import BadValue

# Where the jobs of a run find their ticket.
VARIABLE = "FACTORMECH_JOB"
# Free bytes below which no run begins (its first results and logs would fill the disk), and a failed one says so.
ROOM = 2**24
_RUN, _JOBS = "run.lock", "jobs.lock"
# How a log of a job that failed ends, and of how many such logs the last line is shown.
_ERROR = re.compile(r"error: |\w*(Error|Exception|Interrupt)\b")
SHOWN = 5
AGAIN = "run the same command again: what is complete is kept"


# Alone ------------------------------------------------------------------------------------------------------


def claim(folder: Path, notes: Path) -> IO[str] | None:
    """Make sure that no other run, and no job of a dead one, is at work in a folder, as long as the result is open.

    Parameters
    ----------
    folder
        The folder of the project, for the words of a refusal.
    notes
        Where the two locked files are; made if missing.

    Returns
    -------
    file or None
        The locked file; ``None`` where the file system has no locks.
    """
    notes.mkdir(parents=True, exist_ok=True)
    run = (notes / _RUN).open("a+", encoding="utf-8")
    try:
        _lock(run, folder, "another run")
        with (notes / _JOBS).open("a", encoding="utf-8") as jobs:
            _lock(jobs, folder, "jobs of a run that was killed")
            jobs.truncate(0)
            jobs.write(secrets.token_hex(8))
    except BadValue:
        run.close()
        raise
    except OSError:  # no locks on this file system
        run.close()
        return None
    return run


def ticket(notes: Path) -> str:
    """Return the ticket for the jobs of the run that has claimed a folder: its mark, and the file that they lock."""
    file = (notes / _JOBS).absolute()
    return f"{file.read_text(encoding='utf-8')} {file}"


def was_here(run: IO[str]) -> bool:
    """Return whether the last run in this folder was on this machine; from now on it is this one.

    Locks of a run on another machine may be those of a living one: some network file systems keep them apart.
    """
    run.seek(0)
    last, here = run.read(), f"{platform.node()}\n"
    if last != here:
        run.truncate(0)
        run.write(here)
        run.flush()
    return last == here


def _lock(file: IO[str], folder: Path, who: str) -> None:
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        processes = " ".join(map(str, holders(Path(file.name))))
        found = f"at work: {who}" + (f" ({processes})" if processes else "")
        remedy = f"wait for its end, or end it (kill {processes or 'PROCESS'}), and {AGAIN}"
        raise BadValue(str(folder), found, "be the folder of one run at a time", remedy) from None


def holders(path: Path) -> list[int]:
    """The processes that have a lock on a file, as far as this system tells."""
    try:
        inode = str(path.stat().st_ino)
        lines = [line.split() for line in Path("/proc/locks").read_text(encoding="ascii").splitlines()]
    except OSError:
        return []
    held = [words for words in lines if words[1] == "FLOCK" and words[5].rpartition(":")[2] == inode]
    return sorted({int(words[4]) for words in held})


@contextmanager
def job() -> Iterator[None]:
    """The time in which a job of a run is at work: the next run finds out, even if this job's own run has died.

    Raises
    ------
    BadValue
        If the next run has already begun.
    """
    mark, _, name = os.environ.get(VARIABLE, "").partition(" ")
    with ExitStack() as open_files:
        if name:
            with suppress(OSError):  # no such file, or no locks on this file system
                import fcntl

                file = open_files.enter_context(open(name, encoding="utf-8"))
                fcntl.flock(file, fcntl.LOCK_SH)  # a run that claims the folder has it for a moment
                if file.read() != mark:
                    rule = "be the one that has this folder"
                    raise BadValue("run of this job", "over", rule, "let the run at work make what is missing")
        yield


def check_writable(*folders: Path) -> None:
    """Refuse folders that cannot be written to, or are on a full disk, before anything is computed for them."""
    for folder in folders:
        there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not os.access(there, os.W_OK | os.X_OK):
            remedy = f"give yourself the right to write there, and {AGAIN}"
            raise BadValue(str(folder), "read-only", "be a folder that can be written to", remedy)
        free = shutil.disk_usage(there).free
        if free < ROOM:
            raise _full(folder, free)


def after_failure(folder: Path) -> str:
    """Return what to do when jobs have failed, on one line."""
    try:
        check_writable(folder)
    except BadValue as problem:
        return str(problem)
    return f"some jobs failed: correct what the lines above name, and {AGAIN}"


def errors_in(logs: Path, since: float) -> list[str]:
    """Return the last line of each log, written since a time, that ends with an error; the first five of many."""
    changed = [path for path in sorted(logs.rglob("*.log")) if path.stat().st_mtime >= since]
    last = {path: path.read_text(encoding="utf-8", errors="replace").rstrip().rpartition("\n")[2] for path in changed}
    found = [f"{path}: {line}" for path, line in last.items() if _ERROR.match(line)]
    more = [f"… and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    return found[:SHOWN] + more


def _full(folder: Path, free: int) -> BadValue:
    found = f"{free / 2**20:.1f} MiB of free disk"
    return BadValue(str(folder), found, f"have at least {ROOM >> 20} MiB", f"free some space, and {AGAIN}")


# In one line ------------------------------------------------------------------------------------------------


@contextmanager
def refusing() -> Iterator[None]:
    """End this program with one line for a failure that is none of the code; others are raised as they are."""
    try:
        yield
    except Exception as error:
        line = line_of(error)
        if line is None:  # the traceback is what the developer needs
            raise
        sys.exit(f"error: {line}")


def line_of(error: Exception) -> str | None:
    """Return what a failed job says, if its code is not at fault: a broken rule, a full disk, too little memory."""
    if hasattr(error, "remedy"):
        return str(error)
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError) or re.search(r"(?i)cannot allocate memory|failed to map segment", text):
        rule = "be enough for this job"
        return str(BadValue("memory", text or "exhausted", rule, f"free memory or raise its limit, and {AGAIN}"))
    if not isinstance(error, (OSError, RuntimeError)):
        return None
    codes = [getattr(error, "errno", None), *map(int, re.findall(r"errno = (\d+)", text))]
    name = str(getattr(error, "filename", None) or "disk")
    if any(code in (errno.ENOSPC, errno.EDQUOT) for code in codes):
        return str(BadValue(name, "full", "have room for the results", f"free some space, and {AGAIN}"))
    if any(code in (errno.EROFS, errno.EACCES, errno.EPERM) for code in codes):
        return str(BadValue(name, "no right to write", "be writable", f"give yourself the right, and {AGAIN}"))
    return None
