r"""The law of the squared error of a collection: its exact mean and variance, and the scale of its upper tail.

Users i report independently, and with report o a user of type u adds z = b_o − p_u to the error e = By − Px of the
estimated centred data vector (notation of ``strategy.py``; p_u = e_u − 1/n). The squared error of the workload's
answers is T = eᵀCe, a quadratic form in a sum of independent vectors of mean zero and covariances Σ_u. Expanding it
into terms of one user and of pairs of users, which are uncorrelated,

.. math:: \operatorname{E} T = \sum_u x_u \operatorname{E}[z^\top C z \mid u], \qquad
          \operatorname{Var} T = 2\operatorname{tr}\bigl[(C\Sigma)^2\bigr] + \sum_u x_u \Bigl(
          \operatorname{Var}[z^\top C z \mid u] - 2\operatorname{tr}\bigl[(C\Sigma_u)^2\bigr]\Bigr), \qquad
          \Sigma = \sum_u x_u\Sigma_u .

The first term of the variance is that of a Gaussian e; the rest, the *excess*, is smaller by the number of users.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray


@dataclass(frozen=True)
class SquaredError:
    """What is known of the total squared error T of one collection.

    Attributes
    ----------
    mean, variance
        E T and Var T, exactly.
    scale
        At least the largest eigenvalue of CΣ, the scale of the upper tail were e Gaussian (T would be a sum of the
        eigenvalues times independent χ²₁), plus half of the largest zᵀCz of a single user. A quarter is enough for the
        jumps themselves (``measure/tails.py``); the other quarter is for the products of a jump with the rest of e.
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
    """What each user type adds to the law of the squared error of a strategy on a workload.

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
