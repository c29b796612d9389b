r"""Errors of order p of Gaussian noise: exact moments, and means of draws to a stated width.

**Exact moments.** For Z ~ N(0, 1) and p > 0, (E|Z|^p)^{1/p} = m_p = √2 (Γ((p + 1)/2)/√π)^{1/p}; m_2 = 1. If the error
of query i is b_i + s_i Z_i, the error of order p is

.. math:: (E\lVert b + sZ\rVert_p^p)^{1/p} = \Bigl(\sum_i E|b_i + s_i Z_i|^p\Bigr)^{1/p},

however the Z_i depend on each other: the *total*, which Liu, Upadhyay & Zou (ICLR 2025) use. Divided by k^{1/p} it is a
mean of order p over the k queries: *per query*. At p = ∞ it is an essential supremum, infinite; there E‖·‖_∞ is
simulated.

**Means of draws.** The relative width is stated; there is a bounded number of looks, each at its share of the level.
The draws double from look to look, and the procedure ends at the first look whose interval is narrow enough. With J
looks at most, each at the level level/J (Bonferroni), the interval holds wherever it ends. An interval is Student's,
on ``FIRST`` draws or more: as good as the central limit theorem is there. For the largest entry of a Gaussian vector
a second one needs no limit theorem: ‖Lz‖_∞ is a Lipschitz function of z with the constant ρ = max‖L_i‖, so that the
mean of t draws is within ρ√(2 ln(2J/level)/t) of the expectation (Gaussian concentration; Boucheron, Lugosi &
Massart, Concentration Inequalities, 2013, Theorem 5.6).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue
from factormech.numerics.intervals import Estimate as Estimate
from factormech.numerics.intervals import student_half_width

# Exact moments.

# exp(−14²/2) = 3e-43 of the largest value of an integrand is left out on either side.
_REACH = 14.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_CHUNK = 1 << 14


@dataclass(frozen=True)
class MeanError:
    """An error of order p: ``total`` is (E‖·‖_p^p)^{1/p}, ``per_query`` that over k^{1/p}."""

    order: float
    total: float
    per_query: float


def check_finite_order(p: float) -> float:
    """p as a float of at least 1, not infinite."""
    good = isinstance(p, (int, float, np.integer, np.floating)) and not isinstance(p, bool)
    if not good or not 1.0 <= p < math.inf:
        raise BadValue("p", p, "be a finite number of at least 1", "for p = ∞ simulate: simulated_max(rng)")
    return float(p)


def gaussian_norm(p: float) -> float:
    """m_p, the L_p norm of a standard Gaussian."""
    p = check_finite_order(p)
    return math.sqrt(2.0) * math.exp((math.lgamma((p + 1.0) / 2.0) - 0.5 * math.log(math.pi)) / p)


def error_of_order(p: float, scales: FloatArray, shifts: FloatArray | None = None) -> MeanError:
    """The error of order p of Gaussians of these deviations and means (0 if left out), however dependent."""
    p = check_finite_order(p)
    k = scales.size
    if shifts is None or not np.any(shifts):
        top = float(scales.max(initial=0.0))
        mean = top * float(np.mean((scales / top) ** p)) ** (1.0 / p) * gaussian_norm(p) if top > 0.0 else 0.0
    else:
        norms = shifted_norms(p, scales, shifts)
        top = float(norms.max())
        mean = top * float(np.mean((norms / top) ** p)) ** (1.0 / p)
    return MeanError(p, mean * k ** (1.0 / p), mean)


def shifted_norms(p: float, scales: FloatArray, shifts: FloatArray) -> FloatArray:
    """(E|b_i + s_i Z|^p)^{1/p} for each i; a closed form for even p, else quadrature to about 1e-13."""
    found = np.abs(np.asarray(shifts, dtype=np.float64))
    noisy = scales > 0.0
    s, m = scales[noisy], found[noisy] / scales[noisy]
    large = m > 1e8  # E|m + Z|^p = m^p(1 + O(m^{−2}))
    norms = m.copy()
    of_p = _even if p % 2.0 == 0.0 and p <= 64.0 else _by_quadrature
    norms[~large] = of_p(p, m[~large])
    found[noisy] = s * norms
    return found


def _even(p: float, m: FloatArray) -> FloatArray:
    """Σ_j C(p, 2j) m^{p−2j} (2j − 1)!!, all terms ≥ 0, relative to max(m, 1)."""
    order, scale = int(p), np.maximum(m, 1.0)
    total, odd = np.zeros_like(m), 1.0
    for j in range(order // 2 + 1):
        total += math.comb(order, 2 * j) * odd * (m / scale) ** (order - 2 * j) * scale ** (-2.0 * j)
        odd *= 2 * j + 1
    return np.asarray(scale * total ** (1.0 / p))


def _by_quadrature(p: float, m: FloatArray) -> FloatArray:
    parts = [_integrals(p, m[start : start + _CHUNK]) for start in range(0, m.size, _CHUNK)]
    return np.concatenate(parts) if parts else m.copy()


def _integrals(p: float, m: FloatArray) -> FloatArray:
    r"""(∫_0^∞ t^p [φ(t − m) + φ(t + m)] dt)^{1/p} for each m ≥ 0.

    t^p φ(t − m) has its mode at c = (m + √(m² + 4p))/2, where c(c − m) = p. At t = c + v its logarithm, less that at c,
    is p[ln(1 + v/c) − v/c] − v²/2, which falls off at least as fast as the Gaussian's; the other half is smaller.
    Panels of length 2 cover |v| ≤ 14; one that starts at t = 0 takes t^p into its weight (Jacobi), all others are at
    least their own length away from the branch point.
    """
    from scipy.special import roots_jacobi

    c = 0.5 * (m + np.sqrt(m * m + 4.0 * p))
    at_zero = c - _REACH < 2.0
    start = np.where(at_zero, -c, -_REACH)
    total = np.zeros_like(m)
    if at_zero.any():  # t in [0, 2]: 1 + x, with the weight (1 + x)^p
        x, w = roots_jacobi(48, 0.0, p)
        t, near, mode = 1.0 + x[None, :], m[at_zero, None], c[at_zero, None]
        logs = -0.5 * (t - near) ** 2 + 0.5 * (mode - near) ** 2 - p * np.log(mode)
        total[at_zero] = (np.exp(logs) * (1.0 + np.exp(-2.0 * t * near))) @ w
    for panel in range(16):
        v = (start + 2.0 * panel + 1.0)[:, None] + _NODES
        ratio = v / c[:, None]
        logs = p * (np.log1p(ratio) - ratio) - 0.5 * v * v
        values = np.exp(logs) * (1.0 + np.exp(-2.0 * (c[:, None] + v) * m[:, None]))
        total += np.where((panel == 0) & at_zero, 0.0, values @ _WEIGHTS)
    return np.asarray(c * np.exp((np.log(total) - 0.5 * (p / c) ** 2 - 0.5 * math.log(2.0 * math.pi)) / p))


# Means of draws.

FIRST = 256
LEVEL = 1e-6
LOOKS = 14


@dataclass(frozen=True)
class SimulatedMean:
    """Estimates of E M and of (E M²)^{1/2} from draws M.

    Attributes
    ----------
    mean, root_mean_square
        With intervals that hold together at the level asked for.
    certain
        E M within the limits of Gaussian concentration, which assumes nothing of the law of M; ``None`` where M is no
        Lipschitz function of the noise.
    draws, looks
        How many.
    reached
        Whether both intervals are as narrow as asked; if not, the looks ran out.
    """

    mean: Estimate
    root_mean_square: Estimate
    certain: Estimate | None
    draws: int
    looks: int
    level: float
    reached: bool


def estimate(
    draw: Callable[[int], FloatArray],
    relative_width: float,
    *,
    level: float = LEVEL,
    looks: int = LOOKS,
    lipschitz: float | None = None,
) -> SimulatedMean:
    """E M and (E M²)^{1/2} of non-negative draws M, both to this relative width; ``draw(t)`` makes t of them."""
    if not (isinstance(relative_width, (int, float)) and 0.0 < relative_width < 1.0):
        raise BadValue("relative_width", relative_width, "be above 0 and below 1", "give for example 0.02")
    if not (isinstance(level, (int, float)) and 0.0 < level < 1.0):
        raise BadValue("level", level, "be above 0 and below 1", "give for example 1e-6")
    looks = check_positive_integer("looks", looks)
    seen = np.empty(0)
    for look in itertools.count(1):
        seen = np.concatenate([seen, draw(max(FIRST, seen.size))])
        # Two intervals a look.
        mean, square = student(seen, level / (2 * looks)), student(seen * seen, level / (2 * looks))
        root = Estimate(*(math.sqrt(max(end, 0.0)) for end in (square.value, square.low, square.high)))
        reached = max(mean.relative_width, root.relative_width) <= relative_width
        if reached or look == looks:
            break
    certain = None
    if lipschitz is not None:
        half = lipschitz * math.sqrt(2.0 * math.log(2.0 * looks / level) / seen.size)
        certain = Estimate(mean.value, max(mean.value - half, 0.0), mean.value + half)
    return SimulatedMean(mean, root, certain, seen.size, look, level, reached)


def student(values: FloatArray, level: float = LEVEL) -> Estimate:
    """Return the mean of independent draws with Student's interval; its upper end is infinite for a single draw."""
    mean = float(values.mean())
    if len(values) < 2:
        return Estimate(mean, 0.0, math.inf)
    half = student_half_width(values, level)
    return Estimate(mean, mean - half, mean + half)
