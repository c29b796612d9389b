"""Hadamard response, in the two forms that are called so.

``hadamard`` is the general form of Acharya, Sun & Zhang (AISTATS 2019): outputs in B blocks of size b, a user's
favoured set being half of one block, so that about 1/(e^ε+1) of the outputs are favoured. ``hadamard-table1`` is
the form of Table 1 of McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020): one block of size K = 2^⌈log₂(n+1)⌉,
half of all outputs favoured whatever ε. They agree where B = 1 (ε ≤ log 2).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from factormech.mechanisms.local.strategy import Strategy, StrategyMatrix
from factormech.mechanisms.local.two_valued import two_valued


def strategy(domain_size: int, epsilon: float) -> Strategy:
    """Block Hadamard response; types fill the blocks in order, as the paper numbers them."""
    return StrategyMatrix(two_valued(block_sets(domain_size, epsilon), epsilon), epsilon)


def table1_strategy(domain_size: int, epsilon: float) -> Strategy:
    """Hadamard response with a single block."""
    return StrategyMatrix(two_valued(table1_sets(domain_size, epsilon), epsilon), epsilon)


def block_shape(domain_size: int, epsilon: float) -> tuple[int, int]:
    """B and b: B = 2^(⌈log₂ min(e^ε, 2n)⌉ − 1), and b the least power of two with B(b − 1) ≥ n."""
    favoured = min(math.exp(epsilon), 2.0 * domain_size)
    blocks = 2 ** max(math.ceil(math.log2(favoured)) - 1, 0)
    size = 2
    while blocks * (size - 1) < domain_size:
        size *= 2
    return blocks, size


def block_sets(domain_size: int, epsilon: float) -> npt.NDArray[np.bool_]:
    """Which outputs each type favours: column 1 + u mod (b−1) of H_b, in block ⌊u/(b−1)⌋."""
    blocks, size = block_shape(domain_size, epsilon)
    u = np.arange(domain_size)
    block, column = u // (size - 1), 1 + u % (size - 1)
    high = np.zeros((blocks, size, domain_size), dtype=bool)
    high[block, :, u] = _positive(size, column).T
    return high.reshape(blocks * size, domain_size)


def table1_sets(domain_size: int, epsilon: float) -> npt.NDArray[np.bool_]:
    """Which outputs each type favours: column 1 + u of H_K; ε does not matter."""
    size = 2 ** math.ceil(math.log2(domain_size + 1))
    return _positive(size, 1 + np.arange(domain_size))


def _positive(size: int, columns: npt.NDArray[np.int_]) -> npt.NDArray[np.bool_]:
    """Where the given columns of the Sylvester–Hadamard matrix H_size are +1: ⟨bits of o, bits of c⟩ is even."""
    o = np.arange(size)[:, None]
    return np.asarray(np.bitwise_count(o & columns[None, :]) % 2 == 0)
