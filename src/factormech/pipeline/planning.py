"""What a run of a configuration does: its parts, what they need solved, and what each job will take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property

from factormech.config.studies import Config, Study
from factormech.studies import cost
from factormech.studies.asked import Asked
from factormech.studies.cost import Work
from factormech.studies.registry import experiment, module_of
from factormech.studies.run import modules_of, parts_of, until
from factormech.studies.solves import Solve, start_of
from factormech.workloads import definitions

# Starts of Python, of which the benchmark says nothing.
UNKNOWN = Work("draw")


class Plan:
    """The jobs of a configuration.

    Attributes
    ----------
    parts
        Study → name → what the part is asked, in the order of the table.
    needs
        Study → name of the part → the files that it needs solved.
    requests
        File → what is solved in it, those that other solves begin with included.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.studies: Mapping[str, Study] = config.studies | config.quick_studies
        self.parts = {name: parts_of(study.kind, study.asked) for name, study in self.studies.items()}
        self.requests: dict[str, Solve] = {}
        self.needs = {
            name: {part: self._needs(self.studies[name].kind, asked) for part, asked in parts.items()}
            for name, parts in self.parts.items()
        }

    def together(self) -> dict[str, tuple[tuple[str, ...], list[str]]]:
        """Rule → names of parts, and the quick studies with these parts, all of which one job makes."""
        found: dict[tuple[str, ...], list[str]] = {}
        for study in self.config.quick_studies:
            if len(self.parts[study]) > 1:
                found.setdefault(tuple(self.parts[study]), []).append(study)
        return {f"evaluate_together_{i}": item for i, item in enumerate(found.items(), 1)}

    def apart(self) -> list[str]:
        """The studies of which a job makes one part."""
        together = {study for _, studies in self.together().values() for study in studies}
        return [study for study in self.studies if study not in together]

    def _needs(self, kind: str, asked: Asked) -> list[str]:
        requests = list(dict.fromkeys(experiment(kind).solves(asked)))
        for request in requests:
            self._add(request)
        return [request.file for request in requests]

    def _add(self, request: Solve) -> None:
        if request.file not in self.requests:
            self.requests[request.file] = request
            start = start_of(request)
            if start is not None:
                self._add(start)

    def start(self, file: str) -> list[str]:
        """The file that a solve begins with, if any."""
        start = start_of(self.requests[file])
        return [] if start is None else [start.file]

    def solved_for(self, studies: Iterable[str]) -> dict[str, Solve]:
        """Return the solves that the parts of these studies need, and those that these solves begin with."""
        waiting = [file for study in studies for files in self.needs[study].values() for file in files]
        found: dict[str, Solve] = {}
        while waiting:
            file = waiting.pop()
            if file not in found:
                found[file] = self.requests[file]
                waiting += self.start(file)
        return dict(sorted(found.items()))

    def derived(self, study: str) -> Mapping[str, str]:
        """The tables that are made from the study's table, and the functions that make them."""
        declared = self.studies[study]
        return experiment(declared.kind).derived(declared.asked)

    def text(self, study: str, stage: str) -> str:
        """Return the request of a stage of a study, as its job takes it."""
        declared = self.studies[study]
        asked = until("table" if stage == "table" else "figure", declared.kind, declared.asked)
        return replace(asked, seed=0, definitions={}).to_json()  # what is drawn or defined is in the parts

    # Code ---------------------------------------------------------------------------------------------------

    def solve_modules(self, file: str) -> list[str]:
        """Return the modules from which the code of a solve is found."""
        request = self.requests[file]
        own = workload_modules(request.workload, request.definitions)
        return [
            "factormech.pipeline.solve",
            f"factormech.pipeline.solve_{request.family}",
            module_of_solve(request),
            *own,
        ]

    def part_modules(self, study: str, part: str) -> list[str]:
        """Return the modules from which the code of a part is found."""
        kind, asked = self.studies[study].kind, self.parts[study][part]
        own = [m for name in asked.grid.get("workload", ()) for m in workload_modules(name, asked.definitions)]
        return ["factormech.pipeline.evaluate", *modules_of(kind, asked), *sorted(set(own))]

    def kind_modules(self, study: str, job: str) -> list[str]:
        """Return the modules from which the code of a job on a whole study is found."""
        return [f"factormech.pipeline.{job}", module_of(self.studies[study].kind)]

    # Costs --------------------------------------------------------------------------------------------------

    @cached_property
    def part_works(self) -> dict[str, dict[str, Work]]:
        """The expected work of every job on parts, by its study and the first part that it makes."""
        together, found = {*self.studies} - {*self.apart()}, {}
        for name, parts in self.parts.items():
            kind = self.studies[name].kind
            jobs = {next(iter(parts)): [*parts.values()]} if name in together else {p: [a] for p, a in parts.items()}
            found[name] = {first: _parts_work(kind, asked) for first, asked in jobs.items()}
        return found

    def work(self, rule: str, wildcards: Mapping[str, str], file: str = "") -> Work:
        """Return the expected work of a job."""
        if rule == "solve":
            return work_of(self.requests[file])
        if rule == "evaluate":
            works = self.part_works[wildcards["study"]]
            return works[wildcards.get("part", next(iter(works)))]
        return cost.table(rule) if rule in ("tabulate", "derive", "draw") else UNKNOWN

    def arrays(self) -> dict[str, tuple[str, str, int]]:
        """The solves that are worth a job each: name of their rule → family, name and domain size.

        All solves of one mechanism at one size ask for the same, so that they can be one array of jobs on a cluster.
        """
        found = {(r.family, r.name, r.domain_size) for r in self.requests.values() if batch_of(r) is None}
        return {f"solve_{name.replace('-', '_')}_n{n}": (family, name, n) for family, name, n in sorted(found)}

    def seconds(self, studies: Iterable[str]) -> float:
        """Seconds of one core from nothing; what studies share is counted once."""
        names = list(studies)
        shown = cost.seconds(cost.table("tabulate")) + cost.seconds(cost.table("draw"))
        parts = sum(cost.seconds(work) for name in names for work in self.part_works[name].values())
        return parts + len(names) * shown + sum(cost.seconds(work_of(r)) for r in self.solved_for(names).values())

    def expected(self) -> dict[str, dict[str, float]]:
        """Seconds of the jobs: of solves and parts by their files, and the mean of each rule."""
        solves = {file: cost.seconds(work_of(request)) for file, request in self.requests.items()}
        parts = {
            f"results/parts/{study}/{part}.h5": cost.seconds(work)
            for study, works in self.part_works.items()
            for part, work in works.items()
        }
        shown = {rule: cost.seconds(cost.table(rule)) for rule in ("tabulate", "derive", "draw")}
        means = {rule: sum(of.values()) / max(len(of), 1) for rule, of in (("solve", solves), ("evaluate", parts))}
        names = dict.fromkeys(self.arrays(), means["solve"]) | dict.fromkeys(self.together(), means["evaluate"])
        return {"files": solves | parts, "rules": shown | means | names}

    def measurements(self, studies: Iterable[str]) -> int:
        """Return how many points the parts of these studies have."""
        return sum(len(list(part.points(*_axes(part)))) for name in studies for part in self.parts[name].values())


def _axes(part: Asked) -> list[str]:
    return [axis for axis, values in part.grid.items() if values]


def _parts_work(kind: str, parts: list[Asked]) -> Work:
    declared = experiment(kind)
    return cost.experiment(kind, sum(map(declared.seconds, parts)), max(map(declared.memory_mb, parts)))


def work_of(request: Solve) -> Work:
    """Return the sizes that the time and memory of a solve depend on."""
    if request.family == "strategy":
        return cost.solve(request.name, request.domain_size)
    if request.family == "bound":
        return cost.bound_point(request.name, request.domain_size)
    return cost.factorize(request.name, request.workload, request.domain_size)


def batch_of(request: Solve) -> str | None:
    """The name of the solves that a cluster is given together with this one; None if it has a job of its own."""
    return cost.batch("solve", work_of(request))


def module_of_solve(request: Solve) -> str:
    """The module that solves a request."""
    from factormech.bounds import registry as bounds
    from factormech.mechanisms.local import registry as mechanisms
    from factormech.norms import registry as norms

    if request.family == "strategy":
        return mechanisms.module_of(request.name)
    return bounds.module_of(request.name) if request.family == "bound" else norms.quantity(request.name).module()


def workload_modules(name: str, own: Mapping[str, Mapping[str, object]]) -> list[str]:
    """The modules that make a workload."""
    return sorted(definitions.modules_of(name, own))
