"""What studies share: strategies, bounds and factorizations, each in one file that is named by what it holds.

A :class:`Solve` is the whole request, so that equal requests have one file, whichever study makes them, and a file
cannot be taken for the answer to another request. What the request is for is its :class:`~factormech.spec.Spec`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue
from factormech.workloads import definitions

if TYPE_CHECKING:
    from factormech.spec import Spec
    from factormech.workloads.base import Workload

# The folder of each family below ``results``.
FOLDERS = {"strategy": "strategies", "bound": "bounds", "factorization": "factorizations"}


@dataclass(frozen=True)
class Solve:
    """A request for something that is solved once.

    Parameters
    ----------
    family, name
        ``strategy`` of a mechanism, ``bound`` by its name, or ``factorization`` for a norm.
    workload, domain_size
        The workload, with its user-defined parts in ``definitions``.
    epsilon
        The privacy budget; ``None`` where one solution serves every budget.
    alpha
        The error of an approximate norm, or ``None``.
    options
        Settings of the solver.
    seed
        The seed of the grid, ``None`` where the result does not depend on it.
    root_seed
        The seed of the project; 0 where the result does not depend on it.
    """

    family: str
    name: str
    workload: str
    domain_size: int
    epsilon: float | None = None
    alpha: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    root_seed: int = 0
    definitions: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """The canonical text of the request."""
        return self._text

    @cached_property
    def _text(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> Solve:
        """The request that :meth:`to_json` wrote."""
        try:
            return Solve(**json.loads(text))
        except (json.JSONDecodeError, TypeError) as error:
            rule = f"be a request for a solution, in JSON ({type(error).__name__})"
            raise BadValue("--solve", text, rule, "let the workflow call the job") from None

    @cached_property
    def file(self) -> str:
        """The path of the file, whose last eight characters stand for what the path does not say."""
        rest = {"seed": self.seed, "options": json.dumps(dict(self.options), sort_keys=True)}
        rest |= {"root_seed": self.root_seed} if self.root_seed else {}
        rest |= {"definitions": json.dumps(self.definitions, sort_keys=True)} if self.definitions else {}
        mark = hashlib.sha256(json.dumps(rest).encode()).hexdigest()[:8]
        point = "any" if self.epsilon is None else f"eps{self.epsilon!r}"
        point += "" if self.alpha is None else f"-alpha{self.alpha!r}"
        return f"results/{FOLDERS[self.family]}/{self.name}/{self.workload}/n{self.domain_size}/{point}-{mark}.h5"

    def __hash__(self) -> int:
        """Equal requests have equal texts."""
        return hash(self._text)

    def spec(self, workload: Workload) -> Spec:
        """The identity of the solution, given the workload that :meth:`made` gives."""
        from factormech.mechanisms.local.registry import strategy_spec
        from factormech.spec import Spec

        if self.family == "strategy":
            seed, root = self.seed or 0, self.root_seed
            return strategy_spec(self.name, workload, self.epsilon, options=self.options, seed=seed, root_seed=root)
        return Spec(self.family, self.name, workload.spec(), self.options, self.epsilon, alpha=self.alpha)

    def made(self) -> Workload:
        """The workload of the request."""
        seeded = definitions.is_seeded(self.workload, self.definitions)
        stream = (str(self.seed),) if seeded and self.seed is not None else ()
        return definitions.create(
            self.workload, self.domain_size, self.definitions, seed=self.root_seed, base=Path.cwd(), stream=stream
        )


def of_workload(
    family: str, name: str, workload: str, domain_size: int, *, seed: int, root_seed: int, own: Mapping[str, Any]
) -> Solve:
    """The request for a workload; seeds are left out where the workload is not drawn at random."""
    seeded = definitions.is_seeded(workload, own)
    return Solve(
        family,
        name,
        workload,
        domain_size,
        seed=seed if seeded else None,
        root_seed=root_seed if seeded else 0,
        definitions=definitions.closure(workload, own),
    )


def strategy(
    mechanism: str,
    workload: str,
    domain_size: int,
    epsilon: float,
    *,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    root_seed: int = 0,
    own: Mapping[str, Any] | None = None,
) -> Solve:
    """The request for the strategy of a solved mechanism."""
    from factormech.mechanisms.local.registry import solver_of

    solver = solver_of(mechanism)
    request = of_workload("strategy", mechanism, workload, domain_size, seed=seed, root_seed=root_seed, own=own or {})
    if solver.seeded:
        request = replace(request, seed=seed, root_seed=root_seed)
    known = {name: option.default for name, option in solver.options.items()}
    kept = {name: value for name, value in (options or {}).items() if value != known.get(name)}
    return replace(request, epsilon=float(epsilon) if solver.per_epsilon else None, options=kept)


def start_of(request: Solve) -> Solve | None:
    """The request for the strategy that a solver begins with, if it begins with one."""
    from factormech.mechanisms.local.registry import begins_with

    if request.family != "strategy":
        return None
    rest = begins_with(request.name, request.options, request.domain_size)
    return None if rest is None else replace(request, options=dict(rest))
