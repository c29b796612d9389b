"""Matrix games: both strategies prove each other, a general solver agrees, and it stands in where the method fails."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from factormech.arrays import FloatArray
from factormech.learning.concepts import concept_class
from factormech.learning.sq import dimension, game


def games() -> dict[str, FloatArray]:
    rng = np.random.default_rng(21)
    signs = rng.choice([-1.0, 1.0], size=(60, 12))
    return {
        "rock, paper, scissors": np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]]),
        "normal": rng.standard_normal((7, 30)),
        "signs": signs,
        "repeated": np.concatenate([signs, signs[:30], -signs]),
        "below zero": -1e-3 * rng.random((20, 5)),
        "large": 1e6 * rng.standard_normal((40, 9)),
        "one row": np.array([[3.0, -2.0, 5.0]]),
        "one column": np.array([[3.0], [-2.0]]),
        "zero": np.zeros((3, 4)),
    }


@pytest.mark.parametrize("name", games())
def test_strategies_prove_each_other(name: str) -> None:
    A = games()[name]
    found = game.strategies(A)
    assert found is not None
    y, w = found
    size = max(1.0, float(np.abs(A).max()))
    for law in (y, w):
        assert law.min() >= 0.0
        assert law.sum() == pytest.approx(1.0, abs=1e-14)
    assert (A @ y).max() == pytest.approx((w @ A).min(), abs=1e-10 * size)
    J, n = A.shape
    answer = linprog(
        np.r_[np.zeros(n), 1.0], A_ub=np.c_[A, -np.ones(J)], b_ub=np.zeros(J), A_eq=np.r_[np.ones(n), 0.0][None],
        b_eq=[1.0], bounds=[(0.0, None)] * n + [(None, None)],
    )  # fmt: skip
    assert (A @ y).max() == pytest.approx(answer.fun, abs=1e-9 * size)


def test_a_basic_answer_has_no_more_cuts_than_variables() -> None:
    y, w = game.strategies(games()["signs"]) or (np.zeros(0), np.zeros(0))
    assert max(np.count_nonzero(w), np.count_nonzero(y)) <= 12


def test_a_general_solver_stands_in(monkeypatch: pytest.MonkeyPatch) -> None:
    concepts = concept_class("parities", 2)
    law = np.random.default_rng(2).dirichlet(np.ones(2 * concepts.domain_size))
    found = dimension.value_at(concepts, law, played=True)
    monkeypatch.setattr(game, "_PIVOTS", 0)
    assert game.strategies(games()["signs"]) is None
    plain, other = (dimension.value_at(concepts, law, played=played) for played in (False, True))
    assert found.certified
    assert other.certified
    # By the same solver the same optimum.
    np.testing.assert_array_equal(plain.joint, other.joint)
    assert found.upper == pytest.approx(other.upper, abs=2e-7)
