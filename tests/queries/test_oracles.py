"""Oracles keep their promises, and correlations come out right."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.errors import BadValue
from factormech.learning.concepts import concept_class
from factormech.learning.sq import correlational as csq
from factormech.learning.sq.bounds import correlational_queries, hard_correlations
from factormech.learning.sq.oracles import (
    AdversarialOracle,
    Correlational,
    ExactOracle,
    Oracle,
    SampledOracle,
    check_law,
    labelled_law,
)
from factormech.norms.approximate import approximate_norm

RNG = np.random.default_rng(8)
LAW = labelled_law(RNG.dirichlet(np.ones(6)), RNG.uniform(-1, 1, 6))
QUERIES = RNG.uniform(-1, 1, (40, 12))
CLASS = concept_class("thresholds", 6)


def oracles() -> list[Oracle]:
    draw = np.random.default_rng(3)
    n = math.ceil(2.0 * math.log(2.0 / 1e-9) / 0.1**2)  # Hoeffding: within 0.1 but with probability 1e-9
    return [
        ExactOracle(LAW),
        AdversarialOracle(LAW, 0.1),
        SampledOracle(LAW, n, draw),
        SampledOracle(LAW, n, draw, fresh=False),
    ]


@pytest.mark.parametrize("oracle", oracles(), ids=["exact", "adversarial", "fresh", "shared"])
def test_answers_are_within_the_tolerance_and_counted(oracle: Oracle) -> None:
    answers = np.concatenate([oracle.ask(QUERIES[:30]), oracle.ask(QUERIES[30:], towards=5.0)])
    assert np.abs(answers - QUERIES @ LAW).max() <= 0.1 + 1e-12
    assert np.abs(answers).max() <= 1.0
    assert oracle.asked == 40


def test_an_adversary_goes_as_far_as_it_may() -> None:
    oracle, truth = AdversarialOracle(LAW, 0.1), QUERIES @ LAW
    hidden = oracle.ask(QUERIES)
    assert np.all(hidden[np.abs(truth) <= 0.1] == 0.0)
    assert np.any(np.abs(truth) <= 0.1)
    np.testing.assert_allclose(oracle.ask(QUERIES, towards=9.0), np.minimum(truth + 0.1, 1.0))


def test_samples_are_spent_and_fresh_ones_differ() -> None:
    fresh, shared = (SampledOracle(LAW, 100, np.random.default_rng(1), fresh=kind) for kind in (True, False))
    twice = np.repeat(QUERIES[:1], 2, axis=0)
    assert np.ptp(fresh.ask(twice)) > 0.0
    assert np.ptp(shared.ask(twice)) == 0.0
    assert (fresh.spent, shared.spent) == (200, 100)


def test_queries_that_are_no_correlations_are_refused() -> None:
    oracle = Correlational(ExactOracle(LAW))
    f = RNG.uniform(-1, 1, (3, 6))
    np.testing.assert_allclose(oracle.ask(np.c_[f, -f]), oracle.correlations(f))
    with pytest.raises(BadValue, match=r"query 1.*correlational"):
        oracle.ask(np.c_[f, np.array([[-1.0], [1.0], [-1.0]]) * f])
    assert oracle.asked == 6


def test_bad_laws_and_queries_are_refused() -> None:
    with pytest.raises(BadValue, match="sum to 1"):
        check_law([0.5, 0.6])
    with pytest.raises(BadValue, match="within"):
        ExactOracle(LAW).ask(2.0 * np.ones((1, 12)))
    with pytest.raises(BadValue, match="tolerance"):
        AdversarialOracle(LAW, 1.5)


@pytest.fixture(scope="module")
def factors() -> csq.Factors:
    return csq.factors_of(CLASS.labels, approximate_norm(CLASS.labels, 0.05))


@pytest.mark.parametrize("padding", csq.PADDINGS)
def test_the_constant_is_unbiased_and_the_printed_one_is_not(factors: csq.Factors, padding: csq.Padding) -> None:
    wanted = factors.left @ factors.right @ (LAW[:6] - LAW[6:])
    slopes = {}
    for name, constant in csq.CONSTANTS.items():
        found = csq.estimate(
            factors,
            Correlational(ExactOracle(LAW)),
            [200_000],
            np.random.default_rng(5),
            constant=constant,
            padding=padding,
        )
        slopes[name] = float(found[0] @ wanted / (wanted @ wanted))
    assert slopes["unbiased"] == pytest.approx(1.0, abs=0.02)
    assert slopes["as-printed"] == pytest.approx(math.sqrt(0.5), abs=0.015)


@pytest.mark.parametrize("tolerance", [0.0, 0.1])
def test_the_error_bound_holds_and_is_within_sight(factors: csq.Factors, tolerance: float) -> None:
    rng = np.random.default_rng(6)
    # All users alike: answers are ±1, and as uncertain as can be.
    law = labelled_law(np.eye(6)[2], np.ones(6))
    oracle, true = Correlational(AdversarialOracle(law, tolerance)), CLASS.labels[:, 2]
    errors = np.array(
        [np.abs(csq.estimate(factors, oracle, [500, 4000], rng, attacked=2) - true).max(axis=1) for _ in range(60)]
    )
    bounds = np.array([csq.error_bound(factors, J, tolerance) for J in (500, 4000)])
    assert np.all(errors.mean(axis=0) <= bounds)
    assert np.all(errors.mean(axis=0) >= 0.2 * bounds)
    need = csq.queries_needed(factors, bounds[0], tolerance)
    assert need in (499, 500, 501)


def test_an_attack_costs_the_tolerance_times_the_factor(factors: csq.Factors) -> None:
    runs = [
        csq.estimate(factors, Correlational(oracle), [100_000], np.random.default_rng(7), attacked=2)[0, 2]
        for oracle in (ExactOracle(LAW), AdversarialOracle(LAW, 0.05))
    ]
    row = np.linalg.norm(factors.left[2])
    assert runs[0] - runs[1] == pytest.approx(0.05 * row, rel=0.02)


def test_simulating_the_local_protocol_costs_its_variance(factors: csq.Factors) -> None:
    rng, oracle = np.random.default_rng(8), Correlational(ExactOracle(LAW))
    spread = [
        np.var([csq.estimate(factors, oracle, [300], rng, rounded_at=e)[0] for _ in range(150)], axis=0).sum()
        for e in (None, 1.0)
    ]
    assert spread[1] >= 0.8 * csq.privacy_factor(1.0) ** 2 * spread[0]


def test_hard_laws_have_the_correlation_and_little_variance() -> None:
    C, alpha = concept_class("parities", 3), 0.1
    hard = hard_correlations(C, alpha)
    T = C.domain_size
    M = hard.laws[:, :T] - hard.laws[:, T:]
    np.testing.assert_allclose(hard.laws.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.einsum("vx,vx->v", C.labels[hard.rows], M), alpha, rtol=1e-9)
    corners = 1.0 - 2.0 * (np.arange(2**T)[:, None] >> np.arange(T) & 1)
    variance = float((hard.weights @ (M @ corners.T) ** 2).max())
    gamma = (1.0 - alpha) * math.sqrt(8)
    assert variance <= hard.variance
    assert hard.variance <= (alpha / gamma) ** 2 * (1 + 1e-3)
    need = correlational_queries(hard, alpha, 0.05)
    assert need == pytest.approx(alpha**2 * (0.95 / hard.variance - 1 / alpha**2), rel=1e-6)
    assert need > 4.0
