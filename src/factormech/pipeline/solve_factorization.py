"""Find the factorization of a workload for a norm, with its certified interval."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from factormech.norms.stored import to_datasets
from factormech.studies.measures.norms import NormQuestion, solved_here
from factormech.studies.solves import Solve
from factormech.workloads.base import Workload


def solve(request: Solve, workload: Workload, _: Path | None) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The factors with the witness, and the ends, the residual and the solver's record."""
    question = NormQuestion(workload, request.seed or 0, bool(request.options.get("concepts", False)))
    datasets, record = to_datasets(solved_here(request.name)(question, request.alpha))
    return datasets, {
        "norm": request.name,
        "queries": workload.queries,
        "alpha": request.alpha,
        "concepts": question.concepts,
        **record,
    }
