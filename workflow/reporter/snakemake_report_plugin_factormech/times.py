"""What each study took alone, from nothing: what all jobs took that its files come from, added up.

The clock and the memory are from Snakemake's benchmark files. The processor's seconds are what a job says of itself in
its log: Snakemake looks at a job every half second and later every half minute, and misses what comes after. Of a job
that says nothing, the benchmark file's are taken.

Jobs that several studies need count in each, and once in the sum of all. A job without a benchmark file (its result was
copied, or the file deleted) is counted among the jobs but not among the measured ones, so that a part is not taken
for the whole. Jobs are also added up by rule, and by what they are about there: a mechanism, a norm, a bound, a study.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HEADER = ("study", "jobs", "measured", "wall_seconds", "cpu_seconds")
KINDS_HEADER = ("rule", "name", "jobs", "measured", "wall_seconds", "cpu_seconds", "start_seconds", "peak_mebibytes")
# The wildcards that say what a job is about, the first that it has.
ABOUT = ("mechanism", "norm", "bound", "study")
# What a job says at its end (factormech.pipeline.common.run).
SAID = re.compile(r"^processor: ([\d.]+) s to start, ([\d.]+) s of work$", re.MULTILINE)


@dataclass(frozen=True)
class Times:
    """The jobs of a study, how many were measured, and the seconds of these."""

    study: str
    jobs: int
    measured: int
    wall_seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class Kind:
    """The jobs of a rule that are about one thing: how many, and what they took; ``start`` is a part of ``cpu``."""

    rule: str
    name: str
    jobs: int
    measured: int
    wall_seconds: float
    cpu_seconds: float
    start_seconds: float
    peak_mebibytes: float


@dataclass(frozen=True)
class Job:
    """A job that is to be counted: its rule, what it is about, its benchmark file and its log."""

    rule: str
    name: str
    benchmark: Path
    log: Path | None


def about(wildcards: Mapping[str, str]) -> str:
    """What a job is about; all quick studies are one."""
    return next((str(wildcards[key]).removeprefix("quick/") for key in ABOUT if key in wildcards), "")


def kinds(jobs: Iterable[Job]) -> list[Kind]:
    """The sums by rule and name, the dearest first."""
    groups: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        groups.setdefault((job.rule, job.name), []).append(job)
    found = [kind(*key, group) for key, group in groups.items()]
    return sorted(found, key=lambda kind: (-kind.cpu_seconds, kind.rule, kind.name))


def kind(rule: str, name: str, jobs: Sequence[Job]) -> Kind:
    """The sums over some jobs."""
    taken = [found for job in jobs if (found := measured(job))]
    wall, cpu, start = (round(math.fsum(t[i] for t in taken), 1) for i in range(3))
    return Kind(rule, name, len(jobs), len(taken), wall, cpu, start, round(max((t[3] for t in taken), default=0.0)))


def measured(job: Job) -> tuple[float, float, float, float] | None:
    """Seconds of the clock, of the processor, of it before the work began, and MiB; none without a benchmark file."""
    if not job.benchmark.exists():
        return None
    wall, cpu, peak = read(job.benchmark)
    log = job.log.read_text(encoding="utf-8", errors="replace") if job.log and job.log.exists() else ""
    if said := SAID.search(log):
        start, work = map(float, said.groups())
        return wall, start + work, start, peak
    return wall, cpu, 0.0, peak


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


def times(study: str, jobs: Sequence[Job]) -> Times:
    """The sums over some jobs."""
    every = kind("", "", jobs)
    return Times(study, every.jobs, every.measured, every.wall_seconds, every.cpu_seconds)


def read(path: Path) -> tuple[float, float, float]:
    """Seconds of the clock and of the processor, and MiB, in a benchmark file; a very short job has no samples."""
    with path.open(newline="") as file:
        row = next(csv.DictReader(file, delimiter="\t"))
    wall, cpu, peak = (0.0 if row[name] in ("NA", "-") else float(row[name]) for name in ("s", "cpu_time", "max_rss"))
    return wall, cpu, peak


def table(rows: Iterable[Times]) -> str:
    """The studies as CSV."""
    return text_of(HEADER, rows)


def table_of_kinds(rows: Iterable[Kind]) -> str:
    """The kinds of jobs as CSV."""
    return text_of(KINDS_HEADER, rows)


def text_of(header: Sequence[str], rows: Iterable[object]) -> str:
    """Objects by their attributes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([getattr(row, name) for name in header] for row in rows)
    return text.getvalue()
