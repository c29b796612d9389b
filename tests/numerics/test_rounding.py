"""Outward rounding, held against rational arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from factormech.errors import BadValue
from factormech.numerics import rounding
from tests.norms import exactly


def test_spectral_norm_is_above_the_exact_one() -> None:
    """t²I − BᵀB is positive definite in rational arithmetic at the bound, and no longer a little below it."""
    rng = np.random.default_rng(0)
    orthogonal = np.linalg.qr(rng.standard_normal((8, 5)))[0]
    for B in (rng.standard_normal((7, 4)), rng.standard_normal((3, 6)), orthogonal, np.outer(np.ones(6), np.ones(4))):
        t = rounding.spectral_norm_above(B)
        X = exactly.exact(B if len(B) >= B.shape[1] else B.T)
        gram = exactly.product([list(c) for c in zip(*X, strict=True)], X)
        for bound, good in ((Fraction(t), True), (Fraction(t) * (1 - Fraction(1, 10**11)), False)):
            S = [[(bound**2 if i == j else 0) - gram[i][j] for j in range(len(gram))] for i in range(len(gram))]
            assert exactly.is_positive_definite(S) is good


def test_sums_and_products() -> None:
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((9, 11)), rng.standard_normal((9, 11))
    value = sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(X.ravel(), Y.ravel(), strict=True))
    X, Y = (X, Y) if value > 0 else (X, -Y)
    low = rounding.inner_product_below(X, Y, roundings=0)
    assert abs(value) * (1 - Fraction(1, 10**11)) < Fraction(low) < abs(value)
    norms = rounding.squared_norms_above(X, 0)
    for bound, column in zip(norms, X.T, strict=True):
        exact = sum(Fraction(float(x)) ** 2 for x in column)
        assert exact < Fraction(float(bound)) < exact * (1 + Fraction(1, 10**13))


@pytest.mark.parametrize("exponent", [1.0, 1.5, 40.0, math.inf])
def test_power_means(exponent: float) -> None:
    values = np.array([3.0, 1e-200, 0.7, 0.0])
    mean = 3.0 if math.isinf(exponent) else (math.fsum(v**exponent for v in values) / 4) ** (1 / exponent)
    assert mean <= rounding.power_mean_above(values, exponent, 4) <= mean * (1 + 1e-13)


def test_scaling_back() -> None:
    scaled, e = rounding.scaled_exactly(np.array([[3e200, -1e180]]))
    assert 0.5 <= np.abs(scaled).max() < 1.0
    assert rounding.scaled_interval(0.5, 1.0, 2000) == (np.finfo(float).max, math.inf)
    low, high = rounding.scaled_interval(0.3, 0.3, -1073)
    assert low < high
    assert np.ldexp(scaled, e)[0, 0] == 3e200
    with pytest.raises(BadValue):
        rounding.scaled_exactly(np.array([[1e300, 3e-310]]))


@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(-1, 3), Fraction(10**30 + 1, 7), Fraction(1, 2), Fraction(0)])
@pytest.mark.parametrize("exact", [Fraction, lambda x: Context(prec=60).divide(Decimal(x.numerator), x.denominator)])
def test_floats_on_either_side_of_an_exact_number(x: Fraction, exact: Callable[[Fraction], Fraction | Decimal]) -> None:
    """Neighbours, or one float where it is the number itself."""
    low, high = rounding.rounded_down(exact(x)), rounding.rounded_up(exact(x))
    assert Fraction(low) <= Fraction(exact(x)) <= Fraction(high)
    assert high == (low if Fraction(exact(x)) == Fraction(low) else math.nextafter(low, math.inf))


def test_growth_exceeds_what_roundings_do() -> None:
    for count in (1, 10, 10**6, 10**10):
        with localcontext() as context:
            context.prec = 60
            assert Decimal(rounding.growth(count)) >= (1 - Decimal(2) ** -53) ** -count


@pytest.mark.parametrize("count", [1, 3, 100, 10**6])
def test_margins_hold_so_many_roundings_and_little_more(count: int) -> None:
    """Each rounding multiplies by at most 1 + u or divides by at least 1 − u, u = 2⁻⁵³; margins are twice that."""
    with localcontext() as context:
        context.prec = 60
        u = Decimal(2) ** -53
        most, least = (1 - u) ** -count, (1 - u) ** count
        exact = count * u / (1 - count * u)
        assert exact <= Decimal(rounding.gamma(count)) <= exact * (1 + 20 * u)
        assert most <= Decimal(rounding.growth(count)) <= 1 + Decimal("1.002") * (count + 4) * u
        for value in (1.0, 0.3, 1e300, 7e-200):
            v, wide = Decimal(value), (2 * count + 8) * u
            assert v * most <= Decimal(rounding.above(value, count)) <= v * (1 + wide)
            assert v * (1 - wide) <= Decimal(rounding.below(value, count)) <= v * least


def test_norms_say_their_roundings() -> None:
    """At order 5: the quotient's and a power's of 4 and the sum's, by the fifth root 2; the root's 4, two products."""
    values = np.array([3.0, 1e-200, 0.7])
    assert rounding.norm(values, 1.0) == (math.fsum(values), 1.0)
    assert rounding.norm(values, math.inf) == (3.0, 0.0)
    found, roundings = rounding.norm(values, 5.0)
    assert roundings == 2 + 4 + 2
    with localcontext() as context:
        context.prec = 60
        exact = sum(Decimal(v) ** 5 for v in values) ** (Decimal(1) / 5)
        assert abs(Decimal(found) / exact - 1) <= Decimal(rounding.growth(roundings)) - 1


@pytest.mark.parametrize("exponent", [-1073, -1050, -1030, 5])
@pytest.mark.parametrize(
    ("lower", "upper"), [(0.3, 0.7), (0.3, 2.0**1000), (0.0, 0.3), (0.0, 0.6), (0.0, 2.0**-60), (2.0**-60, 1.0)]
)
def test_an_interval_is_scaled_outward(lower: float, upper: float, exponent: int) -> None:
    low, high = rounding.scaled_interval(lower, upper, exponent)
    factor = Fraction(2) ** exponent
    assert 0 <= Fraction(low) <= Fraction(lower) * factor
    assert Fraction(high) >= Fraction(upper) * factor
    if exponent == 5:
        assert (low, high) == (32 * lower, 32 * upper)
