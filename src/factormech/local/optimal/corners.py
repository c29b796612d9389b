r"""All extreme reports of a small domain at once, and their moments by fast transforms.

In the notation of ``exact.py`` the set S ⊂ {1, …, n} stands for the report v_S = 1 + (a−1)1_S. With signs s_u = 1 for
u ∈ S and −1 elsewhere, t = tanh(ε/2) and π = n·prior, Σπ = n (π = 1 for the uniform prior),

.. math:: x_S = \frac{n\,v_S}{\pi^\top v_S} = \beta_S (\mathbf 1 + t s), \quad \beta_S = \frac{1}{1 + t\,\pi^\top s/n} .

Only its part ⟂ 1 matters: with U an orthonormal basis of the complement of 1, the *column* of S is

.. math:: \zeta_S = U^\top x_S / t = \beta_S U^\top s .

Products of up to four signs are characters of the group {−1, 1}ⁿ, a product of two being again one: all the moments
Σ_S w_S ζζᵀ and Σ_S w_S svec(ζζᵀ)svec(ζζᵀ)ᵀ are read off Walsh–Hadamard transforms of wβ², wβ³ and wβ⁴, in O(2ⁿn)
operations instead of the O(2ⁿn⁴) of the sums, and the forms ζᵀMζ of all sets are one product of 2^{n/2} × n/2 matrices.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.local.optimal.problem import BoolArray
from factormech.numerics.symmetric import places
from factormech.workloads import walsh


class AllColumns:
    """ζ_S for every S: set number i holds the types whose bits of i are **not** set, so that s_u = (−1)^{bit u}.

    Parameters
    ----------
    prior_weights
        π, (n,), non-negative, of sum n.
    epsilon
        The budget.
    """

    def __init__(self, prior_weights: FloatArray, epsilon: float) -> None:
        n = len(prior_weights)
        self.basis = complement_basis(n)
        head = n // 2
        self._head, self._tail = signs(head), signs(n - head)
        self.scale = _scale(prior_weights / n, epsilon, self._head, self._tail)

    def __len__(self) -> int:
        return int(self.scale.size)

    def forms(self, M: FloatArray, mu: FloatArray) -> FloatArray:
        """ζᵀMζ + μᵀζ for every set."""
        head, tail, h = self._head, self._tail, self._head.shape[1]
        N, nu = self.basis @ M @ self.basis.T, self.basis @ mu
        values = tail @ (2.0 * N[h:, :h]) @ head.T
        values += np.einsum("vi,vi->v", tail @ N[h:, h:], tail)[:, None]
        values += np.einsum("vi,vi->v", head @ N[:h, :h], head)
        values *= self.scale
        values += (tail @ nu[h:])[:, None]
        values += head @ nu[:h]
        values *= self.scale
        return values.ravel()

    def moments(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Σ w ζζᵀ and Σ w ζ."""
        head, tail = self._head, self._tail
        y = weights.reshape(self.scale.shape) * self.scale
        first = np.concatenate([y.sum(axis=0) @ head, y.sum(axis=1) @ tail])
        y *= self.scale
        cross = tail.T @ y @ head
        hh, tt = (head.T * y.sum(axis=0)) @ head, (tail.T * y.sum(axis=1)) @ tail
        second = np.block([[hh, cross.T], [cross, tt]])
        return self.basis.T @ second @ self.basis, self.basis.T @ first

    def squared_moments(self, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Σ w ff', f and f' in {svec(ζζᵀ), ζ}: pairs × pairs, pairs × singles, singles × singles."""
        y = weights.reshape(self.scale.shape) * self.scale**2
        characters = [_transform(y)]
        for _ in range(2):
            y *= self.scale
            characters.append(_transform(y))
        pair, single = self._masks
        B22 = self._lift.T @ characters[2][pair[:, None] ^ pair] @ self._lift
        B21 = self._lift.T @ characters[1][pair[:, None] ^ single] @ self.basis
        B11 = self.basis.T @ characters[0][single[:, None] ^ single] @ self.basis
        return B22, B21, B11

    def start(self) -> FloatArray:
        """Positive weights with Σ p_Sζ_S = 0, by symmetry, and enough on small sets and large ones."""
        n = len(self.basis)
        size = np.bitwise_count(np.arange(len(self)))
        likely = np.array([1.0 / math.sqrt(math.comb(n, k)) for k in range(n + 1)])
        p = likely[size] / self.scale.ravel()
        return np.asarray(p / p.sum())

    def some(self, chosen: IntArray) -> FloatArray:
        """ζ of these sets, (K, n − 1)."""
        s = 1.0 - 2.0 * self._bits(chosen)
        return np.asarray((s @ self.basis) * self.scale.ravel()[chosen, None])

    def supports(self, chosen: IntArray) -> BoolArray:
        """The sets themselves, boolean, (K, n)."""
        return np.asarray(self._bits(chosen) == 0)

    def _bits(self, chosen: IntArray) -> IntArray:
        return np.asarray(np.asarray(chosen)[:, None] >> np.arange(len(self.basis)) & 1)

    @cached_property
    def _masks(self) -> tuple[IntArray, IntArray]:
        single = 1 << np.arange(len(self.basis), dtype=np.int64)
        i, j = np.triu_indices(len(single))
        return single[i] ^ single[j], single

    @cached_property
    def _lift(self) -> FloatArray:
        """From products s_is_j, i ≤ j, to svec(Uᵀss'U)."""
        i, j = np.triu_indices(len(self.basis))
        U, (k, h, w) = self.basis, places(self.basis.shape[1])
        lift = U[i][:, k] * U[j][:, h] + U[j][:, k] * U[i][:, h]
        return np.asarray(lift * w * np.where(i == j, 0.5, 1.0)[:, None])


def complement_basis(n: int) -> FloatArray:
    """U, (n, n − 1): the Helmert basis of the complement of 1."""
    k = np.arange(1, n)
    U = np.where(np.arange(n)[:, None] < k, 1.0, 0.0) - np.where(np.arange(n)[:, None] == k, 1.0, 0.0) * k
    return np.asarray(U / np.sqrt(k * (k + 1.0)))


def signs(length: int) -> FloatArray:
    """All of {1, −1}^length, (2^length, length): row i has (−1)^{bit u of i} at u."""
    bits = np.arange(2**length)[:, None] >> np.arange(length) & 1
    return np.asarray(1.0 - 2.0 * bits)


def _scale(prior: FloatArray, epsilon: float, head: FloatArray, tail: FloatArray) -> FloatArray:
    """β of every set, (2^tail, 2^head), without the cancellation of 1 + tπᵀs/n."""
    low, h = np.exp(-epsilon), head.shape[1]
    inside = (0.5 * (1.0 + tail) @ prior[h:])[:, None] + 0.5 * (1.0 + head) @ prior[:h]
    outside = (0.5 * (1.0 - tail) @ prior[h:])[:, None] + 0.5 * (1.0 - head) @ prior[:h]
    return np.asarray(0.5 * (1.0 + low) / (inside + low * outside))


def _transform(values: FloatArray) -> FloatArray:
    """The Walsh–Hadamard transform of an array over (tail, head), flat, the head's bits the lowest."""
    return np.asarray(walsh.transform(walsh.transform(values).T.copy()).T.ravel())
