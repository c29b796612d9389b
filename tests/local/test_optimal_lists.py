"""Sums over lists of types against matrix products of the same sets."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.mechanisms.local.optimal.columns import Columns
from factormech.mechanisms.local.optimal.frame import Frame
from factormech.mechanisms.local.optimal.masses import SMALL, Lists, evaluate
from factormech.mechanisms.local.optimal.problem import Problem
from factormech.workloads.registry import create

EPSILON = 3.0


def _columns(n: int, uniform: bool, large: float, dtype: type[np.floating]) -> Columns:
    """Random sets of about n/20 types, a part of them of n/3, with all single types."""
    rng = np.random.default_rng(n)
    prior = None if uniform else rng.dirichlet(np.full(n, 5.0))
    frame = Frame.of(Problem(create("prefix", n).centred_gram(), EPSILON, prior))
    density = np.where(rng.random(4 * n) < large, 1.0 / 3.0, 0.05)
    sets = np.concatenate([rng.random((4 * n, n)) < density[:, None], np.eye(n, dtype=np.bool_)])
    return Columns.of(frame, frame.canonical(sets), dtype)


@pytest.mark.parametrize("n", [160, 161])
@pytest.mark.parametrize("uniform", [True, False])
@pytest.mark.parametrize("large", [0.0, 0.3])
def test_lists_give_what_matrix_products_give(n: int, uniform: bool, large: float) -> None:
    columns = _columns(n, uniform, large, np.float64)
    assert columns.frame.symmetric == uniform
    lists = columns.lists
    assert lists is not None
    assert (len(lists.large) > n) == (large > 0.0)
    place = columns.place(np.random.default_rng(1).random(len(columns)) + 0.1)
    assert place is not None
    dense = evaluate(columns.frame, columns.features, place.masses)
    assert place.value == pytest.approx(dense.value, rel=1e-12)
    np.testing.assert_allclose(place.gains, dense.gains, rtol=1e-10)
    np.testing.assert_allclose(place.excess, dense.excess, atol=1e-10)
    for inverse, wanted in zip(place.inverses, dense.inverses, strict=True):
        np.testing.assert_allclose(inverse, wanted, rtol=0.0, atol=1e-10 * np.abs(wanted).max())


def test_lists_keep_the_digits_that_a_search_in_single_precision_has() -> None:
    columns = _columns(160, True, 0.3, np.float32)
    place = columns.place(np.ones(len(columns)))
    assert place is not None
    assert columns.lists is not None
    exact = Columns.of(columns.frame, columns.supports, np.float64)
    wanted = evaluate(columns.frame, exact.features, place.masses)
    np.testing.assert_allclose(place.gains, wanted.gains, rtol=1e-5)


def test_only_small_sets_are_lists_and_none_where_they_are_few() -> None:
    columns = _columns(160, True, 0.3, np.float64)
    lists = columns.lists
    assert lists is not None
    sizes = columns.supports.sum(axis=1)
    assert SMALL * sizes[lists.small].max() <= 160 < SMALL * sizes[lists.large].min()
    assert sorted([*lists.small, *lists.large]) == list(range(len(columns)))
    assert _columns(160, True, 0.9, np.float64).lists is None
    few = _columns(64, True, 0.0, np.float64)
    assert Lists.of(few.frame, few.supports, few.features) is None
