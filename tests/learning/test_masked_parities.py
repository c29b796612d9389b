"""Masked parities: the norm of the pairs, both rounds against exact probabilities and against runs user by user."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from factormech.arrays import IntArray
from factormech.bounds.hard.divergence import users_to_distinguish
from factormech.errors import BadValue
from factormech.learning.masked_parities import MaskedParities


def _laws(d: int) -> dict[tuple[int, int], np.ndarray]:
    """D_{r,a} over (x, i, b, label), as vectors."""
    laws = {}
    for r, a in itertools.product(range(1 << d), range(2)):
        law = np.zeros((1 << d, d, 2, 2))
        for x, i in itertools.product(range(1 << d), range(d)):
            law[x, i, 1, r >> i & 1] = law[x, i, 0, ((r & x).bit_count() + a) % 2] = 0.5 / (d << d)
        laws[r, a] = law.ravel()
    return laws


@pytest.mark.parametrize("d", [1, 2])
def test_the_norm_of_the_pairs_is_the_one_stated(d: int) -> None:
    """Over all f in the cube, by enumeration of the signs that matter."""
    laws = _laws(d)
    M = np.array([laws[r, 0] - laws[r, 1] for r in range(1 << d)])
    used = M.any(axis=0)
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=int(used.sum() // 2))))
    # Both labels of a point have opposite entries: the best f is opposite there, too.
    halves = M[:, used][:, ::2]
    assert np.allclose(M[:, used][:, 1::2], -halves)
    largest = max(float(np.mean((2 * halves @ f) ** 2)) for f in signs)
    assert math.isclose(largest, 2.0**-d)
    assert np.allclose(np.abs(M).sum(axis=1), 1.0)
    centre = np.where(used, 1.0 / used.sum(), 0.0)
    for r in range(1 << d):
        assert ((laws[r, 0] + laws[r, 1]) / 2 >= 0.5 * centre - 1e-15).all()


def test_no_hypothesis_is_good_for_both_bits() -> None:
    laws, rng = _laws(2), np.random.default_rng(2)
    for r in range(4):
        for h in rng.integers(0, 2, size=(50, 16)):
            wrong = np.stack([h == 1, h == 0], axis=1).ravel()  # label 0 where h says 1, and the reverse
            assert laws[r, 0] @ wrong + laws[r, 1] @ wrong >= 0.5 - 1e-12


def test_sequential_users_learn_as_often_as_is_proved() -> None:
    problem, rng = MaskedParities(6, 1.0), np.random.default_rng(3)
    users = problem.sequential_users(0.1)
    share = problem.learned(users, 20000, rng).mean()
    assert 0.9 <= share <= 0.97  # the union bound loses little
    assert problem.learned((users[0] // 2, users[1]), 20000, rng).mean() < 0.75


def run_users(
    problem: MaskedParities, mask: IntArray, bit: int, users: tuple[int, int], rng: np.random.Generator
) -> tuple[IntArray, int]:
    """One run, user by user: the mask and the bit that are learned. ``learned`` has the same law."""
    d, (first, second) = problem.attributes, users
    right = 1.0 / (1.0 + math.exp(-problem.epsilon))
    z = rng.integers(0, 2, (first, d)) * 2 - 1
    i, b = rng.integers(0, d, first), rng.integers(0, 2, first)
    said = np.where(b == 1, z[np.arange(first), i] * (1 - 2 * mask[i]), rng.integers(0, 2, first) * 2 - 1)
    said *= np.where(rng.random(first) < right, 1, -1)
    found = (said @ z <= 0).astype(np.int64)
    x, b = rng.integers(0, 2, (second, d)), rng.integers(0, 2, second)
    label, guess = 1 - 2 * ((x @ mask + bit) % 2), 1 - 2 * ((x @ found) % 2)
    said = np.where(b == 0, label * guess, rng.integers(0, 2, second) * 2 - 1)
    said *= np.where(rng.random(second) < right, 1, -1)
    return found, int(said.sum() <= 0)


def test_counts_have_the_law_of_users() -> None:
    problem, rng = MaskedParities(3, 1.5), np.random.default_rng(4)
    users, trials = (150, 20), 2500
    found = 0
    for _ in range(trials):
        mask, bit = rng.integers(0, 2, 3), int(rng.integers(0, 2))
        learned, told = run_users(problem, mask, bit, users, rng)
        found += bool(np.array_equal(learned, mask) and told == bit)
    share = problem.learned(users, 200000, rng).mean()
    # Ties: users err to 1, so half of them are right there; counts call them wrong.
    assert found / trials == pytest.approx(share, abs=0.05)
    assert 0.3 < share < 0.9


def test_one_round_needs_exponentially_many_users() -> None:
    few, many = MaskedParities(20, 1.0), MaskedParities(30, 1.0)
    assert many.non_interactive_users(0.1) == pytest.approx(1024 * few.non_interactive_users(0.1), rel=1e-6)
    assert few.non_interactive_users(0.1) > users_to_distinguish(2.0**-10, 1.0, 0.1)
    assert few.non_interactive_users(0.1) > 100 * sum(few.sequential_users(0.1))
    with pytest.raises(BadValue):
        MaskedParities(0, 1.0)
