r"""What a Dirichlet prior and one ε-LDP report know of the distribution of the types.

Setting and proofs: ``docs/lower-bounds-every-protocol.md``. The prior has the parameters bm_u, of sum b; for m uniform
on n types, β = b/n. For a bound of the form f²(Σz_ig_i)²/(N·information + prior·Σw_iz_i²) a :class:`Field` has the
numbers f², information (per user) and prior. The functions take floats, arrays of them or fractions. Fractions give
numbers that hold in exact arithmetic: f² rounded down, the others up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from factormech.arrays import check_epsilon
from factormech.bounds.rational import exponential_bound, rounded_up
from factormech.bounds.rigorous import largest_information

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
