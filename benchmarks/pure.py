"""Speed of pure noise and of projections on random ±1 queries: effective draws a second, and milliseconds a projection.

    OMP_NUM_THREADS=1 python benchmarks/pure.py [--output benchmarks/pure.csv]

Prints a CSV. CPU seconds on one thread, after kernels are compiled; the chain's pilot, which a body needs once, has a
column of its own. The effective sample size is the smallest of all coordinates, their squares, length and gauge
(:mod:`factormech.mechanisms.pure.bouncy`). Projections are of uniform data with K-norm noise for n = 200, at ε = 1.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from pathlib import Path

# Threads must be fixed before NumPy loads its BLAS.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", os.environ["OMP_NUM_THREADS"])

import numpy as np

from factormech.errors import Unavailable
from factormech.mechanisms.central.projection import Hull
from factormech.mechanisms.pure.bodies import body_of
from factormech.mechanisms.pure.bouncy import ChainDirections

COLUMNS = ("queries", "types", "draws", "pilot_seconds", "effective_a_second", "milliseconds_a_projection")
# (k, N) and the directions drawn: enough for the chain's own tests.
SHAPES = ((16, 256, 4000), (32, 1024, 4000), (64, 1024, 2000))
USERS, PROJECTIONS = 200, 200


def measured(k: int, N: int, draws: int) -> dict[str, float]:
    """One line."""
    rng = np.random.default_rng(k * N)
    Q = rng.choice((-1.0, 1.0), (k, N))
    body = body_of(Q)
    chain = ChainDirections(body)
    start = time.process_time()
    assert len(chain._pilot) == body.dimension
    ready = time.process_time()
    sample = chain.sample(rng, draws)
    done = time.process_time()
    if isinstance(sample, Unavailable) or sample.diagnosis is None:
        raise SystemExit(f"({k}, {N}): {sample}")
    D = sample.directions[rng.permutation(len(sample.directions))[:PROJECTIONS]]
    Z = rng.standard_gamma(body.dimension, (len(D), 1)) * body.answers(D)
    hull, Y = Hull(Q), Q.mean(axis=1) + Z / USERS
    hull.project_all(Y[:2])
    before = time.process_time()
    hull.project_all(Y)
    each = (time.process_time() - before) / len(Y)
    speed = sample.diagnosis.effective / (done - ready)
    found = (k, N, draws, round(ready - start, 2), round(speed, 1), round(1e3 * each, 3))
    return dict(zip(COLUMNS, found, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path)
    output = parser.parse_args().output
    measured(8, 64, 2000)  # compiles
    lines = [measured(*shape) for shape in SHAPES]
    for place in [sys.stdout, *([output.open("w", newline="")] if output else [])]:
        writer = csv.DictWriter(place, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
