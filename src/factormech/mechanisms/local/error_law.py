r"""The law of the squared error of a collection: its exact mean and variance, and the scale of its upper tail.

**Reports of a strategy matrix.** Users i report independently, and with report o a user of type u adds z = b_o − p_u
to the error e = By − Px of the estimated centred data vector (notation of ``strategy.py``; p_u = e_u − 1/n). The
squared error of the workload's answers is T = eᵀCe, a quadratic form in a sum of independent vectors of mean zero and
covariances Σ_u. Expanding it into terms of one user and of pairs of users, which are uncorrelated,

.. math:: \operatorname{E} T = \sum_u x_u \operatorname{E}[z^\top C z \mid u], \qquad
          \operatorname{Var} T = 2\operatorname{tr}\bigl[(C\Sigma)^2\bigr] + \sum_u x_u \Bigl(
          \operatorname{Var}[z^\top C z \mid u] - 2\operatorname{tr}\bigl[(C\Sigma_u)^2\bigr]\Bigr), \qquad
          \Sigma = \sum_u x_u\Sigma_u .

The first term of the variance is that of a Gaussian e; the rest, the *excess*, is smaller by the number of users.

**Points with noise.** Users report y = a_u + η. A user adds z = Jη to the error of the centred data vector, J =
(AP)⁺, and so zᵀCz = ηᵀMη with M = JᵀCJ. The law needs for each type the mean and variance of that, and
tr[(CΣ_u)²] = tr[(M Cov η)²].

**Independent coordinates** of variance s² and kurtosis κ (Laplace: 6, Gaussian: 3). E ηᵀMη = s² tr M, and in the fourth
moment only Σ M_ii² goes beyond the Gaussian terms:

.. math:: \operatorname{Var} η^\top Mη - 2\operatorname{tr}[(M\operatorname{Cov}η)^2] = (κ-3)\,s^4 \sum_i M_{ii}^2 .

**Half sphere** (``cap_randomizers.py``): y = BZ has the second and fourth moments of the uniform law on the sphere of
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
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.mechanisms.local.randomizers import cap_randomizers

# Reports of a strategy matrix.


@dataclass(frozen=True)
class SquaredError:
    """The law of the total squared error T of one collection, as far as it is known.

    Attributes
    ----------
    mean, variance
        E T and Var T, exactly.
    scale
        At least the largest eigenvalue of CΣ, the scale of the upper tail were e Gaussian (T would be a sum of the
        eigenvalues times independent χ²₁), plus half of the largest zᵀCz of a single user. A quarter is enough for the
        jumps themselves (``mechanisms/local/simulate.py``); the other quarter is for the products of a jump with the
        rest of e.
    """

    mean: float
    variance: float
    scale: float

    @property
    def relative(self) -> SquaredError:
        """The law of T over its expectation; all zero where that is zero."""
        if self.mean <= 0:
            return SquaredError(0.0, 0.0, 0.0)
        return SquaredError(1.0, self.variance / self.mean**2, self.scale / self.mean)


@dataclass(frozen=True)
class ErrorLaw:
    """The terms that each user type adds to the law of the squared error of a strategy on a workload.

    Attributes
    ----------
    centred_gram
        C.
    variance
        E[zᵀCz | u], (n,): the exact variance per user.
    excess
        Var[zᵀCz | u] − 2 tr[(CΣ_u)²], (n,).
    jump
        The largest zᵀCz that a user of this type can add, or more, (n,).
    covariance
        x ↦ Σ = Σ_u x_uΣ_u, (n, n).
    """

    centred_gram: FloatArray
    variance: FloatArray
    excess: FloatArray
    jump: FloatArray
    covariance: Callable[[FloatArray], FloatArray]

    def on(self, x: FloatArray) -> SquaredError:
        """The law of T where x_u users are of type u."""
        mean = float(x @ self.variance)
        if mean <= 0:
            return SquaredError(0.0, 0.0, 0.0)
        A = self.centred_gram @ self.covariance(x) / mean  # eigenvalues in [0, 1], of sum 1
        squared = A @ A
        variance = 2.0 * float(np.sum(A * A.T)) * mean**2 + float(x @ self.excess)
        fourth = squared @ squared
        eighth = fourth @ fourth
        # (Σλ¹⁶)^{1/16} is above the largest eigenvalue, by n^{1/16} at most, and costs no decomposition.
        largest = max(float(np.sum(eighth * eighth.T)), 0.0) ** (1 / 16) * mean
        jump = float(self.jump[x > 0].max(initial=0.0))
        return SquaredError(mean, max(variance, 0.0), largest + 0.5 * jump)


def matrix_error_law(
    centred_gram: FloatArray, strategy: FloatArray, reconstruction: FloatArray, variance: FloatArray
) -> ErrorLaw:
    """The law for an explicit Q (m × n) and its B (n × m), the exact variances being known."""
    C, B, Q = centred_gram, reconstruction, strategy
    CB, own = C @ B, np.diagonal(C)
    norms = np.einsum("uo,uo->o", B, CB)
    squares = np.maximum(norms[:, None] - 2.0 * CB.T + own, 0.0)  # zᵀCz by output and type
    fourth_moment = np.einsum("ou,ou->u", Q, squares**2)
    jump = np.where(Q > 0, squares, 0.0).max(axis=0)
    # tr[(CΣ_u)²], Σ_u = Σ_o Q_ou b_ob_oᵀ − p_up_uᵀ
    spread = _pair_moments(C, Q, B, CB) - 2.0 * np.einsum("ou,uo->u", Q, CB**2) + own**2
    excess = fourth_moment - variance**2 - 2.0 * spread

    def covariance(x: FloatArray) -> FloatArray:
        together = (B * (Q @ x)) @ B.T
        return np.asarray(together - centred_diagonal(x))

    return ErrorLaw(C, variance, excess, jump, covariance)


def _pair_moments(C: FloatArray, Q: FloatArray, B: FloatArray, CB: FloatArray) -> FloatArray:
    """tr[(CS_u)²], S_u = Σ_o Q_ou b_ob_oᵀ, for the types u of the columns of Q.

    By the matrices S_u (n × n) where outputs are many, by the products b_oᵀCb_o' (m × m) where they are few.
    """
    (m, types), n = Q.shape, len(C)
    blocks = [slice(start, start + 1024) for start in range(0, m, 1024)]
    if types * n * n < m * (n + types):
        total = np.empty(types)
        for u in range(types):
            S = sum(((B[:, rows] * Q[rows, u]) @ B[:, rows].T for rows in blocks), np.zeros((n, n)))
            CS = C @ S
            total[u] = np.sum(CS * CS.T)
        return total
    total = np.zeros(types)
    for rows in blocks:
        products = B[:, rows].T @ CB
        total += np.einsum("ou,ou->u", Q[rows], (products * products) @ Q)
    return total


def centred_diagonal(x: FloatArray) -> FloatArray:
    """P·Diag(x)·P = Σ_u x_u p_up_uᵀ."""
    n = len(x)
    return np.asarray(np.diag(x) - (x[:, None] + x) / n + x.sum() / n**2)


@dataclass(frozen=True)
class GramSums:
    """The sums over the entries of C (C1 = 0) that moments of uniform random sets of types are made of, by type u.

    O are the types other than u, A = C_OO, c = C_Ou, and r the sums of the rows of A without its diagonal:
    r_j = −c_j − A_jj, because the rows of C sum to zero.
    """

    own: FloatArray  # C_uu
    trace: FloatArray  # tr A
    diagonal: FloatArray  # Σ_j A_jj²
    off: FloatArray  # Σ_{j≠l} A_jl²
    cc: FloatArray  # Σ_j c_j²
    ca: FloatArray  # Σ_j c_jA_jj

    @classmethod
    def of(cls, centred_gram: FloatArray) -> GramSums:
        """The sums of one C, in n² operations."""
        C = centred_gram
        own = np.diagonal(C).copy()
        rows = np.einsum("uv,uv->u", C, C)
        diagonal = np.sum(own**2) - own**2
        off = np.sum(rows) - 2.0 * rows + own**2 - diagonal
        return cls(own, np.sum(own) - own, diagonal, off, rows - own**2, C @ own - own**2)

    def mean_square(
        self, chance: FloatArray, k: FloatArray, alpha: FloatArray, beta: FloatArray, gamma: FloatArray
    ) -> FloatArray:
        """Σ chance·E[(αX + βY + γC_uu)²] for each type u, X = 1_RᵀA1_R, Y = cᵀ1_R, R a uniform set of k other types.

        The arguments are arrays over the sizes. The expectation of a product of indicators is ρ_j, j being the number
        of different types in it; each square falls apart into the sums above, and the sizes are summed first.
        """
        t, D, S, u = self.trace, self.diagonal, self.off, self.own
        r1, r2, r3, r4 = _inclusions(k, len(u) - 1)
        xx, xy, yy = chance * alpha**2, 2.0 * chance * alpha * beta, chance * beta**2
        xu, yu, uu = 2.0 * chance * alpha * gamma, 2.0 * chance * beta * gamma, chance * gamma**2
        total = u - t  # Σ_{j≠l} A_jl
        rr, rc, ra = self.cc + 2.0 * self.ca + D, -self.cc - self.ca, -self.ca - D  # Σ r_j², Σ r_jc_j, Σ r_jA_jj
        quartic = (xx @ (r1 - r2)) * D + (xx @ r2) * t**2 + 4.0 * (xx @ (r2 - r3)) * ra + 2.0 * (xx @ r3) * t * total
        quartic += 2.0 * (xx @ (r2 - 2.0 * r3 + r4)) * S + 4.0 * (xx @ (r3 - r4)) * rr + (xx @ r4) * total**2
        cubic = (xy @ (r1 - r2)) * self.ca - (xy @ r2) * t * u + 2.0 * (xy @ (r2 - r3)) * rc - (xy @ r3) * total * u
        quadratic = (yy @ (r1 - r2)) * self.cc + (yy @ r2 - yu @ r1 + uu.sum()) * u**2
        return np.asarray(quartic + cubic + quadratic + (xu @ r1) * t * u + (xu @ r2) * total * u)


def _inclusions(k: FloatArray, n: int) -> list[FloatArray]:
    """ρ_1 … ρ_4: the chance that j given types, of n, are all in a uniform set of k."""
    rho = [np.ones_like(k)]
    for j in range(4):
        rho.append(rho[-1] * np.maximum(k - j, 0.0) / max(n - j, 1))
    return rho[1:]


# Points with noise.

LAPLACE_KURTOSIS = 6.0
# The chance that a user exceeds what is called the largest jump of Laplace noise.
JUMP_CHANCE = 1e-9


def no_error(centred_gram: FloatArray) -> ErrorLaw:
    """Return the law of a workload without queries, or whose answers are the same for all users."""
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
    moment = cap_randomizers.second_moment(d, epsilon)
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
    radius = cap_randomizers.half_sphere_radius(d, epsilon) * math.sqrt(_largest_eigenvalue(M))
    jump = (radius + np.sqrt(np.maximum(alpha, 0.0))) ** 2
    return ErrorLaw(centred_gram, variance, excess, jump, covariance)


def laplace_jump(M: FloatArray, scale: float) -> float:
    """Return a level that ηᵀMη of one user exceeds with a chance of at most ``JUMP_CHANCE``, derived in the module."""
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
