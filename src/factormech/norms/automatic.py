"""The exact norms by the best method known for the workload: structured where there is one, else dense."""

from __future__ import annotations

import math
from typing import Any

from factormech.norms.certified import CertifiedNorm
from factormech.norms.exact import factorization_norm
from factormech.norms.structured.by_workload import structured_norm, suits
from factormech.workloads.base import Workload


def automatic_norm(
    workload: Workload | Any, p: float = math.inf, *, gap: float = 1e-6, iterations: int | None = None
) -> CertifiedNorm:
    """γ₍ₚ₎(W); parameters as for :func:`.exact.factorization_norm`.

    A dense matrix that happens to be that of prefix sums is solved as a dense matrix: only the workload's own class
    tells.
    """
    if suits(workload, p, gap):
        return structured_norm(workload, p, gap=gap, iterations=iterations)
    return factorization_norm(workload, p, gap=gap, iterations=iterations)
