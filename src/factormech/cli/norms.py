"""``factormech norm``: a factorization norm between two ends that hold in exact arithmetic."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from factormech.cli.answer import Answer, pairs, percent, titled
from factormech.cli.asked import VECTORS_LIMIT, gap_limit_of, workload_of
from factormech.cli.progress import Progress

if TYPE_CHECKING:
    from factormech.workloads.base import Workload

_SYMBOLS = {
    "gamma-2": "γ₂",
    "gamma-f": "γF",
    "gamma-p": "γ₍ₚ₎",
    "gamma-2-approximate": "γ₂",
    "gamma-2-shifted": "γ̂₂",
    "gamma-2-difference": "γ₂ of differences",
    "eta": "η",
    "margin-complexity": "mc",
}


def norm(args: argparse.Namespace) -> Answer:
    """Compute the norm, and return both ends."""
    from factormech import questions
    from factormech.measure import cost

    limit = gap_limit_of(args)
    name = questions.norm_name(args.kind, args.alpha)
    questions.check_norm(name, args.alpha, args.p)
    workload = workload_of(args, VECTORS_LIMIT)
    start = time.perf_counter()
    measured = "gamma-p3" if name == "gamma-p" else name  # every order of error costs about as much
    expected = cost.norm_seconds(measured, workload.name, workload.domain_size)
    with Progress(f"norm {name} of {workload.name}", expected=expected):
        found = questions.norm(workload, name, alpha=args.alpha, p=args.p)
    seconds = time.perf_counter() - start
    certified = found.gap <= limit
    reason = "" if certified else f"the gap {found.gap:.3g} is above the limit {limit:g} (--gap-limit)"
    data: dict[str, Any] = {
        "workload": workload.name,
        "domain_size": workload.domain_size,
        "queries": workload.queries,
        "norm": name,
        **({"alpha": args.alpha} if args.alpha is not None else {}),
        **({"p": args.p} if args.p is not None else {}),
        "lower_bound": found.lower,
        "upper_bound": found.upper,
        "gap": found.gap,
        "seconds": seconds,
        "status": "ok" if certified else "no-certificate",
        "reason": reason,
    }
    return Answer(data, _lines(args, workload, data), certified)


def _lines(args: argparse.Namespace, workload: Workload, data: dict[str, Any]) -> list[str]:
    given = [f"α = {args.alpha:g}"] if args.alpha is not None else []
    given += [f"p = {args.p:g}"] if args.p is not None else []
    symbol = _SYMBOLS.get(data["norm"], data["norm"]) + (f", {', '.join(given)}" if given else "")
    return pairs(
        {
            "norm": f"{symbol} of {titled(workload.name, workload.queries, workload.domain_size)}",
            "at least": f"{data['lower_bound']:.10g}",
            "at most": f"{data['upper_bound']:.10g}",
            "gap": percent(data["gap"]),
            "solved in": f"{data['seconds']:.1f} s",
        }
    )
