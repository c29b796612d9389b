"""How long a run takes from nothing, added up over its jobs; what studies share is counted once."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

from factormech.config.studies import Study
from factormech.experiments.registry import experiment
from factormech.experiments.run import parts_of
from factormech.local.registry import is_solved, solver_of
from factormech.measure import cost
from factormech.norms.registry import quantity

# The kinds whose jobs solve, and keep no strategies.
OF_SOLVERS = frozenset({"initialisation", "timing"})
# The kinds that measure errors on data sets.
DATA_KINDS = frozenset({"data-dependent"})


def run_seconds(studies: Sequence[Study]) -> float:
    """Seconds of one core for all studies."""
    return (
        sum(map(_own_seconds, studies))
        + _workload_seconds(studies)
        + _solve_seconds(studies)
        + _norm_seconds(studies)
        + _bound_seconds(studies)
    )


def _own_seconds(study: Study) -> float:
    """Measurements or collections, tables and the figure of one study."""
    grid = study.grid
    shown = cost.seconds(cost.table("tabulate", study.kind)) + cost.seconds(cost.table("draw"))
    if study.asked is not None:
        kind = experiment(study.kind)
        parts = parts_of(study.kind, study.asked).values()
        works = [cost.experiment(study.kind, kind.seconds(part), kind.memory_mb(part)) for part in parts]
        return sum(map(cost.seconds, works)) + shown
    if study.norms:
        pairs = {norm: [(workload, n) for workload, n, *_ in norm_points(study, norm)] for norm in study.norms}
        works = [cost.measure_norm(norm, points) for norm, points in pairs.items()]
        # What they solve themselves is counted with all factorizations.
        return sum(cost.seconds(work) - cost.in_process_seconds(work) for work in works) + shown
    size = (len(grid.workloads), grid.domain_sizes, len(grid.epsilons), len(grid.seeds))
    if study.kind in OF_SOLVERS:
        return _bound_job_seconds(study) + shown + _solver_seconds(study)
    on_data = study.kind in DATA_KINDS
    each = [cost.on_a_grid("measure_on_data" if on_data else "measure", name, *size) for name in study.mechanisms]
    for rule, sets in (("collect", grid.populations), ("process", grid.data)):
        if count := len(grid.users) * len(sets) * study.trials:
            each = [cost.collections(rule, name, *size, count) for name in study.mechanisms]
    bounds = cost.seconds(cost.on_a_grid("bound_on_data", "", *size)) if on_data else _bound_job_seconds(study)
    return sum(map(cost.seconds, each)) + bounds + shown


def _solver_seconds(study: Study) -> float:
    """The solves of a study of starts or of times: a job for each solver and workload."""
    grid = study.grid
    points = len(grid.epsilons) * len(grid.seeds)
    single = cost.seconds(cost.iterate(study.iteration_sizes)) if study.kind == "timing" else 0.0
    each = [
        cost.starts(name, grid.domain_sizes, study.rows, points * study.starts)
        if study.kind == "initialisation"
        else cost.trace(name, grid.domain_sizes, points)
        for name in filter(is_solved, study.mechanisms)
    ]
    return single + len(grid.workloads) * sum(map(cost.seconds, each))


def _workload_seconds(studies: Sequence[Study]) -> float:
    asked = {(p.workload, p.domain_size) for study in studies for p in study.grid.points()}
    return sum(cost.seconds(cost.workload(domain_size)) for _, domain_size in asked)


def _solve_seconds(studies: Sequence[Study]) -> float:
    """Strategies: each once if it has a file, else once in every study that asks for it."""
    stored, spot = set(), 0.0
    for study in studies:
        if study.kind in OF_SOLVERS:
            continue  # their solves have nothing in common with those of other studies
        for name in filter(is_solved, study.mechanisms):
            solver = solver_of(name)
            options = json.dumps(study.options.get(name, {}), sort_keys=True)
            points = {
                (options, p.workload, p.domain_size, p.epsilon * solver.per_epsilon, p.seed * solver.seeded)
                for p in study.grid.points()
            }
            for point in points:
                if cost.deserves_a_job(name, point[2]):
                    stored.add((name, *point))
                else:
                    spot += cost.solve_seconds(name, point[2])
    return spot + sum(cost.seconds(cost.solve(name, n)) for name, _, _, n, *_ in stored)


def norm_points(study: Study, norm: str) -> list[tuple[str, int, int, float | None]]:
    """Workload, domain size, seed and α (none where the norm has no error) of each factorization of a study."""
    grid = study.grid
    alphas = grid.alphas if quantity(norm).tolerant else (None,)
    return list(itertools.product(grid.workloads, grid.domain_sizes, grid.seeds, alphas))


def _norm_seconds(studies: Sequence[Study]) -> float:
    """Factorizations: each once if it has a file, else once in every study that asks for it."""
    stored, spot = set(), 0.0
    for study in studies:
        for norm in study.norms:
            for workload, n, seed, alpha in norm_points(study, norm):
                if cost.norm_deserves_a_job(norm, workload, n):
                    stored.add((norm, workload, n, seed, alpha, study.concepts))
                else:
                    spot += cost.norm_seconds(norm, workload, n)
    return spot + sum(cost.seconds(cost.factorize(norm, workload, n)) for norm, workload, n, *_ in stored)


def bound_points(study: Study) -> list[tuple[str, str, int]]:
    """Bound, workload and domain size of each evaluation of a study."""
    return [(bound, p.workload, p.domain_size) for bound, p in itertools.product(study.bounds, study.grid.points())]


def _bound_job_seconds(study: Study) -> float:
    """The job that tabulates the bounds of a study; what it evaluates is counted with all bounds."""
    work = cost.bounds_of_study(bound_points(study))
    return cost.seconds(work) - work.known


def _bound_seconds(studies: Sequence[Study]) -> float:
    """Bounds: each once if it has a file, else once in every study that asks for it."""
    stored, spot = set(), 0.0
    for study in studies:
        if study.kind in DATA_KINDS:
            continue  # theirs are of data sets
        for bound, point in itertools.product(study.bounds, study.grid.points()):
            if cost.bound_deserves_a_job(bound, point.domain_size):
                stored.add((bound, *point))
            else:
                spot += cost.bound_seconds(bound, point.domain_size)
    return spot + sum(cost.seconds(cost.bound_point(bound, n)) for bound, _, n, *_ in stored)
