"""Theorem 52 of the thesis as printed: an oracle of tolerance 1/√d can hide the concept from every algorithm."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from factormech.learning.concepts import concept_class
from factormech.learning.sq import dimension

ALPHA, MASS = 0.01, 0.0999
# Two concepts on two points, which differ on the second alone. Labelled points: both with label +, then both with −.
CLASS = concept_class("parities", 1)
LAWS = {1: np.array([1 - MASS, MASS, 0, 0]), -1: np.array([1 - MASS, 0, 0, MASS])}


def losses(law: np.ndarray) -> list[float]:
    """What each concept of the class loses."""
    return [float(law[:2][row < 0].sum() + law[2:][row > 0].sum()) for row in CLASS.labels]


def test_the_class_is_two_concepts_that_differ_on_one_point() -> None:
    assert CLASS.labels.tolist() == [[1, 1], [1, -1]]
    assert losses(LAWS[1]) == [0.0, MASS]
    assert losses(LAWS[-1]) == [MASS, 0.0]


def test_the_dimension_is_between_half_and_one_over_alpha() -> None:
    """At least ½/α by one noisy point; at most 1/α, as ½ and ½ on "errs" of both concepts have 2α with chance ½."""
    noisy = np.array([1 - 2 * ALPHA, ALPHA, 0, ALPHA])
    assert min(losses(noisy)) >= ALPHA - 1e-15
    assert dimension.value_at(CLASS, noisy).upper <= 2 * ALPHA + 1e-12
    rng, tried = np.random.default_rng(5), 0
    for law in rng.dirichlet(np.full(4, 0.2), 60):
        if min(losses(law)) >= ALPHA:
            tried += 1
            assert dimension.value_at(CLASS, law).lower >= min(losses(law)) - 1e-9
    assert tried >= 20


@pytest.mark.parametrize("d", [50, 70, 100])
def test_no_algorithm_learns_with_the_printed_tolerance(d: int) -> None:
    """Both laws may have the same answers, and every hypothesis loses more than α + 3/d on one of them."""
    tolerance = 1 / math.sqrt(d)
    for signs in itertools.product((-1.0, 1.0), repeat=4):  # extreme queries: answers are linear in the query
        answers = [float(np.array(signs) @ law) for law in LAWS.values()]
        middle = sum(answers) / 2
        assert max(abs(answer - middle) for answer in answers) <= tolerance
    for label, law in LAWS.items():
        assert min(losses(law)) == 0.0
        wrong = law[1] if label > 0 else law[3]  # of a hypothesis that says −label at the second point
        assert wrong > ALPHA + 3 / d
    # With tolerance 1/(3d) the answers to the query that reads the second label are apart.
    reads = np.array([0.0, 1.0, 0.0, -1.0])
    assert reads @ (LAWS[1] - LAWS[-1]) > 2 / (3 * d)
