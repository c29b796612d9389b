r"""Search for the data on which a projection or JL release errs most, by exchanging users along the slope of the error.

**Slope.** For given noise the release is piecewise affine in the mean answers y = Q(X). With v the noisy answers that
are projected, the nearest point of the hull of the columns a_i is, near v, the projection on the affine hull of its
corral S. Let A hold the differences of the a_i, i in S, and D those of the columns V_i that they are images of. Then

.. math:: d\hat Y = D A^+ T\, dy, \qquad
          \nabla_y \lVert \hat Y - y\rVert = (D A^+ T - I)^T (\hat Y - y)/\lVert \hat Y - y\rVert ,

with T = I and A = D where no matrix is drawn. Moving a share of the users from type x to type x' changes y by that
share of Q_x' − Q_x, so that the slope of the mean error is ⟨Q_x' − Q_x, g⟩, g the mean of these gradients over draws.

**Exchange.** From given data, users of the type of least slope become users of the type of largest slope: half of all
users, or all that the type has; the exchange is kept if the error on the same draws grows, and else it is halved, down
to a single user. The result is never below its start on the draws that it is searched on, is *worst found*, and proves
nothing of the worst case. It is fitted to these draws: measure it on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.mechanisms.central.moments import Estimate
from factormech.mechanisms.pure.errors import errors_of, mean_error
from factormech.mechanisms.pure.jl import CoarseDraws, JLDraws
from factormech.mechanisms.pure.mechanism import Draws, NoisyDraws, checked_counts


@dataclass(frozen=True)
class Worst:
    """The release that is best on the worst data found for it, these counts, and the error on other draws."""

    release: int
    data: FloatArray
    error: Estimate


def slopes(drawn: Sequence[Draws], queries: FloatArray, counts: Any, power: int = 1) -> FloatArray:
    """Return the slope of the mean of (‖Ŷ − y‖/√k)^power in the share of each type of user.

    Parameters
    ----------
    drawn
        Draws of noise with a projection, of JL release or of either on a net; those of other releases count as flat.
    queries
        Q, (k, N).
    counts
        Users of each type, (N,).
    power
        1 for the mean of norms, 2 for the mean square.

    Returns
    -------
    numpy.ndarray
        One slope for each type, (N,), up to one constant for all types.
    """
    x = checked_counts(counts, queries.shape[1])
    users = float(x.sum())
    y = queries @ (x / users)
    found = np.zeros(queries.shape[1])
    releases = 0
    for one in drawn:
        inner, nearest = (one.inner, one.net.nearest) if isinstance(one, CoarseDraws) else (one, slice(None))
        if not isinstance(inner, (JLDraws, NoisyDraws)):
            continue
        # Through a net the release sees the answers of the kept columns, and errs against those of all.
        V = inner.queries
        seen = V @ (one.net.counts(x) / users) if isinstance(one, CoarseDraws) else y
        pulled, directions = _gradients(inner, seen, y, users, power)
        found += (V.T @ pulled.sum(axis=0))[nearest] - queries.T @ directions.sum(axis=0)
        releases += len(pulled)
    return np.asarray(found / (max(1, releases) * len(y) ** (power / 2)))


def _gradients(
    one: JLDraws | NoisyDraws, seen: FloatArray, y: FloatArray, users: float, power: int
) -> tuple[FloatArray, FloatArray]:
    """∇‖Ŷ − y‖^power of each draw in the answers ``seen`` by the release, and −∇ in the true ones y; (draws, k)."""
    if isinstance(one, JLDraws):
        hull, V, T = one.lift.hull, one.lift.columns, one.lift.matrix
        points = T @ (seen - one.lift.centre) + one.noise / users
        # Where ties are broken by the centre, the hull has more coordinates, in which the release sees zeros.
        points = np.pad(points, ((0, 0), (0, hull.points.shape[1] - len(T))))
    elif one.hull is not None:
        hull, V, T = one.hull, one.hull.points.T, np.eye(len(y))
        points = seen + one.noise / users
    else:
        return np.zeros((1, len(y))), np.zeros((1, len(y)))
    weights = hull.project_all(points).weights
    both = [_gradient(w, hull.points, V, T, y, power) for w in weights]
    return np.array([pulled for pulled, _ in both]), np.array([direction for _, direction in both])


def _gradient(
    weights: FloatArray, images: FloatArray, V: FloatArray, T: FloatArray, y: FloatArray, power: int
) -> tuple[FloatArray, FloatArray]:
    """The two of one draw, whose nearest point has these weights."""
    corral = np.flatnonzero(weights > 0.0)
    error = V[:, corral] @ weights[corral] - y
    length = float(np.linalg.norm(error))
    if length == 0.0:
        return np.zeros(len(y)), np.zeros(len(y))
    direction = error * (power * length ** (power - 2))
    if len(corral) == 1:
        return np.zeros(len(y)), direction
    A = (images[corral[1:]] - images[corral[0]]).T
    D = V[:, corral[1:]] - V[:, corral[:1]]
    pulled = np.linalg.lstsq(A.T, D.T @ direction, rcond=None)[0]
    return np.asarray(T.T @ pulled[: len(T)]), direction


def exchanged(
    drawn: Sequence[Draws], queries: FloatArray, start: Any, exchanges: int, power: int = 1
) -> tuple[FloatArray, float]:
    """Return counts that so many tried exchanges lead to from ``start``, and their mean error on these draws.

    Parameters
    ----------
    drawn, queries, power
        As for :func:`slopes`.
    start
        Counts of users, (N,).
    exchanges
        The most exchanges that are tried; each costs the error and the slope on all draws.
    """
    counts = checked_counts(start, queries.shape[1])
    value = _error(drawn, queries, counts, power)
    share, slope = 0.5, None
    for _ in range(exchanges):
        slope = slopes(drawn, queries, counts, power) if slope is None else slope
        giver = int(np.argmin(np.where(counts > 0.0, slope, np.inf)))
        taker = int(np.argmax(slope))
        moved = min(counts[giver], max(1.0, np.floor(share * counts.sum())))
        if not slope[taker] > slope[giver]:
            break
        tried = counts.copy()
        tried[giver] -= moved
        tried[taker] += moved
        found = _error(drawn, queries, tried, power)
        if found > value:
            counts, value, slope = tried, found, None
        elif moved == 1.0:
            break
        else:
            share = 0.5 * moved / counts.sum()
    return counts, value


def _error(drawn: Sequence[Draws], queries: FloatArray, counts: FloatArray, power: int) -> float:
    return float((errors_of(drawn, queries, [counts]) ** power).mean())


def best_of_worst(
    releases: Sequence[Sequence[Draws]],
    queries: FloatArray,
    data: Sequence[FloatArray],
    exchanges: int,
    *,
    power: int = 1,
    level: float = 0.01,
) -> Worst:
    """Return the release that is best on its own worst data, which start at the worst of ``data``.

    The first half of the blocks of draws of each release searches its data and chooses the release; the second half
    measures, so that a choice is no part of its own error.

    Parameters
    ----------
    releases
        Blocks of draws of each release that may be chosen, such as JL release of several ℓ.
    queries, exchanges, power
        As for :func:`exchanged`.
    data
        Counts that are tried first, for every release.
    level
        How often the interval may miss.
    """
    half = len(releases[0]) // 2
    found: list[tuple[float, int, FloatArray]] = []
    for i, drawn in enumerate(releases):
        means = (errors_of(drawn[:half], queries, data) ** power).mean(axis=(1, 2))
        counts, value = exchanged(drawn[:half], queries, data[int(np.argmax(means))], exchanges, power)
        found.append((value, i, counts))
    _, release, counts = min(found, key=lambda one: one[:2])
    errors = errors_of(releases[release][half:], queries, [counts])[0]
    return Worst(release, counts, mean_error(errors**power, level))
