"""The chain against exact samplers of the balls of sums, counts and votes, which are not its own.

The balls are those of Joseph & Yu (*Some constructions of private, efficient, and optimal K-norm and elliptic Gaussian
noise*), hulls of ±A for all that one user may add. K = conv(±A) is symmetric, so that K − K is twice the ball.

**Sums** {‖x‖∞ ≤ 1, ‖x‖₁ ≤ k}: |x| is uniform in C = {y in [0, 1]^d : Σy ≤ k}. Stanley's map y_i = u_i − u_{i−1} mod 1
keeps volumes and sends points u whose order has j descents to sums between j and j + 1: so slices have the volumes
of Eulerian numbers over d!, and a uniform permutation with fewer than k descents gives a uniform point of C.

**Counts** of at most k ones: the gauge is that of the positive part in C plus that of the negative one, so that both
parts have independent Gamma radii, and j coordinates are positive with P ∝ C(d, j)·v_j·v_{d−j}, v_j = j!·vol(C_j).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.mechanisms.pure.bodies import body_of
from factormech.mechanisms.pure.bouncy import ChainDirections, Sample
from factormech.mechanisms.pure.directions import difference_vertices, triangulated
from tests.statistics import FALSE_ALARM

pytestmark = pytest.mark.heavy

D, K = 6, 2


@cache
def orders(d: int, k: int) -> FloatArray:
    """All permutations of fewer than k descents."""
    found = np.array(list(itertools.permutations(range(d))), dtype=np.int64).reshape(math.factorial(d), d)
    return found[(np.diff(found, axis=1) < 0).sum(axis=1) < k]


def capped(rng: np.random.Generator, d: int, k: int, trials: int) -> FloatArray:
    """Uniform points of {y in [0, 1]^d : Σy ≤ k}, (trials, d)."""
    every = orders(d, k)
    levels = np.sort(rng.random((trials, d)), axis=1)
    u = np.take_along_axis(levels, every[rng.integers(len(every), size=trials)], axis=1)
    return np.diff(u, axis=1, prepend=0.0) % 1.0


def capped_gauge(y: FloatArray, k: int) -> FloatArray:
    return np.asarray(np.maximum(y.max(axis=1, initial=0.0), y.sum(axis=1) / k))


def sums(rng: np.random.Generator, trials: int) -> FloatArray:
    """Directions of the ball of sums."""
    y = capped(rng, D, K, trials)
    return y / capped_gauge(y, K)[:, None] * rng.choice((-1.0, 1.0), y.shape)


def counts(rng: np.random.Generator, trials: int) -> FloatArray:
    """Directions of the ball of counts."""
    volumes = [len(orders(j, K)) if j else 1 for j in range(D + 1)]
    weights = np.array([math.comb(D, j) * volumes[j] * volumes[D - j] for j in range(D + 1)], dtype=float)
    z = np.zeros((trials, D))
    for row, up in zip(z, rng.choice(D + 1, trials, p=weights / weights.sum()), strict=True):
        places = rng.permutation(D)
        for sign, some in ((1.0, places[:up]), (-1.0, places[up:])):
            if some.size:
                y = capped(rng, some.size, K, 1)
                row[some] = sign * rng.standard_gamma(some.size) * (y / capped_gauge(y, K)[:, None])[0]
    gauge = capped_gauge(np.maximum(z, 0.0), K) + capped_gauge(np.maximum(-z, 0.0), K)
    return np.asarray(z / gauge[:, None])


def vertices(name: str) -> FloatArray:
    """The columns ±A."""
    pairs = [x for x in itertools.product((-1.0, 0.0, 1.0), repeat=D) if np.abs(x).sum() == K]
    ones = [x for x in itertools.product((0.0, 1.0), repeat=D) if sum(x) == K or sum(x) == 1]
    votes = list(itertools.permutations(range(4)))
    A = np.array({"sums": pairs, "counts": ones, "votes": votes}[name], dtype=float).T
    return np.hstack([A, -A])


def votes(rng: np.random.Generator, trials: int) -> FloatArray:
    """Of the permutations of 0 … 3: by the volumes of a triangulation, in answers."""
    body = body_of(vertices("votes"))
    return 0.5 * body.answers(triangulated(difference_vertices(body)).draw(rng, trials))


@pytest.mark.slow
@pytest.mark.parametrize("draw", [sums, counts, votes])
def test_the_chain_agrees_with_the_exact_sampler(draw: Callable[[np.random.Generator, int], FloatArray]) -> None:
    """Squares and products of answers, and lengths: intervals of both samplers meet."""
    body = body_of(vertices(draw.__name__))
    found = ChainDirections(body, interval=2.0).sample(np.random.default_rng(1), 8000)
    assert isinstance(found, Sample), found
    exact = Sample(draw(np.random.default_rng(2), 16_000)[None])
    of_chain = Sample(0.5 * body.answers(found.chains), found.diagnosis)
    functions: list[Callable[[FloatArray], FloatArray]] = [
        lambda D: D[..., 0] ** 2,
        lambda D: D[..., 0] ** 4,
        lambda D: D[..., 0] * D[..., 1],
        lambda D: np.linalg.norm(D, axis=-1),
        lambda D: np.abs(D).max(axis=-1),
    ]
    for of in functions:
        one, other = exact.mean(of, FALSE_ALARM), of_chain.mean(of, FALSE_ALARM)
        assert one.low <= other.high
        assert other.low <= one.high
        assert one.high - one.low < 0.2 * one.value or abs(one.value) < 0.2


def test_slices_have_eulerian_volumes() -> None:
    """P(Σy ≤ 1 | Σy ≤ 2) in six dimensions: 1/(1 + 57)."""
    y = capped(np.random.default_rng(0), 6, 2, 40_000)
    assert y.sum(axis=1).max() <= 2.0
    assert y.min() >= 0.0
    share = float((y.sum(axis=1) <= 1.0).mean())
    assert abs(share - 1 / 58) < 5 * math.sqrt(1 / 58 / 40_000)
    assert y.mean(axis=0) == pytest.approx(np.full(6, y.mean()), abs=0.01)
