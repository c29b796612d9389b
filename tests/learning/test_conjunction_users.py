"""Users of conjunctions from symmetric norms: against the learners and the bounds that list every concept."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.bounds.hard.certificate import best_witness
from factormech.errors import BadValue
from factormech.learning.agnostic import AgnosticLearner
from factormech.learning.bounds import confident_learning_users, learning_certificates
from factormech.learning.concepts import concept_class
from factormech.learning.subset_users import agnostic_users
from factormech.norms.subsets.classes import SubsetClass, subset_class
from factormech.norms.subsets.norms import class_hardness


@pytest.mark.parametrize("d", [2, 4])
def test_users_are_near_those_of_the_learner_that_lists_all_concepts(d: int) -> None:
    found, learner = agnostic_users(d, 1.0, 0.1, 0.1), AgnosticLearner(concept_class("conjunctions", d), 1.0, 0.1)
    assert learner.likely_users(0.1) <= found.predicted <= 3 * learner.likely_users(0.1)
    assert learner.confident_users(0.1) <= found.guaranteed <= 4 * learner.confident_users(0.1)
    assert found.needed <= learner.likely_users(0.1)


@pytest.mark.slow
def test_the_dense_certificate_of_the_same_rows_is_no_weaker() -> None:
    """Rows (c − 1)/2 over 16 points: the best certificate of all against the symmetric one, which has the same rows."""
    queries = subset_class("conjunctions", 4)
    rows = SubsetClass("rows", 4, queries.rows, queries.columns, 0.5 * (queries.values - 1.0), queries.complement)
    found, W = class_hardness(rows, 0.2), rows.dense(rows.values)
    best = best_witness(np.hstack([W, -W]), 0.2, gap=1e-3)
    assert found.theta >= 0.2
    assert 0.8 * best.witness.strength <= found.strength <= best.witness.strength * 1.01
    dense = confident_learning_users(learning_certificates(concept_class("conjunctions", 4)), 1.0, 0.1, 0.1)
    assert 0.1 * dense <= agnostic_users(4, 1.0, 0.1, 0.1).needed <= 3 * dense


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(BadValue, match="from 1 to 30"):
        agnostic_users(31, 1.0, 0.1, 0.1)
    with pytest.raises(BadValue):
        agnostic_users(4, 1.0, 0.6, 0.1)
    with pytest.raises(BadValue):
        class_hardness(subset_class("conjunctions", 3), 1.0)


def test_no_bound_falls_as_attributes_are_added() -> None:
    bounds = [agnostic_users(d, 1.0, 0.1, 0.1).needed for d in range(2, 8)]
    assert bounds == sorted(bounds)
