r"""A sum of resolvents that is t^{−1/2} to a relative error known in closed form: the elliptic midpoint rule.

For 0 < μ ≤ L, κ = L/μ and the modulus k₁ = 1/√κ, let K = K(k₁), K' = K(√(1 − k₁²)), and x(u) = sn(u)/cn(u) of
modulus √(1 − k₁²). Then t^{−1/2} = (2/π)∫₀^∞ dx/(t + x²) becomes, by x = √μ x(u), an integral over 0 < u < K', and
the midpoint rule with N nodes u_j = (j − ½)K'/N reads

.. math:: t^{-1/2} \approx \sum_j \frac{\omega_j}{t + s_j}, \qquad s_j = \mu x_j^2, \quad
          \omega_j = \frac{2 K'}{\pi N} \sqrt{\mu (1 + x_j^2)(1 + x_j^2/\kappa)},

as x'² = (1 + x²)(1 + k₁²x²) (Hale, Higham & Trefethen, SIAM J. Numer. Anal. 46(5), 2008; the nodes are Zolotarev's).

Its error is known exactly. Write t = μ/dn²(y), which runs over [μ, L] as y runs over [0, K']. The integrand times √t is

.. math:: \frac{\sqrt{t/\mu}\, x'(u)}{t/\mu + x(u)^2} = \frac{\mathrm{dn}\,u\, \mathrm{dn}\,y}
          {1 - m\, \mathrm{sn}^2 u\, \mathrm{sn}^2 y} = \tfrac12 [\mathrm{dn}(u+y) + \mathrm{dn}(u-y)],

by the addition theorem, with dn(u) = (π/2K')[1 + 2Σ_{ℓ≥1} sech(πℓK/K') cos(πℓu/K')]. The rule sums every harmonic to
zero but those with ℓ a multiple of 2N, so that for every t in [μ, L]

.. math:: \Bigl|\sqrt t \sum_j \frac{\omega_j}{t+s_j} - 1\Bigr| \le 2 \sum_{\ell\ge1} \mathrm{sech}(2\pi\ell N K/K')
          \le \frac{4Q}{1-Q}, \qquad Q = e^{-2\pi N K/K'}.

All terms are positive: relative errors of the shifts and weights pass to the sum undiminished and no larger. They are
computed with forty digits and rounded once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from functools import lru_cache

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue

_DIGITS = 44
_NEGLIGIBLE = Decimal(10) ** -_DIGITS
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
# Every float below is its real number rounded once; the errors of forty digits hide in the second rounding.
ROUNDINGS = 2


@dataclass(frozen=True)
class ResolventSum:
    """Σ_j weights_j/(t + shifts_j), a power of t up to ``relative_error`` on [``lowest``, ``highest``].

    ``relative_error`` is that of the exact shifts and weights; each float is within ``ROUNDINGS`` of its own.
    """

    shifts: FloatArray
    weights: FloatArray
    lowest: float
    highest: float
    relative_error: float

    def __call__(self, t: FloatArray) -> FloatArray:
        """The sum at each t, for tests and plots."""
        return np.asarray((self.weights / (np.asarray(t)[..., None] + self.shifts)).sum(axis=-1))


def forty_digits() -> Context:
    """A decimal context whose rounding errors are nothing beside those of a float."""
    return Context(prec=_DIGITS, rounding=ROUND_HALF_EVEN, Emin=-(10**6), Emax=10**6)


def inverse_square_root(lowest: float, highest: float, tolerance: float) -> ResolventSum:
    """t^{−1/2} on [``lowest``, ``highest``] to a relative error of at most ``tolerance``, with the fewest nodes."""
    if not 0.0 < lowest <= highest < math.inf:
        raise BadValue("the spectrum", (lowest, highest), "be an interval of positive numbers", "give 0 < μ ≤ L < ∞")
    if not 1e-15 <= tolerance < 1.0:
        raise BadValue("tolerance", tolerance, "lie in [1e-15, 1)", "give for example 1e-9")
    # A power of four: μ and √μ scale floats without rounding, so that the cached unit rule serves every interval.
    unit = 4.0 ** math.floor(math.log2(lowest) / 2)
    unit = unit if unit <= lowest else unit / 4.0
    kappa = 2.0 ** max(4, math.ceil(math.log2(highest / unit)))
    kappa = kappa if unit * kappa >= highest else 2.0 * kappa
    squares, weights, error = _unit_rule(kappa, tolerance)
    return ResolventSum(unit * squares, math.sqrt(unit) * weights, unit, unit * kappa, error)


@lru_cache(maxsize=256)
def _unit_rule(kappa: float, tolerance: float) -> tuple[FloatArray, FloatArray, float]:
    """x_j², ω_j for μ = 1, and 4Q/(1 − Q) rounded up."""
    with localcontext(forty_digits()):
        k1 = 1 / Decimal(kappa).sqrt()
        K = PI / (2 * _mean(Decimal(1), (1 - k1 * k1).sqrt()))
        Kp = PI / (2 * _mean(Decimal(1), k1))
        N = max(2, math.ceil(float(Kp / (2 * PI * K)) * math.log(5.0 / tolerance)))
        while N > 2 and _error(K, Kp, N - 1) <= tolerance:
            N -= 1
        while _error(K, Kp, N) > tolerance:
            N += 1
        half = [_tangent(Decimal(2 * j - 1) * Kp / (2 * N), K, Kp) for j in range(1, (N + 1) // 2 + 1)]
        # x(u)x(K' − u) = 1/k₁ gives the rest.
        x = half + [1 / (k1 * value) for value in half[: N // 2][::-1]]
        factor = 2 * Kp / (PI * N)
        weights = [factor * ((1 + v * v) * (1 + k1 * k1 * v * v)).sqrt() for v in x]
        return np.array([float(v * v) for v in x]), np.array([float(v) for v in weights]), _error(K, Kp, N)


def _error(K: Decimal, Kp: Decimal, N: int) -> float:
    Q = (-2 * PI * N * K / Kp).exp()
    return float(4 * Q / (1 - Q)) * (1.0 + 1e-14)


def _mean(a: Decimal, b: Decimal) -> Decimal:
    """The arithmetic-geometric mean."""
    while abs(a - b) > _NEGLIGIBLE * a * 100:
        a, b = (a + b) / 2, (a * b).sqrt()
    return (a + b) / 2


def _tangent(u: Decimal, K: Decimal, Kp: Decimal) -> Decimal:
    r"""x(u) = sc(u, √(1 − k₁²)) = −i sn(iu, k₁), 0 < u ≤ K'/2, by Jacobi's products in the nome q = exp(−πK'/K).

    .. math:: x = \sinh ζ \prod_n \frac{(1+q^{2n-1})^2}{(1+q^{2n})^2} \cdot \frac{(1-q^{2n}e^{2ζ})(1-q^{2n}e^{-2ζ})}
              {(1-q^{2n-1}e^{2ζ})(1-q^{2n-1}e^{-2ζ})}, \qquad ζ = πu/2K.

    As e^{2ζ} ≤ q^{−1/2}, no factor cancels.
    """
    z = PI * u / (2 * K)
    q, up = (-PI * Kp / K).exp(), (2 * z).exp()
    down = 1 / up
    x = (up.sqrt() - down.sqrt()) / 2
    odd, even = q, q * q
    while odd * up > _NEGLIGIBLE:
        x *= ((1 + odd) / (1 + even)) ** 2
        x *= (1 - even * up) * (1 - even * down) / ((1 - odd * up) * (1 - odd * down))
        odd, even = odd * q * q, even * q * q
    return x
