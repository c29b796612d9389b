"""Lemmas 1 to 5 on random channels, and the information of the priors by quadrature."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln

from factormech.bounds.protocols import prior
from tests.bounds.protocols import oracles


def test_gamma_ratios_are_enclosed_to_25_digits() -> None:
    for x in (Fraction(1), Fraction(17, 16), Fraction(3, 2), Fraction(5), Fraction(4001, 16)):
        low, high = prior.gamma_ratio_squared(x)
        assert low < high < low * (1 + Fraction(1, 10**25))
        assert float(low) == pytest.approx(
            math.exp(2 * (math.lgamma(float(x) + 0.5) - math.lgamma(float(x)))), rel=1e-11
        )
    # At whole x it is π·rational: Γ(3½)/Γ(3) = 15√π/16.
    low, high = prior.gamma_ratio_squared(Fraction(3))
    pi = Fraction(314159265358979323846264338328, 10**29)
    assert low < Fraction(225, 256) * pi < high * (1 + Fraction(1, 10**28))


def test_the_ratio_is_above_e_to_the_epsilon() -> None:
    for epsilon in (0.001, 1.0, 40.0):
        assert prior.ratio_above(epsilon) >= Fraction(math.nextafter(math.exp(epsilon), 0.0)) * (
            1 - Fraction(1, 10**15)
        )
        assert float(prior.ratio_above(epsilon) - 1) == pytest.approx(math.expm1(epsilon), rel=1e-14)


@pytest.mark.parametrize("beta", [2.25, 3.0, 7.5])
def test_constant_fields_have_the_information_of_the_beta_law(beta: float) -> None:
    found = prior.constant_field(2, beta, 1.0, 0.5)
    norm = math.exp(gammaln(2 * beta) - 2 * gammaln(beta))
    # Along (1, −1)/√2 the score of Beta(β, β) is (β−1)(1/p − 1/(1−p))/√2.
    score = quad(lambda p: norm * (p * (1 - p)) ** (beta - 1) * ((beta - 1) * (1 / p - 1 / (1 - p))) ** 2 / 2, 0, 1)[0]
    # z = 1 is a field of length √(D) = 1/√2.
    assert found.prior == pytest.approx(score / 2, rel=1e-6)
    inverse = quad(lambda p: norm * (p * (1 - p)) ** (beta - 1) * 0.25 * (1 / p + 1 / (1 - p)), 0, 1)[0]
    assert found.information == pytest.approx(1 + 0.5 * (inverse - 1), rel=1e-6)


@pytest.mark.parametrize("beta", [1.5, 2.25, 6.0])
def test_square_root_fields_have_the_information_of_the_beta_law(beta: float) -> None:
    found, b = prior.root_field(2, beta, 1.0), 2 * beta
    norm = math.exp(gammaln(b) - 2 * gammaln(beta))

    def mean(of: object) -> float:
        return float(quad(lambda p: norm * (p * (1 - p)) ** (beta - 1) * of(p), 0, 1)[0])  # type: ignore[operator]

    # y = (1, −1)/√2: the first entry of √p(1−p, −p) − √(1−p)(−p, 1−p)·…, and the divergence of the field.
    speed = mean(lambda p: (math.sqrt(p) * (1 - p) + math.sqrt(1 - p) * p) / math.sqrt(2))
    shift = mean(
        lambda p: ((beta - 0.5) * (p**-0.5 - (1 - p) ** -0.5) - (b - 0.5) * (p**0.5 - (1 - p) ** 0.5)) ** 2 / 2
    )
    assert found.prior == pytest.approx(shift, rel=1e-6)
    # W = (1, 0): its singular value on the face is ½; f·(½) = E W·a, a of a unit y.
    assert math.sqrt(found.gain) * 0.5 == pytest.approx(speed, rel=1e-6)


def test_the_divergence_of_square_root_fields_integrates_by_parts() -> None:
    rng, n, beta = np.random.default_rng(4), 4, 2.5
    p = rng.dirichlet(np.full(n, beta), size=200_000)
    b = n * beta
    scores = (beta - 0.5) / np.sqrt(p[:, 0]) - (b - 0.5) * np.sqrt(p[:, 0])
    field = np.sqrt(p[:, [0]]) * (np.eye(n)[0] - p)
    gradient = np.stack([2 * p[:, 0] * p[:, 1], p[:, 0] ** 2, 0 * p[:, 0], 0 * p[:, 0]], axis=1)
    both = np.sum(field * gradient, axis=1) + p[:, 0] ** 2 * p[:, 1] * scores
    assert abs(both.mean()) < 5.0 * both.std() / math.sqrt(len(p))


def test_centred_fields_are_constant_fields_at_the_uniform_centre() -> None:
    beta = Fraction(7, 2)
    uniform = prior.constant_field(5, beta, Fraction(2), Fraction(1, 3))
    assert prior.centred_field([beta] * 5, Fraction(2), Fraction(1, 3)) == uniform
    # And ℓ = m is ℓ uniform, but for the rounding of the root.
    other = prior.constant_field(5, beta, Fraction(2), Fraction(1, 3), Fraction(1, 5))
    assert uniform.information <= other.information <= uniform.information * (1 + Fraction(1, 10**30))


def test_lemmas_1_to_4_hold_for_random_channels_and_are_reached_by_the_best() -> None:
    rng = np.random.default_rng(1)
    reached = np.zeros(2)
    for _ in range(60):
        n, epsilon = int(rng.integers(2, 6)), float(rng.choice([0.2, 1.0, 2.0, 4.0]))
        a = math.exp(epsilon)
        sinh, tanh = prior.trace_limit(a), prior.contraction(a)
        p, d, m = (rng.dirichlet(np.full(n, rng.choice([0.5, 1.0, 5.0]))) for _ in range(3))
        D = np.diag(d) - np.outer(d, d)
        Q = oracles.extreme_channel(n, a, rng)
        info = oracles.information(Q, p)
        assert np.trace(info @ D) <= sinh * (1 + (d - p) @ info @ (d - p)) * (1 + 1e-9)
        assert (d - p) @ info @ (d - p) <= tanh * np.sum((d - p) ** 2 / p) * (1 + 1e-9)
        Z = rng.standard_normal((n, 2))
        Z -= Z.mean(axis=0)
        limit, multiplier = oracles.most_information(n, a, m, Z @ Z.T)
        shape = multiplier / limit
        assert np.trace(Z.T @ info @ Z) <= limit * (1 + (shape - p) @ info @ (m - p)) * (1 + 1e-7) + 1e-9
        best = oracles.most_information(n, a, p, np.outer(d - p, d - p))[0] / (tanh * np.sum((d - p) ** 2 / p))
        Dp = np.diag(p) - np.outer(p, p)
        reached = np.maximum(reached, [best, oracles.most_information(n, a, p, Dp)[0] / sinh])
    assert np.all(reached <= 1.0 + 1e-9)
    assert np.all(reached > 0.99)


def test_lemma_5_for_a_user_who_speaks_twice() -> None:
    """Two users, three messages: the trace of what the transcript knows is at most that of two channels."""
    rng, most = np.random.default_rng(2), 0.0
    for _ in range(300):
        n, first = int(rng.integers(2, 5)), float(rng.uniform(0, 1))
        p, info = rng.dirichlet(np.ones(n)), np.zeros((n, n))
        chances = _three_messages(n, first, 1.0, rng)
        for mine, yours in chances:
            score = mine / (mine @ p) + yours / (yours @ p)
            info += (mine @ p) * (yours @ p) * np.outer(score, score)
        most = max(most, float(np.trace(info @ (np.diag(p) - np.outer(p, p)))) / (2 * prior.trace_limit(math.e)))
    assert 0.5 < most <= 1.0 + 1e-9


def test_a_second_round_with_a_budget_of_its_own_passes_lemma_5() -> None:
    """The planted error: the first user spends ε twice."""
    rng, p, most = np.random.default_rng(3), np.full(2, 0.5), {1.0: 0.0, 2.0: 0.0}
    for total in most:
        for _ in range(200):
            info = np.zeros((2, 2))
            for mine, yours in _three_messages(2, 0.5 * total, total, rng):
                score = mine / (mine @ p) + yours / (yours @ p)
                info += (mine @ p) * (yours @ p) * np.outer(score, score)
            most[total] = max(most[total], float(np.trace(info @ (np.diag(p) - np.outer(p, p)))))
    limit = 2 * float(prior.uniform_trace_limit(2, prior.ratio_above(1.0)))
    assert most[1.0] <= limit * (1 + 1e-9)
    assert most[2.0] > 1.2 * limit


def _three_messages(
    n: int, first: float, total: float, rng: np.random.Generator
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The factors φ_1, φ_2 of every transcript; the first user speaks first and last, with parts of the budget."""

    def bit(epsilon: float) -> np.ndarray:
        high = 1 / (1 + math.exp(-epsilon))
        return np.where(rng.random(n) < rng.uniform(0.1, 0.9), high, 1 - high)

    found = []
    q1 = bit(first)
    for m1 in (0, 1):
        q2 = bit(1.0)
        for m2 in (0, 1):
            q3 = bit(total - first)
            for m3 in (0, 1):
                mine = (q1 if m1 else 1 - q1) * (q3 if m3 else 1 - q3)
                found.append((mine, q2 if m2 else 1 - q2))
    assert sum(math.prod((a[u], b[u])) for a, b in found for u in (0,)) == pytest.approx(1.0)
    return found


def test_the_limit_on_uniform_priors_is_the_largest_over_sizes() -> None:
    for m, epsilon in itertools.product((2, 3, 7), (0.1, 1.0, 5.0)):
        exact, a = prior.ratio_above(epsilon), math.exp(epsilon)
        p = np.full(m, 1.0 / m)
        best = oracles.most_information(m, a, p, np.diag(p) - np.outer(p, p))[0]
        assert float(prior.uniform_trace_limit(m, exact)) == pytest.approx(best, rel=1e-7)
