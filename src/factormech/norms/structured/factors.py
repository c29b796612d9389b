r"""The optimal factors of prefix sums and of ranges, as what they do to vectors: O(n · shifts) a column.

Roots of the tridiagonal T are sums of resolvents (:mod:`factormech.norms.structured.powers`), and a resolvent is one
elimination along a chain, D_c^{1/2} L_s⁻¹ D_c^{1/2}. Of the two ways to write each factor, the ones below difference
the argument before the chain smooths it, so that differences cost it no digits.

Prefix, with B = W⁻¹ the backward difference, L_s = Bᵀ D_q⁻¹ B + s D_w, and K_s = B D_w⁻¹ Bᵀ + s D_q (the same chain
read from the other end with q and w exchanged), if t^{−1/4} ≈ Σ ω/(t + s) and t^{−3/4} ≈ Σ ω'/(t + s'):

.. math:: R = Σ ω L_s^{-1} D_w^{1/2}, \quad A = Σ ω' D_w^{1/2} L_{s'}^{-1} B^T D_q^{-1}, \quad
          A^T = Σ ω' K_{s'}^{-1} B D_w^{-1/2} .

Ranges, with N the Laplacian of the path over n + 1, WᵀW = N⁻¹ and L_s = N + s D_q:

.. math:: R = W N Σ ω' L_{s'}^{-1} D_q^{1/2}, \qquad A = Σ ω D_q^{1/2} L_s^{-1} .

If the two rules err by δ and δ' relatively, RA − W is W times a function of the spectrum below δ + δ' + δδ'.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, check_dense_size
from factormech.errors import BadValue
from factormech.norms.structured.chain import Chain, in_lanes
from factormech.norms.structured.elliptic import ResolventSum
from factormech.norms.structured.powers import inverse_power

TOLERANCE = 1e-12
Map = Callable[[FloatArray], FloatArray]


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
    from factormech.norms.structured import chain_kernels

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
