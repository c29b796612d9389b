r"""JL release of second moments: noise on ℓ random measurements of M, then the A in K whose measurements are nearest.

Ỹ = T·pack(M) + Z/n with T of ℓ rows over the D = d(d + 1)/2 coordinates of symmetric matrices, ``pack`` an isometry
(Nikolov, *Private query release via the Johnson–Lindenstrauss transform*, SODA 2023, Lemma 6.1 and Algorithm 1).

**Noise.** The ball of diameter √2·‖T‖_op ≥ diam TK, ‖T‖_op rounded up (on trace-free matrices if ``unit``). The largest
‖T(xxᵀ − yyᵀ)‖ over *sampled* x, y is at most the diameter, and so no ground for a guarantee.

**Lift.** min over A ∈ K of ‖Ỹ − T·pack(A)‖. With at least D measurements A is unique (almost surely), and an interior
point method (:mod:`factormech.central.pure.trace_interior`) finds it in few steps; with fewer, or for K₁, it is
Frank–Wolfe with all weights corrected: the linear step is a top eigenvector of the residual
R = unpack(Tᵀ(Ỹ − T·pack(A))) (or A = 0, if no eigenvalue is above 0), and then the nearest point of the hull of all
measurements kept so far is found exactly (Wolfe's method, from the weights of before), those of weight 0 being dropped.
Both are held to

.. math:: g = \max(λ_{\max}(R), 0) - ⟨R, A⟩ \le \text{tolerance}^2 ,

which proves that T·pack(A) is within ``tolerance`` of the projection of Ỹ on TK. Ties: the A that this path leads to.
The interior point method goes on to a millionth of that gap, in a few steps more: where T shrinks some directions a
hundredfold, a distance of ``tolerance`` between measurements would leave A itself open.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.central.pure import trace_body, trace_interior
from factormech.central.pure.covariance import ball_vectors
from factormech.central.pure.jl import MATRICES, jl_matrix
from factormech.central.wolfe import Hull
from factormech.errors import BadValue, UnknownName
from factormech.numerics.symmetric import pack, unpack
from factormech.privacy import Guarantee

TOLERANCE = 1e-3
ITERATIONS = 2000
_ATOMS = 3  # eigenvectors a step
_BEYOND = 1e-6  # of tolerance², where a method gets there quickly
_ROUNDING = 1e-15  # of ‖Ỹ‖², what a gap of zero may come out as


@dataclass(frozen=True)
class Lifted:
    """A ∈ K, with ‖T·pack(A) − projection of Ỹ‖ ≤ √gap."""

    matrix: FloatArray
    gap: float
    iterations: int


def diameter(matrix: FloatArray, size: int, *, unit: bool = False) -> float:
    """At least diam TK: √2·‖T‖_op over symmetric matrices, of trace 0 if ``unit``.

    The computed norm has a backward error of a few max(ℓ, D) roundings; 64 times as many are added.
    """
    T = matrix
    if unit:
        identity = pack(np.eye(size)) / math.sqrt(size)
        T = T - np.outer(T @ identity, identity)
    slack = 1.0 + 64 * max(T.shape) * float(np.finfo(np.float64).eps)
    return float(math.sqrt(2.0) * np.linalg.norm(T, 2) * slack)


def lift(
    answers: FloatArray,
    matrix: FloatArray,
    size: int,
    *,
    unit: bool = False,
    tolerance: float = TOLERANCE,
    iterations: int = ITERATIONS,
) -> Lifted:
    """The A in K, or K₁ if ``unit``, with measurements nearest to ``answers``, (ℓ,)."""
    steps = check_positive_integer("iterations", iterations)
    if not unit and len(matrix) >= size * (size + 1) // 2:
        found = _interior(answers, matrix, size, tolerance, steps)
        if found.gap <= tolerance**2:
            return found
    return _corrected(answers, matrix, size, unit, tolerance, steps)


def _interior(answers: FloatArray, T: FloatArray, d: int, tolerance: float, iterations: int) -> Lifted:
    """By the interior point method, as far as it leads."""
    wanted = max(_BEYOND * tolerance**2, _ROUNDING * (1.0 + float(answers @ answers)))
    near = trace_interior.nearest(answers, T, d, wanted, iterations)
    A = near.matrix
    R = unpack(T.T @ (answers - T @ pack(A)), d)
    top = max(float(np.linalg.eigvalsh(R)[-1]), 0.0)
    return Lifted(A, max(top - float((R * A).sum()), 0.0), near.iterations)


def _corrected(
    answers: FloatArray, matrix: FloatArray, size: int, unit: bool, tolerance: float, iterations: int
) -> Lifted:
    """By Frank–Wolfe with all weights corrected."""
    T, d = matrix, size
    start = np.zeros((d, 1)) if not unit else np.eye(d)[:, :1]
    atoms, images = start, _images(T, start)
    step, gap = 0, math.inf
    weights, A = np.ones(1), start @ start.T
    while step < iterations:
        step += 1
        near = Hull(images).project(answers, start=weights)
        kept = near.weights > 0.0
        atoms, images, weights = atoms[:, kept], images[:, kept], near.weights[kept]
        A = (atoms * weights) @ atoms.T
        R = unpack(T.T @ (answers - images @ weights), d)
        values, vectors = scipy.linalg.eigh(R, subset_by_index=[max(0, d - _ATOMS), d - 1])
        top = float(values[-1]) if unit else max(float(values[-1]), 0.0)
        gap = max(top - float((R * A).sum()), 0.0)
        if gap <= tolerance**2:
            break
        fresh = vectors[:, values > 0.0] if not unit else vectors
        fresh = np.zeros((d, 1)) if not fresh.shape[1] else fresh
        atoms, images = np.hstack([atoms, fresh]), np.hstack([images, _images(T, fresh)])
        weights = np.append(weights, np.zeros(fresh.shape[1]))
    return Lifted(A, gap, step)


def _images(T: FloatArray, vectors: FloatArray) -> FloatArray:
    """T·pack(xxᵀ) of the columns x, (ℓ, ·)."""
    return T @ pack(np.einsum("it,jt->tij", vectors, vectors)).T


@dataclass(frozen=True)
class SketchDraws:
    """One T with draws of its noise, (draws, ℓ)."""

    size: int
    unit: bool
    matrix: FloatArray
    noise: FloatArray
    tolerance: float

    def sketches(self, moment: Any, users: int) -> FloatArray:
        """The private Ỹ, (draws, ℓ)."""
        M = trace_body.checked_moment(moment, self.size, unit=self.unit)
        return np.asarray(self.matrix @ pack(M) + self.noise / check_positive_integer("users", users))

    def moments(self, moment: Any, users: int) -> FloatArray:
        """Released second moments, (draws, d, d); refused where the lift does not reach its tolerance."""
        found = []
        for Y in self.sketches(moment, users):
            one = lift(Y, self.matrix, self.size, unit=self.unit, tolerance=self.tolerance)
            if one.gap > self.tolerance**2:
                rule = f"be reached in {ITERATIONS} steps, which leave {math.sqrt(one.gap):.3g}"
                raise BadValue("tolerance", self.tolerance, rule, "take a larger one, or fewer rows")
            found.append(one.matrix)
        return np.array(found)


@dataclass(frozen=True)
class SketchRelease:
    """Algorithm 1 for second moments."""

    size: int
    epsilon: float
    rows: int
    matrix: str = "gaussian"
    unit: bool = False
    tolerance: float = TOLERANCE

    @classmethod
    def of(
        cls,
        size: int,
        epsilon: float,
        rows: int,
        *,
        matrix: str = "gaussian",
        unit: bool = False,
        tolerance: float = TOLERANCE,
    ) -> SketchRelease:
        """For rows of d entries; as many measurements as ``rows``."""
        if matrix not in MATRICES:
            raise UnknownName("JL matrix", matrix, MATRICES)
        if not 0.0 < tolerance < 1.0:
            raise BadValue("tolerance", tolerance, "be above 0 and below 1", "give for example 1e-3")
        d = check_positive_integer("size", size, minimum=2 if unit else 1)
        return cls(d, check_epsilon(epsilon), check_positive_integer("rows", rows), matrix, unit, tolerance)

    @property
    def name(self) -> str:
        return "jl"

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon)

    def draw(self, rng: np.random.Generator, draws: int) -> SketchDraws:
        """A new T, and noise for that many releases through it."""
        T = jl_matrix(self.rows, self.size * (self.size + 1) // 2, self.matrix, rng)
        wide = diameter(T, self.size, unit=self.unit)
        Z = ball_vectors(self.rows, wide, self.epsilon, rng, check_positive_integer("draws", draws))
        return SketchDraws(self.size, self.unit, T, Z, self.tolerance)
