"""A workload read as a concept class: its entries as ±1 labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.norms.approximate.boxes import difference_matrix
from factormech.norms.approximate.norms import approximate_norm
from factormech.norms.certified import CertifiedNorm
from factormech.norms.matrices import checked_matrix
from factormech.workloads.base import Workload


def labels_of(workload: Workload | Any) -> FloatArray:
    """The concept matrix (concepts, domain): W itself if it holds ±1, 2W − 1 if it holds 0/1; refused otherwise.

    Statistical queries and concepts are one and the same, a query q(x) ∈ {0, 1} being the concept 2q − 1.
    """
    W = checked_matrix("workload", workload)
    if np.all(np.abs(W) == 1.0):
        return W
    if np.all((W == 0.0) | (W == 1.0)):
        return 2.0 * W - 1.0
    name = workload.name if isinstance(workload, Workload) else "matrix"
    remedy = "ask for gamma-2, which any matrix has"
    raise BadValue(f"entries of {name}", "others", "all be ±1, or all 0 or 1, to be labels", remedy)


def difference_norm(
    concepts: Workload | Any, alpha: float, *, method: str = "splitting", gap: float = 1e-3
) -> CertifiedNorm:
    """γ₂(D_C, α) of the differences ½(c − c′) of every two concepts (Edmonds, PhD thesis, Toronto, 2023).

    It is at most γ₂(W_C, α), which is at most 2γ₂(D_C, α/2) + 1 (there, the lemma on the difference matrix).
    """
    return approximate_norm(difference_matrix(concepts), alpha, method=method, gap=gap)
