r"""What every norm's solver answers: an interval, the factors that attain its upper end, the witness of its lower end.

**Conventions.** W is k × N (queries × domain). A factorization is W = RA with R, k × s, on the left and A, s × N, on
the right. ‖A‖_{1→2} is the largest column norm of A, ‖R‖_{2→∞} the largest row norm of R, and for p ≥ 2

.. math:: \gamma_{(p)}(W) = k^{-1/p} \min_{RA = W} \Bigl(\sum_i \lVert R_{i\cdot}\rVert_2^p\Bigr)^{1/p}
          \lVert A\rVert_{1\to2} ,

so that γ₍∞₎ = γ₂ and γ₍₂₎ = γ_F. The approximate norm γ₂(W, α) is the least γ₂(W̃) over |W̃ − W| ≤ α entrywise.

**The matrix.** Solvers get a matrix that is checked, exactly scaled, and has no zero row or column.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.numerics.rounding import scaled_exactly
from factormech.workloads.base import Workload


class Factor(Protocol):
    """A factor of a workload, dense or known only by what it does to vectors."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def apply(self, vectors: FloatArray) -> FloatArray:
        """The factor times each column of ``vectors``, (columns of the factor, any number)."""
        ...

    def apply_transposed(self, vectors: FloatArray) -> FloatArray:
        """The factor's transpose times each column of ``vectors``."""
        ...

    def dense(self) -> FloatArray:
        """The factor as a matrix; refused where it would not fit in memory."""
        ...


@dataclass(frozen=True)
class DenseFactor:
    """A factor stored as a matrix."""

    matrix: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape[0], self.matrix.shape[1]

    def apply(self, vectors: FloatArray) -> FloatArray:
        return self.matrix @ vectors

    def apply_transposed(self, vectors: FloatArray) -> FloatArray:
        return self.matrix.T @ vectors

    def dense(self) -> FloatArray:
        return self.matrix


@dataclass(frozen=True, repr=False)
class CertifiedNorm:
    """A norm between two ends that hold in exact arithmetic.

    Attributes
    ----------
    lower, upper
        The interval.
    left, right
        R and A, whose product is W (or W̃) up to ``residual``; the upper end accounts for the residual.
    residual
        A bound on the entries of W − RA (for an approximate norm: on what W̃ lies outside its box).
    witness
        What proves the lower end: the dual matrix U (k × N), or its weights where U is too large to store.
    record
        ``method``, ``iterations``, ``stopped`` and what else the solver wishes to say.

    Examples
    --------
    >>> import factormech as fm
    >>> found = fm.norm(fm.workload("histogram", 4), "gamma-2")
    >>> found.lower <= 1.0 <= found.upper
    True
    """

    lower: float
    upper: float
    left: Factor
    right: Factor
    residual: float
    witness: dict[str, FloatArray] = field(default_factory=dict)
    record: dict[str, object] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<CertifiedNorm {self.lower:.7g} to {self.upper:.7g}, gap {self.gap:.2g}>"

    def _repr_html_(self) -> str:
        return f"certified norm: from <b>{self.lower:.7g}</b> to <b>{self.upper:.7g}</b>, gap {self.gap:.2g}"

    @property
    def gap(self) -> float:
        """upper ÷ lower − 1; 0 where the norm is zero, infinite where the lower end proves nothing."""
        if self.lower <= 0.0:
            return 0.0 if self.upper == 0.0 else float("inf")
        return self.upper / self.lower - 1.0


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
