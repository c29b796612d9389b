"""Columns of a strategy with the noise that makes them private: reports, their sums, and exact variances.

**Reports.** They are reports of single users, and sums of those of whole populations. A user of type u reports a_u +
noise. The noise is calibrated on the very floats of A (k × n), and its privacy loss is bounded from them again, as
they are used:

* **Laplace**, scale b: the ratio of two densities of a report is at most exp(‖a_u − a_v‖₁/b). The sums behind Δ₁ are
  off by k·2⁻⁵³ relatively at most, a part of the margin that the scale was made with; what is left of it covers the
  rounding of Δ₁/b.
* **Half sphere**: the ratio is at most p/(1 − p), and p is a float of which that is certain (``cap_randomizers.py``).
* **Gaussian**: (ε, δ), the loss itself being unbounded; ``privacy_loss`` is that ε.

Sums over N users are simulated without a loop over them, and exactly:

* a Laplace number is the difference of two exponentials, so the sum of N is that of two gamma numbers of shape N;
* the sum of N normal numbers is √N times one;
* half-sphere reports: ``caps.py``.

**Exact variances.** They are computed type by type, through the centred Gram matrix C = PWᵀWP.

**Kept results.** Functions of matrices remember their last results by what is in them: one strategy serves every
budget.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.errors import BadValue
from factormech.mechanisms.local.l1_strategies import l1_diameter
from factormech.mechanisms.local.randomizers import cap_randomizers, caps
from factormech.mechanisms.local.randomizers.base import check_points
from factormech.numerics.vectors import root
from factormech.privacy.gaussian import gaussian_noise_multiplier
from factormech.privacy.guarantee import REAL_LAW, Guarantee

# Calls whose results are kept: how many of each function, and of how many numbers at most.
KEPT, KEPT_SIZE = 8, 2**21

Result = TypeVar("Result")


def kept(function: Callable[..., Result]) -> Callable[..., Result]:
    """Return the function with a cache of its last results, which callers share and must not change."""
    memory: dict[tuple[tuple[tuple[int, ...], bytes], ...], Result] = {}

    @functools.wraps(function)
    def call(*matrices: FloatArray) -> Result:
        if sum(matrix.size for matrix in matrices) > KEPT_SIZE:
            return function(*matrices)
        key = tuple(_content(matrix) for matrix in matrices)
        found = memory.pop(key) if key in memory else function(*matrices)
        memory[key] = found  # the last one asked for is the last in the dictionary
        while len(memory) > KEPT:
            del memory[next(iter(memory))]
        return found

    return call


def _content(matrix: FloatArray) -> tuple[tuple[int, ...], bytes]:
    """Return the key of a matrix of floats."""
    values = np.ascontiguousarray(matrix, dtype=np.float64)
    return matrix.shape, hashlib.sha256(values.data).digest()


# Reports.

# Outward margin on every sensitivity; the sums of k terms behind it are off by at most about k·2⁻⁵³
# relatively.
SENSITIVITY_MARGIN = 1e-12


@dataclass(frozen=True)
class NoisyColumns:
    """The columns that users report and the noise on them, with the guarantee.

    Attributes
    ----------
    noise
        ``"laplace"``, ``"half-sphere"`` or ``"gaussian"``.
    columns
        A (k × n): what a user of each type hands to the randomizer. For the half-sphere the columns have been scaled
        into the unit ball.
    scale
        Laplace scale b, Gaussian σ, or norm B of a half-sphere report.
    sensitivity
        Outward-rounded Δ₁ (Laplace), Δ₂ (Gaussian), or largest column norm (half-sphere), of these very columns.
    second_moment
        E⟨θ, y⟩² of the half-sphere report, or variance of one coordinate of the noise.
    epsilon, delta
        The guarantee of one report.
    privacy_loss
        A rigorous upper bound of its ε, at most ``epsilon``.
    """

    noise: str
    columns: FloatArray
    scale: float
    sensitivity: float
    second_moment: float
    epsilon: float
    delta: float
    privacy_loss: float

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one report."""
        return Guarantee(self.epsilon, self.delta, ground=REAL_LAW)

    def report(self, types: IntArray, rng: np.random.Generator) -> FloatArray:
        """Independent reports (N, k) of users of the given ``types`` (integers, (N,))."""
        a: FloatArray = self.columns.T[types]
        if self.columns.shape[0] == 0:
            return a
        if self.noise == "half-sphere":
            return cap_randomizers.sample(a, self.epsilon, rng)
        draw = rng.laplace if self.noise == "laplace" else rng.normal
        return np.asarray(a + draw(scale=self.scale, size=a.shape))

    def simulation_refusal(self, users: int) -> str:
        """Why the reports of that many users cannot be simulated, or nothing."""
        k, n = self.columns.shape
        return caps.refusal(n, k, users) if self.noise == "half-sphere" else ""

    def simulate_deviations(
        self, counts: IntArray, centre: FloatArray, trials: int, rng: np.random.Generator
    ) -> FloatArray:
        """Σy − N·``centre`` over the reports of ``counts`` users by type, (k, trials)."""
        k, users = self.columns.shape[0], int(counts.sum())
        if k == 0:
            return np.zeros((0, trials))
        if self.noise == "half-sphere":
            Z = cap_randomizers.sample_sums(self.columns.T, self.epsilon, counts, trials, rng)
            return np.asarray(self.scale * Z - users * centre[:, None])
        if self.noise == "laplace":
            noise = rng.standard_gamma(users, (k, trials)) - rng.standard_gamma(users, (k, trials))
        else:
            noise = np.sqrt(users) * rng.standard_normal((k, trials))
        return np.asarray(((self.columns - centre[:, None]) @ counts)[:, None] + self.scale * noise)


def with_laplace_noise(A: FloatArray, epsilon: float) -> NoisyColumns:
    """Laplace noise on the columns of any A (k × n): scale Δ₁/ε."""
    if not len(A):
        return _silent("laplace", A, epsilon, 0.0)
    diameter = l1_diameter(A)
    sensitivity = _outward(diameter, len(A))
    scale = sensitivity / epsilon
    # Half of the margin is above the rounding of the sums; four units cover the other three operations.
    loss = diameter * (1.0 + 0.5 * _margin(len(A))) / scale * (1.0 + 4 * np.finfo(float).eps)
    if not loss <= epsilon:
        raise BadValue("epsilon", epsilon, f"be at least the privacy loss, {loss:.17g}", "scale the strategy to size 1")
    return NoisyColumns("laplace", A, scale, sensitivity, 2 * scale**2, epsilon, 0.0, loss)


def with_gaussian_noise(A: FloatArray, epsilon: float, delta: float) -> NoisyColumns:
    """Gaussian noise on the columns of any A (k × n): σ for their exact diameter."""
    if not len(A):
        return _silent("gaussian", A, epsilon, delta)
    sensitivity = _outward(_l2_diameter(A), len(A))
    sigma = sensitivity * gaussian_noise_multiplier(epsilon, delta)
    return NoisyColumns("gaussian", A, sigma, sensitivity, sigma**2, epsilon, delta, epsilon)


def with_half_sphere_noise(A: FloatArray, epsilon: float) -> NoisyColumns:
    """Half-sphere reports of the columns of any A (d × n) whose enclosing ball is centred at 0.

    The columns are scaled so that the largest norm is just below 1, and checked.
    """
    d = len(A)
    if not d:
        return _silent("half-sphere", A, epsilon, 0.0)
    A = A / _outward(_largest_norm(A), d)
    check_points(A.T)
    moment, loss = cap_randomizers.second_moment(d, epsilon), cap_randomizers.privacy_loss(epsilon)
    radius = cap_randomizers.half_sphere_radius(d, epsilon)
    return NoisyColumns("half-sphere", A, radius, _largest_norm(A), moment, epsilon, 0.0, loss)


def _silent(noise: str, A: FloatArray, epsilon: float, delta: float) -> NoisyColumns:
    """Return the strategy without rows, in which no user reports anything."""
    return NoisyColumns(noise, A, 0.0, 0.0, 0.0, epsilon, delta, 0.0)


def _margin(terms: int) -> float:
    return max(SENSITIVITY_MARGIN, 4 * terms * float(np.finfo(float).eps))


def _outward(size: float, terms: int) -> float:
    """A computed size, rounded up past the error of summing ``terms`` nonnegative numbers."""
    return size * (1.0 + _margin(terms))


@kept
def _l2_diameter(A: FloatArray) -> float:
    """max_{u,v} ‖a_u − a_v‖₂ from differences (a Gram matrix would lose half of the digits)."""
    from scipy.spatial.distance import pdist

    return float(np.max(pdist(A.T), initial=0.0))


def _largest_norm(A: FloatArray) -> float:
    return float(np.linalg.norm(A, axis=0).max())


# Exact variances.

_CENTRED = 1e-9  # how far C1 may be from 0, and eigenvalues below 0, relative to the largest entry


def check_centred_gram(value: FloatArray) -> FloatArray:
    """C as a symmetric float array: square, finite, C1 = 0, and positive semidefinite, all up to rounding."""
    C = np.asarray(value, dtype=np.float64)
    if C.ndim != 2 or C.shape[0] != C.shape[1] or not C.size:
        raise BadValue("centred_gram", C.shape, "be a square matrix", "give Workload.centred_gram()")
    if not np.all(np.isfinite(C)):
        raise BadValue("centred_gram", "inf or nan", "be finite", "give Workload.centred_gram()")
    largest = float(np.abs(C).max())
    off = float(np.abs(C - C.T).max())
    if off > _CENTRED * largest:
        raise BadValue("centred_gram", off, "be symmetric (the value is the largest difference)", "give PGP")
    sums = float(np.abs(C.sum(axis=0)).max())
    if sums > _CENTRED * len(C) * largest:
        raise BadValue("centred_gram", sums, "have columns that sum to 0 (the value is the largest)", "give PGP")
    C = 0.5 * (C + C.T)
    least = float(np.linalg.eigvalsh(C)[0])
    if least < -_CENTRED * len(C) * largest:
        raise BadValue("centred_gram", least, "be positive semidefinite (least eigenvalue)", "give PGP, G = WᵀW")
    return C


def relative_miss(C: FloatArray, E: FloatArray) -> float:
    """‖W E‖_F / ‖WP‖_F from C = PWᵀWP, for E whose columns sum to 0; 0 where WP = 0.

    Taken through a root of C: where E is large outside the row space of W, tr(EᵀCE) would be the rounding of C, and its
    root 10⁻⁸ rather than 10⁻¹⁶.
    """
    energy = float(np.trace(C))
    if energy <= 0:
        return 0.0
    return float(np.linalg.norm(root(C).T @ E) / np.sqrt(energy))


def singular_vectors(A: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """U, s and Vᵀ of AP, without the zeros of s: (AP)⁺ = V·Diag(1/s)·Uᵀ."""
    from scipy.linalg import qr

    if not len(A):
        return np.zeros((0, 0)), np.zeros(0), np.zeros((0, A.shape[1]))
    # The k × n matrix through its n × n triangle when it is tall; singular values keep full relative
    # accuracy.
    centred = A - A.mean(axis=1, keepdims=True)
    Q, T = qr(centred, mode="economic") if len(A) > A.shape[1] else (None, centred)
    U, s, Vt = np.linalg.svd(T, full_matrices=False)
    keep = s > max(A.shape) * np.finfo(float).eps * max(float(s[0]), np.finfo(float).tiny)
    U, s, Vt = U[:, keep], s[keep], Vt[keep]
    return (U if Q is None else Q @ U), s, Vt


@kept
def inverse_of(A: FloatArray) -> FloatArray:
    """(AP)⁺, read-only; kept unless it is large, for one strategy has the same columns at every budget."""
    U, s, Vt = singular_vectors(A)
    J = np.asarray((Vt.T / s) @ U.T)
    J.setflags(write=False)
    return J


@kept
def checked_gram(value: FloatArray) -> FloatArray:
    """The same as ``check_centred_gram``, read-only and kept."""
    C = check_centred_gram(value)
    C.setflags(write=False)
    return C


@dataclass(frozen=True)
class Seen:
    """The part of columns A that a workload sees through R = WP(AP)⁺, whatever the size of the noise.

    Attributes
    ----------
    residual
        ‖RAP − WP‖_F / ‖WP‖_F.
    energy
        ‖R‖_F².
    means
        ‖R·a_u‖² by type, (n,).
    """

    residual: float
    energy: float
    means: FloatArray


@kept
def seen(A: FloatArray, C: FloatArray) -> Seen:
    """Return the part of A that the workload with the centred Gram matrix C sees; small ones are kept."""
    J, n = inverse_of(A), len(C)
    defect = J @ (A - A.mean(axis=1)[:, None]) - np.eye(n) + 1.0 / n
    z = J @ A
    means = np.einsum("vu,vu->u", z, C @ z)
    means.setflags(write=False)
    return Seen(relative_miss(C, defect), float(np.sum(J * (C @ J))), means)


def variance_of(noisy: NoisyColumns, found: Seen) -> FloatArray:
    """By type: the second moment of the noise, seen through R, and for reports on a sphere less that of their mean."""
    second_moment = np.full(len(found.means), noisy.second_moment * found.energy)
    return second_moment if noisy.noise != "half-sphere" else second_moment - found.means


def variance_by_type(noisy: NoisyColumns, J: FloatArray, C: FloatArray) -> FloatArray:
    """By type: the second moment of the noise, seen through R, and for reports on a sphere less that of their mean."""
    second_moment = np.full(len(C), noisy.second_moment * float(np.sum(J * (C @ J))))
    if noisy.noise != "half-sphere":
        return second_moment
    z = J @ noisy.columns
    return np.asarray(second_moment - np.einsum("vu,vu->u", z, C @ z))
