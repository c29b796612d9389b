"""Realizable learners and refuters keep their promises; their lower bounds are about pairs that are what is said."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from factormech.bounds.hard.pairs import weighted
from factormech.errors import BadValue
from factormech.learning import populations, realizable_bounds, tails
from factormech.learning import populations as laws
from factormech.learning.agnostic import AgnosticLearner, AgnosticRefuter, refuter_of
from factormech.learning.concepts import ConceptClass, concept_class
from factormech.learning.realizable import KearnsLearner, RealizableLearner, RealizableRefuter, wrong_labels
from factormech.learning.reports import losses
from factormech.learning.trials import TASKS, Promise
from factormech.mechanisms.local.factorized.tails import expected_largest
from factormech.numerics.intervals import clopper_pearson
from tests.bounds.hard.oracles import exact_norm

ALPHA = 0.15


@cache
def small() -> ConceptClass:
    return concept_class("conjunctions", 2)


@cache
def learner() -> RealizableLearner:
    return RealizableLearner(small(), 1.0, ALPHA)


@cache
def refuter() -> RealizableRefuter:
    return RealizableRefuter(small(), 1.0, ALPHA)


@cache
def hard():
    return realizable_bounds.refutation_certificate(small(), ALPHA)


def losses_of_all(law: np.ndarray) -> list[float]:
    """Of every one of the 2^T hypotheses, by the definition."""
    T = len(law) // 2
    everything = itertools.product((1, -1), repeat=T)
    return [sum(law[x + T] if h[x] > 0 else law[x] for x in range(T)) for h in everything]


# Learner and refuter ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["conjunctions", "parities"])
def test_penalties_tell_losses(name):
    """w·L − l(1 − L) ≤ p, on any law; p ≤ h where the concept is right; and reports estimate p."""
    C = concept_class(name, 3)
    reports, rng = RealizableLearner(C, 1.0, 0.3).reports, np.random.default_rng(1)
    V = reports.release.workload
    for _ in range(20):
        law = rng.dirichlet(np.full(16, 0.3))
        L = losses(C, law)
        assert (V @ law >= reports.wrong * L - reports.low * (1.0 - L) - 1e-12).all()
        right = np.where(wrong_labels(C)[1], 0.0, law)
        assert V[1] @ right <= reports.high * right.sum() + 1e-12
    found = reports.estimates(law, 400, 300, rng)
    assert np.abs((found.mean(axis=0) - V @ law) / (found.std(axis=0) / math.sqrt(300))).max() < 4.5
    assert (400 * found.var(axis=0) <= 1.35 * reports.variances).all()


def test_the_best_distance_is_found_where_it_is_not_zero():
    """A class whose η falls faster than its margin: the search beats a = 0 and its neighbours."""
    C = concept_class("conjunctions", 3)
    from factormech.learning.realizable import penalties_for
    from factormech.norms.approximate import eta_norm

    made = penalties_for(C, 1.0, 0.45)
    best = made.release.norm_product / made.margin(0.45)
    for a in (0.0, 0.05, 0.1, 0.2):
        assert best <= eta_norm(C.labels, a).upper / ((1.0 + a) * 0.45 - 2.0 * a) * 1.004


def test_the_learner_reaches_its_accuracy_on_the_worst_law_found():
    made, rng = learner(), np.random.default_rng(2)
    users = made.predicted_users()
    assert made.predicted_loss(users) <= ALPHA < made.predicted_loss(users - 1)
    assert users <= made.guaranteed_users()
    family = laws.realizable_laws(small(), realizable_bounds.learning_certificate(small()), ALPHA)
    assert max(losses(small(), law).min() for law in family) < 1e-12
    law = laws.worst_realizable_law(made, family, users, rng)
    assert 0.0 < made.losses(law, users, 200, rng).mean() <= ALPHA
    likely = made.likely_users(0.1)
    assert likely <= made.confident_users(0.1)
    law = laws.worst_realizable_law(made, family, likely, rng, above=ALPHA)
    assert np.mean(made.losses(law, likely, 200, rng) > ALPHA) <= 0.1
    few = made.losses(law, likely // 30, 200, rng).mean()
    assert few > 2.0 * made.losses(law, likely, 200, rng).mean()


def test_the_refuter_tells_fits_from_misfits():
    made, rng, users = refuter(), np.random.default_rng(3), refuter().predicted_users(0.1)
    assert made.predicted_error(users) <= 0.1 < made.predicted_error(users - 1)
    assert users < made.guaranteed_users(0.1)
    unfit = laws.unfit_laws(small(), ALPHA, realizable_bounds.refutation_pairs(small(), hard(), ALPHA))
    assert min(losses(small(), law).min() for law in unfit) >= ALPHA * (1.0 - 1e-9)
    fit = laws.worst_fit(made, laws.realizable_laws(small()), users, rng)
    other = laws.worst_unfit(made, unfit, users, rng)
    misses, alarms = np.mean(~made.says_fit(fit, users, 400, rng)), np.mean(made.says_fit(other, users, 400, rng))
    assert max(misses, alarms) <= 0.1 + 3.0 * math.sqrt(0.09 / 400)
    assert misses > 0.0


def test_coins_at_the_worst_points():
    """Labels are fair, whatever the points; and the law is no easier than uniform coins."""
    made, rng = AgnosticRefuter(small(), 1.0, ALPHA), np.random.default_rng(4)
    family = populations.bases(small())
    law = populations.worst_coins(made, family, 2000, rng)
    assert law[:4] == pytest.approx(law[4:])
    assert law.sum() == pytest.approx(1.0)
    assert populations.worst_for_learner(
        AgnosticLearner(small(), 1.0, ALPHA), family, 2000, rng, above=ALPHA
    ).sum() == pytest.approx(1.0)


# Tails -----------------------------------------------------------------------------------------------------------


def test_variances_of_differences_are_upper_bounds():
    made, rng = learner(), np.random.default_rng(5)
    variances = tails.difference_variances(made.reports.release)
    assert variances == pytest.approx(variances.T)
    for law in (laws.realizable_laws(small())[7], populations.coins(small())):
        found = made.reports.estimates(law, 300, 400, rng)
        for c, other in itertools.combinations(range(4), 2):
            assert 300 * np.var(found[:, c] - found[:, other]) <= 1.3 * variances[c, other]
    users = tails.likely_users(variances, 0.2, 0.1)
    sums = [sum(0.5 * math.erfc(0.2 * math.sqrt(users / v / 2.0)) for v in row if v > 0) for row in variances]
    assert max(sums) == pytest.approx(0.1, rel=0.01)


def test_the_largest_of_normal_numbers():
    rng = np.random.default_rng(6)
    for s in (np.array([1.0, 1.0]), np.array([1.0, 0.5, 0.0]), np.linspace(0.1, 2.0, 9)):
        truth = (rng.standard_normal((20000, len(s))) * s).max(axis=1).mean()
        assert truth - 0.02 < expected_largest(s) < 1.35 * truth + 0.05
    assert expected_largest(np.array([3.0])) == 0.0


# Counts, Kearns' learner, one more round -------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "error", "weight"), [(0.05, 0.02, 1.0), (0.4, 0.1, 2.0)])
def test_binomial_errors_are_exact(share, error, weight):
    low, high = tails.reported([0.0, share], 1.0).tolist()
    assert low == pytest.approx(1.0 / (1.0 + math.e))
    n, t = tails.least_trials(low, high, error, weight)
    assert max(weight * binom.sf(t, n, low), binom.cdf(t, n, high)) <= error
    for fewer in (int(0.9 * n), int(0.7 * n)):
        assert min(max(weight * binom.sf(s, fewer, low), binom.cdf(s, fewer, high)) for s in range(fewer)) > error


def test_kearns_learner_keeps_its_promise_exactly():
    """Of two bits: every outcome of the two counts, weighted by its probability, on every law of the family."""
    made, beta = KearnsLearner(2, 1.0, 0.2), 0.1
    users = made.confident_users(beta)
    m = users // 2
    t = tails.threshold(*tails.reported([0.0, 0.1], 1.0).tolist(), m)[0]
    C, failures = made.concepts, []
    for law in laws.conjunction_laws(made):
        q = [law[0] + law[2], law[0] + law[1]]  # bit 0 is 0 at points 0 and 2
        kept = [binom.cdf(t, m, tails.reported(share, 1.0)) for share in q]
        L = losses(C, law)
        failures.append(
            sum(
                np.prod([p if (S >> i) & 1 else 1.0 - p for i, p in enumerate(kept)])
                for S in range(4)
                if L[S] > made.alpha
            )
        )
    assert 0.3 * beta < max(failures) <= beta
    rng, law = np.random.default_rng(7), laws.conjunction_laws(made)[int(np.argmax(failures))]
    low, high = clopper_pearson(int((made.losses(law, users, 4000, rng) > made.alpha).sum()), 4000, 1e-4)
    assert low <= max(failures) <= high


def test_users_of_kearns_learner_are_polynomial():
    users = [KearnsLearner(d, 1.0, 0.1).confident_users(0.1) for d in (8, 16, 32)]
    assert all(8.0 < more / fewer < 11.0 for fewer, more in itertools.pairwise(users))  # d³ and a logarithm
    with pytest.raises(BadValue, match="users"):
        KearnsLearner(2, 1.0, 0.1).losses(np.full(8, 0.125), 1, 2, np.random.default_rng(0))


def test_a_learner_becomes_a_refuter():
    made = refuter_of(lambda alpha: KearnsLearner(2, 1.0, alpha), 1.0, 0.3, 0.1)
    assert made.users == made.first + made.second
    low, high = tails.reported([made.accuracy, 0.3], 1.0).tolist()
    assert binom.sf(made.threshold, made.second, low) <= 0.1 - made.failure
    assert binom.cdf(made.threshold, made.second, high) <= 0.1
    rng = np.random.default_rng(8)
    fit, unfit = laws.conjunction_laws(made.learner)[0], laws.unfit_laws(small(), 0.3)[1]
    assert np.mean(~made.says_fit(fit, 1000, rng)) <= 0.1 + 0.03
    assert np.mean(made.says_fit(unfit, 1000, rng)) <= 0.1 + 0.03
    few = made.scaled(0.05)
    assert np.mean(few.says_fit(unfit, 1000, rng)) + np.mean(~few.says_fit(fit, 1000, rng)) > 0.2


# Lower bounds ----------------------------------------------------------------------------------------------------


def test_pairs_of_refutation_are_realizable_and_unfit():
    for alpha in (0.1, 0.3):
        found = realizable_bounds.refutation_certificate(small(), alpha)
        pairs = realizable_bounds.refutation_pairs(small(), found, alpha)
        for c, fit in zip(pairs.queries, pairs.second, strict=True):
            assert fit[wrong_labels(small())[c]] == pytest.approx(0.0, abs=1e-12)
        for unfit in pairs.first:
            assert min(losses_of_all(unfit)) == pytest.approx(alpha, rel=1e-6)
        norm = exact_norm(weighted(pairs, gap=1e-3)[0])
        assert 0.5 * found.norm(0.5 * alpha) < norm <= found.norm(0.5 * alpha) * (1.0 + 1e-9)
        assert pairs.row_mass <= found.row_mass(0.5 * alpha) * (1.0 + 1e-6)


def test_the_certificate_is_at_least_as_strong_as_eta_says():
    """G ≥ η(C, a)/(1 − a), a = α/(1 − α); closed forms for parities and thresholds: γ₂/2."""
    from factormech.norms.approximate import eta_norm

    for name, value in (("parities", math.sqrt(8.0)), ("thresholds", None), ("conjunctions", None)):
        C, a = concept_class(name, 3), ALPHA / (1.0 - ALPHA)
        found = realizable_bounds.refutation_certificate(C, ALPHA)
        assert found.strength >= eta_norm(C.labels, a).lower / (1.0 - a) * 0.997
        assert found.strength <= eta_norm(C.labels, 0.0).upper * 1.001
        if value:
            assert found.strength == pytest.approx(0.5 * value, rel=1e-3)


def test_pairs_of_learning_are_realizable_and_apart():
    """Marginals on what two concepts differ in: every hypothesis loses θ on both laws together."""
    found, D, theta = realizable_bounds.learning_certificate(small()), realizable_bounds.learning_rows(small()), 0.3
    U = found.matrix[:, :4]
    assert found.strength > 1.0
    for d, u in zip(D[U.any(axis=1)], U[U.any(axis=1)], strict=True):
        assert (u * d >= 0.0).all()
        assert (u[d == 0.0] == 0.0).all()
        m = theta * np.abs(u) / np.abs(u).sum() + (1.0 - theta) * (d == 0.0) / (d == 0.0).sum()
        both = [losses_of_all(np.hstack([np.where(s * d >= 0, m, 0), np.where(s * d < 0, m, 0)])) for s in (1, -1)]
        assert min(a + b for a, b in zip(*both, strict=True)) == pytest.approx(theta)


def test_bounds_are_below_what_works_and_invert():
    found = realizable_bounds.learning_certificate(small())
    assert 0.0 < realizable_bounds.learning_users(found, 1.0, ALPHA, 0.1) < learner().likely_users(0.1)
    least = realizable_bounds.refutation_users(hard(), 1.0, ALPHA, 0.1)
    assert realizable_bounds.sequential_refutation_users(1.0, ALPHA, 0.1) < least < refuter().predicted_users(0.1)
    # 4kl(β)(G/α)²/(κ(e^ε − 1)²), which the bound by affinities may exceed.
    e = math.exp(-1.0)
    plain = 4.0 * 0.8 * math.log(9.0) * (hard().strength / ALPHA) ** 2
    assert least >= 0.999 * plain / ((1.0 - 2.0 * e) / (1.0 - e) ** 2 * math.expm1(1.0) ** 2)
    floor = realizable_bounds.learning_floor(found, 1.0, 500)
    assert 0.0 < floor < learner().predicted_loss(500)
    with pytest.raises(BadValue, match="alpha"):
        realizable_bounds.refutation_users(hard(), 1.0, 0.5, 0.1)
    assert realizable_bounds.learning_certificate(concept_class("points", 2)).strength == 0.0  # they agree nowhere


@pytest.mark.slow
@pytest.mark.parametrize("task", list(TASKS))
@pytest.mark.parametrize(("name", "size"), [("conjunctions", 3), ("conjunctions", 4)])
def test_every_task_keeps_its_promise(task, name, size):
    made = TASKS[task](Promise(concept_class(name, size), 1.0, 0.1, 0.1))
    successes = made.run(1.0, 1000, np.random.default_rng(11), np.random.default_rng(12))
    assert clopper_pearson(successes, 1000, 0.001)[1] >= 0.9
    assert made.least <= made.predicted <= made.guaranteed
