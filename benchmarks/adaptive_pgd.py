"""Time per iteration of the published optimiser against the domain size.

    OMP_NUM_THREADS=1 python benchmarks/adaptive_pgd.py [--large] [--output benchmarks/adaptive_pgd.csv]

As in section 6.6 of McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020: identity Gram matrix, random
4n × n strategy, ε = 1. One iteration is the objective with its gradient, the chain rule to the row minima,
a step, and the projection. The least of the repetitions is written, in seconds (what else the machine does
only adds), with the peak memory of the process so far (sizes ascend, so it is that of the size itself).
``--large`` adds n = 2048 and 4096.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import sys
from pathlib import Path

# Threads must be fixed before NumPy loads its BLAS.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", os.environ["OMP_NUM_THREADS"])

import numpy as np

from factormech.studies.measures.solvers import iterations

SIZES, LARGE_SIZES = (64, 128, 256, 512, 1024), (2048, 4096)
COLUMNS = (
    "domain_size",
    "rows",
    "repetitions",
    "seconds_per_iteration",
    "seconds_gradient",
    "seconds_projection",
    "peak_mebibytes",
    "threads",
)


def measure(n: int) -> dict[str, int | str]:
    """One line of the table."""
    repetitions = 15 if n <= 1024 else 2
    if n <= 1024:
        list(iterations(n, 1))  # compiles or loads the kernels, and touches the memory
    times = np.array([(one.seconds, one.gradient, one.projection) for one in iterations(n, repetitions)])
    total, gradient, projection = (f"{t:.6f}" for t in times.min(axis=0))
    unit = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit
    values = (n, 4 * n, repetitions, total, gradient, projection, peak, os.environ["OMP_NUM_THREADS"])
    return dict(zip(COLUMNS, values, strict=True))


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--large", action="store_true", help="also n = 2048 and 4096 (minutes, 3 GB)")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".csv"))
    arguments = parser.parse_args()
    lines = []
    for n in SIZES + (LARGE_SIZES if arguments.large else ()):
        lines.append(measure(n))
        print(*(f"{key}={value}" for key, value in lines[-1].items()), flush=True)
    with arguments.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
