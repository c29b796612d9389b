r"""Directions of K-norm noise: D = U/‖U‖_B with U uniform in a body B, by an exact law wherever one is known.

The density e^{−ε‖z‖_B} makes ‖Z‖_B and the direction D = Z/‖Z‖_B independent, ε‖Z‖_B ~ Gamma(d), and D the same as that
of a uniform point. So Z = Gamma(d)·D/ε, and E Z Zᵀ = d(d + 1)·E D Dᵀ/ε²: the radius is exact whatever draws D.

| law | bodies | D |
| --- | --- | --- |
| ``simplex`` | N = d + 1 columns (thresholds, histograms, all parities) | below |
| ``cross-polytope`` | conv(±a_1 … ±a_d), a segment among them | Σ ±w_i a_i, w ~ Dirichlet(1, …, 1) |
| ``box`` | all 2^d corners of a box | uniform in it, over its gauge |
| ``ball`` | a Euclidean ball | uniform on the sphere |
| ``triangulation`` | d ≤ 6 | a facet, by the volume of its cone, and a Dirichlet point in it |
| ``chain`` | all others | :mod:`factormech.mechanisms.pure.bouncy` |

**Simplex.** With affinely independent columns the u of ½‖u‖₁ is unique, and of density ∝ e^{−½‖u‖₁} on {Σu = 0}. The
signs with j positive entries have ∫ s^{j−1}/(j−1)!·s^{N−j−1}/(N−j−1)!·e^{−s} ds = C(N−2, j−1) of it, up to the same
factor: j occurs with P ∝ C(N, j)·C(N−2, j−1); the positive and the negative part are then two vectors of
Dirichlet(1, …, 1), times s ~ Gamma(N−1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np
from scipy.special import gammaln

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import Unavailable
from factormech.mechanisms.pure.bodies import Body
from factormech.mechanisms.pure.bouncy import Sample

TRIANGULATED_DIMENSION = 6
_POINTS = {2: 4000, 3: 4000, 4: 1500, 5: 500, 6: 250}  # differences of columns that Qhull takes in a few seconds
_BLOCK = 2**22


class Directions(Protocol):
    """What draws D, in the coordinates of its body."""

    @property
    def name(self) -> str:
        """The law's, as in the table above."""
        ...

    @property
    def second_moment(self) -> FloatArray | None:
        """E D Dᵀ, (d, d), where a formula or a finite sum gives it."""
        ...

    def sample(self, rng: np.random.Generator, trials: int) -> Sample | Unavailable:
        """At least ``trials`` directions, independent or with a diagnosis; or why there are none."""
        ...


@dataclass(frozen=True)
class ExactDirections:
    """Independent draws by a law: ``draw(rng, trials)`` gives (trials, d)."""

    name: str
    draw: Callable[[np.random.Generator, int], FloatArray]
    moment: Callable[[], FloatArray | None]

    @cached_property
    def second_moment(self) -> FloatArray | None:
        return self.moment()

    def sample(self, rng: np.random.Generator, trials: int) -> Sample:
        return Sample(self.draw(rng, check_positive_integer("trials", trials))[None])


def directions_of(body: Body) -> Directions:
    """The exact law of a body where there is one, and otherwise the chain."""
    from factormech.mechanisms.pure.bouncy import ChainDirections

    A, d = body.points, body.dimension
    if d == 0:
        return ExactDirections("none", lambda rng, trials: np.zeros((trials, 0)), lambda: np.zeros((0, 0)))
    if body.symmetric and len(A) == d:
        return cross_polytope(2.0 * A)
    if not body.symmetric and len(A) == d + 1:
        return _simplex(body)
    if is_box(body):
        return _box(body)
    return _by_triangulation(body) or ChainDirections(body)


# Simplices ------------------------------------------------------------------------------------------------------


def positive_counts(size: int) -> FloatArray:
    """P(j positive entries), j = 0 … N, of the u of N affinely independent columns: ∝ C(N, j)·C(N−2, j−1)."""
    return _positive_counts(check_positive_integer("size", size, minimum=2))


@lru_cache(maxsize=4)
def _positive_counts(N: int) -> FloatArray:
    j = np.arange(1, N)
    logs = -gammaln(j + 1) - gammaln(N - j + 1) - gammaln(j) - gammaln(N - j)
    weights = np.exp(logs - logs.max())
    law = np.concatenate([[0.0], weights / weights.sum(), [0.0]])
    law.setflags(write=False)
    return law


def simplex_weights(rng: np.random.Generator, size: int, trials: int) -> FloatArray:
    """Draws of u/(½‖u‖₁), (trials, N), of density ∝ e^{−½‖u‖₁} on {Σu = 0}, in O(N) each."""
    N, law = size, positive_counts(size)
    u = rng.standard_exponential((trials, N))
    positive = rng.choice(N + 1, size=trials, p=law)
    order = rng.permuted(np.tile(np.arange(N, dtype=np.int32), (trials, 1)), axis=1)
    up = order < positive[:, None]
    rise, fall = (u * up).sum(axis=1), (u * ~up).sum(axis=1)
    return np.asarray(np.where(up, u / rise[:, None], -u / fall[:, None]))


def simplex_second_moment(size: int) -> float:
    """E‖u‖² of the above: E_j[2/(j+1) + 2/(N−j+1)], as a Dirichlet vector of j entries has 2/(j+1)."""
    j = np.arange(size + 1)
    return float(positive_counts(size) @ (2.0 / (j + 1) + 2.0 / (size - j + 1)))


def _simplex(body: Body) -> ExactDirections:
    V, N = body.points, len(body.points)

    def draw(rng: np.random.Generator, trials: int) -> FloatArray:
        step = max(1, _BLOCK // N)
        parts = [min(step, trials - start) for start in range(0, trials, step)]
        return np.concatenate([simplex_weights(rng, N, part) @ V for part in parts])

    # E u uᵀ is symmetric under permutations and kills 1: it is a multiple of I − 11ᵀ/N, and Vᵀ1 = 0.
    return ExactDirections("simplex", draw, lambda: simplex_second_moment(N) / (N - 1) * (V.T @ V))


# Other closed forms -----------------------------------------------------------------------------------------------


def cross_polytope(generators: FloatArray) -> ExactDirections:
    """conv(±a_i) for d independent lines a_i of ``generators``: Z is then Σ a_i·Laplace."""
    A, d = generators, len(generators)

    def draw(rng: np.random.Generator, trials: int) -> FloatArray:
        w = rng.standard_exponential((trials, d)) * rng.choice((-1.0, 1.0), (trials, d))
        return np.asarray((w / np.abs(w).sum(axis=1, keepdims=True)) @ A)

    return ExactDirections("cross-polytope", draw, lambda: 2.0 / (d * (d + 1)) * (A.T @ A))


def ball(dimension: int, radius: float = 1.0) -> ExactDirections:
    """The Euclidean ball of a radius."""

    def draw(rng: np.random.Generator, trials: int) -> FloatArray:
        x = rng.standard_normal((trials, dimension))
        return np.asarray(radius * x / np.linalg.norm(x, axis=1, keepdims=True))

    return ExactDirections("ball", draw, lambda: radius**2 / dimension * np.eye(dimension))


def cube(widths: FloatArray) -> ExactDirections:
    """The box of the points with |z_i| ≤ w_i."""
    w, d = np.asarray(widths, dtype=np.float64), len(widths)

    def draw(rng: np.random.Generator, trials: int) -> FloatArray:
        x = rng.uniform(-1.0, 1.0, (trials, d))
        x /= np.abs(x).max(axis=1, keepdims=True)
        return x * w

    return ExactDirections("box", draw, lambda: np.diag(_cube_moment(w)))


def _cube_moment(widths: FloatArray) -> FloatArray:
    """E D_i²: ‖U‖_B ~ Beta(d, 1) is independent of D, so it is E U_i²·(d + 2)/d, and E U_i² = w_i²/3."""
    d = len(widths)
    return np.asarray(widths**2 * (d + 2) / (3 * d))


def is_box(body: Body) -> bool:
    """Whether the columns are all corners of a box whose sides are the queries' axes (constant queries aside)."""
    moving = np.ptp(body.columns, axis=1) > 0
    d, corners = body.dimension, body.columns.shape[1]
    if int(moving.sum()) != d or corners != 2**d or not body.symmetric:
        return False
    return all(len(np.unique(line)) == 2 for line in body.columns[moving])


def _box(body: Body) -> ExactDirections:
    moving = np.ptp(body.columns, axis=1) > 0
    w, G = np.ptp(body.columns[moving], axis=1), body.inverse[:, moving]
    law = cube(w)
    return ExactDirections("box", lambda rng, trials: law.draw(rng, trials) @ G.T, lambda: (G * _cube_moment(w)) @ G.T)


# Triangulations ---------------------------------------------------------------------------------------------------


def _by_triangulation(body: Body) -> ExactDirections | None:
    """The exact law of a body of few dimensions and points, if Qhull can cut it."""
    from scipy.spatial import QhullError

    if body.dimension > TRIANGULATED_DIMENSION:
        return None
    try:
        vertices = difference_vertices(body)
        return triangulated(vertices) if len(vertices) <= _POINTS[body.dimension] else None
    except QhullError:
        # Nearly degenerate bodies, such as linear maps of cubes, end in facets too wide to be merged.
        return None


def difference_vertices(body: Body) -> FloatArray:
    """Points whose hull is B: all differences of the vertices of K, (·, d)."""
    from scipy.spatial import ConvexHull

    V = np.vstack([body.points, -body.points]) if body.symmetric else body.points
    V = V[ConvexHull(V).vertices]
    if body.symmetric:
        return np.asarray(2.0 * V)
    first, second = np.nonzero(~np.eye(len(V), dtype=bool))
    return np.asarray(np.unique(V[first] - V[second], axis=0))


def triangulated(vertices: FloatArray) -> ExactDirections:
    """The hull of points around the origin, cut into the cones over its (triangulated) facets.

    A facet F is met with the probability vol conv(0, F)/vol B. In it, D = Σ w_i v_i with w ~ Dirichlet(1, …, 1), and
    so E D Dᵀ = (Σ v_i v_iᵀ + (Σ v_i)(Σ v_i)ᵀ)/(d(d + 1)).
    """
    from scipy.spatial import ConvexHull

    hull = ConvexHull(vertices)
    corners = vertices[hull.simplices]
    d = vertices.shape[1]
    shares = np.abs(np.linalg.det(corners))
    shares /= shares.sum()

    def draw(rng: np.random.Generator, trials: int) -> FloatArray:
        chosen = corners[rng.choice(len(shares), size=trials, p=shares)]
        w = rng.standard_exponential((trials, d))
        return np.asarray(np.einsum("ti,tij->tj", w / w.sum(axis=1, keepdims=True), chosen))

    def moment() -> FloatArray:
        sums = corners.sum(axis=1)
        inside = np.einsum("f,fij,fik->jk", shares, corners, corners, optimize=True)
        return np.asarray((inside + (sums * shares[:, None]).T @ sums) / (d * (d + 1)))

    return ExactDirections("triangulation", draw, moment)
