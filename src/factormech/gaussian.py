"""The analytic Gaussian mechanism: the exact privacy of Gaussian noise, and the least noise for (ε, δ)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import erfcx, ndtr

from factormech.arrays import check_epsilon
from factormech.errors import BadValue

# Relative margin that keeps the calibrated noise on the private side of the rounding errors made here.
ROUNDING_MARGIN = 1e-12

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def check_delta(value: Any, name: str = "delta") -> float:
    """Return the failure probability as a ``float`` strictly between 0 and 1."""
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not good or not 0 < value < 1:
        raise BadValue(name, value, "be a number above 0 and below 1", "give for example 1e-9")
    return float(value)


def gaussian_delta(noise_multiplier: float, epsilon: float) -> float:
    r"""Least δ for which noise N(0, s²) on a quantity of sensitivity 1 is (ε, δ)-private.

    .. math:: δ = Φ(a) − e^{ε} Φ(b), \qquad a = \tfrac{1}{2s} − εs, \quad b = −\tfrac{1}{2s} − εs

    for s = ``noise_multiplier`` (Balle & Wang, ICML 2018, Theorem 8). As b² − a² = 2ε, the second term is
    φ(a)·M(−b) with the Mills ratio M(x) = Φ(−x)/φ(x), so δ = φ(a)[M(−a) − M(−b)]. The two Mills ratios
    agree in most digits when 1/s is small; there their difference is ∫(1 − yM(y))dy over [−a, −b],
    which has no cancellation between its ends.
    """
    s, mu = noise_multiplier, 1.0 / noise_multiplier
    a, b = 0.5 * mu - epsilon * s, -0.5 * mu - epsilon * s
    density = math.exp(-0.5 * a * a) / math.sqrt(2 * math.pi)
    if a > 0 and mu > 1:  # M(−a) may overflow; Φ(a) ≥ ½ cannot
        return float(ndtr(a) - density * _mills(-b))
    if mu > 1:
        return float(density * (_mills(-a) - _mills(-b)))
    y = -a + 0.5 * mu * (_NODES + 1)
    return density * 0.5 * mu * float(_WEIGHTS @ _mills_slope(y))


def gaussian_noise_multiplier(epsilon: float, delta: float) -> float:
    """Least standard deviation, as a multiple of the L2 sensitivity, that is (ε, δ)-private, for any ε > 0.

    The root of :func:`gaussian_delta` (decreasing in the noise), found to the last digits and then
    moved to the private side by ``ROUNDING_MARGIN``.
    """
    return _noise_multiplier(check_epsilon(epsilon), check_delta(delta))


@lru_cache(maxsize=256)
def _noise_multiplier(epsilon: float, delta: float) -> float:
    from scipy.optimize import brentq

    def excess(log_s: float) -> float:
        found = gaussian_delta(math.exp(log_s), epsilon)
        return math.log(max(found, 1e-320)) - math.log(delta)

    # A bracket from near the classical scale √(2 ln(1.25/δ))/ε, widened until it holds the root.
    low = high = math.log(math.sqrt(2 * math.log(2 / delta)) / max(epsilon, delta))
    while excess(high) > 0:
        high += 1.0
    while excess(low) < 0:
        low -= 1.0
    return math.exp(float(brentq(excess, low, high, xtol=1e-15, rtol=1e-15))) * (1 + ROUNDING_MARGIN)


def _mills(x: Any) -> Any:
    """Φ(−x)/φ(x)."""
    return math.sqrt(math.pi / 2) * erfcx(np.asarray(x) / math.sqrt(2))


def _mills_slope(y: Any) -> Any:
    """1 − yM(y) = −M'(y), by its asymptotic series where the difference would lose digits."""
    far = np.maximum(y, 30.0) ** -2
    series = far * (1 - 3 * far * (1 - 5 * far * (1 - 7 * far * (1 - 9 * far))))
    return np.where(y > 30.0, series, 1 - y * _mills(np.minimum(y, 30.0)))
