r"""The gauge ‖z‖_B of a body, by a walk over its facet cones, with its own proof; and the audit that privacy needs.

Each value comes between ⟨η, z⟩/max|⟨a_i, η⟩|, which any η proves from below, and ‖u‖₁ with Au = z, from above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.central.pure.bodies import Body
from factormech.errors import BadValue

if TYPE_CHECKING:
    from factormech.central.pure.facet_walk import Cone

_AGREE = 1e-9  # by how much the two sides of a gauge may differ, next to it


class Gauge:
    """‖·‖_B for many points, each found from the last."""

    def __init__(self, body: Body) -> None:
        if body.dimension == 0:
            raise BadValue("queries", body.columns.shape, "have two different columns", "nothing here needs noise")
        self.body = body

    def of(self, answers: Any) -> FloatArray:
        """‖z‖_B of each line z of ``answers``, (t, k); infinite outside the span of B."""
        Z = np.atleast_2d(np.asarray(answers, dtype=np.float64))
        X = Z @ self.body.inverse.T
        outside = np.linalg.norm(self.body.answers(X) - Z, axis=1) > 1e-9 * np.linalg.norm(Z, axis=1)
        return np.where(outside, np.inf, self.of_coordinates(X))

    def of_coordinates(self, points: FloatArray) -> FloatArray:
        """‖x‖ of each line of ``points``, (t, d) in the coordinates of the body."""
        low, high = self.interval(points)
        # The two sides of a point close to 0 differ by rounding of the size of its neighbours.
        if not np.all(high - low <= _AGREE * np.maximum(high, high.max(initial=0.0))):
            worst = float((high - low).max())
            raise BadValue(
                "points", points.shape, f"have a gauge in floats; its two sides differ by {worst:.2g}", "scale"
            )
        return low

    def interval(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bounds of the gauges of the lines of ``points``."""
        from factormech.central.pure import facet_walk

        body, t = self.body, len(points)
        cone, start = starting_cone(body.generators, not body.symmetric, np.random.default_rng(0))
        goals = np.zeros((t, body.generators.shape[1]))
        goals[:, : body.dimension] = points
        low, high = np.empty(t), np.empty(t)
        limit = 1000 * (body.dimension + 10)
        if facet_walk.gauges(cone, start, goals, low, high, limit) < t:
            raise BadValue("points", points.shape, "be reached by a walk over the facets", "scale the queries alike")
        return low, high


def starting_cone(generators: FloatArray, lifted: bool, rng: np.random.Generator) -> tuple[Cone, FloatArray]:
    """A facet cone of conv(±a_i) and a random point inside it, of gauge 1; of a lifted body, at height 0."""
    from factormech.central.pure import facet_walk

    basis, signs = polar_vertex(generators, lifted, rng)
    cone = facet_walk.cone_of(generators, basis, signs)
    weights = np.asarray(rng.uniform(0.5, 1.5, len(basis)))
    if lifted:
        weights[signs > 0] /= 2.0 * weights[signs > 0].sum()
        weights[signs < 0] /= 2.0 * weights[signs < 0].sum()
    weights /= weights.sum()
    start = (signs * weights) @ generators[basis]
    if lifted:
        start[-1] = 0.0
    return cone, start


def polar_vertex(generators: FloatArray, lifted: bool, rng: np.random.Generator) -> tuple[Any, FloatArray]:
    """A vertex of {η : |⟨a_i, η⟩| ≤ 1}: m independent columns that it meets, and the signs with which it does.

    From a boundary point, a random direction orthogonal to the columns already met leads to the next. The first two
    of a lifted body are its ends in one direction, so that both signs occur, as coefficients that sum to 0 need.
    """
    A, m = generators, generators.shape[1]
    eta = np.asarray(rng.standard_normal(m))
    if lifted:
        eta[-1] = 0.0
        heights = A @ eta
        eta[-1] = -0.5 * (heights.max() + heights.min()) / A[0, -1]
    heights = A @ eta
    eta /= np.abs(heights).max()
    met = [int(np.argmax(np.abs(heights)))]
    if lifted:
        met = [int(np.argmax(heights)), int(np.argmin(heights))]
    while len(met) < m:
        free = np.linalg.qr(A[met].T, mode="complete")[0][:, len(met) :]
        move = free @ rng.standard_normal(free.shape[1])
        heights, slopes = A @ eta, A @ move
        moving = np.abs(slopes) > 1e-9 * np.abs(slopes).max()
        moving[met] = False
        steps = np.full(len(A), np.inf)
        steps[moving] = (1.0 - np.sign(slopes[moving]) * heights[moving]) / np.abs(slopes[moving])
        nearest = int(np.argmin(steps))
        eta += max(0.0, float(steps[nearest])) * move
        met.append(nearest)
    return np.array(met, dtype=np.int64), np.sign(A[met] @ eta)


def largest_loss(gauge: Gauge, points: FloatArray, shifts: FloatArray) -> float:
    """max |‖z‖_B − ‖z + s‖_B| over the lines z of ``points`` and s of ``shifts``, both as answers.

    K-norm noise is ε-private exactly where this is at most 1 for every z and every s = Q_x − Q_y. On the rays z = −t·s,
    t ≥ 1, it is ‖s‖_B, which is 1 for the s on the boundary of B.
    """
    before = gauge.of(points)
    return max(float(np.abs(gauge.of(points + s) - before).max()) for s in np.atleast_2d(shifts))
