"""Symmetric matrices as vectors, and their roots."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.numerics import vectors

RNG = np.random.default_rng(7)
X = RNG.standard_normal((3, 4, 4))
X = X + np.swapaxes(X, 1, 2)


def test_packing_keeps_inner_products_and_can_be_undone() -> None:
    packed = vectors.pack(X)
    np.testing.assert_allclose(packed @ packed.T, np.einsum("aij,bij->ab", X, X))
    np.testing.assert_allclose(vectors.unpack(packed, 4), X, rtol=1e-15)


def test_squares_are_packed_outer_products() -> None:
    V = RNG.standard_normal((5, 4))
    np.testing.assert_allclose(vectors.packed_squares(V), vectors.pack(V[:, :, None] * V[:, None, :]))


def test_the_matrix_of_a_product_is_symmetric_and_multiplies() -> None:
    F, S, E = X
    found = vectors.product(F, S)
    np.testing.assert_allclose(found @ vectors.pack(E), vectors.pack(0.5 * (F @ E @ S + S @ E @ F)), rtol=1e-12)
    np.testing.assert_allclose(found, found.T, rtol=1e-12)


@pytest.mark.parametrize("rank", [0, 1, 3, 6])
def test_a_root_has_the_rank_and_the_square(rank: int) -> None:
    A = RNG.standard_normal((6, rank))
    R = vectors.root(A @ A.T)
    assert R.shape == (6, rank)
    np.testing.assert_allclose(R @ R.T, A @ A.T, atol=1e-13)


def test_eigenvalues_up_to_the_noise_are_left_out() -> None:
    R = vectors.root(np.diag([1.0, 1e-3, 2e-3]), noise=1e-3)
    np.testing.assert_allclose(R @ R.T, np.diag([1.0, 0.0, 2e-3]), atol=1e-15)
