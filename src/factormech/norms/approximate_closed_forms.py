r"""Approximate norms that are known exactly, 0 ≤ α ≤ 1 (they are 0 beyond).

For ±1 matrices whose γ₂ has a dual matrix U of their own signs, (1 − α)W is the best W̃, as the numerator of U is
⟨W, U⟩ − α‖U‖₁ = (1 − α)⟨W, U⟩: this holds for parities and for sign thresholds, and makes mc = γ₂. Over both labels
(−U, U) of mc's U sums to 0 in each row, its numerator is (1 − α)⟨W, U⟩, and its γ₂* is 2γ₂*(U), as y_j⁻ − y_j⁺ is at
most 2 long; W̃ = ((1 − α)/2)(−W, W) is feasible with c = −(1 + α)/2. So (1 − α)mc/2 ≤ η ≤ (1 − α)γ₂/2.
The identity: averaged over the permutations W̃ is xI + y11ᵀ. Without shift y = 0 and x = 1 − α are best; with it
x = 1 − 2α suffices, and y = −x/n is best: x(I − 11ᵀ/n), whose diagonal is constant.
"""

from __future__ import annotations

import math

from factormech.arrays import check_positive_integer
from factormech.norms import closed_forms
from factormech.norms.boxes import checked_alpha


def identity(size: int, alpha: float, *, shifted: bool = False) -> float:
    """γ₂(I, α) = 1 − α; γ̂₂(I, α) = (1 − 2α)(n − 1)/n, 0 from α = ½ on."""
    n, alpha = check_positive_integer("size", size), checked_alpha(alpha)
    return max(1.0 - 2.0 * alpha, 0.0) * (n - 1) / n if shifted else max(1.0 - alpha, 0.0)


def parities(queries: int, alpha: float, *, shifted: bool = False, constant: bool = True) -> float:
    """γ₂(W, α) or γ̂₂(W, α) of k rows of a ±1 Hadamard matrix, of which the ``constant`` parity is one or not."""
    k = check_positive_integer("queries", queries)
    return max(1.0 - checked_alpha(alpha), 0.0) * math.sqrt(k - 1 if shifted and constant else k)


def sign_thresholds(size: int, alpha: float) -> float:
    """γ₂(W, α) of the n sign thresholds, the all-ones row included; their mc is the one at α = 0."""
    return max(1.0 - checked_alpha(alpha), 0.0) * closed_forms.sign_thresholds(size)
