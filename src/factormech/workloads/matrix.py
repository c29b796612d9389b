"""Workloads given by a matrix, in memory or in a file.

**Files.** A file is CSV, NumPy, Matrix Market or HDF5; every bad file is refused in one line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from factormech.arrays import DENSE_BYTES_LIMIT, FloatArray, check_dense_size
from factormech.errors import BadValue
from factormech.workloads import csv_text
from factormech.workloads.apart import needs_a_process, read_apart
from factormech.workloads.base import Workload, padded
from factormech.workloads.csv_text import Table

# Matrices in memory.

# The sum of squares of larger entries could overflow, and the squares of a matrix of smaller ones are 0.
LARGEST_ENTRY, SMALLEST_ENTRY = 1e100, 1e-100


class MatrixWorkload(Workload):
    """The rows of an explicit matrix W of shape (p, n), which is copied.

    Everything is computed from W, and the singular values by an SVD of W and not of its Gram matrix, which
    would lose half of the digits of the small ones.
    """

    def __init__(self, name: str, matrix: Any) -> None:
        W = checked_matrix("matrix", matrix)
        super().__init__(name, W.shape[1])
        self._W = W
        self._W.flags.writeable = False

    def definition(self) -> dict[str, str]:
        """The SHA-256 of the entries, row by row, as little-endian float64."""
        return {"matrix": hashlib.sha256(np.ascontiguousarray(self._W, "<f8").tobytes()).hexdigest()}

    @property
    def queries(self) -> int:
        return len(self._W)

    def answer(self, x: FloatArray) -> FloatArray:
        return np.asarray(self._W @ self._over_types(x))

    def adjoint(self, y: FloatArray) -> FloatArray:
        return np.asarray(self._W.T @ self._over_queries(y))

    def matrix(self) -> FloatArray:
        return self._W.copy()

    def column_sums(self) -> FloatArray:
        return np.asarray(self._W.sum(axis=0))

    def gram(self) -> FloatArray:
        check_dense_size("gram matrix", self.domain_size, self.domain_size)
        return np.asarray(self._W.T @ self._W)

    def gram_times(self, x: FloatArray) -> FloatArray:
        return self.adjoint(self.answer(x))

    def gram_diagonal(self) -> FloatArray:
        return np.asarray(np.einsum("ij,ij->j", self._W, self._W))

    def total_squared(self) -> float:
        return float(np.sum(self._W.sum(axis=1) ** 2))

    def singular_values(self) -> FloatArray:
        return self._svd(self._W)

    def centred_singular_values(self) -> FloatArray:
        values = self._svd(self._W - self._W.mean(axis=1, keepdims=True))
        values[-1] = 0.0
        return values

    def _svd(self, M: FloatArray) -> FloatArray:
        sigma = np.linalg.svd(M, compute_uv=False)
        # Noise is measured against W even where M is W centred: a row that is constant leaves rounding only.
        noise = max(M.shape) * np.finfo(float).eps * float(np.linalg.norm(self._W, 2))
        return padded(np.where(sigma > noise, sigma, 0.0), self.domain_size)


def from_file(path: str | Path, dataset: str | None = None, *, name: str | None = None) -> MatrixWorkload:
    """Return the workload whose matrix is in a file (see :func:`factormech.workloads.matrix.read_table`), named like
    it.

    ``name`` is for another name, and ``dataset`` for an HDF5 file with several datasets.
    """

    found = read_table(path, dataset)
    made = MatrixWorkload(Path(path).stem if name is None else name, found.values)
    made.query_names, made.type_names = found.row_names, found.column_names
    return made


def checked_matrix(name: str, value: Any, first_row: int = 1) -> FloatArray:
    """Return a float64 copy of a two-dimensional array of finite real numbers.

    ``name`` says where it is from, and ``first_row`` which number the first row has there.
    """
    try:
        array = np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise BadValue(
            name, " ".join(str(error).split()), "be a table of numbers", "give every row the same length"
        ) from None
    if array.dtype.kind == "c":
        raise BadValue(name, array.dtype.name, "hold real numbers", "queries have real coefficients")
    if array.dtype.kind not in "biuf":
        raise BadValue(name, array.dtype.name, "hold numbers", "convert it to float64")
    if array.ndim != 2 or 0 in array.shape:
        rule = "have two dimensions, both above 0"
        raise BadValue(name, array.shape, rule, "give one row for each query, one column for each user type")
    check_dense_size(name, *array.shape)
    W = np.array(array, dtype=np.float64)
    if not (W.min() >= -LARGEST_ENTRY and W.max() <= LARGEST_ENTRY):  # false for NaN as well
        bad = np.argwhere(~(np.abs(W) <= LARGEST_ENTRY))
        i, j = bad[0]
        where = f"{name}, row {i + first_row}, column {j + 1}"
        rule = f"be a finite number of size at most {LARGEST_ENTRY:g}"
        raise BadValue(where, float(W[i, j]), rule, f"correct this entry ({len(bad)} such in all)")
    largest = max(-float(W.min()), float(W.max()))
    if 0.0 < largest < SMALLEST_ENTRY:
        rule = f"be at least {SMALLEST_ENTRY:g}, as squares of such numbers are 0 in floating point"
        raise BadValue(f"{name}: largest entry", largest, rule, "multiply the matrix by a power of ten")
    return W


def random_signs(name: str, domain_size: int, rng: np.random.Generator) -> Workload:
    """Registered as ``random-signs``: p = n queries of independent, uniform signs, the same for one seed.

    As hard as a workload of ±1 queries gets, and without any structure to use.
    """
    check_dense_size(f"matrix of workload {name}", domain_size, domain_size)
    bits = rng.integers(0, 2, size=(domain_size, domain_size), dtype=np.int8)
    return MatrixWorkload(name, 2 * bits - 1)


# Files.


def read(path: str | Path, dataset: str | None = None) -> FloatArray:
    """Return the checked matrix in a file, one row for each query; see :func:`read_table`."""
    return read_table(path, dataset).values


def read_table(path: str | Path, dataset: str | None = None) -> Table:
    """Return the checked matrix in a file with the names of its rows and columns; the suffix says the file's type.

    ``.csv`` or ``.tsv`` (:mod:`factormech.workloads.csv_text`), ``.npy``, ``.mtx`` (Matrix Market), or ``.h5`` and
    ``.hdf5``, where ``dataset`` names the matrix unless it is the only one.
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
    """Return the message of an error on one line."""
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
    from factormech.store.hdf5 import read_matrix

    return read_matrix(path, dataset)


READERS: dict[str, Callable[[Path, str | None], Any]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".npy": _npy,
    ".mtx": _mtx,
    ".h5": _hdf5,
    ".hdf5": _hdf5,
}
