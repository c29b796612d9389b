r"""The objective of the strategy optimisers and its gradient, from the Gram matrix alone.

With d = Q1, D = Diag(d), X = QᵀD⁻¹Q and G = WᵀW, the average variance per user of the best unbiased
reconstruction is (L − tr G)/n with

.. math:: L(Q) = \operatorname{tr}[X^{+} G]

if the rows of W lie in the row space of Q, and L = ∞ otherwise (Theorems 3.9 to 3.11 of McKenna, Maity,
Mazumdar & Miklau, PVLDB 13(11), 2020).

Centred form. Columns of Q sum to 1, so X1 = QᵀD⁻¹d = Qᵀ1 = 1: the constant vector is an eigenvector, and with
P = I − 11ᵀ/n

.. math:: L = \tfrac1n 1^\top G 1 + \operatorname{tr}[(PXP)^{+} PGP], \qquad
          PXP = Q_c^\top D^{-1} Q_c, \qquad Q_c = Q - \tfrac1n d 1^\top .

Q_c is computed before the product, so no digits cancel when ε is small. PGP = RRᵀ is factorised once, with
as many columns as it has rank: then L − 1ᵀG1/n = ‖C⁻¹R‖_F² for a Cholesky factor C of PXP (made definite
along 1), a sum of squares.

Gradient. For the rows q_o of Q, dX = Σ_o d(q_o q_oᵀ/d_o); with Y = X⁺GX⁺ and the range of X constant,
dL = −tr(Y dX) gives

.. math:: \nabla_{q_o} L = -\tfrac{2}{d_o} Y q_o + \tfrac{1}{d_o^2}(q_o^\top Y q_o)\, 1 .

With X⁺ = 11ᵀ/n + X_c⁺, X_c = PXP, the parts of Y along 1 come to a constant in each column u, which no step
back onto the column sums can feel, but which Algorithm 2 in its published form does:

.. math:: \nabla_{ou} L = \bigl(\text{the same with } Y_c = X_c^+ G X_c^+ \text{ and the centred } q_o\bigr)
          - \tfrac{1}{n^2} 1^\top G 1 - \tfrac{2}{n} (X_c^+ G 1)_u .

Precision. A strategy in single precision has L and its gradient in single precision, in half the time: centred, they
are right to some 10⁻⁶ and 10⁻⁵ of their size, which is enough to descend. Where X_c is too near a singular matrix for
that (:data:`SINGLE_CONDITION`), this one evaluation is done in double precision.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from scipy.linalg import blas, eigh, lapack

from factormech.arrays import FloatArray, RealArray, SingleArray
from factormech.errors import BadValue

# Eigenvalues of X this small, relative to the largest, are rounding: n of them at most, a few units each.
RANK_TOLERANCE = 8 * np.finfo(float).eps
# Where the least eigenvalue of X_c, as far as an estimate tells, is less than this share of their mean, singles lose
# too many digits of L: rounding moves it by some 10⁻⁷ of the largest.
SINGLE_CONDITION = 2e-3


class StrategyObjective:
    """L and its gradient for one workload, given by its Gram matrix G = WᵀW of shape (n, n).

    Attributes
    ----------
    domain_size
        n.
    constant
        1ᵀG1/n, the part of L that no strategy can change.
    trace
        tr G = ‖W‖_F².
    root
        R of shape (n, r) with RRᵀ = PGP, r its numerical rank: 0 if all queries are multiples of the total.
    """

    def __init__(self, gram: FloatArray) -> None:
        G = _checked_gram(gram)
        n: int = G.shape[0]
        self.domain_size = n
        self.constant: float = math.fsum(G.sum(axis=0)) / n
        self.trace = float(np.trace(G))
        self.root = _centred_root(G)
        # G1/n = R·tilt up to a multiple of 1, because the columns of R are orthogonal.
        self._tilt = self.root.T @ G.mean(axis=0) / np.sum(self.root**2, axis=0)

    def value(self, strategy: FloatArray) -> float:
        """L(Q) for a strategy Q of shape (m, n) whose columns sum to 1 and whose rows are not zero."""
        T = np.ascontiguousarray(strategy.T)
        return self.evaluate(T, np.empty_like(T), None)

    def value_and_gradient(self, strategy: FloatArray) -> tuple[float, FloatArray]:
        """L(Q) and ∇L(Q), the latter of the shape of Q, Fortran-ordered."""
        T = np.ascontiguousarray(strategy.T)
        gradient = np.empty_like(T)
        return self.evaluate(T, np.empty_like(T), gradient), gradient.T

    def evaluate(self, T: RealArray, scratch: RealArray, gradient: RealArray | None) -> float:
        """L of the strategy Tᵀ, and its gradient (transposed too) written into ``gradient`` if one is given.

        For optimisers that own their memory: T, ``scratch`` and ``gradient`` are C-ordered of shape (n, m), all of
        double or all of single precision; scratch is overwritten. Where L = ∞ the gradient is left undefined.
        """
        if self.root.shape[1] == 0:
            if gradient is not None:
                gradient[...] = -self.constant / self.domain_size
            return self.constant
        evaluated = self._evaluate_in_single if T.dtype == np.float32 else self._evaluate
        return evaluated(T, scratch, gradient)

    def _evaluate(self, T: FloatArray, B: FloatArray, gradient: FloatArray | None) -> float:
        """In double precision; B is the scratch."""
        from factormech.mechanisms.local import column_kernels

        d = np.zeros(T.shape[1])
        column_kernels.add_lines(T, d)
        column_kernels.centre(T, d / self.domain_size, 1.0 / np.sqrt(d), B)
        # The transposes are Fortran-ordered: BLAS reads them in place. Of X only the upper triangle is computed
        # and read, of Y the lower one: what OpenBLAS is faster with.
        X = blas.dsyrk(1.0, B.T, trans=1)
        square, Z = _solve(X, self.root)
        if gradient is not None and Z is not None:
            self._gradient(B, d, Z, gradient)
        return self.constant + square

    def _evaluate_in_single(self, T: SingleArray, B: SingleArray, gradient: SingleArray | None) -> float:
        """In single precision, but for what has as many numbers as Q has rows or columns."""
        from factormech.mechanisms.local import column_kernels

        d = np.zeros(T.shape[1])
        column_kernels.add_lines(T, d)
        column_kernels.centre(T, _single(d / self.domain_size), _single(1.0 / np.sqrt(d)), B)
        found = _solve_in_single(blas.ssyrk(1.0, B.T, trans=1), self._unit_root)
        if found is None:
            return self._evaluate_in_double(T, gradient)
        square, Z = found
        if gradient is not None:
            # Of R/‖R‖, so that Y_c = scale·(this Y), whatever the size of the workload and of the budget.
            size = _squares(Z)
            scale = size * self._size**2
            if 2 * Z.shape[1] < self.domain_size:  # few queries: less work by two thin products
                np.dot(Z, (Z.T / np.float32(size)) @ B, out=gradient)
            else:
                Y = blas.ssyrk(1.0 / size, Z, lower=1)
                blas.ssymm(1.0, Y, B.T, c=gradient.T, side=1, lower=1, overwrite_c=1)
            curvature = scale * np.einsum("uo,uo->o", B, gradient).astype(np.float64) / d
            along = self._along_ones(self._size * Z.astype(np.float64))
            column_kernels.combine(gradient, _single(-2.0 * scale / np.sqrt(d)), _single(curvature), _single(along))
        return self.constant + square * self._size**2

    def _evaluate_in_double(self, T: SingleArray, gradient: SingleArray | None) -> float:
        """In double precision, in memory of its own."""
        exact = T.astype(np.float64)
        wide = None if gradient is None else np.empty_like(exact)
        L = self._evaluate(exact, np.empty_like(exact), wide)
        if gradient is not None and wide is not None and math.isfinite(L):
            gradient[...] = wide
        return L

    @cached_property
    def _size(self) -> float:
        return math.sqrt(_squares(self.root))

    @cached_property
    def _unit_root(self) -> SingleArray:
        """R/‖R‖ in single precision."""
        return (self.root / self._size).astype(np.float32, order="F")

    def _gradient(self, B: FloatArray, d: FloatArray, Z: FloatArray, gradient: FloatArray) -> None:
        """Write ∇L from B = (D^{-1/2}Q_c)ᵀ, the row sums d and Z = X_c⁺R; Y_c = ZZᵀ."""
        from factormech.mechanisms.local import column_kernels

        Y = blas.dsyrk(1.0, Z, lower=1)
        blas.dsymm(1.0, Y, B.T, c=gradient.T, side=1, lower=1, overwrite_c=1)
        curvature = np.einsum("uo,uo->o", B, gradient) / d  # q_oᵀ Y_c q_o / d_o²
        column_kernels.combine(gradient, -2.0 / np.sqrt(d), curvature, self._along_ones(Z))

    def _along_ones(self, Z: FloatArray) -> FloatArray:
        """Return what the part of Y along 1 takes off each column u: 1ᵀG1/n² + 2(X_c⁺G1)_u/n."""
        tilted: FloatArray = self.constant / self.domain_size + 2.0 * (Z @ self._tilt)
        return tilted


def _single(values: FloatArray) -> SingleArray:
    return values.astype(np.float32)


def _solve(X: FloatArray, R: FloatArray) -> tuple[float, FloatArray | None]:
    """tr(Rᵀ X⁺ R) and X⁺R for X = PXP, given by its upper triangle; (∞, None) if R is not in its range."""
    n, scale = X.shape[0], float(np.trace(X))
    # Rows of Q that are constant up to rounding leave squares of rounding: no query can be told from them.
    if not n * RANK_TOLERANCE**2 < scale < math.inf:
        return math.inf, None
    # R has no part along 1, where X vanishes; any positive eigenvalue there makes X definite without
    # changing X⁺R.
    C, failed = lapack.dpotrf(X + scale / max(n - 1, 1) / n, overwrite_a=1)
    if failed or lapack.dpocon(C, scale, uplo="U")[0] < n * RANK_TOLERANCE:
        return _solve_singular(X, R)
    S = blas.dtrsm(1.0, C, R, trans_a=1)
    square = _squares(S)
    return square, blas.dtrsm(1.0, C, S, overwrite_b=1)


def _solve_in_single(X: SingleArray, R: SingleArray) -> tuple[float, SingleArray] | None:
    """Solve as ``_solve`` does, in single precision; None where that is not enough."""
    n, scale = X.shape[0], float(np.trace(X, dtype=np.float64))
    if not 0.0 < scale < math.inf:
        return None
    C, failed = lapack.spotrf(X + np.float32(scale / max(n - 1, 1) / n), overwrite_a=1)
    if failed or not lapack.spocon(C, scale / n, uplo="U")[0] >= SINGLE_CONDITION:
        return None
    S = blas.strsm(1.0, C, R, trans_a=1)
    square = _squares(S)
    return square, blas.strsm(1.0, C, S, overwrite_b=1)


def _squares(S: RealArray) -> float:
    """‖S‖_F², in the order of memory."""
    flat = S.ravel(order="K")
    return float(flat @ flat)


def _solve_singular(X: FloatArray, R: FloatArray) -> tuple[float, FloatArray | None]:
    """Solve as ``_solve`` does, through the eigenvalues of X.

    Eigenvalues below a cut are taken for zero. The part of R that lies there must then be rounding as well:
    if even the cut itself in their place would change the objective by a millionth, the queries are not in
    the row space.
    """
    values, U = eigh(X, lower=False)
    cut = float(X.shape[0] * RANK_TOLERANCE * values[-1])
    kept = values > cut
    U, roots = U[:, kept], np.sqrt(values[kept])
    A = U.T @ R
    lost = float(np.sum((R - U @ A) ** 2))
    S = A / roots[:, None]
    square = _squares(S)
    if lost > 1e-6 * cut * square:
        return math.inf, None
    return square, np.asfortranarray(U @ (S / roots[:, None]))


def _checked_gram(gram: FloatArray) -> FloatArray:
    """Return G as a square, finite, symmetric array of floats."""
    G = np.asarray(gram, dtype=np.float64)
    remedy = "give WᵀW, for example workload.gram()"
    if G.ndim != 2 or G.shape[0] != G.shape[1] or G.shape[0] == 0:
        raise BadValue("gram", G.shape, "be a square matrix", remedy)
    if not np.all(np.isfinite(G)):
        raise BadValue("gram", "an array with NaN or infinity", "be finite", remedy)
    size = float(np.abs(G).max())
    if float(np.abs(G - G.T).max()) > 1e-10 * size:
        raise BadValue("gram", "an asymmetric array", "be symmetric", remedy)
    return G


def _centred_root(G: FloatArray) -> FloatArray:
    """R of full column rank with RRᵀ = PGP up to rounding."""
    n = G.shape[0]
    means = G.mean(axis=0)
    centred = G - means - means[:, None] + means.mean()
    values, U = eigh(centred)
    # Rounding in G itself, before centring, is what the small eigenvalues have to be told from.
    noise = n * RANK_TOLERANCE * float(np.abs(G).sum(axis=0).max())
    if values[0] < -(noise + 1e-10 * abs(values[-1])):
        least = float(values[0])
        raise BadValue("gram", f"eigenvalue {least:.3g}", "be positive semidefinite", "give WᵀW")
    kept = values > noise
    R = U[:, kept] * np.sqrt(values[kept])
    R -= R.mean(axis=0)
    return np.asfortranarray(R)
