"""One BLAS thread, as in jobs; and tables with numbers like real ones, of sample complexities and of collections.

They fall like 1/(e^ε − 1)² and grow with the domain.
"""

from __future__ import annotations

import os

# Before NumPy is imported: with as many workers as cores, more threads only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import copy
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from factormech import plugins
from factormech.tables import kinds as tables

# Folders whose modules need the same machine code: two workers would compile it at the same time, for 10 s each.
TOGETHER = {"tests/central/pure"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """``pytest --plugin mine.py tests/test_promises.py`` runs what every registered name is held to on yours, too."""
    parser.addoption("--plugin", action="append", default=[], help="a plugin whose names the tests know")


def pytest_configure(config: pytest.Config) -> None:
    for path in config.getoption("--plugin"):
        plugins.load(Path(path))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Workers take whole modules, in this order: runs of the workflow last, which use the cores of idle workers.

    Their copies of the project get the machine code that the tests before them have compiled.
    """
    items.sort(key=lambda item: item.get_closest_marker("workflow") is not None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """``--dist loadscope``, but the modules of :data:`TOGETHER` go to one worker."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            folder = nodeid.partition("::")[0].rpartition("/")[0]
            return folder if folder in TOGETHER else super()._split_scope(nodeid)

    return Scheduling(config, log) if config.getoption("dist") == "loadscope" else None


@pytest.fixture(scope="module")
def schema_read_once() -> Iterator[None]:
    """The schema of the configuration is parsed once: YAML takes longer than the check of a configuration."""
    from factormech.config import studies

    kept: dict[str, dict[str, Any]] = {}

    def read(path: str | os.PathLike[str], read: Callable[..., dict[str, Any]] = studies.read_yaml) -> dict[str, Any]:
        name = os.fspath(path)
        if not name.endswith(".schema.yaml"):
            return read(path)
        if name not in kept:
            kept[name] = read(path)
        return copy.deepcopy(kept[name])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(studies, "read_yaml", read)
        yield


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
    seeds: Sequence[int],
) -> Iterator[dict[str, Any]]:
    for workload, weight in workloads.items():
        for n in domain_sizes:
            for epsilon in epsilons:
                for seed in seeds:
                    base = 400 * weight * n**0.6 / (math.exp(epsilon) - 1) ** 2
                    point = {"study": "t", "workload": workload, "domain_size": n, "epsilon": epsilon}
                    point |= {"metric": "mse", "alpha": 0.01, "seed": seed}
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


def _measured(name: str, workload: str, value: float, n: int, seed: int) -> dict[str, Any]:
    if name == "rappor" and n > 16:
        return {"status": "unavailable", "reason": f"needs 2^{n} outputs, more than 65536"}
    if name == "fourier-3" and workload in ("histogram", "prefix", "all-ranges", "all-marginals"):
        return {"status": "refused", "reason": OUTSIDE.format(value / 1e7)}
    value *= 1 + 0.1 * seed
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
        seeds: Sequence[int] = (0,),
    ) -> pd.DataFrame:
        return tables.from_rows(rows(workloads, mechanisms, epsilons, domain_sizes, seeds))

    return make


def collections(
    workloads: Sequence[str],
    mechanisms: Mapping[str, float],
    epsilons: Sequence[float],
    domain_sizes: Sequence[int],
    users: Sequence[int],
    populations: Sequence[str],
    seeds: Sequence[int],
) -> Iterator[dict[str, Any]]:
    """Measured errors off by up to a tenth of a deviation; RAPPOR is unavailable for many types, or for many users."""
    grid = itertools.product(workloads, domain_sizes, epsilons, populations, users, seeds, mechanisms)
    for i, (workload, n, epsilon, population, count, seed, name) in enumerate(grid):
        variance = mechanisms[name] * n / (math.exp(epsilon) - 1) ** 2 * (1.2 if population == "zipf" else 1.0)
        point = {"study": "c", "workload": workload, "domain_size": n, "epsilon": epsilon, "seed": seed}
        point |= {"population": population, "users": count, "mechanism": name}
        point |= {"metric": "mse", "trials": 50, "level": 1e-6}
        if name == "rappor" and n > 16:
            yield {**point, "status": "unavailable", "reason": f"needs 2^{n} outputs"}
        elif name == "fourier-3" and workload == "prefix":
            yield {**point, "status": "refused", "reason": OUTSIDE.format(0.1)}
        elif name == "rappor" and count > 10**5:
            yield {**point, "exact_error": variance / count, "status": "unavailable", "reason": "too many users"}
        else:
            yield {**point, **_collected(variance / count, 0.1 * math.sin(i))}


def _collected(exact: float, z: float) -> dict[str, Any]:
    deviation = math.sqrt(0.1 / 50)
    measured = exact * (1 + z * deviation)
    p = math.erfc(abs(z) / math.sqrt(2))
    return {
        "exact_error": exact,
        "measured_error": measured,
        "standard_error": exact * deviation,
        "interval_low": measured * 0.8,
        "interval_high": measured * 1.3,
        "ratio_to_exact": measured / exact,
        "z_score": z,
        "p_value": p,
        "bias_ratio": 1.0 + z,
        "bias_p_value": p,
        "relative_variance": 0.1,
        "relative_scale": 0.05,
        "status": "ok",
        "reason": "",
    }


@pytest.fixture(scope="session")
def make_collections() -> Callable[..., pd.DataFrame]:
    def make(
        workloads: Sequence[str] = ("histogram", "prefix"),
        mechanisms: Mapping[str, float] = MECHANISMS,
        epsilons: Sequence[float] = (0.5, 2.0),
        domain_sizes: Sequence[int] = (16,),
        users: Sequence[int] = (100, 10**4, 10**6),
        populations: Sequence[str] = ("uniform",),
        seeds: Sequence[int] = (0,),
    ) -> pd.DataFrame:
        rows_ = collections(workloads, mechanisms, epsilons, domain_sizes, users, populations, seeds)
        return tables.from_rows(rows_, "simulated-collection")

    return make
