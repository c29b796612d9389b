r"""Second moments, covariances and 2-way marginals with ε-privacy.

The mechanisms are those of Nikolov (*Private query release via the Johnson–Lindenstrauss transform*, SODA 2023,
Section 6); errors are in Frobenius norm. Second moments M are released in two ways,

* ``trace``: M + Z/n with K-norm noise of the trace body (:mod:`factormech.mechanisms.pure.eigenvalues`);
* ``l2-ball``: Z of uniform direction and Frobenius norm Gamma(D)·√2/ε, as ‖xxᵀ − yyᵀ‖_F ≤ √2 for ‖x‖, ‖y‖ ≤ 1;

each with or without the projection on K, and by JL release (below).

**Covariance** (Theorem 1.3): M is released with ε/2, the mean with ε/2 by the ball of diameter 2 (Lemma 4.2) and
projected on the unit ball; Σ̂ = M̂ − μ̂μ̂ᵀ, whose error is at most ‖M̂ − M‖_F + 2‖μ̂ − μ‖.

**2-way marginals** over {0, 1}^d: x/√d lies in the unit ball, and the marginal of i ≠ j is d·M_ij.

**JL release of second moments.** It adds noise to ℓ random measurements of M, then takes the A in K whose
measurements are nearest. Ỹ = T·pack(M) + Z/n with T of ℓ rows over the D = d(d + 1)/2 coordinates of symmetric
matrices, ``pack`` an isometry (Nikolov, *Private query release via the Johnson–Lindenstrauss transform*, SODA 2023,
Lemma 6.1 and Algorithm 1).

**Noise.** The ball of diameter √2·‖T‖_op ≥ diam TK, ‖T‖_op rounded up (on trace-free matrices if ``unit``). The largest
‖T(xxᵀ − yyᵀ)‖ over *sampled* x, y is at most the diameter, and so no ground for a guarantee.

**Lift.** min over A ∈ K of ‖Ỹ − T·pack(A)‖. With at least D measurements A is unique (almost surely), and an interior
point method (:mod:`factormech.mechanisms.pure.trace_interior`) finds it in few steps; with fewer, or for K₁, it is
Frank–Wolfe with all weights corrected: the linear step is a top eigenvector of the residual
R = unpack(Tᵀ(Ỹ − T·pack(A))) (or A = 0, if no eigenvalue is above 0), and then the nearest point of the hull of all
measurements kept so far is found exactly (Wolfe's method, from the weights of before), those of weight 0 being dropped.
Above d = ``_FEW`` accelerated projected gradients
(Nesterov; restarted where they point uphill, O'Donoghue & Candès, Found. Comput. Math. 15, 2015) come first: each step
is a product with T and Tᵀ and one eigendecomposition, which projects on K, and tens of them reach the gap. All are
held to

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
from scipy.sparse.linalg import svds

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue, Unavailable, UnknownName
from factormech.mechanisms.central.moments import LEVEL
from factormech.mechanisms.central.projection import Hull
from factormech.mechanisms.pure import bodies, trace_interior
from factormech.mechanisms.pure.eigenvalues import LARGEST, TraceNoise
from factormech.mechanisms.pure.jl import MATRICES, jl_matrix
from factormech.numerics.intervals import Estimate
from factormech.numerics.vectors import pack, unpack
from factormech.privacy.guarantee import CHAIN_LIMIT, REAL_LAW, Guarantee

NOISES = ("trace", "l2-ball")
# √2, the diameter of the ball, rounded up.
BALL = math.sqrt(2.0) * (1.0 + 2.0**-50)


@dataclass(frozen=True)
class MomentDraws:
    """Z, (draws, d, d), for every data set and n."""

    noise: FloatArray
    projected: bool
    unit: bool

    def moments(self, moment: Any, users: int) -> FloatArray:
        """Released second moments, (draws, d, d), of n rows with this one."""
        n = check_positive_integer("users", users)
        M = bodies.checked_moment(moment, self.noise.shape[1], unit=self.unit)
        found = M + self.noise / n
        return bodies.project(found, unit=self.unit) if self.projected else found


@dataclass(frozen=True)
class MomentRelease:
    """The second moment of rows in the unit ball, or on the unit sphere if ``unit``."""

    size: int
    epsilon: float
    noise: str = "trace"
    projected: bool = True
    unit: bool = False

    @classmethod
    def of(
        cls, size: int, epsilon: float, *, noise: str = "trace", projected: bool = True, unit: bool = False
    ) -> MomentRelease:
        """For rows of d entries."""
        if noise not in NOISES:
            raise UnknownName("noise", noise, NOISES)
        d = check_positive_integer("size", size, minimum=2 if unit else 1)
        if noise == "trace" and d > LARGEST:
            raise BadValue("size", d, f"be at most {LARGEST} for trace noise", 'use noise="l2-ball"')
        return cls(d, check_epsilon(epsilon), noise, projected, unit)

    @property
    def name(self) -> str:
        return self.noise + ("-projection" if self.projected else "")

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, ground=CHAIN_LIMIT if self.noise == "trace" else REAL_LAW)

    def noise_norm(self, rng: np.random.Generator, draws: int, level: float = LEVEL) -> Estimate | Unavailable:
        """E‖Z‖_F: D·√2/ε of the ball, the mean of its Gamma radius; of the trace body with an interval."""
        if self.noise == "trace":
            return TraceNoise.of(self.size, self.epsilon, unit=self.unit).norm(rng, draws, level)
        exact = _ball_dimension(self.size, self.unit) * BALL / self.epsilon
        return Estimate(exact, exact, exact)

    def draw(self, rng: np.random.Generator, draws: int) -> MomentDraws | Unavailable:
        """Noise of that many releases."""
        if self.noise == "trace":
            Z = TraceNoise.of(self.size, self.epsilon, unit=self.unit).draw(rng, draws)
            if isinstance(Z, Unavailable):
                return Z
        else:
            Z = ball_matrices(self.size, self.epsilon, rng, draws, unit=self.unit)
        return MomentDraws(Z, self.projected, self.unit)


def ball_matrices(size: int, epsilon: float, rng: np.random.Generator, trials: int, *, unit: bool) -> FloatArray:
    """Noise of the Frobenius ball of radius √2, (trials, d, d); of trace 0 if ``unit``."""
    d = check_positive_integer("size", size, minimum=2 if unit else 1)
    Z = unpack(rng.standard_normal((check_positive_integer("trials", trials), d * (d + 1) // 2)), d)
    if unit:
        Z -= np.trace(Z, axis1=1, axis2=2)[:, None, None] / d * np.eye(d)
    radius = rng.standard_gamma(_ball_dimension(d, unit), trials) * BALL / epsilon
    return np.asarray(Z * (radius / np.linalg.norm(Z, axis=(1, 2)))[:, None, None])


def _ball_dimension(size: int, unit: bool) -> int:
    """D, or D − 1 of trace 0."""
    return size * (size + 1) // 2 - int(unit)


def simulated_covariances(
    rows: Any,
    epsilon: float,
    rng: np.random.Generator,
    trials: int = 1,
    *,
    noise: str = "trace",
    projected: bool = True,
) -> FloatArray | Unavailable:
    """Σ̂ of repeated releases, (trials, d, d), of rows (n, d), clipped to the unit ball; for experiments."""
    X = bodies.clipped(rows)
    n, d = X.shape
    half = 0.5 * check_epsilon(epsilon)
    drawn = MomentRelease.of(d, half, noise=noise, projected=projected).draw(rng, trials)
    if isinstance(drawn, Unavailable):
        return drawn
    means = X.mean(axis=0) + ball_vectors(d, 2.0, half, rng, trials) / n
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1.0)
    moments = drawn.moments(bodies.second_moment(X), n)
    return np.asarray(moments - means[:, :, None] * means[:, None, :])


def ball_vectors(dimension: int, diameter: float, epsilon: float, rng: np.random.Generator, trials: int) -> FloatArray:
    """Uniform directions times Gamma(d)·diameter/ε, (trials, d): Nikolov's Lemma 4.2."""
    z = rng.standard_normal((trials, dimension))
    radius = rng.standard_gamma(dimension, (trials, 1)) * (diameter * (1.0 + 2.0**-50) / epsilon)
    return np.asarray(radius * z / np.linalg.norm(z, axis=1, keepdims=True))


def covariance(rows: FloatArray) -> FloatArray:
    """M − μμᵀ of rows (n, d)."""
    mean = rows.mean(axis=0)
    return np.asarray(bodies.second_moment(rows) - np.outer(mean, mean))


def binary_rows(data: Any) -> FloatArray:
    """x/√d for rows of zeros and ones, (n, d): in the unit ball but for roundings, which are clipped."""
    X = np.asarray(data)
    if X.ndim != 2 or 0 in X.shape or not np.isin(X, (0, 1)).all():
        raise BadValue("data", f"array of shape {X.shape}", "be rows (n, d) of zeros and ones", "repair it")
    return bodies.clipped(X / math.sqrt(X.shape[1]))


def marginals(moments: FloatArray) -> FloatArray:
    """The 2-way marginals d·M_ij, i < j, of second moments (…, d, d) of :func:`binary_rows`."""
    d = moments.shape[-1]
    first, second = np.triu_indices(d, 1)
    return np.asarray(d * moments[..., first, second])


def frobenius_errors(found: FloatArray, truth: FloatArray) -> FloatArray:
    """‖M̂ − M‖_F of each draw."""
    return np.asarray(np.linalg.norm(found - truth, axis=(-2, -1)))


def marginal_errors(found: FloatArray, truth: FloatArray) -> FloatArray:
    """Root mean square over the pairs, of each draw."""
    return np.asarray(np.sqrt(((marginals(found) - marginals(truth)) ** 2).mean(axis=-1)))


# JL release of second moments.

TOLERANCE = 1e-3
ITERATIONS = 2000
_ATOMS = 3  # eigenvectors a step
_FEW = 16  # above this d projected gradients are the quickest, by a factor of four at d = 32
_CHECKED = 10  # gradient steps between two gaps
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
    if size > _FEW:
        found = _accelerated(answers, matrix, size, unit, tolerance, steps)
        if found.gap <= tolerance**2:
            return found
    if not unit and len(matrix) >= size * (size + 1) // 2:
        found = _interior(answers, matrix, size, tolerance, steps)
        if found.gap <= tolerance**2:
            return found
    return _corrected(answers, matrix, size, unit, tolerance, steps)


def _accelerated(
    answers: FloatArray, matrix: FloatArray, size: int, unit: bool, tolerance: float, iterations: int
) -> Lifted:
    """By accelerated projected gradients."""
    T, d = matrix, size
    # Where A is unique, it is to be near the minimiser and not only its measurements.
    wanted = tolerance**2 * (_BEYOND if len(T) >= len(T[0]) and not unit else 1.0)
    curvature = _norm(T) ** 2
    A = np.eye(d) / d
    ahead, momentum, gap, step = A, 1.0, math.inf, 0
    while step < iterations and gap > wanted:
        before = gap
        for _ in range(_CHECKED):
            slope = unpack(T.T @ (T @ pack(ahead) - answers), d)
            new = bodies.project(ahead - slope / curvature, unit=unit)
            momentum = 1.0 if float(((ahead - new) * (new - A)).sum()) > 0.0 else momentum
            after = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
            ahead, A, momentum = new + (momentum - 1.0) / after * (new - A), new, after
        step += _CHECKED
        gap = _gap(answers - T @ pack(A), T, A, unit)
        if before <= gap <= tolerance**2:
            break  # rounding has stopped it
    return Lifted(A, gap, step)


def _norm(T: FloatArray) -> float:
    """About ‖T‖_op: if it were too small, the gap would not be reached, and be seen."""
    if min(T.shape) < 3:
        return float(np.linalg.norm(T, 2))
    start = np.ones(min(T.shape))
    return 1.02 * float(svds(T, k=1, tol=1e-3, v0=start, return_singular_vectors=False)[0])


def _gap(residual: FloatArray, T: FloatArray, A: FloatArray, unit: bool) -> float:
    """g of a point of K, or of K₁."""
    R = unpack(T.T @ residual, len(A))
    top = float(np.linalg.eigvalsh(R)[-1])
    return max((top if unit else max(top, 0.0)) - float((R * A).sum()), 0.0)


def _interior(answers: FloatArray, T: FloatArray, d: int, tolerance: float, iterations: int) -> Lifted:
    """By the interior point method, as far as it leads."""
    wanted = max(_BEYOND * tolerance**2, _ROUNDING * (1.0 + float(answers @ answers)))
    near = trace_interior.nearest(answers, T, d, wanted, iterations)
    A = near.matrix
    return Lifted(A, _gap(answers - T @ pack(A), T, A, False), near.iterations)


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
        M = bodies.checked_moment(moment, self.size, unit=self.unit)
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
