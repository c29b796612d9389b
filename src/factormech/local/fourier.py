"""Ask for one random parity of the bits of the user's type, by binary randomized response.

Cormode, Kulkarni & Srivastava (SIGMOD 2018). ``fourier`` draws among all non-empty parities, ``fourier-3`` among those
of at most three bits, which is enough for marginals of up to three attributes. The empty parity is constant and never
asked for. A domain that is not a power of two uses the first n codes of ⌈log₂ n⌉ bits.
"""

from __future__ import annotations

import numpy as np

from factormech.local.strategy import Strategy, StrategyMatrix
from factormech.local.two_valued import two_valued
from factormech.unavailable import Unavailable


def strategy(domain_size: int, epsilon: float) -> Strategy | Unavailable:
    """All non-empty parities."""
    return _fourier(domain_size, epsilon, max_weight=None)


def low_order_strategy(domain_size: int, epsilon: float) -> Strategy | Unavailable:
    """Parities of one to three bits."""
    return _fourier(domain_size, epsilon, max_weight=3)


def _fourier(domain_size: int, epsilon: float, max_weight: int | None) -> Strategy | Unavailable:
    if domain_size == 1:
        return Unavailable("a domain of one user type has no non-empty parity")
    bits = (domain_size - 1).bit_length()
    parities = np.arange(1, 2**bits)
    if max_weight is not None:
        parities = parities[np.bitwise_count(parities) <= max_weight]
    even = np.bitwise_count(parities[:, None] & np.arange(domain_size)[None, :]) % 2 == 0
    return StrategyMatrix(two_valued(np.vstack([even, ~even]), epsilon), epsilon)
