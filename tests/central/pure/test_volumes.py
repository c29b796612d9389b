"""Volumes that are known, from directions alone: of the chain, of the exact laws, and of the law of eigenvalues.

In polar coordinates vol(E) = vol(B)·E‖D‖_E^{−d} for every star body E. With E the Euclidean unit ball, whose volume κ_d
is known, directions of B say the volume of B: κ_d/E‖D‖^{−d}. Nothing in a sampler knows that number.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.mechanisms.pure.bodies import body_of
from factormech.mechanisms.pure.bouncy import ChainDirections, Sample
from factormech.mechanisms.pure.directions import directions_of
from factormech.mechanisms.pure.knorm import ball_noise
from tests.central.pure.bodies import corners
from tests.statistics import FALSE_ALARM

pytestmark = pytest.mark.heavy

WIDTHS = np.array([1.0, 0.5, 2.0, 1.5])
EDGES = {d: np.random.default_rng(d).standard_normal((d, d + 2)) for d in (2, 3)}
ANGLES = np.arange(64) * math.pi / 32
ROUND = np.array([[2.0, 0.3], [0.0, 0.7]]) @ np.array([np.cos(ANGLES), np.sin(ANGLES)])


def zonotope(edges: FloatArray) -> tuple[FloatArray, float]:
    """All sums of edges; K − K is Σ [−1, 1]·g_i, of volume 2^d Σ|det| over all d of the edges."""
    d, m = edges.shape
    volume = sum(abs(np.linalg.det(edges[:, list(some)])) for some in itertools.combinations(range(m), d))
    return edges @ np.array(list(itertools.product((0.0, 1.0), repeat=m))).T, 2**d * volume


# name: (columns, the volume of K − K).
VOLUMES: dict[str, tuple[FloatArray, float]] = {
    "cube": (corners(WIDTHS), float(np.prod(2 * WIDTHS))),
    "cross-polytope": (np.hstack([np.diag(WIDTHS), -np.diag(WIDTHS)]), float(np.prod(4 * WIDTHS)) / 24),
    "differences of a simplex": (np.hstack([np.zeros((4, 1)), np.diag(WIDTHS)]), math.comb(8, 4) / 24 * WIDTHS.prod()),
    "zonotope of the plane": zonotope(EDGES[2]),
    "zonotope of space": zonotope(EDGES[3]),
    # A polygon of 64 sides, as a linear map of a regular one; its ellipse has 1.4·4π.
    "polygon in an ellipse": (ROUND, 4 * 1.4 * 32 * math.sin(math.pi / 32)),
}


def ball_volume(d: int) -> float:
    """κ_d."""
    return math.pi ** (d / 2) / math.gamma(d / 2 + 1)


@pytest.mark.parametrize("law", ["chain", "chain that moves its gauge", "own"])
@pytest.mark.parametrize("name", sorted(VOLUMES))
def test_directions_know_the_volume_of_their_body(name: str, law: str) -> None:
    Q, volume = VOLUMES[name]
    body = body_of(Q)
    d = body.dimension
    chain = ChainDirections(body, interval=2.0, radial=law == "chain")
    directions = directions_of(body) if law == "own" else chain
    sample = directions.sample(np.random.default_rng(6), 8000)
    assert isinstance(sample, Sample), sample
    found = sample.mean(lambda D: np.linalg.norm(body.answers(D), axis=-1) ** -d, FALSE_ALARM)
    assert found.low <= ball_volume(d) / volume <= found.high
    assert found.high - found.low < 0.35 * found.value  # wide intervals would say nothing


def test_the_ellipsoid_of_the_ball_mechanism() -> None:
    """Directions of a linear map of a ball: its volume is the map's determinant times κ_d."""
    noise = ball_noise(np.hstack([np.zeros((3, 1)), np.eye(3)]), 1.0)
    A = np.array([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.5, 0.7]])
    D = noise.directions.sample(np.random.default_rng(0), 40_000)
    found = D.mean(lambda x: np.linalg.norm(x @ noise.frame.T @ A.T, axis=-1) ** -3, FALSE_ALARM)
    assert found.low <= 1.0 / (1.4 * math.sqrt(2.0) ** 3) <= found.high
