"""What the strategy of least average variance leaves to do for that of least worst case.

The two have the same lower bound with the same proof, and the game against the prior (``worst.py``) begins with the
strategy of least average, so that who has a solution of the one does not begin the other from nothing. What comes out
is the same, bit for bit, with such a solution or without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from factormech.errors import BadValue
from factormech.mechanisms.local.optimal.problem import Optimised
from factormech.mechanisms.local.optimal.proof import CHOSEN, KEPT_DATASETS, KEPT_RECORD, Proof, sets_of
from factormech.mechanisms.local.solved import Solution

# The record's words for the bound on tr(X_c⁺C) from before any solver ran, and for the variance of the symmetric
# strategy, which is that of every type; the fixed strategy of least worst case (empty if none answers), and this.
BOUND, SYMMETRIC = "certified_bound", "symmetric_variance"
# Bounds on the average variance per user and on the worst, of unbiased linear strategies, rounded down.
VARIANCE_BOUND, WORST_BOUND = "variance_bound", "worst_variance_bound"
FIXED, FIXED_WORST = "fixed", "fixed_worst_variance"


@dataclass(frozen=True)
class Average:
    """A solution of least average.

    Attributes
    ----------
    solver
        Who found its strategy.
    datasets
        The strategy alone.
    bound, variance_bound, lower_bound
        On tr(X_c⁺C), from before any solver ran; the same on the average variance; the best that is known on L.
    symmetric
        The variance of the symmetric strategy; infinite where there is none.
    fixed, fixed_worst
        The fixed strategy of least worst case, and its worst variance; empty and infinite where none answers.
    proof
        What proves the bound.
    iterations, stopped
        What the solver said of its run.
    """

    solver: str
    datasets: dict[str, npt.NDArray[Any]]
    bound: float
    variance_bound: float
    lower_bound: float
    symmetric: float
    fixed: str
    fixed_worst: float
    proof: Proof
    iterations: int
    stopped: str

    @classmethod
    def of(cls, solution: Solution, domain_size: int) -> Average:
        """From what was kept of it."""
        record = solution.record
        needed = {
            CHOSEN,
            "domain_size",
            "lower_bound",
            "iterations",
            "stopped",
            BOUND,
            VARIANCE_BOUND,
            FIXED,
            FIXED_WORST,
        }
        missing = needed - record.keys()
        if missing:
            raise BadValue("start", sorted(missing), "be in the record of an optimised strategy", "solve it again")
        if int(record["domain_size"]) != domain_size:
            remedy = "give the strategy of the same workload"
            raise BadValue("start", f"{record['domain_size']} types", f"be of {domain_size} types", remedy)
        proved = {name: solution.datasets[name] for name in KEPT_DATASETS if name in solution.datasets}
        return cls(
            solver=str(record[CHOSEN]),
            datasets={name: kept for name, kept in solution.datasets.items() if name not in KEPT_DATASETS},
            bound=float(record[BOUND]),
            variance_bound=float(record[VARIANCE_BOUND]),
            lower_bound=float(record["lower_bound"]),
            symmetric=float(record.get(SYMMETRIC, np.inf)),
            fixed=str(record[FIXED]),
            fixed_worst=float(record[FIXED_WORST]),
            proof=Proof(datasets=proved, record={name: record[name] for name in KEPT_RECORD if name in record}),
            iterations=int(record["iterations"]),
            stopped=str(record["stopped"]),
        )

    def staircase(self, domain_size: int) -> Optimised:
        """The strategy as the general solver returned it."""
        supports = sets_of(self.datasets, domain_size)
        return Optimised(supports, np.asarray(self.datasets["weights"]), np.nan, self.bound, self.iterations, "stalled")
