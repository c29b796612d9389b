"""How many users are enough: found in a few looks, and the same as one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from factormech.mechanisms.local.factorized import tails


def test_real_number_of_users_meets_alpha() -> None:
    """log Σexp(n(ℓ_j − τα)) = 0 there, whatever the sizes; nothing is enough where an ℓ_j is τα or more."""
    rng = np.random.default_rng(31)
    for _ in range(50):
        tau, alpha = 10.0 ** rng.uniform(-3, 2, size=2)
        exponents = tau * alpha * (1.0 - rng.random(30) * 10.0 ** rng.uniform(-4, 2))
        n = math.exp(tails._users(exponents, tau, alpha))
        assert tails.bound(exponents, tau, n) == pytest.approx(alpha, rel=1e-9)
    assert tails._users(np.array([0.1, 0.5]), 1.0, 0.5) == math.inf


@pytest.mark.parametrize("spread", [0.0, 1.0, 5.0])
def test_threshold_leaves_one_beyond_it(spread: float) -> None:
    """Σ P(|X_q| > T) = 1 at T, and no T of a fine grid gives a lower bound."""
    rng = np.random.default_rng(32)
    for k in (1, 2, 40):
        b = np.abs(rng.standard_normal(k)) * (k % 2)
        s = np.exp(spread * rng.standard_normal(k))
        T = tails._threshold(b, s)
        beyond = float(np.sum(ndtr((b - T) / s) + ndtr(-(b + T) / s)))
        assert beyond == pytest.approx(1.0, abs=1e-9)
        bound = tails.expected_maximum(b, s)
        for other in np.linspace(0.5, 2.0, 61) * T:
            assert other + float(np.sum(tails._excess(b, s, float(other)))) >= bound * (1.0 - 1e-14)
