"""Solve for the strategy of a mechanism, and verify that it is private before it is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from factormech.errors import BadValue
from factormech.mechanisms.local import registry
from factormech.mechanisms.local.solved import Solution
from factormech.pipeline.progress import progress
from factormech.store import hdf5
from factormech.studies.solves import Solve, start_of
from factormech.workloads.base import Workload


def solve(request: Solve, workload: Workload, start: Path | None) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The datasets of the solution, and what is said of it; ``start`` is the file that the solver begins with."""
    first = None if start is None else started(start, request)
    solution = registry.solution_for(request.spec(workload), workload, progress(), first)
    if request.epsilon is not None:
        registry.restore(request.name, solution, request.epsilon)
    options = json.dumps(request.options, sort_keys=True)
    return solution.datasets, {"mechanism": request.name, "options": options, **solution.record}


def started(path: Path, request: Solve) -> Solution:
    """The solution that the solver begins with, if it answers the right request."""
    kept, wanted = hdf5.read(path, "strategy"), start_of(request)
    if wanted is None or kept.attributes["request"] != wanted.to_json():
        rule = "be the solution that this solve begins with"
        raise BadValue(f"{path}: request", kept.attributes["request"], rule, "give the start of the same solve")
    return Solution(kept.datasets, kept.attributes)
