"""The matrix whose norm is asked for: checked, without its zero rows and columns, exactly scaled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.numerics.rounding import scaled_exactly
from factormech.workloads.base import Workload

BoolArray: TypeAlias = npt.NDArray[np.bool_]


def checked_matrix(name: str, matrix: Any) -> FloatArray:
    """A finite (k, N) array of doubles from an array or a ``Workload``; refused otherwise."""
    if isinstance(matrix, Workload):
        matrix = matrix.matrix()
    array = np.asarray(matrix)
    if array.dtype.kind not in "biuf":
        raise BadValue(f"type of {name}", array.dtype.name, "be real numbers", "convert it to float64")
    if array.ndim != 2 or not array.size:
        raise BadValue(f"shape of {name}", array.shape, "be (queries, domain), both at least 1", "give a matrix")
    array = array.astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        raise BadValue(name, "holds NaN or infinity", "be finite", "repair or leave out those entries")
    return array


@dataclass(frozen=True)
class Core:
    """W without its zero rows and columns, divided by 2^``exponent``, and where it came from.

    Zero rows and columns change no factorization norm but through k, which is kept: R and A get zero rows and columns.
    """

    matrix: FloatArray
    rows: BoolArray
    columns: BoolArray
    exponent: int

    @property
    def queries(self) -> int:
        """k of the whole matrix."""
        return len(self.rows)


def core_of(matrix: FloatArray) -> Core:
    """The core of a checked matrix; empty where the matrix is zero."""
    nonzero = matrix != 0.0
    rows, columns = nonzero.any(axis=1), nonzero.any(axis=0)
    whole = bool(rows.all() and columns.all())
    scaled, exponent = scaled_exactly(matrix if whole else matrix[np.ix_(rows, columns)])
    return Core(scaled, rows, columns, exponent)


def spread(values: FloatArray, index: BoolArray) -> FloatArray:
    """The values (or rows of values) at the True places of ``index``, zeros elsewhere."""
    full = np.zeros((len(index), *values.shape[1:]))
    full[index] = values
    return full
