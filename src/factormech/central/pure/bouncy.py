r"""Directions of K-norm noise from the bouncy particle sampler, with a diagnosis of every run.

The chain lives on exp(−‖x‖_B) in coordinates in which it has about unit deviation in every direction (the gauge does
not care), and a velocity lasts about 1/``REFRESHMENT`` deviations. The frame of a body makes its columns a round cloud,
and that makes most bodies round enough: a pilot finds their size. Four chains start from independent random facets;
the first places of each are thrown away. Where they are not worth enough, their own places tell the shape of the body,
and other chains are run in coordinates that make it round. A run whose diagnosis finds a fault is refused: no errors
come from a chain that has not mixed.
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
_MOST_TIME = 4.0  # chains that are too short by no more than this are run again, with more time between places
_TRIES = 3
_PILOT = 50  # places recorded by each run of the pilot


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

        Chains that are too short are run again in coordinates that the first ones teach, with more time between the
        places, and once more if they are still too short, but not by much.
        """
        trials = check_positive_integer("trials", trials)
        d = self.body.dimension
        if d > LARGEST_DIMENSION:
            return Unavailable(f"K-norm noise is sampled in at most {LARGEST_DIMENSION} dimensions, here are {d}")
        found, stretch, time = self._tried(rng, self._size * np.eye(d), chain_length(trials), 1.0), None, 1.0
        for again in range(1, _TRIES):
            short = 0.0 if isinstance(found, Unavailable) or found.diagnosis is None else found.diagnosis.shortage
            if not short > 1.0 or isinstance(found, Unavailable) or (again > 1 and short > _MOST_TIME):
                break
            # As many places, farther apart, by other random numbers.
            stretch = rounder(found.chains) if stretch is None else stretch
            time *= 1.5 * min(short, _MOST_TIME)
            found = self._tried(rng, stretch, chain_length(trials), time)
        if isinstance(found, Sample) and found.diagnosis is not None and found.diagnosis.fault is not None:
            return Unavailable(found.diagnosis.fault)
        return found

    def _tried(self, rng: np.random.Generator, stretch: FloatArray, draws: int, time: float) -> Sample | Unavailable:
        """The directions of four chains with ``time`` intervals between their places, whatever they are worth."""
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
    def _size(self) -> float:
        """The deviation of a coordinate: from a guess, the gauges of random directions, a pilot finds it.

        It depends on the body alone.
        """
        d = self.body.dimension
        theta = np.random.default_rng(0).standard_normal((8, d))
        theta /= np.linalg.norm(theta, axis=1, keepdims=True)
        size = math.sqrt(d) / float(Gauge(self.body).of_coordinates(theta).mean())
        runs = [self._run(size * np.eye(d), one, _PILOT) for one in np.random.default_rng(0).spawn(2)]
        found = [d / run.gauges[:, None] * run.places for run in runs if run is not None]
        return size * float(np.sqrt((np.concatenate(found) ** 2).mean())) if found else size

    def _run(self, stretch: FloatArray, rng: np.random.Generator, draws: int, time: float = 1.0) -> _Chain | None:
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
        return _Chain(places[unused:, :d], gauges[unused:], counts, float(residual[0]))


def rounder(chains: FloatArray) -> FloatArray:
    """S, (d, d), with x = S y for a y of about unit deviation in every direction, from directions (chains, draws, d).

    At a gauge near d, x has d² times their second moment. It is mixed with a round one in equal parts: chains that are
    not worth much know no small eigenvalue.
    """
    D = chains.reshape(-1, chains.shape[-1])
    d = D.shape[1]
    moment = d**2 * (D.T @ D) / len(D)
    return np.linalg.cholesky(0.5 * (moment + np.trace(moment) / d * np.eye(d)))


@dataclass(frozen=True)
class _Chain:
    """One chain: its places, their gauges, the counts of events, and the largest relative gap of a gauge."""

    places: FloatArray
    gauges: FloatArray
    counts: IntArray
    residual: float


def chain_length(trials: int) -> int:
    """Places that each of the chains records for this many trials."""
    return max(_LEAST, math.ceil(trials / CHAINS))
