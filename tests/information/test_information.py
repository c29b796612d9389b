"""Capacity, contraction and divergences of strategy matrices: closed forms, limits that are attained, the page."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.bounds.hard.pairs import HardPairs
from factormech.errors import BadValue
from factormech.learning import information as limits
from factormech.learning.information import (
    capacity,
    contraction,
    largest_pairwise_divergence,
    mutual_information,
    through,
)
from factormech.learning.information import limits as pair_limits
from factormech.privacy.guarantee import inner_ratio
from tests.bounds.hard.oracles import exact_norm

PAGE = Path(__file__).resolve().parents[2] / "docs" / "information.md"


def channels(epsilon: float, count: int, rng: np.random.Generator, types: int = 4) -> list[FloatArray]:
    """Random ε-LDP matrices: mixtures of staircase rows."""
    found = []
    for _ in range(count):
        high = rng.integers(2, size=(12, types)).astype(float)
        rows = rng.exponential(size=(12, 1)) * np.where(high > 0.0, math.exp(epsilon) * (1 - 1e-12), 1.0)
        # A row that says nothing fills the columns up to the same sum.
        fill = np.full((1, types), rng.exponential())
        Q = np.vstack([rows, rows.max() + rows.min() - rows, fill])
        Q = Q / Q.sum(axis=0)
        ratio = float((Q.max(axis=1) / Q.min(axis=1)).max())
        share = min(1.0, math.expm1(epsilon) / (ratio - 1.0)) * 0.999
        found.append(share * Q + (1.0 - share) * Q.min(axis=1, keepdims=True) / Q.min(axis=1).sum())
    return found


def staircase(types: int, likely: int, epsilon: float) -> FloatArray:
    """Subset selection with sets of this size."""
    sets = list(itertools.combinations(range(types), likely))
    Q = np.ones((len(sets), types))
    for o, members in enumerate(sets):
        Q[o, list(members)] = inner_ratio(epsilon)
    return np.asarray(Q / Q.sum(axis=0))


@pytest.mark.parametrize("epsilon", [1e-3, 0.0099, 0.0101, 1.0, 5.0])
def test_largest_capacity_is_the_maximum_over_shares(epsilon: float) -> None:
    s = np.linspace(1e-6, 1.0, 200_001)
    u = 1.0 + s * math.expm1(epsilon)
    values = epsilon * s * math.exp(epsilon) / u - np.log(u)
    assert limits.largest_capacity(epsilon) == pytest.approx(values.max(), rel=1e-6)
    assert limits.largest_capacity(epsilon) < epsilon**2 / 8


def test_capacity_of_two_types_and_of_subset_selection() -> None:
    p = math.e / (1.0 + math.e)
    Q = np.array([[p, 1 - p], [1 - p, p]])
    exact = math.log(2.0) + p * math.log(p) + (1 - p) * math.log(1 - p)
    found = capacity(Q)
    assert found.lower <= exact <= found.upper
    assert found.upper - found.lower < 1e-6 * exact
    # With the best of these shares the largest capacity is all but attained.
    best = max(capacity(staircase(9, k, 1.0)).lower for k in range(1, 9))
    assert 0.999 < best / limits.largest_capacity(1.0) <= 1.0


def test_a_channel_that_tells_nothing_takes_one_step() -> None:
    for Q in (np.full((3, 5), 1 / 3), np.tile([[0.1], [0.7], [0.2]], 4)):
        found = capacity(Q)
        assert found.iterations == 1
        assert 0.0 == found.lower <= found.upper < 1e-12


def test_capacity_where_the_best_law_is_not_uniform() -> None:
    Q = np.array([[1.0, 0.5], [0.0, 0.5]])  # Z-channel: ln(1 + ½·½^{½/½}) = ln(5/4)
    found = capacity(Q, gap=1e-9)
    assert found.lower <= math.log(1.25) <= found.upper
    assert found.law[1] == pytest.approx(0.4, abs=1e-3)
    assert mutual_information(Q, found.law) == pytest.approx(math.log(1.25), abs=1e-8)
    early = capacity(Q, iterations=2)
    assert early.lower <= math.log(1.25) <= early.upper


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_no_channel_passes_the_limits(epsilon: float) -> None:
    rng = np.random.default_rng(7)
    for Q in channels(epsilon, 25, rng):
        shrunk = contraction(Q)
        assert capacity(Q, iterations=100).lower <= limits.largest_capacity(epsilon)
        assert shrunk.lower <= limits.largest_contraction(epsilon)
        assert largest_pairwise_divergence(Q) <= limits.largest_divergence(epsilon)
        p, q = rng.dirichlet(np.ones(4), size=2)
        before, after = (float((a * np.log(a / b)).sum()) for a, b in ((p, q), (Q @ p, Q @ q)))
        assert after <= shrunk.upper * before


def test_contraction_of_two_types_is_reached_and_that_of_randomized_response_known() -> None:
    p = math.e / (1.0 + math.e)
    found = contraction(np.array([[p, 1 - p], [1 - p, p]]))
    assert found.lower <= limits.largest_contraction(1.0) <= found.upper
    assert found.upper - found.lower < 1e-8
    Z = np.array([[1.0, 0.5], [0.0, 0.5]])
    lopsided = np.array([[0.7, 0.05], [0.2, 0.15], [0.1, 0.8]])
    beta = np.linspace(1e-6, 1.0 - 1e-6, 200_001)
    for Q in (Z, lopsided, lopsided[:, ::-1]):
        P, R = Q.T[:, :, None]
        brute = float((beta * (1.0 - beta) * ((P - R) ** 2 / (beta * P + (1.0 - beta) * R)).sum(axis=0)).max())
        found = contraction(Q)
        assert brute - 1e-9 <= found.upper <= found.lower + 1e-6
        assert found.lower <= brute + 1e-5
    Q = Z
    assert math.isinf(largest_pairwise_divergence(Q))


def test_sequential_transcripts_of_dependent_data_stay_below_the_limit() -> None:
    """Three users who hold the same bit; the second and third are asked as the first answered."""
    p = math.e / (1.0 + math.e)
    law = np.zeros((2, 2, 2, 2))  # data bit, reports
    for x, *y in itertools.product(range(2), repeat=4):
        flips = [y[0] ^ x, y[1] ^ x ^ y[0], y[2] ^ x ^ y[1]]
        law[x, y[0], y[1], y[2]] = 0.5 * math.prod(p if not flip else 1 - p for flip in flips)
    joint = law.reshape(2, 8)
    information = float((joint * np.log(joint / (joint.sum(0) * joint.sum(1)[:, None]))).sum())
    assert 0.5 * limits.transcript_information(1, 1.0) < information <= limits.transcript_information(3, 1.0)


def test_pairs_through_channels_stay_below_their_limits() -> None:
    rng = np.random.default_rng(3)
    epsilon, worst = 1.0, 0.0
    for Q in channels(epsilon, 20, rng):
        pairs = HardPairs(rng.dirichlet(np.ones(4), 3), rng.dirichlet(np.ones(4), 3), np.full(3, 1 / 3), np.arange(3))
        seen, most = through(pairs, Q, epsilon), pair_limits(exact_norm(pairs), epsilon)
        p, q = pairs.first @ Q.T, pairs.second @ Q.T
        assert seen.kullback_leibler == pytest.approx(float((p * np.log(p / q)).sum(axis=1).mean()), rel=1e-9)
        assert seen.chi_squared == pytest.approx(float(((p - q) ** 2 / q).sum(axis=1).mean()), rel=1e-9)
        for name in ("chi_squared", "kullback_leibler", "squared_hellinger", "total_variation"):
            assert 0.0 < getattr(seen, name) <= getattr(most, name)
        worst = max(worst, seen.chi_squared / most.chi_squared)
    assert worst > 0.01


def test_bad_input_is_refused() -> None:
    Q = np.full((2, 2), 0.5)
    with pytest.raises(BadValue, match="law"):
        mutual_information(Q, np.array([0.7, 0.7]))
    with pytest.raises(BadValue, match="gap"):
        capacity(Q, gap=0.0)
    with pytest.raises(BadValue, match="types"):
        contraction(np.ones((1, 1)))
    with pytest.raises(BadValue, match="domain"):
        through(HardPairs(np.eye(3), np.eye(3), np.full(3, 1 / 3), np.arange(3)), Q, 1.0)


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL):
        exec(compile(code, PAGE.name, "exec"), names)  # noqa: S102
    printed = capsys.readouterr().out.splitlines()
    assert printed == ["0.9989 0.9989", "0.5333", "2.3 True", "23.1 True", "231.1 True"]
