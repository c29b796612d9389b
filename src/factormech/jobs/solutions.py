"""The strategies of a solved mechanism: from the files that the solve jobs wrote, or solved on the spot if cheap."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from factormech import store
from factormech.errors import BadValue
from factormech.local.registry import is_solved, restore, rng_of, solve, solver_of
from factormech.local.solved import Solution
from factormech.local.strategy import Strategy
from factormech.measure.exact import Question, StrategyFor, built

# Workload, domain size, seed, budget (none where one strategy serves every budget).
Key = tuple[str, int, int, float | None]


def strategies_of(mechanism: str, paths: Sequence[Path], root_seed: int) -> StrategyFor:
    """How a mechanism comes by its strategies: built, or from a solver."""
    return Solutions(mechanism, paths, root_seed) if is_solved(mechanism) else built(mechanism)


class Solutions:
    """The strategies of a solved mechanism, found when they are asked for.

    A point without a file is solved here, with the same named random stream and so the same result as in a job of its
    own.
    """

    def __init__(self, mechanism: str, paths: Sequence[Path], root_seed: int) -> None:
        self.mechanism, self.root_seed = mechanism, root_seed
        self.solved: dict[Key, Solution] = {}
        self.per_epsilon = solver_of(mechanism).per_epsilon
        self.paths = {self._key(path): path for path in paths}

    def __call__(self, asked: Question, epsilon: float) -> Strategy:
        """The strategy for a question at a budget, restored and verified."""
        workload = asked.workload
        key: Key = (workload.name, workload.domain_size, asked.seed, epsilon if self.per_epsilon else None)
        return restore(self.mechanism, self._stored(key) if key in self.paths else self._solved(asked, key), epsilon)

    def _stored(self, key: Key) -> Solution:
        record = store.read(self.paths[key], "strategy")
        return Solution(record.datasets, record.attributes)

    def _solved(self, asked: Question, key: Key) -> Solution:
        if key not in self.solved:
            rng = rng_of(self.mechanism, asked.workload, key[-1], self.root_seed, asked.seed)
            self.solved[key] = solve(self.mechanism, asked.workload, key[-1], rng)
        return self.solved[key]

    def _key(self, path: Path) -> Key:
        found = store.read(path, "strategy").attributes
        if found["mechanism"] != self.mechanism:
            remedy = "give a file of this mechanism"
            raise BadValue(str(path), found["mechanism"], f"be a strategy of {self.mechanism}", remedy)
        return found["workload"], found["domain_size"], found["seed"], found["epsilon"]
