"""CPU seconds to a certified gap: the norms' solvers beside general solvers, in one run.

    OMP_NUM_THREADS=1 python benchmarks/norms.py [--only CASE …] [--output benchmarks/norms.csv]

A case names a norm, a matrix, the gap asked for and the seconds that it should take; every line says whether both were
met. A rival solves the same matrix in the same run, and its line has its seconds over those of the case (``ratio``);
general solvers are asked at the sizes that they can do. Their gap is the certified one of their answer, whatever they
say of it. The dense optimiser of jax-privacy (γ_F of prefix sums) is run where it is installed. Seconds are CPU seconds
on one thread, the least of a few repetitions for what takes less than a second, after kernels are compiled and
libraries loaded.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import itertools
import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Threads must be fixed before NumPy loads its BLAS.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", os.environ["OMP_NUM_THREADS"])

import numpy as np

from factormech.arrays import FloatArray
from factormech.norms import registry
from factormech.norms.approximate import norms as approximate
from factormech.norms.approximate.boxes import around
from factormech.norms.certified import CertifiedNorm
from factormech.norms.certify import upper_end
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


def exact(norm: str, matrix: Any, gap: float = 1e-6, **options: Any) -> Solver:
    """A norm by the registry."""
    return lambda: registry.solve(norm, matrix, gap=gap, **options)


def rivals(norm: str, matrix: Any) -> tuple[tuple[str, Solver], ...]:
    """Both general solvers; SCS is asked for the accuracy that it has a chance of."""
    asked = {"CLARABEL": {}, "SCS": {"eps": 1e-6, "max_iters": 200_000}}
    return tuple(
        (f"cvxpy {name}", lambda name=name, o=o: registry.solve(norm, matrix, method="cvxpy", solver=name, **o))
        for name, o in asked.items()
    )


def approximate_rivals(boxes: Any) -> tuple[tuple[str, Solver], ...]:
    """The same for an approximate norm."""
    return tuple(
        (f"cvxpy {name}", lambda name=name: approximate.solve(boxes, method=name)) for name in ("clarabel", "scs")
    )


def jax_privacy(n: int) -> tuple[tuple[str, Solver], ...]:
    """γ_F of prefix sums by the dense optimiser of jax-privacy, where it is installed."""
    if importlib.util.find_spec("jax_privacy") is None:
        return ()

    def solve() -> CertifiedNorm:
        import jax
        from jax_privacy.matrix_factorization import dense

        jax.config.update("jax_enable_x64", True)
        W = prefix(n)
        A = np.asarray(dense.optimize(n), dtype=np.float64)
        R = np.linalg.solve(A.T, W.T).T
        upper = upper_end(W, R, A, 2.0, n)[0]
        ours = registry.solve("gamma-f", create("prefix", n))
        return CertifiedNorm(ours.lower, upper, ours.left, ours.right, 0.0, {}, {"method": "jax-privacy dense"})

    return (("jax-privacy dense", solve),)


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
    yield Case("gamma-2 prefix 1024", exact("gamma-2", create("prefix", 1024)), 1e-6, 0.2)
    yield Case("gamma-f prefix 1024", exact("gamma-f", create("prefix", 1024)), 1e-6, 0.2, jax_privacy(1024))
    yield Case("gamma-f all-ranges 131072", exact("gamma-f", create("all-ranges", 131072)), 1e-6, 2.0)
    yield Case("gamma-2 prefix 1048576", exact("gamma-2", create("prefix", 2**20), 1e-5), 1e-5, 60.0)
    yield Case("gamma-2 all-ranges 64", exact("gamma-2", create("all-ranges", 64)), 1e-6, 10.0)
    yield Case("gamma-2 halfspaces 256", exact("gamma-2", halfspaces()), 1e-6, 10.0)
    yield Case("gamma-2 random-signs 1024", exact("gamma-2", signs(1024)), 1e-6, 10.0)
    yield Case("gamma-2 prefix 1024 as a matrix", exact("gamma-2", prefix(1024), method="dense"), 1e-6, 10.0)
    for n, seconds in ((128, 3.0), (256, 20.0)):
        for name, W, labels in (("prefix", prefix(n), thresholds(n)), ("random-signs", signs(n), signs(n))):
            yield from _approximate(f"{name} {n}", W, labels, seconds)
    yield Case("gamma-2-approximate prefix 512", lambda: approximate.approximate_norm(prefix(512), 0.1), 1e-3, 90.0)


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
        best = min(best, time.process_time() - start)
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
    parser.add_argument("--only", nargs="*", default=[], help="cases whose names begin so")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".csv"))
    arguments = parser.parse_args()
    exact("gamma-2", create("prefix", 64))()  # compiles or loads the kernels
    approximate.approximate_norm(prefix(8), 0.1)
    table: list[dict[str, Any]] = []
    for case in cases():
        if arguments.only and not case.name.startswith(tuple(arguments.only)):
            continue
        for line in lines(case):
            table.append(line)
            print(*(f"{key}={value}" for key, value in line.items() if value != ""), flush=True)
    if importlib.util.find_spec("jax_privacy") is None:
        print("jax-privacy is not installed: not measured", flush=True)
    with arguments.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main()
