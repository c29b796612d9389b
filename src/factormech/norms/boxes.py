r"""The least γ₂ of a matrix with entries in intervals: the problem, and a smaller one of the same value.

**The problem.** It is the one behind all approximate norms:

.. math:: \min\{\gamma_2(\tilde W) : L \le \tilde W - c\mathbf 1^\top \le H\}

with c = 0, or c ∈ ℝᵏ free where the problem is *shifted* (Edmonds, Nikolov & Ullman, STOC 2020; Edmonds, PhD thesis,
Toronto, 2023). An entry of L may be −∞ and one of H may be +∞. By the duality of γ₂ and γ₂* its value is

.. math:: \max_U \frac{\langle L, U_+\rangle - \langle H, U_-\rangle}{\gamma_2^*(U)}, \qquad U = U_+ - U_-,

over U with U₊ = 0 where L = −∞, U₋ = 0 where H = +∞, and U1 = 0 where c is free: for any such U and any feasible W̃
the numerator is at most ⟨W̃ − c1ᵀ, U⟩ = ⟨W̃, U⟩ ≤ γ₂(W̃)γ₂*(U). For γ₂(W, α) that is Lemma 12 of Edmonds, Nikolov &
Ullman (2020) and Lemma 32 of Edmonds (2023); for γ̂₂ Lemma 13 of Edmonds (2023); for η, which is Definition 44 of
Edmonds (2023), it is Lemma 45 of Edmonds (2023).

============  =======  =======================================================================================
γ₂(W, α)      c = 0    |W̃ − W| ≤ α
γ̂₂(W, α)      c free   |W̃ − c1ᵀ − W| ≤ α
mc(C)         c = 0    W̃ ≥ 1 where the concept's label is +1, W̃ ≤ −1 where it is −1
η(C, α)       c free   columns (x, b), b = ±1: within [−α, α] where b is the concept's label of x, ≥ 1 where not
============  =======  =======================================================================================

**The reduction.** The smaller problem is exactly scaled, has each line once, and has no line that zero fits. A row
that 0 fits (or a constant, where c is free) takes R_i = 0, and a column that 0 fits takes A_j = 0, c being 0:
dropping a line never raises γ₂, so both values are equal. Equal rows share R_i, and equal columns A_j. So do rows
that are each other's negatives, (L, H) and (−H, −L), as −R_i is as long as R_i; and columns, where c = 0. A dual
matrix of the smaller problem is one of the larger with zeros in the lines left out: its γ₂* and its numerator are the
same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray
from factormech.errors import BadValue
from factormech.norms.certified import BoolArray, checked_matrix
from factormech.numerics.rounding import binary_scale
from factormech.workloads.base import Workload

# The problem.


@dataclass(frozen=True)
class Boxes:
    """L, H (k × N) and whether c is free. A finite bound may differ from the one meant by one rounding."""

    low: FloatArray
    high: FloatArray
    shifted: bool

    @property
    def shape(self) -> tuple[int, int]:
        """(k, N)."""
        return self.low.shape[0], self.low.shape[1]


def around(workload: Workload | Any, alpha: float, *, shifted: bool) -> Boxes:
    """The boxes of γ₂(W, α), or of γ̂₂(W, α)."""
    W = checked_matrix("workload", workload)
    alpha = checked_alpha(alpha)
    with np.errstate(over="ignore"):
        low, high = W - alpha, W + alpha
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise BadValue("alpha", alpha, "keep W ± alpha in the range of doubles", "scale W and alpha down")
    return Boxes(low, high, shifted)


def of_margin(concepts: Workload | Any) -> Boxes:
    """The boxes of mc(C)."""
    labels = checked_labels(concepts)
    return Boxes(np.where(labels > 0.0, 1.0, -math.inf), np.where(labels > 0.0, math.inf, -1.0), False)


def of_eta(concepts: Workload | Any, alpha: float) -> Boxes:
    """The boxes of η(C, α): columns (x, +1) for all x, then (x, −1)."""
    labels = checked_labels(concepts)
    alpha = checked_alpha(alpha)
    right = np.hstack([labels > 0.0, labels < 0.0])
    return Boxes(np.where(right, -alpha, 1.0), np.where(right, alpha, math.inf), True)


def checked_alpha(alpha: Any) -> float:
    """α as a float; refused below zero, NaN or infinite."""
    good = isinstance(alpha, (int, float, np.integer, np.floating)) and not isinstance(alpha, bool)
    if not good or not 0.0 <= alpha < math.inf:
        raise BadValue("alpha", alpha, "be a finite number of at least 0", "give for example 0.1")
    return float(alpha)


def checked_labels(concepts: Workload | Any) -> FloatArray:
    """The concepts' labels of the domain, (concepts, domain); refused unless all are ±1."""
    labels = checked_matrix("concepts", concepts)
    bad = np.argwhere(np.abs(labels) != 1.0)
    if bad.size:
        c, x = bad[0]
        rule = "be +1 or -1, as every label"
        raise BadValue(f"concepts[{c}, {x}]", float(labels[c, x]), rule, "map a 0/1 matrix W to 2W - 1")
    return labels


def difference_matrix(concepts: Workload | Any) -> FloatArray:
    """D_C, (k², N): row kc + c' is (c − c')/2, entries −1, 0, 1 (Edmonds, PhD thesis, 2023, the definition of D_C).

    A norm of it costs what its distinct rows cost: opposite rows count once and zero rows not at all (``reduced``).
    """
    labels = checked_labels(concepts)
    differences = 0.5 * (labels[:, None, :] - labels[None, :, :])
    return differences.reshape(-1, labels.shape[1])


# The reduction.


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
