"""From a rule and its wildcards to the work of the job: what every job of a workflow will take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from factormech.config.studies import Config, Study
from factormech.errors import UnknownName
from factormech.experiments.registry import experiment
from factormech.experiments.run import parts_of
from factormech.local.registry import is_solved
from factormech.measure import cost
from factormech.measure.cost import Work
from factormech.measure.estimate import OF_SOLVERS, bound_points, norm_points

Wildcards = Mapping[str, str]


class Requests:
    """What the jobs of a configuration will take.

    ``works`` has, for each rule, the function from the wildcards of a job to its
    :class:`~factormech.measure.cost.Work`; the names of the rules are the workflow's.
    """

    def __init__(self, config: Config) -> None:
        self.studies: Mapping[str, Study] = config.studies | config.quick_studies
        self.works: Mapping[str, Callable[[Wildcards], Work]] = {
            "workload": lambda w: cost.workload(int(w["domain_size"])),
            "solve": lambda w: cost.solve(w["mechanism"], int(w["domain_size"])),
            "factorize": lambda w: cost.factorize(w["norm"], w["workload"], int(w["domain_size"])),
            "measure": lambda w: self._on_a_grid("measure", w),
            "measure_on_data": lambda w: self._on_a_grid("measure_on_data", w),
            "bound_point": lambda w: cost.bound_point(w["bound"], int(w["domain_size"])),
            "bound": lambda w: cost.bounds_of_study(bound_points(self.studies[w["study"]])),
            "bound_on_data": lambda w: self._on_a_grid("bound_on_data", w),
            "collect": lambda w: self._collections("collect", w),
            "process": lambda w: self._collections("process", w),
            "measure_norm": self._measure_norm,
            "starts": self._starts,
            "trace": self._trace,
            "iterate": lambda w: cost.iterate(self.studies[w["study"]].iteration_sizes),
            "experiment": self._experiment,
            "tabulate": lambda w: cost.table("tabulate", self.studies[w["study"]].kind),
            "tabulate_experiment": lambda w: cost.table("tabulate_experiment"),
            "compare": lambda w: cost.table("compare"),
            "draw": lambda w: cost.table("draw"),
        }

    def work(self, rule: str, wildcards: Wildcards) -> Work:
        """The work of a job."""
        if rule not in self.works:
            raise UnknownName("rule", rule, self.works)
        return self.works[rule](wildcards)

    def arrays(self) -> dict[str, tuple[str, int]]:
        """The solves that are worth a job each: name of their rule → mechanism and domain size.

        All solves of one mechanism at one size ask for the same, so that they can be one array of jobs.
        """
        pairs = {
            (name, n)
            for study in self.studies.values()
            if study.kind not in OF_SOLVERS
            for name in filter(is_solved, study.mechanisms)
            for n in study.grid.domain_sizes
        }
        dear = sorted(pair for pair in pairs if cost.batch("solve", cost.solve(*pair)) is None)
        return {f"solve_{name.replace('-', '_')}_n{n}": (name, n) for name, n in dear}

    def _size(self, study: Study) -> tuple[int, tuple[int, ...], int, int]:
        grid = study.grid
        return len(grid.workloads), grid.domain_sizes, len(grid.epsilons), len(grid.seeds)

    def _solved_here(self, study: Study, mechanism: str) -> float:
        """Seconds of the strategies that have no file: each measurement solves its own."""
        if not is_solved(mechanism) or study.kind in OF_SOLVERS:
            return 0.0
        sizes = [p.domain_size for p in study.grid.points()]
        return sum(cost.solve_seconds(mechanism, n) for n in sizes if not cost.deserves_a_job(mechanism, n))

    def _on_a_grid(self, rule: str, wildcards: Wildcards) -> Work:
        study, name = self.studies[wildcards["study"]], wildcards.get("mechanism", "")
        work = cost.on_a_grid(rule, name, *self._size(study))
        return self._with_solves(work, study, name)

    def _collections(self, rule: str, wildcards: Wildcards) -> Work:
        study, name = self.studies[wildcards["study"]], wildcards["mechanism"]
        sets = study.grid.populations if rule == "collect" else study.grid.data
        work = cost.collections(rule, name, *self._size(study), len(study.grid.users) * len(sets) * study.trials)
        return self._with_solves(work, study, name)

    def _with_solves(self, work: Work, study: Study, name: str) -> Work:
        known = self._solved_here(study, name) if name else 0.0
        return Work(work.rule, work.name, work.units, work.arrays_mb, known)

    def _measure_norm(self, wildcards: Wildcards) -> Work:
        points = norm_points(self.studies[wildcards["study"]], wildcards["norm"])
        return cost.measure_norm(wildcards["norm"], [(workload, n) for workload, n, *_ in points])

    def _starts(self, wildcards: Wildcards) -> Work:
        study = self.studies[wildcards["study"]]
        count = len(study.grid.epsilons) * len(study.grid.seeds) * study.starts
        return cost.starts(wildcards["mechanism"], study.grid.domain_sizes, study.rows, count)

    def _trace(self, wildcards: Wildcards) -> Work:
        grid = self.studies[wildcards["study"]].grid
        return cost.trace(wildcards["mechanism"], grid.domain_sizes, len(grid.epsilons) * len(grid.seeds))

    @cache  # noqa: B019
    def _parts(self, name: str) -> dict[str, Work]:
        """Every part of a study that is an experiment; names of parts are checked and made once."""
        study = self.studies[name]
        if study.asked is None:
            return {}
        kind = experiment(study.kind)
        parts = parts_of(study.kind, study.asked).items()
        return {part: cost.experiment(study.kind, kind.seconds(asked), kind.memory_mb(asked)) for part, asked in parts}

    def _experiment(self, wildcards: Wildcards) -> Work:
        return self._parts(wildcards["study"])[wildcards["part"]]
