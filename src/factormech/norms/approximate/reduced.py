r"""A smaller problem of the same value: exactly scaled, each line once, without the lines that zero fits.

A row that 0 fits (or a constant, where c is free) takes R_i = 0, and a column that 0 fits takes A_j = 0, c being 0:
dropping a line never raises γ₂, so both values are equal. Equal rows share R_i, and equal columns A_j. So do rows that
are each other's negatives, (L, H) and (−H, −L), as −R_i is as long as R_i; and columns, where c = 0. A dual matrix of
the smaller problem is one of the larger with zeros in the lines left out: its γ₂* and its numerator are the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray
from factormech.errors import BadValue
from factormech.norms.approximate.boxes import Boxes
from factormech.norms.matrices import BoolArray
from factormech.numerics.rounding import binary_scale


@dataclass(frozen=True)
class Merged:
    """Which lines are kept, which kept line each line is a copy of (−1: it was dropped), and with which sign."""

    kept: IntArray
    copy_of: IntArray
    signs: FloatArray

    def spread(self, values: FloatArray) -> FloatArray:
        """Values of kept lines (first axis), repeated for their copies; zero for dropped lines."""
        found = self.copy_of >= 0
        full = np.zeros((len(self.copy_of), *values.shape[1:]))
        shape = (-1,) + (1,) * (values.ndim - 1)
        full[found] = values[self.copy_of[found]] * self.signs[found].reshape(shape)
        return full


@dataclass(frozen=True)
class Reduced:
    """The smaller problem, 2^{−``exponent``} times kept lines of ``whole``; ``constants`` are −c of dropped rows."""

    boxes: Boxes
    whole: Boxes
    rows: Merged
    columns: Merged
    constants: FloatArray
    exponent: int

    def shift(self, shift: FloatArray) -> FloatArray:
        """c of all rows, in the scale of the reduced problem."""
        return np.asarray(np.where(self.rows.copy_of >= 0, self.rows.spread(shift), -self.constants))

    def dual(self, dual: FloatArray) -> FloatArray:
        """U with zeros in the lines left out."""
        full = np.zeros(self.whole.shape)
        full[np.ix_(self.rows.kept, self.columns.kept)] = dual
        return full


def reduce(boxes: Boxes) -> Reduced:
    """The reduced problem; without rows where the value is 0."""
    whole, exponent = _scaled(boxes)
    if boxes.shifted:
        top, bottom = whole.low.max(axis=1), whole.high.min(axis=1)
        drop_rows, drop_columns = np.asarray(top <= bottom), np.full(boxes.shape[1], bool((top <= bottom).all()))
        constants = np.where(drop_rows, _between(top, bottom), 0.0)
    else:
        fits = (whole.low <= 0.0) & (whole.high >= 0.0)
        drop_rows, drop_columns = np.asarray(fits.all(axis=1)), np.asarray(fits.all(axis=0))
        constants = np.zeros(boxes.shape[0])
    low, high = whole.low[:, ~drop_columns], whole.high[:, ~drop_columns]
    rows = _merged(low, high, drop_rows, opposite=True)
    low, high = whole.low[rows.kept], whole.high[rows.kept]
    columns = _merged(low.T, high.T, drop_columns, opposite=not boxes.shifted)
    smaller = Boxes(low[:, columns.kept].copy(), high[:, columns.kept].copy(), boxes.shifted)
    return Reduced(smaller, whole, rows, columns, constants, exponent)


def _scaled(boxes: Boxes) -> tuple[Boxes, int]:
    """The boxes divided exactly by the power of two that brings the largest finite bound below 1."""
    bounds = np.concatenate([boxes.low, boxes.high])
    exponent = binary_scale(np.where(np.isfinite(bounds), bounds, 0.0))
    scaled = np.ldexp(bounds, -exponent)
    if not np.array_equal(np.ldexp(scaled, exponent), bounds):
        rule = "have nonzero bounds within 300 orders of magnitude of each other"
        raise BadValue("workload and alpha", "too wide a range", rule, "set what is negligible to zero")
    k = boxes.shape[0]
    return Boxes(scaled[:k] + 0.0, scaled[k:] + 0.0, boxes.shifted), exponent


def _between(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """A number in each [top, bottom], whose ends may be infinite."""
    low, high = np.where(np.isfinite(top), top, 0.0), np.where(np.isfinite(bottom), bottom, 0.0)
    both = np.isfinite(top) & np.isfinite(bottom)
    return np.asarray(np.where(both, 0.5 * low + 0.5 * high, low + high))


def _merged(low: FloatArray, high: FloatArray, dropped: BoolArray, *, opposite: bool) -> Merged:
    """Equal lines (of ``low`` and ``high`` with one line per entry of ``dropped``) found in the order they come in."""
    places = np.flatnonzero(~dropped)
    lines = np.hstack([low[places], high[places]]) + 0.0
    signs = np.ones(len(places))
    if opposite and len(places):
        negated = 0.0 - np.hstack([high[places], low[places]])
        first = np.argmax(lines != negated, axis=1)[:, None]
        flip = (np.take_along_axis(lines, first, 1) < np.take_along_axis(negated, first, 1))[:, 0]
        lines[flip], signs[flip] = negated[flip], -1.0
    kept, group = _groups(lines)
    copy_of, sign_of = np.full(len(dropped), -1), np.ones(len(dropped))
    # Kept lines keep their own sign: a copy has its sign relative to the kept one.
    copy_of[places], sign_of[places] = group, signs * signs[kept][group]
    return Merged(places[kept], copy_of, sign_of)


def _groups(lines: FloatArray) -> tuple[IntArray, IntArray]:
    """The first line of each kind, in order, and the kind of every line."""
    if not len(lines):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    # Lines are compared as strings of bytes: zeros have one sign here, and nothing is NaN.
    keys: npt.NDArray[np.void] = np.ascontiguousarray(lines).view(f"V{lines.shape[1] * 8}").ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[group]
