r"""What studies of pure privacy share: exact errors of Laplace noise, and users needed by simulated errors.

**Laplace.** For m independent Laplace variables of scale 1, S = ΣX_i² has E e^{−tS} = φ(t)^m with φ(t) = z√π·erfcx(z),
z = 1/(2√t), and

.. math:: E\sqrt S = \frac{1}{2\sqrt\pi}\int_0^\infty \frac{1-φ(t)^m}{t^{3/2}}\,dt ,

whose integrand in ln t is analytic and falls exponentially both ways: the trapezoidal rule is exact to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from factormech.arrays import check_positive_integer
from factormech.errors import BadValue

# Simulated errors have intervals that miss with this probability.
LEVEL = 1e-3
_REACH, _STEP = 90.0, 0.02
# Below this t the power series of φ is exact to rounding and its logarithm is not.
_SERIES = 1e-4


def laplace_norm(variables: int) -> float:
    """E‖X‖₂ of that many independent Laplace variables of scale 1."""
    from scipy.special import erfcx

    m = check_positive_integer("variables", variables)
    y = np.arange(-_REACH, _REACH + _STEP, _STEP)
    t = np.exp(y)
    z = 0.5 / np.sqrt(t)
    small = t < _SERIES
    series = np.where(small, t, 0.0)
    gap = np.where(small, series * (2.0 - series * (12.0 - series * (120.0 - 1680.0 * series))), 0.0)
    logs = np.where(small, np.log1p(-gap), np.log(math.sqrt(math.pi) * z * erfcx(z)))
    return float((-np.expm1(m * logs) / np.sqrt(t)).sum() * _STEP / (2.0 * math.sqrt(math.pi)))


def parity_laplace_norm(size: int) -> float:
    """nε times the error of Laplace noise on all N parities.

    One of them is constant, and two types differ in half of them, by 2: scale N/ε on N − 1 answers, over √k = √N.
    """
    return math.sqrt(size) * laplace_norm(size - 1)


def sparsities_to(size: int, users: int) -> list[int]:
    """1, 2, 4 … as far as both types and persons go."""
    return [2**i for i in range(max(1, min(size, users)).bit_length())]


def users_within(
    error: Callable[[int], float], alpha: float, *, most: int = 2**40, precision: float = 0.01
) -> tuple[int, int]:
    """A whole n with error(n) ≤ α and the n' < n nearest below that was seen to fail, n − n' ≤ max(1, n·precision).

    The persons are doubled until the error is at most α, and the last doubling is halved: for errors that fall in n,
    n is the least that will do, up to the precision. n' is 0 if one person is enough.
    """
    low, high = 0, 1
    while error(high) > alpha:
        low, high = high, 2 * high
        if high > most:
            raise BadValue("alpha", alpha, f"be reached by {most} persons", "ask for a larger error")
    while high - low > max(1, precision * high):
        middle = (low + high) // 2
        low, high = (low, middle) if error(middle) <= alpha else (middle, high)
    return high, low
