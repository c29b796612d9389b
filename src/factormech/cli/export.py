"""``factormech strategy export``: the matrix Q of a stored strategy and its reconstruction V, as text."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factormech.cli.answer import Answer, number
from factormech.cli.asked import Stored, check_output, restored, stored_strategy, workload_of_stored
from factormech.errors import BadValue

if TYPE_CHECKING:
    from factormech.arrays import FloatArray
    from factormech.mechanisms.local.strategy import StrategyMatrix
    from factormech.workloads.base import Workload

# Entries of a matrix that are written as text: a gigabyte.
ENTRIES_LIMIT = 2**26
# The reconstruction of Q.csv is in Q-reconstruction.csv.
SUFFIX = "-reconstruction"
# Variances that differ by less are equal but for rounding.
_SAME = 1e-9


def export(args: argparse.Namespace) -> Answer:
    """Write Q, a line for each output, and V, a line for each query; every float reads back to equal bits."""
    check_output("Q.csv", args.out, (".csv",))
    stored = stored_strategy(args.strategy, args.epsilon)
    strategy = _matrix_of(stored)
    workload, reason = _queries_of(stored, args.workload, strategy)
    data = {
        "workload": stored.workload,
        "domain_size": stored.domain_size,
        "epsilon": stored.epsilon,
        "mechanism": stored.mechanism,
        "rows": strategy.outputs,
        "privacy_loss": strategy.privacy_loss,
        "file": str(args.out),
        "reconstruction": None,
        "status": "ok",
        "reason": reason,
    }
    variances = {} if workload is None else _variances(strategy, workload)
    _write(args.out, strategy.matrix)
    if workload is not None:
        from factormech.mechanisms.local.fitted import reconstruction_of

        path = args.out.with_name(f"{args.out.stem}{SUFFIX}{args.out.suffix}")
        _write(path, reconstruction_of(strategy, workload))
        data |= {"reconstruction": str(path), **variances}
    return Answer(data, _lines(data, workload))


def _matrix_of(stored: Stored) -> StrategyMatrix:
    from factormech.mechanisms.local.fitted import as_matrix

    found = restored(stored)
    strategy = as_matrix(found)
    if strategy is None:
        rule = (
            f"have a matrix that can be listed; {stored.mechanism} over {stored.domain_size} types has too many outputs"
        )
        raise BadValue(str(stored.path), type(found).__name__, rule, "export a strategy of fewer user types")
    if strategy.matrix.size > ENTRIES_LIMIT:
        rule = f"have at most {ENTRIES_LIMIT} entries to be written as text"
        raise BadValue(str(stored.path), strategy.matrix.size, rule, "optimise with fewer --rows")
    return strategy


def _queries_of(stored: Stored, given: str | None, strategy: StrategyMatrix) -> tuple[Workload | None, str]:
    """Return the queries that V answers, or the reason why there is no V."""
    try:
        workload = workload_of_stored(stored, given, answers=True)
    except BadValue as error:
        if given is not None:
            raise
        return None, f"no reconstruction: {error}"
    if workload.queries * strategy.outputs > ENTRIES_LIMIT:
        return None, f"no reconstruction: {workload.queries} queries × {strategy.outputs} outputs are too many as text"
    evaluation = strategy.evaluate(workload.centred_gram())
    return (workload, "") if evaluation.answered else (None, f"no reconstruction: {evaluation.refusal}")


def _variances(strategy: StrategyMatrix, workload: Workload) -> dict[str, float]:
    """Return the worst variance with the exported V, and with the textbook's V for the uniform prior."""
    from factormech.mechanisms.local.strategy import StrategyMatrix

    C = workload.centred_gram()
    textbook = StrategyMatrix(strategy.matrix, strategy.epsilon)
    return {
        "worst_variance": strategy.evaluate(C).worst,
        "textbook_worst_variance": textbook.evaluate(C).worst,
    }


def _write(path: Path, matrix: FloatArray) -> None:
    from factormech.cli.progress import Progress
    from factormech.store.atomic import replacing

    with (
        Progress(f"writing {path}") as progress,
        replacing(path) as temporary,
        temporary.open("w", encoding="ascii", newline="\n") as file,
    ):
        for done, row in enumerate(matrix):
            progress.step(done, len(matrix))
            file.write(",".join(map(repr, row.tolist())) + "\n")


def _lines(data: dict[str, Any], workload: Workload | None) -> list[str]:
    rows, n = data["rows"], data["domain_size"]
    lines = [
        f"{data['file']}: the strategy Q, {rows} outputs (lines) × {n} user types, ε = {data['epsilon']:g}; "
        "a user of type u reports output o with probability Q[o, u]"
    ]
    if workload is None:
        return [*lines, data["reason"]]
    worst, textbook = data["worst_variance"], data["textbook_worst_variance"]
    lines.append(
        f"{data['reconstruction']}: the reconstruction V, {workload.queries} queries (lines) × {rows} outputs; "
        "answers = V · y, where y[o] is how many users reported output o"
    )
    lines.append(f"worst variance with this V: {number(worst, 10)} that one user adds, summed over the queries")
    if textbook > worst * (1.0 + _SAME):
        lines.append(f"with the textbook's V = W X⁺ Qᵀ D⁻¹ it would be {number(textbook, 10)}: use the exported V")
    return lines
