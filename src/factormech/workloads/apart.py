"""Parse a user's file in a separate process with limits on time and memory.

The readers of Matrix Market and HDF5 files are C and C++ libraries, which are not built for hostile bytes: some files
crash them, some make them wait for ever, and some make them fill the memory. :func:`read_apart` starts a Python process
that parses the file and sends the table back through a pipe. A crash, a hang and a lack of memory of that process are
errors of one line here. The process may not write files, and loads no filters of HDF5 from elsewhere.

CSV and ``.npy`` files are parsed by Python and NumPy, which raise errors and do not crash; a separate process would
cost 0.1 s for each of them, more than reading a small one. :func:`needs_a_process` says which files are worth it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Timer
from typing import IO, cast

import numpy as np

from factormech.arrays import DENSE_BYTES_LIMIT, check_dense_size
from factormech.errors import BadValue
from factormech.workloads.csv_text import Table

# Read by libraries that are not in Python.
_FOREIGN = frozenset((".mtx", ".h5", ".hdf5"))
# A CSV file takes some ten times its size while it is parsed.
_SMALL_BYTES = 2**25
# Processor seconds that any file gets (2 GiB from a small HDF5 file took 12), and what is read in a second at least.
_SECONDS, _BYTES_PER_SECOND = 60, 2**21
# A process waits for a busy machine or a slow disk, too.
_WAITING = 3


def needs_a_process(path: Path, size: int) -> bool:
    """Return whether a file of this name and size is parsed in a separate process."""
    return path.suffix.lower() in _FOREIGN or size > _SMALL_BYTES


def read_apart(path: Path, dataset: str | None, size: int) -> Table:
    """Return the table in a file of ``size`` bytes, parsed in a separate process.

    Raises
    ------
    BadValue
        With the words of the reader, or because the process crashed, took too long or too much memory.
    """
    seconds = _SECONDS + size // _BYTES_PER_SECOND
    named = [] if dataset is None else [dataset]
    command = [sys.executable, "-P", "-m", "factormech.workloads.apart", os.fspath(path), str(seconds), *named]
    environment = {**os.environ, "HDF5_PLUGIN_PRELOAD": "::", "OPENBLAS_NUM_THREADS": "1"}
    nothing, pipe = subprocess.DEVNULL, subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=nothing, stdout=pipe, stderr=nothing) as process:
        timer = Timer(_WAITING * seconds, process.kill)
        timer.start()
        try:
            table = _received(path, cast("IO[bytes]", process.stdout))
            if table is None:
                raise _died(path, process.wait(), seconds)
        finally:
            process.kill()
            timer.cancel()
    return table


class _Shown:
    """A value that another process has found, known by how it is written."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _received(path: Path, pipe: IO[bytes]) -> Table | None:
    """The table that the process sends, or ``None`` if it ended before that; what it refuses is raised."""
    try:
        said = json.loads(pipe.readline() or "null")
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    if "refused" in said:
        name, value, rule, remedy = said["refused"]
        raise BadValue(name, _Shown(value), rule, remedy)
    check_dense_size(str(path), *said["shape"])
    matrix = np.empty(said["shape"])
    left = matrix.data.cast("B")
    while left:
        count = pipe.readinto(left)  # type: ignore[attr-defined]
        if not count:
            return None
        left = left[count:]
    row_names, column_names = (names and tuple(names) for names in said["names"])
    return Table(matrix, row_names, column_names, said["first_line"])


def _died(path: Path, code: int, seconds: int) -> BadValue:
    """The line for a process that ended without an answer."""
    # -9: killed by the timer here; -24: out of processor seconds.
    if code in (-signal.SIGKILL, -signal.SIGXCPU):
        rule = f"be read in {seconds} s and in the memory of this machine"
        return BadValue(str(path), "no end", rule, "write a smaller file, as .npy for example")
    found = f"a crash of its reader ({signal.Signals(-code).name})" if code < 0 else "no answer of its reader"
    return BadValue(str(path), found, "be a whole file of its type", "write the file again, as .npy for example")


# In the separate process --------------------------------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    """Parse one file, under limits, and write what is in it to standard output."""
    path, seconds, *dataset = arguments
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no part of the answer
    _limit(int(seconds))
    from factormech.workloads import matrix as files

    try:
        table = files.read_here(Path(path), dataset[0] if dataset else None)
    except BadValue as error:
        refused = [error.name, repr(error.value), error.rule, error.remedy]
        out.write(json.dumps({"refused": refused}).encode() + b"\n")
    else:
        names = [table.row_names, table.column_names]
        head = {"shape": table.values.shape, "names": names, "first_line": table.first_line}
        out.write(json.dumps(head).encode() + b"\n")
        out.write(np.ascontiguousarray(table.values).data.cast("B"))
    out.close()
    return 0


def _limit(seconds: int) -> None:
    """Take from this process what no reader needs, and leave it time and memory for the largest matrix."""
    import resource

    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limits = {
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_AS: min(2 * DENSE_BYTES_LIMIT + 2**30, max(pages - pages // 8, 2**31)),
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
    }
    for what, most in limits.items():
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, hard))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
