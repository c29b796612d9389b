r"""The duals of query strategies for L2 noise, evaluated block by block where the workload has symmetries.

Notation of :mod:`factormech.local.l2_strategies`. A permutation σ of the user types is a symmetry if C_{σu,σv} = C_uv.
Looked for are those by exclusive or with a mask, u ↦ u ⊕ s, on 2^k types (all of them for marginals and parities), and
the reversal u ↦ n − 1 − u of an even number of types (prefixes, ranges), up to the rounding of C. They form a group G
whose elements commute, are their own inverses, and leave no type where it is. With a representative a of each of the
p = n/g orbits, g = |G|, every invariant matrix is a table of g blocks,

.. math:: M_{a,hb} = m_h(a, b), \qquad \hat M_χ = \sum_{h ∈ G} χ(h) m_h , \qquad m_h = \frac1g \sum_χ χ(h) \hat M_χ ,

χ the g characters, signs (−1)^{popcount(χ & h)}: products, roots and traces of invariant matrices are those of the
p × p blocks M̂_χ. The duals are concave and the group permutes their variables: invariant weights are as good as any;
from invariant ones the search never leaves them, and one number stands for all types (pairs of types) of an orbit. So
an eigendecomposition costs g·p³ = n³/g² in place of n³, and the steps of the search the g-th part.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from factormech.arrays import FloatArray, IntArray

# How far C may be from its own image, relative to its largest entry.
_ALIKE = 1e-11
# Singular values from the square of a matrix keep half of their digits down to this ratio of eigenvalues.
SQUARE_LIMIT = 1e-8


def symmetries(C: FloatArray) -> IntArray:
    """Where each symmetry takes each type, (g, n): the identity first; row i ⊕ j is row i after row j."""
    n = len(C)
    types = np.arange(n)
    if n % 2 or n == 0:
        return types[None]
    limit = _ALIKE * float(np.abs(C).max())
    if n & (n - 1):
        masked = [types[::-1]]
    else:
        first = np.abs(C[types[:, None], types[:, None] ^ types] - C[0]).max(axis=1) <= limit
        masked = [types ^ s for s in np.flatnonzero(first)[1:]]
    group = types[None]
    for image in masked:
        if image[0] not in group[:, 0] and float(np.abs(C[np.ix_(image, image)] - C).max()) <= limit:
            group = np.concatenate([group, group[:, image]])
    return group


def blocks_of(B: FloatArray) -> Blocks | None:
    """The blocks of C = BᵀB; nothing where it has no symmetry."""
    C = B.T @ B
    images = symmetries(C)
    return Blocks.of(C, images) if len(images) > 1 else None


@dataclass(frozen=True)
class Blocks:
    """A centred Gram matrix C by the blocks of its symmetries.

    Attributes
    ----------
    images
        (g, n): see ``symmetries``.
    types
        (p,): the representatives.
    roots
        By rank r: the characters χ whose Ĉ_χ have it, (k,), and roots R of these, RᵀR = Ĉ_χ, (k, r, p).
    """

    images: IntArray
    types: IntArray
    roots: list[tuple[IntArray, FloatArray]]

    @classmethod
    def of(cls, C: FloatArray, images: IntArray) -> Blocks:
        """By these symmetries."""
        types = np.flatnonzero(images.min(axis=0) == np.arange(len(C)))
        found = cls(images, types, [])
        hats = found.transformed(C[types[None, :, None], images[:, None, types]])
        values, vectors = np.linalg.eigh(0.5 * (hats + hats.transpose(0, 2, 1)))
        ranks = (values > len(C) * np.finfo(float).eps * max(float(values.max()), 0.0)).sum(axis=1)
        for rank in np.unique(ranks[ranks > 0]):
            chosen = np.flatnonzero(ranks == rank)
            V = vectors[chosen][:, :, -rank:].transpose(0, 2, 1)
            found.roots.append((chosen, np.sqrt(values[chosen][:, -rank:])[:, :, None] * V))
        return found

    @property
    def order(self) -> int:
        """g, the number of symmetries."""
        return len(self.images)

    @cached_property
    def characters(self) -> FloatArray:
        """χ(h), (g, g)."""
        from scipy.linalg import hadamard

        return np.asarray(hadamard(self.order), dtype=float)

    def transformed(self, blocks: FloatArray) -> FloatArray:
        """Σ_h χ(h) m_h for every χ: (g, p, p) of the same."""
        return np.asarray((self.characters @ blocks.reshape(self.order, -1)).reshape(blocks.shape))

    def by_type(self, values: FloatArray) -> FloatArray:
        """A number for each type, (n,), from those of the representatives, (p,)."""
        found = np.empty(self.images.shape[1])
        found[self.images[:, self.types]] = values
        return found

    # The minimum enclosing ball --------------------------------------------------------------------------------

    def ball(self, q: FloatArray) -> tuple[float, FloatArray]:
        """φ at weights q of the orbits, (p,), that sum to 1, and ‖a_u − c‖² of the best strategy at them, (p,).

        K̂_χ = R̂(diag(q/g) − [χ = 1]·qqᵀ/g)R̂ᵀ: of the mean Aq only the block of the constant character knows.
        """
        halves, sigmas = [], []
        for chosen, R in self.roots:
            Y = R.copy()
            if chosen[0] == 0:
                Y[0] -= (R[0] @ q)[:, None]
            U, sigma = _singular(Y * np.sqrt(q / self.order))
            halves.append(U.transpose(0, 2, 1) @ Y)
            sigmas.append(sigma)
        floor = max(float(s.max()) for s in sigmas) * 1e-15
        squares = [
            (Y**2 / np.maximum(s, floor)[:, :, None]).sum(axis=(0, 1)) for Y, s in zip(halves, sigmas, strict=True)
        ]
        return float(sum(s.sum() for s in sigmas)), np.asarray(sum(squares) / self.order)

    # The diameter ----------------------------------------------------------------------------------------------

    @cached_property
    def pairs(self) -> tuple[IntArray, IntArray, IntArray]:
        """The orbits {a, hb} of pairs of types as (h, a, b): a < b, or a = b and h another than the identity."""
        p, g = len(self.types), self.order
        a, b = np.triu_indices(p, 1)
        h = np.repeat(np.arange(g), len(a))
        same = np.tile(np.arange(p), g - 1)
        within = np.repeat(np.arange(1, g), p)
        found = (
            np.concatenate([h, within]),
            np.concatenate([np.tile(a, g), same]),
            np.concatenate([np.tile(b, g), same]),
        )
        return found[0].astype(np.int64), found[1].astype(np.int64), found[2].astype(np.int64)

    @cached_property
    def pair_sizes(self) -> FloatArray:
        """How many pairs each orbit has: g, or g/2 where it joins types of one orbit."""
        _, a, b = self.pairs
        return np.where(a == b, 0.5 * self.order, 1.0 * self.order)

    def pair_products(self, q: FloatArray) -> FloatArray:
        """The sum of q_u·q_v over each orbit of pairs, for weights q of types, (n,), which are made invariant first."""
        mean = q[self.images[:, self.types]].mean(axis=0)
        _, a, b = self.pairs
        return np.asarray(mean[a] * mean[b] * self.pair_sizes)

    def pair_table(self, w: FloatArray) -> FloatArray:
        """The weight of each pair (a, hb), (g, p, p), from the weights w of the orbits of pairs."""
        h, a, b = self.pairs
        p = len(self.types)
        off = np.zeros((self.order, p, p))
        off[h, a, b] = off[h, b, a] = w / self.pair_sizes
        return off

    def all_pairs(self, w: FloatArray) -> FloatArray:
        """The weights of all pairs of types as a symmetric matrix, (n, n)."""
        n = self.images.shape[1]
        table, found = self.pair_table(w), np.empty((n, n))
        for image in self.images:
            # (g a, g h b) has the weight of (a, hb).
            found[image[self.types][None, :, None], image[self.images[:, None, self.types]]] = table
        return found

    def diameter(self, w: FloatArray) -> tuple[float, FloatArray]:
        """φ at weights w of the orbits of pairs, that sum to 1, and ‖a_u − a_v‖² of the best strategy at them."""
        L = -self.pair_table(w)
        diagonal = np.arange(len(self.types))
        L[0, diagonal, diagonal] = -L.sum(axis=(0, 2))
        hats = self.transformed(L)
        found, sigmas = [], []
        for chosen, R in self.roots:
            K = R @ hats[chosen] @ R.transpose(0, 2, 1)
            squares, U = np.linalg.eigh(0.5 * (K + K.transpose(0, 2, 1)))
            found.append(U.transpose(0, 2, 1) @ R)
            sigmas.append(np.sqrt(np.maximum(squares, 0.0)))
        floor = max(float(s.max()) for s in sigmas) * 1e-15
        M = np.zeros_like(hats)
        for (chosen, _), Y, sigma in zip(self.roots, found, sigmas, strict=True):
            A = Y / np.sqrt(np.maximum(sigma, floor))[:, :, None]
            M[chosen] = A.transpose(0, 2, 1) @ A
        m = self.transformed(M) / self.order
        norms = np.diagonal(m[0])
        h, a, b = self.pairs
        return float(sum(s.sum() for s in sigmas)), np.asarray(norms[a] + norms[b] - 2 * m[h, a, b])


def _singular(half: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Left singular vectors and singular values of each of a stack of matrices, to all digits of the largest of all."""
    squares, U = np.linalg.eigh(half @ half.transpose(0, 2, 1))
    if squares.min() >= SQUARE_LIMIT * squares.max():
        return U, np.sqrt(squares)
    # The square has lost digits of the small singular values: take them from the matrix itself.
    U, sigma, _ = np.linalg.svd(half, full_matrices=False)
    return U, sigma
