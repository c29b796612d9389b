"""The audit itself, on mechanisms of known ε; and in the slow suite every mechanism of every registry."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.privacy.audit import LEVEL, Draw, audit
from factormech.privacy.guarantee import Guarantee, guarantee_of
from tests.privacy.subjects import DELTA, Subject, made, subjects


def laplace(epsilon: float) -> Draw:
    return lambda side, trials, rng: side + rng.laplace(scale=1 / epsilon, size=(trials, 1))


def response(epsilon: float) -> Draw:
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    return lambda side, trials, rng: (rng.random((trials, 1)) < p) == bool(side)


@pytest.mark.parametrize("mechanism", [laplace, response])
def test_the_bound_is_near_the_truth_and_refutes_what_is_less_private(mechanism: object) -> None:
    found = audit(mechanism(1.2), 40_000, np.random.default_rng(0))  # type: ignore[operator]
    assert 1.0 < found.epsilon <= 1.2
    assert found.refutes(Guarantee(1.0))
    assert not found.refutes(Guarantee(1.2))
    assert found.level == LEVEL


def test_delta_is_taken_off() -> None:
    """A mechanism that says the input with probability 0.1 and else nothing is (0, 0.1)-private."""

    def draw(side: int, trials: int, rng: np.random.Generator) -> FloatArray:
        return np.where(rng.random((trials, 1)) < 0.1, 1.0 + side, 0.0)

    assert audit(draw, 20_000, np.random.default_rng(0)).epsilon > 3.5
    assert audit(draw, 20_000, np.random.default_rng(0), delta=0.11).epsilon == 0.0
    with pytest.raises(BadValue, match="audit with the delta"):
        audit(draw, 2000, np.random.default_rng(0)).refutes(Guarantee(1.0, 0.1))


def test_false_alarms_are_as_rare_as_the_level_says() -> None:
    """At level 0.2 the bound is above the truth at most every fifth time: 300 audits, one-sided, one in a million."""
    from scipy.stats import binom

    alarms = sum(audit(response(0.5), 400, np.random.default_rng(seed), level=0.2).epsilon > 0.5 for seed in range(300))
    assert binom.sf(alarms - 1, 300, 0.2) > 1e-6


def test_noise_that_is_missing_in_one_direction_is_seen() -> None:
    def draw(side: int, trials: int, rng: np.random.Generator) -> FloatArray:
        z = rng.laplace(scale=2.0, size=(trials, 1))
        return np.hstack([z, side + z])

    assert audit(draw, 2000, np.random.default_rng(0)).epsilon > 3.0


def published(draw: Draw) -> Draw:
    """Outputs rounded as the pages ask of what is published: see the next test for why."""
    return lambda side, trials, rng: np.asarray(draw(side, trials, rng), dtype=float).round(9)


@pytest.mark.slow
def test_the_last_bits_of_floating_point_noise_are_not_private() -> None:
    """Unrounded Laplace noise is refuted through the rounding of its likelihood ratio, which has an atom at its end.

    It is what Mironov (CCS 2012) says of all such noise, and no guarantee whose ground is the real law covers it.
    """
    subject = next(subject for subject in subjects() if str(subject) == "pure:laplace")
    mechanism, rng = subject.make(), np.random.default_rng(11)
    scores = subject.scores(mechanism)
    assert audit(subject.draws(mechanism), DRAWS, rng, scores=scores).refutes(mechanism.guarantee)
    draws = subject.draws(mechanism)
    assert not audit(published(draws), DRAWS, rng, scores=scores).refutes(mechanism.guarantee)

    def at_a_large_scale(side: int, trials: int, rng: np.random.Generator) -> np.ndarray:
        """Nine decimals of answers whose noise is 2²⁷ times larger, brought back to the scale of the scores."""
        return published(lambda *of: np.asarray(draws(*of)) * 2.0**27)(side, trials, rng) / 2.0**27

    # Floats of that size are farther apart than 1e-9: nothing was rounded.
    assert audit(at_a_large_scale, DRAWS, rng, scores=scores).refutes(mechanism.guarantee)


# What share of the promised ε the slow audits certify (of 1 for zCDP): nearly all of them 0.9 and more. Less where the
# noise of a report is in more directions than a half-line sees (trees, stages, matrices), where the two inputs are not
# the worst pair (sketches), where post-processing hides the noise (projections), or where ε at a tiny δ shows in events
# that are too rare (Gaussian columns) or has room to spare (the classical calibration).
DRAWS = 200_000
POWER = 0.8
WEAK = {
    "strategy:matrix-l2-gaussian": 0.15,
    "release:matrix-l2-gaussian": 0.15,
    "release:dyadic-tree-plain": 0.5,
    "release:symmetric-polynomial": 0.6,
    "release:optimal, priv-unit": 0.7,
    "release:optimal, gaussian": 0.25,
    "central:gaussian-projection": 0.1,
    "central:gamma-f-projection": 0.15,
    "central:gaussian-output, classical": 0.15,
    "pure:k-norm, chain": 0.5,
    "pure:recursive-full": 0.45,
    "pure:recursive-equal": 0.4,
    "pure:hardt-talwar": 0.4,
    "pure:hardt-talwar-optimal": 0.45,
    "sketch:moments, trace": 0.65,
    "sketch:moments, l2-ball": 0.55,
    "sketch:moments, jl": 0.05,
    "queries:pan-private": 0.6,
}


@pytest.mark.slow
@pytest.mark.parametrize("subject", list(subjects()), ids=str)
def test_no_audit_refutes_a_guarantee_and_it_has_power(subject: Subject) -> None:
    mechanism = made(subject.family, subject.name)
    promised = guarantee_of(mechanism)
    delta = promised.delta if promised.rho is None else DELTA
    trials = DRAWS // (20 if subject.name.endswith(", chain") else 4 if subject.family == "queries" else 1)
    scores, rng = subject.scores(mechanism), np.random.default_rng(11)
    found = audit(published(subject.draws(mechanism)), trials, rng, delta=delta, scores=scores)
    assert not found.refutes(promised), found
    claimed = promised.epsilon if promised.rho is None else 1.0
    assert found.epsilon >= WEAK.get(str(subject), POWER) * claimed
