r"""What a Dirichlet prior and one ε-LDP report know of the distribution of types, and the constants C_r of Theorem E.

**The prior and one report.** Setting and proofs: ``docs/lower-bounds-every-protocol.md``. The prior has the
parameters bm_u, of sum b; for m uniform on n types, β = b/n. For a bound of the form f²(Σz_ig_i)²/(N·information +
prior·Σw_iz_i²) a :class:`Field` has the numbers f², information (per user) and prior. The functions take floats,
arrays of them or fractions. Fractions give numbers that hold in exact arithmetic: f² rounded down, the others up.

**The constants C_r.** C_r bounds from below the expected largest error of a posterior with little Fisher information.
For a density u² on ℝʳ, μ > 0 and T = ‖x‖_∞ let 4μ = 1 by a choice of units. For every continuous, piecewise smooth
field F, ∫|∇u + uF|² ≥ 0 gives ∫|∇u|² ≥ ∫u²(div F − |F|²). With F_i = (θ/T)tan(θx_i/T), θ = θ(T), and b(t) = θ tan θ/t
the right side is E G(T),

.. math:: G(t) = (r-1)\frac{\theta^2}{t^2} + b' - b^2 ,

as only the largest coordinate sees b change. So E T + ∫|∇u|² ≥ e for every e ≤ inf_t t + G(t), and with S the trace of
the information of u², E T ≥ max_μ e(4μ)^{1/3} − μS = (4/(3√3))e^{3/2}/√S = C_r√(r/S). At the best e the function b
solves b' = b² − (r−1)θ²/t² + e − t from b(0) = 0 and falls to 0 no earlier than at t = e; from there on b = 0.
C_r → π, which the densities Πcos²(πx_i/2τ) on a box attain.

The equation is solved on a grid in floating point; e is then lowered to what the piecewise linear b certifies on every
interval: b/t is monotone on each, and θ²/y, y = θ tan θ, falls in y.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon
from factormech.bounds.certificates import exponential_bound, rounded_up
from factormech.bounds.rigorous import largest_information

# The prior and one report.

# A float, an array of floats or a fraction.
Number: TypeAlias = Any

# a ≥ e^ε is a multiple of 2 to minus this, relatively to a − 1 still exact to 2⁻⁸⁰ at ε = 0.001.
RATIO_BITS = 90
# Γ(x+½)/Γ(x): arguments are raised by this many steps; the continued fraction has this many terms. 25 digits agree.
_STEPS, _TERMS = 24, 24
# Square roots of fractions are rounded up at this many bits.
_ROOT_BITS = 120


@dataclass(frozen=True)
class Field:
    """The numbers of one prior and one kind of vector field: f², the information per user, and that of the prior."""

    gain: Number
    information: Number
    prior: Number


@lru_cache(maxsize=256)
def ratio_above(epsilon: float) -> Fraction:
    """A rational number a ≥ e^ε; every ε-LDP channel is (log a)-LDP."""
    return rounded_up(exponential_bound(Fraction(check_epsilon(epsilon))), RATIO_BITS)


def contraction(ratio: Number) -> Number:
    """tanh²(ε/2), a = e^ε (Lemma 4)."""
    return ((ratio - 1) / (ratio + 1)) ** 2


def trace_limit(ratio: Number) -> Number:
    """sinh²(ε/2), a = e^ε (Lemma 1)."""
    return (ratio - 1) ** 2 / (4 * ratio)


def uniform_trace_limit(types: int, ratio: Fraction) -> Fraction:
    """σ_m: tr(I_Q(p)D) ≤ σ_m at the uniform distribution p on m types, D = P/m (Lemma 1)."""
    return largest_information(types, ratio)


def constant_field(
    types: int, beta: Number, limit: Number, tanh_squared: Number, spread: Number | None = None
) -> Field:
    """The numbers of constant fields at the uniform centre, β > 2.

    Parameters
    ----------
    types
        m.
    limit
        Λ: the information of one report at the centre along the fields, such as ``uniform_trace_limit``.
    tanh_squared
        ``contraction``.
    spread
        Σℓ_u² of a certificate whose multiplier is Λℓ; without it ℓ is uniform.
    """
    b = types * beta
    by_centre = (b - 1) / (types * (beta - 1)) - 1
    if spread is None:
        chi = tanh_squared * by_centre
    else:
        chi = tanh_squared * root_above((spread * (b - 1) / (beta - 1) - 1) * by_centre)
    return Field(1, limit * (1 + chi), (b - 1) * (b - 2) / ((beta - 2) * types))


def root_field(types: int, beta: Number, limit: Number) -> Field:
    """The numbers of square-root fields at the uniform centre, β > 1; ``limit`` is sinh²(ε/2)."""
    b = types * beta
    low, high = gamma_ratio_squared(beta)
    top = gamma_ratio_squared(b)[1]
    # β − ½ and b − ½, twice.
    less, all_less = 2 * beta - 1, 2 * b - 1
    prior = (less**2 * (b - 1) / (beta - 1) - 2 * less * all_less + all_less**2 / types) / 4
    return Field(types * low / top * (2 * b / (2 * b + 1)) ** 2, limit, prior + high * (1 - 1 / (4 * b)))


def centred_field(parameters: Sequence[Number], limit: Number, tanh_squared: Number) -> Field:
    """The numbers of constant fields for the Dirichlet parameters bm_u > 2; ``limit`` is sinh²(ε/2)."""
    b = sum(parameters[1:], parameters[0])
    spread = sum(x * x / (x - 1) for x in parameters) * (b - 1) / (b * b) - 1
    prior = max(x / (x - 2) for x in parameters) * (b - 1) * (b - 2) / b
    return Field(1, limit * (1 + tanh_squared * spread), prior)


def gamma_ratio_squared(x: Number) -> tuple[Number, Number]:
    """Bounds on (Γ(x+½)/Γ(x))² from below and above, x ≥ 1, exact to 25 digits in fractions.

    Neighbouring convergents of Brouncker's continued fraction s + 1²/(2s + 3²/(2s + …)) = 4(Γ(x+½)/Γ(x))², s = 4x − 1,
    lie on both sides, at x + K; Γ(x+3/2)/Γ(x+1) = (x+½)/x·Γ(x+½)/Γ(x) leads back to x.
    """
    back = (2 * x / (2 * x + 1)) ** 2
    for k in range(1, _STEPS):
        back = back * ((2 * x + 2 * k) / (2 * x + 2 * k + 1)) ** 2
    s = 4 * (x + _STEPS) - 1
    ends = []
    for terms in (_TERMS, _TERMS + 1):
        tail = 2 * s
        for k in range(terms, 1, -1):
            tail = 2 * s + (2 * k - 1) ** 2 / tail
        ends.append((s + 1 / tail) * back / 4)
    # An even number of terms ends below the limit, an odd one above it.
    return ends[0], ends[1]


def root_above(x: Number) -> Number:
    """√x for a float; for a fraction a rational number that is at least √x, and 0 for x ≤ 0."""
    if x <= 0:
        return type(x)(0)
    if isinstance(x, Fraction):
        scaled = math.ceil(x * 4**_ROOT_BITS)
        return Fraction(math.isqrt(scaled) + 1, 2**_ROOT_BITS)
    return math.sqrt(x)


# The constants C_r.

# Steps up to t = e, 8 for each row where those are more; parts of each where the bound is evaluated; values of e that
# are tried at once, and how often.
_GRID_STEPS, _PARTS, _TRIED, _ROUNDS = 1200, 4, 40, 4
# The equation is solved up to this multiple of e.
_BEYOND = 3.0
# A solution of this size blows up; relative rounding of all that is evaluated.
_BLOWN, _MARGIN = 1e5, 1e-10
_ANGLES = np.concatenate([[0.0], np.geomspace(1e-6, 0.5 * math.pi * (1.0 - 1e-7), 60_000)])
_VALUES = _ANGLES * np.tan(_ANGLES)


@lru_cache(maxsize=64)
def box_constant(rows: int) -> float:
    """C_r, rounded down, for r ≥ 1."""
    best = 0.0
    low, high = 0.5, 1.1 * (27.0 * math.pi**2 / 16.0 * rows) ** (1.0 / 3.0) + 1.0
    for _ in range(_ROUNDS):
        tried = np.linspace(low, high, _TRIED)
        t, b, ends = _solutions(tried, rows)
        good = np.flatnonzero(ends)
        if not len(good):
            break
        last = int(good[-1])
        for i in good[-3:]:
            best = max(best, certified(t[: ends[i] + 1, i], b[: ends[i] + 1, i], rows))
        low, high = float(tried[last]), float(tried[min(last + 1, _TRIED - 1)])
    return 4.0 / (3.0 * math.sqrt(3.0)) * best * math.sqrt(best / rows) * (1.0 - _MARGIN)


def about(rows: IntArray) -> FloatArray:
    """C_r to some per cent, for a search."""
    root = np.asarray(rows, dtype=float) ** (-1.0 / 3.0)
    return np.asarray(math.pi * (1.0 - root * (1.0 - 0.26 * root)))


def certified(t: FloatArray, b: FloatArray, rows: int) -> float:
    """A lower bound on inf_t t + G(t) for the piecewise linear b ≥ 0 with b(0) = 0, and b = 0 after the last knot."""
    slope = np.repeat(np.diff(b) / np.diff(t), _PARTS)
    shares = np.arange(_PARTS * (len(t) - 1) + 1) / _PARTS
    t, b = np.interp(shares, np.arange(len(t)), t), np.interp(shares, np.arange(len(b)), b)
    ratio = b / np.where(t > 0.0, t, 1.0)
    ratio[0] = ratio[1]
    highest = np.maximum(b[1:], b[:-1])
    y = t[1:] * highest
    flat = _theta(y) ** 2 / np.where(y > 0.0, y, 1.0)
    flat[y <= 0.0] = 0.0
    values = t[:-1] + (rows - 1) * flat * np.minimum(ratio[1:], ratio[:-1]) + slope - highest**2
    return min(float(values.min()), float(t[-1])) * (1.0 - _MARGIN)


def _theta(y: FloatArray) -> FloatArray:
    """Lower bounds on the θ < π/2 with θ tan θ = y ≥ 0: the knot of the table before it."""
    index = np.searchsorted(_VALUES, y, side="right") - 1
    theta = _ANGLES[index]
    # Newton's step from below on the convex θ tan θ goes too far; a step with the slope of the next knot does not.
    following = np.minimum(index + 1, len(_ANGLES) - 1)
    rise = _VALUES[following] - _VALUES[index]
    width = _ANGLES[following] - theta
    chord = theta + np.where(rise > 0.0, (y - _VALUES[index]) / np.where(rise > 0.0, rise, 1.0) * width, 0.0)
    # The chord of a convex function is above it, so θ is above the chord's point.
    return np.asarray(np.minimum(chord, _ANGLES[-1]) * (1.0 - 1e-12))


def _solutions(e: FloatArray, rows: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Knots t and b of the equation for every e, (knots, tried), and the knot at which b falls to 0; 0 where none.

    Up to (r−1)/2.5 steps, where the equation is stiff, b = et/r − t²/(r+1), right to the third order in t.
    """
    steps = max(_GRID_STEPS, 8 * rows)
    count, h = int(_BEYOND * steps), e / steps
    start = 1 + math.ceil((rows - 1) / 2.5)
    t = np.arange(count + 1)[:, None] * h
    b = e / rows * t - t**2 / (rows + 1)
    for k in range(start, count):
        now, at = t[k], b[k]
        first = _rate(now, at, e, rows)
        second = _rate(now + 0.5 * h, at + 0.5 * h * first, e, rows)
        third = _rate(now + 0.5 * h, at + 0.5 * h * second, e, rows)
        step = first + 2.0 * second + 2.0 * third + _rate(now + h, at + h * third, e, rows)
        b[k + 1] = np.clip(at + h / 6.0 * step, -1.0, _BLOWN)
    over = np.logical_or.accumulate(b >= _BLOWN, axis=0)
    down = (b <= 0.0) & ~over
    down[: start + 1] = False
    ends = np.where(down.any(axis=0), down.argmax(axis=0), 0)
    b[ends[ends > 0], np.flatnonzero(ends)] = 0.0
    return t, b, ends


def _rate(t: FloatArray, b: FloatArray, e: FloatArray, rows: int) -> FloatArray:
    """b' = b² − (r−1)θ²/t² + e − t."""
    y = t * np.clip(b, 0.0, _BLOWN)
    theta = np.interp(y, _VALUES, _ANGLES)
    return np.asarray(np.minimum(b, _BLOWN) ** 2 - (rows - 1) * (theta / t) ** 2 + e - t)
