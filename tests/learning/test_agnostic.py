"""Agnostic learners and refuters keep their promises; their lower bounds are about pairs that are what is said."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from factormech.bounds.hard.pairs import HardPairs, weighted
from factormech.errors import BadValue
from factormech.learning import bounds, populations
from factormech.learning.agnostic import AgnosticLearner, AgnosticRefuter
from factormech.learning.concepts import ConceptClass, concept_class, difference_matrix
from factormech.learning.trials import TASKS, Promise
from factormech.norms.approximate import approximate_norm, margin_complexity
from tests.bounds.hard.oracles import exact_norm

ALPHA = 0.15


@cache
def small() -> ConceptClass:
    return concept_class("conjunctions", 2)


@cache
def learner(randomizer: str = "half-sphere") -> AgnosticLearner:
    return AgnosticLearner(small(), 1.0, ALPHA, randomizer=randomizer)


@cache
def refuter() -> AgnosticRefuter:
    return AgnosticRefuter(small(), 1.0, ALPHA)


@cache
def witness():
    return bounds.refutation_certificate(small(), ALPHA)


@cache
def witnesses():
    return bounds.learning_certificates(small(), (0.2, 0.5))


def random_law(rng: np.random.Generator) -> np.ndarray:
    return rng.dirichlet(np.full(8, 0.5))


# Learner and refuter ---------------------------------------------------------------------------------------------


def test_estimates_are_of_the_agreements():
    """The mean of many estimates is q, by its definition over labelled points, but for a."""
    rng = np.random.default_rng(1)
    law, W = random_law(rng), small().labels
    q = [sum(law[x] * c[x] - law[4 + x] * c[x] for x in range(4)) for c in W]
    assert learner().reports.agreements(law) == pytest.approx(q)
    assert np.abs(learner().reports.approximated - W).max() <= learner().reports.distance
    found = learner().reports.estimates(law, 500, 400, rng)
    deviations = (found.mean(axis=0) - q) / (found.std(axis=0) / 20.0)
    assert np.abs(deviations).max() < 4.5
    assert (500 * found.var(axis=0) <= 1.3 * learner().reports.variances).all()


@pytest.mark.parametrize("randomizer", ["half-sphere", "priv-unit"])
def test_the_learner_reaches_its_accuracy_on_the_worst_law_found(randomizer):
    made, rng = learner(randomizer), np.random.default_rng(2)
    users = made.predicted_users()
    assert made.predicted_excess(users) <= ALPHA < made.predicted_excess(users - 1)
    assert users <= made.guaranteed_users()
    law = populations.worst_for_learner(made, populations.bases(small(), witnesses()), users, rng)
    losses = made.excess_losses(law, users, 200, rng)
    assert 0.0 < losses.mean() <= ALPHA
    confident = made.confident_users(0.1)
    assert np.mean(made.excess_losses(law, confident, 100, rng) > ALPHA) <= 0.1


def test_fewer_users_learn_worse():
    rng = np.random.default_rng(3)
    law = populations.bases(small()).law(1, 0.3)
    few, many = (learner().excess_losses(law, n, 300, rng).mean() for n in (100, 10000))
    assert few > 2.0 * many


def test_the_refuter_tells_fits_from_coins():
    made, rng, users = refuter(), np.random.default_rng(4), refuter().predicted_users(0.1)
    assert made.predicted_error(users) <= 0.1 < made.predicted_error(users - 1)
    assert users < made.guaranteed_users(0.1)
    law = populations.worst_for_refuter(made, populations.bases(small(), (witness(),)), users, rng)
    assert made.reports.agreements(law).max() == pytest.approx(2.0 * ALPHA)  # loss ½ − α exactly
    tau, trials = made.threshold(users), 400
    misses = np.mean(made.statistics(law, users, trials, rng) <= tau)
    alarms = np.mean(made.statistics(populations.coins(small()), users, trials, rng) > tau)
    assert max(misses, alarms) <= 0.1 + 3.0 * np.sqrt(0.09 / trials)
    assert min(misses, alarms) > 0.0  # neither error is bought with the other


def test_bad_questions_are_refused():
    for alpha in (0.0, 0.5, True, float("nan")):
        with pytest.raises(BadValue, match="alpha"):
            AgnosticLearner(small(), 1.0, alpha)
    with pytest.raises(BadValue, match="beta"):
        refuter().predicted_users(0.5)
    for law in (np.full(8, 0.1), np.full(4, 0.25), [-1.0] + 7 * [2 / 7]):
        with pytest.raises(BadValue, match="law"):
            learner().reports.agreements(law)


# Lower bounds ----------------------------------------------------------------------------------------------------


def pairs_of_learning(theta: float) -> tuple[HardPairs, np.ndarray]:
    """λ_v, μ_v = |U_v|(1 ± s_v·b·sign U_v)/2‖U_v‖₁ from U alone, and the rows of D_C."""
    found, D = witnesses()[0], bounds.difference_rows(small())
    U = 2.0 * found.matrix[:, :4]
    used = np.flatnonzero(U.any(axis=1))
    U, D = U[used], D[used]
    size, gain = np.abs(U).sum(axis=1, keepdims=True), (D * U).sum(axis=1, keepdims=True)
    s = theta * size / gain
    sides = [0.5 * np.hstack([np.abs(U) + t * s * U, np.abs(U) - t * s * U]) / size for t in (1.0, -1.0)]
    return HardPairs(sides[0], sides[1], (gain / gain.sum())[:, 0], used), D


def test_no_hypothesis_is_good_on_both_laws_of_a_pair():
    """Every one of the 2^T hypotheses, in the class or not, loses θ more than the best concepts in sum."""
    theta = 0.2
    family, _ = pairs_of_learning(theta)
    W = small().labels
    for first, second in zip(family.first, family.second, strict=True):
        leans = [law[:4] - law[4:] for law in (first, second)]
        best = [(W @ lean).max() for lean in leans]
        for h in itertools.product((-1.0, 1.0), repeat=4):
            excess = sum(0.5 * (b - np.dot(h, lean)) for b, lean in zip(best, leans, strict=True))
            assert excess >= theta * (1.0 - 1e-9)


def test_the_norm_of_the_pairs_is_what_the_certificate_says():
    for theta in (0.05, 0.2):
        family, _ = pairs_of_learning(theta)
        norm = exact_norm(weighted(family, gap=1e-3)[0])
        assert 0.5 * witnesses()[0].norm(theta) < norm <= witnesses()[0].norm(theta)
        mass = np.abs(family.difference).sum(axis=1).max()
        assert mass <= witnesses()[0].row_mass(theta) * (1.0 + 1e-9)


def test_pairs_of_refutation_around_one_centre():
    """ν has fair labels and keeps its share of the weights; ν + M̃_v is a law of loss ½ − α for its concept."""
    found, W = witness(), np.hstack([small().labels, -small().labels])
    used = found.matrix.any(axis=1)
    U = found.matrix[used]
    M = 2.0 * ALPHA * U / (W[used] * U).sum(axis=1, keepdims=True)
    share = found.share(2.0 * ALPHA)
    nu = np.maximum(share * found.centre, np.abs(M).max(axis=0))
    assert share > 0.0
    assert nu.sum() <= 1.0
    nu += (1.0 - nu.sum()) * found.centre
    assert nu[:4] == pytest.approx(nu[4:], rel=1e-12)
    laws = nu + M
    assert laws.min() >= 0.0
    assert np.einsum("vx,vx->v", W[used], laws) == pytest.approx(2.0 * ALPHA)


def test_certificates_are_as_strong_as_the_norms():
    """H ≥ max(mc, γ₂(W, 2α)); for parities it is √N; a norm's own dual certifies less or the same."""
    C = concept_class("conjunctions", 3)
    found = bounds.refutation_certificate(C, ALPHA, gap=1e-3)
    norm = approximate_norm(C.labels, 2.0 * ALPHA)
    assert found.strength * 1.002 >= max(margin_complexity(C.labels).lower, norm.lower)
    weaker = bounds.certificate(C.labels, 2.0 * ALPHA, dual_matrix=norm.witness["dual"])
    assert norm.lower * 0.99 <= weaker.strength <= found.strength * 1.002
    D = difference_matrix(C)
    assert bounds.certificate(D, 0.2, gap=1e-3).strength * 1.002 >= approximate_norm(D, 0.2).lower
    parities = bounds.refutation_certificate(concept_class("parities", 3), 0.1)
    assert parities.strength == pytest.approx(np.sqrt(8.0), rel=1e-6)


def test_users_and_floors_are_each_others_inverses():
    floor = bounds.learning_floor(witnesses(), 1.0, 500)
    assert bounds.learning_users(witnesses(), 1.0, floor) == pytest.approx(500, rel=0.05)
    error = bounds.refutation_floor(witness(), 1.0, ALPHA, 200)
    assert bounds.refutation_users(witness(), 1.0, ALPHA, error) == pytest.approx(200, rel=1e-6)
    low = replace(witness(), theta=0.5)  # a certificate that does not reach 2α = 0.8
    assert bounds.refutation_users(low, 1.0, 0.4, 0.1) == 0.0 < bounds.refutation_users(witness(), 1.0, 0.4, 0.1)


def test_bounds_are_below_what_works():
    assert bounds.learning_users(witnesses(), 1.0, ALPHA) < learner().predicted_users()
    found = bounds.refutation_users(witness(), 1.0, ALPHA, 0.1)
    assert bounds.refutation_users(witness(), 1.0, ALPHA, 0.1, "sequential") <= found < refuter().predicted_users(0.1)
    # The closed form of the notation of chapter 6: 4kl(β)(H/2α)²/(κ(e^ε − 1)²), which the centre may exceed.
    kl = 0.8 * np.log(9.0)
    e = np.exp(-1.0)
    kappa = (1.0 - 2.0 * e) / (1.0 - e) ** 2
    plain = 4.0 * kl * (witness().strength / (2.0 * ALPHA)) ** 2 / (kappa * np.expm1(1.0) ** 2)
    assert found >= plain * 0.999


@pytest.mark.parametrize("alpha", [0.1, 0.02, 0.004])
def test_the_law_that_is_found_fails_learners_with_fewer_users_than_any_needs(alpha: float) -> None:
    # Signals that do not reach down to α found easy laws, and a learner "succeeded" below its lower bound.
    task = TASKS["users/agnostic-learner"](Promise(concept_class("parities", 2), 3.0, alpha, 0.1))
    share = 0.9 * task.least / task.predicted
    assert task.run(share, 200, np.random.default_rng(0), np.random.default_rng(1)) < 0.85 * 200
