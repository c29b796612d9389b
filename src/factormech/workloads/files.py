"""Matrices in files: CSV, NumPy, Matrix Market and HDF5; every bad file is answered with one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from factormech.arrays import DENSE_BYTES_LIMIT, FloatArray, check_dense_size
from factormech.errors import BadValue
from factormech.workloads import csv_text
from factormech.workloads.apart import needs_a_process, read_apart
from factormech.workloads.csv_text import Table
from factormech.workloads.matrix import checked_matrix


def read(path: str | Path, dataset: str | None = None) -> FloatArray:
    """Return the checked matrix in a file, one row for each query; see :func:`read_table`."""
    return read_table(path, dataset).values


def read_table(path: str | Path, dataset: str | None = None) -> Table:
    """Return the checked matrix in a file with the names of its rows and columns; the suffix says the file's type.

    ``.csv`` (:mod:`factormech.workloads.csv_text`), ``.npy``, ``.mtx`` (Matrix Market) or ``.h5``/``.hdf5``, where
    ``dataset`` names the matrix unless it is the only one.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in READERS:
        known = ", ".join(sorted(READERS))
        raise BadValue(f"{path}: suffix", suffix, f"be one of {known}", "save the matrix as one of these types")
    if not path.is_file():
        seen = "a folder" if path.is_dir() else "no regular file" if path.exists() else "no such file"
        raise BadValue(str(path), seen, "be a file", "correct the path")
    if dataset is not None and READERS[suffix] is not _hdf5:
        raise BadValue("dataset", dataset, "be left out for a file that is not HDF5", f"remove it for {path}")
    try:
        size = path.stat().st_size
    except OSError as error:
        raise _unreadable(path, error) from error
    if size > DENSE_BYTES_LIMIT:
        rule, seen = f"have at most {DENSE_BYTES_LIMIT >> 30} GiB", f"{size / 2**30:.1f} GiB"
        raise BadValue(str(path), seen, rule, "give fewer queries, or coefficients with fewer digits")
    if size == 0:
        raise BadValue(str(path), "nothing", "hold a matrix", "write the file again")
    return read_apart(path, dataset, size) if needs_a_process(path, size) else read_here(path, dataset)


def read_here(path: Path, dataset: str | None = None) -> Table:
    """Return what :func:`read_table` does, parsed in this process and without its limits."""
    suffix = path.suffix.lower()
    try:
        found = READERS[suffix](path, dataset)
        if isinstance(found, Table):
            return replace(found, values=checked_matrix(str(path), found.values, found.first_line))
        return Table(checked_matrix(str(path), found), None, None)
    except BadValue:
        raise
    except (OSError, MemoryError) as error:
        raise _unreadable(path, error) from error
    except Exception as error:  # the readers are not ours: whatever they raise is about the file
        raise _damaged(path, suffix, error) from error


def _unreadable(path: Path, error: Exception) -> BadValue:
    if isinstance(error, MemoryError):
        return BadValue(str(path), "a matrix", "fit in memory", "give fewer queries")
    return BadValue(str(path), _reason(error), "be readable", "see to its permissions and its disk")


def _damaged(path: Path, kind: str, error: Exception) -> BadValue:
    return BadValue(str(path), _reason(error), f"be a whole {kind} file", "write the file again")


def _reason(error: Exception) -> str:
    """What an error says, on one line."""
    return " ".join(str(error).split()) or type(error).__name__


def _csv(path: Path, dataset: str | None) -> Any:
    return csv_text.parse(path.read_bytes(), str(path))


def _npy(path: Path, dataset: str | None) -> Any:
    try:
        # Mapped first: a header that promises more than the file holds is refused before memory is taken.
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, MemoryError):
        raise
    except Exception as error:  # its header is a literal of Python: eight kinds of error were seen
        raise _damaged(path, "NumPy .npy", error) from None
    if not isinstance(array, np.ndarray):
        array.close()
        raise BadValue(str(path), "an archive", "hold one array", "save it with numpy.save, not numpy.savez")
    return array


def _mtx(path: Path, dataset: str | None) -> Any:
    from scipy.io import mminfo, mmread

    try:
        rows, columns, _, _, field, _ = mminfo(path)
        if field == "complex":
            raise BadValue(str(path), field, "hold real numbers", "queries have real coefficients")
        check_dense_size(str(path), rows, columns)
        # SciPy's reader divides by the number of rows: without any, it ends the process.
        found = mmread(path) if rows and columns else np.empty((rows, columns))
    except BadValue:
        raise
    except (ValueError, EOFError, OverflowError, TypeError, IndexError) as error:
        raise _damaged(path, "Matrix Market", error) from None
    return found if isinstance(found, np.ndarray) else found.toarray()


def _hdf5(path: Path, dataset: str | None) -> Any:
    from factormech.store import read_matrix

    return read_matrix(path, dataset)


READERS: dict[str, Callable[[Path, str | None], Any]] = {
    ".csv": _csv,
    ".npy": _npy,
    ".mtx": _mtx,
    ".h5": _hdf5,
    ".hdf5": _hdf5,
}
