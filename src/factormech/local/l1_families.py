"""Query strategies that are known to be good for noise measured in L1, among them where a search starts.

Notation of :mod:`factormech.local.l1_strategies`. The identity; trees of every branching in ``BRANCHINGS`` and the Haar
wavelet, with optimised level weights (negligible levels dropped); for n = 2^d the parities weighted by the cube root of
their energy and the marginals weighted by their number of attributes; the optimal ball strategy. McKenna, Maity,
Mazumdar & Miklau (PVLDB 13(11), 2020, §6.1) compare with such a matrix mechanism, Li, Miklau, Hay, McGregor & Rastogi
(VLDB Journal 24, 2015) introduced it, with trees (Hay et al., 2010) and wavelets (Xiao et al., 2011) as fixed cases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from factormech.arrays import FloatArray
from factormech.workloads.walsh import transform

BRANCHINGS = (2, 3, 4, 8, 16, 32)
# Candidates with more rows than this multiple of n are not built: every step works on k × n numbers.
_MAX_ROWS = 4
_NEGLIGIBLE_WEIGHT = 1e-3  # a level below this fraction of the largest weight is dropped


def families(C: FloatArray, ball: FloatArray) -> Iterator[tuple[str, FloatArray]]:
    """Every family's name and strategy, (k, n), for this C; ``ball`` is the optimal ball strategy."""
    n = len(C)
    yield "identity", np.eye(n)
    yield "ball", ball
    for b in BRANCHINGS:
        if b < n:
            yield f"tree of branching {b}", _tree(C, b)
    yield "haar wavelet", _haar(C)
    d = n.bit_length() - 1
    if n == 2**d and d > 0:
        g = parity_energies(C)
        yield "parities", _parities(g)
        marginals = _marginals(g, d)
        if len(marginals) <= _MAX_ROWS * n:
            yield "marginals", marginals


def _tree(C: FloatArray, b: int) -> FloatArray:
    """Indicators of the nodes of a b-ary tree over the domain (the root is public), levels weighted.

    Level l has nodes of s_l = b^l values. On the details between levels j and j + 1, AᵀA is Σ_{l≤j}
    w_l² s_l.
    """
    sizes = _level_sizes(len(C), b)
    E = np.tril(np.ones((len(sizes), 1)) * sizes)
    w = best_level_weights(E, _detail_energies(C, [*sizes, sizes[-1] * b]))
    return np.vstack([x * _indicators(len(C), int(s)) for x, s in zip(w, sizes, strict=True) if x > 0])


def _haar(C: FloatArray) -> FloatArray:
    """Left half minus right half of every node of the binary tree; AᵀA is w_l²·2s_l on level l."""
    sizes = _level_sizes(len(C), 2)
    w = best_level_weights(np.diag(2.0 * sizes), _detail_energies(C, [*sizes, sizes[-1] * 2]))
    blocks = []
    for x, s in zip(w, sizes, strict=True):
        halves = _indicators(len(C), int(s))
        if len(halves) % 2:
            halves = np.vstack([halves, np.zeros(len(C))])
        blocks.append(x * (halves[0::2] - halves[1::2]))
    return np.vstack([block for block, x in zip(blocks, w, strict=True) if x > 0])


def _parities(g: FloatArray) -> FloatArray:
    """Characters weighted by g_χ^{1/3}: the best weights for a bound on Σw_χ, ‖R‖² being Σ g_χ/(n w_χ²)."""
    n = len(g)
    w = np.cbrt(np.where(g > n * np.finfo(float).eps * g.max(), g, 0.0))
    used = np.flatnonzero(w)
    signs = 1.0 - 2.0 * (np.bitwise_count(used[:, None] & np.arange(n)[None, :]) % 2)
    return np.asarray(w[used, None] * signs)


def _marginals(g: FloatArray, d: int) -> FloatArray:
    """Tables of all sets of s attributes, weighted by s = 1 … d (the empty set is public).

    On a parity of t attributes the tables of size s, scaled to unit columns, give C(d−t,
    s−t)·2^{d−s}/C(d, s)².
    """
    order = np.bitwise_count(np.arange(2**d))
    t = np.array([g[order == size].sum() for size in range(1, d + 1)])
    E = np.array(
        [
            [
                math.comb(d - i, s - i) * 2.0 ** (d - s) / math.comb(d, s) ** 2 if s >= i else 0.0
                for s in range(1, d + 1)
            ]
            for i in range(1, d + 1)
        ]
    )
    w = best_level_weights(E, t)
    used = [s for s in range(1, d + 1) if w[s - 1] > 0]
    if sum(math.comb(d, s) * 2**s for s in used) > _MAX_ROWS * 2**d:
        used = used[:0]
    blocks = [w[s - 1] / math.comb(d, s) * _tables(d, s, order) for s in used]
    return np.vstack(blocks) if blocks else np.zeros((_MAX_ROWS * 2**d + 1, 0))


def _tables(d: int, size: int, order: FloatArray) -> FloatArray:
    """Indicator rows of all marginal tables of ``size`` of the d binary attributes."""
    users = np.arange(2**d)
    rows = []
    for attributes in np.flatnonzero(order == size):
        cells = users & attributes
        rows.append((np.unique(cells)[:, None] == cells[None, :]).astype(float))
    return np.vstack(rows)


def parity_energies(C: FloatArray) -> FloatArray:
    """χᵀCχ/n for every parity χ of n = 2^d values, by two fast Walsh–Hadamard transforms."""
    H = transform(transform(C).T)
    return np.maximum(np.diagonal(H) / len(C), 0.0)


def _level_sizes(n: int, b: int) -> FloatArray:
    """1, b, b², … below n."""
    return np.array([float(b) ** level for level in range(math.ceil(math.log(n) / math.log(b) - 1e-12))])


def _indicators(n: int, size: int) -> FloatArray:
    """Rows: the blocks of ``size`` consecutive values (the last one may be shorter)."""
    blocks = np.arange(n) // size
    return np.asarray(np.arange(blocks[-1] + 1)[:, None] == blocks[None, :], dtype=np.float64)


def _detail_energies(C: FloatArray, sizes: list[float]) -> FloatArray:
    """tr C(Π_j − Π_{j+1}), Π_j averaging over blocks of ``sizes``[j], the domain padded to whole blocks."""
    energies = []
    for size in sizes:
        starts = np.arange(0, len(C), int(size))
        within = np.add.reduceat(np.add.reduceat(C, starts, axis=0), starts, axis=1)
        energies.append(float(np.trace(within)) / size)
    return np.maximum(-np.diff(energies), 0.0)


def best_level_weights(E: FloatArray, t: FloatArray) -> FloatArray:
    """Weights w in the simplex for a small Σ_j t_j/(Ew²)_j: the best of several descents.

    Levels of negligible weight are set to 0 unless that loses a direction with t_j > 0.
    """
    from scipy.optimize import minimize

    needed = t > len(t) * 1e-13 * t.sum()
    E, t, levels = E[needed], t[needed], E.shape[1]

    def loss(z: FloatArray) -> tuple[float, FloatArray]:
        w = np.exp(z - z.max())
        w /= w.sum()
        m = E @ w**2
        value = float(np.sum(t / m))
        slope = -2.0 * w * ((t / m**2) @ E) / value
        return math.log(value), w * (slope - slope @ w)

    starts = [np.zeros(levels), *(3.0 * np.eye(levels))]
    found = [minimize(loss, z, jac=True, method="L-BFGS-B") for z in starts]
    z = min(found, key=lambda one: one.fun).x
    w = np.exp(z - z.max())
    kept = np.where(w > _NEGLIGIBLE_WEIGHT, w, 0.0)
    if np.all(E @ kept**2 > 0):
        w = kept
    return np.asarray(w / w.sum())
