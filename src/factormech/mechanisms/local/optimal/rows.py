r"""Strategies as staircase rows: from rows to a matrix and back, fewer rows, and strategies to start from.

**From rows to a matrix.** The matrix is private in floating point, and its columns sum to one. The optimisers know
their rows as supports S and weights θ with Σθ_S v_S = 1 up to rounding, v_S = 1 + (a−1)1_S. What a client samples
from is a matrix of floats, whose privacy loss is the largest ratio within a row *and* the ratio of the largest to the
smallest column sum (``privacy/guarantee.py``). So the rows are built with a ratio slightly inside e^ε, and one more
row makes up what their columns miss:

.. math:: Q = \begin{pmatrix} (1-\delta)\,\theta_S v_S^\top \\ \mathbf 1^\top - (1-\delta)\sum_S\theta_Sv_S^\top
              \end{pmatrix} .

With columns off by at most e, the last row lies between δ − e and δ + e, and its ratio is inside a for
δ ≥ e·coth(ε/2); twice that is taken. The objective grows by the factor 1/(1−δ) at most, since the first rows alone give
(1−δ)X. Where the columns are right to a few roundings there is nothing to make up.

**From a matrix to rows.** Level sets are peeled off each row of any strategy. A row q with levels l_0 < … < l_k, l_k
≤ a·l_0, is Σ_j θ_j v_{S_j} + c·1 with S_j = {q ≥ l_j}, θ_j = (l_j − l_{j−1})/(a−1) and c = l_0 − Σθ_j ≥ 0. Splitting
rows never makes X smaller; a constant row says nothing, and without those of all rows the others are scaled up to
columns that sum to one again.

**Fewer rows at little cost.** The rows that matter least are removed in stages, and the masses are computed again
after each. Without row i the others being scaled up by 1/(1−p_i), f becomes exactly f + p_i²ℓ_i h_i (and a little
more), ℓ_i = u_iᵀM⁻u_i, h_i the row's share of the objective: rows are ranked by p_i²ℓ_ih_i, per row that is saved.

**Fewer rows with the same information.** A weighted sum of many vectors in few dimensions needs few of them. By
Carathéodory's theorem Σ w_jf_j over K vectors of N dimensions, w > 0, is also a positive combination of N of them.
They are found in groups, in O(N³ log(K/N) + KN) operations (the idea of Litterer & Lyons, Ann. Appl. Probab. 22(4),
2012): split the vectors into 2N groups, replace each group by its sum, take the weights of N groups to zero along the
null space of the sums, and go on with the vectors of the groups that are left.

**Strategies to start from.** The optimiser is given these strategies, and its result is never worse.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from factormech.arrays import FloatArray, IntArray
from factormech.errors import BadValue
from factormech.mechanisms.local.optimal.columns import Candidate, Columns
from factormech.mechanisms.local.optimal.frame import Frame, distinct
from factormech.mechanisms.local.optimal.masses import evaluate
from factormech.mechanisms.local.optimal.problem import BoolArray
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.privacy.guarantee import column_sum_bounds, inner_ratio

# From rows to a matrix.

# Columns right to this need no further row: a sixteenth of what ``inner_ratio`` leaves for rounding.
ROUNDING = 2.0**-50
# Rows of so much less weight than the heaviest are left out: of subnormal numbers not even the ratio e^ε is certain.
NEGLIGIBLE = 2.0**-600
# Columns further off than this are no rounding but a wrong answer of a solver.
REPAIR_LIMIT = 1e-8


def strategy_of(
    supports: BoolArray, weights: FloatArray, epsilon: float, prior: FloatArray | None = None
) -> StrategyMatrix:
    """The verified strategy whose rows are θ_S v_S.

    Parameters
    ----------
    supports
        The sets S, (m, n).
    weights
        θ ≥ 0, (m,), with Σθ_S v_S = 1 up to ``REPAIR_LIMIT``.
    epsilon
        The privacy budget.
    prior
        What the reconstruction is best for, (n,); the uniform one if ``None``.
    """
    S, theta = np.asarray(supports, dtype=bool), np.asarray(weights, dtype=float)
    _check(S, theta)
    used = theta > NEGLIGIBLE * theta.max()
    Q = np.where(S[used], inner_ratio(epsilon), 1.0) * theta[used, None]
    Q /= column_middle(Q).mean()
    Q /= max(1.0, float(Q.max()))  # at large ε one entry of a column is its sum, but for less than a rounding
    error = float(np.abs(column_middle(Q) - 1.0).max())
    if error <= ROUNDING:
        return StrategyMatrix(Q, epsilon, prior)
    if error > REPAIR_LIMIT:
        remedy = "solve for feasible weights first"
        raise BadValue("column sums of the rows", f"off by {error:.3g}", f"be within {REPAIR_LIMIT:g} of one", remedy)
    delta = 2.0 * max(error, ROUNDING) / math.tanh(epsilon / 2.0)
    if delta > math.sqrt(REPAIR_LIMIT):
        remedy = "solve for weights whose columns are closer to one, or use a larger epsilon"
        raise BadValue("column sums of the rows", f"off by {error:.3g}", f"be repairable at ε = {epsilon:g}", remedy)
    Q *= 1.0 - delta
    return StrategyMatrix(np.vstack([Q, 1.0 - column_middle(Q)]), epsilon, prior)


def column_middle(matrix: FloatArray) -> FloatArray:
    """The column sums of a matrix of probabilities, to about one rounding whatever its length."""
    low, high = column_sum_bounds(matrix)
    return np.asarray(0.5 * (low + high))


def _check(supports: BoolArray, weights: FloatArray) -> None:
    if supports.ndim != 2 or weights.shape != (len(supports),):
        shapes = (supports.shape, weights.shape)
        raise BadValue("shapes of supports and weights", shapes, "be (m, n) and (m,)", "give one weight per set")
    if not (np.isfinite(weights).all() and weights.size and weights.min() >= 0.0 and weights.max() > 0.0):
        raise BadValue("weights", "negative, infinite or all zero", "be non-negative numbers", "solve for them first")


# From a matrix to rows.

# Levels of a row that differ by less than this, relatively, are one but for rounding.
LEVEL_TOLERANCE = 1e-13
# A row's ratio may be above e^ε by this, relatively: rounding again.
RATIO_TOLERANCE = 1e-9


def staircase_rows(strategy: FloatArray, shift: float, most: int | None = None) -> tuple[BoolArray, FloatArray]:
    """Supports (k, n), each once, and weights θ (k,) of staircase rows that together are the strategy.

    Parameters
    ----------
    strategy
        Q, (m, n), outputs × types.
    shift
        b = e^ε − 1.
    most
        Only so many, the heaviest (where a set occurs in several rows it may be fewer); none is all of them.
    """
    Q = np.asarray(strategy, dtype=float)
    check(Q, shift)
    levels = np.sort(Q, axis=1)
    steps = np.diff(levels, axis=1)
    row, place = np.nonzero(steps > LEVEL_TOLERANCE * levels[:, -1:])
    weights = steps[row, place] / shift
    if most is not None and len(row) > most:
        heavy = np.sort(np.argsort(-weights, kind="stable")[:most])
        row, place, weights = row[heavy], place[heavy], weights[heavy]
    return _merged(Q[row] >= levels[row, place + 1][:, None], weights)


def check(strategy: FloatArray, shift: float) -> None:
    """Refuse what is no strategy at this budget."""
    Q = strategy
    if Q.ndim != 2 or 0 in Q.shape or not np.isfinite(Q).all() or Q.min() < 0.0:
        raise BadValue("start", f"array of shape {Q.shape}", "be a matrix of probabilities", "repair it")
    high, low = Q.max(axis=1), Q.min(axis=1)
    if np.any(high > (1.0 + shift) * (1.0 + RATIO_TOLERANCE) * low):
        raise BadValue("start", "a row of larger ratio", "be private at the problem's ε", "give a strategy for this ε")
    off = float(np.abs(Q.sum(axis=0) - 1.0).max())
    if off > 1e-9:
        raise BadValue("column sums of start", 1.0 + off, "be 1 to within 1e-9", "divide its columns by their sums")


def _merged(supports: BoolArray, weights: FloatArray) -> tuple[BoolArray, FloatArray]:
    """Every set once, with the sum of its weights."""
    if not len(supports):
        return supports, weights
    first = distinct(supports)
    place = {supports[i].tobytes(): k for k, i in enumerate(first)}
    owner = np.array([place[S.tobytes()] for S in supports])
    return supports[first], np.bincount(owner, weights=weights, minlength=len(first)).astype(float)


# Fewer rows at little cost.

# Rows lighter than this share of an average row go at once.
NEGLIGIBLE_ROW = 1e-9
_TRIES = 40


def prune(candidate: Candidate, rows: int, steps: int, gain: float, stage: float) -> tuple[Candidate, int]:
    """The candidate on at most ``rows`` rows with masses improved, and the steps this took.

    A stage keeps the share ``stage`` of the rows, and is followed by at most ``steps`` steps (see ``columns.py``).
    """
    candidate = _without_dust(candidate)
    taken = 0
    while candidate.columns.rows > rows:
        aim = max(rows, int(stage * candidate.columns.rows))
        candidate = _cut(candidate, aim, rows)
        candidate, used = candidate.improved(steps, gain)
        taken += used
    return candidate, taken


def costs(candidate: Candidate) -> FloatArray:
    """What it costs to drop each column, about."""
    place = candidate.place
    leverage = np.zeros(len(candidate.columns))
    for U, inverse in zip(candidate.columns.features, place.inverses, strict=True):
        leverage += np.einsum("su,su->s", U @ inverse.astype(U.dtype), U)
    return np.asarray(place.masses**2 * place.gains * np.maximum(leverage, 0.0))


def _without_dust(candidate: Candidate) -> Candidate:
    masses = candidate.place.masses
    light = masses <= NEGLIGIBLE_ROW / len(masses)
    if not light.any():
        return candidate
    kept = candidate.kept(np.flatnonzero(~light))
    return candidate if kept is None else kept


def _cut(candidate: Candidate, aim: int, rows: int) -> Candidate:
    """The costliest columns that fit in ``aim`` rows; more of them if these alone are no strategy."""
    multiplicity = candidate.columns.multiplicity
    order = np.argsort(-costs(candidate) / multiplicity, kind="stable")
    total = candidate.columns.rows
    for _ in range(_TRIES):
        kept = candidate.kept(_fitting(order, multiplicity, aim))
        if kept is not None:
            return kept
        if total - aim <= 1:
            break
        aim = (aim + total) // 2
    remedy = f"give at least {total}"
    raise BadValue("rows", rows, "be enough for a strategy that answers the workload", remedy)


def _fitting(order: IntArray, multiplicity: IntArray, rows: int) -> IntArray:
    """The first of ``order`` that fit in this many rows."""
    used = np.cumsum(multiplicity[order])
    chosen = order[used <= rows]
    left = rows - int(multiplicity[chosen].sum())
    for i in order[len(chosen) :]:
        if left and multiplicity[i] <= left:
            chosen = np.append(chosen, i)
            left -= int(multiplicity[i])
            break
    return np.sort(chosen)


# Fewer rows with the same information.


def recombined(features: FloatArray, weights: FloatArray) -> FloatArray:
    """Weights w' ≥ 0, at most N of them positive, with Σw'f = Σwf up to rounding.

    Parameters
    ----------
    features
        f, (K, N).
    weights
        w, (K,), non-negative.
    """
    w = np.array(weights, dtype=float)
    dimension = features.shape[1]
    while True:
        kept = np.flatnonzero(w > 0.0)
        if len(kept) <= dimension:
            return w
        groups = np.array_split(kept, min(2 * dimension, len(kept)))
        sums = np.stack([w[group] @ features[group] for group in groups])
        for group, factor in zip(groups, _sparse_factors(sums), strict=True):
            w[group] *= factor


def _sparse_factors(sums: FloatArray) -> FloatArray:
    """c ≥ 0 with Σ c_jf_j = Σ f_j, f the rows of ``sums``, and at most as many of them positive as the rank."""
    c = np.ones(len(sums))
    null = scipy.linalg.null_space(sums.T)  # (groups, groups − rank), orthonormal
    while null.shape[1]:
        direction = null[:, -1] if null[:, -1].max() > 0.0 else -null[:, -1]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(direction > 0.0, c / direction, np.inf)
        hit = int(np.argmin(ratios))
        c = np.maximum(c - ratios[hit] * direction, 0.0)
        c[hit] = 0.0
        # A reflection takes what the basis says of ``hit`` into its last vector, which goes: the rest leave c_hit at 0.
        row = null[hit].copy()
        row[-1] += np.copysign(np.linalg.norm(row), row[-1])
        null = (null - np.outer(null @ row, 2.0 / (row @ row) * row))[:, :-1]
        null[hit] = 0.0
    return c


def largest_first(weights: FloatArray, share: float) -> IntArray:
    """The fewest entries, largest first, that hold all of the total but ``share`` of it."""
    order = np.argsort(-weights, kind="stable")
    held = np.cumsum(weights[order])
    return np.asarray(np.sort(order[: int(np.searchsorted(held, (1.0 - share) * held[-1])) + 1]))


# Strategies to start from.


@dataclass(frozen=True)
class Start:
    """A strategy matrix Q, (m, n), and its objective in the frame's scale; infinite if it cannot answer."""

    frame: Frame
    matrix: FloatArray
    value: float

    @classmethod
    def of(cls, frame: Frame, strategy: FloatArray) -> Start:
        """A given strategy, checked."""
        Q = np.asarray(strategy, dtype=float)
        if Q.ndim == 2 and Q.shape[1] != frame.domain_size:
            remedy = "give strategies for the problem's domain"
            raise BadValue("types of start", Q.shape[1], f"be {frame.domain_size}", remedy)
        check(Q, frame.shift)
        Q = Q[Q.any(axis=1)]
        return cls(frame, Q, evaluate(frame, *frame.features_of_rows(Q)).value)

    def candidate(self, most: int | None = None) -> Candidate | None:
        """Staircase rows that are as good, if ``most`` does not cut them off; None if those kept are no strategy."""
        frame = self.frame
        supports, weights = staircase_rows(self.matrix, frame.shift, most)
        if not len(supports):
            return None
        masses = weights * (frame.domain_size + frame.shift * (supports @ frame.prior)) / frame.domain_size
        if frame.symmetric:
            supports, masses = folded(frame, supports, masses)
        columns = Columns.of(frame, supports, np.float64)
        place = columns.place(masses)
        return None if place is None else Candidate(columns, place)


def folded(frame: Frame, supports: BoolArray, masses: FloatArray) -> tuple[BoolArray, FloatArray]:
    """The strategy averaged with its reflection: one set of each pair, with the mass of both."""
    canonical = frame.canonical(supports)
    place = {S.tobytes(): k for k, S in enumerate(canonical)}
    owner = [place[S.tobytes()] if S.tobytes() in place else place[S[::-1].tobytes()] for S in supports]
    return canonical, np.bincount(owner, weights=masses, minlength=len(canonical)).astype(float)
