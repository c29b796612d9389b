"""``factormech norm``: a factorization norm between two ends that hold in exact arithmetic."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from factormech.cli.answer import Answer, pairs, percent
from factormech.cli.asked import VECTORS_LIMIT, gap_limit_of, workload_of
from factormech.cli.progress import Progress
from factormech.errors import BadValue

if TYPE_CHECKING:
    from collections.abc import Callable

    from factormech.norms.certified import CertifiedNorm
    from factormech.norms.subsets.marginals import PolynomialNorm

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
    from factormech.studies import cost

    limit = gap_limit_of(args)
    name = questions.norm_name(args.kind, args.alpha)
    questions.check_norm(name, args.alpha, args.p)
    subject, described, ask = _subject(args)
    # Every order of error costs about as much; programs of classes on attributes have no model of their time.
    solved = "gamma-p3" if name == "gamma-p" else name
    expected = 0.0 if args.attributes else cost.norm_seconds(solved, subject, described["domain_size"])
    start = time.perf_counter()
    with Progress(f"norm {name} of {subject}", expected=expected):
        found = ask(name)
    seconds = time.perf_counter() - start
    certified = found.gap <= limit
    reason = "" if certified else f"the gap {found.gap:.3g} is above the limit {limit:g} (--gap-limit)"
    data: dict[str, Any] = {
        **described,
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
    return Answer(data, _lines(args, data), certified)


def _subject(args: argparse.Namespace) -> tuple[str, dict[str, Any], Callable[[str], CertifiedNorm | PolynomialNorm]]:
    """Return the subject of the norm, its part of the answer, and the function that computes a norm of it."""
    from factormech import questions

    if args.attributes is not None:
        from factormech.norms.subsets.norms import described

        if args.domain_size is not None:
            rule = "not be given together with --attributes"
            raise BadValue("--domain-size", args.domain_size, rule, "leave it out: there are 2^D user types")
        queries, users = described(args.workload, args.attributes)
        data = {"workload": args.workload, "attributes": args.attributes, "domain_size": users, "queries": queries}
        return (
            args.workload,
            data,
            lambda name: questions.norm(args.workload, name, alpha=args.alpha, p=args.p, attributes=args.attributes),
        )
    workload = workload_of(args, VECTORS_LIMIT)
    data = {"workload": workload.name, "domain_size": workload.domain_size, "queries": workload.queries}
    return workload.name, data, lambda name: questions.norm(workload, name, alpha=args.alpha, p=args.p)


def _lines(args: argparse.Namespace, data: dict[str, Any]) -> list[str]:
    given = [f"α = {args.alpha:g}"] if args.alpha is not None else []
    given += [f"p = {args.p:g}"] if args.p is not None else []
    symbol = _SYMBOLS.get(data["norm"], data["norm"]) + (f", {', '.join(given)}" if given else "")
    return pairs(
        {
            "norm": f"{symbol} of {data['workload']}: {data['queries']} queries over {data['domain_size']} user types",
            "at least": f"{data['lower_bound']:.10g}",
            "at most": f"{data['upper_bound']:.10g}",
            "gap": percent(data["gap"]),
            "solved in": f"{data['seconds']:.1f} s",
        }
    )
