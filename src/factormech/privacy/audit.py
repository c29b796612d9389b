r"""An empirical audit: a lower bound on a mechanism's ε from what it draws on two neighbouring inputs.

(ε, δ)-privacy says P(M(x) ∈ E) ≤ e^ε P(M(x') ∈ E) + δ for every event E, so for any one event

.. math:: ε \ge \log\frac{p - δ}{q}, \qquad p = P(M(x) \in E),\; q = P(M(x') \in E).

E is chosen on one half of the draws and counted on the other, where p is replaced by the lower end and q by the upper
end of Clopper & Pearson (Biometrika 26(4), 1934), each missed with probability ``level``/2. The choice therefore needs
no correction, and a true (ε, δ)-mechanism has a bound above its ε with probability at most ``level``.

**Events.** Outputs that take few values: unions of those of largest estimated ratio, for every number of them. Others:
half-lines of scores, which are the coordinates of the output, its projection on the difference of the two means, the
same for whitened outputs (Fisher's discriminant), and whatever scores the caller knows to be telling (a log-likelihood
ratio is the best of all).

An audit refutes and never proves: it sees the law that is sampled, through one event, for one pair of inputs. What
share of the true ε it certifies is its power.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue
from factormech.numerics.intervals import clopper_pearson
from factormech.privacy.guarantee import Guarantee

# (side 0 or 1, trials, rng) → outputs (trials, k); and outputs → scores (trials, s).
Draw: TypeAlias = Callable[[int, int, np.random.Generator], npt.NDArray[np.generic]]
Scores: TypeAlias = Callable[[FloatArray], FloatArray]
Event: TypeAlias = Callable[[FloatArray], npt.NDArray[np.bool_]]

LEVEL = 1e-6
# More different outputs than this are taken for points of a continuum.
_VALUES = 256
_THRESHOLDS = 199


@dataclass(frozen=True)
class Audit:
    """The result of an audit.

    Attributes
    ----------
    epsilon
        At most the true ε at this ``delta``, but for a probability of ``level``; at least 0.
    event
        In words; ``side`` is the input under which it is the likelier one.
    seen
        How often it was seen of ``trials`` draws, on its own side and on the other.
    """

    epsilon: float
    delta: float
    level: float
    event: str
    side: int
    seen: tuple[int, int]
    trials: int

    def refutes(self, guarantee: Guarantee) -> bool:
        """Return whether the mechanism that was drawn from is certainly not as private as this."""
        from factormech.privacy.composition import approximate

        claimed = approximate(guarantee, self.delta) if self.delta > 0.0 else guarantee
        if claimed.delta > self.delta or claimed.rho is not None:
            rule = f"be at most the delta of the audit, {self.delta:g}"
            raise BadValue("delta", guarantee.delta, rule, "audit with the delta of the guarantee")
        return self.epsilon > claimed.epsilon


@dataclass(frozen=True)
class _Candidate:
    bound: float
    words: str
    side: int
    event: Event


@dataclass(frozen=True)
class _HalfLine:
    """The event that a score is at least, or below, a threshold."""

    scores: Scores
    column: int
    cut: float
    up: bool

    def __call__(self, rows: FloatArray) -> npt.NDArray[np.bool_]:
        return np.asarray((self.scores(rows)[:, self.column] >= self.cut) == self.up)


def audit(
    draw: Draw,
    trials: int,
    rng: np.random.Generator,
    *,
    delta: float = 0.0,
    level: float = LEVEL,
    scores: Scores | None = None,
) -> Audit:
    """Audit a mechanism on two neighbouring inputs, ``trials`` draws of each, half of them for the choice.

    Parameters
    ----------
    draw
        Independent outputs for the input 0 or 1.
    scores
        Functions of the output that tell the inputs apart, beside the ones that are always tried.
    """
    half = check_positive_integer("trials", trials, minimum=4) // 2
    first = [_rows(draw(side, half, rng)) for side in (0, 1)]
    chosen = max(_candidates(first, scores, delta, level), key=lambda one: one.bound)
    fresh = [_rows(draw(side, half, rng)) for side in (0, 1)]
    likely, other = (int(chosen.event(fresh[side]).sum()) for side in (chosen.side, 1 - chosen.side))
    low, high = clopper_pearson(likely, half, level)[0], clopper_pearson(other, half, level)[1]
    bound = math.log((low - delta) / high) if low > delta else 0.0
    return Audit(max(bound, 0.0), delta, level, chosen.words, chosen.side, (likely, other), half)


def _candidates(first: list[FloatArray], scores: Scores | None, delta: float, level: float) -> list[_Candidate]:
    if len(np.unique(first[0][: 4 * _VALUES], axis=0)) <= _VALUES:
        values, ids = np.unique(np.concatenate(first), axis=0, return_inverse=True)
        return _unions(values, ids.reshape(2, -1), delta, level)
    difference = first[0].mean(axis=0) - first[1].mean(axis=0)
    covariance = np.atleast_2d(np.cov(np.concatenate([rows - rows.mean(axis=0) for rows in first]).T))
    # A direction without noise tells most of all: the ridge is far below what any noise there would be.
    ridge = (1e-14 * np.trace(covariance) + 1e-300) * np.eye(len(covariance))
    discriminant = np.stack([difference, np.linalg.solve(covariance + ridge, difference)], axis=1)

    def tried(outputs: FloatArray) -> FloatArray:
        told = [outputs, outputs @ discriminant]
        return np.concatenate([*told, scores(outputs)] if scores is not None else told, axis=1)

    return _half_lines(tried, [tried(outputs) for outputs in first], delta, level)


def _unions(values: FloatArray, ids: npt.NDArray[np.intp], delta: float, level: float) -> list[_Candidate]:
    """The values of largest ratio, for every number of them and both sides."""
    counts = np.stack([np.bincount(row, minlength=len(values)) for row in ids])
    found = []
    for side in (0, 1):
        order = np.argsort(-(counts[side] + 0.5) / (counts[1 - side] + 0.5), kind="stable")
        likely, other = np.cumsum(counts[side][order]), np.cumsum(counts[1 - side][order])
        bounds = _bounds(likely, other, ids.shape[1], delta, level)
        best = int(np.argmax(bounds))
        kept = values[order[: best + 1]]
        words = f"{best + 1} of {len(values)} outputs"
        found.append(_Candidate(float(bounds[best]), words, side, partial(_among, kept=kept)))
    return found


def _half_lines(tried: Scores, told: list[FloatArray], delta: float, level: float) -> list[_Candidate]:
    """Return every score above or below some of its quantiles."""
    found, n = [], len(told[0])
    for j in range(told[0].shape[1]):
        mine = [np.sort(scored[:, j]) for scored in told]
        cuts = np.unique(np.quantile(np.concatenate(mine), (np.arange(_THRESHOLDS) + 1) / (_THRESHOLDS + 1)))
        above = [n - np.searchsorted(values, cuts, side="left") for values in mine]
        for side in (0, 1):
            for up in (True, False):
                likely, other = (above[s] if up else n - above[s] for s in (side, 1 - side))
                bounds = _bounds(likely, other, n, delta, level)
                best = int(np.argmax(bounds))

                cut = float(cuts[best])
                words = f"score {j} {'at least' if up else 'below'} {cut:.4g}"
                found.append(_Candidate(float(bounds[best]), words, side, _HalfLine(tried, j, cut, up)))
    return found


def _bounds(
    likely: npt.NDArray[np.integer], other: npt.NDArray[np.integer], trials: int, delta: float, level: float
) -> FloatArray:
    """The bound on ε that each pair of counts would give."""
    from scipy.special import betaincinv

    k, j = np.asarray(likely, dtype=float), np.asarray(other, dtype=float)
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), trials - k + 1, 0.5 * level), 0.0)
    high = np.where(j < trials, betaincinv(j + 1, np.maximum(trials - j, 1), 1.0 - 0.5 * level), 1.0)
    return np.asarray(np.log(np.maximum(low - delta, 1e-300) / high))


def _among(rows: FloatArray, kept: FloatArray) -> npt.NDArray[np.bool_]:
    """Which rows are one of those kept."""
    _, ids = np.unique(np.concatenate([kept, rows]), axis=0, return_inverse=True)
    ids = ids.ravel()
    return np.isin(ids[len(kept) :], ids[: len(kept)])


def _rows(outputs: npt.NDArray[np.generic]) -> FloatArray:
    """Outputs as an array (trials, k)."""
    found = np.asarray(outputs, dtype=float)
    return found.reshape(len(found), -1)
