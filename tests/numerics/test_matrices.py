"""Roots, unit rows and whole numbers of small matrices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from factormech.numerics.rational import integers
from factormech.numerics.vectors import symmetric_root, unit_rows


def test_a_root_of_a_singular_matrix_gives_it_back() -> None:
    A = np.random.default_rng(0).standard_normal((5, 3))
    L = symmetric_root(A @ A.T)
    assert L.shape == (5, 5)
    np.testing.assert_allclose(L @ L.T, A @ A.T, atol=1e-13)


def test_rows_become_units_and_zero_rows_stay() -> None:
    rows = np.array([[3.0, -4.0], [0.0, 0.0], [1e-200, 0.0]])
    found, norms = unit_rows(rows)
    np.testing.assert_array_equal(norms, [5.0, 0.0, 0.0])  # the square of 1e-200 is below the least float
    np.testing.assert_allclose(found[0], [0.6, -0.8], rtol=1e-15)
    assert not found[1].any()


def test_floats_are_integers_over_one_power_of_two() -> None:
    rows = np.array([[0.1, -3.0], [2.0**-60, 0.0]])
    whole, denominator = integers(rows)
    assert denominator & (denominator - 1) == 0
    assert [[Fraction(x, denominator) for x in row] for row in whole] == [[Fraction(x) for x in row] for row in rows]
