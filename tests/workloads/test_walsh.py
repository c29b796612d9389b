"""The Walsh–Hadamard transform and the matrices that it makes diagonal."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import hadamard

from factormech.errors import BadValue
from factormech.workloads import binary


@pytest.mark.parametrize("n", [1, 2, 4, 64])
@pytest.mark.parametrize("columns", [(), (1,), (5,), (0,), (2, 3)])
def test_is_multiplication_by_the_hadamard_matrix(n, columns):
    x = np.random.default_rng(0).normal(size=(n, *columns))
    before = x.copy()
    wanted = np.tensordot(hadamard(n).astype(float), x, axes=1)
    np.testing.assert_allclose(binary.transform(x), wanted, atol=1e-12)
    assert np.array_equal(x, before)


def test_inverts_itself_exactly_on_whole_numbers_at_size_2_to_the_18():
    x = np.random.default_rng(0).integers(-1000, 1000, size=2**18).astype(float)
    assert np.array_equal(binary.transform(binary.transform(x)), 2**18 * x)


def test_of_a_character_is_a_unit_vector_at_size_2_to_the_16():
    s, n = 0b1010_0000_1111_0001, 2**16
    character = (-1.0) ** np.bitwise_count(np.arange(n) & s)
    wanted = np.zeros(n)
    wanted[s] = n
    assert np.array_equal(binary.transform(character), wanted)


@pytest.mark.parametrize("dtype", [np.int64, np.float32, bool])
def test_takes_any_real_type_and_any_order(dtype):
    x = (np.arange(16).reshape(8, 2) % 3).astype(dtype)
    wanted = hadamard(8) @ x.astype(float)
    assert np.array_equal(binary.transform(x), wanted)
    assert np.array_equal(binary.transform(np.asfortranarray(x)), wanted)


@pytest.mark.parametrize("n", [0, 3, 12])
def test_refuses_other_lengths(n):
    with pytest.raises(BadValue, match="be a power of two"):
        binary.transform(np.zeros(n))


def test_powers_of_two():
    assert [n for n in range(-4, 70) if binary.is_power_of_two(n)] == [1, 2, 4, 8, 16, 32, 64]


@pytest.mark.parametrize("n", [1, 2, 5, 1000])
def test_popcounts(n):
    assert binary.popcounts(n).tolist() == [bin(u).count("1") for u in range(n)]


@pytest.mark.parametrize("n", [1, 2, 8, 64])
def test_group_matrix_and_its_products(n):
    g = np.random.default_rng(0).random(n)
    H = hadamard(n).astype(float)
    M = H @ np.diag(g) @ H / n
    found = binary.group_matrix(g)
    np.testing.assert_allclose(found, M, atol=1e-13)
    u = np.arange(n)
    assert np.array_equal(found, found[0][u[:, None] ^ u])  # exactly a function of u ⊕ v
    x = np.random.default_rng(1).normal(size=(n, 3))
    np.testing.assert_allclose(binary.times(g, x), M @ x, atol=1e-12)
    np.testing.assert_allclose(binary.times(g, x[:, 0]), M @ x[:, 0], atol=1e-12)


def test_sets_come_by_size_then_by_mask():
    assert binary.sets(3, [0, 1, 2]).tolist() == [0, 1, 2, 4, 3, 5, 6]
    assert binary.sets(3, [2]).tolist() == [3, 5, 6]
    assert binary.sets(0, [0]).tolist() == [0]


def test_attributes():
    assert [binary.attributes(n) for n in (1, 2, 1024)] == [0, 1, 10]
    with pytest.raises(BadValue, match="12 is none; the nearest are 8 and 16"):
        binary.attributes(12)
    with pytest.raises(BadValue, match="8 types have 3 binary attributes, fewer than 4; give at least 2"):
        binary.attributes(8, 4)
