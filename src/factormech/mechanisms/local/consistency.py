r"""Consistent data vectors: possible data nearest to an unbiased estimate, in the workload's own distance.

**The problem and its solution.** A local mechanism's estimate x̂ of the data vector is unbiased and often negative.
McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020, conclusion and full version) replace it by the solution of

.. math:: \min_{x \ge 0}\; (x-\hat x)^\top G\,(x-\hat x) = \lVert Wx - W\hat x\rVert^2, \qquad G = W^\top W,

a function of the reports alone, so it costs no privacy. Since the number of users N is public, 1ᵀx = N may be asked
too; where 1ᵀx̂ = N (as all estimates of this package can be had), x − x̂ ⟂ 1 and G matters through PGP only. Either way
the feasible set is convex and holds the truth, so the error ‖W(x − truth)‖ never exceeds ‖W(x̂ − truth)‖.

**The optimum.** x is optimal if and only if, with y = G(x − x̂) − ν1 (ν = 0 unless the total is fixed),

.. math:: x \ge 0, \quad y \ge 0, \quad x_i y_i = 0, \quad (\mathbf 1^\top x = N) .

**Block principal pivoting** (Portugal, Júdice & Vicente, Mathematics of Computation 63, 1994; many right-hand sides at
once as Kim & Park, SIAM Journal on Scientific Computing 33(6), 2011). A set F of free entries gives x and y by solving
y_F = 0, x_A = 0; all entries of the wrong sign change sides at once. When three such exchanges have not brought their
number below its least so far, single exchanges of the last wrong entry (Murty's rule) follow, which end for every
positive definite G. Where these take too long (or the total is fixed, which Murty's proof does not cover) the primal
active-set method of Lawson & Hanson (Solving Least Squares Problems, 1974) finishes: each of its steps lowers the
objective, so no set returns.

**Singular G.** The minimiser is then not unique, and pivoting may fail. A ridge of ``RIDGE`` times the mean of G's
diagonal is added, which picks (nearly) the minimiser nearest to x̂: ‖W(x − x̂)‖² is above its least value by at most
RIDGE·(tr G/n)·‖x* − x̂‖², x* being any minimiser. With a fixed total, a G that is singular on 1 alone (such as PGP)
needs none: adding a multiple of 11ᵀ changes the objective by a constant there.

**Few free entries.** The workload's own matrix then gives the optimum without the Gram matrix. The optimum is the one
above. :class:`NonNegative` needs G = WᵀW (m·n² products for a query matrix W of m rows) and its factors before it
begins. Where few entries of the optimum are positive the active-set method
(:mod:`factormech.mechanisms.local.active_set_kernels`) needs of G only their columns, made as they are freed, and one
triangle of their size that is kept up to date.

It is believed where the optimum is strict: yᵢ > 0 for all that is bound, and G_FF definite. Then no other x is optimal,
be G singular or not: all optima have one Wx, so one y, and with xᵢyᵢ = 0 they are zero outside F, where Wx determines
them. Any other estimate, and one that misses the optimality conditions, which are computed anew from x, W and b alone,
is solved by :class:`NonNegative`, with its ridge where G is singular.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from factormech.arrays import FloatArray
from factormech.errors import BadValue

# The problem and its solution.

BoolArray = npt.NDArray[np.bool_]

# Added to G over the mean of its diagonal where its reciprocal condition number is below LEAST_CONDITION.
RIDGE, LEAST_CONDITION = 1e-8, 1e-12
# A number is of the wrong sign if it is below zero by more than this share of the largest of its kind.
TOLERANCE = 1e-12
# Full exchanges without progress before single ones, and pivots before the active-set method.
PATIENCE, MOST_PIVOTS = 3, 100


@dataclass(frozen=True)
class Consistent:
    """Consistent data vectors and how they were found, one for each estimate.

    Attributes
    ----------
    values
        x, of the shape of the estimates; no entry is negative.
    pivots
        Linear systems solved for each estimate.
    fallbacks
        How many estimates the active-set method had to finish.
    violation
        The largest violation of the optimality conditions, relative to ‖Gx̂‖_∞ + ‖Gx‖_∞ and, for the total, to N.
    ridge
        What was added to the diagonal of G, in units of its mean; 0 unless G is singular.
    """

    values: FloatArray
    pivots: npt.NDArray[np.int64]
    fallbacks: int
    violation: float
    ridge: float


class NonNegative:
    """Weighted non-negative least squares for one Gram matrix: prepared once, solved for many estimates.

    Parameters
    ----------
    gram
        G, or PGP where only fixed totals are asked for, (n, n): symmetric positive semidefinite.
    fixed_total
        Whether solutions must have a given sum.
    """

    def __init__(self, gram: FloatArray, *, fixed_total: bool = False) -> None:
        G = _checked_gram(gram)
        n = len(G)
        unit = float(np.trace(G)) / n
        G = G / unit if unit > 0 else np.zeros_like(G)
        if fixed_total:
            G += 1.0 / n
        self.fixed_total = fixed_total
        self.ridge = RIDGE if _is_singular(G) else 0.0
        # In the ridge, too, x is compared with x̂: it pulls towards the estimate and not towards 0.
        np.einsum("ii->i", G)[:] += self.ridge
        self._gram = np.ascontiguousarray(G)

    @property
    def domain_size(self) -> int:
        return len(self._gram)

    def __call__(
        self, estimates: FloatArray, total: float | None = None, *, start: BoolArray | None = None
    ) -> Consistent:
        """The consistent data vectors nearest to the estimates.

        Parameters
        ----------
        estimates
            x̂, (n,) or (n, count).
        total
            N, where totals are fixed, and only there.
        start
            Entries believed positive, of the estimates' shape: a warm start. The solution does not depend on it.
        """
        columns = self._columns(estimates, total)
        B = self._gram @ columns
        free = np.zeros(columns.shape, dtype=bool) if start is None else np.array(start, bool).reshape(columns.shape)
        X, pivots, unfinished = self._pivot(B, free, total)
        for j in unfinished.tolist():
            X[:, j], more = self._active_set(B[:, j], total)
            pivots[j] += more
        X = np.maximum(X, 0.0)
        found = np.asarray(X.reshape(np.shape(estimates)))
        return Consistent(found, pivots, len(unfinished), self._violation(X, B, total), self.ridge)

    def _columns(self, estimates: FloatArray, total: float | None) -> FloatArray:
        found = np.asarray(estimates, dtype=float)
        n = self.domain_size
        if found.ndim not in (1, 2) or len(found) != n:
            remedy = "give one number for each user type"
            raise BadValue("shape of estimates", found.shape, f"be ({n},) or ({n}, count)", remedy)
        if not np.isfinite(found).all():
            raise BadValue("estimates", "not finite", "be finite numbers", "estimate them from reports first")
        if self.fixed_total != (total is not None) or (total is not None and not (np.isfinite(total) and total > 0)):
            rule = "be a finite number above 0" if self.fixed_total else "be left out"
            raise BadValue("total", total, rule, "say at the construction whether totals are fixed")
        return found.reshape(n, -1)

    # Block principal pivoting ------------------------------------------------------------------------------

    def _pivot(
        self, B: FloatArray, free: BoolArray, total: float | None
    ) -> tuple[FloatArray, npt.NDArray[np.int64], npt.NDArray[np.intp]]:
        """Pivot all columns in step, so that products with G are shared; those that do not end are returned."""
        count = B.shape[1]
        X = np.zeros_like(B)
        pivots = np.zeros(count, dtype=np.int64)
        best = (np.argmax(B, axis=0), np.arange(count))
        least = np.full(count, len(B) + 1)
        patience = np.full(count, PATIENCE)
        open_ = np.arange(count)
        while open_.size and pivots[open_[0]] < MOST_PIVOTS:
            if total is not None:  # users must be somewhere
                free[best] |= ~free.any(axis=0)
            X[:, open_], Y = self._basic(B[:, open_], free[:, open_], total)
            pivots[open_] += 1
            wrong = _wrong(X[:, open_], free[:, open_]) | _wrong(Y, ~free[:, open_], np.abs(B[:, open_]).max(axis=0))
            number = wrong.sum(axis=0)
            better = number < least[open_]
            least[open_] = np.minimum(least[open_], number)
            patience[open_] = np.where(better, PATIENCE, patience[open_] - 1)
            single = patience[open_] < 0
            wrong[:, single] = _last_only(wrong[:, single])
            free[:, open_] ^= wrong
            open_ = open_[number > 0]
        return X, pivots, open_

    def _basic(self, B: FloatArray, free: BoolArray, total: float | None) -> tuple[FloatArray, FloatArray]:
        """x with x = 0 outside ``free`` and y = 0 in it, and y, for every column."""
        X, nu = np.zeros_like(B), np.zeros(B.shape[1])
        alike: dict[bytes, list[int]] = {}
        for j in range(B.shape[1]):
            alike.setdefault(np.packbits(free[:, j]).tobytes(), []).append(j)
        for columns in alike.values():
            inside, at = np.flatnonzero(free[:, columns[0]]), np.array(columns)
            if inside.size:
                X[np.ix_(inside, at)], nu[at] = self._solve(inside, B[:, at], total)
        return X, self._gram @ X - B - nu

    def _solve(self, inside: npt.NDArray[np.intp], B: FloatArray, total: float | None) -> tuple[FloatArray, FloatArray]:
        """The free entries, if they are these (one at least), and the multipliers."""
        right = B[inside] if total is None else np.column_stack([B[inside], np.ones(len(inside))])
        solved = _posv(self._gram[np.ix_(inside, inside)], right)
        if total is None:
            return solved, np.zeros(B.shape[1])
        ones = solved[:, -1:]
        nu = (total - solved[:, :-1].sum(axis=0)) / ones.sum()
        return solved[:, :-1] + ones * nu, nu

    # The active-set method ---------------------------------------------------------------------------------

    def _active_set(self, b: FloatArray, total: float | None) -> tuple[FloatArray, int]:
        """Lawson & Hanson's method from the best single entry: the solution and the systems solved."""
        n = len(b)
        x, free, solves = np.zeros(n), np.zeros(n, dtype=bool), 0
        if total is not None:
            first = int(np.argmin(0.5 * np.diagonal(self._gram) * total - b))
            x[first], free[first] = total, True
        for _ in range(10 * n):
            z, Y = self._basic(b[:, None], free[:, None], total)
            x, free, more = self._feasible(x, z[:, 0], free, b, total)
            solves += 1 + more
            if more:
                _, Y = self._basic(b[:, None], free[:, None], total)
            y = np.where(free, 0.0, Y[:, 0])
            enters = int(np.argmin(y))
            if y[enters] >= -TOLERANCE * float(np.abs(b).max()):
                break
            free[enters] = True
        return x, solves

    def _feasible(
        self, x: FloatArray, z: FloatArray, free: BoolArray, b: FloatArray, total: float | None
    ) -> tuple[FloatArray, BoolArray, int]:
        """Walk from x towards z, dropping entries that would become negative, until a z is non-negative."""
        free, solves = free.copy(), 0
        while np.any(z[free] <= 0):
            blocking = np.flatnonzero(free & (z <= 0))
            steps = x[blocking] / np.maximum(x[blocking] - z[blocking], np.finfo(float).tiny)
            x = np.where(free, x + float(steps.min()) * (z - x), 0.0)
            free[blocking[steps <= steps.min()]] = False
            x[~free] = 0.0
            z = self._basic(b[:, None], free[:, None], total)[0][:, 0]
            solves += 1
        return z, free, solves

    def _violation(self, X: FloatArray, B: FloatArray, total: float | None) -> float:
        """Return the violation of the conditions of the optimum by the returned x, computed from them alone."""
        GX = self._gram @ X
        Y, free = GX - B, X > 0
        if total is not None:
            count = np.maximum(free.sum(axis=0), 1)
            Y -= np.where(free, Y, 0.0).sum(axis=0) / count
        scale = np.abs(B).max(axis=0) + np.abs(GX).max(axis=0) + np.finfo(float).tiny
        dual = np.where(free, np.abs(Y), np.maximum(-Y, 0.0)).max(axis=0) / scale
        missed = 0.0 if total is None else float(np.abs(X.sum(axis=0) / total - 1.0).max(initial=0.0))
        return max(float(dual.max(initial=0.0)), missed)


def _checked_gram(gram: Any) -> FloatArray:
    G = np.asarray(gram, dtype=float)
    remedy = "give workload.gram(), or workload.centred_gram() where totals are fixed"
    if G.ndim != 2 or G.shape[0] != G.shape[1] or not len(G):
        raise BadValue("shape of gram", G.shape, "be (n, n)", remedy)
    finite = bool(np.isfinite(G).all())
    if finite and np.array_equal(G, G.T):
        return G
    if not finite or not np.allclose(G, G.T, rtol=1e-9, atol=1e-9 * float(np.abs(G).max())):
        raise BadValue("gram", "not symmetric or not finite", "be a symmetric matrix", remedy)
    return np.asarray(0.5 * (G + G.T))


def _is_singular(G: FloatArray) -> bool:
    """Return whether G is not positive definite with a good margin."""
    factor, info = scipy.linalg.lapack.dpotrf(G, lower=1)
    if info != 0:
        return True
    reciprocal, _ = scipy.linalg.lapack.dpocon(factor, float(np.abs(G).sum(axis=0).max()), uplo="L")
    return bool(reciprocal < LEAST_CONDITION)


def _posv(G: FloatArray, right: FloatArray) -> FloatArray:
    """G⁻¹·right for positive definite G, which may be overwritten."""
    _, solved, info = scipy.linalg.lapack.dposv(G.T, right, lower=1, overwrite_a=1)
    if info != 0:  # definite with the ridge in exact arithmetic, not in this one
        solved = np.linalg.lstsq(G, right, rcond=None)[0]
    return np.asarray(solved)


def _wrong(values: FloatArray, where: BoolArray, least_scale: FloatArray | float = 0.0) -> BoolArray:
    """Entries of the wrong sign, rounding aside."""
    scale = np.maximum(np.abs(values).max(axis=0), least_scale)
    return np.asarray(where & (values < -TOLERANCE * scale))


def _last_only(wrong: BoolArray) -> BoolArray:
    """Return a mask with the last true entry of each column alone."""
    rows = len(wrong) - 1 - np.argmax(wrong[::-1], axis=0)
    kept = np.zeros_like(wrong)
    columns = np.flatnonzero(wrong.any(axis=0))
    kept[rows[columns], columns] = True
    return kept


# Few free entries.

# Violations of the optimality conditions above this are not rounding.
WORST_VIOLATION = 1e-10


def nearest_consistent(matrix: Any, estimates: Any) -> Consistent:
    r"""The x ≥ 0 of least ‖Wx − Wx̂‖ for each estimate.

    Parameters
    ----------
    matrix
        W, (m, n).
    estimates
        x̂, (n,) or (n, count).
    """
    from factormech.mechanisms.local.active_set_kernels import nearest_of_each

    W, found = np.ascontiguousarray(matrix, dtype=float), np.asarray(estimates, dtype=float)
    if W.ndim != 2 or found.ndim not in (1, 2) or found.shape[0] != W.shape[1] or not W.size:
        rule = "be (m, n) and (n,), or (m, n) and (n, count)"
        raise BadValue("shapes of matrix and estimates", (W.shape, found.shape), rule, "give both of one workload")
    estimated = found.reshape(W.shape[1], -1)
    rows = np.zeros((estimated.shape[1], estimated.shape[0]))
    missed, pivots = nearest_of_each(W, np.ascontiguousarray(estimated.T), TOLERANCE, rows)
    X, done = rows.T, missed <= WORST_VIOLATION
    ridge = 0.0
    if not done.all():
        if not (np.isfinite(W).all() and np.isfinite(estimated).all()):
            remedy = "estimate them from reports first"
            raise BadValue("matrix or estimates", "not finite", "be finite numbers", remedy)
        rest = NonNegative(W.T @ W)(estimated[:, ~done])
        X[:, ~done], missed[~done], ridge = rest.values, rest.violation, rest.ridge
        pivots[~done] += rest.pivots
    worst = float(missed.max(initial=0.0))
    return Consistent(np.ascontiguousarray(X).reshape(found.shape), pivots, int((~done).sum()), worst, ridge)
