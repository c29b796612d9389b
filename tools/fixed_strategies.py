"""Fixed strategies from their definitions, for ``verify_strategies.py``: it shares no code with the package.

The probability of a type in an output's set is a = exp(epsilon) (1 - 2^-46) times that of a type outside.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
MARGIN = 2.0**-46


def two_valued(high: Array, epsilon: float) -> Array:
    """Columns of probabilities in the ratio a : 1 where ``high`` is true and false."""
    rows = np.where(high, math.exp(epsilon) * (1.0 - MARGIN), 1.0)
    return np.asarray(rows / rows.sum(axis=0))


def even(outputs: Array, columns: Array) -> Array:
    """Whether the parity of the common bits is even."""
    return np.asarray(np.bitwise_count(outputs[:, None] & columns) % 2 == 0)


def hadamard(n: int, epsilon: float, single: bool) -> Array:
    """Hadamard response (Acharya, Sun & Zhang, AISTATS 2019), or its form with one block."""
    blocks = 1 if single else 2 ** max(math.ceil(math.log2(min(math.exp(epsilon), 2.0 * n))) - 1, 0)
    size = 2 ** math.ceil(math.log2(math.ceil(n / blocks) + 1))
    u, o = np.arange(n), np.arange(blocks * size)
    favoured = even(o % size, 1 + u % (size - 1)) & (o[:, None] // size == u // (size - 1))
    return two_valued(favoured, epsilon)


def fixed_matrix(name: str, n: int, epsilon: float) -> Array:
    """A fixed strategy that has a matrix, from its definition."""
    kind, single = name.removesuffix("-table1"), name.endswith("-table1")
    if kind == "hadamard":
        return hadamard(n, epsilon, single)
    if kind == "hierarchical":
        levels = [n]
        while levels[-1] > 4:
            levels.append(math.ceil(levels[-1] / 4))
        each = [hadamard(m, epsilon, single)[:, np.arange(n) // 4**j] for j, m in enumerate(levels)]
        return np.vstack(each) / len(levels)
    if kind not in ("fourier", "fourier-3"):
        raise ValueError(f"there is no strategy {name!r}")
    parities = np.arange(1, 2 ** (n - 1).bit_length())
    parities = parities[np.bitwise_count(parities) <= (3 if kind == "fourier-3" else n)]
    told = even(parities, np.arange(n))
    return two_valued(np.vstack([told, ~told]), epsilon)


def size_law(name: str, n: int, epsilon: float) -> Array:
    """How often the report is a set of s = 0 ... n types."""
    a, s, law = math.exp(epsilon), np.arange(n + 1), np.zeros(n + 1)
    if name == "randomized-response":
        law[1] = 1.0
    elif name == "subset-selection":
        law[np.argmax(s * (n - s) / (n + (a - 1.0) * s) ** 2)] = 1.0
    else:
        flip = 1.0 / (math.exp(epsilon / 2) + 1.0)
        choose = [math.lgamma(n) - math.lgamma(j + 1) - math.lgamma(n - j) for j in range(n)]
        others = np.exp(choose + s[:n] * math.log(flip) + (n - 1 - s[:n]) * math.log1p(-flip))
        law[1:] += (1.0 - flip) * others
        law[:-1] += flip * others
    return law


def subset_variance(law: Array, epsilon: float, diagonal: Array) -> Array:
    """Variances by type of a random set S, of size s with the law's probability, that holds the type a times as likely.

    Its row is 1 + (a - 1) 1_S up to scale, X_c = xP, and b = g (1_S - s/n), g = (a - 1)/(x (n + (a - 1) s)). As C1 = 0,
    b'Cb = g^2 times the sum of C over S x S, whose mean follows from how likely one and two other types are in S.
    """
    n, a, t = len(law) - 1, math.exp(epsilon) * (1.0 - MARGIN), float(diagonal.sum())
    used = np.flatnonzero((law > 0.0) & (np.arange(n + 1) % n > 0))
    s, pi = used.astype(float), law[used]
    x = float(np.sum(pi * (a - 1.0) ** 2 * s * (n - s) / (n + (a - 1.0) * s) ** 2)) / (n - 1)
    g = (a - 1.0) / (x * (n + (a - 1.0) * s))

    def others(k: Array) -> tuple[Array, Array]:
        """The probabilities that one and that two given other types are among k of n - 1."""
        return k / (n - 1), k * (k - 1) / ((n - 1) * max(n - 2, 1))

    inside, c = a * s / (a * s + n - s), diagonal[:, None]
    (p, q), (p_out, q_out) = others(s - 1.0), others(s)
    holds = c * (1.0 - 2.0 * p) + p * (t - c) + q * (2.0 * c - t)
    lacks = p_out * (t - c) + q_out * (2.0 * c - t)
    return np.asarray((pi * g**2 * (inside * holds + (1.0 - inside) * lacks)).sum(axis=1) - diagonal)
