"""The norms of workloads between certified ends, beside what is known of them without solving."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.norms import registry
from factormech.norms.approximate import labels_of
from factormech.norms.certified import CertifiedNorm
from factormech.norms.known import known
from factormech.workloads.base import Workload


@dataclass(frozen=True)
class NormQuestion:
    """A workload at one domain size, and the seed if chance has a part in it; ``concepts``: its ±1 labels are meant."""

    workload: Workload
    seed: int
    concepts: bool = False

    def subject(self, norm: str) -> Workload | FloatArray:
        """Return the subject of the norm: the workload, or the matrix of labels."""
        return labels_of(self.workload) if self.concepts or registry.quantity(norm).labels else self.workload


# The norm for a question and an α.
SolvedFor = Callable[[NormQuestion, float | None], CertifiedNorm]


def solved_here(norm: str, solver: str = "auto") -> SolvedFor:
    """Return the function that solves a norm in this process."""
    return lambda question, alpha: registry.compute(norm, question.subject(norm), alpha=alpha, solver=solver)


def alphas_of(norm: str, alphas: Sequence[float]) -> list[float | None]:
    """Return the errors α of a norm; ``[None]`` for a norm that has none."""
    return list(alphas) if registry.quantity(norm).tolerant else [None]


def measure_norm(
    norm: str, questions: Sequence[NormQuestion], alphas: Sequence[float], solved: SolvedFor
) -> Iterator[dict[str, Any]]:
    """Yield one record for each question and α."""
    for question in questions:
        workload = question.workload
        for alpha in alphas_of(norm, alphas):
            yield {
                "workload": workload.name,
                "domain_size": workload.domain_size,
                "seed": question.seed,
                "queries": workload.queries,
                "norm": norm,
                "entry_error": math.nan if alpha is None else alpha,
                **_answer(norm, question, alpha, solved),
            }


_NOTHING = {
    **dict.fromkeys(("lower", "upper", "trace_bound", "known_lower", "known_upper"), math.nan),
    **dict.fromkeys(("known", "method", "stopped"), ""),
}


def _answer(norm: str, question: NormQuestion, alpha: float | None, solved: SolvedFor) -> dict[str, Any]:
    try:
        question.subject(norm)
        found = solved(question, alpha)
    except BadValue as error:  # W does not fit in memory, is no concept class, or is too large for a general solver
        return {**_NOTHING, "status": "unavailable", "reason": str(error)}
    fact = known(norm, question.workload, alpha=alpha, concepts=question.concepts)
    numbers = {} if fact is None else {"known_lower": fact.lower, "known_upper": fact.upper, "known": fact.name}
    return {
        **_NOTHING,
        "lower": found.lower,
        "upper": found.upper,
        "trace_bound": _trace_bound(norm, question),
        **numbers,
        "method": str(found.record["method"]),
        "stopped": str(found.record["stopped"]),
        "status": "ok",
        "reason": "",
    }


def _trace_bound(norm: str, question: NormQuestion) -> float:
    """‖W‖_*/√(kN) from the closed form of the singular values, to rounding: at most every exact norm."""
    if registry.quantity(norm).exponent is None or question.concepts:
        return math.nan
    workload = question.workload
    return math.fsum(workload.singular_values().tolist()) / math.sqrt(workload.queries * workload.domain_size)
