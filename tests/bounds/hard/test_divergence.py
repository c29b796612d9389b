"""One report's divergences against the best channel there is, and what n reports allow."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.bounds.hard import divergence
from factormech.bounds.hard.certificate import best_witness
from factormech.bounds.hard.pairs import HardPairs, around_centre, from_witness, mix_rows, weighted
from factormech.errors import BadValue, UnknownName
from tests.bounds.hard import oracles
from tests.bounds.hard.oracles import exact_norm

pytestmark = pytest.mark.heavy

WORKLOADS = oracles.workloads()
EPSILONS = (0.3, 1.0, 2.5)


def families(name: str) -> list[HardPairs]:
    W = WORKLOADS[name]
    witness = best_witness(W, 0.05).witness
    plain = from_witness(witness.matrix, W)
    return [plain, weighted(mix_rows(plain, W, 0.05))[0], weighted(around_centre(witness, W, 0.02))[0]]


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_channel_beats_the_bounds(name: str, epsilon: float) -> None:
    for family in families(name):
        norm = exact_norm(family)
        for term, bound in (
            (oracles.chi2, divergence.chi_squared),
            (oracles.kl, divergence.kullback_leibler),
            (lambda p, q: oracles.kl(q, p), divergence.kullback_leibler),
            (oracles.hellinger, divergence.squared_hellinger),
            (oracles.variation, divergence.total_variation),
        ):
            assert oracles.best_channel(family, epsilon, term) <= bound(norm, epsilon) * (1 + 1e-9)


def test_the_bounds_are_nearly_attained() -> None:
    """A coin at small ε: half of any constant would be refuted."""
    coin = np.array([[0.55, 0.45]])
    family = HardPairs(coin, coin[:, ::-1].copy(), np.ones(1), np.zeros(1, dtype=np.int64))
    norm = exact_norm(family)
    for term, bound in (
        (oracles.chi2, divergence.chi_squared),
        (oracles.kl, divergence.kullback_leibler),
        (oracles.hellinger, divergence.squared_hellinger),
        (oracles.variation, divergence.total_variation),
    ):
        assert oracles.best_channel(family, 0.01, term) >= 0.97 * bound(norm, 0.01)


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_pairs_around_a_centre(name: str, epsilon: float) -> None:
    """Σ(p−q)²/ρ ≤ sinh²(ε/2)Y/φ, and log-affinity and KL(ν‖λ) within what ``users_around_centre`` divides by."""
    W = WORKLOADS[name]
    witness = best_witness(W, 0.05).witness
    theta, beta = 0.02, 0.2
    for protocol in divergence.PROTOCOLS:
        family = around_centre(witness, W, theta, one_sided=protocol == "sequential")
        family = HardPairs(family.first, family.second, weighted(family)[0].weights, family.queries)
        share = witness.share(theta, protocol)
        users = divergence.users_around_centre(
            witness.norm(theta), epsilon, beta, share, witness.row_mass(theta), protocol=protocol
        )
        chi2 = math.sinh(epsilon / 2) ** 2 * witness.norm(theta) ** 2 / share
        if protocol == "sequential":
            most = oracles.best_channel(family, epsilon, lambda p, q: oracles.kl(q, p))
            assert users * most <= 2 * divergence.log_affinity(beta) * (1 + 1e-2)
            assert oracles.best_channel(family, epsilon, oracles.chi2) <= chi2 * (1 + 1e-2)
        else:
            most = 0.5 * oracles.best_channel(family, epsilon, oracles.hellinger)
            assert users * most <= divergence.log_affinity(beta) * (1 + 1e-2)
            centred = oracles.best_channel(family, epsilon, lambda p, q: 2 * (p - q) ** 2 / (p + q))
            assert centred <= chi2 * (1 + 1e-2)
            if name == "parities":
                assert centred >= 0.55 * chi2


def test_random_channels_and_information() -> None:
    rng = np.random.default_rng(2)
    family = families("random")[1]
    norm = exact_norm(family)
    worst = np.zeros(3)
    for _ in range(1000):
        epsilon = float(rng.choice(EPSILONS))
        Q = oracles.random_channel(epsilon, int(rng.integers(2, 7)), 6, rng)
        ratio = (Q.max(axis=1) / Q.min(axis=1)).max()
        epsilon = max(float(np.log(ratio)), 1e-3)
        p, q = family.first @ Q.T, family.second @ Q.T
        law = rng.dirichlet(np.full(6, 0.3))
        mutual = law @ (Q.T * np.log(Q.T / (law @ Q.T))).sum(axis=1)
        got = np.array(
            [family.weights @ oracles.chi2(p, q).sum(axis=1), family.weights @ oracles.kl(p, q).sum(axis=1), mutual]
        )
        limits = [divergence.chi_squared(norm, epsilon), divergence.kullback_leibler(norm, epsilon)]
        worst = np.maximum(worst, got / np.array([*limits, divergence.information(1, epsilon)]))
    assert worst.max() <= 1 + 1e-9
    assert worst[2] > 0.2


def test_information_is_nearly_attained() -> None:
    """Randomized response of a fair bit: ln 2 − h(p), ε²/8 at small ε."""
    e = 0.05
    p = 1 / (1 + math.exp(-e))
    mutual = math.log(2) + p * math.log(p) + (1 - p) * math.log(1 - p)
    assert 0.99 * divergence.information(1, e) <= mutual <= divergence.information(1, e)


def test_kappa_and_binary_functions() -> None:
    assert divergence.kappa(1e-9) == pytest.approx(0.5, abs=1e-9)
    low, high = divergence.kappa(0.01 * (1 - 1e-12)), divergence.kappa(0.01)
    assert low == pytest.approx(high, rel=1e-11)
    t = np.concatenate([np.linspace(math.exp(-2.0), 0.999, 500), np.linspace(1.001, math.exp(2.0), 500)])
    assert ((t * np.log(t) - t + 1) <= divergence.kappa(2.0) * (t - 1) ** 2 * (1 + 1e-12)).all()
    p, q = np.meshgrid(np.linspace(0.001, 0.999, 333), np.linspace(0.001, 0.999, 333))
    logit = np.log(p / (1 - p)) - np.log(q / (1 - q))
    for beta in (0.05, 0.25, 0.4):
        far = p - q >= 1 - 2 * beta
        assert (0.5 * (p - q) * logit)[far].min() >= divergence.kl_of_error(beta) - 1e-9
        affinity = np.sqrt(p * q) + np.sqrt((1 - p) * (1 - q))
        assert -np.log(affinity[far].max()) >= divergence.log_affinity(beta) - 1e-9
        assert -np.log(affinity[far].max()) <= divergence.log_affinity(beta) * 1.05
    assert divergence.convexity(1.0) == pytest.approx(math.log(math.cosh(0.5)) / (1 - 1 / math.cosh(0.5)))


@pytest.mark.parametrize("epsilon", [0.5, 6.0])
def test_users_by_hand(epsilon: float) -> None:
    """The affinity decides at small ε, Jeffreys' divergence at large ε."""
    norm, beta = 0.1, 0.2
    chi2 = (math.exp(epsilon) - 1) ** 2 / 4 * norm**2
    x = 1 - 1 / math.cosh(epsilon / 2)
    jeffreys = 0.6 * math.log(4) / (divergence.kappa(epsilon) * chi2)
    affinity = -4 * math.log(4 * 0.2 * 0.8) / (-math.log(1 - x) / x * chi2)
    assert (jeffreys > affinity) == (epsilon > 4)
    assert divergence.users_to_distinguish(norm, epsilon, beta) == pytest.approx(max(jeffreys, affinity), rel=1e-9)


def test_bad_input() -> None:
    for beta in (0.0, 0.5, -1.0, math.nan):
        with pytest.raises(BadValue, match="beta"):
            divergence.kl_of_error(beta)
    with pytest.raises(UnknownName):
        divergence.users_to_distinguish(0.1, 1.0, 0.2, protocol="central")  # type: ignore[arg-type]
    with pytest.raises(BadValue):
        divergence.chi_squared(-1.0, 1.0)
    assert divergence.users_to_distinguish(0.0, 1.0, 0.2) == math.inf
