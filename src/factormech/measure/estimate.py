"""How long a run takes from nothing, added up over its jobs; what studies share is counted once."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

from factormech.config.studies import Study
from factormech.experiments.run import seconds_of
from factormech.local.registry import is_solved, solver_of
from factormech.measure import cost
from factormech.norms.registry import quantity

# The kinds whose jobs solve, and keep no strategies.
OF_SOLVERS = frozenset({"initialisation", "timing"})


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
    if study.asked is not None:
        seconds = seconds_of(study.kind, study.asked)
        return sum(seconds) + (len(seconds) + 1) * cost.START_SECONDS + cost.DRAW_SECONDS
    if study.norms:
        return (len(study.norms) + 2) * cost.START_SECONDS + cost.DRAW_SECONDS
    size = (len(grid.workloads), grid.domain_sizes, len(grid.epsilons), len(grid.seeds))
    collections = len(grid.users) * len(grid.populations) * study.trials
    if study.kind in OF_SOLVERS:
        return cost.measure_seconds(*size) + 2 * cost.START_SECONDS + cost.DRAW_SECONDS + _solver_seconds(study)
    processed = len(grid.users) * len(grid.data) * study.trials
    if processed:
        each = cost.process_seconds(*size, processed)
    else:
        each = cost.collect_seconds(*size, collections) if collections else cost.measure_seconds(*size)
    return (len(study.mechanisms) + 1) * each + 2 * cost.START_SECONDS + cost.DRAW_SECONDS


def _solver_seconds(study: Study) -> float:
    """The solves of a study of starts or of times: a job for each solver and workload."""
    grid = study.grid
    points = len(grid.epsilons) * len(grid.seeds)
    single = cost.iterate_seconds(study.iteration_sizes) if study.kind == "timing" else 0.0
    rows, starts = (study.rows, study.starts) if study.kind == "initialisation" else ((cost.DEFAULT_ROWS,), 1)
    each = sum(
        cost.starts_seconds(name, n, rows, points * starts)
        for name in study.mechanisms
        if is_solved(name)
        for n in grid.domain_sizes
    )
    return single + len(grid.workloads) * each


def _workload_seconds(studies: Sequence[Study]) -> float:
    asked = {(p.workload, p.domain_size) for study in studies for p in study.grid.points()}
    return sum(cost.workload_seconds(domain_size) for _, domain_size in asked)


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
    return spot + sum(cost.SOLVER_START_SECONDS + cost.solve_seconds(name, n) for name, _, _, n, *_ in stored)


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
    return spot + sum(cost.START_SECONDS + cost.norm_seconds(norm, workload, n) for norm, workload, n, *_ in stored)


def _bound_seconds(studies: Sequence[Study]) -> float:
    """Bounds: each once if it has a file, else once in every study that asks for it."""
    stored, spot = set(), 0.0
    for study in studies:
        for bound, point in itertools.product(study.bounds, study.grid.points()):
            if cost.bound_deserves_a_job(bound, point.domain_size):
                stored.add((bound, *point))
            else:
                spot += cost.bound_seconds(bound, point.domain_size)
    return spot + sum(cost.SOLVER_START_SECONDS + cost.bound_seconds(bound, n) for bound, _, n, *_ in stored)
