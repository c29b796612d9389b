"""What the studies of local mechanisms on a grid share: their axes and settings, strategies, bounds and questions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue
from factormech.names import Family
from factormech.studies import solves
from factormech.studies.asked import Asked, workload_of
from factormech.studies.axes import DOMAIN_SIZE, EPSILON, LOCAL_MECHANISMS, SEED, WORKLOAD
from factormech.studies.base import Axis, Column, Setting
from factormech.studies.solves import Solve

if TYPE_CHECKING:
    from factormech.mechanisms.local.errors import Question
    from factormech.spec import Spec
    from factormech.workloads.base import Workload

# The part of a study that evaluates its lower bounds; no mechanism can have this name.
BOUNDS_PART = "lower.bounds"
GRID = (WORKLOAD, DOMAIN_SIZE, EPSILON, SEED)
POINT = ["workload", "domain_size", "seed", "epsilon"]


def _names(description: str, example: list[str], family: Family, **more: Any) -> dict[str, Any]:
    schema = {
        "type": "array",
        "minItems": 1,
        "uniqueItems": True,
        "items": {"type": "string", "minLength": 1},
    }
    return {"schema": schema, "description": description, "example": example, "names": family, **more}


def _bounds() -> Iterable[str]:
    from factormech.bounds import registry

    return registry.names()


def _module_of_bound(name: str) -> str:
    from factormech.bounds import registry

    return registry.module_of(name)


def _populations() -> Iterable[str]:
    from factormech.mechanisms.local import populations

    return populations.names()


def _check_population(name: str) -> None:
    from factormech.mechanisms.local import populations

    populations.probabilities(name, 1)


def _data() -> Iterable[str]:
    from factormech.data import registry

    return registry.names()


def _check_data(name: str) -> None:
    from factormech.data import registry

    registry.check_name(name)


BOUNDS_FAMILY = Family(_bounds, _module_of_bound, _module_of_bound)

MECHANISMS = Setting("mechanisms", **_names("Names of local mechanisms.", ["hadamard"], LOCAL_MECHANISMS))
BOUNDS = Setting(
    "bounds",
    **_names("Names of lower bounds.", ["svd", "centred-svd"], BOUNDS_FAMILY, default=["svd", "centred-svd"]),
)
OPTIONS = Setting(
    "options",
    {
        "type": "object",
        "rule": "be a mapping from mechanisms of the study to their settings",
        "additionalProperties": {
            "type": "object",
            "description": "Settings of one mechanism; which it has is said where a wrong one is answered.",
            "rule": "be a mapping of settings",
            "remedy": "give for example {objective: worst}",
            "additionalProperties": {
                "type": ["string", "integer"],
                "description": "A word or a number.",
                "rule": "be a word or a whole number",
                "remedy": "give for example worst",
            },
        },
    },
    "Settings of the solvers of mechanisms, by mechanism.",
    {"optimised": {"objective": "worst"}},
    {},
)
METRIC = Setting(
    "metric",
    {"type": "string", "enum": ["mse"]},
    "The error that alpha bounds; mse is the mean over the queries of the squared error of normalised answers.",
    "mse",
    "mse",
    stage="table",
)
TARGET = Axis(
    "alpha",
    {"type": "number", "exclusiveMinimum": 0},
    0.01,
    default=(0.01,),
    beside=True,
    stage="table",
)
TRIALS = Setting(
    "trials",
    {"type": "integer", "minimum": 2, "maximum": 100000},
    "How often each simulated collection is run.",
    20,
    20,
)
LEVEL = Setting(
    "level",
    {
        "type": "number",
        "exclusiveMinimum": 0,
        "exclusiveMaximum": 0.5,
        "rule": "be a number above 0 and below 0.5",
    },
    "Probability that an interval misses, of each interval of a simulated error.",
    1e-6,
    1e-6,
)
POPULATION = Axis(
    "population", {"type": "string", "minLength": 1}, "zipf", names=Family(_populations, _check_population)
)
DATA = Axis("data", {"type": "string", "minLength": 1}, "hepth", names=Family(_data, _check_data))

STATUS = Column("status")
REASON = Column("reason", empty="free")
SEED_COLUMN = replace(SEED.column(), added=0)


# A column of numbers, empty where the status of the row leaves nothing to measure.
number = partial(Column, empty="free")


def costs() -> Any:
    """The predictor of costs, by its name: what a job takes is no part of the code that its result depends on."""
    return import_module("factormech.studies.cost")


def refuse_options(asked: Asked) -> Iterator[BadValue]:
    """Yield a refusal of each setting of a mechanism that the study, or the mechanism, does not have."""
    from factormech.mechanisms.local import registry

    for name, options in asked["options"].items():
        if name not in registry.names():
            yield from _unknown(name)
        else:
            yield from registry.check_options(name, options, f"options.{name}")


def _unknown(name: str) -> Iterator[BadValue]:
    from factormech.errors import UnknownName
    from factormech.mechanisms.local import registry

    yield UnknownName(f"options.{name}", name, registry.names())


def refuse_sizes_of_data(asked: Asked) -> Iterator[BadValue]:
    """Domain sizes that the bins of the data sets cannot be summed to."""
    from factormech.data.registry import BINS, size_reason

    for i, size in enumerate(asked["domain_size"]):
        reason = size_reason(size)
        if reason is not None:
            rule = f"be a divisor of {BINS} in a study on data sets ({reason})"
            yield BadValue(f"grid.domain_size[{i}]", size, rule, "give for example 512")


def by_mechanism(asked: Asked) -> dict[str, Asked]:
    """Return a part for each mechanism, with the settings of this mechanism alone."""
    return {name: _of_mechanism(asked, name) for name in asked["mechanisms"]}


def by_mechanism_and_bounds(asked: Asked) -> dict[str, Asked]:
    """The same, and a part for all lower bounds."""
    own = {name: replace_settings(part, bounds=[]) for name, part in by_mechanism(asked).items()}
    more: dict[str, Any] = {"options": {}} if "options" in asked.settings else {}
    return own | {BOUNDS_PART: replace_settings(asked, mechanisms=[], **more)}


def by_mechanism_and_workload(asked: Asked) -> dict[str, Asked]:
    """A part for each mechanism and workload, and one for all lower bounds."""
    found: dict[str, Asked] = {}
    for name, part in by_mechanism_and_bounds(asked).items():
        workloads = asked["workload"] if part["mechanisms"] else ()
        found |= {f"{name}_{workload}": part.only(workload=workload) for workload in workloads}
        found |= {} if workloads else {name: part}
    return found


def replace_settings(asked: Asked, **settings: Any) -> Asked:
    """The same question with these settings."""
    return replace(asked, settings={**asked.settings, **settings})


def _of_mechanism(asked: Asked, name: str) -> Asked:
    options = {key: value for key, value in asked.settings.get("options", {}).items() if key == name}
    more = {"options": options} if "options" in asked.settings else {}
    return replace_settings(asked, mechanisms=[name], **more)


def asked_workloads(asked: Asked) -> Iterator[tuple[Workload, int]]:
    """Yield every workload of the grid at every size, with its seed; one that is not random is made once."""
    from factormech.workloads import definitions

    for name, n in asked.points("workload", "domain_size"):
        seeded = definitions.is_seeded(name, asked.definitions)
        once = None if seeded else workload_of(asked, name, n)
        for seed in asked["seed"]:
            yield workload_of(asked, name, n, seed=seed) if once is None else once, seed


def questions(asked: Asked) -> list[Question]:
    """Return every workload of the grid with its centred Gram matrix."""
    from factormech.mechanisms.local.errors import questions_of

    return questions_of(asked_workloads(asked))


def strategy_request(asked: Asked, mechanism: str, workload: str, n: int, epsilon: float, seed: int) -> Solve:
    """The request for the strategy of a mechanism at a point of the grid."""
    options = asked.settings.get("options", {}).get(mechanism, {})
    point = (mechanism, workload, n, epsilon)
    return solves.strategy(*point, options=options, seed=seed, root_seed=asked.seed, own=asked.definitions)


def bound_request(asked: Asked, bound: str, workload: str, n: int, epsilon: float, seed: int) -> Solve:
    """The request for a lower bound at a point of the grid."""
    request = solves.of_workload("bound", bound, workload, n, seed=seed, root_seed=asked.seed, own=asked.definitions)
    return replace(request, epsilon=float(epsilon))


def requests(asked: Asked) -> Iterator[Solve]:
    """Yield the strategies and bounds of a part that take long enough for a file of their own."""
    from factormech.mechanisms.local.registry import is_solved

    cost = costs()

    points = list(asked.points("workload", "domain_size", "epsilon", "seed"))
    for mechanism, (name, n, epsilon, seed) in itertools.product(filter(is_solved, asked["mechanisms"]), points):
        if cost.deserves_a_job(mechanism, n):
            yield strategy_request(asked, mechanism, name, n, epsilon, seed)
    for bound, (name, n, epsilon, seed) in itertools.product(asked.settings.get("bounds", ()), points):
        if cost.bound_deserves_a_job(bound, n):
            yield bound_request(asked, bound, name, n, epsilon, seed)


def strategy_requests(asked: Asked, names: Iterable[str]) -> Iterator[Solve]:
    """The strategies of those of these mechanisms that have a solver, at every workload, size and budget of a part."""
    from factormech.mechanisms.local.registry import is_solved
    from factormech.mechanisms.local.registry import names as registered

    cost = costs()

    solved = [name for name in names if name in registered() and is_solved(name)]
    for mechanism, (name, n, epsilon) in itertools.product(solved, asked.points("workload", "domain_size", "epsilon")):
        if cost.deserves_a_job(mechanism, n):
            yield strategy_request(asked, mechanism, name, n, epsilon, 0)


class Strategies:
    """The strategies of one mechanism, with what their solver recorded: read from files, built, or solved here."""

    def __init__(self, asked: Asked, mechanism: str) -> None:
        from factormech.mechanisms.local.errors import built
        from factormech.mechanisms.local.registry import is_solved

        self.asked, self.mechanism = asked, mechanism
        self.built = None if is_solved(mechanism) else built(mechanism)
        self.kept: dict[Spec, Any] = {}

    def __call__(self, question: Question, epsilon: float) -> Any:
        """The strategy for a question at a budget, verified."""
        from factormech.mechanisms.local.registry import restore

        if self.built is not None:
            return self.built(question, epsilon)
        return restore(self.mechanism, self._solution(question, epsilon), epsilon)

    def record(self, question: Question, epsilon: float) -> Mapping[str, Any]:
        """Return the solver's record."""
        found: Mapping[str, Any] = {} if self.built is not None else self._solution(question, epsilon).record
        return found

    def _solution(self, question: Question, epsilon: float) -> Any:
        from factormech.mechanisms.local.registry import solution_for, solver_of, strategy_spec

        per_epsilon = solver_of(self.mechanism).per_epsilon
        options = self.asked.settings.get("options", {}).get(self.mechanism, {})
        seeds = {"seed": question.seed, "root_seed": self.asked.seed}
        budget = epsilon if per_epsilon else None
        spec = strategy_spec(self.mechanism, question.workload, budget, options=options, **seeds)
        if spec not in self.kept:
            if per_epsilon:  # one is kept: it is asked for twice, and a large one fills the memory
                self.kept.clear()
            self.kept[spec] = solution_for(spec, question.workload)
        return self.kept[spec]


def evaluate_bound(name: str, workload: Workload, epsilon: float) -> float:
    """A lower bound on the variance: read where it is in a file, else evaluated."""
    from factormech.bounds.registry import variance_bound
    from factormech.spec import Spec, find

    stored = find(Spec("bound", name, workload.spec(), epsilon=epsilon))
    return variance_bound(name, workload, epsilon) if stored is None else float(stored["value"][0])


def bounds_of(asked: Asked) -> list[dict[str, Any]]:
    """Return the lower bounds of a part at every point of its grid."""
    from factormech.mechanisms.local.errors import measure_bounds

    pairs = list(asked_workloads(asked))
    return list(measure_bounds(asked["bounds"], pairs, asked["epsilon"], lru_cache(maxsize=None)(evaluate_bound)))


def data_of(asked: Asked) -> dict[str, Any]:
    """The counts of the data sets of a part, or of their stand-ins where no folder of data is named."""
    from factormech.data.files import current_folder, paths, read_all, resolved

    folder = current_folder()
    return dict(read_all(resolved(asked["data"], folder), paths(asked["data"], folder)))


def size_of(asked: Asked) -> tuple[int, tuple[int, ...], int, int]:
    """Return the counts that costs on a grid depend on: workloads, sizes, budgets and seeds."""
    return len(asked["workload"]), asked["domain_size"], len(asked["epsilon"]), len(asked["seed"])


def solved_here(asked: Asked) -> float:
    """Seconds of the strategies and bounds of a part that have no file."""
    from factormech.mechanisms.local.registry import is_solved, solver_of

    cost = costs()

    points = list(asked.points("workload", "domain_size", "epsilon", "seed"))
    total = 0.0
    for name in filter(is_solved, asked["mechanisms"]):
        times = 1 if solver_of(name).per_epsilon else len(asked["epsilon"])  # the same strategy at every budget
        total += sum(cost.solve_seconds(name, n) / times for _, n, *_ in points if not cost.deserves_a_job(name, n))
    for bound in asked.settings.get("bounds", ()):
        total += sum(cost.bound_seconds(bound, n) for _, n, *_ in points if not cost.bound_deserves_a_job(bound, n))
    return total


def seconds_on_grid(rule: str, asked: Asked) -> float:
    """Return the seconds that measuring the mechanisms of a part takes, by the fits of the benchmark."""
    cost = costs()

    works = [cost.on_a_grid(rule, name, *size_of(asked)) for name in asked["mechanisms"]]
    return float(solved_here(asked) + sum(map(cost.in_process_seconds, works)))


def memory_on_grid(asked: Asked) -> int:
    """Return the memory of a part on a grid, in megabytes."""
    cost = costs()

    names = asked["mechanisms"] or [""]
    return round(float(max(cost.memory_mb(cost.on_a_grid("measure", name, *size_of(asked))) for name in names)))


def seconds_of_collections(work: str, asked: Asked, users_of: str) -> float:
    """Return the seconds of a part's collections, at every number of users and every entry of the axis ``users_of``."""
    cost = costs()
    count = len(asked["users"]) * len(asked[users_of]) * asked["trials"]
    works = [cost.collections(work, name, *size_of(asked), count) for name in asked["mechanisms"]]
    return float(solved_here(asked) + sum(map(cost.in_process_seconds, works)))
