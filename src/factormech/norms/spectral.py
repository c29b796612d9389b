r"""Lower bounds on γ₍ₚ₎ from singular values alone: uniform weights in ``weighted``.

‖W‖_*/√(kN) ≤ γ₍ₚ₎(W) for every 2 ≤ p ≤ ∞, k and N those of the matrix without its zero rows and columns at p = ∞; in
general, with k' nonzero rows of k and N' nonzero columns, k^{−1/p}k'^{1/p − 1/2}N'^{−1/2}‖W‖_*. Without the
normalisation by k^{1/p} it is k^{1/p − 1/2}N^{−1/2}‖W‖_{S₁}, the Schatten-1 bound of Liu, Upadhyay & Zou (2024); p = 2
is the trace bound of Li & Miklau (2013). Rounded outward like every lower end.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from factormech.norms import certify
from factormech.norms.matrices import checked_matrix, core_of
from factormech.norms.weighted import checked_exponent
from factormech.numerics.rounding import below, scaled_interval
from factormech.workloads.base import Workload


def trace_bound(workload: Workload | Any, p: float = math.inf, *, normalised: bool = True) -> float:
    """The bound on γ₍ₚ₎ of a workload or a dense matrix; ``normalised=False``: on k^{1/p}γ₍ₚ₎, as Liu et al. write."""
    p = checked_exponent(p)
    matrix = checked_matrix("workload", workload)
    core = core_of(matrix)
    if not core.matrix.size:
        return 0.0
    k, N = core.matrix.shape
    bound = certify.lower_end(core.matrix, np.ones(k), np.ones(N), p, core.queries)[0]
    if not normalised:
        bound = below(bound * below(core.queries ** (1.0 / p), 8), 2)
    return scaled_interval(bound, bound, core.exponent)[0]
