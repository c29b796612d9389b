"""What a job will take, from its sizes: memory and time for the scheduler, minutes for the person who waits.

The constants were fitted to the benchmark files of full runs on one 2.x GHz core (``benchmarks/cost.py`` prints them
again); a scheduler's limit is several times the expectation, since a job killed for being slow costs more than a
generous limit.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from factormech.norms.registry import quantity

# Seconds: interpreter and imports of a job; per n³ to build and factor a strategy; per n³ to evaluate one workload.
START_SECONDS = 0.9
BUILD_SECONDS = 6e-10
EVALUATE_SECONDS = 1.2e-10
SPECTRUM_SECONDS = 4e-9
DRAW_SECONDS = 4.0
# Compiled kernels are loaded, and made on the first run of a machine.
SOLVER_START_SECONDS = 2.5
SOLVE_SECONDS = {
    "optimised": 1.1e-7,
    "adaptive-pgd": 1.3e-7,
    "matrix-l1": 5e-8,
    "matrix-l2": 8e-9,
    "matrix-l2-gaussian": 2.5e-8,
}
SOLVE_SECONDS_OTHERS = 2e-7
# Of a lower bound at one budget: the certified ones search, the others are a spectrum.
BOUND_SECONDS = {"certified": 4e-8, "pairwise": 4e-8, "parametric": 4e-8}
BOUND_SECONDS_OTHERS = 4e-9
# Every strategy of these has a file, however cheap: ``tools/verify_strategies.py`` reads it.
VERIFIED = frozenset({"optimised"})
# Per n³ an iteration of the published optimiser with its 4n rows.
ITERATION_SECONDS, DEFAULT_ROWS = 4e-10, 4
# Per collection and user type, on average over the mechanisms.
COLLECT_SECONDS = 2e-5
# The same with both kinds of non-negative least squares.
PROCESS_SECONDS = 2e-5
# Of one norm: seconds per power of n. Structured methods take O(n) a step; k × N matrices with k about n², n³ or more.
NORM_STRUCTURED_SECONDS = 3e-6
NORM_SECONDS, NORM_RANGES_SECONDS = 6e-8, 1.2e-7
APPROXIMATE_SECONDS, APPROXIMATE_RANGES_SECONDS, DIFFERENCE_SECONDS = 9e-7, 1e-5, 5e-6
# Of a strategy with 16n rows; a certificate's 2¹⁶ vectors.
VERIFY_START_SECONDS, VERIFY_SECONDS = 0.5, 3e-8
LIMIT_FACTOR = 8.0
BASE_MEMORY_MB = 300


def workload_seconds(domain_size: int) -> float:
    """Describe one workload: two spectra at worst."""
    return START_SECONDS + SPECTRUM_SECONDS * domain_size**3


def solve_seconds(mechanism: str, domain_size: int) -> float:
    """Find one strategy, in a process that has started."""
    return SOLVE_SECONDS.get(mechanism, SOLVE_SECONDS_OTHERS) * domain_size**3


def starts_seconds(mechanism: str, domain_size: int, row_factors: Collection[int], starts: int) -> float:
    """Solve from ``starts`` starts for each number of rows; the cost of an iteration is proportional to the rows."""
    return SOLVER_START_SECONDS + starts * solve_seconds(mechanism, domain_size) * sum(row_factors) / DEFAULT_ROWS


def iterate_seconds(sizes: Collection[int]) -> float:
    """Clock iterations at each of these sizes, sixteen of them or, beyond 1024, three."""
    return SOLVER_START_SECONDS + sum(ITERATION_SECONDS * n**3 * (16 if n <= 1024 else 3) for n in sizes)


def deserves_a_job(mechanism: str, domain_size: int) -> bool:
    """Whether a strategy is worth a job and a file of its own; others are solved where they are measured."""
    return mechanism in VERIFIED or solve_seconds(mechanism, domain_size) > 1.0


def bound_seconds(bound: str, domain_size: int) -> float:
    """Evaluate one bound at one budget, in a process that has started."""
    return BOUND_SECONDS.get(bound, BOUND_SECONDS_OTHERS) * domain_size**3


def bound_deserves_a_job(bound: str, domain_size: int) -> bool:
    """Whether a bound is worth a job and a file of its own; others are evaluated where they are tabulated."""
    return bound_seconds(bound, domain_size) > 1.0


def verify_seconds(domain_sizes: Collection[int]) -> float:
    """Check strategies on these domains from their files."""
    return START_SECONDS + sum(VERIFY_START_SECONDS + VERIFY_SECONDS * n**3 for n in domain_sizes)


def verify_memory_mb(domain_sizes: Collection[int]) -> int:
    """A dozen arrays of 16n × n, two of them as lists of numbers."""
    return BASE_MEMORY_MB + math.ceil(12 * 8 * 16 * max(domain_sizes, default=1) ** 2 / 2**20)


def norm_seconds(norm: str, workload: str, domain_size: int) -> float:
    """Solve one norm of one workload, in a process that has started."""
    n = float(domain_size)
    if norm == "gamma-2-difference":
        return DIFFERENCE_SECONDS * n**4
    if quantity(norm).exponent is None:
        return APPROXIMATE_RANGES_SECONDS * n**4 if workload == "all-ranges" else APPROXIMATE_SECONDS * n**3
    if workload == "prefix" or (workload == "all-ranges" and norm == "gamma-f"):
        return NORM_STRUCTURED_SECONDS * n
    return NORM_RANGES_SECONDS * n**4 if workload == "all-ranges" else NORM_SECONDS * n**3


def norm_deserves_a_job(norm: str, workload: str, domain_size: int) -> bool:
    """Whether a factorization is worth a job and a file of its own; others are solved where they are measured."""
    return norm_seconds(norm, workload, domain_size) > 1.0


def norm_memory_mb(domain_size: int) -> int:
    """A dozen arrays of a workload with 26 queries a type; ten long vectors where W is not made."""
    dense = 12 * 26 * 8 * min(domain_size, 1024) ** 2
    return 2 * BASE_MEMORY_MB + math.ceil((dense + 10 * 8 * 64 * domain_size) / 2**20)


def measure_seconds(workloads: int, domain_sizes: Collection[int], epsilons: int, seeds: int = 1) -> float:
    """Measure one mechanism over a grid."""
    per_size = epsilons * (BUILD_SECONDS + workloads * seeds * EVALUATE_SECONDS)
    return START_SECONDS + per_size * sum(n**3 for n in domain_sizes)


def collect_seconds(
    workloads: int, domain_sizes: Collection[int], epsilons: int, seeds: int, collections: int
) -> float:
    """Run ``collections`` collections at each point of a grid."""
    reports = COLLECT_SECONDS * epsilons * seeds * collections * sum(domain_sizes)
    return measure_seconds(workloads, domain_sizes, epsilons, seeds) + reports


def process_seconds(
    workloads: int, domain_sizes: Collection[int], epsilons: int, seeds: int, collections: int
) -> float:
    """Run ``collections`` collections at each point of a grid and make their estimates consistent."""
    processed = PROCESS_SECONDS * workloads * epsilons * seeds * collections * sum(domain_sizes)
    return measure_seconds(workloads, domain_sizes, epsilons, seeds) + processed


def minutes(seconds: float) -> int:
    """A time limit in whole minutes for a job expected to take ``seconds``."""
    return 2 + math.ceil(LIMIT_FACTOR * seconds / 60)


def workload_memory_mb(domain_size: int) -> int:
    """G, PGP and an eigenvalue routine's copy."""
    return BASE_MEMORY_MB + math.ceil(5 * 8 * domain_size**2 / 2**20)


def solve_memory_mb(domain_size: int) -> int:
    """Five arrays of 4n × n, as the published optimiser holds them, and as many of n × n."""
    return 2 * BASE_MEMORY_MB + math.ceil(5 * 8 * 5 * domain_size**2 / 2**20)


def starts_memory_mb(domain_size: int, row_factors: Collection[int]) -> int:
    """As a solve, with more rows."""
    return math.ceil(solve_memory_mb(domain_size) * max(1.0, max(row_factors) / DEFAULT_ROWS))


def measure_memory_mb(workloads: int, domain_sizes: Collection[int], epsilons: int, seeds: int = 1) -> int:
    """The centred Gram matrices of a study, and a dozen matrices of a strategy with at most 4n outputs."""
    grams = workloads * seeds * sum(8 * n**2 for n in domain_sizes)
    strategy = 6 * 8 * 4 * max(domain_sizes) ** 2
    return BASE_MEMORY_MB + math.ceil((2 * grams + strategy) / 2**20)
