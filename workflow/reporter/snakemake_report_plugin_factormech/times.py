"""What each study took alone, from nothing: the benchmark files of all jobs that its files come from, added up.

Jobs that several studies need count in each, and once in the sum of all. A job without a benchmark file (its result was
copied, or the file deleted) is counted among the jobs but not among the measured ones, so that a part is not taken
for the whole.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HEADER = ("study", "jobs", "measured", "wall_seconds", "cpu_seconds")


@dataclass(frozen=True)
class Times:
    """The jobs of a study, how many were measured, and the seconds of these."""

    study: str
    jobs: int
    measured: int
    wall_seconds: float
    cpu_seconds: float


def closure(targets: Iterable[Any], dependencies: Mapping[Any, Mapping[Any, Any]]) -> set[Any]:
    """The targets, and every job that one of them comes from."""
    found: set[Any] = set()
    waiting = list(targets)
    while waiting:
        job = waiting.pop()
        if job not in found:
            found.add(job)
            waiting.extend(dependencies.get(job, {}))
    return found


def times(study: str, benchmarks: Sequence[Path | None]) -> Times:
    """The sums over some jobs, each given by its benchmark file, if its rule has one."""
    rows = [read(path) for path in benchmarks if path is not None and path.exists()]
    expected = sum(path is not None for path in benchmarks)
    wall, cpu = (math.fsum(row[i] for row in rows) for i in range(2))
    return Times(study, expected, len(rows), round(wall, 1), round(cpu, 1))


def read(path: Path) -> tuple[float, float]:
    """The seconds of the clock and of the processor in a benchmark file; a job too short to be sampled has none."""
    with path.open(newline="") as file:
        row = next(csv.DictReader(file, delimiter="\t"))
    return tuple(0.0 if row[name] in ("NA", "-") else float(row[name]) for name in ("s", "cpu_time"))  # type: ignore[return-value]


def table(rows: Iterable[Times]) -> str:
    """The rows as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows([getattr(row, name) for name in HEADER] for row in rows)
    return text.getvalue()
