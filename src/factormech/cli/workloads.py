"""``factormech workload``: the families, and the numbers of one workload."""

from __future__ import annotations

import argparse

from factormech.cli.answer import Answer, pairs
from factormech.cli.progress import Progress


def listed(args: argparse.Namespace) -> Answer:
    """The registered families."""
    from factormech.workloads.registry import names

    return Answer({"workloads": names(), "status": "ok"}, names())


def describe(args: argparse.Namespace) -> Answer:
    """Size, norms and spectrum of one workload."""
    from factormech.cli.asked import VECTORS_LIMIT, workload_of

    workload = workload_of(args, VECTORS_LIMIT)
    with Progress(f"spectrum of {workload.name}"):
        values, centred = workload.singular_values(), workload.centred_singular_values()
    sums = workload.column_sums()
    symmetric = workload.centred_walsh_spectrum() is not None
    data = {
        "workload": workload.name,
        "domain_size": workload.domain_size,
        "queries": workload.queries,
        "frobenius_norm": workload.frobenius_squared() ** 0.5,
        "least_column_sum": float(sums.min()),
        "largest_column_sum": float(sums.max()),
        "rank": int((values > 0).sum()),
        "largest_singular_value": float(values[0]),
        "least_singular_value": float(values[-1]),
        "nuclear_norm": float(values.sum()),
        "centred_nuclear_norm": float(centred.sum()),
        "symmetric": symmetric,
        "status": "ok",
    }
    lines = pairs(
        {
            "workload": workload.name,
            "domain size": f"{workload.domain_size}",
            "queries": f"{workload.queries}",
            "Frobenius norm": f"{data['frobenius_norm']:.10g}",
            "column sums": f"{sums.min():.10g} to {sums.max():.10g}",
            "rank": f"{data['rank']}",
            "singular values": f"{values[0]:.10g} to {values[-1]:.10g}, sum {values.sum():.10g}",
            "centred, sum": f"{centred.sum():.10g}",
            "symmetry": "translations of the bits" if symmetric else "none known",
        }
    )
    return Answer(data, lines)
