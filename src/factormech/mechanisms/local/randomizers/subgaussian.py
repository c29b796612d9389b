r"""The exact subgaussian proxy of reports on caps.

Wanted: the least v with E exp⟨θ, Y − x⟩ ≤ exp(v‖θ‖²/2) for all x of the unit ball and all θ, Y = Z/m the report of
``cap_randomizers.py``. Put θ = mz·u with a unit vector u and z ≥ 0, x = r·v, c = ⟨u, v⟩, v = w/m². With
Φ(z) = E e^{zt} for a coordinate t of the uniform law, and P_z the uniform law tilted by e^{z⟨u,Z⟩},

.. math:: F(z, c, r) = \log Φ(z) + \log\{1 + λr\,R(z, c)\} - m z r c \le \tfrac12 w z^2 , \qquad
          R(z, c) = P_z\{\langle Z, v\rangle \ge γ\}/q - 1 .

**Only the axis matters**: w is the supremum of 2F(z, ±1, r)/z² over z and r (d ≥ 2, γ ≥ 0). Our proof:

0. Φ = Σ (z²/2)^k/(k!·d(d+2)⋯(d+2k−2)) falls with d, and Φ_d' = (z/d)Φ_{d+2}; so (log Φ)' ≤ z/d. F(z, c, 0) = log Φ(z)
   ~ z²/(2d), so w ≥ 1/d.
1. *c ≥ 0*. Under P_z the coordinate t along v has density ∝ f(t)e^{αt}h(|t|), α = zc, with h decreasing (it is
   Φ_{d−1}(z√(1−c²)√(1−t²))). Without h, the conditional probability of t ≥ γ given |t| = s is 0 below γ and
   e^{αs}/(2 cosh αs) above, increasing in s; so h lowers it: R(z, c) ≤ R(α, 1). Hence
   F(z, c, r) ≤ F(α, 1, r) + log Φ(z) − log Φ(α) ≤ wα²/2 + (z² − α²)/(2d) ≤ wz²/2.
2. *c ≤ 0*. R(z, ·) is convex on [−1, 0]: in the plane of u and v let Z have length ρ and angle φ to u, of density
   ∝ e^{zρ cos φ} given ρ; for c = cos ψ the cap is |φ − ψ| ≤ arccos(γ/ρ), and moving its ends gives, s = √(1−c²),
   ∂P/∂c = E_ρ[2e^{zγc} sinh(z√(ρ²−γ²)s)/s] up to a factor free of c. As c rises to 0, so do e^{zγc}, s and sinh(ks)/s.
   And R(z, 0) ≤ 0 by 1. at α = 0. So R(z, −c) ≤ cR(z, −1) and F(z, −c, r) ≤ F(z, −1, cr). ∎

**The axis**. M(z) = max_r F, for z ∈ ℝ with the sign of c taken into z, is the largest of convex functions of z (each
the logarithm of a moment generating function less a line), and concave in r, so its r is explicit. It is computed on a
geometric grid |z| ∈ [z₀, z₁] of ratio ϱ. Between two points M lies below its chord, and the chord of z² exceeds z² by
the factor (1+ϱ)²/(4ϱ) at most: that is the only slack, 1e-6. Below z₀, the tilted variance of one coordinate of a unit
vector changes by a factor e^{2|z|} at most (its derivative is a third central moment, and |t − E t| ≤ 2), so
M ≤ e^{2z₀}·(largest variance)·z²/2. Beyond z₁ = 2(1 + m)d, M ≤ (1 + m)|z| ≤ z²/(2d).

(In all cases seen, the worst is c = −1, an r inside (0, 1], and a z of the order √d or the limit z → 0; the bound
assumes none of it.)

In one dimension ±1/m is a two-valued variable, and Hoeffding's lemma gives v = 1/m², with equality at x = 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from factormech.arrays import FloatArray

_GRID_STEP = 2e-3  # log of the ratio of neighbours
_FIRST = 1e-7
_MARGIN = 1e-9  # quadrature and rounding, a thousand times what has been seen
_DEPTH = 50.0  # an integrand that many e-folds below its peak is left out
_SERIES = 2.0  # tilts up to which e^{zt} is summed by its terms,
_TERMS = 24  # this many: what is left is 1e-18 of the first one that counts
_CELLS = 2**17  # numbers of one table of tilts by nodes: those of a processor's cache
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


@lru_cache(maxsize=256)
def axis_proxy(dimension: int, height: float, loyalty: float, mean: float, variance: float) -> float:
    """w, from above and to 1e-6: the subgaussian proxy of the direction Z of a report.

    ``variance`` is the largest one of a coordinate of Z, over all points of the ball. Factors of a workload at many
    distances have the same few dimensions, and so the same randomizers.
    """
    d = dimension
    if d == 1:
        return 1.0
    last = 2 * (1 + mean) * d
    z = np.exp(np.arange(math.log(_FIRST), math.log(last) + _GRID_STEP, _GRID_STEP))
    worst = 0.0
    edges = np.searchsorted(z, z[0] * 4.0 ** np.arange(1, 64))
    for block in np.split(z, np.unique(edges[edges < len(z)])):
        worst = max(worst, _largest_curvature(block, d, height, loyalty, mean))
    ratio = math.exp(_GRID_STEP)
    between = (1 + ratio) ** 2 / (4 * ratio)
    return max(worst * between, variance * math.exp(2 * _FIRST)) * (1 + _MARGIN)


def _largest_curvature(z: FloatArray, d: int, height: float, loyalty: float, mean: float) -> float:
    """max 2M(±z)/z² over neighbouring z > 0."""
    quadrature = _quadrature(float(z[-1]), d, height)
    exponent = _small if z[-1] <= min(_SERIES, math.sqrt(d)) else _near if z[-1] <= math.sqrt(d) else _far
    found = 0.0
    for part in np.array_split(z, math.ceil(len(z) * len(quadrature.t) / _CELLS)):
        for sign in (1.0, -1.0):
            M = exponent(sign * part, quadrature, loyalty, mean)
            found = max(found, float(np.max(2 * M / part**2)))
    return found


@dataclass(frozen=True)
class _Quadrature:
    """Nodes and logarithms of probabilities of |t| under the uniform law (``free``), of t given t ≥ γ (``loyal``)."""

    t: FloatArray
    free: FloatArray
    t_loyal: FloatArray
    loyal: FloatArray


def _quadrature(z: float, d: int, height: float) -> _Quadrature:
    """Composite Gauss–Legendre in s = artanh t for tilts up to z.

    f(t)dt ∝ sech^{d−1}(s)ds is analytic, of width 1/√(d + z) or more when tilted. Panels end at γ, and where the law,
    the law on the cap and the tilted law are all negligible.
    """
    edge = math.atanh(height)
    end, panel = _end(z, d, edge), min(1.0, 1.5 / math.sqrt(d + z))
    inner, inner_weights = _panels(0.0, edge, panel)
    outer, outer_weights = _panels(edge, end, panel)
    s = np.concatenate([inner, outer])
    free = np.log(np.concatenate([inner_weights, outer_weights])) - (d - 1) * _log_cosh(s)
    loyal = np.log(outer_weights) - (d - 1) * _log_cosh(outer)
    return _Quadrature(np.tanh(s), free - _log_sum_exp(free), np.tanh(outer), loyal - _log_sum_exp(loyal))


def _end(z: float, d: int, edge: float) -> float:
    """Return the point beyond which the law, the law on the cap, and the law tilted by z have no mass left."""
    farthest = max(1.5, edge) + _DEPTH / (d - 1) + math.sqrt(2 * _DEPTH / (d - 1))
    s = np.linspace(0.0, farthest, 4001)
    law = -(d - 1) * _log_cosh(s)
    tilted = law + z * np.tanh(s)
    live = (law >= -_DEPTH) | (tilted >= tilted.max() - _DEPTH)
    live |= (s >= edge) & (law >= -(d - 1) * float(_log_cosh(np.array(edge))) - _DEPTH)
    return float(s[min(int(np.flatnonzero(live)[-1]) + 1, len(s) - 1)])


def _panels(start: float, end: float, width: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of a composite rule."""
    ends = np.linspace(start, end, math.ceil((end - start) / width) + 1)
    half = 0.5 * np.diff(ends)[:, None]
    return (ends[:-1, None] + half * (1 + _NODES)).ravel(), (half * _WEIGHTS).ravel()


def _small(z: FloatArray, rule: _Quadrature, loyalty: float, mean: float) -> FloatArray:
    """M(z) for small z: P and Q of ``_gathered`` as power series, whose coefficients are moments of t."""
    order = np.arange(2, _TERMS + 1)
    factorials = np.array([math.factorial(k) for k in order], dtype=float)
    free = (rule.t ** order[:, None]) @ np.exp(rule.free) / factorials
    loyal = (rule.t_loyal ** order[:, None]) @ np.exp(rule.loyal) / factorials
    # Of t free, as likely as −t, the odd moments are 0.
    P = z**2 * np.polynomial.polynomial.polyval(z**2, free[::2])
    return _gathered(z, P, z**2 * np.polynomial.polynomial.polyval(z, loyal), loyalty, mean)


def _near(z: FloatArray, rule: _Quadrature, loyalty: float, mean: float) -> FloatArray:
    """M(z) for z where all terms of the order z² must come out without cancellation."""
    P = (2 * np.sinh(0.5 * z[:, None] * rule.t) ** 2) @ np.exp(rule.free)
    Q = _exp_beyond_line(z[:, None] * rule.t_loyal) @ np.exp(rule.loyal)
    return _gathered(z, P, Q, loyalty, mean)


def _gathered(z: FloatArray, P: FloatArray, Q: FloatArray, loyalty: float, mean: float) -> FloatArray:
    """M(z) from terms of the order z².

    With P = E e^{zt} − 1 (free), Q = E[e^{zt} − 1 − zt] (on the cap) and y = (1−λr)P + λr(Q + zA/q), where λA/q = m:
    log(1 + y) − mzr = [log(1 + y) − y] + (1−λr)P + λrQ.
    """

    def value(r: FloatArray) -> FloatArray:
        curved = (1 - loyalty * r) * P + loyalty * r * Q
        return np.asarray(_log_beyond_line(curved + mean * z * r) + curved)

    slope = loyalty * (Q - P)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = (slope - mean * z * P) / (mean * z * (slope + mean * z))
    return _largest(value, best)


def _far(z: FloatArray, rule: _Quadrature, loyalty: float, mean: float) -> FloatArray:
    """M(z) for z of any size, by logarithms."""
    size = np.abs(z)[:, None] * rule.t
    log_free = np.logaddexp(_log_sum_exp(rule.free + size), _log_sum_exp(rule.free - size)) - math.log(2)
    log_loyal = _log_sum_exp(rule.loyal + z[:, None] * rule.t_loyal)
    scale = np.maximum(log_free, log_loyal)
    X, slope = np.exp(log_free - scale), loyalty * (np.exp(log_loyal - scale) - np.exp(log_free - scale))

    def value(r: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(X + slope * r) + scale - mean * z * r)

    with np.errstate(divide="ignore", invalid="ignore"):
        best = 1 / (mean * z) - X / slope
    return _largest(value, best)


def _largest(value: Callable[[FloatArray], FloatArray], best: FloatArray) -> FloatArray:
    """The maximum over r ∈ [0, 1] of a concave function whose stationary point is ``best`` if it is in there."""
    inside = np.where(np.isfinite(best), np.clip(best, 0.0, 1.0), 0.0)
    return np.maximum(value(inside), np.maximum(value(np.zeros_like(best)), value(np.ones_like(best))))


def _log_sum_exp(x: FloatArray) -> FloatArray:
    """log Σ exp x along the last axis."""
    peak = x.max(axis=-1, keepdims=True)
    return np.asarray(np.log(np.exp(x - peak).sum(axis=-1)) + peak[..., 0])


def _log_cosh(s: FloatArray) -> FloatArray:
    """log cosh s for s ≥ 0."""
    return np.asarray(s + np.log1p(np.exp(-2 * s)) - math.log(2))


def _exp_beyond_line(y: FloatArray) -> FloatArray:
    """e^y − 1 − y, by its series where the difference would lose digits."""
    series = np.zeros_like(y)
    small = np.clip(y, -0.2, 0.2)
    for k in range(12, 1, -1):
        series = 1 / math.factorial(k) + small * series
    return np.where(np.abs(y) < 0.2, small**2 * series, np.expm1(y) - y)


def _log_beyond_line(y: FloatArray) -> FloatArray:
    """log(1 + y) − y for y > −1, by its series where the difference would lose digits."""
    series = np.zeros_like(y)
    small = np.clip(y, -0.02, 0.02)
    for k in range(9, 1, -1):
        series = -((-1.0) ** k) / k + small * series
    return np.where(np.abs(y) < 0.02, small**2 * series, np.log1p(y) - y)
