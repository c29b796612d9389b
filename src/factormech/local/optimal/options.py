"""What the general optimiser may spend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from factormech.arrays import check_positive_integer
from factormech.errors import BadValue

# Rounds on the largest domains.
LEAST_ROUNDS = 2


@dataclass(frozen=True)
class GeneralOptions:
    """What the optimiser may spend.

    Attributes
    ----------
    gap
        objective ÷ lower bound − 1 at which to stop.
    rows
        The most rows of the strategy; none is 16n.
    effort
        Rounds of pricing at 512 types; the cost of one grows like n³, so there are effort·(512/n)³ of them, two at
        least.
    rounds
        The most rounds, whatever n is; and with ``effort=inf`` their number.
    steps
        Quasi-Newton steps after each change of the sets.
    stage
        The share of the rows that pruning keeps at once.
    polish
        Quasi-Newton steps on the final sets, in double precision.
    patience
        Rounds that together must gain ``stall``, relatively.
    stall
        See ``patience``.
    """

    gap: float = 1e-6
    rows: int | None = None
    effort: float = 10.0
    rounds: int = 60
    steps: int = 4
    polish: int = 30
    stage: float = 0.75
    patience: int = 4
    stall: float = 3e-5

    def __post_init__(self) -> None:
        for name in ("rounds", "steps", "polish"):
            check_positive_integer(name, getattr(self, name), minimum=0)
        check_positive_integer("patience", self.patience)
        if self.rows is not None:
            check_positive_integer("rows", self.rows, minimum=2)
        if not self.effort >= 0.0:
            raise BadValue("effort", self.effort, "be a number of at least 0", "give for example 10.0")
        if not 0.0 <= self.stage < 1.0:
            raise BadValue("stage", self.stage, "be at least 0 and below 1", "give for example 0.75")
        for name in ("gap", "stall"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0.0):
                raise BadValue(name, value, "be a finite number of at least 0", "give for example 1e-6")

    def rounds_on(self, domain_size: int) -> int:
        """The number of rounds for n types."""
        return int(min(self.rounds, max(LEAST_ROUNDS, self.effort * (512.0 / domain_size) ** 3)))


STANDARD = GeneralOptions()
BEST = GeneralOptions(effort=60.0, rounds=120, steps=8, stage=0.9, polish=300, patience=6, stall=3e-5)
