r"""Centred coordinates in which the information of staircase rows is computed, halved where the problem is symmetric.

**The coordinates.** Write b = e^ε − 1, π = n·(prior) (all ones for the uniform one), π_S = Σ_{u∈S} π_u. A row θ_S
v_S, v_S = 1 + b·1_S, has mass p_S = θ_S(n + bπ_S)/n, and with

.. math:: u_S = \frac{n\,v_S}{\pi^\top v_S} - \mathbf 1 = \beta_S\,\bigl(1_S - \tfrac{\pi_S}n\mathbf 1\bigr),
          \qquad \beta_S = \frac{bn}{n+b\pi_S},

the columns sum to one exactly where Σp_S = 1 and Σp_S u_S = 0, and then X = Σθ_S v_Sv_Sᵀ/(πᵀv_S) is

.. math:: X = \tfrac1n\bigl(\mathbf{11}^\top + M\bigr), \qquad M = \sum_S p_S u_S u_S^\top, \qquad M\pi = 0 .

*Objective.* The best reconstruction under the prior has V = WX⁻¹QᵀD⁻¹, D = Diag(Qπ), and n·(variance under the prior)
is tr(X⁻¹WᵀW) less a constant of W. As Xπ = n·1, X⁻¹ = ππᵀ/n + nM⁻, where M⁻ is the generalised inverse of M with
M⁻1 = 0. So the part that depends on the strategy is

.. math:: f = n\operatorname{tr}(M^- C) = n\operatorname{tr}(M^- C_\pi), \qquad
          C_\pi = (I - \tfrac1n\mathbf 1\pi^\top)\,C\,(I - \tfrac1n\pi\mathbf 1^\top),

which is tr(X_c⁺C) for the uniform prior. C_π is orthogonal to π, so M⁻ may be replaced by (M + ρ11ᵀ)⁻¹, any ρ > 0:
this maps every y ⟂ π to the x ⟂ 1 with Mx = y.

*Symmetry.* If C and the prior are invariant under the reflection u ↦ n−1−u, the strategy may be taken to be: rows
come in pairs S, S̄ of equal mass, and in the basis (e_u ± e_ū)/√2 M falls into an even and an odd block of half the
size, M_± = Σp_S u_S^± u_S^{±ᵀ} over one S of each pair. p_S stands for the mass of the pair.

**The information matrix of a good strategy.** It is guessed before there is a strategy. The weighted lower bound
(``bounds/parametric.py``) is tight for a strategy with M proportional to X̂ = C^{1/2}(C^{1/2}YC^{1/2})^{−1/2}C^{1/2},
Y = P(Diag p − ppᵀ/ω)P, with the best weights (p, ω): equality in its last step asks for this M. No strategy need
reach it; rows sampled to resemble it are a start. Weights of a large domain are interpolated from those of groups of
neighbouring types.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray
from factormech.bounds.parametric import weights_by_levels
from factormech.bounds.staircase import smallest_omega
from factormech.mechanisms.local.optimal.problem import BoolArray, Problem
from factormech.numerics.vectors import root

# The coordinates.

# float32 or float64: the first where a search may err, the second where a result is stated.
Real: TypeAlias = npt.NDArray[Any]
Blocks: TypeAlias = tuple[Real, ...]

# C is reflected into itself if it is up to this, relatively.
REFLECTION_TOLERANCE = 1e-9
# C is summed by blocks of rows: n × n temporaries of the largest n would need gigabytes.
_ROWS_AT_ONCE = 512


@dataclass(frozen=True)
class Frame:
    """A problem in these coordinates.

    Attributes
    ----------
    domain_size
        n.
    shift
        b = e^ε − 1.
    prior
        π, (n,), summing to n.
    symmetric
        Whether sets come in pairs.
    roots
        R with RRᵀ = C_π / scale, a block each: (h, r); r is the rank.
    ones
        The vector 1 in the coordinates of the first block; the others do not meet it.
    scale
        tr C_π, so that what is computed is of order one.
    """

    domain_size: int
    shift: float
    prior: FloatArray
    symmetric: bool
    roots: tuple[FloatArray, ...]
    ones: FloatArray
    scale: float

    @classmethod
    def of(cls, problem: Problem) -> Frame:
        """The coordinates for a problem."""
        C, n = problem.centred_gram, problem.domain_size
        prior = np.ones(n) if problem.prior is None else n * problem.prior
        symmetric = n > 1 and _reflected(C) and bool(np.abs(prior - prior[::-1]).max() <= REFLECTION_TOLERANCE)
        if problem.prior is not None:
            C = C - np.outer(np.ones(n), prior @ C) / n
            C = C - np.outer(C @ prior, np.ones(n)) / n
        scale = float(np.trace(C))
        blocks = block_matrices(C, symmetric)
        roots = tuple(root(block / scale) if scale > 0.0 else np.zeros((len(block), 0)) for block in blocks)
        ones = _coordinates(np.ones((1, n)), symmetric)[0][0]
        return cls(n, float(np.expm1(problem.epsilon)), prior, symmetric, roots, ones, scale)

    def under(self, prior: FloatArray) -> Frame:
        """The same problem under another prior, (n,) with sum one; a reflected problem asks for a reflected prior.

        C_π = LCLᵀ with L = I − 1πᵀ/n, and a root of C gives one of C_π without an eigendecomposition. The scale is
        kept, although it is no longer tr C_π.
        """
        pi = self.domain_size * prior
        even = self.reduced(pi)
        first = self.roots[0] - np.outer(self.ones, even @ self.roots[0]) / self.domain_size
        return replace(self, prior=pi, roots=(first, *self.roots[1:]))

    def reduced(self, vector: FloatArray) -> FloatArray:
        """A vector's part in the coordinates of the first block: all of it, if it is reflected into itself."""
        return np.asarray(_coordinates(vector[None, :], self.symmetric)[0][0])

    @property
    def rank(self) -> int:
        """The rank of C_π."""
        return sum(root.shape[1] for root in self.roots)

    def slopes(self, supports: BoolArray) -> FloatArray:
        """β_S for each set."""
        n, b = self.domain_size, self.shift
        return np.asarray(b * n / (n + b * (supports @ self.prior)))

    def features(self, supports: BoolArray, dtype: type[np.floating[Any]] = np.float64) -> Blocks:
        """u_S of each set, a block each: (m, h)."""
        beta = self.slopes(supports)
        centred = np.multiply(supports, beta[:, None], dtype=dtype)
        centred -= (beta * (supports @ self.prior) / self.domain_size)[:, None].astype(dtype)
        return _coordinates(centred, self.symmetric)

    def features_of_rows(self, rows: FloatArray) -> tuple[Blocks, FloatArray]:
        """n·q/(πᵀq) − 1 of any rows q > 0, a block each, and their masses πᵀq/n."""
        masses = rows @ self.prior / self.domain_size
        return _coordinates(rows / masses[:, None] - 1.0, self.symmetric), masses

    def whole(self, blocks: Blocks) -> Real:
        """The matrix with these diagonal blocks, in the coordinates of the user types, (n, n)."""
        if not self.symmetric:
            return blocks[0]
        n = self.domain_size
        h = n // 2
        even, odd = blocks
        E = np.zeros((n, n), dtype=even.dtype)
        E[:h, :h] = 0.5 * (even[:h, :h] + odd)
        E[:h, n - h :] = 0.5 * (even[:h, :h] - odd)[:, ::-1]
        if n % 2:
            E[h, :h] = E[:h, h] = np.sqrt(0.5) * even[h, :h]
            E[h, n - h :] = E[:h, h][::-1]
            E[h, h] = even[h, h]
            E[:h, h] = E[h, :h]
        E[n - h :] = E[:h][::-1, ::-1]
        return E

    def whole_vector(self, even: FloatArray) -> FloatArray:
        """A vector of the first block in the coordinates of the user types, (n,)."""
        if not self.symmetric:
            return even
        h = self.domain_size // 2
        half = np.sqrt(0.5) * even[:h]
        return np.concatenate([half, even[h:], half[::-1]])

    def joined(self, parts: Blocks) -> Real:
        """Rows of coordinates, one array a block, in the coordinates of the user types, (m, n)."""
        if not self.symmetric:
            return parts[0]
        n = self.domain_size
        h = n // 2
        even, odd = parts
        rows = np.empty((len(even), n), dtype=even.dtype)
        half = even.dtype.type(np.sqrt(0.5))
        rows[:, :h] = (even[:, :h] + odd) * half
        rows[:, n - h :] = ((even[:, :h] - odd) * half)[:, ::-1]
        rows[:, h : n - h] = even[:, h:]
        return rows

    def canonical(self, supports: BoolArray) -> BoolArray:
        """One S of each pair S, S̄, and every set once; ∅ and the whole domain are left out."""
        sizes = supports.sum(axis=1)
        S = supports[(sizes > 0) & (sizes < self.domain_size)]
        if self.symmetric and len(S):
            packed, mirrored = np.packbits(S, axis=1), np.packbits(S[:, ::-1], axis=1)
            place = np.argmax(packed != mirrored, axis=1)
            at = np.arange(len(S))
            later = packed[at, place] < mirrored[at, place]
            S = np.where(later[:, None], S[:, ::-1], S)
        return np.asarray(S[distinct(S)] if len(S) else S)

    def multiplicity(self, supports: BoolArray) -> npt.NDArray[np.int64]:
        """How many rows each set stands for: 2 for a pair, 1 for a set that is its own reflection."""
        if not self.symmetric:
            return np.ones(len(supports), dtype=np.int64)
        h = self.domain_size // 2
        own = (supports[:, :h] == supports[:, : -h - 1 : -1]).all(axis=1)
        return np.where(own, 1, 2).astype(np.int64)

    def expand(self, supports: BoolArray, masses: FloatArray) -> tuple[BoolArray, FloatArray]:
        """All rows, pairs written out, and the mass of each."""
        pair = self.multiplicity(supports) == 2
        masses = np.where(pair, 0.5 * masses, masses)
        return np.concatenate([supports, supports[pair][:, ::-1]]), np.concatenate([masses, masses[pair]])

    def row_weights(self, supports: BoolArray, masses: FloatArray) -> FloatArray:
        """θ_S = n·p_S / πᵀv_S."""
        n = self.domain_size
        return np.asarray(masses * n / (n + self.shift * (supports @ self.prior)))


def distinct(supports: BoolArray) -> npt.NDArray[np.int64]:
    """The places of the first of each set, in their order."""
    packed = np.ascontiguousarray(np.packbits(supports, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
    return np.sort(np.unique(keys, return_index=True)[1])


def _reflected(C: FloatArray) -> bool:
    limit = REFLECTION_TOLERANCE * float(np.abs(C).max())
    steps = range(0, len(C), _ROWS_AT_ONCE)
    return all(np.abs(C[s : s + _ROWS_AT_ONCE] - C[::-1, ::-1][s : s + _ROWS_AT_ONCE]).max() <= limit for s in steps)


def _coordinates(A: Real, symmetric: bool) -> Blocks:
    """The rows of A in the basis of each block."""
    if not symmetric:
        return (A,)
    n = A.shape[1]
    h = n // 2
    half = A.dtype.type(np.sqrt(0.5))
    even = np.empty((len(A), n - h), dtype=A.dtype)
    np.add(A[:, :h], A[:, : n - h - 1 : -1], out=even[:, :h])
    even[:, :h] *= half
    even[:, h:] = A[:, h : n - h]
    odd = A[:, :h] - A[:, : n - h - 1 : -1]
    odd *= half
    return even, odd


def block_matrices(C: FloatArray, symmetric: bool) -> tuple[FloatArray, ...]:
    """C in the basis of each block."""
    if not symmetric:
        return (0.5 * (C + C.T),)
    blocks = []
    for part, side in enumerate(_coordinates(C, True)):
        block = _coordinates(np.ascontiguousarray(side.T), True)[part]
        blocks.append(0.5 * (block + block.T))
    return tuple(blocks)


# The information matrix of a good strategy.

# Domains above this are grouped before the weights are looked for.
LARGEST_SEARCH = 192


def target_blocks(problem: Problem, frame: Frame) -> tuple[FloatArray, ...]:
    """X̂, any scale, a block each of ``frame``; for a prior other than the uniform one, that of the uniform one."""
    p, omega = _weights(problem)
    D = np.diag(p) - (np.outer(p, p) / omega if omega > 0.0 else 0.0)
    blocks = block_matrices(D, frame.symmetric)
    return tuple(_target(root, block) for root, block in zip(frame.roots, blocks, strict=True))


def _weights(problem: Problem) -> tuple[FloatArray, float]:
    """(p, ω) near the best; ω = 0 where weights do nothing."""
    n = problem.domain_size
    found = weights_by_levels(problem.centred_gram, problem.epsilon, LARGEST_SEARCH)
    if found is None:
        return np.full(n, 1.0 / n), 0.0
    p, omega = found
    return p, max(omega, smallest_omega(p) * (1.0 + 1e-6))


def _target(root: FloatArray, D: FloatArray) -> FloatArray:
    """RK^{−1/2}Rᵀ, K = RᵀDR."""
    if not root.shape[1]:
        return np.zeros((len(root), len(root)))
    values, vectors = np.linalg.eigh(root.T @ D @ root)
    values = np.maximum(values, 1e-14 * float(values[-1]))
    half = (root @ vectors) * values**-0.25
    return np.asarray(half @ half.T)
