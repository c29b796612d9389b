"""``factormech norm``: a factorization norm between two ends that hold in exact arithmetic."""

from __future__ import annotations

import argparse
import math
import time
from typing import TYPE_CHECKING, Any

from factormech.cli.answer import Answer, pairs, percent
from factormech.cli.asked import VECTORS_LIMIT, gap_limit_of, workload_of
from factormech.cli.progress import Progress
from factormech.errors import BadValue

if TYPE_CHECKING:
    from factormech.norms.certified import CertifiedNorm
    from factormech.workloads.base import Workload

_EXACT = {"gamma2": "gamma-2", "gammaF": "gamma-f", "gammap": "gamma-p"}
_TOLERANT = {"gamma2": "gamma-2-approximate", "gamma2-shifted": "gamma-2-shifted", "eta": "eta"}
_SYMBOLS = {"gamma2": "γ₂", "gammaF": "γF", "gammap": "γ₍ₚ₎", "gamma2-shifted": "γ̂₂", "eta": "η", "margin": "mc"}
# Copies of a k × N matrix, and of an (k + N) × (k + N) one, that the dense and the semidefinite solvers hold.
_DENSE_COPIES, _SEMIDEFINITE_COPIES = 8, 28


def norm(args: argparse.Namespace) -> Answer:
    """Solve, and say both ends."""
    limit = gap_limit_of(args)
    _check(args)
    workload = workload_of(args, VECTORS_LIMIT)
    start = time.perf_counter()
    with Progress(f"norm {args.kind} of {workload.name}"):
        found = _compute(args, workload)
    seconds = time.perf_counter() - start
    certified = found.gap <= limit
    reason = "" if certified else f"the gap {found.gap:.3g} is above the limit {limit:g} (--gap-limit)"
    data: dict[str, Any] = {
        "workload": workload.name,
        "domain_size": workload.domain_size,
        "queries": workload.queries,
        "norm": args.kind,
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


def _check(args: argparse.Namespace) -> None:
    """α and p are given where they mean something, and only there."""
    kind = args.kind
    if args.alpha is not None and kind not in _TOLERANT:
        remedy = f"leave it out: {', '.join(_TOLERANT)} have one"
        raise BadValue("--alpha", args.alpha, f"not be given for {kind}", remedy)
    if args.alpha is None and kind in ("gamma2-shifted", "eta"):
        raise BadValue("--alpha", None, f"be given for {kind}", "give for example --alpha 0.1")
    if args.alpha is not None and not 0.0 <= args.alpha < math.inf:
        raise BadValue("--alpha", args.alpha, "be a finite number of at least 0", "give for example --alpha 0.1")
    if args.p is not None and kind != "gammap":
        raise BadValue("--p", args.p, f"not be given for {kind}", "leave it out, or ask for gammap")
    if kind == "gammap" and (args.p is None or not 2.0 <= args.p < math.inf):
        rule = "be given for gammap, a finite number of at least 2"
        raise BadValue("--p", args.p, rule, "give for example --p 4 (gamma2 is the limit of large p)")


def _compute(args: argparse.Namespace, workload: Workload) -> CertifiedNorm:
    from factormech.arrays import check_dense_size
    from factormech.norms import registry
    from factormech.norms.labels import labels_of
    from factormech.norms.structured.by_workload import suits

    kind, k, n = args.kind, workload.queries, workload.domain_size
    if args.alpha is None and kind in _EXACT:
        p = {"gamma2": math.inf, "gammaF": 2.0}.get(kind, args.p)
        gap = registry.quantity("gamma-2").gap
        if not suits(workload, p, gap):
            check_dense_size(f"matrices of {workload.name}", _DENSE_COPIES * k, n)
        return registry.solve(_EXACT[kind], workload, p=args.p, gap=gap)
    check_dense_size(f"semidefinite matrices of {workload.name}", _SEMIDEFINITE_COPIES, k + n, k + n)
    if kind == "margin":
        return registry.compute("margin-complexity", labels_of(workload))
    subject = labels_of(workload) if kind == "eta" else workload
    return registry.compute(_TOLERANT[kind], subject, alpha=args.alpha)


def _lines(args: argparse.Namespace, workload: Workload, data: dict[str, Any]) -> list[str]:
    given = [f"α = {args.alpha:g}"] if args.alpha is not None else []
    given += [f"p = {args.p:g}"] if args.p is not None else []
    symbol = _SYMBOLS[args.kind] + (f", {', '.join(given)}" if given else "")
    return pairs(
        {
            "norm": f"{symbol} of {workload.name}: {workload.queries} queries over {workload.domain_size} user types",
            "at least": f"{data['lower_bound']:.10g}",
            "at most": f"{data['upper_bound']:.10g}",
            "gap": percent(data["gap"]),
            "solved in": f"{data['seconds']:.1f} s",
        }
    )
