"""Split noise: its cost against every split of a box, the guarantee block by block, shares, and what it is worth."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.errors import BadValue, Unavailable, UnknownName
from factormech.mechanisms.pure.bodies import body_of
from factormech.mechanisms.pure.bouncy import LARGEST_DIMENSION, Gauge
from factormech.mechanisms.pure.jl import JLRelease
from factormech.mechanisms.pure.knorm import knorm_noise
from factormech.mechanisms.pure.mechanism import NoisyRelease, PureMechanism, build, pure_law
from factormech.mechanisms.pure.recursive import RecursiveNoise
from factormech.mechanisms.pure.split import AIMS, best_runs, predicted_weight, split_noise
from tests.central.pure.bodies import corners, signs


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def split(Q: FloatArray, epsilon: float = 1.0, **options: object) -> RecursiveNoise:
    found = split_noise(Q, epsilon, rng(), **options)  # type: ignore[arg-type]
    assert isinstance(found, RecursiveNoise), found
    return found


def blocks_of(noise: RecursiveNoise) -> list[int]:
    return [stage.dimension for stage in noise.stages]


def box_cost(widths: FloatArray) -> float:
    """E‖Z‖² at ε = 1 of K-norm noise of a box: (m + 1)(m + 2)Σw²/3, and 2w² of a segment alike."""
    m = len(widths)
    return (m + 1) * (m + 2) / 3 * float((widths**2).sum())


def best_cost(widths: FloatArray) -> float:
    """The least (Σ c^{1/3})³ over all splits of a box into runs of its sides, longest first."""
    w = np.sort(widths)[::-1]
    costs = []
    for cuts in itertools.chain.from_iterable(itertools.combinations(range(1, len(w)), t) for t in range(len(w))):
        parts = np.split(w, cuts)
        costs.append(sum(box_cost(part) ** (1 / 3) for part in parts) ** 3)
    return min(costs)


@pytest.mark.parametrize("widths", [[1.0, 1.1, 1.2], [30.0, 1.0, 1.1], [50.0, 48.0, 1.0, 1.1], [400.0, 20.0, 1.0, 1.1]])
def test_the_split_of_a_box_is_the_best_of_all(widths: list[float]) -> None:
    """Every law is exact here, so the cost is to rounding what the search over all splits finds."""
    w = np.array(widths)
    noise = split(corners(w), 0.5)
    told = noise.moments(rng())
    assert not isinstance(told, Unavailable)
    assert told.mean_square.value == pytest.approx(4 * best_cost(w), rel=1e-9)
    assert told.mean_square.low == told.mean_square.high


def test_round_bodies_are_left_whole_and_long_queries_apart() -> None:
    assert blocks_of(split(signs(8, 40))) == [8]
    skewed = signs(8, 40) * np.array([30.0, 30.0, *[1.0] * 6])[:, None]
    assert blocks_of(split(skewed)) == [2, 6]
    plain = knorm_noise(skewed, 1.0).moments(rng())
    told = split(skewed).moments(rng())
    assert not isinstance(plain, Unavailable)
    assert not isinstance(told, Unavailable)
    assert told.mean_square.high < 0.5 * plain.mean_square.low


@pytest.mark.parametrize("aim", AIMS)
def test_the_blocks_compose_to_epsilon(aim: str) -> None:
    """Σ ε_i‖P_i s‖_{P_iB} ≤ ε for every s = Q_x − Q_y, and each block's noise is on the boundary of its body."""
    Q = signs(5, 9) * np.array([9.0, 3.0, 1.0, 1.0, 1.0])[:, None]
    noise = split(Q, 0.7, aim=aim, blocks=(1, 1, 3))
    shifts = np.array([a - b for a in Q.T for b in Q.T if (a != b).any()])
    total, bases = np.zeros(len(shifts)), []
    for stage, share in zip(noise.stages, noise.shares, strict=True):
        W = np.linalg.qr(stage.noise.frame)[0]
        bases.append(W)
        gauge = Gauge(body_of(W.T @ Q))
        sizes = gauge.of(shifts @ W)
        assert sizes.max() == pytest.approx(1.0, abs=1e-9)
        Z = stage.noise.directions.sample(rng(), 50)
        assert not isinstance(Z, Unavailable)
        assert gauge.of(Z.directions @ stage.noise.frame.T @ W) == pytest.approx(1.0, abs=1e-9)
        total += share * sizes
    assert total.max() <= 0.7 * (1 + 1e-12)
    together = np.hstack(bases)
    assert together.T @ together == pytest.approx(np.eye(5), abs=1e-10)


def test_shares_for_the_projection_make_its_bound_least() -> None:
    """E max_x,y ⟨Z, Q_x − Q_y⟩ ≤ Σ a_i/ε_i, least at ε_i ∝ √a_i; the shares for noise are no better there."""
    Q = signs(6, 30) * np.array([20.0, 20.0, 1.0, 1.0, 1.0, 1.0])[:, None]

    def supports(noise: RecursiveNoise, seed: int) -> FloatArray:
        Z = noise.draw(rng(seed), 4000)
        assert not isinstance(Z, Unavailable)
        heights = Z @ Q
        return np.asarray(heights.max(axis=1) - heights.min(axis=1))

    fitted, other = (supports(split(Q, aim=aim, blocks=(2, 4)), 1).mean() for aim in ("projection", "noise"))
    assert fitted <= other * 1.02
    noise = split(Q, aim="projection", blocks=(2, 4))
    a = []
    for stage in noise.stages:
        Z = stage.noise.draw(rng(3), 8000)
        assert not isinstance(Z, Unavailable)
        heights = Z @ Q
        a.append((heights.max(axis=1) - heights.min(axis=1)).mean())
    weights = np.sqrt(a)
    assert np.array(noise.shares) == pytest.approx(weights / weights.sum(), rel=0.05)


def test_predicted_blocks_are_the_least_of_all_of_their_number() -> None:
    """The dynamic programme against every cut of ten sizes."""
    sizes, points = rng(3).lognormal(0.0, 2.0, 10), 64
    sizes = np.sort(sizes)[::-1]

    def weight(part: FloatArray) -> float:
        m = len(part)
        return ((m + 1) * float((part**2).sum()) * math.log1p(points / m)) ** (1 / 3)

    for count, (blocks, total) in enumerate(best_runs(10, 4, predicted_weight(sizes, points, "noise")), start=1):
        cuts = itertools.combinations(range(1, 10), count - 1)
        best = min(sum(map(weight, np.split(sizes, cut))) for cut in cuts)
        assert total == pytest.approx(best)
        assert (len(blocks), sum(blocks)) == (count, 10)


def test_the_law_serves_projection_and_jl_release() -> None:
    Q = signs(6, 12) * np.array([8.0, 1.0, 1.0, 1.0, 1.0, 1.0])[:, None]
    law, same = (pure_law("split-for-projection", 1.0, rng()) for _ in range(2))
    projected = NoisyRelease.of(Q, same)
    assert (law.name, law.guarantee.epsilon, projected.name) == ("split", 1.0, "split-projection")
    data = np.full(12, 3)
    truth = Q @ (data / 36)
    raw = NoisyRelease.of(Q, law, projected=False).simulate_release(data, rng(1), 50)
    near = projected.simulate_release(data, rng(1), 50)
    low = JLRelease.of(Q, law, 3).simulate_release(data, rng(1), 5)
    assert not isinstance(raw, Unavailable)
    assert not isinstance(near, Unavailable)
    assert not isinstance(low, Unavailable)
    assert low.shape == (6, 5)
    # The same noise: its projection is nearer on every draw.
    away = [np.linalg.norm(y - truth[:, None], axis=0) for y in (near, raw)]
    assert np.all(away[0] <= away[1] * (1 + 1e-9))
    assert away[0].mean() < away[1].mean()


def test_what_cannot_be_split_is_refused_or_a_reason() -> None:
    Q = signs(4, 9)
    with pytest.raises(UnknownName, match="projection"):
        split_noise(Q, 1.0, rng(), aim="other")  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="add up to 4"):
        split_noise(Q, 1.0, rng(), blocks=(2, 3))
    with pytest.raises(BadValue, match="rng"):
        pure_law("split", 1.0)
    k = LARGEST_DIMENSION + 2
    assert isinstance(split_noise(signs(k, k + 20), 1.0, rng(), blocks=(k - 1, 1)), Unavailable)
    mechanism = build("split", Q, 1.0, rng())
    assert isinstance(mechanism, PureMechanism)
    assert mechanism.guarantee.epsilon == 1.0
