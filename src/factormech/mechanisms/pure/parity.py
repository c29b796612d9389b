r"""Full parity: all N characters over N = 2^d types, asked of n users under ε-privacy. No transform is needed.

Q is the N × N Hadamard matrix H of signs, HᵀH = N·I, so K is a regular simplex and every mechanism that is shaped by K
alone is one of histograms: with p = counts/n and Y = H(p + u/n) the error is ‖H u‖/(n√N) = ‖u‖/n, and the projection on
K is that of p + u/n on the probability simplex.

**Noise** (exact). ‖Hu‖_B = ½‖u‖₁ on {Σu = 0}: u has j positive entries with P ∝ C(N, j)·C(N−2, j−1), at random places;
εu₊ and εu₋ are two Dirichlet(1, …, 1) vectors times the same Gamma(N − 1) radius. Hence, as a Dirichlet vector of j
entries has an expected square norm of 2/(j + 1),

.. math:: E‖εu‖² = N(N-1)\;E_j\Bigl[\frac{2}{j+1} + \frac{2}{N-j+1}\Bigr] .

**Worst data.** Places are exchangeable: data of s types, as even as whole users can be, may sit on the first s
places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue
from factormech.mechanisms.central.moments import LEVEL, Estimate, student
from factormech.mechanisms.pure.directions import positive_counts
from factormech.numerics.vectors import nearest_long

LARGEST = 2**20


@dataclass(frozen=True)
class ParityErrors:
    """‖p̂ − p‖ of draws that all (n, s) share: ``projected`` (users, sparsities, draws), nan where s > n.

    ``raw`` (draws,) is ‖εu‖: without the projection the error is raw/(nε), for all data.
    """

    size: int
    epsilon: float
    users: tuple[int, ...]
    sparsities: tuple[int, ...]
    raw: FloatArray
    projected: FloatArray

    def mean(self, user: int, sparsity: int, level: float = LEVEL) -> Estimate:
        """E‖p̂ − p‖ at these indices."""
        return student(self.projected[user, sparsity], level)

    def worst(self, user: int, level: float = LEVEL) -> tuple[int, Estimate]:
        """The sparsity of largest mean error at this index of users, with its error: worst found, not worst case."""
        means = self.projected[user].mean(axis=1)
        at = int(np.nanargmax(means))
        # One of several was chosen by these draws: each has its share of the level.
        return self.sparsities[at], self.mean(user, at, level / len(self.sparsities))


def parity_noise(size: int, epsilon: float, rng: np.random.Generator, trials: int) -> FloatArray:
    """Draws of u, (trials, N), each summing to 0 up to rounding."""
    N, epsilon = checked_size(size), check_epsilon(epsilon)
    law = positive_counts(N)
    u = rng.standard_exponential((check_positive_integer("trials", trials), N))
    radius = rng.standard_gamma(N - 1, len(u)) / epsilon
    for row, j, r in zip(u, rng.choice(N + 1, size=len(u), p=law), radius, strict=True):
        up = np.zeros(N, dtype=bool)
        up[rng.permutation(N)[:j]] = True
        row[up] *= r / row[up].sum()
        row[~up] *= -r / row[~up].sum()
    return u


def even_counts(users: int, sparsity: int) -> FloatArray:
    """n users on s types, as even as whole users can be, (s,)."""
    n, s = check_positive_integer("users", users), check_positive_integer("sparsity", sparsity)
    if s > n:
        raise BadValue("sparsity", s, f"be at most the number of users, {n}", "a type that is present has a user")
    return n // s + (np.arange(s) < n % s).astype(np.float64)


def parity_errors(
    size: int,
    epsilon: float,
    users: Sequence[int],
    sparsities: Sequence[int],
    rng: np.random.Generator,
    trials: int = 100,
) -> ParityErrors:
    """Errors of K-norm noise and projection on data of each sparsity for each n, from ``trials`` common draws."""
    check_positive_integer("trials", trials)
    return errors_with(noise_by_draw(size, epsilon, rng, trials), size, epsilon, users, sparsities, trials)


def noise_by_draw(size: int, epsilon: float, rng: np.random.Generator, trials: int) -> Iterator[FloatArray]:
    """Draws of u, (N,), one after the other."""
    return (parity_noise(size, epsilon, rng, 1)[0] for _ in range(trials))


def errors_with(
    noise: Iterable[FloatArray],
    size: int,
    epsilon: float,
    users: Sequence[int],
    sparsities: Sequence[int],
    trials: int,
) -> ParityErrors:
    """The like errors from ``trials`` draws of u at this ε that are given."""
    N = checked_size(size)
    for s in sparsities:
        if check_positive_integer("sparsity", s) > N:
            raise BadValue("sparsity", s, f"be at most the number of types, {N}", "give 1, 2, 4 …")
    raw, found = np.empty(trials), np.full((len(users), len(sparsities), trials), np.nan)
    for t, u in zip(range(trials), noise, strict=True):
        raw[t] = epsilon * float(np.linalg.norm(u))
        for (i, n), (a, s) in _pairs(users, sparsities):
            p = even_counts(n, s) / n
            v = u / n
            v[:s] += p
            near = nearest_long(v)
            near[:s] -= p
            found[i, a, t] = np.linalg.norm(near)
    return ParityErrors(N, float(epsilon), tuple(users), tuple(sparsities), raw, found)


def _pairs(users: Sequence[int], sparsities: Sequence[int]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    for one in enumerate(users):
        for other in enumerate(sparsities):
            if other[1] <= one[1]:
                yield one, other


def checked_size(size: int) -> int:
    """N, a power of two."""
    N = check_positive_integer("size", size, minimum=2)
    if N & (N - 1) or N > LARGEST:
        raise BadValue("size", N, f"be a power of two of at most {LARGEST}", "parities are over 2^d types")
    return N
