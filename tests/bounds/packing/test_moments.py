"""Bounds for second moments: singular values of explicit arrays, distances of explicit data, spheres, mechanisms."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from factormech.bounds.packing import moments
from factormech.bounds.packing.core import LowerBound
from factormech.mechanisms.pure.covariance import BALL
from factormech.mechanisms.pure.eigenvalues import TraceNoise
from factormech.numerics.vectors import pack

# x ↦ αx, as polynomials over GF(2) modulo these.
_MODULUS = {2: 0b11, 4: 0b111, 8: 0b1011, 16: 0b10011}


def times(x: int, y: int, a: int) -> int:
    """The product in GF(a)."""
    found = 0
    while y:
        found ^= x if y & 1 else 0
        x, y = x << 1, y >> 1
        x ^= _MODULUS[a] if x & a else 0
    return found


def trace(x: int, a: int) -> int:
    """x + x² + x⁴ + …, which is 0 or 1."""
    found, power = 0, x
    for _ in range(a.bit_length() - 1):
        found, power = found ^ power, times(power, power, a)
    return found


def array(a: int) -> np.ndarray:
    """The words of the module, (a², a), for γ = 0."""
    cubes = [times(x, times(x, x, a), a) for x in range(a)]
    rows = [
        [(-1) ** trace(times(s, x, a) ^ times(t, cubes[x], a), a) for x in range(a)]
        for s, t in itertools.product(range(a), repeat=2)
    ]
    return np.array(rows, dtype=float)


def centred_trace(W: np.ndarray) -> float:
    """The sum of the centred singular values."""
    return float(np.linalg.svd(W - W.mean(axis=1, keepdims=True), compute_uv=False).sum())


@pytest.mark.parametrize("a", sorted(_MODULUS))
def test_arrays_have_the_singular_values_of_the_closed_forms(a: int) -> None:
    words = array(a)
    W = np.array([pack(np.outer(s, s) / a) for s in words]).T
    assert centred_trace(W) == pytest.approx((a - 1) * a / math.sqrt(2.0), rel=1e-9)
    bits = (1.0 + np.concatenate([words, -words])) / 2.0
    pairs = np.array([bits[:, i] * bits[:, j] for i, j in itertools.combinations(range(a), 2)])
    assert centred_trace(pairs) == pytest.approx(moments._conjunction_trace(a), rel=1e-9)


def test_frames_are_as_far_apart_as_their_words() -> None:
    """Rows (y_σ, e_σ)/√2 on both sides of the inequality, with r copies of n users."""
    rng = np.random.default_rng(0)
    b, S, r, n = 5, 4, 3, 20
    for _ in range(20):
        y, z = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in rng.standard_normal((2, S, b)))
        first, second = (np.hstack([words, np.eye(S)]) / math.sqrt(2.0) for words in (y, z))
        assert np.linalg.norm(first, axis=1) == pytest.approx(1.0)
        moved = r / n * np.linalg.norm(first.T @ first - second.T @ second)
        assert moved**2 >= (r / n) ** 2 * (S - float((y * z).sum())) * (1 - 1e-12)


def test_numbers_of_words_are_below_caps_in_closed_form() -> None:
    """P(⟨y, u⟩ > c) of one vector: (1 − c)/2 on the sphere of R³; 2·arccos(c)/π of |⟨x, u⟩| > c in the plane."""
    c = np.array([0.1, 0.5, 0.9])
    found = moments.log_words(3, c)
    assert np.all(found > 0.0)
    assert np.all(found <= -np.log((1.0 - c) / 2.0))
    # Chernoff's bound for E e^{λu} = sinh(λ)/λ, on a grid of λ that is not the module's.
    t = np.geomspace(1e-3, 1e3, 20001)
    best = (t * c[:, None] - (t + np.log1p(-np.exp(-2 * t)) - np.log(2 * t))).max(axis=1)
    np.testing.assert_allclose(found, best, rtol=5e-3)
    assert np.all(found <= best * (1 + 1e-9))
    np.testing.assert_allclose(moments.log_lines(2, c), -np.log(2 * np.arccos(c) / math.pi), rtol=1e-9)


@pytest.mark.parametrize("d", [2, 8, 32])
def test_noise_is_above_the_bound(d: int) -> None:
    """Trace noise, with its interval, and ball noise, exactly, err by 1/n of a constant."""
    length = TraceNoise.of(d, 1.0).norm(np.random.default_rng(1), 2000, 1e-3)
    ball = d * (d + 1) / 2 * BALL
    for n in (1, 4, 64, 1024, 2**20):
        bound = moments.second_moments(d, n, 1.0)
        assert 0.0 < bound.value <= min(length.high, ball) / n
        assert bound.value <= 1.0  # of the answer 0


@pytest.mark.parametrize("d", [2, 6, 64])
def test_the_ball_and_a_constant_are_above_the_bound_on_marginals(d: int) -> None:
    for n in (1, 16, 256, 2**16):
        bound = moments.two_way_marginals(d, n, 1.0)
        assert 0.0 < bound.value <= min(0.5, d * (d - 1) / 2 / n)


def test_more_coordinates_and_fewer_users_never_help() -> None:
    values = np.array([[moments.second_moments(d, n, 1.0).value for n in (4, 64, 1024)] for d in (2, 4, 8, 16)])
    assert np.all(np.diff(values, axis=0) >= 0.0)
    assert np.all(np.diff(values * np.array([4, 64, 1024]), axis=1) >= 0.0)


def test_packings_grow_as_the_theorem_says() -> None:
    """Many users: d^{3/2}/(nε) of frames; a mean over data has d/(nε) and wins at sizes that are not large."""
    packed = [moments._packed(d, 2**40, 1e-3).value for d in (64, 256, 1024)]
    slopes = np.diff(np.log(packed)) / math.log(4.0)
    assert slopes == pytest.approx(1.5, abs=0.05)
    assert moments.second_moments(16, 2**30, 1.0).method == "averaging"
    assert moments.second_moments(16, 4, 1.0).method == "packing"


def test_covariances_are_second_moments_of_pairs_of_users() -> None:
    found: LowerBound = moments.covariances(8, 65, 0.5)
    assert found.value == pytest.approx(64 / 65 * moments.second_moments(8, 32, 1.0).value)
    assert found.users == 65
    assert moments.covariances(8, 1, 0.5).value == 0.0
