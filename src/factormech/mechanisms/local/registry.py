"""The local mechanisms, by the names that configuration, files and tables use.

A user's own is registered by :func:`mechanism` or :func:`solver`, from a file outside of the package
(:mod:`factormech.plugins`). To add one to the package, write a module with ``strategy(domain_size, epsilon)``, which
returns a ``Strategy`` (or ``Unavailable``), and ``MECHANISMS = {"name": "strategy"}``: nothing else names it. A
mechanism whose strategy a solver finds for the workload offers a ``SolvedMechanism`` instead, and its line goes to
``_SOLVED``. Configuration, jobs, tables, figures and the tests that run on every mechanism all read these two tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from factormech import labels, plugins
from factormech.arrays import check_epsilon
from factormech.errors import BadValue, Unavailable, UnknownName
from factormech.mechanisms.local.optimal.problem import Report, silent
from factormech.mechanisms.local.solved import (
    BeginningMechanism,
    Begins,
    Option,
    Options,
    ReportingMechanism,
    Solution,
    SolvedMechanism,
    checked_strategy,
)
from factormech.mechanisms.local.strategy import Strategy
from factormech.names import declarations
from factormech.spec import Spec, find
from factormech.workloads.base import Workload

_FIXED = {
    "randomized-response": "factormech.mechanisms.local.subsets:randomized_response",
    "rappor": "factormech.mechanisms.local.subsets:rappor",
    "subset-selection": "factormech.mechanisms.local.subsets:subset_selection",
    "hadamard": "factormech.mechanisms.local.hadamard:strategy",
    "hadamard-table1": "factormech.mechanisms.local.hadamard:table1_strategy",
    "hierarchical": "factormech.mechanisms.local.hierarchical:strategy",
    "hierarchical-table1": "factormech.mechanisms.local.hierarchical:table1_strategy",
    "fourier": "factormech.mechanisms.local.two_valued:fourier",
    "fourier-3": "factormech.mechanisms.local.two_valued:fourier_3",
}
# Those that say so themselves come after the ones whose order legends keep.
_FIXED |= {
    name: f"factormech.mechanisms.local.{module}:{function}"
    for module, declared in declarations(Path(__file__).parent, "MECHANISMS")
    for name, function in declared.items()
}


@dataclass(frozen=True)
class Solved:
    """The line of a mechanism with a solver.

    ``per_epsilon``: every budget has a strategy of its own; ``seeded``: the solver starts at random; ``options``: the
    settings that a study may give, for which the mechanism is a ``ConfigurableMechanism``; ``reports``: it is a
    ``ReportingMechanism``; ``begins``: and a ``BeginningMechanism``.
    """

    target: str
    per_epsilon: bool
    seeded: bool
    options: Mapping[str, Option] = field(default_factory=dict)
    reports: bool = False
    begins: Begins | None = None


_SOLVED = {
    "optimised": Solved(
        "factormech.mechanisms.local.optimal.mechanism:MECHANISM",
        per_epsilon=True,
        seeded=True,
        options={
            "objective": Option(("average", "worst"), default="average"),
            "effort": Option(("standard", "best"), default="standard"),
            "rows": Option(),
        },
        reports=True,
        begins=Begins("objective", up_to=16),
    ),
    "matrix-l1": Solved("factormech.mechanisms.local.matrix_mechanism:L1", per_epsilon=False, seeded=False),
    "matrix-l2": Solved("factormech.mechanisms.local.matrix_mechanism:L2", per_epsilon=False, seeded=False),
    "matrix-l2-gaussian": Solved(
        "factormech.mechanisms.local.matrix_mechanism:L2_GAUSSIAN", per_epsilon=False, seeded=False
    ),
    "adaptive-pgd": Solved(
        "factormech.mechanisms.local.adaptive_pgd:MECHANISM",
        per_epsilon=True,
        seeded=True,
        options={"rows": Option()},
        reports=True,
    ),
}


# What plugins have registered: the very functions and solvers whose names stand in the tables above.
_OWN: dict[str, Any] = {}

Made = TypeVar("Made")


def mechanism(name: str, *, label: str = "") -> Callable[[Made], Made]:
    """Register a mechanism of one's own, a function (domain_size, epsilon), under a name that no other has.

    It returns a strategy's matrix Q (outputs × user types, columns that sum to 1), which is verified to be ε-LDP; or a
    ``Strategy``; or ``Unavailable`` with the reason. ``label`` is what figures call it.
    """

    _check_new(name, label)

    def register(build: Made) -> Made:
        _add(name, label, build)
        _FIXED[name] = plugins.target_of(build)
        return build

    return register


def solver(
    name: str,
    *,
    per_epsilon: bool,
    seeded: bool,
    options: Mapping[str, Option] | None = None,
    reports: bool = False,
    label: str = "",
) -> Callable[[Made], Made]:
    """Register a mechanism of one's own that solves for its strategy: a ``SolvedMechanism``, or a class of them.

    The rest is as in :class:`Solved`.
    """

    _check_new(name, label)

    def register(mechanism: Made) -> Made:
        _add(name, label, mechanism() if isinstance(mechanism, type) else mechanism)
        _SOLVED[name] = Solved(plugins.target_of(mechanism), per_epsilon, seeded, options or {}, reports)
        return mechanism

    return register


def _check_new(name: Any, label: Any) -> None:
    # Names of one figure or table: those of other curves, and of the rows of bounds, are taken, too.
    curves = {curve.partition("/")[0] for curve in labels.SERIES}
    plugins.check_new("mechanism", name, {*names(), *curves, "lower-bound"}, label)


def _add(name: str, label: str, own: Any) -> None:
    def undo() -> None:
        _OWN.pop(name, None)
        _FIXED.pop(name, None)
        _SOLVED.pop(name, None)

    _OWN[name] = own
    plugins.registered("mechanism", name, label, undo)


def names() -> list[str]:
    """Return every mechanism, in the order in which legends and tables show them."""
    return [*_FIXED, *_SOLVED]


def is_solved(name: str) -> bool:
    """Return whether a solver finds the mechanism's strategy for each workload."""
    _target(name)
    return name in _SOLVED


def solver_of(name: str) -> Solved:
    """Return the registry's record of a solved mechanism, without importing the mechanism."""
    if name not in _SOLVED:
        raise UnknownName("solved mechanism", name, _SOLVED)
    return _SOLVED[name]


def module_of(name: str) -> str:
    """The module that a mechanism's code starts from."""
    return _target(name).partition(":")[0]


def build(name: str, domain_size: int, epsilon: float) -> Strategy | Unavailable:
    """The strategy of a fixed mechanism, or the reason why there is none."""
    if name in _SOLVED:
        raise BadValue("mechanism", name, "be a fixed one here", "solve it for a workload, or load its strategy")
    if name in _OWN:
        built = plugins.call(_OWN[name], f"mechanism {name}", domain_size, check_epsilon(epsilon))
        return checked_strategy(name, built, domain_size, epsilon)
    made: Strategy | Unavailable = _load(name)(domain_size, check_epsilon(epsilon))
    return made


def check_options(name: str, options: Options, key: str = "options") -> list[BadValue]:
    """Return a line for each mistake in a mechanism's settings; ``key`` is where they stand."""
    known = solver_of(name).options if name in _SOLVED else {}
    found: list[BadValue] = []
    for option, value in options.items():
        if option in known:
            problem = known[option].problem(f"{key}.{option}", value)
            found += [problem] if problem is not None else []
        else:
            rule = f"be an option of {name} ({', '.join(known) or 'it has none'})"
            found.append(BadValue(f"{key}.{option}", value, rule, "leave the key out"))
    return found


def begins_with(name: str, options: Options, domain_size: int) -> Options | None:
    """The settings of the solution that a solve with these begins with, if there is one to give."""
    begins = solver_of(name).begins
    if begins is None or begins.option not in options or domain_size <= begins.up_to:
        return None
    rest = {option: value for option, value in options.items() if option != begins.option}
    usual = solver_of(name).options[begins.option].example
    return None if options[begins.option] == usual else rest


def solve(
    name: str,
    workload: Workload,
    epsilon: float | None,
    rng: np.random.Generator,
    options: Options | None = None,
    report: Report = silent,
    start: Solution | None = None,
) -> Solution:
    """Find the strategy of a solved mechanism for a workload; no ε where one strategy serves every budget.

    ``report`` is told where the solver stands, if it is one that tells; ``start`` is the solution with the settings
    of :func:`begins_with`, which saves time and changes nothing.
    """
    solver_of(name)
    mechanism: SolvedMechanism = _load(name)
    for problem in check_options(name, options or {}):
        raise problem
    if options:
        mechanism = mechanism.with_options(**options)  # type: ignore[attr-defined]
    if start is not None:
        if begins_with(name, options or {}, workload.domain_size) is None:
            raise BadValue("start", name, "be given to a solve that begins with one", "leave it out")
        beginning: BeginningMechanism = mechanism  # type: ignore[assignment]
        return beginning.solve(workload, epsilon, rng, report, start)
    if solver_of(name).reports:
        telling: ReportingMechanism = mechanism  # type: ignore[assignment]
        return telling.solve(workload, epsilon, rng, report)
    return mechanism.solve(workload, epsilon, rng)


def solve_with_rows(
    name: str, workload: Workload, epsilon: float, rng: np.random.Generator, rows: int
) -> Solution | Unavailable:
    """A solution with the mechanism's option ``rows``, or why it has none."""
    if not is_solved(name) or "rows" not in solver_of(name).options:
        return Unavailable("it does not choose a number of rows")
    return solve(name, workload, epsilon, rng, {"rows": rows})


def solve_with_report(
    name: str, workload: Workload, epsilon: float, rng: np.random.Generator, report: Report
) -> Solution | Unavailable:
    """The solution of ``solve``, with news on the way, or why there are none."""
    if not is_solved(name) or not solver_of(name).reports:
        return Unavailable("it has no solver that tells where it stands")
    return solve(name, workload, epsilon if solver_of(name).per_epsilon else None, rng, report=report)


def restore(name: str, solution: Solution, epsilon: float) -> Strategy:
    """The strategy of a solved mechanism from its solution, verified."""
    solver_of(name)
    mechanism: SolvedMechanism = _load(name)
    restored = mechanism.restore(solution, check_epsilon(epsilon))
    if name not in _OWN:
        return restored
    checked = checked_strategy(name, restored, restored.domain_size, epsilon)
    if isinstance(checked, Unavailable):
        raise BadValue(f"mechanism {name}", checked.reason, "restore what it has solved", "correct its restore")
    return checked


def strategy_for(
    name: str,
    workload: Workload,
    epsilon: float,
    *,
    options: Options | None = None,
    seed: int = 0,
    root_seed: int = 0,
) -> Strategy | Unavailable:
    """Return the mechanism's strategy for a workload, built or solved here and now: the bits of the pipeline's file.

    Parameters
    ----------
    options
        Settings of the solver, as in a study's ``options``.
    seed, root_seed
        The value on the study's axis ``seed``, and the configuration's ``seed``.

    >>> from factormech.workloads.registry import create
    >>> strategy_for("randomized-response", create("prefix", 4), 1.0).outputs
    4
    """
    spec = strategy_spec(name, workload, epsilon, options=options, seed=seed, root_seed=root_seed)
    if not is_solved(name):
        return build(name, workload.domain_size, epsilon)
    return restore(name, solution_for(spec, workload), epsilon)


def strategy_spec(
    name: str,
    workload: Workload,
    epsilon: float | None,
    *,
    options: Options | None = None,
    seed: int | None = 0,
    root_seed: int = 0,
) -> Spec:
    """Return the identity of a strategy, the one place where a solver's random stream gets its name.

    ε is left out where one strategy serves every budget, the seed where chance has no part, and settings that are the
    solver's own.
    """
    for problem in check_options(name, options or {}):
        raise problem
    solver = solver_of(name) if is_solved(name) else Solved("", per_epsilon=True, seeded=False)
    kept = {key: value for key, value in (options or {}).items() if value != solver.options[key].default}
    budget = check_epsilon(epsilon) if solver.per_epsilon else None
    drawn, root = ((seed or 0), root_seed) if solver.seeded else (None, 0)
    return Spec("strategy", name, workload.spec(), kept, budget, seed=drawn, root_seed=root)


def solution_for(spec: Spec, workload: Workload, report: Report = silent, start: Solution | None = None) -> Solution:
    """Return what the solver of a spec finds, read where it is in a file; the rest is as in :func:`solve`."""
    stored = find(spec)
    if stored is not None:
        return Solution(stored.datasets, stored.attributes)
    return solve(spec.name, workload, spec.epsilon, spec.stream(), spec.options, report, start)


def _load(name: str) -> Any:
    if name in _OWN:
        return _OWN[name]
    module, _, attribute = _target(name).partition(":")
    return getattr(import_module(module), attribute)


def _target(name: str) -> str:
    if name in _SOLVED:
        return _SOLVED[name].target
    if name not in _FIXED:
        raise UnknownName("mechanism", name, names())
    return _FIXED[name]
