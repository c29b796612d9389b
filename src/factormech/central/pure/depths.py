r"""E‖Z‖ of the recursive mechanism over its ladder of subspaces too, for every form, depth and split of ε at once.

The subspaces follow from covariances that are estimated (:mod:`factormech.central.pure.recursive`), so that the error
is random even before any noise: E‖Z‖ given a ladder depends on it. Independent ladders, each with noise of its own,
give independent means, and Student's interval over them holds for the expectation over both.

Within one ladder each body is drawn from once. The Z_i of one depth are of different bodies, so that they are
independent, and

.. math:: \lVert Z\rVert^2 = \sum_i \lVert ε_i Z_i\rVert^2/ε_i^2

has the right law for every depth and split. Bodies that two forms share have the same draws in both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.central.pure.bouncy import CHAINS, chain_length
from factormech.central.pure.diagnostics import Sample
from factormech.central.pure.directions import Directions
from factormech.central.pure.knorm import KNormNoise
from factormech.central.pure.recursive import Ladder, Split, noise_of
from factormech.unavailable import Unavailable


@dataclass(frozen=True)
class Drawn:
    """Directions of a body, (chains, draws, d), and radii of law Gamma(d) for them."""

    directions: Directions
    chains: FloatArray
    radii: FloatArray


class LadderDraws:
    """The noise of the bodies of a ladder, drawn where it is first asked for."""

    def __init__(self, rng: np.random.Generator, draws: int) -> None:
        self._rng = rng
        self._draws = CHAINS * chain_length(draws)
        self._drawn: dict[int, Drawn] = {}

    def squares(self, noise: KNormNoise) -> FloatArray | Unavailable:
        """‖εZ‖² of one stage, (draws,)."""
        key = id(noise.directions)
        if key not in self._drawn:
            sample = noise.directions.sample(self._rng, self._draws)
            if not isinstance(sample, Sample):
                return sample
            radii = self._rng.standard_gamma(noise.dimension, sample.chains.shape[:2])
            self._drawn[key] = Drawn(noise.directions, sample.chains, radii)  # which keeps the id from another's use
        drawn = self._drawn[key]
        return np.ravel(noise.squared_lengths(drawn.chains) * drawn.radii**2)

    def norms(self, steps: Ladder, depth: int, split: Split) -> FloatArray | Unavailable:
        """‖Z‖ at ε = 1 of one depth of a ladder, (draws,): E‖Z‖² is the mean of their squares."""
        noise = noise_of(steps, 1.0, split=split, depth=depth)
        total = np.zeros(self._draws)
        for stage, share in zip(noise.stages, noise.shares, strict=True):
            squares = self.squares(stage.noise)
            if isinstance(squares, Unavailable):
                return squares
            total += squares / share**2
        return np.sqrt(total)
