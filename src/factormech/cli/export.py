"""``factormech strategy export``: the matrix of a stored strategy as text."""

from __future__ import annotations

import argparse

from factormech.cli.answer import Answer
from factormech.cli.asked import check_output, restored, stored_strategy
from factormech.errors import BadValue

# Entries of a matrix that are written as text: a gigabyte.
ENTRIES_LIMIT = 2**26


def export(args: argparse.Namespace) -> Answer:
    """One line for each output, one number for each user type; every float is written so that it can be read back."""
    from factormech.atomic import replacing
    from factormech.cli.progress import Progress
    from factormech.local.strategy import StrategyMatrix
    from factormech.local.symmetric.strategy import SymmetricStrategy

    check_output("Q.csv", args.out, (".csv",))
    stored = stored_strategy(args.strategy, args.epsilon)
    strategy = restored(stored)
    if isinstance(strategy, SymmetricStrategy):
        strategy = strategy.as_matrix()
    if not isinstance(strategy, StrategyMatrix):
        rule = f"have a matrix that can be listed, which {stored.mechanism} over {stored.domain_size} types has not"
        raise BadValue(str(stored.path), type(strategy).__name__, rule, "export a strategy of fewer user types")
    if strategy.matrix.size > ENTRIES_LIMIT:
        rule = f"have at most {ENTRIES_LIMIT} entries to be written as text"
        raise BadValue(str(stored.path), strategy.matrix.size, rule, "optimise with fewer --rows")
    with (
        Progress(f"writing {args.out}") as progress,
        replacing(args.out) as temporary,
        temporary.open("w", encoding="ascii", newline="\n") as file,
    ):
        for done, row in enumerate(strategy.matrix):
            progress.step(done, strategy.outputs)
            file.write(",".join(map(repr, row.tolist())) + "\n")
    data = {
        "workload": stored.workload,
        "domain_size": stored.domain_size,
        "epsilon": stored.epsilon,
        "mechanism": stored.mechanism,
        "rows": strategy.outputs,
        "privacy_loss": strategy.privacy_loss,
        "file": str(args.out),
        "status": "ok",
    }
    line = f"{args.out}: {strategy.outputs} outputs (lines) × {stored.domain_size} user types, ε = {stored.epsilon:g}"
    return Answer(data, [line])
