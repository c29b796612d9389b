r"""Split noise: K-norm noise on a few orthogonal blocks of directions, with blocks and shares of ε made for Q.

**Blocks.** The columns of Q, centred, have principal directions of decreasing length. Blocks W_1, W_2, … are runs of
them, and each has K-norm noise of its own projected body P_iB with the share ε_i of the budget. The loss composes to
Σ ε_i ≤ ε (Nikolov, *Private query release via the Johnson–Lindenstrauss transform*, SODA 2023, proof of Lemma 4.5).
The lemma halves the dimension at each step, down to one; here the blocks are those of least predicted error, which may
be one block: K-norm noise.

**Aims.** The shares, and then the blocks, are those of least

* ``noise``: E‖Z‖² = Σ c_i/ε_i², at ε_i ∝ c_i^{1/3} with the value (Σ c_i^{1/3})³/ε², where c_i = m_i(m_i + 1)·E‖D_i‖²;
* ``projection``: E max ⟨Z, Q_x − Q_y⟩ ≤ Σ a_i/ε_i, at ε_i ∝ a_i^{1/2} with the value (Σ a_i^{1/2})²/ε, where a_i =
  m_i·E max ⟨D_i, Q_x − Q_y⟩: it bounds n times the squared error after a projection on K
  (:mod:`factormech.mechanisms.pure.mechanism`).

**Prediction.** An ellipsoid of the lengths of a block, scaled for N points in m dimensions by ρ² = ln(1 + N/m), has c
= (m + 1)·ρ²·tr Σ and a = √m·ρ·√tr Σ² up to constants that all blocks share. A dynamic programme finds the best runs of
each number of blocks for it. The best, and those of fewer blocks that are near it, are then measured: c_i and a_i come
from formulas or from directions drawn for this alone. Blocks and shares depend on Q alone, so that any errors in them
cost accuracy and no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.errors import BadValue, Unavailable, UnknownName
from factormech.mechanisms.pure.bodies import Body, body_of, checked_queries
from factormech.mechanisms.pure.knorm import knorm_noise
from factormech.mechanisms.pure.recursive import RecursiveNoise, Stage, projected_noise, shares_of

Aim = Literal["noise", "projection"]
Runs: TypeAlias = tuple[int, ...]
AIMS: tuple[Aim, ...] = ("noise", "projection")
PILOT = 1000  # directions behind each measured c_i and a_i that no formula gives
_MOST_BLOCKS = 4
# Splits into fewer blocks than the best one are measured if their predicted sum is at most this many times the least.
_NEAR = 1.15
# Up to this dimension laws are exact and quick: every run is measured, and none predicted.
_ALL_MEASURED = 4


@dataclass(frozen=True)
class Block:
    """The noise of one run of directions at ε = 1, and the weight that its share of ε is proportional to."""

    stage: Stage
    weight: float


def split_noise(
    queries: Any, epsilon: float, rng: np.random.Generator, *, aim: Aim = "noise", blocks: Sequence[int] | None = None
) -> RecursiveNoise | Unavailable:
    """Return split noise for Q, (k, N).

    Parameters
    ----------
    queries
        Q, one column of answers for each user type.
    epsilon
        The privacy budget of the whole.
    rng
        Draws the directions behind c_i and a_i, which no release uses.
    aim
        Whether the noise itself or the error after a projection on K is to be small.
    blocks
        The dimensions of the blocks, longest directions first; those of least predicted error if left out.

    Returns
    -------
    RecursiveNoise or Unavailable
        The noise, of one stage a block; or why a block has none.

    Raises
    ------
    BadValue
        If the blocks do not add up to the dimension of the body.

    Examples
    --------
    >>> long = np.array([[50.0, 0.0, 50.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    >>> [stage.dimension for stage in split_noise(long, 1.0, np.random.default_rng(0)).stages]
    [1, 1]
    """
    epsilon = check_epsilon(epsilon)
    if aim not in AIMS:
        raise UnknownName("aim", aim, AIMS)
    body = body_of(checked_queries(queries))
    known = _Measured(body, aim, rng)
    tried = [_checked(blocks, body.dimension)] if blocks is not None else _promising(known)
    if tried == [(body.dimension,)]:
        # One block: its cost decides nothing, and is not measured.
        return RecursiveNoise((Stage(knorm_noise(body, 1.0), body.dimension, math.nan),), (epsilon,), epsilon)
    best, reason = None, Unavailable("no split was tried")
    for sizes in tried:
        parts = known.blocks(sizes)
        if isinstance(parts, Unavailable):
            reason = parts
        elif best is None or sum(part.weight for part in parts) < sum(part.weight for part in best):
            best = parts
    if best is None:
        return reason
    shares = shares_of(np.array([part.weight for part in best]) ** 3, epsilon)
    return RecursiveNoise(tuple(part.stage for part in best), shares, epsilon)


def best_runs(dimension: int, most: int, weight: Callable[[int, int], float]) -> Iterator[tuple[Runs, float]]:
    """Yield for each number of runs up to ``most`` those of 0 … d − 1 of least Σ weight(start, end), and that sum."""
    # best[end]: the runs of what is before ``end``, and their sum.
    best: dict[int, tuple[Runs, float]] = {end: ((end,), weight(0, end)) for end in range(1, dimension + 1)}
    for count in range(1, min(most, dimension) + 1):
        yield best[dimension]
        best = {
            end: min(
                (((*best[cut][0], end - cut), best[cut][1] + weight(cut, end)) for cut in range(count, end)),
                key=lambda split: split[1],
            )
            for end in range(count + 1, dimension + 1)
        }


def predicted_weight(lengths: FloatArray, points: int, aim: Aim) -> Callable[[int, int], float]:
    """Return what an ellipsoid of a run of ``lengths`` adds to the sum that the split makes least."""
    squares, fourths = (np.concatenate([[0.0], np.cumsum(lengths**power)]) for power in (2, 4))

    def weight(start: int, end: int) -> float:
        m = end - start
        scale = math.log1p(points / m)
        if aim == "noise":
            return float(np.cbrt((m + 1) * scale * (squares[end] - squares[start])))
        return float((m * scale * (fourths[end] - fourths[start])) ** 0.25)

    return weight


class _Measured:
    """Blocks of a body with their weights, each measured where it is first asked for."""

    def __init__(self, body: Body, aim: Aim, rng: np.random.Generator) -> None:
        self.body, self.aim, self._rng = body, aim, rng
        self._known: dict[tuple[int, int], Block | Unavailable] = {}

    def block(self, start: int, end: int) -> Block | Unavailable:
        """One run of directions."""
        if (start, end) not in self._known:
            self._known[start, end] = _block(self.body, start, end, self.aim, self._rng)
        return self._known[start, end]

    def weight(self, start: int, end: int) -> float:
        """c^{1/3} or a^{1/2}; infinite where there is no noise."""
        found = self.block(start, end)
        return math.inf if isinstance(found, Unavailable) else found.weight

    def blocks(self, sizes: Runs) -> list[Block] | Unavailable:
        """Those of a split."""
        ends = np.cumsum(sizes)
        found: list[Block] = []
        for start, end in zip(ends - sizes, ends, strict=True):
            one = self.block(int(start), int(end))
            if isinstance(one, Unavailable):
                return one
            found.append(one)
        return found


def _promising(known: _Measured) -> list[Runs]:
    """Splits worth measuring: that of least predicted sum, and those of fewer blocks that are near it."""
    body, d = known.body, known.body.dimension
    if d == 0:
        return [(0,)]
    predicted = predicted_weight(np.linalg.norm(body.frame, axis=0), body.columns.shape[1], known.aim)
    found = list(best_runs(d, _MOST_BLOCKS, known.weight if d <= _ALL_MEASURED else predicted))
    least, best = min((total, blocks) for blocks, total in found)
    return [blocks for blocks, total in found if total <= _NEAR * least and len(blocks) <= len(best)]


def _block(body: Body, start: int, end: int, aim: Aim, rng: np.random.Generator) -> Block | Unavailable:
    """One run of directions: c^{1/3}, or a^{1/2}."""
    frame = body.frame[:, start:end]
    noise = projected_noise(frame / np.linalg.norm(frame, axis=0), body.columns)
    sample = noise.directions.sample(rng, PILOT)
    if isinstance(sample, Unavailable):
        return sample
    stage = Stage(noise, noise.dimension, noise.mean_square(sample).value)
    if aim == "noise":
        return Block(stage, float(np.cbrt(stage.cost)))
    heights = (sample.directions @ noise.frame.T) @ body.columns
    return Block(stage, math.sqrt(noise.dimension * float(np.ptp(heights, axis=1).mean())))


def _checked(blocks: Sequence[int], dimension: int) -> Runs:
    """The blocks, if they are dimensions that add up."""
    whole = all(isinstance(size, (int, np.integer)) and not isinstance(size, bool) and size > 0 for size in blocks)
    if not whole or sum(blocks) != dimension:
        rule = f"be positive dimensions that add up to {dimension}"
        raise BadValue("blocks", list(blocks), rule, "leave them out for those of least predicted error")
    return tuple(int(size) for size in blocks)
