"""Tables with numbers like real ones: they fall like 1/(e^ε − 1)² and grow with the domain."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import pytest

from factormech import tables

MECHANISMS = {
    "randomized-response": 3.0,
    "rappor": 1.6,
    "subset-selection": 1.4,
    "hadamard": 1.5,
    "hadamard-table1": 2.6,
    "hierarchical": 1.0,
    "hierarchical-table1": 1.7,
    "fourier": 2.2,
    "fourier-3": 1.2,
}
WORKLOADS = {
    "histogram": 0.05,
    "prefix": 1.0,
    "all-ranges": 2.0,
    "all-marginals": 0.8,
    "3-way-marginals": 0.4,
    "at-most-3-way-parities": 9.0,
}
EPSILONS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)
OUTSIDE = "the workload is outside the strategy's row space (relative residual {:.3g})"


def rows(
    workloads: Mapping[str, float],
    mechanisms: Mapping[str, float],
    epsilons: Sequence[float],
    domain_sizes: Sequence[int],
    seeds: Sequence[int] | None,
) -> Iterator[dict[str, Any]]:
    for workload, weight in workloads.items():
        for n in domain_sizes:
            for epsilon in epsilons:
                for seed in seeds or [None]:
                    base = 400 * weight * n**0.6 / (math.exp(epsilon) - 1) ** 2
                    point = {"study": "t", "workload": workload, "domain_size": n, "epsilon": epsilon}
                    point |= {"metric": "mse", "alpha": 0.01} | ({} if seed is None else {"seed": seed})
                    bounds = {"svd": base * 0.3 * (1 - epsilon / 3.4), "centred-svd": base * 0.36}
                    strongest = max(bounds, key=bounds.__getitem__)
                    near = {"lower_bound": bounds[strongest], "bound_name": strongest}
                    for name, factor in mechanisms.items():
                        yield {
                            **point,
                            "mechanism": name,
                            **near,
                            **_measured(name, workload, base * factor, n, seed),
                        }
                    for name, value in bounds.items():
                        yield {
                            **point,
                            "mechanism": "lower-bound",
                            "bound_name": name,
                            "lower_bound": value,
                            "status": "bound",
                        }


def _measured(name: str, workload: str, value: float, n: int, seed: int | None) -> dict[str, Any]:
    if name == "rappor" and n > 16:
        return {"status": "unavailable", "reason": f"needs 2^{n} outputs, more than 65536"}
    if name == "fourier-3" and workload in ("histogram", "prefix", "all-ranges", "all-marginals"):
        return {"status": "refused", "reason": OUTSIDE.format(value / 1e7)}
    value *= 1 + 0.1 * (seed or 0)
    return {
        "status": "ok",
        "sample_complexity": value,
        "worst_variance": value * n * 0.01,
        "average_variance": value * n * 0.009,
    }


@pytest.fixture(scope="session")
def make_table() -> Callable[..., pd.DataFrame]:
    def make(
        workloads: Mapping[str, float] = WORKLOADS,
        mechanisms: Mapping[str, float] = MECHANISMS,
        epsilons: Sequence[float] = EPSILONS,
        domain_sizes: Sequence[int] = (512,),
        seeds: Sequence[int] | None = None,
    ) -> pd.DataFrame:
        return tables.from_rows(rows(workloads, mechanisms, epsilons, domain_sizes, seeds))

    return make
