"""Compiled binomial numbers and small samples of urns against their exact laws."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import stats

from factormech.mechanisms.local import binomial_kernels as kernels

DRAWS = 200_000
# Of every way, on both sides of where it ends, and of large numbers of both kinds.
LAWS = [(1, 0.3), (3, 0.5), (4, 0.5), (20, 0.05), (30, 0.33), (40, 0.24), (40, 0.26), (22, 0.5), (60, 0.9)]
LAWS += [(1000, 0.999), (1000, 0.02), (10**4, 0.3), (10**6, 0.7), (10**7, 1e-6), (10**7, 1e-3), (10**12, 1e-10)]


def p_value(drawn: np.ndarray, law: stats.rv_discrete) -> float:
    """Of a χ² test on cells of which each should hold many draws."""
    low, high = law.ppf(1e-3), law.ppf(1 - 1e-3)
    edges = np.unique(np.linspace(low, high, int(min(high - low, 80)) + 1).round())
    expected = DRAWS * np.diff([0.0, *law.cdf(edges), 1.0])
    observed = np.diff([0, *np.searchsorted(np.sort(drawn), edges, side="right"), DRAWS])
    kept = expected > 20
    assert observed[expected == 0].sum() == 0
    return float(stats.chi2.sf(np.sum((observed - expected)[kept] ** 2 / expected[kept]), max(kept.sum() - 1, 1)))


@pytest.mark.parametrize(("n", "p"), LAWS)
def test_binomial_numbers_have_their_law(n: int, p: float) -> None:
    rng = np.random.default_rng([n, int(1e9 * p)])
    drawn = kernels.parts(np.full((DRAWS, 2), n), np.array([0.5, p]), rng)[:, 1]
    assert 0 <= drawn.min() <= drawn.max() <= n
    assert p_value(drawn, stats.binom(n, p)) > 1e-4


def test_certain_and_impossible_parts_take_no_chance() -> None:
    state, rng = np.array([[0, 5, 7, 10**9], [3, 0, 1, 2]]), np.random.default_rng(0)
    drawn = kernels.parts(state, np.array([0.5, 0.0, 1.0, 1.0 + 1e-16]), rng)
    np.testing.assert_array_equal(drawn[:, 1:], state[:, 1:] * [0, 1, 1])
    assert drawn[0, 0] == 0 <= drawn[1, 0] <= 3


def test_ratios_of_probabilities_are_those_of_the_law() -> None:
    for n, p in [(30, 0.4), (1000, 0.02), (10**6, 0.3)]:
        mode, odds = math.floor((n + 1) * p), p / (1 - p)
        spread = int(5 * math.sqrt(n * p * (1 - p)))
        for k in range(max(0, mode - spread), min(n, mode + spread) + 1, max(1, spread // 40)):
            exact = sum(math.lgamma(a + 1) * sign for a, sign in ((mode, 1), (n - mode, 1), (k, -1), (n - k, -1))) + (
                k - mode
            ) * math.log(odds)
            assert kernels.log_ratio(float(k), float(mode), n, odds) == pytest.approx(exact, abs=1e-7)


def test_stirlings_tail_is_that_of_the_factorial() -> None:
    pi, half = Decimal("3.14159265358979323846264338327950288"), Decimal("0.5")
    with localcontext(prec=50):
        for k in [0, 1, 9, 15, 16, 17, 40, 1000]:
            stirling = (k + half) * Decimal(k + 1).ln() - (k + 1) + half * (2 * pi).ln()
            exact = Decimal(math.factorial(k)).ln() - stirling
            assert kernels.stirling_tail(float(k)) == pytest.approx(float(exact), abs=1e-14)


@pytest.mark.parametrize("few", [0, 1000])
def test_samples_of_urns_have_their_law_one_by_one_and_by_halvings(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from factormech.mechanisms.local import memberships

    monkeypatch.setattr(memberships, "_FEW", few)
    urn, drawn = np.array([4, 0, 9, 7, 1]), 8
    state, samples = np.broadcast_to(urn, (DRAWS, 5)), np.full(DRAWS, drawn)
    found = memberships._take(state, samples, np.random.default_rng(few))
    assert (found >= 0).all()
    assert (found <= urn).all()
    np.testing.assert_array_equal(found.sum(axis=1), drawn)
    for cell in (0, 2, 3):
        assert p_value(found[:, cell], stats.hypergeom(urn.sum(), urn[cell], drawn)) > 1e-4
    mean, share = found.mean(axis=0), urn / urn.sum()
    covariance = drawn * (np.diag(share) - np.outer(share, share)) * (urn.sum() - drawn) / (urn.sum() - 1)
    np.testing.assert_allclose(mean, drawn * share, atol=0.02)
    np.testing.assert_allclose(np.cov(found.T), covariance, atol=0.03)


def test_nothing_and_everything_can_be_taken() -> None:
    from factormech.mechanisms.local import memberships

    state = np.array([[2, 0, 5], [1, 1, 1], [0, 0, 0]])
    taken = memberships._take(state, np.array([7, 0, 0]), np.random.default_rng(0))
    np.testing.assert_array_equal(taken, [[2, 0, 5], [0, 0, 0], [0, 0, 0]])
