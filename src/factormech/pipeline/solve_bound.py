"""Evaluate a lower bound on the variance."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from factormech.bounds.registry import variance_bound
from factormech.errors import BadValue
from factormech.studies.solves import Solve
from factormech.workloads.base import Workload


def solve(request: Solve, workload: Workload, _: Path | None) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The bound as a dataset of one number, and its name."""
    if request.epsilon is None:
        raise BadValue("epsilon", None, "be given for a bound", "let the workflow call the job")
    value = variance_bound(request.name, workload, request.epsilon)
    return {"value": np.array([value])}, {"bound": request.name}
