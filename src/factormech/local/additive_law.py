r"""The law of the squared error of a collection where users report a point with noise, y = a_u + η.

A user adds z = Jη to the error of the centred data vector, J = (AP)⁺, and so zᵀCz = ηᵀMη with M = JᵀCJ. What
``error_law.py`` asks of each type is the mean and variance of that, and tr[(CΣ_u)²] = tr[(M Cov η)²].

**Independent coordinates** of variance s² and kurtosis κ (Laplace: 6, Gaussian: 3). E ηᵀMη = s² tr M, and in the fourth
moment only Σ M_ii² goes beyond the Gaussian terms:

.. math:: \operatorname{Var} η^\top Mη - 2\operatorname{tr}[(M\operatorname{Cov}η)^2] = (κ-3)\,s^4 \sum_i M_{ii}^2 .

**Half sphere** (``half_sphere.py``): y = BZ has the second and fourth moments of the uniform law on the sphere of
radius B, for they are even, and Cov η = (B²/d)I − aaᵀ. With α = aᵀMa, b = Ma and the mean E y = a,

.. math:: \operatorname{E} y^\top My = \tfrac{B^2}{d}\operatorname{tr}M, \qquad
          \operatorname{E}(y^\top My)^2 = \tfrac{B^4}{d(d+2)}\bigl[(\operatorname{tr}M)^2 + 2\operatorname{tr}M^2\bigr],
          \qquad \operatorname{E}(b^\top y)^2 = \tfrac{B^2}{d}\lVert b\rVert^2 .

The odd moment E[yᵀMy·bᵀy] is (r/c)B³ times that of sign(t)·ZᵀMZ·bᵀZ over the uniform sphere, t = ⟨Z, â⟩, r = ‖a‖. With
Z = tâ + √(1−t²)w, w uniform in the complement of â, the terms odd in w vanish; E|t|³ = 2E|t|/(d+1),
E|t|(1−t²) = (d−1)E|t|/(d+1), and (B/c)E|t| = 1:

.. math:: \operatorname{E}[y^\top My\cdot b^\top y]
          = \tfrac{B^2}{d+1}\bigl[2\lVert b\rVert^2 + α\,(\operatorname{tr}M - \hat a^\top M\hat a)\bigr] .

**Jumps.** A half-sphere report has ‖y‖ = B, so √(ηᵀMη) ≤ B√λ + √α, λ the largest eigenvalue of M. Gaussian errors need
none: their sum is Gaussian, and T is what the tail bounds are proved for. A Laplace coordinate is not bounded; the jump
is one that a user exceeds with a chance of at most ``JUMP_CHANCE``. With b the scale, η_i = b√(2E_i)g_i, E_i
exponential and g_i normal: but for a chance of 3e^{−s}, for the k coordinates together,

.. math:: E_i \le τ = s + \log k, \quad
          τ' = \sum M_{ii}E_i \le \operatorname{tr}M + \sqrt{2s\textstyle\sum M_{ii}^2} + s\max M_{ii}, \quad
          \tfrac{η^\top Mη}{2b^2} \le τ' + 2\sqrt{s\,λττ'} + 2sλτ

(Laurent & Massart, Annals of Statistics 28, 2000, Lemma 1, for both sums: the matrix of the quadratic form in g has the
trace τ' and no eigenvalue above λτ). For one coordinate this is (b·log(1/chance))² itself.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray
from factormech.local.error_law import ErrorLaw
from factormech.local.randomizers import half_sphere

LAPLACE_KURTOSIS = 6.0
# The chance that a user exceeds what is called the largest jump of Laplace noise.
JUMP_CHANCE = 1e-9


def no_error(centred_gram: FloatArray) -> ErrorLaw:
    """The law where nothing is asked, or every user gives the same answers."""
    n = len(centred_gram)
    zero = np.zeros(n)
    return ErrorLaw(centred_gram, zero, zero, zero, lambda x: np.zeros((n, n)))


def laplace_error_law(centred_gram: FloatArray, inverse: FloatArray, scale: float, variance: FloatArray) -> ErrorLaw:
    """The law for Laplace noise of this scale b in each coordinate, the variances by type being known."""
    M = _seen(centred_gram, inverse)
    second_moment = 2.0 * scale**2
    excess = (LAPLACE_KURTOSIS - 3.0) * second_moment**2 * float(np.sum(np.diagonal(M) ** 2))
    return _independent(centred_gram, inverse, second_moment, variance, excess, laplace_jump(M, scale))


def gaussian_error_law(centred_gram: FloatArray, inverse: FloatArray, sigma: float, variance: FloatArray) -> ErrorLaw:
    """The law for Gaussian noise: T is a sum of independent χ²₁, weighted, and nothing else."""
    return _independent(centred_gram, inverse, sigma**2, variance, 0.0, 0.0)


def half_sphere_error_law(
    centred_gram: FloatArray, inverse: FloatArray, points: FloatArray, epsilon: float, variance: FloatArray
) -> ErrorLaw:
    """The law for half-sphere reports of the columns of ``points`` (d, n), the variances by type being known."""
    A, J, M = points, inverse, _seen(centred_gram, inverse)
    d = len(A)
    moment = half_sphere.second_moment(d, epsilon)
    signal = J @ A

    def covariance(x: FloatArray) -> FloatArray:
        return np.asarray(moment * x.sum() * (J @ J.T) - (signal * x) @ signal.T)

    trace, square = float(np.trace(M)), float(np.sum(M * M))
    b = M @ A
    alpha, norm = np.einsum("iu,iu->u", A, b), np.einsum("iu,iu->u", b, b)
    r_squared = np.einsum("iu,iu->u", A, A)
    along = np.divide(alpha, r_squared, out=np.zeros_like(alpha), where=r_squared > 0)  # âᵀMâ; where a = 0, α is 0
    quartic = d * moment**2 / (d + 2) * (trace**2 + 2.0 * square)
    cubic = d * moment / (d + 1) * (2.0 * norm + alpha * (trace - along))
    mean = moment * trace
    # E(ηᵀMη)² of ηᵀMη = yᵀMy − 2bᵀy + α, less the square of its mean.
    spread = quartic + 4.0 * moment * norm - 3.0 * alpha**2 - 4.0 * cubic + 2.0 * alpha * mean - (mean - alpha) ** 2
    excess = spread - 2.0 * (moment**2 * square - 2.0 * moment * norm + alpha**2)
    radius = half_sphere.half_sphere_radius(d, epsilon) * math.sqrt(_largest_eigenvalue(M))
    jump = (radius + np.sqrt(np.maximum(alpha, 0.0))) ** 2
    return ErrorLaw(centred_gram, variance, excess, jump, covariance)


def laplace_jump(M: FloatArray, scale: float) -> float:
    """What ηᵀMη of one user exceeds with a chance of at most ``JUMP_CHANCE``; see the module's derivation."""
    k, diagonal = len(M), np.diagonal(M)
    if k == 1:
        return float(M[0, 0]) * (scale * math.log(1.0 / JUMP_CHANCE)) ** 2
    s = math.log(3.0 / JUMP_CHANCE)
    largest = (s + math.log(k)) * _largest_eigenvalue(M)
    trace = float(np.sum(diagonal) + math.sqrt(2.0 * s * float(np.sum(diagonal**2))) + s * diagonal.max())
    return 2.0 * scale**2 * (trace + 2.0 * math.sqrt(s * largest * trace) + 2.0 * s * largest)


def _independent(
    C: FloatArray, J: FloatArray, second_moment: float, variance: FloatArray, excess: float, jump: float
) -> ErrorLaw:
    n = len(C)
    spread = second_moment * (J @ J.T)
    return ErrorLaw(C, variance, np.full(n, excess), np.full(n, jump), lambda x: np.asarray(x.sum() * spread))


def _seen(C: FloatArray, J: FloatArray) -> FloatArray:
    """M = JᵀCJ, made symmetric."""
    M = J.T @ (C @ J)
    return np.asarray(0.5 * (M + M.T))


def _largest_eigenvalue(M: FloatArray) -> float:
    return max(float(np.linalg.eigvalsh(M)[-1]), 0.0)
