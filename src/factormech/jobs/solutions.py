"""The strategies of a solved mechanism: from the files that the solve jobs wrote, or solved on the spot if cheap."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factormech import store
from factormech.errors import BadValue
from factormech.local.registry import is_solved, restore, solution_for, solver_of, strategy_spec
from factormech.local.solved import Options, Solution
from factormech.local.strategy import Strategy
from factormech.measure.exact import Question, RecordFor, StrategyFor, built, unrecorded

# Workload, domain size, seed (none where chance has no part), budget (none where one strategy serves every budget).
Key = tuple[str, int, int | None, float | None]


@dataclass(frozen=True)
class Asked:
    """A mechanism, settings of its solver, and the root of its random streams."""

    mechanism: str
    options: Options
    root_seed: int


def strategies_of(
    wanted: Asked, paths: Sequence[Path], questions: Sequence[Question], epsilons: Sequence[float]
) -> StrategyFor:
    """How a mechanism comes by its strategies: built, or from a solver; a file that is not asked for is refused."""
    mechanism = wanted.mechanism
    if not is_solved(mechanism):
        if paths:
            remedy = "leave the files out"
            raise BadValue("strategies", str(paths[0]), f"not be given for {mechanism}, which has no solver", remedy)
        return built(mechanism)
    solutions = Solutions(wanted, paths)
    asked = {key for question in questions for epsilon in epsilons for key in solutions.keys(question, epsilon)}
    for key, path in solutions.paths.items():
        if key not in asked:
            rule = "be of a workload, domain size, seed and budget that is measured"
            raise BadValue(str(path), key, rule, "give the strategies of this study's grid, or none")
    return solutions


def record_of(strategies: StrategyFor) -> RecordFor:
    """What the solver recorded, where the strategies come from one."""
    return strategies.record if isinstance(strategies, Solutions) else unrecorded


class Solutions:
    """The strategies of a solved mechanism, found when they are asked for.

    A point without a file is solved here, with the same named random stream and so the same result as in a job of its
    own.
    """

    def __init__(self, wanted: Asked, paths: Sequence[Path]) -> None:
        self.mechanism, self.options, self.root_seed = wanted.mechanism, wanted.options, wanted.root_seed
        self.solved: dict[Key, Solution] = {}
        self.last: tuple[Key, Solution] | None = None
        solver = solver_of(self.mechanism)
        self.per_epsilon, self.seeded = solver.per_epsilon, solver.seeded
        self.paths = {self._key(path): path for path in paths}

    def __call__(self, asked: Question, epsilon: float) -> Strategy:
        """The strategy for a question at a budget, restored and verified."""
        return restore(self.mechanism, self._found(asked, epsilon), epsilon)

    def record(self, asked: Question, epsilon: float) -> Mapping[str, Any]:
        """What the solver recorded of it."""
        return self._found(asked, epsilon).record

    def keys(self, asked: Question, epsilon: float) -> list[Key]:
        """What a strategy is for: with the seed, or without where chance has no part in it."""
        workload, budget = asked.workload, epsilon if self.per_epsilon else None
        seeds = (asked.seed,) if self.seeded else (asked.seed, None)
        return [(workload.name, workload.domain_size, seed, budget) for seed in seeds]

    def _found(self, asked: Question, epsilon: float) -> Solution:
        keys = self.keys(asked, epsilon)
        stored = next((key for key in keys if key in self.paths), None)
        return self._solved(asked, keys[0]) if stored is None else self._stored(stored)

    def _stored(self, key: Key) -> Solution:
        if self.last is None or self.last[0] != key:  # one is kept: a large one is not read twice
            record = store.read(self.paths[key], "strategy")
            self.last = key, Solution(record.datasets, record.attributes)
        return self.last[1]

    def _solved(self, asked: Question, key: Key) -> Solution:
        if key not in self.solved:
            workload, root_seed = asked.workload, self.root_seed
            spec = strategy_spec(
                self.mechanism, workload, key[-1], options=self.options, seed=asked.seed, root_seed=root_seed
            )
            self.solved[key] = solution_for(spec, workload)
        return self.solved[key]

    def _key(self, path: Path) -> Key:
        found = store.read_attributes(path, "strategy")
        if found["mechanism"] != self.mechanism:
            remedy = "give a file of this mechanism"
            raise BadValue(str(path), found["mechanism"], f"be a strategy of {self.mechanism}", remedy)
        settings = json.dumps(self.options, sort_keys=True)
        if found["options"] != settings:
            raise BadValue(str(path), found["options"], f"be solved with the settings {settings}", "solve it again")
        return found["workload"], found["domain_size"], found["seed"], found["epsilon"]
