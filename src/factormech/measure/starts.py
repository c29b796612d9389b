"""What a solver finds from several random starts with several numbers of rows.

As in section 6.5 of McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020; the variances are set over a lower bound on
those of every strategy instead of over the best one found.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from factormech.local.registry import restore, solve_with_rows, strategy_spec
from factormech.measure.exact import Question
from factormech.unavailable import Unavailable


@dataclass(frozen=True)
class Starts:
    """Which starts: rows as multiples of the domain size, how many of each, and the root of their random streams."""

    row_factors: Sequence[int]
    starts: int
    root_seed: int = 0


def measure_starts(
    mechanism: str, questions: Sequence[Question], epsilons: Sequence[float], starts: Starts
) -> Iterator[dict[str, Any]]:
    """One record for each question, budget, number of rows and start; every start has a random stream of its own."""
    for asked, epsilon, factor, start in itertools.product(
        questions, epsilons, starts.row_factors, range(starts.starts)
    ):
        workload = asked.workload
        spec = strategy_spec(mechanism, workload, epsilon, seed=asked.seed, root_seed=starts.root_seed)
        rng = spec.stream(factor, start)
        found = solve_with_rows(mechanism, workload, epsilon, rng, factor * workload.domain_size)
        yield {
            "workload": workload.name,
            "domain_size": workload.domain_size,
            "seed": asked.seed,
            "epsilon": epsilon,
            "mechanism": mechanism,
            "row_factor": factor,
            "start": start,
            **_NOTHING,
        } | (_refused(found) if isinstance(found, Unavailable) else _found(mechanism, found, asked, epsilon))


_NOTHING = {"rows": math.nan, "average_variance": math.nan, "worst_variance": math.nan, "stopped": ""}


def _refused(reason: Unavailable) -> dict[str, Any]:
    return {"status": "unavailable", "reason": reason.reason}


def _found(mechanism: str, solution: Any, asked: Question, epsilon: float) -> dict[str, Any]:
    evaluation = restore(mechanism, solution, epsilon).evaluate(asked.centred_gram)
    if not evaluation.answered:
        return {"status": "refused", "reason": evaluation.refusal}
    return {
        "rows": float(evaluation.outputs),
        "average_variance": evaluation.average,
        "worst_variance": evaluation.worst,
        "stopped": str(solution.record["stopped"]),
        "status": "ok",
        "reason": "",
    }
