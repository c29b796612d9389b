r"""Directions of K-norm noise from the bouncy particle sampler, with a diagnosis of every run.

The chain lives on exp(−‖x‖_B) in coordinates chosen from a pilot: the body is stretched so that a coordinate has about
unit deviation in every direction (the gauge does not care), and a velocity lasts about 1/``REFRESHMENT`` deviations.
Four chains start from independent random facets; the first places of each are thrown away. A run whose diagnosis finds
a fault is refused: no errors come from a chain that has not mixed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.central.pure.bodies import Body
from factormech.central.pure.diagnostics import Sample, diagnose
from factormech.central.pure.gauge import Gauge, starting_cone
from factormech.unavailable import Unavailable

CHAINS = 4
REFRESHMENT = 0.8  # new velocities per deviation travelled
LARGEST_DIMENSION = 128  # above it no chain of reasonable length mixes
_UNUSED = 50
_LEAST = 500  # places recorded by a chain at least: fewer say nothing of mixing
_MOST_TIME = 4.0  # chains as short by this as they must be are run again, with more time between places
_PILOTS = (50, 200)  # places recorded by the pilots


@dataclass(frozen=True)
class ChainDirections:
    """The chain of a body; ``interval`` is the time, in deviations travelled, between two recorded places."""

    body: Body
    refreshment: float = REFRESHMENT
    interval: float = 1.0
    radial: bool = True
    name: str = "chain"

    @property
    def second_moment(self) -> FloatArray | None:
        return None

    def sample(self, rng: np.random.Generator, trials: int) -> Sample | Unavailable:
        """At least ``trials`` directions from four chains, as long as ``_LEAST`` at least; or why they are refused.

        Chains that are too short, but not by much, are run a second time with more time between the places.
        """
        trials = check_positive_integer("trials", trials)
        d = self.body.dimension
        if d > LARGEST_DIMENSION:
            return Unavailable(f"K-norm noise is sampled in at most {LARGEST_DIMENSION} dimensions, here are {d}")
        found = self._tried(rng, chain_length(trials), 1.0)
        if isinstance(found, Sample) and found.diagnosis is not None:
            short = found.diagnosis.shortage
            if 1.0 < short <= _MOST_TIME:  # too near each other: as many places, farther apart, by other random numbers
                found = self._tried(rng, chain_length(trials), 1.5 * short)
        if isinstance(found, Sample) and found.diagnosis is not None and found.diagnosis.fault is not None:
            return Unavailable(found.diagnosis.fault)
        return found

    def _tried(self, rng: np.random.Generator, draws: int, time: float) -> Sample | Unavailable:
        """The directions of four chains with ``time`` intervals between their places, whatever they are worth."""
        stretch = self._pilot
        runs = [self._run(stretch, one, draws, time) for one in rng.spawn(CHAINS)]
        if any(run is None for run in runs):
            return Unavailable("the walk over the facets was lost to rounding: queries too unlike in size")
        found = [run for run in runs if run is not None]
        chains = np.array([run.places for run in found]) @ stretch.T
        gauges = np.array([run.gauges for run in found])
        chains /= gauges[..., None]
        lengths = np.linalg.norm(self.body.answers(chains), axis=-1)
        counts = np.array([run.counts for run in found]).sum(axis=0)
        residual = max(run.residual for run in found)
        return Sample(chains, diagnose(chains, lengths, gauges, residual, int(counts[0]), int(counts[1])))

    @cached_property
    def _pilot(self) -> FloatArray:
        """S, (d, d), with x = S y for a y of about unit deviation in every direction.

        From a guess (the gauges of random directions), a first pilot finds the size and a second one the shape, which
        is mixed with a round one in equal parts: a short pilot knows no small eigenvalue. It depends on the body alone.
        """
        d = self.body.dimension
        theta = np.random.default_rng(0).standard_normal((8, d))
        theta /= np.linalg.norm(theta, axis=1, keepdims=True)
        size = math.sqrt(d) / float(Gauge(self.body).of_coordinates(theta).mean())
        stretch = size * np.eye(d)
        for stage, draws in enumerate(_PILOTS):
            runs = [self._run(stretch, one, max(draws, 4 * d * stage)) for one in np.random.default_rng(stage).spawn(2)]
            found = [d / run.gauges[:, None] * run.places for run in runs if run is not None]
            if not found:
                return stretch
            places = np.concatenate(found)
            moment = places.T @ places / len(places)
            equal = np.trace(moment) / d * np.eye(d)
            stretch = stretch @ np.linalg.cholesky(equal if stage == 0 else 0.5 * (moment + equal))
        return stretch

    def _run(self, stretch: FloatArray, rng: np.random.Generator, draws: int, time: float = 1.0) -> _Run | None:
        """One chain after its burn-in; nothing if rounding has lost the walk."""
        from factormech.central.pure import facet_walk

        d, lifted = self.body.dimension, not self.body.symmetric
        columns = self.body.generators.copy()
        columns[:, :d] = np.linalg.solve(stretch, columns[:, :d].T).T
        cone, place = starting_cone(columns, lifted, rng)
        place *= rng.standard_gamma(d)
        velocity = np.zeros(len(place))
        velocity[:d] = rng.standard_normal(d)
        unused = _UNUSED + draws // 10
        places, gauges = np.empty((unused + draws, len(place))), np.empty(unused + draws)
        counts, residual = np.zeros(3, dtype=np.int64), np.zeros(1)
        arguments = (self.refreshment, self.interval * time, self.radial, rng, places, gauges, counts, residual)
        if facet_walk.bounce(cone, int(lifted), place, velocity, *arguments) < len(places):
            return None
        return _Run(places[unused:, :d], gauges[unused:], counts, float(residual[0]))


@dataclass(frozen=True)
class _Run:
    """One chain: its places, their gauges, the counts of events, and the largest relative gap of a gauge."""

    places: FloatArray
    gauges: FloatArray
    counts: IntArray
    residual: float


def chain_length(trials: int) -> int:
    """Places that each of the chains records for this many trials."""
    return max(_LEAST, math.ceil(trials / CHAINS))
