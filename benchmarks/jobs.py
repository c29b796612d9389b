"""What the jobs of the workflow take: gather the measurements of finished runs, and fit the costs to them.

    python benchmarks/jobs.py gather FOLDER [CONFIG] ...   # adds the jobs of finished runs to benchmarks/jobs.csv
    python benchmarks/jobs.py clock                        # clocks bounds, into the same table
    python benchmarks/jobs.py fit                          # writes src/factormech/studies/costs.json
    python benchmarks/jobs.py show                         # the fits, and how far the worst job is from each

A row of ``jobs.csv`` is one job: rule and name as :mod:`factormech.studies.cost` knows them, what its time and memory
depend on (``units``, ``arrays_mb``, ``known``), processor seconds and the most memory that it held. A job says in its
log what it took of the processor. Rows of before it did are of Snakemake, which looks at a job every few moments and
misses the last one: of a job of less than five seconds, the time by the clock was taken. The large solves are those of
``optimised.csv`` and ``adaptive_pgd.csv``.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import re
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import linprog, nnls

from factormech.bounds import registry as bounds_registry
from factormech.config.studies import load, read_yaml
from factormech.norms import registry as norms_registry
from factormech.pipeline.planning import Plan
from factormech.studies import cost
from factormech.studies.cost import Work
from factormech.workloads.registry import create

HERE = Path(__file__).resolve().parent
TABLE = HERE / "jobs.csv"
COSTS = HERE.parent / "src/factormech/studies/costs.json"
SCHEMA = HERE.parent / "workflow/schemas/config.schema.yaml"
FIELDS = ("rule", "name", "job", "units", "arrays_mb", "known", "seconds", "memory_mb")
# Where the benchmark file of a job is, in the folder of its rule.
PATTERNS = {
    "solve": r"(?P<file>.+)",
    "evaluate": r"(?P<study>.+)/(?P<part>[^/]+)",
    **dict.fromkeys(("tabulate", "derive", "draw"), r"(?P<study>.+)"),
}
# What a job says of itself when it ends (factormech.pipeline.common.run).
SAID = re.compile(r"^processor: ([\d.]+) s to start, ([\d.]+) s of work$", re.MULTILINE)
# The interpreter and its imports, where the jobs do not show less.
START_SECONDS, BASE_MB = 1.0, 100.0
# Less than this was seen before the job had imported anything.
IMPORTED_MB = 60.0
# Arrays up to this show nothing beside the rest; so many larger sizes tell √arrays from arrays.
SMALL_MB, DISTINCT_SIZES = 10.0, 3
# Of the arrays at least so much is held at a time, where few jobs say less.
LEAST_HELD = 0.25
# What a second that a kind of experiment expects of itself may take, at most.
LARGEST_RATE = 5.0
# Jobs whose units are seconds of solves, and how many seconds they must be of to tell a rate from their start.
IN_SECONDS, TELLING_SECONDS = frozenset({"trace", "starts"}), 1.0
# Assumed, not fitted: the strategies of a verification cannot be told from its name, so that its rates are those of an
# earlier hand fit; a clocked solve is taken for a solve and a half. Their memory and limits are guesses.
NOT_IN_RUNS: dict[str, dict[str, object]] = {
    "verify_strategies": {
        "jobs": 1,
        "rates": [0.5, 3e-8],
        "start": 1.0,
        "slow_rates": [0.75, 4.5e-8],
        "slow_start": 1.5,
        "array_rates": [0.0, 1.0],
        "base_mb": 100.0,
    },
    # A kind of study that has not been measured: what it expects of itself, and for a limit the most expensive known.
    "evaluate": {
        "jobs": 1,
        "rates": [1.5],
        "start": 1.5,
        "slow_rates": [LARGEST_RATE],
        "slow_start": 10.0,
        "array_rates": [0.0, 1.0],
        "base_mb": 250.0,
    },
    "trace": {
        "jobs": 1,
        "rates": [1.5],
        "start": 2.5,
        "slow_rates": [2.25],
        "slow_start": 3.75,
        "array_rates": [0.0, 1.5],
        "base_mb": 225.0,
    },
}
# Kinds that say what they take by the fits of what they call, such as the measurement of a strategy.
BY_OTHER_FITS = (
    *("sample-complexity", "simulated-collection", "data-dependent", "consistency", "optimality-gap"),
    *("initialisation", "timing", "norms", "prefix-factorizations"),
)
BY_OTHERS: dict[str, object] = {
    "jobs": 1,
    "rates": [1.0],
    "start": 0.4,
    "slow_rates": [2.0],
    "slow_start": 2.0,
    "array_rates": [0.0, 1.0],
    "base_mb": 0.0,
}
# Where the lower bounds are clocked, one by one: their jobs are mostly start.
BOUND_WORKLOADS, BOUND_SIZES = ("histogram", "prefix", "all-marginals", "3-way-marginals"), (64, 256, 512, 1024)
# Budgets that they are clocked at: weights are sought where reports say much.
BOUND_BUDGETS = (1.0, 4.0)
# Of the published optimiser: iterations of a solve, assumed.
PGD_ITERATIONS = 500


def gathered(folder: Path, config: Path) -> Iterator[dict[str, object]]:
    """The jobs that a finished run has measured."""
    plan = Plan(load(read_yaml(config), SCHEMA, base=folder))
    together = {*plan.studies} - {*plan.apart()}
    for rule, pattern in PATTERNS.items():
        root = folder / "results/benchmarks" / rule
        for path in sorted(root.rglob("*.tsv")):
            job = str(path.relative_to(root).with_suffix(""))
            match = re.fullmatch(pattern, job)
            wildcards = match.groupdict() if match else {}
            if wildcards.get("study") in together:
                wildcards.pop("part", None)
            try:
                work = plan.work(rule, wildcards, f"results/{job}.h5")
            except (KeyError, ValueError):
                continue  # a job of another configuration
            with path.open(newline="") as file:
                row = next(csv.DictReader(file, delimiter="\t"))
            log = folder / "results/logs" / rule / f"{job}.log"
            said = SAID.search(log.read_text()) if log.exists() else None
            if said is None or row["max_rss"] == "NA":
                continue  # it was not measured
            yield record(work, job, sum(map(float, said.groups())), float(row["max_rss"]))


def record(work: Work, job: str, seconds: float, memory_mb: float) -> dict[str, object]:
    """A row of the table."""
    units = " ".join(f"{u:.6g}" for u in work.units)
    numbers = {"arrays_mb": work.arrays_mb, "known": work.known, "seconds": seconds, "memory_mb": memory_mb}
    return {"rule": work.rule, "name": work.name, "job": job, "units": units} | {
        key: f"{value:.5g}" for key, value in numbers.items()
    }


def gather(runs: list[Path]) -> None:
    """Add the jobs of these runs; a job that is there already is replaced."""
    pairs = [(run, run / "config.yaml") if run.is_dir() else (run.parent, run) for run in runs]
    add(itertools.chain.from_iterable(gathered(folder, config) for folder, config in pairs))


def add(found: Iterable[dict[str, object]]) -> None:
    """Write rows into the table, in place of older ones of the same jobs."""
    rows = {(row["rule"], row["job"]): row for row in table()} if TABLE.exists() else {}
    rows |= {(row["rule"], row["job"]): row for row in found}
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[key] for key in sorted(rows))


def clocked_bounds() -> Iterator[dict[str, object]]:
    """Each lower bound in this process, after a small one that loads what is compiled: jobs of seconds, with starts as
    long, say little of it.
    """
    for bound in bounds_registry.names():
        for workload, n, epsilon in itertools.product(BOUND_WORKLOADS, BOUND_SIZES, BOUND_BUDGETS):
            asked = create(workload, n)
            before = time.process_time()
            bounds_registry.variance_bound(bound, asked, epsilon)
            seconds = time.process_time() - before
            if n > BOUND_SIZES[0]:
                job = f"{bound}/{workload}/n{n}/eps{epsilon}"
                yield record(cost.bound_point(bound, n), job, START_SECONDS + seconds, 0.0)


def table() -> list[dict[str, str]]:
    """The rows of jobs.csv."""
    with TABLE.open(newline="") as file:
        return list(csv.DictReader(file))


def rows() -> list[dict[str, str]]:
    """Everything that the fit sees: the jobs of runs, and the large solves of the other benchmarks."""
    found = table()
    with (HERE / "optimised.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            # Those called table- are of effort "best" with a budget of rows, which no job of the workflow asks for.
            usual = row["solver"] == "general" and not row["case"].startswith("table-")
            if row["status"] == "ok" and usual and int(row["domain_size"]) >= 128:
                work = cost.solve("optimised", int(row["domain_size"]))
                seconds = float(row["cpu_seconds"]) + float(row["bound_cpu_seconds"])
                # A process that ran another optimiser, too, does not say what this one held.
                held = 0.0 if row["peer_cpu_seconds"] else float(row["peak_mebibytes"])
                found.append(record(work, row["case"], seconds, held))
    with (HERE / "adaptive_pgd.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            work = cost.solve("adaptive-pgd", int(row["domain_size"]))
            seconds = PGD_ITERATIONS * float(row["seconds_per_iteration"])
            found.append(record(work, "adaptive_pgd.csv", seconds, float(row["peak_mebibytes"])))
            seconds = START_SECONDS + float(row["seconds_per_iteration"]) * (16 if work.units[0] <= 1024**2 else 3)
            work = cost.iterate([int(row["domain_size"])])
            found.append(record(work, "adaptive_pgd.csv", seconds, float(row["peak_mebibytes"])))
    return found + list(norm_rows())


def norm_rows() -> Iterator[dict[str, str]]:
    """The norms of norms.csv, which has their time but not their memory."""
    with (HERE / "norms.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            asked = re.fullmatch(r"(\S+) (\S+) (\d+)", row["case"])
            if not asked or "cvxpy" in row["method"] or not row["cpu_seconds"]:
                continue
            if asked[1] not in norms_registry.names():
                continue
            work = cost.factorize(asked[1], asked[2], int(asked[3]))
            yield record(work, row["case"], START_SECONDS + float(row["cpu_seconds"]), 0.0)


def line(features: np.ndarray, measured: np.ndarray, start: float) -> tuple[list[float], float]:
    """Rates ≥ 0 on top of a start, and the start: what is expected.

    Least squares with weights 1/measured, between absolute and relative errors: large jobs decide how long a sweep
    takes, small ones are many. A rate that the jobs are too small to show is a tenth of the start at the largest.
    """
    start = min(start, float(np.median(measured)))
    if not features.any():
        return [0.0] * features.shape[1], float(measured.mean())
    scale = np.maximum(features.max(axis=0), 1e-300)
    weights = 1 / np.sqrt(measured)
    rates = nnls(features / scale * weights[:, None], np.maximum(measured - start, 0.0) * weights)[0] / scale
    if not rates.any():
        rates[-1] = 0.1 * start / scale[-1]
    return list(rates), start


def upper_line(
    features: np.ndarray, measured: np.ndarray, start: float, small: np.ndarray, least: list[float]
) -> tuple[list[float], float]:
    """Rates ≥ ``least`` on top of a start, and the start, so that no job is above the line.

    The start is that of the dearest ``small`` job, and at least ``start``. Jobs of equal features are one size, of
    which the dearest counts; the rates are those of least excess, Σ line/measured over the sizes. So chance, which is
    large beside a small job, is not laid on the large ones, nor is one size's spread on another's.
    """
    start = float(max(start, measured[small].max(initial=0.0)))
    if not features.any():
        return [0.0] * features.shape[1], float(max(start, measured.max()))
    sizes, which = np.unique(features, axis=0, return_inverse=True)
    most = np.zeros(len(sizes))
    np.maximum.at(most, which.ravel(), measured)
    scale = np.maximum(sizes.max(axis=0), 1e-300)
    found = linprog(
        (sizes / scale / most[:, None]).sum(axis=0),
        A_ub=-sizes / scale,
        b_ub=start - most,
        bounds=[(low * unit, None) for low, unit in zip(least, scale, strict=True)],
    )
    return list(found.x / scale), start


def memory_line(arrays_mb: np.ndarray, held: np.ndarray) -> tuple[list[float], float]:
    """The most that jobs hold: on √arrays and arrays where there are sizes to tell them apart, else on arrays."""
    small = arrays_mb <= SMALL_MB
    least = 1.0 if small.all() else LEAST_HELD
    if len(np.unique(arrays_mb[~small])) >= DISTINCT_SIZES:
        features = np.array([cost.array_features(a) for a in arrays_mb])
        return upper_line(features, held, BASE_MB, small, [0.0, 0.0])
    (rate,), base = upper_line(arrays_mb[:, None], held, BASE_MB, small, [least])
    return [0.0, rate], base


def fit(observed: list[dict[str, str]]) -> dict[str, object]:
    """The costs that several jobs of one rule and name tell."""
    units = np.array([[float(u) for u in row["units"].split()] for row in observed]).reshape(len(observed), -1)
    column = {key: np.array([float(row[key]) for row in observed]) for key in FIELDS[4:]}
    own = np.maximum(column["seconds"] - column["known"], 0.1 * column["seconds"])
    rates, start = line(units, own, START_SECONDS)
    if observed[0]["rule"] == "evaluate" and rates[0] > LARGEST_RATE:
        # Imports that the kind did not count, not work: part of the start.
        imports = float(np.median(np.maximum(own - LARGEST_RATE * units[:, 0], START_SECONDS)))
        rates, start = [LARGEST_RATE], imports
    slow_rates, slow_start = upper_line(units, own, start, start + units @ np.array(rates) <= 2 * start, rates)
    seen = column["memory_mb"] > IMPORTED_MB
    array_rates, base = [0.0, 1.0], BASE_MB
    if seen.any():
        array_rates, base = memory_line(column["arrays_mb"][seen], column["memory_mb"][seen])
    return {
        "jobs": len(observed),
        "rates": [rounded(rate) for rate in rates],
        "start": rounded(start),
        "slow_rates": [rounded(rate) for rate in slow_rates],
        "slow_start": rounded(slow_start),
        "array_rates": [rounded(rate) for rate in array_rates],
        "base_mb": rounded(base),
    }


def rounded(value: float) -> float:
    """Four digits, upwards: a rounded fit still covers the jobs that it was fitted to."""
    if value == 0:
        return 0.0
    step = 10.0 ** (np.floor(np.log10(value)) - 3)
    return float(f"{np.ceil(value / step - 1e-9) * step:.4g}")


def costs() -> dict[str, dict[str, object]]:
    """Rule → name → fit, of all benchmarks."""
    groups: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in rows():
        groups.setdefault((row["rule"], row["name"]), []).append(row)
    found: dict[str, dict[str, object]] = {rule: {"": fit} for rule, fit in NOT_IN_RUNS.items()}
    found["evaluate"] |= dict.fromkeys(BY_OTHER_FITS, BY_OTHERS)
    for (rule, name), observed in sorted(groups.items()):
        if rule in IN_SECONDS and max(float(row["units"]) for row in observed) < TELLING_SECONDS:
            continue
        found.setdefault(rule, {})[name] = fit(observed)
    return found


def text() -> str:
    """What costs.json says."""
    lines = []
    for rule, names in costs().items():
        entries = ",\n".join(f"  {json.dumps(name)}: {json.dumps(found)}" for name, found in names.items())
        lines.append(f"{json.dumps(rule)}: {{\n{entries}\n}}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def show() -> None:
    """A line for each fit."""
    for rule, names in costs().items():
        for name, found in names.items():
            print(f"{rule:<20} {name:<32} {found}")


def main() -> None:
    """One of the four."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("gather", "clock", "fit", "show"))
    parser.add_argument("runs", nargs="*", type=Path, help="folders of finished runs, or their configuration files")
    asked = parser.parse_args()
    if asked.what == "gather":
        gather(asked.runs)
    elif asked.what == "clock":
        add(clocked_bounds())
    elif asked.what == "fit":
        COSTS.write_text(text())
    else:
        show()


if __name__ == "__main__":
    sys.exit(main())
