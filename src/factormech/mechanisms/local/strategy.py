r"""A strategy matrix, its optimal reconstruction, and the exact variance of the workload answers it gives.

The workload factorization mechanism (McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020, Definition 3.2): one user
of type u reports output o with probability Q_ou. From the counts y of the reports of N users the answers Wx
are estimated without bias by Vy, VQ = W. For the V of least average variance (McKenna, Maity, Mazumdar & Miklau, PVLDB
13(11), 2020, Theorem 3.10), V = WX⁺QᵀD⁻¹ with X = QᵀD⁻¹Q and D = Diag(Q1).

**The centred form.** The rows of Q sum to d = Q1 and its columns to 1, so X1 = 1. Write Q = Q_c + d1ᵀ/n; then Q_c1 = 0,
1ᵀQ_c = 0, and X = X_c + 11ᵀ/n with X_c = Q_cᵀD⁻¹Q_c ⟂ 1. Substituting,

.. math:: V e_o = \tfrac1n W\mathbf 1 + W b_o, \qquad b_o = X_c^+ Q_c^\top e_o / d_o \perp \mathbf 1 ,

and the variance that one user of type u adds, summed over the queries (Theorem 3.4), is

.. math:: \sum_o Q_{ou} \lVert V e_o\rVert^2 - \lVert W e_u\rVert^2 = \sum_o Q_{ou}\, b_o^\top C b_o - C_{uu},
          \qquad C = PGP,\; P = I - \mathbf{11}^\top/n .

The workload enters only through C, the number of users being known exactly, and the two large terms ‖W1‖²/n² cancel
before they are ever computed: at small ε the eigenvalues of X_c are of the order (ε/n)², which the entries of X, of
order 1/n, would drown.

**Other priors.** The V of least variance averaged under a prior x of the user types has d = Qx in place of Q1, and in
the centred form Q = Q_c + d1ᵀ, so that Q_cx = 0 and Q_cᵀD⁻¹d = 0. The vectors (X_c + 11ᵀ)⁻¹Q_cᵀe_o/d_o estimate
I − x1ᵀ, the difference from the prior, and their entries sum to zero. Moved by what is public,
B = (X_c + 11ᵀ)⁻¹Q_cᵀD⁻¹ + (x − 1/n)1ᵀ has BQ = P, and the second form of the variance holds of any such B; for x = 1/n
it is the B above. A strategy of least *worst-case* variance needs the prior that is hardest for it (minimax: the
variance is linear in x and convex in Q and QᵀV).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
import scipy.linalg

from factormech.arrays import FloatArray, IntArray, check_epsilon
from factormech.errors import BadValue
from factormech.mechanisms.local.error_law import ErrorLaw, matrix_error_law
from factormech.mechanisms.local.noisy_columns import relative_miss
from factormech.mechanisms.local.reports import ReportTree, check_simulation
from factormech.privacy.guarantee import VERIFIED, Guarantee, verify_ldp

# VQ = W must hold to this relative error in Frobenius norm, else the workload is refused.
RESIDUAL_LIMIT = 1e-8


@dataclass(frozen=True)
class Evaluation:
    """The exact error of a strategy on a workload.

    Attributes
    ----------
    variance
        For each user type, the variance of the estimated answers that one such user adds, summed over the queries.
    residual
        ‖VQ − W‖_F / ‖WP‖_F as computed from the matrices used. Above ``RESIDUAL_LIMIT`` the workload is outside the
        strategy's row space, and ``variance`` is not a number.
    privacy_loss
        A rigorous upper bound of the privacy loss of the strategy, at most the promised ε.
    outputs
        The number m of outputs.
    """

    variance: FloatArray
    residual: float
    privacy_loss: float
    outputs: int

    @property
    def answered(self) -> bool:
        """Whether the workload lies in the row space of the strategy."""
        return self.residual <= RESIDUAL_LIMIT

    @property
    def log2_outputs(self) -> float:
        """Bits of a report; NaN where reports are real numbers."""
        return math.log2(self.outputs) if self.outputs else math.nan

    @property
    def worst(self) -> float:
        """Worst-case variance per user (Corollary 3.5 with N = 1)."""
        return float(self.variance.max())

    @property
    def average(self) -> float:
        """Average-case variance per user (Corollary 3.6 with N = 1)."""
        return float(self.variance.mean())

    def on(self, x: FloatArray) -> float:
        """Total variance of the answers on the data vector ``x`` (Theorem 3.4)."""
        return float(x @ self.variance)

    @property
    def refusal(self) -> str:
        """The reason to show where the workload cannot be answered."""
        return f"workload outside the strategy's row space: relative residual {self.residual:.3g}"


class Strategy(Protocol):
    """The protocol of a local mechanism: everything that its strategy answers."""

    @property
    def epsilon(self) -> float: ...

    @property
    def domain_size(self) -> int: ...

    @property
    def outputs(self) -> int: ...

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one report: a user's type is exchanged for any other."""
        ...

    def evaluate(self, centred_gram: FloatArray) -> Evaluation:
        """The exact error on the workload with this centred Gram matrix PGP."""
        ...


@runtime_checkable
class SimulatedStrategy(Strategy, Protocol):
    """A strategy whose collections can be simulated: seeded experiments, never private releases."""

    def simulation_refusal(self, users: int) -> str:
        """Why that many users cannot be simulated, or nothing."""
        ...

    def simulate_estimates(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        """Estimates of the centred data vector from the reports of ``counts`` users by type, (types, trials).

        The estimate of the data vector itself is this plus N/n, the number of users being public.
        """
        ...

    def error_law(self, centred_gram: FloatArray) -> ErrorLaw:
        """Mean and variance of the squared error on the workload with this centred Gram matrix."""
        ...


class StrategyMatrix:
    """An ε-LDP strategy given by its matrix Q (outputs × user types), verified as it is made.

    Outputs that never occur are dropped. What does not depend on the workload is computed once and kept.

    ``prior`` is what the reconstruction is best for, a distribution over the user types; the uniform one if ``None``.
    It changes variances alone: the estimates are unbiased for every data vector.
    """

    def __init__(self, matrix: FloatArray, epsilon: float, prior: FloatArray | None = None) -> None:
        Q = np.ascontiguousarray(matrix, dtype=float)
        self.epsilon = check_epsilon(epsilon)
        self.privacy_loss = verify_ldp(Q, epsilon)
        used = Q.any(axis=1)
        self.matrix = Q if used.all() else Q[used]
        self.matrix.setflags(write=False)
        self.prior = _checked_prior(prior, self.domain_size)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.outputs} outputs × {self.domain_size} user types, ε = {self.epsilon:g}>"

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, ground=VERIFIED)

    @property
    def outputs(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def domain_size(self) -> int:
        return int(self.matrix.shape[1])

    @cached_property
    def frequencies(self) -> FloatArray:
        """d = nQx, (m,): how often each output occurs under the prior, times n."""
        return np.asarray(self.domain_size * (self.matrix @ self.prior))

    @cached_property
    def centred(self) -> FloatArray:
        """Q_c = Q − d1ᵀ/n: what the outputs say beyond their own frequency."""
        x = self.prior[:, None]
        Q_c = self.matrix - self.matrix @ x
        return np.asarray(Q_c - Q_c @ x)  # the rounding of the mean matters at small ε

    @cached_property
    def information(self) -> FloatArray:
        """X_c = Q_cᵀD⁻¹Q_c, (n, n)."""
        Y = self.centred / np.sqrt(self.frequencies[:, None])
        return np.asarray(Y.T @ Y)

    @cached_property
    def reconstruction(self) -> FloatArray:
        """B, (n, m), with BQ = P: the centred data vector is estimated by By, without bias on the row space."""
        d = self.frequencies
        B = _pseudo_solve(self.information, self.centred.T / d)
        # Bd = 0, as Q_cᵀ1 = 0; its rounding, magnified by the inverse of X_c at small ε, would bias the estimates.
        B -= (B @ d / d.sum())[:, None]
        B -= np.outer(self.prior, B.sum(axis=0))  # 1ᵀB = 0; the prior is invisible to Q_c
        return np.asarray(B + (self.prior - 1.0 / self.domain_size)[:, None])

    @cached_property
    def defect(self) -> FloatArray:
        """BQ − P, (n, n): zero but for rounding where every workload can be answered."""
        n = self.domain_size
        E = self.reconstruction @ self.matrix - np.eye(n) + 1.0 / n
        return np.asarray(E)

    def residual(self, centred_gram: FloatArray) -> float:
        """‖W(BQ − P)‖_F / ‖WP‖_F, from the B and Q in use."""
        E = self.defect
        bound = float(np.linalg.norm(E))
        if bound <= RESIDUAL_LIMIT:  # ‖WP E‖ ≤ ‖WP‖·‖E‖ (BQ maps into the complement of 1, so W E = WP E)
            return bound
        return relative_miss(centred_gram, E)

    def evaluate(self, centred_gram: FloatArray) -> Evaluation:
        """The exact error on the workload with this centred Gram matrix PGP; see the module's derivation."""
        C, B, Q = centred_gram, self.reconstruction, self.matrix
        if C.shape != (self.domain_size, self.domain_size):
            raise BadValue(
                "domain_size",
                C.shape[0],
                f"be the strategy's domain size, {self.domain_size}",
                "build the strategy for the workload's domain",
            )
        residual = self.residual(C)
        if residual > RESIDUAL_LIMIT:
            variance = np.full(self.domain_size, np.nan)
        else:
            second_moment = np.einsum("uo,uo->o", C @ B, B) @ Q
            variance = second_moment - np.diagonal(C)
            if variance.min() < 1e-3 * second_moment.max():
                variance = self._variance_without_cancellation(C)
        return Evaluation(variance, residual, self.privacy_loss, self.outputs)

    def _variance_without_cancellation(self, centred_gram: FloatArray) -> FloatArray:
        """Σ_o Q_ou ‖F(b_o − e_u + 1/n)‖², FᵀF = C: for large ε, where the variance is far below the second moment."""
        from scipy.spatial.distance import cdist

        n, B = self.domain_size, self.reconstruction
        values, vectors = np.linalg.eigh(centred_gram)
        F = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        variance = np.empty(n)
        for start in range(0, n, 128):
            block = slice(start, min(start + 128, n))
            distances = cdist((F @ B).T, (F - F.mean(axis=1, keepdims=True))[:, block].T, "sqeuclidean")
            variance[block] = np.einsum("ou,ou->u", self.matrix[:, block], distances)
        return variance

    # Simulation --------------------------------------------------------------------------------------------

    @cached_property
    def report_tree(self) -> ReportTree:
        """The sampler of sums of reports."""
        return ReportTree(self.matrix)

    def simulation_refusal(self, users: int) -> str:
        """Nothing: the cost does not depend on the number of users."""
        del users
        return ""

    def simulate_reports(self, counts: IntArray, trials: int, rng: np.random.Generator) -> IntArray:
        """y, (outputs, trials): how often each output is reported by ``counts`` users by type."""
        counts, trials = check_simulation(counts, self.domain_size, trials)
        return self.report_tree.sample(counts, trials, rng)

    def simulate_estimates(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        """By, (types, trials): centred estimates of the data vector from simulated reports."""
        return np.asarray(self.reconstruction @ self.simulate_reports(counts, trials, rng))

    def error_law(self, centred_gram: FloatArray) -> ErrorLaw:
        """Mean and variance of the squared error of a collection (see ``error_law.py``)."""
        variance = self.evaluate(centred_gram).variance
        return matrix_error_law(centred_gram, self.matrix, self.reconstruction, variance)

    def objective(self, centred_gram: FloatArray, total_squared: float) -> float:
        """L(Q) = tr(X⁺G) = ‖W1‖²/n + tr(X_c⁺C) (Theorem 3.11)."""
        evaluation = self.evaluate(centred_gram)
        n = self.domain_size
        return n * evaluation.average + float(np.trace(centred_gram)) + total_squared / n


def _checked_prior(prior: FloatArray | None, domain_size: int) -> FloatArray:
    if prior is None:
        return np.full(domain_size, 1.0 / domain_size)
    x = np.array(prior, dtype=float)
    good = x.shape == (domain_size,) and np.isfinite(x).all() and x.min() > 0.0 and abs(float(x.sum()) - 1.0) <= 1e-9
    if not good:
        rule = "be a distribution over the user types without zeros"
        raise BadValue("prior", f"array of shape {x.shape}, sum {x.sum():.6g}", rule, "mix in a little of the uniform")
    return np.asarray(x / x.sum())


def _pseudo_solve(X: FloatArray, right: FloatArray) -> FloatArray:
    """Z with XZ = right for symmetric X ⪰ 0 with Xx = 0 for one prior x, by Cholesky where its rank is n − 1.

    There 1ᵀZ = 0 if xᵀright = 0, as (X + 11ᵀ)x is a multiple of 1; elsewhere Z is X⁺·right, by eigenvectors.
    """
    n = len(X)
    scale = float(np.trace(X)) / max(n - 1, 1)
    if scale <= 0:
        return np.zeros_like(right)
    shifted = X / scale + 1.0 / n
    try:
        factor = scipy.linalg.cho_factor(shifted, lower=True, check_finite=False)
        norm = float(np.abs(shifted).sum(axis=0).max())
        reciprocal, _ = scipy.linalg.lapack.dpocon(factor[0], norm, uplo="L")
    except scipy.linalg.LinAlgError:
        reciprocal = 0.0
    if reciprocal > 1e4 * n * np.finfo(float).eps:
        solution = scipy.linalg.cho_solve(factor, right, check_finite=False)
        return np.asarray(solution / scale)
    values, vectors = np.linalg.eigh(X)
    keep = values > 8 * n * np.finfo(float).eps * values[-1]
    U = vectors[:, keep]
    return np.asarray(U @ ((U.T @ right) / values[keep, None]))
