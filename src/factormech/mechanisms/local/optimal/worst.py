r"""Strategies of least worst-case variance: a game against the prior of the user types.

The largest variance of a user type is the largest average under a prior x. A strategy with its reconstruction (Q, V)
has for type u the variance

.. math:: \sum_o Q_{ou} \lVert Ve_o\rVert^2 - \lVert We_u\rVert^2 ,

jointly convex in the weights θ of staircase rows and U_S = θ_SV_S, and linear in x. So min over strategies and max over
priors exchange (Sion): the best worst case is max_x φ(x), φ(x) the least variance under x, which is concave, and its
slope at x is the vector of variances of the strategy that is best for x (Danskin).

The players move in turns: the prior by multiplicative weights, x_u ← x_u (σ²_u / Σx σ²)^η, the strategy by a few
quasi-Newton steps on its masses and now and then by pricing, both in the coordinates of ``frame.py`` under the current
prior. There, with h_S = ‖FM⁻u_S‖² (C = FᵀF) the gain of a set,

.. math:: \sigma_u^2 = \sum_S p_S h_S \bigl(1 + u_S(u)\bigr) - (e_u - x)^\top C (e_u - x) .

At every turn the strategy at hand, with the reconstruction that is best under the prior at hand, is a strategy whose
worst case is known; the best one is kept. On large domains the moves are made in single precision, and what is returned
is feasible and evaluated in double precision.

The objective that is told is n·max σ² + tr C, which is at least tr(X_c⁺C): every lower bound of the average problem
holds, and that of a prior is better (``bounds/``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.mechanisms.local.optimal import columns as pricing
from factormech.mechanisms.local.optimal import rows as pruning
from factormech.mechanisms.local.optimal.columns import Candidate, Columns
from factormech.mechanisms.local.optimal.frame import Frame
from factormech.mechanisms.local.optimal.problem import Optimised, Problem, Report, Step, Stopped, silent
from factormech.mechanisms.local.optimal.rows import folded
from factormech.mechanisms.local.optimal.search import DOUBLE_UP_TO, ROWS_PER_TYPE

# η: the exponent of the prior's first move. It is halved when a move takes back part of the last one, and grows by a
# tenth when it does not: no one exponent suits a game of 3 types and one of 500.
MOVE = 3.0
SHORTER, LONGER, LONGEST = 0.5, 1.1, 12.0
# No type's prior changes by more than this factor's logarithm in a turn, for the strategy must be able to follow, and a
# position that is worse than the best by this factor is given up: the game goes on from the best one, with less haste.
LARGEST_MOVE = 0.5
LOST = 3.0
# No type's prior goes below this share of the uniform one: the reconstruction divides by what outputs it sees.
FLOOR = 1e-3
# A game of fewer turns is no game.
FEWEST = 12
# Turns with an early search for new sets.
EARLY = (0, 1, 3, 7)
# The worst case this close to the value of the game is as good as it.
BALANCED = 1e-6
# Moves are in single precision where n·(variance) is more than this times tr C, which the second moment has beside it:
# else their difference needs double precision.
CANCELLATION = 1.0


@dataclass(frozen=True)
class WorstOptions:
    """What the game may take.

    Attributes
    ----------
    turns
        The most moves of both players.
    effort
        Turns are fewer on large domains, for one costs about n³: effort·(512/n)³ of them, and ``FEWEST`` at least.
    steps
        Quasi-Newton steps of the strategy in each.
    pricing
        Turns between two searches for new sets; the first searches come sooner, since a start of few rows (randomized
        response, for one) leaves the strategy no answer to another prior.
    stage
        What a stage of pruning keeps of the rows (``rows.py``).
    enough, more
        While the worst variance is above the lower bound on it by more than this share, as many times the turns are
        taken.
    """

    turns: int = 80
    effort: float = 20.0
    steps: int = 2
    pricing: int = 15
    stage: float = 0.75
    enough: float = 0.02
    more: int = 4

    def turns_on(self, domain_size: int) -> int:
        """The most turns on a domain."""
        return min(self.turns, max(FEWEST, round(self.effort * (512 / domain_size) ** 3)))


STANDARD = WorstOptions()
BEST = WorstOptions(turns=600, effort=200.0, steps=4)


def solve(
    problem: Problem,
    start: Optimised,
    *,
    options: WorstOptions = STANDARD,
    rows: int | None = None,
    lower_bound: float = 0.0,
    report: Report = silent,
) -> Optimised:
    """A strategy whose worst-case variance is near the least possible, from one that is good on average.

    Parameters
    ----------
    problem
        C and ε; its prior is not looked at.
    start
        A strategy, such as that of least average variance.
    options
        How much to spend.
    rows
        The most rows; 16n, or as many as the start has, if ``None``.
    lower_bound
        Of n·(worst variance) + tr C, over all strategies.
    report
        Told of every turn.

    Returns
    -------
    ``objective`` is n·(worst variance) + tr C; ``details["prior"]``, (n,), is the prior that the reconstruction has to
    be best for, and ``details["value"]`` the same objective averaged under this prior. Never worse than the start with
    its reconstruction for the uniform prior.
    """
    allowed = max(ROWS_PER_TYPE * problem.domain_size, len(start.supports)) if rows is None else rows
    game = _Game(problem, options, allowed, lower_bound, report)
    return game.play(start)


@dataclass(frozen=True)
class _Standing:
    """A position of the game: n·max σ² + tr C, the same averaged under the prior, and σ² of every type."""

    worst: float
    value: float
    candidate: Candidate
    prior: FloatArray
    variance: FloatArray


class _Game:
    """One solve: the position, and the best one seen."""

    def __init__(self, problem: Problem, options: WorstOptions, rows: int, lower_bound: float, report: Report) -> None:
        self.problem, self.options, self.rows = problem, options, rows
        self.lower_bound, self.report = lower_bound, report
        self.uniform = Frame.of(replace(problem, prior=None))
        self.taken = 0
        self.turns = options.turns_on(problem.domain_size)
        self.exponent = MOVE
        self.dtype: type[np.floating[Any]] = np.float64
        self.last_move = np.zeros(problem.domain_size)

    def play(self, start: Optimised) -> Optimised:
        """Turns until nothing is left to gain."""
        n = self.problem.domain_size
        if self.uniform.rank == 0:
            return replace(start, details={**start.details, "prior": np.full(n, 1.0 / n), "value": start.objective})
        prior = np.full(n, 1.0 / n)
        candidate = self._seated(start, prior)
        best = first = self._standing(candidate, prior)
        self.dtype = self._precision(first)
        stopped: Stopped = "iteration_limit"
        floor = self._objective(0.0)
        bound = self.lower_bound - floor
        for turn in range(self.options.more * self.turns + 1):
            now = self._standing(candidate, prior) if turn else first
            variance = now.variance
            if now.worst < best.worst:
                best = now
            elif now.worst - floor > LOST * (best.worst - floor):
                candidate, prior, variance = best.candidate, best.prior, best.variance
                self.exponent *= SHORTER
            if turn > self.turns and not best.worst - floor > (1.0 + self.options.enough) * bound > 0.0:
                break
            self.report(Step("worst case", turn, max(self.turns, turn), best.worst, self.lower_bound))
            if float(variance.max()) <= float(prior @ variance) * (1.0 + BALANCED):
                stopped = "gap"
                break
            prior = self._moved(prior, variance)
            candidate = self._answered(candidate, prior, turn)
        return self._answer(self._settled(best, first), stopped)

    def _precision(self, first: _Standing) -> type[np.floating[Any]]:
        """Of the moves: single on large domains, where the variance is no small difference of large numbers."""
        fit = first.value > (1.0 + CANCELLATION) * self._objective(0.0)
        return np.float32 if fit and self.problem.domain_size > DOUBLE_UP_TO else np.float64

    def _settled(self, best: _Standing, first: _Standing) -> _Standing:
        """The best position in double precision; the first one where that is not worse."""
        if best.candidate.columns.features[0].dtype == np.float64:
            return best
        exact = best.candidate.in_double()
        standing = first if exact is None else self._standing(exact, best.prior)
        return standing if standing.worst < first.worst else first

    def _standing(self, candidate: Candidate, prior: FloatArray) -> _Standing:
        """A position with its worst case and its value."""
        variance = self._variance(candidate, prior)
        worst, value = self._objective(float(variance.max())), self._objective(float(prior @ variance))
        return _Standing(worst, value, candidate, prior, variance)

    def _objective(self, variance: float) -> float:
        return self.problem.domain_size * variance + float(np.trace(self.problem.centred_gram))

    def _seated(self, start: Optimised, prior: FloatArray) -> Candidate:
        """The start in the coordinates of the uniform prior, unimproved."""
        frame, supports = self.uniform, start.supports
        masses = start.weights * (len(prior) + frame.shift * supports.sum(axis=1)) / len(prior)
        if frame.symmetric:
            supports, masses = folded(frame, supports, masses)
        columns = Columns.of(frame, supports, np.float64)
        place = columns.place(masses)
        if place is None:
            raise ArithmeticError("the start of the game cannot answer the workload")
        return Candidate(columns, place)

    def _variance(self, candidate: Candidate, prior: FloatArray) -> FloatArray:
        """σ², (n,), with the reconstruction that is best under the prior."""
        place, frame, C = candidate.place, candidate.columns.frame, self.problem.centred_gram
        tilt = (place.masses * place.gains) @ candidate.columns.features[0]
        Cx = C @ prior
        second = frame.scale * (place.value + frame.whole_vector(tilt))
        return np.asarray(second - (np.diagonal(C) - 2.0 * Cx + prior @ Cx))

    def _moved(self, prior: FloatArray, variance: FloatArray) -> FloatArray:
        """The prior after its move; of a reflected problem it stays reflected to the last bit."""
        move = np.log(np.maximum(variance / float(prior @ variance), FLOOR))
        turned = float(prior @ (move * self.last_move)) < 0.0
        self.exponent = self.exponent * SHORTER if turned else min(self.exponent * LONGER, LONGEST)
        self.last_move = move
        x = prior * np.exp(min(self.exponent, LARGEST_MOVE / max(float(np.ptp(move)), 1e-300)) * (move - move.max()))
        x = np.maximum(x / x.sum(), FLOOR / len(x))
        if self.uniform.symmetric:
            x = 0.5 * (x + x[::-1])
        return np.asarray(x / x.sum())

    def _answered(self, candidate: Candidate, prior: FloatArray, turn: int) -> Candidate:
        """The strategy's move: the same rows under the new prior, better masses, at times other rows."""
        old, frame = candidate.columns, self.uniform.under(prior)
        weights = old.frame.row_weights(old.supports, candidate.place.masses)
        masses = weights * (len(prior) + frame.shift * (old.supports @ frame.prior)) / len(prior)
        columns = Columns.of(frame, old.supports, self.dtype)
        place = columns.place(masses)
        if place is None:
            raise ArithmeticError("feasible rows became infeasible under another prior")
        moved, taken = Candidate(columns, place).improved(self.options.steps, 1e-9)
        self.taken += taken
        if turn in EARLY or turn % self.options.pricing == self.options.pricing - 1:
            moved = self._widened(moved)
        return moved

    def _widened(self, candidate: Candidate) -> Candidate:
        """With the sets that a local search finds, then back to the rows allowed; as it is if that does not help."""
        flips = max(2, self.problem.domain_size // 32)
        found, excess = pricing.climb(candidate.columns.frame, candidate.place, candidate.columns.supports, flips)
        good = np.flatnonzero(excess > 1e-9)
        good = np.sort(good[np.argsort(-excess[good], kind="stable")][: max(len(candidate.columns) // 3, 1)])
        share = 0.5 * len(good) / (len(good) + len(candidate.columns))
        wider = candidate.joined(found[good], share) if len(good) else None
        if wider is None:
            return candidate
        wider, taken = wider.improved(3 * self.options.steps, 1e-9)
        try:
            pruned, more = pruning.prune(wider, self.rows, 3 * self.options.steps, 1e-9, self.options.stage)
        except BadValue:  # the rows allowed, fewer than n, are no strategy together: those at hand are one
            return candidate
        self.taken += taken + more
        return pruned if pruned.value < candidate.value else candidate

    def _answer(self, best: _Standing, stopped: Stopped) -> Optimised:
        columns, masses = best.candidate.columns, best.candidate.place.masses
        frame, live = columns.frame, masses > 0.0
        supports, masses = frame.expand(columns.supports[live], masses[live])
        details: dict[str, object] = {"prior": best.prior, "value": best.value, "rows": len(supports)}
        weights = frame.row_weights(supports, masses)
        return Optimised(supports, weights, best.worst, self.lower_bound, self.taken, stopped, details)
