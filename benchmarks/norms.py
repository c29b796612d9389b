"""CPU seconds to a certified gap: the norms' solvers beside general solvers and jax-privacy.

    OMP_NUM_THREADS=1 python benchmarks/norms.py [--only CASE …] [--output benchmarks/norms.csv]

A case names a norm, a matrix, the gap asked for and the seconds that it should take; every line says whether both were
met. A rival solves the same matrix in the same run, and its line has its seconds over those of the case (``ratio``);
general solvers are asked at the sizes that they can do. Their gap is the certified one of their answer, whatever they
say of it. The dense optimiser of jax-privacy (γ_F of prefix sums) is run where it is installed, twice: to its own
stopping rule, and to the gap of the case. It proves no lower end and is lent ours, to measure its factors by and to
stop at. Seconds are CPU seconds on one thread, the least of a few repetitions for what takes less than a second, after
kernels are compiled (also those of jax) and libraries loaded.

The file keeps the lines of the cases that were not run. A case called "as a matrix" withholds the structure from our
solver, as it is withheld from the rivals.
"""

from __future__ import annotations

import argparse
import csv
import importlib.metadata
import importlib.util
import itertools
import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Threads must be fixed before NumPy loads its BLAS, and jax its own.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", os.environ["OMP_NUM_THREADS"])
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("NPROC", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import numpy as np

from factormech.arrays import FloatArray
from factormech.norms import approximate, registry
from factormech.norms.boxes import around
from factormech.norms.certificates import upper_end
from factormech.norms.certified import CertifiedNorm, DenseFactor
from factormech.workloads.registry import create

COLUMNS = (
    "case",
    "method",
    "gap_asked",
    "lower",
    "upper",
    "gap",
    "cpu_seconds",
    "seconds_asked",
    "met",
    "ratio",
    "note",
)
Solver = Callable[[], CertifiedNorm]
# The prefix sums that Clarabel solves in just under a minute.
LARGEST = 60


@dataclass(frozen=True)
class Case:
    """What is solved, how near and how fast it should be, and by whom else."""

    name: str
    solve: Solver
    gap: float
    seconds: float
    rivals: tuple[tuple[str, Solver], ...] = ()


def signs(n: int) -> FloatArray:
    """A random ±1 matrix."""
    return create("random-signs", n, seed=0).matrix()


def prefix(n: int) -> FloatArray:
    """Prefix sums as a dense matrix, which no solver may know."""
    return create("prefix", n).matrix()


def thresholds(n: int) -> FloatArray:
    """Prefix sums as ±1 labels."""
    return 2.0 * prefix(n) - 1.0


def halfspaces(side: int = 16, reach: int = 3) -> FloatArray:
    """The 0/1 halfspaces of a square grid of points with small integer normals, each set once."""
    points = np.array(list(itertools.product(range(side), repeat=2)))
    normals = [(a, b) for a, b in itertools.product(range(-reach, reach + 1), repeat=2) if math.gcd(a, b) == 1]
    values = [points @ np.array(normal) for normal in normals]
    rows = {(v <= t).tobytes() for v in values for t in np.unique(v)}
    return np.array([np.frombuffer(row, dtype=bool) for row in sorted(rows)], dtype=np.float64)


def exact(norm: str, matrix: Any, **options: Any) -> Solver:
    """A norm by the registry, to a gap of 1e-6 unless told."""
    return lambda: registry.solve(norm, matrix, **options)


def rivals(norm: str, matrix: Any, names: tuple[str, ...] = ("CLARABEL", "SCS")) -> tuple[tuple[str, Solver], ...]:
    """General solvers; SCS is asked for the accuracy that it has a chance of."""
    asked: dict[str, dict[str, Any]] = {"CLARABEL": {}, "SCS": {"eps": 1e-6, "max_iters": 200_000}}
    return tuple((f"cvxpy {name}", exact(norm, matrix, method="cvxpy", solver=name, **asked[name])) for name in names)


def approximate_rivals(boxes: Any) -> tuple[tuple[str, Solver], ...]:
    """The same for an approximate norm."""
    return tuple(
        (f"cvxpy {name}", lambda name=name: approximate.solve(boxes, method=name)) for name in ("clarabel", "scs")
    )


def jax_privacy(n: int, gap: float) -> tuple[tuple[str, Solver], ...]:
    """γ_F of prefix sums by the dense optimiser of jax-privacy, where it is installed: its own stop, and this gap."""
    if importlib.util.find_spec("jax_privacy") is None:
        return ()
    name = f"jax-privacy {importlib.metadata.version('jax-privacy')} dense"
    return tuple((name, lambda asked=asked: _jax_privacy(n, asked)) for asked in (None, gap))


def _jax_privacy(n: int, gap: float | None) -> CertifiedNorm:
    """Its answer at its own stop (no gap), or at the first step where its objective is this near our lower end."""
    start = time.process_time()
    import jax
    from jax_privacy.matrix_factorization import dense

    jax.config.update("jax_enable_x64", True)
    ours = registry.solve("gamma-f", create("prefix", n))
    steps, compiled = 0, start

    def stop(step: Any) -> bool:
        """Its columns have norm 1, so that its objective is the squared upper end."""
        nonlocal steps, compiled
        steps = step.step + 1
        # Its first step compiles; the second compiles what its own stopping rule uses.
        own = dense.pg_tol_termination_fn(step)
        if steps <= 2:
            compiled = time.process_time()
        return own if gap is None else math.sqrt(float(step.loss)) <= (1.0 + gap) * ours.lower

    A = np.asarray(dense.optimize(n, callback=stop), dtype=np.float64)
    W = prefix(n)
    R = np.linalg.solve(A.T, W.T).T
    upper = upper_end(W, R, A, 2.0, n)[0]
    stopped = f"{'its own rule' if gap is None else 'gap'} after {steps} steps"
    record: dict[str, object] = {"method": "jax-privacy", "stopped": stopped, "compiling": compiled - start}
    return CertifiedNorm(ours.lower, upper, DenseFactor(R), DenseFactor(A), 0.0, {}, record)


def cases() -> Iterator[Case]:
    """Every case, the cheap ones first; those against rivals are small because the rivals are slow."""
    for n in (16, 32):
        W = prefix(n)
        for norm in ("gamma-2", "gamma-f"):
            yield Case(f"{norm} prefix {n}", exact(norm, create("prefix", n)), 1e-6, 0.2, rivals(norm, W))
    yield Case("gamma-2 random-signs 32", exact("gamma-2", signs(32)), 1e-6, 1.0, rivals("gamma-2", signs(32)))
    boxes = around(prefix(24), 0.1, shifted=False)
    solve = lambda: approximate.solve(boxes)  # noqa: E731
    yield Case("gamma-2-approximate prefix 24", solve, 1e-3, 1.0, approximate_rivals(boxes))
    yield from _prefix_sums()
    yield Case("gamma-f all-ranges 131072", exact("gamma-f", create("all-ranges", 131072)), 1e-6, 2.0)
    yield Case("gamma-2 prefix 1048576", exact("gamma-2", create("prefix", 2**20), gap=1e-5), 1e-5, 60.0)
    yield Case("gamma-2 all-ranges 64", exact("gamma-2", create("all-ranges", 64)), 1e-6, 10.0)
    yield Case("gamma-2 halfspaces 256", exact("gamma-2", halfspaces()), 1e-6, 10.0)
    yield Case("gamma-2 random-signs 1024", exact("gamma-2", signs(1024)), 1e-6, 10.0)
    yield Case("gamma-2 prefix 1024 as a matrix", exact("gamma-2", prefix(1024), method="dense"), 1e-6, 10.0)
    for n, seconds in ((128, 3.0), (256, 20.0)):
        for name, W, labels in (("prefix", prefix(n), thresholds(n)), ("random-signs", signs(n), signs(n))):
            yield from _approximate(f"{name} {n}", W, labels, seconds)
    yield Case("gamma-2-approximate prefix 512", lambda: approximate.approximate_norm(prefix(512), 0.1), 1e-3, 90.0)


def _prefix_sums() -> Iterator[Case]:
    """Each rival at its own largest sizes: Clarabel at what takes it a minute, jax-privacy at what takes it a few."""
    for n, name in ((LARGEST, "CLARABEL"), (64, "SCS"), (128, "SCS")):
        for norm in ("gamma-2", "gamma-f"):
            W, others = prefix(n), rivals(norm, prefix(n), (name,))
            yield Case(f"{norm} prefix {n}", exact(norm, create("prefix", n)), 1e-6, 0.2, others)
            yield Case(f"{norm} prefix {n} as a matrix", exact(norm, W, method="dense"), 1e-6, 1.0)
    yield Case("gamma-2 prefix 1024", exact("gamma-2", create("prefix", 1024)), 1e-6, 0.2)
    for n in (256, 512, 1024):
        yield Case(f"gamma-f prefix {n}", exact("gamma-f", create("prefix", n)), 1e-6, 0.2, jax_privacy(n, 1e-6))
        yield Case(f"gamma-f prefix {n} as a matrix", exact("gamma-f", prefix(n), method="dense"), 1e-6, 10.0)


def _approximate(name: str, W: FloatArray, labels: FloatArray, seconds: float) -> Iterator[Case]:
    """The four quantities over boxes, at α = 0.1."""
    yield Case(f"gamma-2-approximate {name}", lambda: approximate.approximate_norm(W, 0.1), 1e-3, seconds)
    yield Case(f"gamma-2-shifted {name}", lambda: approximate.approximate_norm(W, 0.1, shifted=True), 1e-3, seconds)
    yield Case(f"eta {name}", lambda: approximate.eta_norm(labels, 0.1), 1e-3, seconds)
    yield Case(f"margin-complexity {name}", lambda: approximate.margin_complexity(labels), 1e-3, seconds)


def clocked(solve: Solver) -> tuple[CertifiedNorm, float]:
    """An answer and its seconds: the least of three runs where one takes less than a second."""
    best = math.inf
    for _ in range(3):
        start = time.process_time()
        found = solve()
        taken = time.process_time() - start
        best = min(best, taken - found.record.get("compiling", 0.0))
        if best > 1.0:
            break
    return found, best


def lines(case: Case) -> Iterator[dict[str, Any]]:
    """The line of a case, and one for each rival."""
    found, seconds = clocked(case.solve)
    met = "yes" if found.gap <= case.gap and seconds <= case.seconds else "no"
    words = str(found.record.get("method", ""))
    yield _line(case, words, found, seconds) | {"seconds_asked": case.seconds, "met": met, "note": ""}
    for name, solve in case.rivals:
        other, taken = clocked(solve)
        ratio = f"{taken / seconds:.0f}" if seconds > 0.0 else ""
        note = f"it says {other.record.get('stopped', '')!r}"
        yield _line(case, name, other, taken) | {"seconds_asked": "", "met": "", "ratio": ratio, "note": note}


def _line(case: Case, method: str, found: CertifiedNorm, seconds: float) -> dict[str, Any]:
    ends = {"lower": f"{found.lower:.8f}", "upper": f"{found.upper:.8f}", "gap": f"{found.gap:.1e}"}
    return {
        "case": case.name,
        "method": method,
        "gap_asked": case.gap,
        **ends,
        "cpu_seconds": f"{seconds:.4f}",
        "ratio": "",
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], help="cases whose names begin so; the other lines are kept")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".csv"))
    arguments = parser.parse_args()
    exact("gamma-2", create("prefix", 64))()  # compiles or loads the kernels
    approximate.approximate_norm(prefix(8), 0.1)
    every = list(cases())
    table = kept(arguments.output)
    for case in every:
        if arguments.only and not case.name.startswith(tuple(arguments.only)):
            continue
        table[case.name] = []
        for line in lines(case):
            table[case.name].append(line)
            print(*(f"{key}={value}" for key, value in line.items() if value != ""), flush=True)
        write(arguments.output, [line for known in every for line in table.get(known.name, [])])
    if importlib.util.find_spec("jax_privacy") is None:
        print("jax-privacy is not installed: not measured", flush=True)


def kept(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The lines of a file by case."""
    table: dict[str, list[dict[str, Any]]] = {}
    if path.exists():
        with path.open(newline="") as file:
            for line in csv.DictReader(file):
                table.setdefault(line["case"], []).append(line)
    return table


def write(path: Path, table: list[dict[str, Any]]) -> None:
    """All lines."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main()
