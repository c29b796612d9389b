r"""γ₂(W, α) and γ̂₂(W, α) of all marginals of one width w over d attributes, from w + 1 coefficients.

A query asks whether all of w literals hold; s of them do. Flips and permutations of attributes act transitively on
queries and on types, and the mean over the group of an optimal W̃ is as good: a function of s, W̃ = Σ_t f_tκ_t(s),
κ_t(s) = Σ_i (−1)^i C(w−s, i) C(s, t−i) being the sum of the products of t of the literals' signs. Its parts t have
orthogonal rows and columns and the singular value √(Nk·C(w,t)/C(d,t)) C(d, t) times, and γ₂ of an invariant matrix is
its trace norm over √(kN). So

.. math:: γ_2(W, α) = \min_f Σ_{t≥0} \sqrt{\tbinom dt \tbinom wt}\,|f_t| \quad\text{over}\quad
          |Σ_t f_tκ_t(s) - [s = w]| ≤ α \text{ for } 0 ≤ s ≤ w,

and γ̂₂(W, α) without the cost of f₀. By the duality of linear programs it is the largest y_w − α‖y‖₁ over |Σ_s
y_sκ_t(s)| ≤ √(C(d,t)C(w,t)): y_s is the mass that a row of U has where s literals are true. The programs have some 2w +
4 rows and are solved in rational arithmetic (``numerics.rational``), the roots rounded down: a lower end, and f costs
the upper one.

This is the growth in d/w beside Corollary 6 of Edmonds, Nikolov & Ullman (STOC 2020), to thousands of attributes.

**Certificates of hardness** of symmetric classes have what the bounds on users need of a dual matrix U. A certificate
at θ has W_v•U_v ≥ θ‖U_v‖₁ for every row that it uses; its strength is W•U/γ₂*(U), and pairs of laws whose half-gaps
are θ' differ by M̃_v = 2θ'U_v/(W_v•U_v), with ‖M̃‖ ≤ 2θ'/strength and ‖M̃_v‖₁ ≤ 2θ'/θ (``bounds.hard.certificate``;
for concept classes with labels ``learning.bounds``).

A *centre* of the pairs is a law ν of labelled users that is at least φq and at least |M̃_v|/2 for every v, q being the
column weights that prove γ₂*(U). All users of one kind have equal weights and equal masses, so the totals of the kinds
decide: with q_b the weight of kind b and D_b its number of users times the largest |M̃_vx|/2 over both labels, there is
one where Σ_b max(φq_b, D_b) ≤ 1, and the largest φ is the least of (1 − Σ_{b∉S}D_b)/Σ_{b∈S}q_b over the sets S of the
kinds with the smallest D_b/q_b.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.norms.boxes import checked_alpha
from factormech.numerics.rational import least, root_above, root_below
from factormech.numerics.rounding import above, rounded_down, rounded_up

# More than sums over at most some hundred kinds can lose to rounding.
_SHARE_SLACK = 1.0 - 1e-12


@dataclass(frozen=True, eq=False)
class Centre:
    """What decides which part of the column weights a centre of the pairs can keep.

    Attributes
    ----------
    weights
        q_b of every kind of user, their sum 1.
    spreads
        At least D_b of every kind, for pairs ν ± M̃_v/2 of half-gap 1.
    """

    weights: FloatArray
    spreads: FloatArray

    def share(self, theta: float) -> float:
        """Return at most the largest φ for pairs of half-gap θ; 0 where no centre exists."""
        q, D = np.maximum(self.weights, np.finfo(float).tiny), theta * self.spreads
        order = np.argsort(D / q)
        q, D = q[order], D[order]
        if float(D.sum()) >= 1.0:
            return 0.0
        rest = float(D.sum()) - np.cumsum(D)
        return min(max(float(((1.0 - rest) / np.cumsum(q)).min()) * _SHARE_SLACK, 0.0), 1.0)


@dataclass(frozen=True)
class Hardness:
    """The numbers of a certificate, which the bounds on users take in the place of a ``Witness``.

    Attributes
    ----------
    theta
        At most W_v•U_v/‖U_v‖₁ of every row that is used.
    strength
        At most W•U/γ₂*(U).
    peak
        At least max N|U_vx|/W_v•U_v where rows and columns are all alike, N types: how far the masses are from uniform.
        Infinite where it is not known.
    centre
        What decides the share of a centre where columns differ in kind; ``None`` where it is not known.
    """

    theta: float
    strength: float
    peak: float = math.inf
    centre: Centre | None = None

    def norm(self, theta: float) -> float:
        """At least ‖M̃‖ of the pairs of half-gap θ'."""
        return above(2.0 * theta / self.strength, 4) if self.strength > 0.0 else math.inf

    def row_mass(self, theta: float) -> float:
        """At least the largest ‖λ_v − μ_v‖₁ of the pairs of half-gap θ'."""
        return min(above(2.0 * theta / self.theta, 4), 2.0)

    def share(self, theta: float, protocol: str = "non-interactive") -> float:
        """The share φ of a centre at least |M̃_v|/2 (or M̃⁻_v, at most twice as large); 0 where none is known."""
        if self.centre is not None:
            return self.centre.share(theta if protocol == "non-interactive" else 2.0 * theta)
        if math.isinf(self.peak):
            return 0.0
        return float(above(theta * self.peak, 4) * (1.0 if protocol == "non-interactive" else 2.0) <= 1.0)


MOST_ATTRIBUTES, MOST_WIDTH = 2**16, 24
_NAME = re.compile(r"([1-9][0-9]?)-way-marginals")


@dataclass(frozen=True)
class PolynomialNorm:
    """A norm between two ends, with the exact rational numbers that prove both.

    Attributes
    ----------
    lower, upper
        The interval, rounded outward.
    coefficients
        f, (w + 1,).
    masses
        y, (w + 1,).
    distance
        The largest |Σ_t f_tκ_t(s) − [s = w]|.
    record
        ``method`` and the size.
    """

    lower: float
    upper: float
    coefficients: tuple[Fraction, ...]
    masses: tuple[Fraction, ...]
    distance: Fraction
    record: dict[str, object]

    @property
    def gap(self) -> float:
        """upper ÷ lower − 1; 0 where the norm is zero, infinite where the lower end proves nothing."""
        if self.lower <= 0.0:
            return 0.0 if self.upper == 0.0 else float("inf")
        return self.upper / self.lower - 1.0

    def __repr__(self) -> str:
        return f"<PolynomialNorm {self.lower:.7g} to {self.upper:.7g}, gap {self.gap:.2g}>"


@lru_cache(maxsize=32)
def krawtchouk(width: int) -> tuple[tuple[int, ...], ...]:
    """κ: row s, column t."""
    w = width
    return tuple(
        tuple(sum((-1) ** i * comb(w - s, i) * comb(s, t - i) for i in range(t + 1)) for t in range(w + 1))
        for s in range(w + 1)
    )


def marginals_norm(attributes: int, width: int, alpha: float, *, shifted: bool = False) -> PolynomialNorm:
    """Return γ₂(W, α), or γ̂₂(W, α), of all marginals of one width.

    Parameters
    ----------
    attributes, width
        d and w.
    alpha
        The entrywise error, below 1.
    shifted
        Whether a constant may be added to every row.

    Returns
    -------
    PolynomialNorm

    Raises
    ------
    BadValue
        If d, w or α is out of range.

    Examples
    --------
    >>> marginals_norm(4096, 16, 1 / 6)
    <PolynomialNorm ...>
    """
    d, w = checked_sizes(attributes, width)
    a = Fraction(checked_alpha(alpha))
    K, target = krawtchouk(w), [int(s == w) for s in range(w + 1)]
    rows = [[*K[s], *(-v for v in K[s])] for s in range(w + 1)]
    matrix = [*rows, *([-v for v in row] for row in rows)]
    limits = [*(target[s] + a for s in range(w + 1)), *(a - target[s] for s in range(w + 1))]
    found = least([*costs(d, w, shifted=shifted)] * 2, matrix, limits)
    f = tuple(found.x[t] - found.x[w + 1 + t] for t in range(w + 1))
    y = tuple(found.multipliers[w + 1 + s] - found.multipliers[s] for s in range(w + 1))
    lower = y[w] - a * sum(map(abs, y))
    upper = sum(
        (root_above(comb(d, t) * comb(w, t)) * abs(f[t]) for t in range(int(shifted), w + 1)), start=Fraction(0)
    )
    record: dict[str, object] = {"method": "polynomial", "attributes": d, "width": w}
    return PolynomialNorm(max(rounded_down(lower), 0.0), rounded_up(upper), f, y, distance(w, f), record)


def conjunctions_norm(attributes: int, width: int, alpha: float) -> tuple[float, float]:
    """Return both ends of γ₂(W, α) of all monotone conjunctions of at most w of d attributes.

    *Below.* With the types (y, ȳ) alone, y of ⌊d/2⌋ bits, a marginal is the conjunction of the attributes that its
    literals name: W has all marginals of one width of ⌊d/2⌋ attributes as a part, and an entry 1, so a norm of at least
    1 − α.

    *Above.* With w more attributes that all types have, a conjunction of v attributes is one of these v and of w − v
    new ones: W is a part of all marginals of width w over d + w attributes.

    Parameters
    ----------
    attributes, width
        d and w.
    alpha
        The entrywise error, below 1.

    Raises
    ------
    BadValue
        If d, w or α is out of range.

    Examples
    --------
    >>> lower, upper = conjunctions_norm(1024, 4, 1 / 6)
    >>> lower < upper < 2.1 * lower
    True
    """
    d, w = checked_sizes(attributes, width)
    lower = rounded_down(1 - Fraction(checked_alpha(alpha)))
    if d > 1:
        lower = max(lower, marginals_norm(d // 2, min(w, d // 2), alpha).lower)
    return lower, marginals_norm(d + w, w, alpha).upper


def hardness(attributes: int, width: int, theta: float) -> Hardness:
    r"""Return the best certificate of all marginals of one width at θ: the largest W•U/γ₂*(U) over W_v•U_v ≥ θ‖U_v‖₁.

    By symmetry it is a program in y: the largest y_w over |Σ_s y_sκ_t(s)| ≤ √(C(d,t)C(w,t)) for t ≥ 1, Σy = 0 and y_w ≥
    θ‖y‖₁.

    Parameters
    ----------
    attributes, width
        d and w.
    theta
        θ, above 0 and at most ½ (half of what a query of a zero-sum row can agree).
    """
    d, w = checked_sizes(attributes, width)
    if not 0.0 < theta <= 0.5:
        raise BadValue("theta", theta, "be above 0 and at most 1/2", "give for example 0.1")
    size, ends = costs(d, w, shifted=True), [int(s == w) for s in range(w + 1)]
    found = least([*size, *size, 0], _scaled_box(w, Fraction(theta)), [*ends, *(-e for e in ends)])
    y = tuple(found.multipliers[w + 1 + s] - found.multipliers[s] for s in range(w + 1))
    peak: Fraction = max(abs(y[s]) * 2**w / comb(w, s) for s in range(w + 1)) / y[w]
    return Hardness(rounded_down(y[w] / sum(map(abs, y))), rounded_down(y[w]), rounded_up(peak))


def best_polynomial(attributes: int, width: int, alpha: float) -> tuple[float, float]:
    """Return γ̂₂(W, a) and a of the least γ̂₂(W, a)/(α − a), both from above, for all marginals of one width."""
    f = best_coefficients(attributes, width, alpha)
    d, w = checked_sizes(attributes, width)
    norm = sum((root_above(comb(d, t) * comb(w, t)) * abs(f[t]) for t in range(1, w + 1)), start=Fraction(0))
    return rounded_up(norm), rounded_up(distance(w, f))


def best_coefficients(attributes: int, width: int, alpha: float) -> tuple[Fraction, ...]:
    r"""Return f, (w + 1,), of the least γ̂₂(W, a)/(α − a) for all marginals of one width.

    With z = 1/(α − a) and f' = zf it is one program: least cost of f' over |Σ_t f'_tκ_t(s) − z[s = w]| ≤ αz − 1.
    """
    d, w = checked_sizes(attributes, width)
    a = Fraction(checked_alpha(alpha))
    if not 0 < a < Fraction(1, 2):
        raise BadValue("alpha", alpha, "be above 0 and below 1/2, the error of a constant", "give for example 0.1")
    found = least([*costs(d, w, shifted=True)] * 2 + [Fraction(0)], _scaled_box(w, a), [-1] * (2 * w + 2))
    z = found.x[-1]
    return tuple((found.x[t] - found.x[w + 1 + t]) / z for t in range(w + 1))


def _scaled_box(width: int, radius: Fraction) -> list[list[Fraction | int]]:
    """Rows of ±(Σ_t f_tκ_t(s) − z[s = w]) − z·radius in f₊, f₋ and z."""
    rows: list[list[Fraction | int]] = []
    for sign in (1, -1):
        for s, row in enumerate(krawtchouk(width)):
            rows.append([*(sign * v for v in row), *(-sign * v for v in row), -sign * int(s == width) - radius])
    return rows


def costs(attributes: int, width: int, *, shifted: bool) -> list[Fraction]:
    """√(C(d,t)C(w,t)) from below, t = 0, …, w; nothing for the constant where it is free."""
    d, w = attributes, width
    return [Fraction(0) if shifted and t == 0 else root_below(comb(d, t) * comb(w, t)) for t in range(w + 1)]


def distance(width: int, coefficients: tuple[Fraction, ...]) -> Fraction:
    """The largest error of the polynomial at s = 0, …, w."""
    values = [sum((f * k for f, k in zip(coefficients, row, strict=True)), Fraction(0)) for row in krawtchouk(width)]
    return max(abs(value - int(s == width)) for s, value in enumerate(values))


def width_of(name: Any) -> int | None:
    """w of the name ``{w}-way-marginals``, or ``None``."""
    match = _NAME.fullmatch(name) if isinstance(name, str) else None
    return int(match[1]) if match else None


def checked_sizes(attributes: Any, width: Any) -> tuple[int, int]:
    """d and w as whole numbers that the programs take."""
    for name, value, most in (("attributes", attributes, MOST_ATTRIBUTES), ("width", width, MOST_WIDTH)):
        good = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not good or not 1 <= value <= most:
            rule = f"be a whole number from 1 to {most} for marginals of one width"
            raise BadValue(name, value, rule, "give for example 16 attributes and width 3")
    if width > attributes:
        raise BadValue("width", width, f"be at most {attributes}, the number of attributes", "give a smaller one")
    return int(attributes), int(width)
