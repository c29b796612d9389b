"""Guarantees as values: what is refused, groups, relations, composition and conversion against closed forms."""

from __future__ import annotations

import itertools
import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factormech.errors import BadValue
from factormech.privacy.composition import approximate, compose, concentrated, concentrated_epsilon, optimal_delta
from factormech.privacy.gaussian import gaussian_delta, gaussian_deviation, laplace_scale
from factormech.privacy.guarantee import (
    CHAIN_LIMIT,
    REPLACE_ONE,
    UNIT_STEP,
    UNIT_STEP_OF_EQUAL_TOTALS,
    VERIFIED,
    Guarantee,
    exponential_below,
    guarantee_of,
    loss_of_ratio,
)

BAD = [
    ({"epsilon": -1.0}, "epsilon"),
    ({"epsilon": math.inf}, "epsilon"),
    ({"epsilon": math.nan}, "epsilon"),
    ({"epsilon": 1.0, "delta": 1.0}, "delta"),
    ({"epsilon": 1.0, "delta": -0.1}, "delta"),
    ({"epsilon": 1.0, "rho": 0.5}, "rho"),
    ({"epsilon": math.inf, "rho": math.inf}, "rho"),
    ({"epsilon": math.inf, "delta": 0.1, "rho": 1.0}, "rho"),
    ({"epsilon": 1.0, "ground": "trust me"}, "ground"),
]


@pytest.mark.parametrize(("numbers", "name"), BAD)
def test_what_is_no_guarantee_is_refused(numbers: dict[str, float], name: str) -> None:
    with pytest.raises(BadValue, match=f"^{name} = "):
        Guarantee(**numbers)  # type: ignore[arg-type]


@given(st.floats(0.0, 700.0))
@settings(max_examples=60, deadline=None)
def test_the_rational_number_is_below_the_exponential_and_near(x: float) -> None:
    found = exponential_below(x)
    with localcontext() as context:
        context.prec = 400
        below = Decimal(found.numerator) / Decimal(found.denominator)
        assert below <= Decimal(x).exp() <= below * (1 + Decimal(2) ** -90)


@given(st.floats(1.0, 1e300))
@settings(max_examples=60, deadline=None)
def test_the_loss_of_a_ratio_is_an_upper_bound(ratio: float) -> None:
    """Of a ratio that four roundings have made smaller, too."""
    assert exponential_below(loss_of_ratio(ratio)) >= Fraction(ratio) * (1 + Fraction(1, 2**50))


def test_groups_and_relations() -> None:
    step = Guarantee(0.5, 1e-6, relation=UNIT_STEP, ground=VERIFIED)
    replaced = step.under(REPLACE_ONE)
    assert replaced.epsilon == 1.0
    assert replaced.delta == pytest.approx(1e-6 * (math.exp(1.0) - 1) / (math.exp(0.5) - 1))
    assert replaced.delta > 1e-6 * (math.exp(1.0) - 1) / (math.exp(0.5) - 1)
    assert (replaced.relation, replaced.ground) == (REPLACE_ONE, VERIFIED)
    assert Guarantee(0.5, relation=UNIT_STEP_OF_EQUAL_TOTALS).under(REPLACE_ONE) == Guarantee(1.0)
    assert Guarantee(math.inf, rho=0.1).for_group(3).rho == pytest.approx(0.9)
    with pytest.raises(BadValue, match="be covered"):
        Guarantee(1.0).under(UNIT_STEP)
    with pytest.raises(BadValue, match="be covered"):
        step.under(UNIT_STEP_OF_EQUAL_TOTALS)
    with pytest.raises(BadValue, match="state its guarantee"):
        guarantee_of(object())
    with pytest.raises(BadValue, match="leave delta below 1"):
        Guarantee(1.0, 0.3).for_group(3)
    # e^720 is no float, and e^720·δ no δ that may be rounded down.
    for epsilon, delta in ((720.0, 1e-320), (800.0, 1e-9)):
        with pytest.raises(BadValue, match="leave delta below 1"):
            Guarantee(epsilon, delta).for_group(2)
    assert Guarantee(800.0).for_group(2) == Guarantee(1600.0)


def test_stronger_covers_weaker() -> None:
    assert Guarantee(1.0).covers(Guarantee(1.0, 1e-9))
    assert not Guarantee(1.0, 1e-9).covers(Guarantee(1.0))
    assert not Guarantee(1.0).covers(Guarantee(2.0, relation=UNIT_STEP))
    assert Guarantee(math.inf, rho=0.1).covers(Guarantee(math.inf, rho=0.2))


def test_sums_are_rounded_up_and_the_weakest_ground_stays() -> None:
    total = compose([Guarantee(0.1, 1e-7, ground=VERIFIED)] * 9 + [Guarantee(0.1, 1e-7, ground=CHAIN_LIMIT)])
    assert Fraction(total.epsilon) >= 10 * Fraction(0.1)
    assert total.epsilon == pytest.approx(1.0, rel=1e-15)
    assert Fraction(total.delta) >= 10 * Fraction(1e-7)
    assert total.ground == CHAIN_LIMIT
    assert compose([Guarantee(1.0), Guarantee(math.inf, rho=0.25)]).rho == 0.75


@pytest.mark.parametrize("count", [1, 2, 5, 9])
@pytest.mark.parametrize("total", [0.0, 0.5, 1.7])
def test_optimal_composition_is_that_of_randomized_response(count: int, total: float) -> None:
    """Σ max(P − e^{ε'}P', 0) over all answers of k randomized responses, by brute force."""
    epsilon, p = 0.6, math.exp(0.6) / (1 + math.exp(0.6))
    found = 0.0
    for bits in itertools.product((0, 1), repeat=count):
        ones = sum(bits)
        here, there = p**ones * (1 - p) ** (count - ones), (1 - p) ** ones * p ** (count - ones)
        found += max(here - math.exp(total) * there, 0.0)
    assert found <= optimal_delta(epsilon, count, total) <= found * (1 + 1e-8) + 1e-16


def true_delta(parts: list[Guarantee], total: float) -> float:
    """δ at ε' = ``total`` of the worst mechanisms with these guarantees, by brute force over all their answers.

    Each is a randomized response that gives its input away with probability δ_i (Kairouz, Oh & Viswanath 2015).
    """
    found = 0.0
    for bits in itertools.product((0, 1), repeat=len(parts)):
        here = there = 1.0
        for part, bit in zip(parts, bits, strict=True):
            p = 1.0 / (1.0 + math.exp(-part.epsilon))
            here, there = here * (p if bit else 1.0 - p), there * (1.0 - p if bit else p)
        found += max(here - math.exp(total) * there, 0.0)
    kept = math.prod(1.0 - part.delta for part in parts)
    return 1.0 - kept * (1.0 - found)


@pytest.mark.parametrize("delta", [0.3, 0.05, 1e-3])
@pytest.mark.parametrize(
    "parts",
    [
        [Guarantee(0.1)] * 10 + [Guarantee(0.4)],
        [Guarantee(0.4)] + [Guarantee(0.1)] * 10,
        [Guarantee(0.2)] * 11,
        [Guarantee(0.05 * i) for i in range(1, 11)],
        [Guarantee(0.3, 1e-5)] * 9 + [Guarantee(0.1, 3e-4)],
        [Guarantee(1.0)],
        [Guarantee(1.0, 1e-3)],
        [Guarantee(0.5, 1e-4), Guarantee(0.3)],
        [Guarantee(2.0)] * 3,
    ],
)
def test_unequal_parts_keep_what_is_stated(parts: list[Guarantee], delta: float) -> None:
    total = compose(parts, delta)
    assert true_delta(parts, total.epsilon) <= delta * (1 + 1e-12)
    assert total.epsilon <= sum(part.epsilon for part in parts) * (1 + 1e-12)


def test_optimal_composition_of_equal_parts_is_attained() -> None:
    """No smaller ε would do: a thousandth less spends more than δ."""
    parts = [Guarantee(0.2)] * 11
    total = compose(parts, 0.05)
    assert total.epsilon < 2.0
    assert true_delta(parts, total.epsilon * 0.999) > 0.05
    assert compose([Guarantee(0.01)], 0.5).epsilon <= 1e-9
    assert compose([Guarantee(0.5, 1e-9)] * 2, 0.9).epsilon <= 1e-9
    assert optimal_delta(40.0, 3, 0.0) == 1.0


def test_composition_takes_the_best_of_what_is_proved() -> None:
    few, many = compose([Guarantee(1.0)] * 2, 1e-9), compose([Guarantee(0.1)] * 200, 1e-6)
    assert few.epsilon == pytest.approx(2.0)
    assert many.epsilon < 0.5 * 20.0
    assert optimal_delta(0.1, 200, many.epsilon) <= 1e-6
    assert many.epsilon < concentrated_epsilon(200 * 0.005, 1e-6)
    mixed = compose([Guarantee(math.inf, rho=0.01), Guarantee(0.1)], 1e-6)
    assert mixed.epsilon == pytest.approx(concentrated_epsilon(0.015, 1e-6))
    with pytest.raises(BadValue, match="leave room for the δ of the parts"):
        compose([Guarantee(1.0, 1e-5)] * 2, 1e-6)
    with pytest.raises(BadValue, match="same neighbours"):
        compose([Guarantee(1.0), Guarantee(1.0, relation=UNIT_STEP)])
    with pytest.raises(BadValue, match="at least one"):
        compose([])
    with pytest.raises(BadValue, match="be 0 for a guarantee in zCDP"):
        compose([Guarantee(1.0, 1e-5), Guarantee(math.inf, rho=0.1)])


@pytest.mark.parametrize("rho", [1e-4, 0.1, 5.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.1])
def test_concentrated_privacy_is_converted_within_its_limits(rho: float, delta: float) -> None:
    """Better than Bun & Steinke's ρ + 2√(ρ ln(1/δ)), and never below what Gaussian noise of that ρ really has."""
    epsilon = approximate(Guarantee(math.inf, rho=rho), delta).epsilon
    assert epsilon < rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert gaussian_delta(1 / math.sqrt(2 * rho), max(epsilon, 1e-12)) <= delta


def formula(rho: float, delta: float, log_excess: float) -> Decimal:
    """The ε that Canonne, Kamath & Steinke (2020) prove for ρ-zCDP with one α, to forty digits."""
    with localcontext() as context:
        context.prec = 40
        excess, d = Decimal(log_excess).exp(), Decimal(delta)
        alpha = 1 + excess
        return Decimal(rho) * alpha - (d.ln() + alpha.ln()) / excess + (excess / alpha).ln()


@pytest.mark.parametrize("rho", [1e-6, 1e-3, 0.4, 30.0])
@pytest.mark.parametrize("delta", [1e-15, 1e-6, 0.05])
def test_the_conversion_is_the_least_over_all_orders(rho: float, delta: float) -> None:
    """By a search in steps of its own: never below the least that the formula gives, and above it by rounding alone."""
    grid = np.linspace(-12.0, 12.0, 121) + 0.5 * math.log(math.log(1.0 / delta) / rho)
    centre = min(grid, key=lambda x: formula(rho, delta, float(x)))
    for step in (0.2, 0.02, 0.002, 2e-4, 2e-5, 2e-6):
        centre = min(np.linspace(centre - step, centre + step, 21), key=lambda x: formula(rho, delta, float(x)))
    least = formula(rho, delta, float(centre))
    found = Decimal(concentrated_epsilon(rho, delta))
    if least > Decimal("1e-6"):
        assert least < found < least + Decimal("3e-9") * (abs(least) + Decimal(rho))
    else:
        assert max(least, Decimal(0)) <= found <= max(least, Decimal(0)) + Decimal("3e-9")


def test_no_loss_is_converted_to_none() -> None:
    assert concentrated_epsilon(0.0, 1e-6) == 0.0
    assert approximate(Guarantee(1.0, 1e-6), 1e-6) == Guarantee(1.0, 1e-6)


@pytest.mark.parametrize("sensitivity", [0.0, 1e-3, 2.0, 7.0])
@pytest.mark.parametrize("rho", [1e-9, 0.02, 0.3, 5.0])
def test_deviations_keep_rho_as_fractions(sensitivity: float, rho: float) -> None:
    """Δ²/2σ² ≤ ρ of the very floats, and σ is no larger than rounding makes it."""
    sigma = gaussian_deviation(sensitivity, Guarantee(math.inf, rho=rho))
    assert Fraction(sensitivity) ** 2 <= 2 * Fraction(sigma) ** 2 * Fraction(rho)
    assert sigma == pytest.approx(sensitivity / math.sqrt(2 * rho), rel=4e-15)


def test_noise_for_no_budget_is_refused() -> None:
    assert laplace_scale(0.0, Guarantee(1.0)) == 0.0
    with pytest.raises(BadValue, match="ε above 0"):
        laplace_scale(1.0, Guarantee(0.0))
    with pytest.raises(BadValue, match="δ or a ρ above 0"):
        gaussian_deviation(1.0, Guarantee(math.inf, rho=0.0))


def test_pure_privacy_becomes_concentrated() -> None:
    assert concentrated(Guarantee(0.3)).rho == pytest.approx(0.045)
    with pytest.raises(BadValue, match="be at least the guarantee's"):
        approximate(Guarantee(1.0, 1e-3), 1e-6)


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 100.0))
@settings(max_examples=50, deadline=None)
def test_laplace_scales_keep_the_budget_as_fractions(sensitivity: float, epsilon: float) -> None:
    scale = laplace_scale(sensitivity, Guarantee(epsilon))
    assert Fraction(sensitivity) / Fraction(scale) <= Fraction(epsilon)
    assert scale <= sensitivity / epsilon * (1 + 3e-16)


def test_deviations_by_guarantee() -> None:
    assert gaussian_deviation(2.0, Guarantee(math.inf, rho=0.5)) == pytest.approx(2.0)
    assert gaussian_delta(gaussian_deviation(3.0, Guarantee(1.0, 1e-6)) / 3.0, 1.0) <= 1e-6
    with pytest.raises(BadValue, match="have a δ or a ρ"):
        gaussian_deviation(1.0, Guarantee(1.0))
    with pytest.raises(BadValue, match="be ε-privacy"):
        laplace_scale(1.0, Guarantee(1.0, 1e-6))
    with pytest.raises(BadValue, match="sensitivity"):
        laplace_scale(np.inf, Guarantee(1.0))


def test_the_python_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "trust.md").read_text()
    (code,) = re.findall(r"^```python\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    exec(compile(code, "docs/trust.md", "exec"), {})  # noqa: S102
    assert VERIFIED in capsys.readouterr().out
