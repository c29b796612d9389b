"""The optimisers' seconds, memory and distance from a certified lower bound, beside the published optimiser.

    python benchmarks/optimised.py [--cases 'table-prefix-*'] [--missing] [--timeout SECONDS] [--output FILE]
    python benchmarks/optimised.py --list | --table

Each case runs in a process of its own, with one thread, after a small solve that loads the compiled kernels; its line
replaces the one of that case in the CSV file, so that a run can be broken off and continued (``--missing`` takes only
the cases that have no good line). ``load`` is the machine's load when the case began: seconds are worth comparing where
it is near zero.

* ``table``: the registered mechanism with effort ``best`` and a budget of rows, 16n or 4n.
* ``large``: the general solver alone on larger domains, within its budget of rows.
* ``symmetric``: the solver for workloads that translations of {0,1}^d leave alone.
* ``exact``: the exact solver, on all 2^n sets; for n = 16 ``bound`` is the making of its exact certificate.
* ``peer``: the published optimiser (McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020), then ours with effort
  ``standard`` in the same process: ``pass_cpu_seconds`` is when ours, bound included, had passed what the other ended
  with.

``cpu_seconds`` and ``wall_seconds`` are without the lower bound, ``bound_*`` those of the bound; ``ratio`` is L over
the certified lower bound and ``rigorous_ratio`` over the one that holds in exact arithmetic.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

# Threads must be fixed before NumPy loads its BLAS.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["NUMBA_NUM_THREADS"] = "1"

import numpy as np

from factormech.bounds.pairwise import certified
from factormech.mechanisms.local import adaptive_pgd
from factormech.mechanisms.local.optimal import exact, mechanism, proof, search
from factormech.mechanisms.local.optimal.problem import Problem, Step
from factormech.mechanisms.local.symmetric import mixture
from factormech.mechanisms.local.symmetric import solver as symmetric
from factormech.store.atomic import replacing
from factormech.workloads.registry import create

COLUMNS = (
    "case",
    "workload",
    "domain_size",
    "epsilon",
    "budget",
    "status",
    "solver",
    "rows",
    "cpu_seconds",
    "wall_seconds",
    "bound_cpu_seconds",
    "bound_wall_seconds",
    "ratio",
    "rigorous_ratio",
    "peer_cpu_seconds",
    "peer_ratio",
    "pass_cpu_seconds",
    "times_faster",
    "peak_mebibytes",
    "load",
)
TIMEOUT = 1800


@dataclass(frozen=True)
class Case:
    """One line; ``factor`` is the budget of rows over n, 0 for none."""

    kind: str
    workload: str
    domain_size: int
    epsilon: float
    factor: int = 0

    @property
    def name(self) -> str:
        """By which it is asked for."""
        budget = f"-m{self.factor}n" if self.factor else ""
        return f"{self.kind}-{self.workload}-n{self.domain_size}-eps{self.epsilon:g}{budget}"


def cases() -> list[Case]:
    """All, the quick ones first within each kind."""
    three, epsilons = ("prefix", "all-ranges", "all-marginals"), (0.5, 1.0, 2.0, 4.0)
    found = [Case("exact", w, n, 1.0) for n in (16, 20) for w in ("prefix", "all-ranges")]
    budgets = [(64, 4), (64, 16), (128, 4), (128, 16), (256, 16), (512, 16)]
    found += [Case("table", w, n, e, factor) for n, factor in budgets for w in three for e in epsilons]
    found += [Case("symmetric", "3-way-marginals", 2**d, 1.0) for d in (7, 8, 10, 12, 14, 16, 18, 20)]
    found += [Case("symmetric", "at-most-3-way-parities", 2**d, 1.0) for d in (7, 10, 14)]
    found += [Case("symmetric", "all-marginals", 2**20, 1.0)]
    found += [Case("peer", "prefix", n, 1.0) for n in (256, 512, 1024)]
    # With 16n rows the largest would take more than the memory of a small machine.
    return found + [Case("large", "prefix", n, 1.0, factor) for n, factor in ((1024, 16), (2048, 16), (4096, 8))]


@dataclass
class Clock:
    """Seconds of a process and of the wall."""

    cpu: float = 0.0
    wall: float = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Add what happens here."""
        begin = time.process_time(), time.perf_counter()
        try:
            yield
        finally:
            self.cpu += time.process_time() - begin[0]
            self.wall += time.perf_counter() - begin[1]

    def of(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, clocked."""

        def clocked(*arguments: Any, **named: Any) -> Any:
            with self.running():
                return function(*arguments, **named)

        return clocked


@contextmanager
def bounds_clocked(clock: Clock) -> Iterator[None]:
    """The bounds that the registered mechanism computes, clocked apart from the rest of it."""
    rooms: tuple[tuple[Any, str], ...] = (
        (mechanism, "certified"),
        (mechanism.pairwise, "solve"),
        (mechanism, "centred_svd"),
        (proof, "rigorous_bound"),
    )
    kept = [getattr(room, name) for room, name in rooms]
    try:
        for (room, name), function in zip(rooms, kept, strict=True):
            setattr(room, name, clock.of(function))
        yield
    finally:
        for (room, name), function in zip(rooms, kept, strict=True):
            setattr(room, name, function)


def seconds(whole: Clock, bound: Clock) -> dict[str, float]:
    """The columns of a solve that took ``whole``, ``bound`` of it for the bound."""
    return {
        "cpu_seconds": whole.cpu - bound.cpu,
        "wall_seconds": whole.wall - bound.wall,
        "bound_cpu_seconds": bound.cpu,
        "bound_wall_seconds": bound.wall,
    }


def solve_registered(case: Case, report: Callable[[Step], None] | None = None, effort: str = "best") -> dict[str, Any]:
    """The mechanism with its options, as a study can ask for it."""
    workload = create(case.workload, case.domain_size)
    rows = case.factor * case.domain_size or None
    whole, bound = Clock(), Clock()
    with bounds_clocked(bound), whole.running():
        found = mechanism.MECHANISM.with_options(effort=effort, rows=rows).solve(
            workload, case.epsilon, np.random.default_rng(0), **({"report": report} if report else {})
        )
    record = found.record
    rigorous = record.get("rigorous_lower_bound")
    return {
        **seconds(whole, bound),
        "solver": record["chosen"],
        "rows": record["rows"],
        "objective": record["objective"],
        "lower_bound": record["lower_bound"],
        "ratio": record["objective"] / record["lower_bound"],
        "rigorous_ratio": record["objective"] / rigorous if rigorous else "",
    }


def solve_large(case: Case) -> dict[str, Any]:
    """The general solver, and the bound after it: what would stop it early is not told."""
    workload = create(case.workload, case.domain_size)
    n, C = workload.domain_size, workload.centred_gram()
    whole, bound = Clock(), Clock()
    with whole.running():
        options = replace(search.STANDARD, rows=case.factor * n)
        found = search.solve(Problem(C, case.epsilon), np.random.default_rng(0), options=options)
        with bound.running():
            least = n * certified(workload, case.epsilon) + float(np.trace(C))
    constant = workload.total_squared() / n
    return {
        **seconds(whole, bound),
        "solver": "general",
        "rows": len(found.supports),
        "ratio": (found.objective + constant) / (least + constant),
    }


def solve_symmetric(case: Case) -> dict[str, Any]:
    """The symmetric solver, whose bound takes a linear program."""
    workload = create(case.workload, case.domain_size)
    whole, bound = Clock(), Clock()
    kept = mixture.lower_bound
    mixture.lower_bound = bound.of(kept)
    try:
        with whole.running():
            found = symmetric.solve(workload, case.epsilon, rng=np.random.default_rng(0))
    finally:
        mixture.lower_bound = kept
    outputs = found.strategy.outputs
    return {**seconds(whole, bound), "solver": found.method, "rows": outputs, "ratio": found.ratio}


def solve_exact(case: Case) -> dict[str, Any]:
    """The exact solver, and its certificate for as many types as there is one."""
    workload = create(case.workload, case.domain_size)
    C, constant = workload.centred_gram(), workload.total_squared() / workload.domain_size
    whole, bound = Clock(), Clock()
    proved = proof.Proof()
    with whole.running():
        found = exact.solve(Problem(C, case.epsilon), np.random.default_rng(0))
        dual, multiplier = (np.asarray(found.details[key]) for key in ("dual", "multiplier"))
        if case.domain_size <= proof.CERTIFIED_UP_TO:
            with bound.running():
                proved = proof.certificate(workload, case.epsilon, dual, multiplier)
    L = found.objective + constant
    return {
        **seconds(whole, bound),
        "solver": "exact",
        "rows": len(found.supports),
        "ratio": L / (found.lower_bound + constant),
        "rigorous_ratio": L / proved.lower_bound if proved.lower_bound else "",
    }


@dataclass
class Told:
    """CPU seconds and objectives of what a solver reports."""

    begin: float = field(default_factory=time.process_time)
    steps: list[tuple[float, float]] = field(default_factory=list)

    def __call__(self, step: Step) -> None:
        """Hear of a step."""
        self.steps.append((time.process_time() - self.begin, step.objective))


def solve_beside_peer(case: Case) -> dict[str, Any]:
    """The published optimiser to its end, then ours, with the time at which it had passed the other."""
    workload = create(case.workload, case.domain_size)
    C, constant = workload.centred_gram(), workload.total_squared() / workload.domain_size
    peer = Clock()
    with peer.running():
        other = adaptive_pgd.MECHANISM.solve(workload, case.epsilon, np.random.default_rng(0))
    strategy = adaptive_pgd.MECHANISM.restore(other, case.epsilon)
    ended = strategy.objective(C, workload.total_squared())
    told = Told()
    ours = solve_registered(case, told, "standard")
    # Told is the centred part of what is found on the way; the end counts where nothing was told, or what was not kept.
    end = ours["cpu_seconds"] + ours["bound_cpu_seconds"]
    passed = [
        when for when, objective in [*told.steps, (end, ours["objective"] - constant)] if objective + constant <= ended
    ]
    return ours | {
        "peer_cpu_seconds": peer.cpu,
        "peer_ratio": ended / ours["lower_bound"],
        "pass_cpu_seconds": passed[0] if passed else "",
        "times_faster": peer.cpu / passed[0] if passed else "",
    }


SOLVERS: dict[str, Callable[[Case], dict[str, Any]]] = {
    "table": solve_registered,
    "large": solve_large,
    "symmetric": solve_symmetric,
    "exact": solve_exact,
    "peer": solve_beside_peer,
}


def warm_up() -> None:
    """Load or compile the kernels, with which no case should be charged."""
    rng = np.random.default_rng(0)
    adaptive_pgd.MECHANISM.solve(create("prefix", 8), 1.0, rng)
    for workload, n in (("prefix", 6), ("prefix", 24), ("all-marginals", 32)):
        mechanism.MECHANISM.solve(create(workload, n), 1.0, rng)
    # Larger domains are searched in single precision.
    search.solve(Problem(create("prefix", 160).centred_gram(), 1.0), rng, options=search.GeneralOptions(rounds=1))


def run_one(case: Case) -> dict[str, Any]:
    """In this process: the numbers of a case."""
    warm_up()
    found = SOLVERS[case.kind](case)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return {**found, "peak_mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit, "status": "ok"}


def run_apart(case: Case, timeout: float) -> dict[str, Any]:
    """In a process of its own; a failure is a line, too."""
    load = os.getloadavg()[0]
    command = [sys.executable, str(Path(__file__).resolve()), "--one", case.name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        found: dict[str, Any] = {"status": f"more than {timeout:g} s"}
    else:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        found = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"status": f"failed: {last}"}
    about = {"case": case.name, "workload": case.workload, "domain_size": case.domain_size, "epsilon": case.epsilon}
    return {**about, "budget": f"{case.factor}n" if case.factor else "", **found, "load": load}


def shown(name: str, value: Any) -> str:
    """A number with as many digits as mean something."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.8f}" if name.endswith("ratio") else f"{value:.4g}"


def read(path: Path) -> dict[str, dict[str, str]]:
    """The lines that are there, by case."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {line["case"]: line for line in csv.DictReader(file)}


def write(path: Path, lines: dict[str, dict[str, str]]) -> None:
    """All lines in the order of the cases, whole or not at all."""
    with replacing(path) as temporary, open(temporary, "x", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines[case.name] for case in cases() if case.name in lines)


def table(lines: Sequence[dict[str, str]]) -> str:
    """Markdown."""
    heads = [name for name in COLUMNS if name not in ("workload", "domain_size", "epsilon", "budget")]
    texts = [
        [line[name] if line["status"] == "ok" or name in ("case", "status") else "" for name in heads] for line in lines
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in [heads, ["---"] * len(heads), *texts])


def main() -> None:
    """Run the cases asked for, one after the other, or show what there is."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--cases", default="*", help="a pattern of names, such as 'table-prefix-n64-*'")
    parser.add_argument("--missing", action="store_true", help="only cases that have no good line yet")
    parser.add_argument("--timeout", type=float, default=TIMEOUT, help="seconds for a case")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".csv"))
    parser.add_argument("--list", action="store_true", help="only print the names of the cases")
    parser.add_argument("--table", action="store_true", help="only print the lines that there are, as markdown")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        [case] = [case for case in cases() if case.name == arguments.one]
        print(json.dumps(run_one(case)))
        return
    lines = read(arguments.output)
    asked = [case for case in cases() if fnmatch(case.name, arguments.cases)]
    if not asked:
        sys.exit(f"error: no case is called {arguments.cases!r}; --list shows them")
    if arguments.missing:
        asked = [case for case in asked if lines.get(case.name, {}).get("status") != "ok"]
    if arguments.list:
        print(*(case.name for case in asked), sep="\n")
    elif arguments.table:
        print(table([lines[case.name] for case in asked if case.name in lines]))
    else:
        measure(asked, lines, arguments.output, arguments.timeout)


def measure(asked: Sequence[Case], lines: dict[str, dict[str, str]], output: Path, timeout: float) -> None:
    """Run the cases; every line is written as soon as it is known."""
    for count, case in enumerate(asked, start=1):
        print(f"[{count}/{len(asked)}] {case.name} ...", flush=True)
        found = run_apart(case, timeout)
        lines[case.name] = {name: shown(name, found.get(name, "")) for name in COLUMNS}
        write(output, lines)
        line = lines[case.name]
        keys = [name for name in COLUMNS[5:] if line[name]] if line["status"] == "ok" else ["status"]
        print("   ", ", ".join(f"{name} {line[name]}" for name in keys), flush=True)


if __name__ == "__main__":
    main()
