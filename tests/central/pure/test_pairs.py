"""2-way marginals through second moments: the embedding, its noise, data on a grid, the gain over the paper's rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.errors import BadValue
from factormech.mechanisms.pure import bodies, pairs
from factormech.mechanisms.pure.covariance import MomentDraws, MomentRelease


def test_marginals_of_signs_are_the_conjunctions() -> None:
    B = np.random.default_rng(1).integers(0, 2, (9, 6))
    rows = pairs.sign_rows(B)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0)
    i, j = np.triu_indices(6, 1)
    np.testing.assert_allclose(
        pairs.marginals(bodies.second_moment(rows)), (B[:, i] * B[:, j]).mean(axis=0), atol=1e-14
    )
    with pytest.raises(BadValue, match="zeros and ones"):
        pairs.sign_rows([[0.5, 1.0]])


def test_replacing_one_word_moves_noise_by_at_most_epsilon() -> None:
    """The gauge of any exchange is at most 1, and no direction outside trace 0 is moved."""
    B = np.random.default_rng(2).integers(0, 2, (40, 7))
    rows = pairs.sign_rows(B)
    moved = np.array([np.outer(x, x) - np.outer(y, y) for x, y in zip(rows[::2], rows[1::2], strict=True)])
    assert np.all(bodies.gauge(moved) <= 1.0 + 1e-12)
    assert np.abs(np.trace(moved, axis1=1, axis2=2)).max() <= 1e-12
    release = pairs.release(7, 0.5)
    assert (release.size, release.unit, release.epsilon, release.guarantee.epsilon) == (8, True, 0.5, 0.5)


def test_the_error_of_invariant_noise_is_three_entries_in_sixteen() -> None:
    """Entries off the diagonal of noise that rotations leave alone are uncorrelated: E = 3(d + 1)²/16·E Z_12²."""
    d, rng = 12, np.random.default_rng(3)
    drawn = pairs.release(d, 1.0, projected=False).draw(rng, 3000)
    assert isinstance(drawn, MomentDraws)
    squares = pairs.errors(drawn.noise, np.zeros((d + 1, d + 1))) ** 2
    # Of trace 0 and invariant: E Z_ij² = E‖Z‖²/(d(d + 3)), i ≠ j, for size d + 1.
    expected = 3.0 * (d + 1) ** 2 / 16.0 * float((drawn.noise**2).sum(axis=(1, 2)).mean()) / (d * (d + 3))
    assert float(squares.mean()) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("d", [8, 32])
def test_signs_are_better_than_the_rows_of_the_paper(d: int) -> None:
    """By √3/4, but for terms of order 1/d."""
    rng = np.random.default_rng(4)
    ours = pairs.release(d, 1.0, projected=False).draw(rng, 1500)
    theirs = MomentRelease.of(d, 1.0, projected=False).draw(rng, 1500)
    assert isinstance(ours, MomentDraws)
    assert isinstance(theirs, MomentDraws)
    first = pairs.errors(ours.noise, np.zeros((d + 1, d + 1))).mean()
    i, j = np.triu_indices(d, 1)
    second = np.sqrt(((d * theirs.noise[:, i, j]) ** 2).mean(axis=-1)).mean()  # rows x/√d: marginals are d·M_ij
    assert first / second == pytest.approx(math.sqrt(3.0) / 4.0, rel=2.5 / d)


def test_the_projection_of_exact_moments_is_exact_without_noise() -> None:
    B = np.random.default_rng(5).integers(0, 2, (5, 4))
    moment = bodies.second_moment(pairs.sign_rows(B))
    drawn = MomentDraws(np.zeros((2, 5, 5)), True, True)
    assert pairs.errors(drawn.moments(moment, 5), moment).max() <= 1e-12
