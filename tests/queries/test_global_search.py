"""The certified dimension: closed forms, isomorphic classes, restrictions, laws at random; and what rests on it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from factormech.bounds.hard.divergence import kl_of_error
from factormech.errors import BadValue
from factormech.learning.concepts import concept_class, from_matrix
from factormech.learning.sq import bounds, dimension, global_search
from factormech.learning.sq.dimension_search import smallest_value, value_of
from factormech.learning.sq.global_search import certified_dimension

WIDTH = 1.0 + global_search.GAP + 1e-6
KINDS = [(False, "all"), (False, "class"), (True, "class")]


def ends(concepts, alpha=0.1, agnostic=False, losers="class", **given):
    found = certified_dimension(concepts, alpha, agnostic=agnostic, losers=losers, **given)
    assert 0.0 < found.lower <= found.upper
    return found


@pytest.mark.parametrize(("agnostic", "losers"), KINDS)
@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_two_concepts_that_differ_at_one_of_two_points_have_one_over_alpha(
    alpha: float, agnostic: bool, losers: str
) -> None:
    """k/(2α) from above and the law of ``closed_forms`` from below."""
    C = concept_class("thresholds", 2)
    assert dimension.simple_ends(C, alpha) == pytest.approx((1.0 / alpha, 1.0 / alpha))
    found = ends(C, alpha, agnostic, losers)
    assert found.lower == pytest.approx(1.0 / alpha, rel=1e-6)
    assert found.upper == pytest.approx(1.0 / alpha, rel=1e-6)


def test_two_concepts_without_a_common_label_have_half_of_it() -> None:
    """One point with a noisy label is the best that there is, by branch and bound."""
    C = concept_class("points", 2)
    assert dimension.simple_ends(C, 0.1)[0] == pytest.approx(5.0)
    found = ends(C)
    assert found.lower == pytest.approx(5.0, rel=1e-6)
    assert found.upper <= 5.0 * WIDTH


def test_the_local_search_ends_far_below() -> None:
    C = concept_class("thresholds", 2)
    assert 1.0 / smallest_value(C, 0.1, losers="all", starts=3).upper < 0.7 * ends(C, losers="all").lower


@pytest.mark.slow
def test_isomorphic_classes_agree() -> None:
    same = [ends(concept_class(name, size)) for name, size in (("parities", 1), ("conjunctions", 1), ("thresholds", 2))]
    assert max(one.lower for one in same) <= min(one.upper for one in same)
    assert all(one.upper <= WIDTH * one.lower for one in same)
    rng = np.random.default_rng(4)
    C = concept_class("thresholds", 3)
    turned = C.matrix[rng.permutation(3)][:, rng.permutation(3)] * rng.choice([-1, 1], 3)
    one, other = ends(C, 0.2), ends(from_matrix(turned, "turned"), 0.2)
    assert max(one.lower, other.lower) <= min(one.upper, other.upper)


@pytest.mark.slow
@pytest.mark.parametrize(("agnostic", "losers"), KINDS)
def test_restrictions_have_no_larger_dimension_and_the_kinds_are_in_order(agnostic: bool, losers: str) -> None:
    found = [ends(concept_class("thresholds", T), 0.1, agnostic, losers) for T in (2, 3, 4)]
    for part, whole in itertools.pairwise(found):
        assert part.lower <= whole.upper
    assert all(one.upper <= WIDTH * one.lower for one in found)
    wider = ends(concept_class("thresholds", 4), 0.1, True, "class")
    assert found[-1].lower <= wider.upper


@pytest.mark.parametrize("name", ["points", "thresholds"])
def test_no_law_at_random_has_a_smaller_value(name: str) -> None:
    C, rng = concept_class(name, 3), np.random.default_rng(0)
    found = ends(C, 0.15)
    for _ in range(40):
        value = value_of(C, rng.dirichlet(np.full(6, 0.4)), 0.15)
        assert dimension.least_loss(C, value.law, "class") >= 0.15 - 1e-9
        assert 1.0 / value.upper <= found.upper * (1.0 + 1e-7)


@pytest.mark.slow
def test_a_random_class_of_four_points_is_between_its_simple_ends() -> None:
    rng = np.random.default_rng(7)
    C = from_matrix(rng.choice([-1, 1], (4, 4)), "random")
    found = ends(C, 0.2)
    low, high = dimension.simple_ends(C, 0.2)
    assert low * (1.0 - 1e-6) <= found.upper
    assert found.lower <= high
    assert found.upper <= WIDTH * found.lower


def test_a_box_around_a_law_has_no_bound_above_its_value() -> None:
    """With π, μ and θ fixed the program is the one of the fixed law, solved another way."""
    C, rng = concept_class("conjunctions", 2), np.random.default_rng(1)
    for agnostic in (False, True):
        value = value_of(C, rng.dirichlet(np.ones(8)), 0.1, agnostic)
        program = global_search._Program(C, 0.1, agnostic, "class", value.cuts)
        program.fixed = program.fixed[: -len(global_search._ordered(_moved(C), program.pi))]  # any order of π
        place = np.concatenate([value.weights, value.law, [value.theta]])
        for room in (1e-9, 0.05, 1.0):
            box = global_search._Box(np.clip([place - room, place + room], 0.0, 1.0))
            assert program.bound(box)[0] <= value.upper + 1e-9
        fixed = global_search._Box(np.clip([place - 1e-9, place + 1e-9], 0.0, 1.0))
        assert program.bound(fixed)[0] >= 0.99 * value.lower


def _moved(C):
    from factormech.learning.sq.symmetry import automorphisms

    return automorphisms(C).concepts


@pytest.mark.slow
def test_a_search_that_is_cut_short_says_what_it_has_proved() -> None:
    C = concept_class("conjunctions", 2)
    few, more = ends(C, losers="all", nodes=1), ends(C, losers="all")
    assert few.nodes <= 2 < more.nodes
    assert few.upper >= more.upper - 1e-9
    assert max(few.lower, more.lower) <= min(few.upper, more.upper)


def test_larger_classes_are_refused() -> None:
    with pytest.raises(BadValue, match="on 4 points"):
        certified_dimension(concept_class("thresholds", 5), 0.1)


# Closed forms -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_parities_at_uniform_points_are_those_of_the_program(bits: int) -> None:
    C = concept_class("parities", bits)
    low, high = dimension.dimension_at(C, np.full(2 * C.domain_size, 0.5 / C.domain_size))
    assert dimension.parities_at_uniform_points(bits) == pytest.approx((low, high), rel=1e-5)


@pytest.mark.parametrize("bits", [5, 6, 7, 8])
def test_the_pairs_that_prove_the_upper_end_are_there(bits: int) -> None:
    """A product of bent functions, and of the best pair of 3 bits, by the matrix itself."""
    H3, H2 = concept_class("parities", 3).labels, concept_class("parities", 2).labels
    best = max(itertools.product((-1.0, 1.0), repeat=8), key=lambda g: np.abs(H3 @ np.array(g)).sum())
    g = np.array(best) if bits % 2 else np.array([1.0])
    H = H3 if bits % 2 else np.ones((1, 1))
    while len(g) < 2**bits:
        g, H = np.kron(g, [1.0, 1.0, 1.0, -1.0]), np.kron(H, H2)
    low, high = dimension.parities_at_uniform_points(bits)
    assert 4.0**bits / np.abs(H @ g).sum() == pytest.approx(high, rel=1e-12)
    assert np.linalg.norm(H, 2) == pytest.approx(2.0 ** (bits / 2))
    assert (low == high) == (bits % 2 == 0)


# Users --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_no_channel_shows_more_of_the_pairs_than_the_bound_says(epsilon: float) -> None:
    value = value_of(concept_class("thresholds", 3), np.full(6, 1.0 / 6.0), 0.2)
    pairs = bounds.sequential_pairs(value)
    most = kl_of_error(0.1) / bounds.sequential_users(pairs, epsilon, 0.1)
    rng, best = np.random.default_rng(2), 0.0
    for _ in range(300):
        V = np.where(rng.random((4, 6)) < 0.5, math.exp(epsilon), 1.0)
        Q = np.concatenate([V, math.exp(epsilon) + 1.0 - V]) / (4.0 * (math.exp(epsilon) + 1.0))
        rho, p = Q @ value.law, pairs.laws @ Q.T
        best = max(best, float(pairs.weights @ (rho * np.log(rho / p)).sum(axis=1)))
    assert 0.0 < best <= most


def test_around_the_centre_more_users_are_needed_at_large_budgets() -> None:
    found = certified_dimension(concept_class("thresholds", 2), 0.2, losers="all").value
    pairs = bounds.sequential_pairs(found)
    plain = bounds.SequentialPairs(pairs.norm, math.inf, pairs.row_mass, pairs.laws, pairs.weights)
    ratios = [bounds.sequential_users(pairs, e, 0.05) / bounds.sequential_users(plain, e, 0.05) for e in (1.0, 3.0)]
    assert 1.05 < ratios[0] < ratios[1]
    assert ratios[1] > 3.0
