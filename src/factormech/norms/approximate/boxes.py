r"""The one problem behind the approximate norms: the least γ₂ of a matrix whose entries lie in given intervals.

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
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.norms.matrices import checked_matrix
from factormech.workloads.base import Workload


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
