"""The statistical query dimension against enumeration, and the learner against its promise."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from factormech.errors import BadValue
from factormech.learning.concepts import concept_class, from_matrix
from factormech.learning.sq import bounds, dimension, symmetry
from factormech.learning.sq.dimension_search import smallest_value
from factormech.learning.sq.multiplicative import Learned, Learner, loss_of, plan, realizable_law
from factormech.learning.sq.oracles import AdversarialOracle, ExactOracle


def uniform(T: int) -> np.ndarray:
    return np.full(2 * T, 0.5 / T)


@pytest.mark.parametrize(("bits", "value"), [(2, 2.0), (3, 3.2)])
def test_parities_at_coin_labels(bits: int, value: float) -> None:
    C = concept_class("parities", bits)
    low, high = dimension.dimension_at(C, uniform(C.domain_size))
    assert low == pytest.approx(value, abs=1e-5)
    assert high == pytest.approx(value, abs=1e-5)
    # By symmetry λ_c may be uniform: the value is max_s Σ_x |Σ_c s_c χ_c(x)|/4^d.
    N = 2**bits
    H = C.labels
    largest = max(np.abs(np.array(s) @ H).sum() for s in itertools.product((-1, 1), repeat=N))
    assert N * N / largest == pytest.approx(value)


@pytest.mark.parametrize("theta", [0.0, 0.1])
def test_both_ends_of_a_value_hold(theta: float) -> None:
    rng = np.random.default_rng(2)
    C = from_matrix(rng.choice([-1, 1], (5, 4)), "random")
    mu = rng.dirichlet(np.ones(8))
    found = dimension.value_at(C, mu, theta=theta)
    assert found.certified
    assert 0.0 < found.lower <= found.upper + 1e-12 <= found.lower + 1e-5
    # The upper end: the pair is allowed, and no query sees more of it.
    y = found.joint
    right = np.c_[C.matrix > 0, C.matrix < 0]
    assert np.all(np.where(right, 0.0, y).sum(axis=1) <= theta * y.sum(axis=1) + 1e-9)
    U = y - y.sum(axis=1, keepdims=True) * mu
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=8)))
    assert np.abs(corners @ U.T).sum(axis=1).max() == pytest.approx(found.upper, abs=1e-9)
    # The lower end: laws that lose θ at most, drawn at random and at corners.
    for c in range(C.size):
        for _ in range(40):
            inside = rng.dirichlet(np.full(4, 0.3))
            anywhere = rng.dirichlet(np.full(8, 0.3))
            lam = (1 - theta) * np.where(right[c], np.r_[inside, inside], 0.0) + theta * anywhere
            seen = found.probabilities @ np.abs(found.queries @ (lam - mu))
            assert seen >= found.lower - 1e-9


def test_the_search_over_laws_respects_its_constraint_and_improves() -> None:
    C = concept_class("thresholds", 4)
    start = dimension.value_at(C, uniform(4))
    for losers in dimension.LOSERS:
        best = smallest_value(C, 0.2, losers=losers, starts=2)
        assert best.upper <= start.upper
        assert dimension.least_loss(C, best.law, losers) >= 0.2 - 1e-9
        assert best.law.sum() == pytest.approx(1.0)
    agnostic = smallest_value(C, 0.2, agnostic=True, starts=2)
    assert agnostic.upper <= start.upper
    assert dimension.least_loss(C, agnostic.law, "class") >= agnostic.theta + 0.2 - 1e-9


def test_the_orders_of_searches_hold() -> None:
    """Concepts that lose are fewer conditions than hypotheses that do, and a free θ is wider than θ = 0."""
    C = concept_class("points", 3)

    def least(agnostic: bool, losers: dimension.Losers) -> float:
        rng = np.random.default_rng(1)
        return smallest_value(C, 0.15, agnostic=agnostic, losers=losers, starts=2, rounds=3, rng=rng).upper

    found = {(free, losers): least(free, losers) for free in (False, True) for losers in dimension.LOSERS}
    assert found[False, "class"] <= found[False, "all"]
    assert found[True, "class"] <= min(found[False, "class"], found[True, "all"])
    assert found[True, "all"] <= found[False, "all"]
    # What is handed on is never lost.
    best = smallest_value(C, 0.15, starts=1, rounds=0, known=[replace(dimension.value_at(C, uniform(3)), upper=0.01)])
    assert best.upper == 0.01


@pytest.mark.parametrize(
    ("name", "size"), [("points", 4), ("parities", 2), ("conjunctions", 2), ("decision-stumps", 2)]
)
def test_automorphisms_are_some_and_form_a_group(name: str, size: int) -> None:
    C = concept_class(name, size)
    group = symmetry.automorphisms(C)
    right = np.c_[C.matrix > 0, C.matrix < 0]
    seen = {p.tobytes() for p in group.points}
    assert 1 < len(group) == len(seen) <= symmetry.LIMIT
    assert np.array_equal(group.points[0], np.arange(2 * C.domain_size))
    for concepts, points in zip(group.concepts, group.points, strict=True):
        assert np.array_equal(right[concepts][:, points], right)
        assert all(points[other].tobytes() in seen for other in group.points)


def test_the_symmetric_program_has_the_value_of_the_plain_one(monkeypatch: pytest.MonkeyPatch) -> None:
    C = concept_class("points", 4)
    for mu in (uniform(4), np.r_[0.2, 0.1, 0.2, 0.1, 0.05, 0.15, 0.05, 0.15]):
        for theta in (0.0, 0.1):
            found = dimension.value_at(C, mu, theta=theta)
            identity = symmetry.Group(np.arange(4)[None], np.arange(8)[None])
            with monkeypatch.context() as patched:
                patched.setattr(dimension, "automorphisms", lambda _, one=identity: one)
                plain = dimension.value_at(C, mu, theta=theta)
            assert found.certified
            assert found.upper == pytest.approx(plain.upper, abs=1e-6)
            # ζ is complete: the lower end follows from the queries that are returned, for every λ.
            laws = (1 - theta) * np.eye(8)[np.flatnonzero(np.c_[C.matrix > 0, C.matrix < 0][1])] + theta * np.eye(8)[0]
            seen = np.abs((laws - mu) @ found.queries.T) @ found.probabilities
            assert found.probabilities.sum() == pytest.approx(1.0)
            assert seen.min() >= found.lower - 1e-9
    sizes = {len(symmetry.automorphisms(C).keeping(np.array(mu))) for mu in (uniform(4), np.arange(8) / 28)}
    assert sizes == {1, len(symmetry.automorphisms(C))}


def test_sixteen_points_are_certified() -> None:
    found = dimension.value_at(concept_class("points", 16), uniform(16))
    assert found.certified
    assert found.upper == pytest.approx(4 / 11, abs=1e-6)


def test_one_noisy_point_is_a_lower_bound_for_every_class() -> None:
    """λ a point with its label, μ the same with noise α: no query differs by more than 2α."""
    C = concept_class("points", 3)
    noisy = np.r_[0.9, 0.0, 0.0, 0.1, 0.0, 0.0]
    assert dimension.value_at(C, noisy).upper <= 0.2 + 1e-9


def test_a_class_too_large_has_a_reason() -> None:
    C = concept_class("parities", 5)
    assert "32" in dimension.reason_too_large(C)
    with pytest.raises(BadValue, match="exact up to 16"):
        dimension.value_at(C, uniform(32))


def test_the_sign_norm_is_that_of_both_sides() -> None:
    matrix = np.random.default_rng(1).standard_normal((4, 7))
    brute = max(np.abs(np.array(s) @ matrix).sum() for s in itertools.product((-1, 1), repeat=4))
    for oriented in (matrix, matrix.T):
        value, F, s = dimension.sign_norm(oriented, 3)
        assert value == pytest.approx(brute)
        assert s[0] @ oriented @ F[0] == pytest.approx(brute)


def test_the_bounds_are_those_of_their_formulas() -> None:
    C = concept_class("parities", 2)
    value = dimension.value_at(C, uniform(4))
    assert bounds.pan_private_users(value, 1.0, 0.05) == pytest.approx(4 * 0.9 * 2 / math.expm1(1.0), rel=1e-6)
    pairs = bounds.sequential_pairs(value)
    norm = pairs.norm
    # M's norm is at least the L1 form at the same weights, and Grothendieck's constant bounds it.
    assert norm <= 1.783 * value.upper
    M = value.joint / value.joint.sum(axis=1, keepdims=True) - value.law
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=8)))
    assert norm >= np.sqrt(np.min(((M @ corners.T) ** 2).max(axis=1))) / 2
    assert bounds.sequential_users(pairs, 1.0, 0.05) > bounds.sequential_users(pairs, 1.0, 0.2) > 0.0


def test_the_promise_has_its_constants() -> None:
    C = concept_class("parities", 2)
    p = plan(C, 2.0, 0.1, 0.05)
    assert p.tolerance == pytest.approx(1 / 6)
    assert p.far - p.tolerance == pytest.approx(1 / 9)
    assert p.updates == math.floor(2 * math.log(8) * 81)
    assert p.loss == pytest.approx(0.1 + 4 / 18)
    assert math.isinf(plan(C, 2.0, 0.1, 0.05, tolerance=2**-0.5).queries)


@pytest.mark.parametrize("hiding", [False, True])
def test_the_learner_learns_what_it_promises(hiding: bool) -> None:
    C = concept_class("thresholds", 4)
    learner, rng = Learner(C), np.random.default_rng(4)
    promise = plan(C, 10.0, 0.1, 0.05)
    for c in range(4):
        law = realizable_law(C, c, rng.dirichlet(np.ones(4)))
        oracle = AdversarialOracle(law, promise.tolerance) if hiding else ExactOracle(law)
        found = learner.run(promise, oracle, rng)
        assert found.ending == "learned"
        assert loss_of(found.hypothesis, law) <= promise.loss
        assert found.queries == oracle.asked <= promise.queries
        assert found.updates <= promise.updates


def test_a_dimension_too_small_is_noticed_and_a_coarse_tolerance_stalls() -> None:
    C = concept_class("parities", 3)
    law = realizable_law(C, 5, np.full(8, 1 / 8))
    learner, rng = Learner(C), np.random.default_rng(4)
    short = learner.run(plan(C, 2.5, 0.1, 0.05), ExactOracle(law), rng)
    assert short.ending == "smaller-value"
    assert short.least_value == pytest.approx(1 / 3.2, rel=1e-4)
    coarse = plan(C, 3.2, 0.1, 0.05, tolerance=3.2**-0.5)
    stuck = learner.run(coarse, AdversarialOracle(law, coarse.tolerance), rng, limit=300)
    assert (stuck.ending, stuck.queries) == ("stalled", 300)


@pytest.mark.parametrize("name", ["decision-stumps", "parities", "thresholds"])
def test_a_run_does_not_depend_on_those_before_it(name: str) -> None:
    """What pilot runs settle says something of others because all are alike: ζ is chosen by the law alone."""
    C = concept_class(name, 4 if name == "thresholds" else 2)
    promise = plan(C, 10.0, 0.1, 0.05)
    used = Learner(C)

    def run(learner: Learner, number: int) -> Learned:
        rng = np.random.default_rng([7, number])
        law = realizable_law(C, int(rng.integers(C.size)), rng.dirichlet(np.ones(C.domain_size)))
        return learner.run(promise, ExactOracle(law), rng)

    for number in range(12):
        after, alone = run(used, number), run(Learner(C), number)
        assert (after.queries, after.updates, after.least_value) == (alone.queries, alone.updates, alone.least_value)
        assert np.array_equal(after.hypothesis, alone.hypothesis)


def test_queries_are_drawn_by_their_probabilities() -> None:
    """An answer that is never far leaves the law alone: all queries are of the one ζ there."""
    C = concept_class("parities", 2)
    value = dimension.value_at(C, uniform(4))
    met = []

    class Silent(ExactOracle):
        def ask(self, queries: np.ndarray, *, towards: float = 0.0) -> np.ndarray:
            met.append(queries[0])
            return np.array([towards])

    Learner(C).run(plan(C, 2.0, 0.1, 0.05), Silent(uniform(4)), np.random.default_rng(5), limit=4000)
    rng, p = np.random.default_rng(5), value.probabilities / value.probabilities.sum()
    assert np.array_equal(met, value.queries[[rng.choice(len(p), p=p) for _ in range(4000)]])
