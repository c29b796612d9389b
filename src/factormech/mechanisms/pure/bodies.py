"""The bodies in which answers move when one user is replaced, and their widths.

**The body of a query matrix.** It is B = K − K, where K is the convex hull of the columns. A data set of n users
has the answers Q(X) = (1/n) Σ Q_{x_i}; replacing one user moves n·Q(X) by Q_x − Q_y ∈ B. Noise of density ∝
exp(−ε‖z‖_B), with ‖·‖_B the gauge of B, is ε-private (Hardt & Talwar, STOC 2010, Theorem 4.3; Nikolov, *Private query
release via the Johnson–Lindenstrauss transform*, SODA 2023, Lemma 4.1).

**Dimension.** Everything happens in the span of B. With c the centre of the distinct columns and the singular value
decomposition Q − c1ᵀ = UΣPᵀ, the *frame* F = UΣ/√N maps R^d onto the span, d = rank, and the columns become the lines
of √N·P: as round a cloud as a linear map can make of them. Constant queries and linear relations between queries
lower d, and d, not the number of queries k, enters every law of Gamma type.

**Gauge.** ‖Fx‖_B = min{½‖u‖₁ : Σ u_i p_i = x, Σ u_i = 0}, as u₊ and u₋ then have the same sum ½‖u‖₁. It is the gauge of
conv(±2(p_i, 1)) at (x, 0): one coordinate more, a *lifted* body. If K is symmetric about a point, B = 2(K − c) is
conv(±2p_i) over one column of each pair, without that coordinate.

**The Gaussian width of K.** It decides whether projecting to few dimensions can pay (Theorem 1.2). w(K) = E max_{y ∈
K} ⟨G, y⟩, G ~ N(0, I_k). As −G has the law of G, w(K) = E M with M = ½(max⟨G, Q_x⟩ − min⟨G, Q_x⟩) ≥ 0, a Lipschitz
function of G with the constant ½ diam K: so the mean of draws has an interval by Gaussian concentration, without any
limit theorem. Widths do not see translations.

**Choice.** Up to constants the K-norm mechanism errs by w/(nε) and JL release by w/√(k nε) (Nikolov, SODA 2023, Lemma
4.3 and Theorem 5.1): the width cancels and JL is the better one iff nε ≲ k. For a given error α the sample sizes w/(εα)
and w²/(kεα²) say: iff α ≳ w/k. The theorem is about 0 < α < diam K/√k; at more, one fixed answer will do.

**The body of second moments.** K = {A ⪰ 0, tr A ≤ 1} = conv{xxᵀ : ‖x‖ ≤ 1}: symmetric d × d matrices with the
Frobenius norm.

**Gauge.** Z ∈ t(K − K) iff Z = A − A' with tr A, tr A' ≤ t and A, A' ⪰ 0. Z₊ and Z₋ are the least such pair, so
‖Z‖_B = max(tr Z₊, tr Z₋). Replacing xxᵀ by yyᵀ has a gauge of at most 1. If ‖x‖ = 1 for everyone, the trace is
public: K₁ = {A ⪰ 0, tr A = 1}, and on tr Z = 0 the same gauge is tr Z₊.

**Projection.** Frobenius distance is unitarily invariant, so the nearest point keeps the eigenvectors: on K the
eigenvalues are clipped at 0, and only if their sum then exceeds 1 projected on the simplex; on K₁ always.

**Width.** w(K) = E max(λ_max(S), 0), S the symmetric part of a Gaussian matrix (Nikolov, *Private query release via the
Johnson–Lindenstrauss transform*, SODA 2023, Lemma 6.1), near √(2d).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue
from factormech.mechanisms.central import moments
from factormech.numerics.vectors import nearest

# The body of a query matrix.

_UNIT = float(np.finfo(np.float64).eps)
# Singular values between rounding and this, next to the largest, belong neither to a relation nor to a direction.
_UNCLEAR = 1e-9
_SYMMETRIC = 1e-14
_BLOCK = 2**22


@dataclass(frozen=True)
class Body:
    """B = K − K in coordinates of its own span.

    Attributes
    ----------
    columns
        The distinct columns of Q, (k, N), in lexicographic order.
    frame, inverse
        F, (k, d), from coordinates to answers, and its left inverse, (d, k).
    points
        The columns in coordinates, (N, d); only one of each pair if the body is symmetric.
    symmetric
        Whether K has a centre of symmetry, which ``points`` are taken from.
    """

    columns: FloatArray
    frame: FloatArray
    inverse: FloatArray
    points: FloatArray
    symmetric: bool

    @property
    def queries(self) -> int:
        """k, the number of queries."""
        return int(self.columns.shape[0])

    @property
    def dimension(self) -> int:
        """d = dim span B."""
        return int(self.points.shape[1])

    @cached_property
    def generators(self) -> FloatArray:
        """The a_i, (N, d + 1) or (N, d): B is conv(±a_i), for a lifted body where the last coordinate is 0."""
        if self.symmetric:
            return np.ascontiguousarray(2.0 * self.points)
        return np.ascontiguousarray(2.0 * np.column_stack([self.points, np.ones(len(self.points))]))

    def support(self, directions: FloatArray) -> FloatArray:
        """max of ⟨y, z⟩ over B for every line y of ``directions``, (t, d) in coordinates."""
        heights = directions @ self.points.T
        if self.symmetric:
            return np.asarray(2.0 * np.abs(heights).max(axis=1))
        return np.asarray(heights.max(axis=1) - heights.min(axis=1))

    def answers(self, coordinates: FloatArray) -> FloatArray:
        """Points (…, d) in coordinates as answers (…, k)."""
        return coordinates @ self.frame.T

    @cached_property
    def diameters(self) -> tuple[float, float]:
        """At least max‖Q_x − Q_y‖₁ and max‖Q_x − Q_y‖₂, but for a few roundings no more."""
        from scipy.spatial.distance import cdist

        first, second = 0.0, 0.0
        for left, right in _blocks(np.ascontiguousarray(self.columns.T)):
            first = max(first, float(cdist(left, right, "cityblock").max()))
            second = max(second, float(cdist(left, right, "euclidean").max()))
        outward = 1.0 + (self.queries + 4) * _UNIT
        return first * outward, second * outward


def body_of(queries: Any) -> Body:
    """The body of a query matrix Q, (k, N): one column of answers for each type of user."""
    Q = checked_queries(queries)
    columns = np.unique(Q, axis=1)
    # x ↦ low + high − x turns the lexicographic order round, so a symmetric set is its own mirror image in that order.
    ends = columns.min(axis=1) + columns.max(axis=1)
    # Rounding of projected columns is forgiven: it moves the body by as little as they are known to.
    near = _SYMMETRIC * np.abs(columns).max(axis=1, keepdims=True)
    symmetric = bool(np.all(np.abs(columns + columns[:, ::-1] - ends[:, None]) <= near))
    centre = 0.5 * ends if symmetric else columns.mean(axis=1)
    frame, inverse, points = _frame(columns - centre[:, None])
    if points.shape[1] == 1:
        # The ends alone make a segment, which is symmetric: about its own middle, not about the mean of the columns.
        points, symmetric = np.array([[0.5 * float(np.ptp(points))]]), True
    elif symmetric:
        # The middle column of an odd number is the centre itself, which adds nothing to the hull.
        points = points[: points.shape[0] // 2]
    return Body(columns, frame, inverse, np.ascontiguousarray(points), symmetric)


def checked_queries(queries: Any) -> FloatArray:
    """Q as a matrix of finite numbers with both axes."""
    Q = np.asarray(queries)
    if Q.dtype.kind not in "biuf" or Q.ndim != 2 or 0 in Q.shape:
        rule = "be a matrix of real numbers, queries × types"
        raise BadValue("queries", f"{Q.dtype.name} array of shape {Q.shape}", rule, "give both axes")
    Q = Q.astype(np.float64)
    bad = np.argwhere(~(np.abs(Q) <= 1e100))
    if bad.size:
        where = f"queries[{bad[0][0]}, {bad[0][1]}]"
        raise BadValue(where, float(Q[tuple(bad[0])]), "be finite, at most 1e100", "pure noise needs bounded answers")
    return Q


def _frame(centred: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """F, its left inverse and the columns in coordinates, (N, d)."""
    k, N = centred.shape
    if not centred.any():
        return np.zeros((k, 0)), np.zeros((0, k)), np.zeros((N, 0))
    U, values, P = np.linalg.svd(centred, full_matrices=False)
    relative = values / values[0]
    unclear = relative[(relative > 16 * max(k, N) * _UNIT) & (relative < _UNCLEAR)]
    if unclear.size:
        rule = f"be independent or dependent beyond doubt: a singular value is {unclear[0]:.1g} of the largest"
        raise BadValue("queries", f"array of shape {centred.shape}", rule, "scale the queries alike, or drop some")
    d = int(np.sum(relative >= _UNCLEAR))
    sizes = values[:d] / np.sqrt(N)
    return U[:, :d] * sizes, U[:, :d].T / sizes[:, None], np.ascontiguousarray(np.sqrt(N) * P[:d].T)


def _blocks(lines: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Every pair of lines, a block at a time."""
    step = max(1, _BLOCK // len(lines))
    for start in range(0, len(lines), step):
        yield lines[start : start + step], lines[start:]


# The Gaussian width of K.


def gaussian_width(
    queries: Any, rng: np.random.Generator, relative_width: float = 0.02, *, level: float = moments.LEVEL
) -> moments.SimulatedMean:
    """w(K), K = conv of the columns of Q, (k, N): ``mean``, and ``certain`` by concentration."""
    Q = checked_queries(queries)
    body = body_of(Q)
    V = np.ascontiguousarray((body.columns - body.columns.mean(axis=1, keepdims=True)).T)

    def draw(count: int) -> FloatArray:
        return half_spreads(V, rng, count)

    return moments.estimate(draw, relative_width, level=level, lipschitz=0.5 * body.diameters[1])


def half_spreads(points: FloatArray, rng: np.random.Generator, count: int) -> FloatArray:
    """Draws of M, (count,), for the lines of ``points``, (N, k)."""
    step = max(1, _BLOCK // max(points.shape))
    found = []
    for start in range(0, count, step):
        G = rng.standard_normal((min(step, count - start), points.shape[1]))
        heights = G @ points.T
        found.append(0.5 * (heights.max(axis=1) - heights.min(axis=1)))
    return np.concatenate(found)


def jl_is_better_for(users: float, epsilon: float, queries: int, constant: float = 1.0) -> bool:
    """nε ≤ constant·k."""
    epsilon, k = check_epsilon(epsilon), check_positive_integer("queries", queries)
    if not 0.0 < users < math.inf:
        raise BadValue("users", users, "be a finite number above 0", "give for example 1000")
    return users * epsilon <= constant * k


# The body of second moments.

# Eigenvalues and traces of data may be off by rounding.
_TOLERANCE = 1e-9


def eigenvalue_gauge(eigenvalues: FloatArray) -> FloatArray:
    """max(Σλ₊, Σλ₋) over the last axis."""
    up = np.maximum(eigenvalues, 0.0).sum(axis=-1)
    down = np.maximum(-eigenvalues, 0.0).sum(axis=-1)
    return np.asarray(np.maximum(up, down))


def gauge(matrices: FloatArray) -> FloatArray:
    """‖Z‖_B of symmetric matrices (…, d, d)."""
    return eigenvalue_gauge(np.asarray(np.linalg.eigvalsh(matrices)))


def project_eigenvalues(eigenvalues: FloatArray, *, unit: bool = False) -> FloatArray:
    """The nearest points of {λ ≥ 0, Σλ ≤ 1}, or of Σλ = 1 if ``unit``, to the lines of (…, d)."""
    clipped = np.maximum(eigenvalues, 0.0)
    over = np.ones(clipped.shape[:-1], dtype=bool) if unit else clipped.sum(axis=-1) > 1.0
    return np.where(over[..., None], nearest(eigenvalues), clipped)


def project(matrices: FloatArray, *, unit: bool = False) -> FloatArray:
    """The nearest points of K, or K₁, to symmetric matrices (…, d, d)."""
    values, vectors = np.linalg.eigh(matrices)
    near = project_eigenvalues(values, unit=unit)
    return np.asarray((vectors * near[..., None, :]) @ np.swapaxes(vectors, -1, -2))


def clipped(data: Any, *, unit: bool = False) -> FloatArray:
    """Rows (n, d) scaled down to ‖x‖ ≤ 1 where they are longer; to ‖x‖ = 1 if ``unit``, which refuses zero rows."""
    X = np.asarray(data)
    if X.dtype.kind not in "biuf" or X.ndim != 2 or 0 in X.shape or not np.isfinite(X).all():
        raise BadValue("data", f"{X.dtype.name} array of shape {X.shape}", "be finite rows (n, d)", "repair it")
    X = X.astype(np.float64)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    if unit and not lengths.all():
        raise BadValue("data", "a row of zeros", "have a direction in every row", "use unit=False")
    # A row divided by its own length may be longer than 1 by a rounding: shrink by more than that.
    scaled = X / np.where(lengths > 0.0, lengths, 1.0) * (1.0 - 2.0**-50)
    return scaled if unit else np.where(lengths > 1.0, scaled, X)


def second_moment(rows: FloatArray) -> FloatArray:
    """(1/n) Σ xxᵀ."""
    return np.asarray(rows.T @ rows / len(rows))


def checked_moment(moment: Any, dimension: int, *, unit: bool = False) -> FloatArray:
    """A member of K (K₁), up to rounding."""
    M = np.asarray(moment, dtype=np.float64)
    if M.shape != (dimension, dimension) or not np.isfinite(M).all() or np.abs(M - M.T).max() > _TOLERANCE:
        rule = f"be a symmetric matrix of shape {(dimension, dimension)}"
        raise BadValue("moment", f"array of shape {M.shape}", rule, "give second_moment(clipped(data))")
    trace, least = float(np.trace(M)), float(np.linalg.eigvalsh(M)[0])
    if least < -_TOLERANCE or trace > 1.0 + _TOLERANCE or (unit and trace < 1.0 - _TOLERANCE):
        rule = f"be positive semidefinite with trace {'1' if unit else 'at most 1'}"
        raise BadValue("moment", f"trace {trace:.6g}, least eigenvalue {least:.3g}", rule, "clip the rows first")
    return np.asarray(0.5 * (M + M.T))
