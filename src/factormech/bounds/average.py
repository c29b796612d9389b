"""From a bound on tr(X_c⁺C), where theorems end, to one on the average variance per user, which studies ask for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from factormech.arrays import FloatArray
from factormech.workloads.base import Workload


def same_for_all(workload: Workload, centred_trace: float) -> bool:
    """Whether every query has the same answer for all user types, but for the rounding of C, whose trace is given."""
    return bool(centred_trace <= workload.domain_size * np.finfo(float).eps * workload.frobenius_squared())


def raised(start: float, workload: Workload, objective: Callable[[FloatArray], float]) -> float:
    """The larger of ``start`` and (tr(X_c⁺C) − tr C)/n, the average variance, at a lower bound ``objective(C)``."""
    C = workload.centred_gram()
    trace = float(np.trace(C))
    if same_for_all(workload, trace):
        return start
    return max((objective(C) - trace) / workload.domain_size, start)
