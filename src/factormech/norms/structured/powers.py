r"""Sums of resolvents for any power t^{−α}, 0 < α < 1, with a proven relative error.

.. math:: t^{-α} = \frac{\sin πα}{π} \int_0^\infty \frac{s^{-α}}{t+s}\, ds, \qquad t \in [μ, L],

in three pieces, each with Gauss's rule, whose weights are positive; a rule of N nodes and total weight m errs on g by
at most 2m E(g), E being the distance of g from the polynomials of degree 2N − 1.

* s < μ, with the weight s^{−α} (Jacobi). On [0, μ] scaled to [−1, 1], 1/(t + s) has its pole at or beyond −3, and its
  distance from the polynomials is (|z| − √(z² − 1))^{2N−1}/(z² − 1) for the pole z (Chebyshev). Relative to t^{−α}
  the error is largest at t = μ: sin(πα)/(2π(1 − α)) ρ^{−(2N−1)}, ρ = 3 + √8.
* s > L becomes the first with α and 1 − α exchanged, by s ↦ 1/s.
* Between them, v = ln s in panels of length 2h with Legendre's rule. Within the ellipse of sum of half-axes ρh and
  imaginary half-axis b < π, |1 + e^z| ≥ (1 + e^{Re z}) cos(b/2); with φ(x) = e^{(1−α)x}/(1 + e^x), whose logarithm has
  slope less than β = max(α, 1 − α) and whose integral is π/sin(πα), Bernstein's bound E ≤ 2 max|g| ρ^{1−2N}/(ρ − 1)
  gives, over all panels, a relative error of at most 4ρ^{1−2N} e^{β(1+c)h}/((ρ − 1) cos(b/2)), c = ½(ρ + 1/ρ).

These errors are of exact nodes and weights; SciPy's are right to about 1e-14, and all terms are positive.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from factormech.arrays import FloatArray
from factormech.norms.structured.elliptic import ResolventSum

# Half the length of a panel in ln s: near the fewest nodes in all for errors from 1e-10 to 1e-14.
_HALF = 2.0
_TAIL = 3.0 + math.sqrt(8.0)
# What SciPy's nodes and weights may add to the relative error.
NODES = 1e-13


def inverse_power(alpha: float, lowest: float, highest: float, tolerance: float) -> ResolventSum:
    """t^{−α} on [``lowest``, ``highest``], each of the three pieces erring by at most a third of ``tolerance``."""
    each = tolerance / 3.0
    low_s, low_w, low_error = _tail(alpha, each)
    high_s, high_w, high_error = _tail(1.0 - alpha, each)
    middle_s, middle_w, middle_error = _middle(alpha, lowest, highest, each)
    sine = math.sin(math.pi * alpha) / math.pi
    # s ↦ 1/s: 1/(1/t + σ) = s t/(t + s), and the other t makes t^{α−1} of the rule for 1/t into t^{−α}.
    shifts = np.concatenate([lowest * low_s, middle_s, highest / high_s])
    weights = np.concatenate([lowest ** (1.0 - alpha) * low_w, middle_w, highest ** (1.0 - alpha) * high_w / high_s])
    return ResolventSum(shifts, sine * weights, lowest, highest, low_error + middle_error + high_error + NODES)


@lru_cache(maxsize=64)
def _tail(alpha: float, tolerance: float) -> tuple[FloatArray, FloatArray, float]:
    """∫_0^1 s^{−α} g(s) ds: nodes, weights, and the relative error for g = 1/(t + s), t ≥ 1."""
    from scipy.special import roots_jacobi

    constant = math.sin(math.pi * alpha) / (2.0 * math.pi * (1.0 - alpha))
    N = max(2, math.ceil((math.log(constant / tolerance) / math.log(_TAIL) + 1.0) / 2.0))
    x, w = roots_jacobi(N, 0.0, -alpha)
    return (1.0 + x) / 2.0, w * 2.0 ** (alpha - 1.0), constant * _TAIL ** (1 - 2 * N)


def _middle(alpha: float, lowest: float, highest: float, tolerance: float) -> tuple[FloatArray, FloatArray, float]:
    """∫ s^{1−α} g(s) dv over ln μ < v < ln L: shifts, weights, and the relative error."""
    length = math.log(highest / lowest)
    panels = max(1, math.ceil(length / (2.0 * _HALF)))
    half = length / (2.0 * panels)
    x, w, error = _panel(alpha, tolerance)
    centres = math.log(lowest) + half * (2.0 * np.arange(panels) + 1.0)
    s = np.exp(centres[:, None] + half * x).ravel()
    return s, half * np.tile(w, panels) * s ** (1.0 - alpha), error


@lru_cache(maxsize=64)
def _panel(alpha: float, tolerance: float) -> tuple[FloatArray, FloatArray, float]:
    """Legendre's rule on [−1, 1] with the fewest nodes for panels of half-length at most ``_HALF``, and its error."""
    N, error = 1, math.inf
    while error > tolerance:
        N += 1
        error = min(_panel_error(alpha, N, b) for b in np.linspace(0.5, 3.1, 53))
    x, w = np.polynomial.legendre.leggauss(N)
    return x, w, error


def _panel_error(alpha: float, N: int, b: float) -> float:
    ratio = b / _HALF
    rho = ratio + math.hypot(1.0, ratio)
    beta, c = max(alpha, 1.0 - alpha), 0.5 * (rho + 1.0 / rho)
    return 4.0 * rho ** (1 - 2 * N) * math.exp(beta * (1.0 + c) * _HALF) / ((rho - 1.0) * math.cos(b / 2.0))
