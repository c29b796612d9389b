r"""Families of sets with their features: better sets, random sets with given correlations, better masses for given
sets.

**Better sets.** A set improves a strategy if its excess over the multipliers is positive. With Y = M⁻C_πM⁻ and μ of
``masses.py`` (Y1 = 0, μᵀ1 = 0), the score of a set is

.. math:: h_S - \mu^\top u_S = \beta_S^2\, 1_S^\top Y 1_S - \beta_S\, \mu^\top 1_S ,

and S deserves mass where it exceeds ν. No efficient search finds the best S of all; a local search that flips one type
at a time, from each set of the strategy, finds many good ones. With g = Y1_S at hand a flip is scored in constant time.

**Random sets.** They are thresholds of Gaussian vectors, so that their indicators are correlated like a given matrix.
For g ~ N(0, R), R of unit diagonal, let S = {u : g_u > τ}, τ = Φ⁻¹(1−β). Every type is in S with probability β, and

.. math:: \operatorname{Cov}(1_{u\in S}, 1_{w\in S}) = \int_0^{\arcsin R_{uw}} \frac{e^{-\tau^2/(1+\sin t)}}{2\pi}\,dt

(Plackett's formula). Solving this for R, entry by entry, gives the indicators the correlations of the target, except
those below −β/(1−β), which no sets of this density have (R = −1 there), and up to the part of R that is not positive
semidefinite. β = 1/(a+1) is the density at which a row says most.

**Better masses** for given sets come from the multiplicative (EM) step and a quasi-Newton method that it preconditions.

*The EM step.* p'_S = p_S (h_S/(ν + μᵀu_S))^e with (ν, μ) such that Σp' = 1 and Σp'u = 0. The reconstruction that is
best for p is one for p' too, so f(p') ≤ nΣp_S²h_S/p'_S; hence e = 1 never increases f, and e = ½ minimises this bound.
e = 1 is faster as a rule, but can cycle for ever.

*The quasi-Newton method.* Put p = Π(exp φ), Π the entropic projection onto the feasible masses (``masses.py``): a
problem without constraints. The derivative in φ is −ν·p·x with x_S = (h_S − ν − μᵀu_S)/ν, the excess, and the step
φ ← φ + x is the EM step but for terms of second order. So L-BFGS with the metric νDiag(p) starts from EM and
gathers what the metric leaves out: the overlap of sets. A step is taken only if it lowers the objective enough, so
the value never increases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.mechanisms.local.optimal.frame import Blocks, Frame, Real, block_matrices
from factormech.mechanisms.local.optimal.masses import Evaluated, Lists, evaluate, project
from factormech.mechanisms.local.optimal.problem import BoolArray
from factormech.numerics.descent import Curvature, backtracked

MEMORY = 12
# No log-mass moves further than this in one step.
LONGEST_MOVE = 1.0
_HALVINGS = 12


def improve(
    frame: Frame,
    features: Blocks,
    place: Evaluated,
    steps: int,
    gain: float,
    gap: float = 0.0,
    lists: Lists | None = None,
) -> tuple[Evaluated, int]:
    """At most ``steps`` quasi-Newton steps; it ends where one gains less than ``gain`` or the excess is below ``gap``.

    ``gain`` is relative, and asked of two steps in a row. ``lists`` are those of the sets, where many are small.
    """
    curvature = Curvature(MEMORY)
    poor, taken = 0, 0
    while taken < steps and place.column_gap > gap:
        direction = curvature.direction(_gradient(place), np.maximum(place.masses, 1e-300))
        new = _line_search(frame, features, place, direction, lists)
        if new is None:
            if not len(curvature):
                break
            curvature.clear()
            continue
        taken += 1
        curvature.add(*_pair(place, new))
        poor = poor + 1 if place.value - new.value <= gain * new.value else 0
        place = new
        if poor == 2:
            break
    return place, taken


def _gradient(place: Evaluated) -> FloatArray:
    """∂(log f)/∂φ = −p·x."""
    return -place.masses * place.excess


def _pair(old: Evaluated, new: Evaluated) -> tuple[FloatArray, FloatArray]:
    """The step of the log-masses and the difference of the gradients."""
    live = (old.masses > 0) & (new.masses > 0)
    s = np.zeros(len(old.masses))
    s[live] = np.log(new.masses[live] / old.masses[live])
    return s, _gradient(new) - _gradient(old)


def _line_search(
    frame: Frame, features: Blocks, place: Evaluated, direction: FloatArray, lists: Lists | None
) -> Evaluated | None:
    """A lower place along the direction; None where halving finds none."""
    direction = np.clip(direction, -LONGEST_MOVE, LONGEST_MOVE)
    slope = float(_gradient(place) @ direction)
    if not slope < 0.0:
        return None

    def attempt(t: float) -> tuple[float, Evaluated | None]:
        masses, feasible = project(frame, features[0], place.masses * np.exp(t * direction), place.inverses[0])
        new = evaluate(frame, features, masses, lists) if feasible else None
        return (new.value if new else math.inf), new

    tries = _HALVINGS if features[0].dtype == np.float64 else 3
    found = backtracked(attempt, place.value, place.value * slope, factor=0.4, tries=tries)
    return found[2] if found else None


# Families with their best known masses.


@dataclass(frozen=True)
class Columns:
    """Sets, one of each pair of reflections; see ``frame.py``.

    Attributes
    ----------
    frame
        The problem.
    supports
        S, (m, n), without repetitions.
    features
        u_S, a block each.
    """

    frame: Frame
    supports: BoolArray
    features: Blocks

    @classmethod
    def of(cls, frame: Frame, supports: BoolArray, dtype: type[np.floating[Any]]) -> Columns:
        """The columns of these sets (canonical ones, see ``Frame.canonical``)."""
        return cls(frame, supports, frame.features(supports, dtype))

    def __len__(self) -> int:
        return len(self.supports)

    @cached_property
    def multiplicity(self) -> IntArray:
        """How many rows each set stands for."""
        return self.frame.multiplicity(self.supports)

    @property
    def rows(self) -> int:
        """How many rows a strategy of all these sets has."""
        return int(self.multiplicity.sum())

    @cached_property
    def lists(self) -> Lists | None:
        """The small sets as lists (``masses.py``); None where they are few."""
        return Lists.of(self.frame, self.supports, self.features)

    def place(self, masses: FloatArray, near: Evaluated | None = None) -> Evaluated | None:
        """The objective at the feasible masses nearest to these; None if there are none, or none that answer."""
        inverse = near.inverses[0] if near is not None else None
        p, found = project(self.frame, self.features[0], masses, inverse)
        if not found:
            return None
        place = evaluate(self.frame, self.features, p, self.lists)
        return place if np.isfinite(place.value) else None

    def keep(self, chosen: IntArray) -> Columns:
        """A part of the columns."""
        return Columns(self.frame, self.supports[chosen], tuple(U[chosen] for U in self.features))


@dataclass(frozen=True)
class Candidate:
    """A strategy: columns, and where their masses are."""

    columns: Columns
    place: Evaluated

    @property
    def value(self) -> float:
        """The objective, in the frame's scale."""
        return self.place.value

    def improved(self, steps: int, gain: float, gap: float = 0.0) -> tuple[Candidate, int]:
        """The same sets with better masses, and the steps this took."""
        columns = self.columns
        place, taken = improve(columns.frame, columns.features, self.place, steps, gain, gap, columns.lists)
        return Candidate(columns, place), taken

    def kept(self, chosen: IntArray) -> Candidate | None:
        """The candidate without the other columns; None if these do not suffice."""
        columns = self.columns.keep(chosen)
        place = columns.place(self.place.masses[chosen], self.place)
        return None if place is None else Candidate(columns, place)

    def joined(self, supports: BoolArray, share: float) -> Candidate | None:
        """With more sets, which get ``share`` of the mass together; None if none of them is new."""
        old, frame = self.columns, self.columns.frame
        both = frame.canonical(np.concatenate([old.supports, supports]))
        fresh = len(both) - len(old)
        if not fresh:
            return None
        new = frame.features(both[len(old) :], old.features[0].dtype.type)
        features = tuple(np.concatenate([U, V]) for U, V in zip(old.features, new, strict=True))
        columns = Columns(frame, both, features)
        masses = np.concatenate([(1.0 - share) * self.place.masses, np.full(fresh, share / fresh)])
        place = columns.place(masses, self.place)
        return None if place is None else Candidate(columns, place)

    def in_double(self) -> Candidate | None:
        """The same in double precision, columns without mass dropped."""
        live = self.place.masses > 0.0
        columns = Columns.of(self.columns.frame, self.columns.supports[live], np.float64)
        place = columns.place(self.place.masses[live])
        return None if place is None else Candidate(columns, place)


# Better sets.


def slopes_of(frame: Frame, place: Evaluated) -> tuple[FloatArray, FloatArray]:
    """(Y, μ) in the coordinates of the user types."""
    Y = frame.whole(tuple(half @ half.T for half in place.halves))
    return np.ascontiguousarray(Y, dtype=float), np.ascontiguousarray(frame.whole_vector(place.multipliers))


def climb(frame: Frame, place: Evaluated, supports: BoolArray, flips: int) -> tuple[BoolArray, FloatArray]:
    """Where the local search from each set ends, and the excess there."""
    from factormech.mechanisms.local.optimal import kernels

    Y, mu = slopes_of(frame, place)
    found = np.ascontiguousarray(supports).copy()
    scores = kernels.climb(found, Y, mu, frame.prior, frame.shift, flips)
    return found, scores / place.value - 1.0


# Random sets.

_TABLE = 4097
_AT_ONCE = 4096


def sample(
    frame: Frame, target: tuple[FloatArray, ...], epsilon: float, count: int, rng: np.random.Generator
) -> BoolArray:
    """``count`` random sets, (count, n); ∅ and the whole domain may be among them."""
    n = frame.domain_size
    beta = min(max(1.0 / (np.exp(epsilon) + 1.0), 1.0 / n), 0.5)
    tau = NormalDist().inv_cdf(1.0 - beta)
    roots = [_root(block) for block in block_matrices(_correlation(frame.whole(target), beta, tau), frame.symmetric)]
    size = np.sqrt(_variances(frame, roots))
    sets = np.empty((count, n), dtype=np.bool_)
    for start in range(0, count, _AT_ONCE):
        rows = min(_AT_ONCE, count - start)
        parts = [rng.standard_normal((rows, root.shape[1]), dtype=np.float32) @ root.T for root in roots]
        sets[start : start + rows] = frame.joined(tuple(parts)) > tau * size
    return sets


def _correlation(target: FloatArray, beta: float, tau: float) -> FloatArray:
    """R of the Gaussian vector; not yet positive semidefinite."""
    size = np.sqrt(np.maximum(np.diagonal(target), 0.0))
    live = size > 1e-7 * size.max(initial=0.0)
    size = np.where(live, size, np.inf)
    wanted = target / size[:, None]
    wanted /= size
    R = _inverted(wanted, beta, tau)
    np.fill_diagonal(R, 1.0)
    return R


def _inverted(correlation: FloatArray, beta: float, tau: float) -> FloatArray:
    """R for each correlation of the indicators: the integral is tabulated in R = sin t and read backwards."""
    t = np.linspace(-0.5 * np.pi, 0.5 * np.pi, _TABLE)
    density = np.exp(-(tau**2) / np.maximum(1.0 + np.sin(t), 1e-300)) / (2.0 * np.pi)
    steps = 0.5 * (density[1:] + density[:-1]) * np.diff(t)
    table = np.concatenate([[0.0], np.cumsum(steps)])
    table = (table - table[_TABLE // 2]) / (beta * (1.0 - beta))
    rising = np.concatenate([[True], np.diff(table) > 0.0])
    angle = np.interp(correlation.ravel(), table[rising], t[rising], left=-0.5 * np.pi, right=0.5 * np.pi)
    return np.asarray(np.sin(angle).reshape(correlation.shape))


def _root(R: FloatArray) -> Real:
    """A root of the positive part of R, single precision."""
    values, vectors = np.linalg.eigh(R)
    keep = values > 1e-10 * max(float(values[-1]), 0.0)
    return np.asarray(vectors[:, keep] * np.sqrt(values[keep]), dtype=np.float32)


def _variances(frame: Frame, roots: list[Real]) -> Real:
    """The variance of each coordinate of the Gaussian vector, which clipping has changed."""
    if len(roots) == 1:
        return np.asarray(np.einsum("ur,ur->u", roots[0], roots[0]))
    n = frame.domain_size
    even, odd = (np.einsum("ur,ur->u", root, root) for root in roots)
    half = 0.5 * (even[: n // 2] + odd)
    return np.concatenate([half, even[n // 2 :], half[::-1]])
