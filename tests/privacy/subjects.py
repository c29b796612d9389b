"""Every mechanism of every registry, small, with its two neighbouring inputs: what the privacy tests run over.

A name that a registry gains is here at once, and fails until ``losses.py`` knows the density of what it builds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import Unavailable
from factormech.learning.selection import protocols
from factormech.learning.selection.protocols import of_means
from factormech.learning.sq import streams
from factormech.mechanisms.central import registry as central
from factormech.mechanisms.central.mechanism import CentralMechanism
from factormech.mechanisms.central.projection import ProjectedMechanism
from factormech.mechanisms.local import registry as strategies
from factormech.mechanisms.local.calibrated_columns import CalibratedColumns
from factormech.mechanisms.local.factorized import registry as releases
from factormech.mechanisms.local.factorized.release import LocalRelease
from factormech.mechanisms.local.noisy_columns import with_gaussian_noise
from factormech.mechanisms.local.randomizers import registry as randomizers
from factormech.mechanisms.pure import mechanism as laws
from factormech.mechanisms.pure import mechanism as pure
from factormech.mechanisms.pure.bodies import body_of
from factormech.mechanisms.pure.bouncy import Gauge
from factormech.mechanisms.pure.covariance import MomentRelease, SketchRelease, ball_vectors, diameter
from factormech.mechanisms.pure.jl import CoarseJLRelease, JLRelease
from factormech.mechanisms.pure.knorm import KNormNoise
from factormech.mechanisms.pure.mechanism import NoisyRelease
from factormech.privacy.audit import Draw, Scores
from factormech.privacy.guarantee import Guarantee
from factormech.workloads.registry import create

EPSILON = 1.0
# Local releases that are made for an accuracy, which must be given.
FOR_ACCURACY = {"approximate", "shifted", "half-alpha", "polynomial", "symmetric-polynomial"}
# Large, so that an audit sees events of this probability.
DELTA = 0.05
PAIRS = np.array([[0.0, 1.0, 0.0, 2.0, 1.0, 2.0], [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]])
# Of PAIRS all directions have exact laws; of this matrix they come from the chain.
WIDE = np.random.default_rng(16).choice([-1.0, 1.0], (16, 64))


@dataclass(frozen=True)
class Subject:
    """A mechanism of a family, how it is made, and how it is drawn from on two neighbours (``audit.Draw``)."""

    family: str
    name: str
    make: Callable[[], Any]
    draws: Callable[[Any], Draw]
    scores: Callable[[Any], Scores | None] = lambda _: None

    def __str__(self) -> str:
        return f"{self.family}:{self.name}"


def subjects() -> Iterator[Subject]:
    """All of them."""
    yield from _strategies()
    yield from _randomizers()
    yield from _releases()
    yield from _central()
    yield from _pure()
    yield from _sketches()
    yield from _protocols()
    yield from _queries()


@cache
def made(family: str, name: str) -> Any:
    """The mechanism, made once."""
    return next(s for s in subjects() if (s.family, s.name) == (family, name)).make()


# Local -------------------------------------------------------------------------------------------------------------


def _strategies() -> Iterator[Subject]:
    prefix, parities = create("prefix", 4), create("2-way-parities", 16)
    for name in strategies.names():
        yield Subject("strategy", name, lambda name=name: strategies.strategy_for(name, prefix, EPSILON), _one_report)
    symmetric = strategies.strategy_for
    yield Subject("strategy", "optimised, symmetric", lambda: symmetric("optimised", parities, EPSILON), _one_report)
    yield Subject("strategy", "matrix-l2-gaussian, large δ", _gaussian_columns, _one_report)
    # 2¹³ subsets: the closed form.
    yield Subject("strategy", "rappor, no matrix", lambda: strategies.build("rappor", 13, EPSILON), _one_report)


def _gaussian_columns() -> CalibratedColumns:
    kept = strategies.strategy_for("matrix-l2-gaussian", create("prefix", 4), EPSILON)
    assert isinstance(kept, CalibratedColumns)
    return replace(kept, calibrate=lambda A, epsilon: with_gaussian_noise(A, epsilon, DELTA))


def _one_report(strategy: Any) -> Draw:
    """The estimate from the report of one user, of one type or of another: a function of the report."""
    # Of 16 types the first and the last have the same parities of two attributes.
    types = (0, strategy.domain_size - 1) if strategy.domain_size != 16 else (0, 1)

    def draw(side: int, trials: int, rng: np.random.Generator) -> FloatArray:
        counts = np.zeros(strategy.domain_size, dtype=np.int64)
        counts[types[side]] = 1
        found = strategy.simulate_estimates(counts, trials, rng).T
        return np.asarray(found.round(9) if strategy.outputs else found)

    return draw


def _randomizers() -> Iterator[Subject]:
    for name in randomizers.names():
        delta = DELTA if randomizers.has_delta(name) else None
        yield Subject(
            "randomizer", name, lambda name=name, delta=delta: randomizers.build(name, 3, EPSILON, delta), _ball
        )


def _ball(randomizer: Any) -> Draw:
    point = np.zeros((1, randomizer.dimension))
    point[0, 0] = 1.0

    def draw(side: int, trials: int, rng: np.random.Generator) -> FloatArray:
        sign = 1.0 - 2.0 * side
        return np.asarray(randomizer.sample(np.repeat(sign * point, trials, axis=0), rng))

    return draw


def _releases() -> Iterator[Subject]:
    known = set(strategies.names())
    for name in releases.names():
        yield Subject("release", name, lambda name=name: _release(name), _one_answer)
    for randomizer in randomizers.names():
        delta = DELTA if randomizers.has_delta(randomizer) else None
        yield Subject(
            "release",
            f"optimal, {randomizer}",
            lambda r=randomizer, d=delta: releases.build(
                "optimal", create("prefix", 4), EPSILON, randomizer=r, delta=d
            ),
            _one_answer,
        )
    assert known < set(releases.names())


def _release(name: str) -> Any:
    workload = create("2-way-marginals", 16) if "polynomial" in name else create("prefix", 4)
    return releases.build(name, workload, EPSILON, alpha=0.3 if name in FOR_ACCURACY else None)


def _one_answer(release: LocalRelease) -> Draw:
    def draw(side: int, trials: int, rng: np.random.Generator) -> FloatArray:
        counts = np.zeros(release.domain_size, dtype=np.int64)
        counts[-side] = 1
        return np.asarray(release.estimates(counts, trials, rng).round(9))

    return draw


# Central -----------------------------------------------------------------------------------------------------------


def _central() -> Iterator[Subject]:
    for pattern in central.names():
        name = pattern.replace("{p}", "3")
        alpha = 0.1 if name == central.APPROXIMATE else None
        yield Subject(
            "central",
            name,
            lambda name=name, alpha=alpha: central.build(name, create("prefix", 4), EPSILON, DELTA, alpha=alpha),
            _histograms,
        )
    yield Subject(
        "central",
        "gaussian-output, classical",
        lambda: central.build("gaussian-output", create("prefix", 4), 0.9, DELTA, calibration="classical"),
        _histograms,
    )


def _histograms(mechanism: CentralMechanism | ProjectedMechanism) -> Draw:
    """A histogram and a step e_j, or (e_i − e_j)/2 where totals are equal: the longest step in Rx."""
    base = mechanism.base if isinstance(mechanism, ProjectedMechanism) else mechanism
    R = base.right.dense()
    j = int(np.argmax(np.linalg.norm(R, axis=0)))
    step = np.zeros(R.shape[1])
    step[j] = 1.0
    if base is not mechanism:
        i, j = np.unravel_index(np.argmax(np.linalg.norm(R[:, :, None] - R[:, None, :], axis=0)), (R.shape[1],) * 2)
        step[:] = 0.0
        step[[i, j]] = 0.5, -0.5
    data = np.full(R.shape[1], 1.0)

    def draw(side: int, trials: int, rng: np.random.Generator) -> FloatArray:
        return np.asarray(mechanism.simulate_release(data + side * step, rng, trials).T)

    return draw


def _pure() -> Iterator[Subject]:
    for name in pure.names():
        yield Subject("pure", name, lambda name=name: _pure_mechanism(name, PAIRS), _two_persons, _shifted_gauge)
    yield Subject("pure", "k-norm, chain", lambda: _pure_mechanism("k-norm", WIDE), _two_persons, _shifted_gauge)


def _pure_mechanism(name: str, queries: FloatArray) -> pure.PureMechanism:
    found = pure.build(name, queries, EPSILON, np.random.default_rng(0))
    assert isinstance(found, pure.PureMechanism), found
    return found


def _longest(noise: Any, queries: FloatArray) -> tuple[int, int]:
    """The two types whose exchange the noise hides least: the longest in its norm, or in ‖·‖₂."""
    types = range(queries.shape[1])
    if isinstance(noise, KNormNoise) and noise.law == "ball":
        return max(
            ((x, y) for x in types for y in types), key=lambda p: np.linalg.norm(queries[:, p[0]] - queries[:, p[1]])
        )
    return max(((x, y) for x in types for y in types), key=lambda p: np.abs(queries[:, p[0]] - queries[:, p[1]]).sum())


def _two_persons(mechanism: pure.PureMechanism) -> Draw:
    """Two persons, one of whom is exchanged."""
    types = _longest(mechanism.noise, mechanism.queries)
    # An audit counts independent draws: one of so many successive ones of a chain is taken, at random.
    thinned = 1 if mechanism.noise.exact else 4

    def draw(side: int, trials: int, rng: np.random.Generator) -> FloatArray:
        counts = np.zeros(mechanism.queries.shape[1])
        counts[0] += 1
        counts[types[side]] += 1
        found = mechanism.simulate_release(counts, rng, thinned * trials)
        assert not isinstance(found, Unavailable), found
        return np.asarray(found.T[:trials])

    return draw


def _shifted_gauge(mechanism: pure.PureMechanism) -> Scores | None:
    """The log-likelihood ratio of K-norm noise, in its own norm."""
    Q, n = mechanism.queries, 2.0
    means = [(Q[:, 0] + Q[:, x]) / n for x in _longest(mechanism.noise, Q)]
    norm = _norm_of(mechanism)
    return lambda rows: np.asarray(norm(n * (rows - means[1])) - norm(n * (rows - means[0])))[:, None]


def _norm_of(mechanism: pure.PureMechanism) -> Callable[[FloatArray], FloatArray]:
    if mechanism.name == "laplace":
        return lambda z: np.asarray(np.abs(z).sum(axis=1))
    if mechanism.name == "l2-ball":
        return lambda z: np.asarray(np.linalg.norm(z, axis=1))
    return Gauge(body_of(mechanism.queries)).of


def _sketches() -> Iterator[Subject]:
    gaussian, pure_noise = laws.gaussian_law(EPSILON, DELTA), laws.pure_law("laplace", EPSILON)
    zcdp = laws.concentrated_law(0.5)
    named: dict[str, Callable[[], Any]] = {
        "noise, gaussian": lambda: NoisyRelease.of(PAIRS, gaussian, projected=False),
        "noise, zCDP": lambda: NoisyRelease.of(PAIRS, zcdp, projected=False),
        "noise, shaped": lambda: NoisyRelease.of(PAIRS, laws.shaped(gaussian), projected=False),
        "noise, shaped zCDP": lambda: NoisyRelease.of(PAIRS, laws.shaped(zcdp), projected=False),
        "noise and projection": lambda: NoisyRelease.of(PAIRS, pure_noise),
        "jl": lambda: JLRelease.of(PAIRS, pure_noise, 1),
        "coarse-jl": lambda: CoarseJLRelease.of(PAIRS, pure_noise, 0.5, 1),
    }
    for name, make in named.items():
        yield Subject("sketch", name, make, _two_counts)
    moments: dict[str, Callable[[], Any]] = {
        "moments, trace": lambda: MomentRelease.of(2, EPSILON, projected=False),
        "moments, l2-ball": lambda: MomentRelease.of(2, EPSILON, noise="l2-ball", projected=False),
        "moments, jl": lambda: SketchRelease.of(2, EPSILON, 2),
    }
    for name, make in moments.items():
        yield Subject("sketch", name, make, _two_moments)


def _two_counts(release: Any) -> Draw:
    sketched = isinstance(release, (JLRelease, CoarseJLRelease))

    def draw(side: int, trials: int, rng: np.random.Generator) -> FloatArray:
        counts = np.zeros(PAIRS.shape[1])
        counts[0] += 1
        counts[-side] += 1
        one = release.draw(np.random.default_rng(5) if sketched else rng, 1 if sketched else trials)
        assert not isinstance(one, Unavailable), one
        if sketched:  # one public T for both inputs: the guarantee holds given T
            inner = one.inner if isinstance(release, CoarseJLRelease) else one
            law, columns = (release.inner if isinstance(release, CoarseJLRelease) else release), inner.lift
            Z = law.law.of(columns.matrix @ law.columns).draw(rng, trials)
            inner = replace(inner, noise=Z)
            one = replace(one, inner=inner) if isinstance(release, CoarseJLRelease) else inner
        return np.asarray(one.answers(counts).T)

    return draw


def _two_moments(release: Any) -> Draw:
    """One person at e₁, or at e₂; of a sketch, what is private: the answers before the lift."""

    def draw(side: int, trials: int, rng: np.random.Generator) -> FloatArray:
        M = np.zeros((2, 2))
        M[side, side] = 1.0
        if isinstance(release, SketchRelease):
            one = release.draw(np.random.default_rng(5), 1)
            Z = ball_vectors(release.rows, diameter(one.matrix, release.size), release.epsilon, rng, trials)
            return replace(one, noise=Z).sketches(M, 1)
        found = release.draw(rng, trials)
        assert not isinstance(found, Unavailable), found
        return np.asarray(found.moments(M, 1).reshape(trials, -1))

    return draw


# Sequential --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Protocol:
    """A protocol of selection with the guarantee of its transcript, for as many users as are moved together."""

    name: str
    moved: int

    @property
    def guarantee(self) -> Guarantee:
        return protocols.guarantee(self.name, EPSILON).for_group(self.moved)


def _protocols() -> Iterator[Subject]:
    for name in protocols.names():
        yield Subject(
            "selection",
            name,
            lambda name=name: Protocol(name, 2 if protocols.protocol(name).validated else 1),
            lambda protocol: lambda side, trials, rng: _transcripts(protocol.name, side, trials, rng),
        )


def _transcripts(name: str, side: int, trials: int, rng: np.random.Generator) -> FloatArray:
    """Of one user, with a one in both coordinates or in none (``validated``: two users, both so)."""
    validation = protocols.Validation(1, 1) if protocols.protocol(name).validated else None
    reports = of_means(np.full((trials, 2), float(1 - side)), EPSILON, np.zeros(trials, dtype=np.int64), rng)
    done = protocols.run(name, reports, protocols.least_users(validation), validation)
    return np.concatenate([done.plays.reshape(trials, -1), done.ones.reshape(trials, -1)], axis=1).astype(float)


# One query of the streams and oracles of statistical queries.
QUERY = np.array([1.0, -1.0])


def _stolen(later: bool) -> Draw:
    """The state of a counting stream after the user, or before, and its output."""

    def draw(side: int, trials: int, rng: np.random.Generator) -> FloatArray:
        found = np.empty((trials, 2))
        for t in range(trials):
            one = streams.CountingStream(QUERY, EPSILON, rng)
            before = one.state
            one.update(side)
            found[t] = before if later else one.state, one.simulate()
        return found

    return draw


def _transcript(_: Any) -> Draw:
    """The state of a transcript stream after the user."""

    def draw(side: int, trials: int, rng: np.random.Generator) -> FloatArray:
        found = np.empty((trials, 1))
        for t in range(trials):
            one = _transcript_stream(rng)
            one.update(side)
            found[t] = one.state
        return found

    return draw


def _transcript_stream(rng: np.random.Generator) -> streams.TranscriptStream:
    return streams.TranscriptStream(lambda _: QUERY, lambda bits: bits, EPSILON, rng)


def _answered(oracle: type) -> Callable[[Any], Draw]:
    """The answers of an oracle whose users are all of one type."""

    def draw(side: int, trials: int, rng: np.random.Generator) -> FloatArray:
        law = np.array([1.0 - side, float(side)])
        one = oracle(law, 1, EPSILON, rng)
        return np.asarray(one.ask(np.repeat(QUERY[None], trials, axis=0)))[:, None]

    return lambda _: draw


def _queries() -> Iterator[Subject]:
    rng = np.random.default_rng(0)
    for later in (False, True):
        yield Subject(
            "queries",
            "counting stream, intrusion before" if later else "counting stream",
            lambda: streams.CountingStream(QUERY, EPSILON, rng),
            lambda _, later=later: _stolen(later),
        )
    yield Subject(
        "queries",
        "transcript stream",
        lambda: _transcript_stream(rng),
        _transcript,
    )
    law = np.array([1.0, 0.0])
    for kind in (streams.LocalOracle, streams.PanPrivateOracle):
        yield Subject("queries", kind.name, lambda kind=kind: kind(law, 1, EPSILON, rng), _answered(kind))
