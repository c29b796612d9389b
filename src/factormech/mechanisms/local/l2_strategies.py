r"""Query strategies A for noise measured in L2: the least ‖R‖_F² × size(A)² over RAP = WP, with certificates.

**The duals, by blocks of the workload's symmetry.** The notation is that of *The problem*. A permutation σ of the
user types is a symmetry if C_{σu,σv} = C_uv. Looked for are those by exclusive or with a mask, u ↦ u ⊕ s, on 2^k
types (all of them for marginals and parities), and the reversal u ↦ n − 1 − u of an even number of types (prefixes,
ranges), up to the rounding of C. They form a group G whose elements commute, are their own inverses, and leave no
type where it is. With a representative a of each of the p = n/g orbits, g = |G|, every invariant matrix is a table of
g blocks,

.. math:: M_{a,hb} = m_h(a, b), \qquad \hat M_χ = \sum_{h ∈ G} χ(h) m_h , \qquad m_h = \frac1g \sum_χ χ(h) \hat M_χ ,

χ the g characters, signs (−1)^{popcount(χ & h)}: products, roots and traces of invariant matrices are those of the
p × p blocks M̂_χ. The duals are concave and the group permutes their variables: invariant weights are as good as any;
from invariant ones the search never leaves them, and one number stands for all types (pairs of types) of an orbit. So
an eigendecomposition costs g·p³ = n³/g² in place of n³, and the steps of the search the g-th part.

**The problem.** Notation: n user types, P = I − 11ᵀ/n, C = PWᵀWP the centred Gram matrix, B any matrix with BᵀB = C
(r × n, r the rank), b_u its columns. Only RAP = WP is needed, because the number of users is public and an offset
common to all columns is free; so the size of A may be measured after the best shift:

* *radius*: the minimum enclosing ball, min_c max_u ‖a_u − c‖ (a randomizer of the ball);
* *diameter*: max_{u,v} ‖a_u − a_v‖ (Gaussian noise under replacement of one user).

Both are convex in M = AᵀA, where ‖R‖_F² = tr(C M⁺), and have one dual. With Λ ⪰ 0 a matrix of weights,

    radius²   = max over q in the simplex of tr(MΛ),  Λ = diag(q) − qqᵀ      (the best centre is Aq),
    diameter² = max over weights w of pairs, Σw = 1,  Λ = Σ w_uv (e_u − e_v)(e_u − e_v)ᵀ,

and min_M tr(CM⁺)·tr(MΛ) = φ(Λ)², φ(Λ) = tr K^{1/2}, K = BΛBᵀ, by Cauchy–Schwarz, attained at M = BᵀK^{-1/2}B. So
every Λ gives a lower bound φ² and, through that M (A = K^{-1/4}B, R's norm² = φ), the upper bound φ·size². Both come
from one eigendecomposition. φ is concave in q and in w (Λ is Loewner-concave in them), so the two meet; at the
optimum every weighted column (pair) attains the size, which is the fixed point q_u ∝ q_u·‖a_u − c‖². Without the
shift this is the norm γ_F of Edmonds, Nikolov & Ullman (STOC 2020) and its dual. All bounds hold up to rounding.
Where C has symmetries, the search is made block by block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.numerics.descent import Anderson

# The duals, by blocks of the workload's symmetry.

# How far C may be from its own image, relative to its largest entry.
_ALIKE = 1e-11
# Singular values from the square of a matrix keep half of their digits down to this ratio of eigenvalues.
SQUARE_LIMIT = 1e-8


def symmetries(C: FloatArray) -> IntArray:
    """Return where each symmetry takes each type, (g, n): the identity first; row i ⊕ j is row i after row j."""
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
        """Build the blocks of these symmetries."""
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


# The problem.

# Weights below exp(−this) of the largest are zero to the eigendecomposition; the floor lets them come
# back.
_LOG_FLOOR = 600.0
# Largest change of a log weight in one step: acceleration learns nothing from weights racing to 0.
_LONGEST_STEP = 5.0
_MEMORY = 9
# Share of tr C that may lie outside the row space of a strategy by rounding.
LOST_ENERGY = 1e-9


@dataclass(frozen=True)
class SolverRecord:
    """The objective ‖R‖_F² × size² of a strategy, what none can beat, and why the search ended."""

    objective: float
    lower_bound: float
    iterations: int
    stopped: str

    @property
    def gap(self) -> float:
        """Relative distance of the objective from the lower bound (0 where both are 0)."""
        return self.objective / self.lower_bound - 1.0 if self.lower_bound > 0 else 0.0


@dataclass(frozen=True)
class SimplexSearch:
    """Best weights found for a dual over the simplex, with φ² of the best dual point and the best φ·size²."""

    weights: FloatArray
    record: SolverRecord


def enclosing_ball_strategy(
    B: FloatArray, *, tolerance: float = 1e-9, max_iterations: int = 500
) -> tuple[FloatArray, FloatArray, SolverRecord]:
    """A (r × n) with the best centre at 0, its dual weights q, and the record; the size is max_u ‖a_u‖².

    The relative gap is at most ``tolerance`` unless the record says that the iterations ran out.
    """
    blocks = blocks_of(B)
    n = B.shape[1]

    def oracle(q: FloatArray) -> tuple[float, FloatArray]:
        A, phi = _ball_columns(B, q)
        return phi, np.einsum("iu,iu->u", A, A)

    orbits = n if blocks is None else len(blocks.types)
    evaluate = oracle if blocks is None else blocks.ball
    found = maximise_over_simplex(evaluate, np.full(orbits, 1.0 / orbits), tolerance, max_iterations)
    q = found.weights if blocks is None else blocks.by_type(found.weights / blocks.order)
    A, _ = _ball_columns(B, q)
    return A, q, found.record


def diameter_strategy(
    B: FloatArray, q: FloatArray, *, tolerance: float = 1e-4, max_iterations: int = 200
) -> tuple[FloatArray, SolverRecord]:
    """A (r × n) of least ‖R‖_F² × diameter², and the record; started at the ball's dual weights ``q``.

    There is a weight for every pair of types, n(n−1)/2 of them, but an iteration costs no more than the
    ball's: Λ is the Laplacian of the weighted pairs, and all distances follow from one Gram matrix.
    """
    blocks, pairs = blocks_of(B), _pairs(B.shape[1])

    def oracle(w: FloatArray) -> tuple[float, FloatArray]:
        A, phi = _pair_columns(B, w, pairs)
        return phi, _squared_distances(A)[pairs]

    start = np.maximum(q, np.max(q) * 1e-8)
    if blocks is None:
        w = (start[:, None] * start[None, :])[pairs]
        found = maximise_over_simplex(oracle, w / w.sum(), tolerance, max_iterations)
        return _pair_columns(B, found.weights, pairs)[0], found.record
    w = blocks.pair_products(start)
    found = maximise_over_simplex(blocks.diameter, w / w.sum(), tolerance, max_iterations)
    return _pair_columns(B, blocks.all_pairs(found.weights)[pairs], pairs)[0], found.record


def maximise_over_simplex(
    oracle: Callable[[FloatArray], tuple[float, FloatArray]],
    start: FloatArray,
    tolerance: float,
    max_iterations: int,
) -> SimplexSearch:
    """Climb the concave φ by the fixed point w ← w·s/φ, with Anderson acceleration of log w.

    ``oracle(w)`` returns φ and the squared sizes s of the strategy at w, where Σ w·s = φ; then φ²
    bounds every strategy from below and φ·max(s) is what this one reaches. A step after which φ fell is
    replaced by the plain one.
    """
    z = np.log(start)
    history = Anderson(_MEMORY)
    lower, upper, best = 0.0, np.inf, start
    phi_before, plain, iteration = -np.inf, z, 0
    for iteration in range(1, max_iterations + 1):
        z = np.maximum(z - z.max(), -_LOG_FLOOR)
        w = np.exp(z)
        w /= w.sum()
        phi, s = oracle(w)
        lower = max(lower, phi * phi)
        if phi * s.max() < upper:
            upper, best = phi * float(s.max()), w
        if upper <= lower * (1 + tolerance):
            return SimplexSearch(best, SolverRecord(upper, lower, iteration, "gap below tolerance"))
        if phi < phi_before:
            history.forget(keep=1)
            z, phi_before = plain, -np.inf
            continue
        step = np.log(np.maximum(s, phi * np.exp(-_LONGEST_STEP)) / phi)
        plain, phi_before = z + step, phi
        z = history.extrapolate(plain, step, w, _LONGEST_STEP)
    return SimplexSearch(best, SolverRecord(upper, lower, iteration, "iterations used up"))


def _ball_columns(B: FloatArray, q: FloatArray) -> tuple[FloatArray, float]:
    """A = K^{-1/4}(B − Bq1ᵀ) for Λ = diag(q) − qqᵀ, and φ."""
    Y = B - (B @ q)[:, None]
    half = Y * np.sqrt(q)
    squares, U = np.linalg.eigh(half @ half.T)
    if squares[0] < SQUARE_LIMIT * squares[-1]:
        # The square has lost digits of the small singular values: take them from the matrix itself.
        U, sigma, _ = np.linalg.svd(half, full_matrices=False)
    else:
        sigma = np.sqrt(squares)
    return _whiten(Y, U, sigma)


def _pair_columns(B: FloatArray, w: FloatArray, pairs: tuple[IntArray, ...]) -> tuple[FloatArray, float]:
    """A = K^{-1/4}B for the Laplacian of the pair weights w, and φ."""
    n = B.shape[1]
    off = np.zeros((n, n))
    off[pairs] = w
    off += off.T
    K = B @ (off.sum(axis=0) * B - B @ off).T
    squares, U = np.linalg.eigh(0.5 * (K + K.T))
    return _whiten(B, U, np.sqrt(np.maximum(squares, 0.0)))


def _pairs(n: int) -> tuple[IntArray, IntArray]:
    """Return every pair u < v of n types once."""
    u, v = np.triu_indices(n, 1)
    return u.astype(np.int64), v.astype(np.int64)


def _whiten(Y: FloatArray, U: FloatArray, sigma: FloatArray) -> tuple[FloatArray, float]:
    """K^{-1/4}Y in the eigenbasis of K = U diag(σ²) Uᵀ (any basis of the reports will do), and tr K^{1/2}.

    Directions that K has lost to rounding are kept, at a floor: their columns then show up as too large.
    """
    floored = np.maximum(sigma, sigma.max() * 1e-15)
    return (U.T @ Y) / np.sqrt(floored)[:, None], float(sigma.sum())


def _squared_distances(A: FloatArray) -> FloatArray:
    norms = np.einsum("iu,iu->u", A, A)
    return np.asarray(norms[:, None] + norms[None, :] - 2 * (A.T @ A))
