"""Strategies whose columns each hold one high and one low probability."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray
from factormech.errors import Unavailable
from factormech.mechanisms.local.strategy import Strategy, StrategyMatrix
from factormech.privacy.guarantee import inner_ratio


def two_valued(high: npt.NDArray[np.bool_], epsilon: float) -> FloatArray:
    """Probabilities in the ratio e^ε : 1 where ``high`` (outputs × types) is true and false, columns summing to 1.

    The ratio within a row is e^ε only if all columns have as many true entries, which is the caller's to ensure and
    ``StrategyMatrix`` to verify.
    """
    a = inner_ratio(epsilon)
    m = high.shape[0]
    count = high.sum(axis=0)
    low = 1.0 / (count * a + (m - count))
    return np.asarray(np.where(high, low * a, low))


def fourier(domain_size: int, epsilon: float) -> Strategy | Unavailable:
    """Ask for one random parity of the bits of the user's type, by binary randomized response.

    Cormode, Kulkarni & Srivastava (SIGMOD 2018); all non-empty parities, as the empty one is constant. A domain that is
    not a power of two uses the first n codes of ⌈log₂ n⌉ bits.
    """
    return _fourier(domain_size, epsilon, max_weight=None)


def fourier_3(domain_size: int, epsilon: float) -> Strategy | Unavailable:
    """Return the strategy of parities of one to three bits, which is enough for marginals of up to three attributes."""
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
