"""What a stream's state and output give away, exactly and as drawn; users per query; simulated reports."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from factormech.learning.sq import streams
from factormech.learning.sq.bounds import simulate_reports, tolerance_for
from factormech.learning.sq.oracles import AdversarialOracle
from factormech.mechanisms.local.registry import build
from factormech.mechanisms.local.strategy import StrategyMatrix
from tests.privacy.losses import transcript_probability
from tests.statistics import FALSE_ALARM, student_p_value, table_p_value

QUERY = np.array([1.0, -1.0, 0.3])
EPSILON = 0.7
SCALE = 2.0 / EPSILON
USERS = (0, 1, 2, 0)


def losses(scales: tuple[float, float]) -> float:
    return max(
        streams.audit(QUERY, USERS, i, by, t, scales)
        for i, by, t in itertools.product(range(len(USERS)), range(3), range(len(USERS) + 1))
    )


def test_state_and_output_together_keep_the_budget_and_use_it_up() -> None:
    assert losses((SCALE, SCALE)) == pytest.approx(EPSILON)


@pytest.mark.parametrize("scales", [(SCALE / 2, SCALE), (SCALE, SCALE / 2)])
def test_neither_noise_may_be_halved(scales: tuple[float, float]) -> None:
    assert losses(scales) == pytest.approx(2 * EPSILON)


def test_the_audit_finds_the_supremum_of_the_density_ratio() -> None:
    grid = np.linspace(-30, 30, 241)
    state, total = (g.ravel() for g in np.meshgrid(grid, grid))
    for t in (1, 3):
        first, second = (
            streams.joint_log_density(QUERY, row, t, (SCALE, SCALE), state, total) for row in (USERS, (0, 0, 2, 0))
        )
        assert np.abs(first - second).max() == pytest.approx(streams.audit(QUERY, USERS, 1, 0, t, (SCALE, SCALE)))
        cell = (grid[1] - grid[0]) ** 2
        assert np.exp(first).sum() * cell == pytest.approx(1.0, abs=0.02)


def test_a_stolen_state_of_the_real_stream_has_that_density() -> None:
    """The stream as it runs: state after one user, and output, in four quarters."""
    rng, trials, seen = np.random.default_rng(1), 4000, []
    for _ in range(trials):
        stream = streams.CountingStream(QUERY, EPSILON, rng)
        stream.update(0)
        stolen = stream.state
        stream.update(1)
        seen.append((stolen > 1.0, 2.0 * stream.simulate() > stolen - 1.0))
    quarters = np.bincount(np.array(seen) @ [2, 1], minlength=4).astype(float)
    assert table_p_value(quarters, np.full(4, trials / 4)) > FALSE_ALARM


def test_a_transcript_is_private_whatever_is_seen_of_it() -> None:
    """All transcripts of six users, an adaptive policy, every replaced user."""

    def policy(bits: tuple[int, ...]) -> np.ndarray:
        return np.roll(QUERY, sum(bits)) if len(bits) % 2 else QUERY

    users = (0, 1, 2, 2, 1, 0)
    transcripts = list(itertools.product((-1, 1), repeat=6))

    def law(row: tuple[int, ...]) -> np.ndarray:
        return np.array([transcript_probability(policy, EPSILON, row, t) for t in transcripts])

    base = law(users)
    assert base.sum() == pytest.approx(1.0)
    worst = max(np.abs(np.log(base / law((*users[:i], u, *users[i + 1 :])))).max() for i in range(6) for u in range(3))
    assert worst == pytest.approx(EPSILON)
    stream = streams.TranscriptStream(policy, sum, EPSILON, np.random.default_rng(3))
    states = []
    for user in users:
        stream.update(user)
        states.append(stream.state)
    assert all(stream.state[: len(s)] == s for s in states)
    assert stream.simulate() == sum(stream.state)


def test_transcripts_come_as_often_as_their_law_says() -> None:
    """What is proved is proved of the law: the bits that are drawn, with a policy that looks back, must have it."""

    def policy(bits: tuple[int, ...]) -> np.ndarray:
        return np.array([1.0, -0.4, 0.7]) if sum(bits) >= 0 else np.array([-1.0, 0.2, 0.9])

    users, rng, counts = (0, 2, 1), np.random.default_rng(17), Counter[tuple[int, ...]]()
    for _ in range(20_000):
        stream = streams.TranscriptStream(policy, sum, EPSILON, rng)
        for user in users:
            stream.update(user)
        counts[stream.state] += 1
    transcripts = list(itertools.product((-1, 1), repeat=3))
    law = [transcript_probability(policy, EPSILON, users, t) for t in transcripts]
    assert chisquare([counts[t] for t in transcripts], 20_000 * np.array(law)).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("oracle", "users_for"),
    [
        (streams.LocalOracle, streams.sequential_users_per_query),
        (streams.PanPrivateOracle, streams.pan_private_users_per_query),
    ],
)
def test_enough_users_answer_to_the_tolerance(oracle: type, users_for: object) -> None:
    law, tau, delta, queries = np.array([0.2, 0.5, 0.3]), 0.15, 0.1, np.repeat(QUERY[None], 800, axis=0)
    users = users_for(tau, EPSILON, delta)  # type: ignore[operator]
    asked = oracle(law, users, EPSILON, np.random.default_rng(5))
    answers = asked.ask(queries)
    assert asked.spent == 800 * users
    assert student_p_value(answers, float(QUERY @ law)) > FALSE_ALARM
    misses = np.mean(np.abs(answers - QUERY @ law) > tau)
    assert misses <= delta
    # Not absurdly many: a tenth of them is not enough.
    few = oracle(law, max(1, users // 10), EPSILON, np.random.default_rng(5)).ask(queries)
    assert np.mean(np.abs(few - QUERY @ law) > tau) > delta


def test_streams_need_fewer_users_where_noise_rules() -> None:
    few = [streams.pan_private_users_per_query(0.01, e, 0.01) for e in (0.1, 1.0)]
    many = [streams.sequential_users_per_query(0.01, e, 0.01) for e in (0.1, 1.0)]
    assert all(a < b for a, b in zip(few, many, strict=True))
    # 2ln(2/δ)/τ² samples are needed at least by this bound.
    assert few[1] >= 2 * math.log(2 / 0.01) / 0.01**2


def test_simulated_reports_have_the_law_of_the_protocol() -> None:
    strategy = build("hadamard", 3, 1.0)
    assert isinstance(strategy, StrategyMatrix)
    Q = strategy.matrix
    law, users = np.array([0.2, 0.5, 0.3]), 20_000
    oracle = AdversarialOracle(law, tolerance_for(1.0, users, 0.01))
    counts, asked = simulate_reports(Q, 1.0, oracle, users, np.random.default_rng(6))
    assert counts.sum() == users
    expected = Q @ law
    assert table_p_value(counts.astype(float), users * expected) > FALSE_ALARM
    per_report = float(Q.max(axis=1).sum())
    assert asked / users == pytest.approx(per_report, rel=0.05)
    assert per_report <= math.e
