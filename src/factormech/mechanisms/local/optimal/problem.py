r"""What the optimisers are given, what they may spend, and what they return.

**The problem and the result.** Setting: Problem 3.12 of McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020), in
the notation of ``mechanisms/local/strategy.py``: C = PGP is the centred Gram matrix of the workload, a = e^ε.

**Staircase strategies.** The extreme rays of the cone {q ≥ 0 : max q ≤ a min q} are v_S = 1 + (a−1)1_S for the subsets
S other than ∅ and the whole domain (the constant row is a multiple of v_S + v_{Sᶜ}), and q ↦ qqᵀ/(1ᵀq) is convex in
the order of matrices and homogeneous of degree one. Splitting a row into extreme rows never loses, so the best strategy
among all, of any number of outputs, solves the convex problem

.. math:: \min_{\theta\ge0}\; \operatorname{tr}(X_c^+C), \quad
          X = \sum_S \theta_S \frac{v_Sv_S^\top}{\mathbf 1^\top v_S} = X_c + \tfrac1n\mathbf{11}^\top,
          \quad \sum_S\theta_Sv_S = \mathbf 1 .

Every optimiser answers with supports S, weights θ, the objective tr(X_c⁺C) that they reach, and a lower bound on what
any ε-LDP strategy reaches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue

# The problem and the result.

BoolArray: TypeAlias = npt.NDArray[np.bool_]
# Why a solver stopped: the gap asked for was reached; no step gains any more; the iterations were used up.
Stopped: TypeAlias = Literal["gap", "stalled", "iteration_limit"]

# Eigenvalues of C down to this fraction of the largest are taken for rounding; below it C is refused.
INDEFINITE = 1e-9


@dataclass(frozen=True)
class Problem:
    """A workload's centred Gram matrix C, (n, n), and a budget; checked as it is made.

    ``prior`` weighs the user types, (n,), summing to one: the objective is then the variance averaged under it (see
    ``worst_case``); none is the uniform one.
    """

    centred_gram: FloatArray
    epsilon: float
    prior: FloatArray | None = None

    def __post_init__(self) -> None:
        C = np.asarray(self.centred_gram, dtype=float)
        if C.ndim != 2 or C.shape[0] != C.shape[1] or not len(C):
            raise BadValue("shape of centred_gram", C.shape, "be (n, n), n ≥ 1", "give PGP of the workload")
        scale = float(np.abs(C).max())
        if not np.isfinite(scale):
            raise BadValue("centred_gram", scale, "be finite", "repair the workload's Gram matrix")
        if float(np.abs(C - C.T).max()) > INDEFINITE * scale:
            raise BadValue("centred_gram", "not symmetric", "be symmetric", "average it with its transpose")
        lowest = float(np.linalg.eigvalsh(C)[0]) if scale else 0.0
        if lowest < -INDEFINITE * len(C) * scale:
            remedy = "give the Gram matrix WᵀW of real queries, centred"
            raise BadValue("least eigenvalue of centred_gram", lowest, "be at least 0", remedy)
        if float(np.abs(C.sum(axis=0)).max()) > INDEFINITE * len(C) * scale:
            raise BadValue("centred_gram", "not centred", "have rows that sum to 0", "give PGP, P = I − 11ᵀ/n")
        object.__setattr__(self, "centred_gram", C)
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        if self.prior is not None:
            object.__setattr__(self, "prior", _checked_prior(self.prior, len(C)))

    @property
    def domain_size(self) -> int:
        """n."""
        return len(self.centred_gram)


@dataclass(frozen=True)
class Step:
    """Where a long solve stands, for those who wait: ``iteration`` of at most ``limit``."""

    stage: str
    iteration: int
    limit: int
    objective: float
    lower_bound: float


Report: TypeAlias = Callable[[Step], None]


def silent(step: Step) -> None:
    """Report nothing."""
    del step


@dataclass(frozen=True)
class Optimised:
    """A staircase strategy and how far from the best it can be.

    Attributes
    ----------
    supports
        The sets S, (m, n).
    weights
        θ, (m,), positive, with Σθ_S v_S = 1 to about 1e-11.
    objective
        tr(X_c⁺C), in the problem's scale.
    lower_bound
        No ε-LDP strategy of any number of outputs has less.
    iterations
        Steps taken, as the solver counts them.
    stopped
        Why it stopped.
    details
        What else the solver wishes to record: numbers, strings and small arrays.
    """

    supports: BoolArray
    weights: FloatArray
    objective: float
    lower_bound: float
    iterations: int
    stopped: Stopped
    details: dict[str, object] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """objective ÷ lower bound − 1; infinite where the bound proves nothing."""
        if self.lower_bound <= 0.0:
            return 0.0 if self.objective <= 0.0 else float("inf")
        return self.objective / self.lower_bound - 1.0


def _checked_prior(prior: FloatArray, domain_size: int) -> FloatArray:
    x = np.asarray(prior, dtype=float)
    if x.shape != (domain_size,):
        raise BadValue("shape of prior", x.shape, f"be ({domain_size},)", "give one weight per user type")
    if not (np.isfinite(x).all() and x.min() >= 0.0 and abs(float(x.sum()) - 1.0) <= 1e-9):
        found = f"sum {float(x.sum()):g}, least {float(x.min()):g}"
        raise BadValue("prior", found, "be a distribution", "normalise it")
    return x


# The limits of the general optimiser.

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
    enough, more
        While the variance is above the lower bound on it by more than this share, as many times the rounds are played.
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
    enough: float = 0.02
    more: int = 10

    def __post_init__(self) -> None:
        for name in ("rounds", "steps", "polish"):
            check_positive_integer(name, getattr(self, name), minimum=0)
        for name in ("patience", "more"):
            check_positive_integer(name, getattr(self, name))
        if self.rows is not None:
            check_positive_integer("rows", self.rows, minimum=2)
        if not self.effort >= 0.0:
            raise BadValue("effort", self.effort, "be a number of at least 0", "give for example 10.0")
        if not 0.0 <= self.stage < 1.0:
            raise BadValue("stage", self.stage, "be at least 0 and below 1", "give for example 0.75")
        for name in ("gap", "stall", "enough"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0.0):
                raise BadValue(name, value, "be a finite number of at least 0", "give for example 1e-6")

    def rounds_on(self, domain_size: int) -> int:
        """The number of rounds for n types."""
        return int(min(self.rounds, max(LEAST_ROUNDS, self.effort * (512.0 / domain_size) ** 3)))


STANDARD = GeneralOptions()
BEST = GeneralOptions(effort=60.0, rounds=120, steps=8, stage=0.9, polish=300, patience=6, stall=3e-5)
