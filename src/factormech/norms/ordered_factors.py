r"""Factors of prefix sums and ranges: the optimal ones, and the square root and the binary tree.

**The optimal factors.** They are products with vectors, O(n · shifts) a column. Roots of the tridiagonal T are sums of
resolvents (:mod:`factormech.norms.resolvents`), and a resolvent is one elimination along a chain, D_c^{1/2} L_s⁻¹
D_c^{1/2}. Of the two ways to write each factor, the ones below difference the argument before the chain smooths it,
so that differences cost it no digits.

Prefix, with B = W⁻¹ the backward difference, L_s = Bᵀ D_q⁻¹ B + s D_w, and K_s = B D_w⁻¹ Bᵀ + s D_q (the same chain
read from the other end with q and w exchanged), if t^{−1/4} ≈ Σ ω/(t + s) and t^{−3/4} ≈ Σ ω'/(t + s'):

.. math:: R = Σ ω L_s^{-1} D_w^{1/2}, \quad A = Σ ω' D_w^{1/2} L_{s'}^{-1} B^T D_q^{-1}, \quad
          A^T = Σ ω' K_{s'}^{-1} B D_w^{-1/2} .

Ranges, with N the Laplacian of the path over n + 1, WᵀW = N⁻¹ and L_s = N + s D_q:

.. math:: R = W N Σ ω' L_{s'}^{-1} D_q^{1/2}, \qquad A = Σ ω D_q^{1/2} L_s^{-1} .

If the two rules err by δ and δ' relatively, RA − W is W times a function of the spectrum below δ + δ' + δδ'.

**The weights.** The fixed point is found from a coarse domain to a fine one, with Anderson's acceleration. The dual
of γ₍ₚ₎ is max ‖D_√w W D_√q‖_* over the weights; its fixed point is q_j ∝ q_j a_j and w_i ∝ (w_i r_i)^{(p−2)/p}. Its
steps are those of the logarithms of the weights. Steps of q alone never lower the dual; an accelerated step that
lowers it is taken back, and a plain step follows.

Scaling all of q by t divides every a by √t: along smooth directions twice the residual is Newton's step, and along
rough ones any step is small. So it is the roughness, the corners at both ends, that a coarse start must get right, and
:func:`refined` does: at a fixed distance from an end the weights of different domains are proportional.

**Known factorizations** of the prefix workload have exact errors and bounds in closed form.

The error of order p of W = RA is n^{−1/p} (Σ_i ‖R_i‖^p)^{1/p} max_j ‖A_j‖, at least γ₍ₚ₎(W).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, check_dense_size, check_positive_integer
from factormech.errors import BadValue, UnknownName
from factormech.norms.resolvents import Chain, ResolventSum, in_lanes, inverse_power
from factormech.numerics.descent import Anderson

# The factors.

TOLERANCE = 1e-12
Map = Callable[[FloatArray], FloatArray]


def check_order(p: float) -> float:
    """p as a float of at least 2."""
    good = isinstance(p, (int, float, np.integer, np.floating)) and not isinstance(p, bool) and p >= 2
    if not good:
        raise BadValue("p", p, "be a number of at least 2, or infinite", "give 2 for γ_F, inf for γ₂")
    return float(p)


@dataclass(frozen=True)
class ChainFactor:
    """A factor whose two products run along a chain; both take and give (length, columns) or (length,)."""

    shape: tuple[int, int]
    forward: Map
    backward: Map

    def apply(self, vectors: FloatArray) -> FloatArray:
        """The factor times each column."""
        return self._columns(self.forward, vectors, self.shape[1])

    def apply_transposed(self, vectors: FloatArray) -> FloatArray:
        """The transpose times each column."""
        return self._columns(self.backward, vectors, self.shape[0])

    def dense(self) -> FloatArray:
        """The factor as a matrix."""
        check_dense_size("factor", *self.shape)
        return self.apply(np.eye(self.shape[1]))

    @staticmethod
    def _columns(product: Map, vectors: FloatArray, length: int) -> FloatArray:
        values = np.asarray(vectors, dtype=np.float64)
        if values.ndim not in (1, 2) or values.shape[0] != length:
            rule = f"be ({length},) or ({length}, columns)"
            raise BadValue("shape of vectors", values.shape, rule, "give one number for each row")
        return product(values[:, None])[:, 0] if values.ndim == 1 else product(values)


def resolvents(chain: Chain, rule: ResolventSum, vectors: FloatArray) -> FloatArray:
    """Σ_k ω_k L_{s_k}⁻¹ times each column of (n, columns)."""
    from factormech.norms import chain_kernels

    rows = np.ascontiguousarray(vectors.T)
    found = np.zeros_like(rows)
    chain_kernels.add_solutions(chain.resistances, chain.leaks, chain.end, *in_lanes(rule), rows, found)
    return found.T


def prefix_factors(w: FloatArray, q: FloatArray) -> tuple[ChainFactor, ChainFactor, float]:
    """R, A and the error of the two rules together, for the weights of the dual of :mod:`.prefix`."""
    n = q.size
    root, columns = np.sqrt(w)[:, None], q[:, None]
    chain = Chain(q, w)
    reversed_chain = Chain(np.ascontiguousarray(w[::-1]), np.ascontiguousarray(q[::-1]))
    quarter, three_quarters, error = _rules(chain)

    def backward(y: FloatArray) -> FloatArray:
        return resolvents(reversed_chain, three_quarters, _difference(y / root)[::-1])[::-1]

    left = ChainFactor(
        (n, n), lambda z: resolvents(chain, quarter, root * z), lambda y: root * resolvents(chain, quarter, y)
    )
    right = ChainFactor(
        (n, n), lambda x: root * resolvents(chain, three_quarters, _difference_transposed(x / columns)), backward
    )
    return left, right, error


def ranges_factors(q: FloatArray) -> tuple[ChainFactor, ChainFactor, float]:
    """R, A and the error of the two rules together, for the weights of the dual of :mod:`.ranges`."""
    from factormech.workloads.ranges import AllRanges

    n = q.size
    root, W = np.sqrt(q)[:, None], AllRanges("all_ranges", n)
    chain = Chain(np.full(n, n + 1.0), q, n + 1.0)
    quarter, three_quarters, error = _rules(chain)

    def laplacian(y: FloatArray) -> FloatArray:
        steps = np.diff(y, axis=0, prepend=0.0, append=0.0)
        return np.asarray((steps[:-1] - steps[1:]) / (n + 1.0))

    left = ChainFactor(
        (W.queries, n),
        lambda z: W.answer(laplacian(resolvents(chain, three_quarters, root * z))),
        lambda y: root * resolvents(chain, three_quarters, laplacian(W.adjoint(y))),
    )
    right = ChainFactor(
        (n, n), lambda x: root * resolvents(chain, quarter, x), lambda y: resolvents(chain, quarter, root * y)
    )
    return left, right, error


def _rules(chain: Chain) -> tuple[ResolventSum, ResolventSum, float]:
    lowest, highest = chain.spectrum()
    quarter = inverse_power(0.25, lowest, highest, TOLERANCE)
    three_quarters = inverse_power(0.75, lowest, highest, TOLERANCE)
    error = math.expm1(math.log1p(quarter.relative_error) + math.log1p(three_quarters.relative_error))
    return quarter, three_quarters, error


def _difference(y: FloatArray) -> FloatArray:
    """B y: y_i − y_{i−1}."""
    return np.diff(y, axis=0, prepend=0.0)


def _difference_transposed(y: FloatArray) -> FloatArray:
    """Bᵀ y: y_i − y_{i+1}."""
    return -np.diff(y, axis=0, append=0.0)


# The weights.

MEMORY = 9
# No optimal weight is near e^FLOOR of the largest: a wild step is cut here before floats overflow.
FLOOR = -60.0
COARSEST = 64
RATIO = 4


@dataclass(frozen=True)
class Ends:
    """The two ends that a problem proves for one choice of weights.

    Attributes
    ----------
    lower, upper
        Both ends, without their margins.
    step
        What the fixed point adds to the logarithms of the weights, by blocks end to end.
    """

    lower: float
    upper: float
    step: FloatArray


@dataclass(frozen=True)
class FixedPoint:
    """Logarithms of the best weights, after how many evaluations, and whether their gap is small enough."""

    logs: FloatArray
    iterations: int
    reached: bool


Evaluate = Callable[[FloatArray], Ends]


def accelerated(evaluate: Evaluate, logs: FloatArray, gap: float, iterations: int) -> FixedPoint:
    """Iterate until upper ≤ (1 + gap) lower, or ``iterations`` evaluations; the best point is returned."""
    best, best_gap = logs, np.inf
    safe, safe_step, safe_lower = logs, np.zeros_like(logs), -np.inf
    memory = Anderson(MEMORY)
    for done in range(1, iterations + 1):
        found = evaluate(logs)
        here = found.upper / found.lower - 1.0
        if here < best_gap:
            best, best_gap = logs, here
        if here <= gap:
            return FixedPoint(best, done, True)
        if found.lower < safe_lower * (1.0 - 0.1 * gap) and len(memory) > 1:
            memory.forget()
            logs = safe + 0.5 * safe_step
            continue
        safe, safe_step, safe_lower = logs, found.step, found.lower
        logs = memory.extrapolate(logs + found.step, found.step)
    return FixedPoint(best, iterations, False)


def levels(n: int) -> list[int]:
    """Sizes of the domains solved one after the other, the last being n."""
    sizes = [n]
    while sizes[0] > RATIO * COARSEST:
        sizes.insert(0, -(-sizes[0] // RATIO))
    return sizes


def refined(logs: FloatArray, n: int) -> FloatArray:
    """A start for n weights from the logarithms of fewer: stretched inside, kept at the ends, and blended between.

    The two agree at a sixteenth of the coarse domain by a constant factor, and the blend moves from one to the other
    between a quarter and four times that distance.
    """
    m = logs.size
    stretched = np.interp((np.arange(n) + 0.5) * (m / n) - 0.5, np.arange(m), logs)
    result: FloatArray = np.array(stretched)
    near, far = m / 64.0, m / 4.0
    reach, middle = int(far), m // 16
    blend = np.clip(np.log((np.arange(reach) + 0.5) / near) / np.log(far / near), 0.0, 1.0)
    blend = blend * blend * (3.0 - 2.0 * blend)
    for end in (slice(None), slice(None, None, -1)):
        kept = logs[end][:reach] + stretched[end][middle] - logs[end][middle]
        result[end][:reach] = (1.0 - blend) * kept + blend * stretched[end][:reach]
    return result


@dataclass(frozen=True)
class Classical:
    """A factorization by the squared norms of its rows r and columns a."""

    rows: FloatArray
    columns: FloatArray

    def error(self, p: float = math.inf) -> float:
        """Return the error of order p: 2 for the root of the mean square, infinite for the largest."""
        p = check_order(p)
        largest = float(self.rows.max())
        if math.isinf(p):
            spread = largest
        else:
            spread = largest * float(np.mean((self.rows / largest) ** (p / 2.0))) ** (2.0 / p)
        return math.sqrt(spread * float(self.columns.max()))


def identity(n: int) -> Classical:
    """R = W, A = I: noise on every count."""
    n = check_positive_integer("n", n)
    return Classical(np.arange(1.0, n + 1.0), np.ones(n))


def square_root(n: int) -> Classical:
    r"""R = A = W^{1/2}: Toeplitz, with the coefficients of (1 − z)^{−1/2}, c_0 = 1, c_t = c_{t−1}(2t − 1)/2t.

    Its largest error is Σ_{t<n} c_t² ≤ 1 + (0.5773 + ln n)/π, as c_t² ≤ 1/(πt) for t ≥ 1 (Fichtenberger, Henzinger &
    Upadhyay, ICML 2023; its mean square: Henzinger, Upadhyay & Upadhyay, SODA 2023).
    """
    sums = np.cumsum(square_root_coefficients(n) ** 2)
    return Classical(sums, sums[::-1].copy())


def square_root_coefficients(n: int) -> FloatArray:
    """c_0 … c_{n−1}."""
    n = check_positive_integer("n", n)
    t = np.arange(1.0, float(n))
    return np.concatenate([[1.0], np.cumprod((2.0 * t - 1.0) / (2.0 * t))])


def binary_tree(n: int) -> Classical:
    r"""A: the counts of all nodes of the binary tree over 2^h ≥ n leaves, the root included; R = W A⁺, least squares.

    W is read as the first n rows and columns of that of 2^h. For A every column has h + 1 ones. AᵀA is the sum over
    the levels ℓ of 2^ℓ times the projector on what is constant on blocks of 2^ℓ: with Haar's wavelets, its eigenvalue
    is 2^ℓ − 1 on those that split a block of 2^ℓ, and 2^{h+1} − 1 on the constant. A prefix of length i meets, at the
    level ℓ, one wavelet in part: with m = i mod 2^ℓ, its inner product squared is min(m, 2^ℓ − m)²/2^ℓ. So

    .. math:: r_i = \frac{i^2}{2^h (2^{h+1} - 1)} + \sum_{ℓ=1}^{h} \frac{\min(m, 2^ℓ - m)^2}{2^ℓ (2^ℓ - 1)} .
    """
    n = check_positive_integer("n", n)
    height = (n - 1).bit_length()
    i = np.arange(1, n + 1)
    rows = i.astype(np.float64) ** 2 / (2.0**height * (2.0 ** (height + 1) - 1.0))
    for level in range(1, height + 1):
        rest = i % 2**level
        part = np.minimum(rest, 2**level - rest).astype(np.float64)
        rows += part**2 / (2.0**level * (2.0**level - 1.0))
    return Classical(rows, np.full(n, height + 1.0))


CLASSICAL = {"square-root": square_root, "binary-tree": binary_tree, "identity": identity}


def classical(name: str, n: int) -> Classical:
    """The known factorization of this name."""
    if name not in CLASSICAL:
        raise UnknownName("factorization", name, CLASSICAL)
    return CLASSICAL[name](n)


def trace_bound(n: int) -> float:
    """‖W‖_*/n = (1/n) Σ_j 1/(2 sin((2j − 1)π/(4n + 2))): at most every γ₍ₚ₎ (equal weights in the dual)."""
    n = check_positive_integer("n", n)
    j = np.arange(1.0, n + 1.0)
    return float(np.sum(0.5 / np.sin((2.0 * j - 1.0) * np.pi / (4.0 * n + 2.0)))) / n
