"""Anderson acceleration: exact on affine maps, in both of its forms, and safe."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.numerics.descent import Anderson

RNG = np.random.default_rng(12)
B, C = 0.9 * np.linalg.qr(RNG.standard_normal((4, 4)))[0], RNG.standard_normal((4, 1))
FIXED = np.linalg.solve(np.eye(4) - B, C)


@pytest.mark.parametrize("weights", [None, np.ones((4, 1)), np.array([[1.0], [1e-3], [5.0], [0.1]])])
def test_an_affine_map_of_four_numbers_ends_after_five_steps(weights: FloatArray | None) -> None:
    """Five steps span the whole map, whatever the weights."""
    memory, x = Anderson(6), np.zeros((4, 1))
    for _ in range(7):
        image = B @ x + C
        x = memory.extrapolate(image, image - x, weights)
    np.testing.assert_allclose(x, FIXED, atol=1e-6 if weights is None else 1e-12)


def test_both_forms_agree_while_the_products_have_the_digits() -> None:
    """Where the ridge of the products is far below their least eigenvalue."""
    one, other, x = Anderson(4), Anderson(4), np.zeros((4, 1))
    for _ in range(4):
        image = B @ x + C
        x, y = one.extrapolate(image, image - x), other.extrapolate(image, image - x, np.ones((4, 1)))
        np.testing.assert_allclose(x, y, rtol=1e-6)


def test_only_the_last_pairs_are_remembered() -> None:
    """The answer after many steps is that of a fresh memory that saw the last three."""
    long, pairs = Anderson(3), [(RNG.standard_normal(9), RNG.standard_normal(9)) for _ in range(8)]
    for weights in (None, np.ones(9)):
        long.forget()
        for pair in pairs:
            found = long.extrapolate(*pair, weights)
        short = Anderson(3)
        for pair in pairs[-3:]:
            fresh = short.extrapolate(*pair, weights)
        np.testing.assert_allclose(found, fresh, rtol=1e-12)


@pytest.mark.parametrize("weights", [None, np.ones(9)])
@pytest.mark.parametrize("keep", [0, 1, 2])
def test_what_is_kept_counts_on(keep: int, weights: FloatArray | None) -> None:
    pairs = [(RNG.standard_normal(9), RNG.standard_normal(9)) for _ in range(5)]
    memory, fresh = Anderson(3), Anderson(3)
    for pair in pairs[:4]:
        memory.extrapolate(*pair, weights)
    memory.forget(keep=keep)
    assert len(memory) == keep
    for pair in pairs[4 - keep :]:
        expected = fresh.extrapolate(*pair, weights)
    np.testing.assert_allclose(memory.extrapolate(*pairs[4], weights), expected, rtol=1e-12)


def test_no_entry_goes_beyond_the_reach() -> None:
    memory = Anderson(3)
    memory.extrapolate(np.zeros(2), np.array([1.0, 0.0]), np.ones(2))
    image = np.array([10.0, 1.0])
    found = memory.extrapolate(image, np.array([0.9, 0.0]), np.ones(2), reach=3.0)
    np.testing.assert_allclose(found, [13.0, 4.0])  # without a reach: image + 9 (image − 0)


def test_steps_of_nothing_stay_where_they_are() -> None:
    memory, point = Anderson(3), np.array([1.0, 2.0])
    for _ in range(3):
        np.testing.assert_array_equal(memory.extrapolate(point, np.zeros(2)), point)


def test_a_step_that_grew_gives_the_plain_image_back() -> None:
    """And what was remembered is forgotten: the next answer is plain."""
    memory, image = Anderson(6), np.ones((2, 2))
    memory.next(3.0 * image, 2.0 * image)
    memory.next(image, np.diag([1.0, 0.5]))
    np.testing.assert_array_equal(memory.next(7.0 * image, 9.0 * image), image)
    np.testing.assert_array_equal(memory.next(5.0 * image, 4.0 * image), 5.0 * image)
