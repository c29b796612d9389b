"""A workload given by its matrix, in memory or in a file."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_dense_size
from factormech.errors import BadValue
from factormech.workloads.base import Workload, padded

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
    """Return the workload whose matrix is in a file (see :func:`factormech.workloads.files.read_table`), named like it.

    ``name`` is for another name, and ``dataset`` for an HDF5 file with several datasets.
    """
    from factormech.workloads import files

    found = files.read_table(path, dataset)
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
