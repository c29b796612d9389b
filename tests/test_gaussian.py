"""The analytic Gaussian calibration against the definition of (ε, δ)."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from factormech.errors import BadValue
from factormech.privacy.gaussian import gaussian_delta, gaussian_noise_multiplier


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("s", [0.15, 0.6, 3.0, 20.0])
def test_delta_is_the_hockey_stick_divergence(s: float, epsilon: float) -> None:
    # ∫ max(p − e^ε p', 0) over the half line where the privacy loss exceeds ε.
    edge = epsilon * s * s - 0.5
    total = quad(
        lambda x: norm.pdf(x, 0, s) * -math.expm1(epsilon - (0.5 + x) / s**2),
        edge,
        edge + 40 * s,
        epsabs=0,
        epsrel=1e-12,
        limit=200,
        points=[max(edge, 0.0) + k * s for k in (0.5, 2.0, 6.0)],
    )[0]
    assert gaussian_delta(s, epsilon) == pytest.approx(total, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 0.3, 5.0, 200.0])
def test_delta_is_stable_where_its_terms_cancel(epsilon: float) -> None:
    # dδ/dμ = φ(μ/2 − ε/μ), so δ is an integral of positive numbers.
    for s in (1.0, 10.0, 1e4, 1e8):
        mu = 1 / s
        grid = mu * np.exp(-np.linspace(0.0, 40.0, 400_001))
        integrand = norm.pdf(grid / 2 - epsilon / grid) * grid
        total = np.trapezoid(integrand, dx=1e-4)
        if total > 1e-280:
            assert gaussian_delta(s, epsilon) == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize("delta", [1e-300, 1e-9, 1e-3, 0.4, 0.99])
@pytest.mark.parametrize("epsilon", [1e-8, 0.1, 1.0, 12.0, 300.0])
def test_multiplier_is_private_and_no_larger_than_needed(epsilon: float, delta: float) -> None:
    s = gaussian_noise_multiplier(epsilon, delta)
    assert gaussian_delta(s, epsilon) <= delta
    assert gaussian_delta(s * (1 - 1e-9), epsilon) > delta


def test_multiplier_beats_the_classical_calibration() -> None:
    assert gaussian_noise_multiplier(0.5, 1e-6) == pytest.approx(8.0576, abs=5e-4)
    assert gaussian_noise_multiplier(0.5, 1e-6) < math.sqrt(2 * math.log(1.25e6)) / 0.5


@pytest.mark.parametrize("delta", [0, 1, -0.1, math.nan, "1e-9", True])
def test_bad_delta_is_refused(delta: object) -> None:
    with pytest.raises(BadValue, match="delta"):
        gaussian_noise_multiplier(1.0, delta)  # type: ignore[arg-type]


def mills(x: Decimal) -> Decimal:
    """Φ(−x)/φ(x) by Laplace's continued fraction: fifty digits after two hundred levels where x is above 20."""
    found = Decimal(0)
    for k in range(200, 0, -1):
        found = k / (x + found)
    return 1 / (x + found)


@pytest.mark.parametrize(("noise", "epsilon"), [(2.0, 15.2), (2.0, 15.6), (5.0, 6.3), (1.0, 32.0), (30.0, 1.01)])
def test_delta_far_in_the_tail(noise: float, epsilon: float) -> None:
    """Around 30 and beyond, where the difference of two Mills ratios is a series."""
    with localcontext() as context:
        context.prec = 60
        s, e = Decimal(noise), Decimal(epsilon)
        near, far = e * s - 1 / (2 * s), e * s + 1 / (2 * s)
        pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
        expected = (-near * near / 2).exp() / (2 * pi).sqrt() * (mills(near) - mills(far))
        assert gaussian_delta(noise, epsilon) == pytest.approx(float(expected), rel=5e-11)
