"""The values that a study gives to its kind, and the workloads that they name.

**Values.** They are plain, and go to a job as JSON.

**Workloads.** They are built-in ones and the user's own.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from factormech.errors import BadValue
from factormech.workloads import definitions
from factormech.workloads.base import Workload

# Values.

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


@dataclass(frozen=True)
class Asked:
    """The axes of a study and its settings, defaults filled in.

    Parameters
    ----------
    grid
        The values of every axis.
    settings
        The other settings of the kind.
    seed
        Root of every random stream; 0 in parts where chance has none, so that another seed changes nothing.
    definitions
        The user's own workloads; in a part, those that it is made of.
    """

    grid: Mapping[str, tuple[Any, ...]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    definitions: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        """An axis, as a tuple, or a setting."""
        return self.grid[name] if name in self.grid else self.settings[name]

    def points(self, *axes: str) -> Iterator[tuple[Any, ...]]:
        """The combinations of these axes (or settings that are lists), in this order, the last one fastest."""
        return itertools.product(*(self[name] for name in axes or tuple(self.grid)))

    def only(self, **values: Any) -> Asked:
        """Return the request with one value in the place of each of these axes (or settings that are lists)."""
        grid = {name: (values[name],) if name in values else old for name, old in self.grid.items()}
        settings = {name: [values[name]] if name in values else old for name, old in self.settings.items()}
        return replace(self, grid=grid, settings=settings)

    def only_data(self, names: Iterable[str]) -> Asked:
        """Return the request on these data sets."""
        return replace(self, grid={**self.grid, "data": tuple(names)})

    def to_json(self) -> str:
        """Return the canonical text of the request: equal texts have equal results."""
        whole = {
            "grid": {name: list(values) for name, values in self.grid.items()},
            "settings": dict(self.settings),
            "seed": self.seed,
            "definitions": dict(self.definitions),
        }
        return json.dumps(whole, sort_keys=True)

    @staticmethod
    def from_json(text: str) -> Asked:
        """Return the request that :meth:`to_json` wrote."""
        try:
            whole = json.loads(text)
            grid = {name: tuple(values) for name, values in whole["grid"].items()}
            return Asked(grid, whole["settings"], whole["seed"], whole["definitions"])
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            rule = f"be what a study asks of its experiment, in JSON ({type(error).__name__})"
            raise BadValue("--asked", text, rule, "let the workflow call the job") from None


Parts: TypeAlias = Callable[[Asked], Mapping[str, Asked]]


def whole(asked: Asked) -> dict[str, Asked]:
    """One job for the whole study."""
    return {"all": asked}


def split(*axes: str) -> Parts:
    """Return the function that makes a job of each combination of these axes (or settings that are lists).

    The name of a job is made of the values: ``prefix_64_0.5``.
    """

    def parts(asked: Asked) -> dict[str, Asked]:
        found = {}
        for values in asked.points(*axes):
            found["_".join(map(str, values))] = asked.only(**dict(zip(axes, values, strict=True)))
        return found

    return parts


def check_parts(kind: str, parts: Mapping[str, Asked]) -> Mapping[str, Asked]:
    """Refuse parts whose names cannot be those of files, and a study without any."""
    for name in parts:
        if not _NAME.fullmatch(name):
            rule = "be made of letters, digits and . _ + -, a letter or digit first"
            raise BadValue(f"part of experiment {kind}", name, rule, "name it otherwise in the experiment's parts")
    if not parts:
        raise BadValue(f"parts of experiment {kind}", {}, "not be empty", "give at least one part")
    return parts


# Workloads.


def workload_of(asked: Asked, name: str, domain_size: int, *, seed: int = 0) -> Workload:
    """The workload that the workload jobs make for this name, size and seed of the grid."""
    stream = (str(seed),) if definitions.is_seeded(name, asked.definitions) else ()
    return definitions.create(name, domain_size, asked.definitions, seed=asked.seed, base=Path.cwd(), stream=stream)
