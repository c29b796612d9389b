"""``factormech strategy optimise``: the best strategy that the solvers find, with a certified gap."""

from __future__ import annotations

import argparse
import math
import time
from typing import TYPE_CHECKING, Any

from factormech.cli.answer import Answer, number, outputs, pairs, percent, titled
from factormech.cli.asked import check_output, epsilon_of, gap_limit_of, workload_of
from factormech.cli.progress import Progress, expected_seconds
from factormech.errors import BadValue

if TYPE_CHECKING:
    from factormech.workloads.base import Workload

MECHANISM = "optimised"


def optimise(args: argparse.Namespace) -> Answer:
    """Solve, write the file if ``--out`` names one, and say what was reached."""
    from factormech.mechanisms.base import mechanism
    from factormech.mechanisms.local.fitted import LocalFit

    epsilon, limit = epsilon_of(args), gap_limit_of(args)
    if args.out is not None:
        check_output("--out", args.out, (".h5", ".hdf5"))
    workload = workload_of(args)
    options = _options(args, workload)
    start = time.perf_counter()
    expected = expected_seconds(workload.domain_size, [MECHANISM])
    with Progress(f"optimising for {workload.name}", expected=expected) as progress:
        asked = mechanism(MECHANISM, epsilon, **options)
        fitted = asked.fit(workload, args.seed, args.root_seed, progress.told)
    seconds = time.perf_counter() - start
    if not isinstance(fitted, LocalFit) or fitted.solution is None:
        raise BadValue("mechanism", MECHANISM, "be solved", "report this error to the authors")
    record = fitted.solution.record
    if not math.isfinite(record["average_variance"]):
        rule = f"be enough outputs to answer {workload.name}"
        raise BadValue("--rows", args.rows, rule, "give more rows, or leave them to the solver")
    if args.out is not None:
        fitted.save(args.out)
    gap = float(record["gap"])
    certified = gap <= limit
    reason = "" if certified else f"the gap {gap:.3g} is above the limit {limit:g} (--gap-limit)"
    data = _data(args, workload, epsilon, record) | {"gap": gap, "seconds": seconds}
    data |= {"status": "ok" if certified else "no-certificate", "reason": reason}
    return Answer(data, _lines(data), certified)


def _options(args: argparse.Namespace, workload: Workload) -> dict[str, Any]:
    """Return the settings that differ from the defaults, checked."""
    options: dict[str, Any] = {}
    if args.objective != "average":
        options["objective"] = args.objective
    if args.effort != "standard":
        options["effort"] = args.effort
    if args.rows is not None:
        least = int((workload.centred_singular_values() > 0).sum()) + 1
        if args.rows < max(least, 2):
            rule = f"be at least {max(least, 2)}, one more than the rank of {workload.name} beyond its total"
            raise BadValue("--rows", args.rows, rule, "give more rows, or leave them to the solver")
        options["rows"] = args.rows
    return options


def _data(args: argparse.Namespace, workload: Workload, epsilon: float, record: Any) -> dict[str, Any]:
    return {
        "workload": workload.name,
        "domain_size": workload.domain_size,
        "queries": workload.queries,
        "epsilon": epsilon,
        "mechanism": MECHANISM,
        "optimised_for": args.objective,
        "effort": args.effort,
        "solver": record["chosen"],
        "objective": float(record["objective"]),
        "lower_bound": float(record["lower_bound"]),
        "worst_variance": float(record["worst_variance"]),
        "average_variance": float(record["average_variance"]),
        "rows": int(record["rows"]),
        "file": None if args.out is None else str(args.out),
    }


def _lines(data: dict[str, Any]) -> list[str]:
    found = {
        "workload": titled(data["workload"], data["queries"], data["domain_size"]),
        "privacy": f"ε = {data['epsilon']:g}, verified on the matrix itself",
        "strategy": f"{outputs(data['rows'])}, found by: {data['solver']}",
        "objective L": f"{number(data['objective'], 10)} (minimised for the {data['optimised_for']} variance)",
        "lower bound": f"{number(data['lower_bound'], 10)}, on the L of every unbiased linear ε-LDP strategy",
        "gap": percent(data["gap"]),
        "worst variance": f"{number(data['worst_variance'], 10)} that one user adds, summed over the queries",
        "average variance": number(data["average_variance"], 10),
        "solved in": f"{data['seconds']:.1f} s",
    }
    if data["file"] is not None:
        found["written to"] = data["file"]
    return pairs(found)
