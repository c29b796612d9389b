"""``factormech collect simulate``: simulate the reports of given users; seeded, and never a private release."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from factormech.cli.answer import Answer, counted, number, short, table, titled
from factormech.cli.asked import Stored, restored, stored_strategy, workload_of_stored
from factormech.cli.progress import Progress
from factormech.errors import BadValue

if TYPE_CHECKING:
    from factormech.arrays import FloatArray, IntArray
    from factormech.workloads.base import Workload

# Answers that are listed, in JSON and for a reader.
QUERIES_LIMIT, SHOWN = 1_000_000, 12


def simulate(args: argparse.Namespace) -> Answer:
    """Sample the reports once, estimate every answer, and give the standard error of each estimate."""
    from factormech.mechanisms.local.fitted import collect
    from factormech.seeds import rng_for

    if args.seed < 0:
        raise BadValue("--seed", args.seed, "be a whole number of at least 0", "try --seed 0")
    stored = stored_strategy(args.strategy, args.epsilon)
    workload = workload_of_stored(stored, args.workload, answers=True)
    if workload.queries > QUERIES_LIMIT:
        rule = f"have at most {QUERIES_LIMIT} queries to list"
        raise BadValue(f"workload {workload.name}", workload.queries, rule, "give fewer queries with --workload")
    x = _users(args, workload)
    with Progress(f"collecting from {int(x.sum())} users"):
        strategy = restored(stored)
        rng = rng_for(args.seed, "collect", "reports", stored.mechanism, workload.name)
        found = collect(stored.mechanism, strategy, workload, x, rng)
        evaluation = strategy.evaluate(workload.centred_gram())
        consistent = _consistent(workload, found.data, int(x.sum())) if args.consistent else None
    data = _data(stored, workload, x) | {"estimates": found.estimates, "standard_errors": found.standard_errors}
    data |= {} if consistent is None else {"consistent_estimates": workload.answer(consistent)}
    data |= {} if workload.query_names is None else {"query_names": list(map(str, workload.query_names))}
    data |= {"truth": workload.answer(x.astype(float)), "average_variance": evaluation.average}
    data |= {"worst_variance": evaluation.worst, "status": "ok", "reason": found.reason}
    return Answer(data, _lines(data))


def _users(args: argparse.Namespace, workload: Workload) -> IntArray:
    """Return the numbers of users by type: those of the file, or ``--users`` of them drawn from its shares."""
    import numpy as np

    from factormech.mechanisms.local.reports import check_counts
    from factormech.seeds import rng_for
    from factormech.workloads.counts import counts_of

    try:
        counts = counts_of(workload, args.data, whole=False)
    except BadValue as error:
        where = str(args.data) if error.name.startswith(("data", "types of")) else ""
        raise BadValue(f"{where}: {error.name}" if where else error.name, *_rest(error)) from None
    if args.users is None:
        return check_counts(counts)
    if not 1 <= args.users < 2**53:
        raise BadValue("--users", args.users, "be a whole number from 1 to 2**53", "try --users 10000")
    if not counts.sum() > 0.0:
        raise BadValue(str(args.data), 0, "be shares of at least 0, not all 0", "correct the data")
    rng = rng_for(args.seed, "collect", "users", str(len(counts)), str(args.users))
    return np.asarray(rng.multinomial(args.users, counts / counts.sum()), dtype=np.int64)


def _rest(error: BadValue) -> tuple[Any, str, str]:
    return error.value, error.rule, error.remedy


def _consistent(workload: Workload, estimate: FloatArray, users: int) -> FloatArray:
    from factormech.mechanisms.local.consistency import NonNegative

    return NonNegative(workload.gram(), fixed_total=True)(estimate, float(users)).values


def _data(stored: Stored, workload: Workload, x: IntArray) -> dict[str, Any]:
    return {
        "workload": workload.name,
        "domain_size": workload.domain_size,
        "queries": workload.queries,
        "epsilon": stored.epsilon,
        "mechanism": stored.mechanism,
        "file": str(stored.path),
        "users": int(x.sum()),
    }


def _lines(data: dict[str, Any]) -> list[str]:
    workload = titled(data["workload"], data["queries"], data["domain_size"])
    title = f"{workload}; {counted(data['users'], 'user')}, reports by {data['mechanism']}, ε = {data['epsilon']:g}"
    columns = {"estimate": "estimates", "standard error": "standard_errors"}
    columns |= {"consistent": "consistent_estimates"} if "consistent_estimates" in data else {}
    columns |= {"truth": "truth"}
    head = ["query", *columns]
    shown = min(SHOWN, data["queries"])
    names = [short(name) for name in data.get("query_names") or map(str, range(1, shown + 1))]
    rows = [
        [names[q], *(number(None if data[key] is None else float(data[key][q]), 6) for key in columns.values())]
        for q in range(shown)
    ]
    found = [title, "", *table(head, rows)]
    if shown < data["queries"]:
        found.append(f"… and {data['queries'] - shown} more: --json lists all")
    if data["reason"]:
        found.append(data["reason"])
    return [*found, "", "A seeded simulation, not a private release."]
