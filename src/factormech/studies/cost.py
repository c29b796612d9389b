"""What a job will take, from its sizes: memory and time for a scheduler, minutes for the user who waits.

A job's work is described by :class:`Work`: numbers that its time is proportional to (n², n³, …) and the size of its
large arrays. Everything else is learned: for each rule and mechanism (or norm, or kind of study), ``costs.json`` has

    seconds = start + Σ_k rate_k · units_k,

least squares with rates ≥ 0 over the jobs of ``benchmarks/jobs.csv`` and its neighbours (``benchmarks/jobs.py``
measures and fits), and two lines that no job was above: seconds of the same form, and

    megabytes = base + rate₁ · √arrays + rate₂ · arrays.

A request is made from the latter, so that every job of the benchmark would have fitted into what it asks for; a job
that is tried again asks for twice as much.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from factormech.norms.registry import quantity

# Every strategy of these has a file, however cheap: ``tools/verify_strategies.py`` reads it.
VERIFIED = frozenset({"optimised"})
DEFAULT_ROWS = 4
# A scheduler's limit over the slowest known job: a job killed for being slow costs more than a generous limit.
LIMIT_FACTOR, LIMIT_MINUTES = 4.0, 2
# Two Snakemakes start a job on a cluster, and live as long as it does.
SNAKEMAKE_MB, MEMORY_FACTOR, MEMORY_STEP = 300, 1.25, 100
# What deserves a job and a file of its own, in seconds.
OWN_JOB = 1.0
# Jobs up to so many seconds are submitted in batches of their like; a job costs a cluster about four.
BATCH_SECONDS = (2, 8, 30)
MEBI = 2**20


@dataclass(frozen=True)
class Work:
    """The quantities that the time and the memory of a job depend on.

    ``units`` multiply the rates that are learned, ``arrays_mb`` is the size of the large arrays, and ``known`` are
    seconds that the job spends on work of other rules, such as strategies that have no file.
    """

    rule: str
    name: str = ""
    units: tuple[float, ...] = ()
    arrays_mb: float = 0.0
    known: float = 0.0


@dataclass(frozen=True)
class Fit:
    """The fit of the benchmark for the jobs of a rule, or for one mechanism there."""

    jobs: int
    start: float
    rates: tuple[float, ...]
    slow_start: float
    slow_rates: tuple[float, ...]
    base_mb: float
    array_rates: tuple[float, float]


def envelope(fits: Iterable[Fit]) -> Fit:
    """Return the most expensive of several fits in every respect, for names that have not been measured."""
    every = list(fits)
    return Fit(
        jobs=sum(fit.jobs for fit in every),
        start=max(fit.start for fit in every),
        rates=tuple(max(rates) for rates in zip(*(fit.rates for fit in every), strict=True)),
        slow_start=max(fit.slow_start for fit in every),
        slow_rates=tuple(max(rates) for rates in zip(*(fit.slow_rates for fit in every), strict=True)),
        base_mb=max(fit.base_mb for fit in every),
        array_rates=(max(fit.array_rates[0] for fit in every), max(fit.array_rates[1] for fit in every)),
    )


@cache
def fits() -> Mapping[tuple[str, str], Fit]:
    """(rule, name) → what was learned; the name "" stands for all others."""
    stored = json.loads(resources.files("factormech.studies").joinpath("costs.json").read_text())
    found = {}
    for rule, names in stored.items():
        for name, fit in names.items():
            rates = {key: tuple(fit[key]) for key in ("rates", "slow_rates", "array_rates")}
            found[rule, name] = Fit(**(fit | rates))
        found.setdefault((rule, ""), envelope(found[rule, name] for name in names))
    return found


@cache
def fit_of(rule: str, name: str) -> Fit:
    """Return the fit of the benchmark for a job."""
    known = fits()
    return known.get((rule, name)) or known[rule, ""]


def in_process_seconds(work: Work) -> float:
    """The time of the work itself, in a process that has started."""
    rates = fit_of(work.rule, work.name).rates
    return sum(rate * units for rate, units in zip(rates, work.units, strict=True))


def seconds(work: Work) -> float:
    """The time of a job on one core, its start included."""
    return fit_of(work.rule, work.name).start + in_process_seconds(work) + work.known


def slow_seconds(work: Work) -> float:
    """The time of the slowest jobs of this size."""
    fit = fit_of(work.rule, work.name)
    return fit.slow_start + sum(r * u for r, u in zip(fit.slow_rates, work.units, strict=True)) + work.known


def memory_mb(work: Work) -> float:
    """The most that a job of this size holds."""
    fit = fit_of(work.rule, work.name)
    return fit.base_mb + sum(r * a for r, a in zip(fit.array_rates, array_features(work.arrays_mb), strict=True))


def array_features(arrays_mb: float) -> tuple[float, float]:
    """Return what memory grows with: arrays of n² numbers, and lists of about n, such as rows an optimiser tries."""
    return math.sqrt(arrays_mb), arrays_mb


def requested_minutes(work: Work, attempt: int = 1) -> int:
    """The time limit of a job, in whole minutes; twice as much each time it is tried again."""
    slow = slow_seconds(work)
    return math.ceil(2.0 ** (attempt - 1) * (LIMIT_MINUTES + LIMIT_FACTOR * slow / 60))


def requested_memory_mb(work: Work, attempt: int = 1) -> int:
    """The memory limit of a job, with that of the Snakemakes around it; twice as much each time it is tried again."""
    most = MEMORY_FACTOR * memory_mb(work)
    return MEMORY_STEP * math.ceil(2.0 ** (attempt - 1) * (SNAKEMAKE_MB + most) / MEMORY_STEP)


def batch(rule: str, work: Work) -> str | None:
    """Return the name of the batch in which a cluster runs this job; None if the job is submitted alone."""
    limit = next((limit for limit in BATCH_SECONDS if seconds(work) <= limit), None)
    return None if limit is None else f"{rule}s-of-{limit}-seconds"


def _megabytes(numbers: float) -> float:
    return 8.0 * numbers / MEBI


def solve(mechanism: str, domain_size: int) -> Work:
    """Find one strategy: arrays of 4n × n."""
    n = float(domain_size)
    return Work("solve", mechanism, (n**2, n**3), _megabytes(25 * n**2))


def solve_seconds(mechanism: str, domain_size: int) -> float:
    """Find one strategy, in a process that has started."""
    return in_process_seconds(solve(mechanism, domain_size))


def deserves_a_job(mechanism: str, domain_size: int) -> bool:
    """Return whether a strategy is worth a job and a file of its own; others are solved where they are measured."""
    return mechanism in VERIFIED or solve_seconds(mechanism, domain_size) > OWN_JOB


def starts(mechanism: str, domain_sizes: Collection[int], row_factors: Collection[int], count: int) -> Work:
    """Solve from ``count`` starts for each number of rows; an iteration's cost is proportional to the rows."""
    rows = sum(row_factors) / DEFAULT_ROWS
    work = count * rows * sum(solve_seconds(mechanism, n) for n in domain_sizes)
    most = max(1.0, max(row_factors) / DEFAULT_ROWS)
    return Work("starts", mechanism, (work,), _megabytes(25 * max(domain_sizes) ** 2 * most))


def bound_point(bound: str, domain_size: int) -> Work:
    """Evaluate one bound on one workload at one budget."""
    n = float(domain_size)
    return Work("bound_point", bound, (n**2, n**3), _megabytes(5 * n**2))


def bound_seconds(bound: str, domain_size: int) -> float:
    """Evaluate one bound at one budget, in a process that has started."""
    return in_process_seconds(bound_point(bound, domain_size))


def bound_deserves_a_job(bound: str, domain_size: int) -> bool:
    """Return whether a bound is worth a job and a file of its own; others are evaluated where they are tabulated."""
    return bound_seconds(bound, domain_size) > OWN_JOB


def trace(mechanism: str, domain_sizes: Collection[int], count: int) -> Work:
    """Solve ``count`` times at each size and look at the clock."""
    work = count * sum(solve_seconds(mechanism, n) for n in domain_sizes)
    return Work("trace", mechanism, (work,), _megabytes(25 * max(domain_sizes) ** 2))


def iterate(sizes: Collection[int]) -> Work:
    """Clock iterations at each of these sizes, sixteen of them or, beyond 1024, three; with 4n rows."""
    work = sum(float(n) ** 3 * (16 if n <= 1024 else 3) for n in sizes)
    return Work("iterate", "", (work,), _megabytes(25 * max(sizes) ** 2))


def verify(domain_sizes: Collection[int]) -> Work:
    """Check strategies from their files: a dozen arrays of 16n × n, two of them as lists of numbers."""
    cubes = sum(float(n) ** 3 for n in domain_sizes)
    arrays = 192 * max(domain_sizes, default=1) ** 2
    return Work("verify_strategies", "", (len(domain_sizes), cubes), _megabytes(arrays))


def _structure(norm: str, workload: str) -> tuple[str, int]:
    """How a norm is solved, and the power of n that its time grows with."""
    if norm == "gamma-2-difference":
        return "difference", 4
    ranges = workload == "all-ranges"
    if quantity(norm).exponent is None:
        return ("approximate-ranges", 4) if ranges else ("approximate", 3)
    if workload == "prefix" or (ranges and norm == "gamma-f"):
        return "structured", 1
    return ("ranges", 4) if ranges else ("dense", 3)


def factorize(norm: str, workload: str, domain_size: int) -> Work:
    """Solve one norm: k × N matrices with k about n², or n; ten long vectors where W is not made."""
    n = float(domain_size)
    name, power = _structure(norm, workload)
    arrays = 640 * n if name == "structured" else 320 * n**2
    return Work("factorize", name, (n**power,), _megabytes(arrays))


def norm_seconds(norm: str, workload: str, domain_size: int) -> float:
    """Solve one norm of one workload, in a process that has started."""
    return in_process_seconds(factorize(norm, workload, domain_size))


def norm_deserves_a_job(norm: str, workload: str, domain_size: int) -> bool:
    """Whether a factorization is worth a job and a file of its own; others are solved where they are measured."""
    return norm_seconds(norm, workload, domain_size) > OWN_JOB


def on_a_grid(
    rule: str, name: str, workloads: int, domain_sizes: Collection[int], epsilons: int, seeds: int = 1
) -> Work:
    """One mechanism, or bound, over a grid: build a strategy at each size and ε, evaluate it on each workload.

    The centred Gram matrices of the study are held, and a dozen matrices of a strategy with at most 4n outputs.
    """
    cubes = sum(float(n) ** 3 for n in domain_sizes)
    squares = sum(float(n) ** 2 for n in domain_sizes)
    points = epsilons * workloads * seeds
    arrays = 2 * workloads * seeds * squares + 24 * max(domain_sizes, default=0) ** 2
    return Work(rule, name, (points * squares, (5 * epsilons + points) * cubes), _megabytes(arrays))


def collections(
    rule: str, name: str, workloads: int, domain_sizes: Collection[int], epsilons: int, seeds: int, count: int
) -> Work:
    """Run ``count`` collections at each point of a grid; a collection costs a report, and a report its types."""
    grid = on_a_grid(rule, name, workloads, domain_sizes, epsilons, seeds)
    reports = epsilons * seeds * count * float(sum(domain_sizes))
    return Work(rule, name, (grid.units[1], workloads * reports), grid.arrays_mb)


def experiment(kind: str, expected_seconds: float, expected_mb: float) -> Work:
    """A part of a study, from what its kind expects in a process that has started."""
    return Work("evaluate", kind, (expected_seconds,), expected_mb)


def table(rule: str) -> Work:
    """Tabulate, derive or draw: small tables."""
    return Work(rule)
