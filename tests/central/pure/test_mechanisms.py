"""The mechanisms of additive noise: closed forms, the radial law, budgets, what is released, what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import kstest

from factormech.arrays import FloatArray
from factormech.errors import BadValue, Unavailable, UnknownName
from factormech.mechanisms.pure.bodies import body_of
from factormech.mechanisms.pure.bouncy import LARGEST_DIMENSION, Gauge
from factormech.mechanisms.pure.knorm import KNormNoise, Moments, ball_noise, knorm_noise, laplace_noise
from factormech.mechanisms.pure.mechanism import PureMechanism, build, mean_error, names, root_mean_square
from factormech.mechanisms.pure.recursive import (
    Form,
    Ladder,
    LadderDraws,
    RecursiveNoise,
    Split,
    ladder,
    ladders,
    noise_of,
    recursive_noise,
    shares_of,
)
from tests.central.pure.bodies import BODIES, corners, hadamard, signs
from tests.statistics import FALSE_ALARM

NAMES = sorted(BODIES)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def drawn(noise: KNormNoise | RecursiveNoise, trials: int = 4000, seed: int = 1) -> FloatArray:
    Z = noise.draw(rng(seed), trials)
    assert not isinstance(Z, Unavailable), Z
    return Z


def moments(noise: KNormNoise | RecursiveNoise, draws: int = 4000) -> Moments:
    found = noise.moments(rng(2), draws)
    assert isinstance(found, Moments), found
    return found


def steps_of(Q: FloatArray, **options: object) -> Ladder:
    found = ladder(Q, rng(), **options)  # type: ignore[arg-type]
    assert isinstance(found, Ladder), found
    return found


# Laws ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_radius_and_span_of_knorm_noise(name: str) -> None:
    """ε‖Z‖_B ~ Gamma(d), d the dimension of the span and not the number of queries; Z stays in the span."""
    Q, d, _ = BODIES[name]
    Z = drawn(knorm_noise(Q, 0.5), 1500)[:1500]
    gauges = Gauge(body_of(Q)).of(Z)
    assert kstest(0.5 * gauges, "gamma", args=(d,)).pvalue > FALSE_ALARM
    assert kstest(0.5 * gauges, "gamma", args=(d + 1,)).pvalue < FALSE_ALARM


@pytest.mark.parametrize("name", ["random signs", "dependent", "some parities", "thresholds"])
def test_moments_are_those_of_the_draws(name: str) -> None:
    Q = BODIES[name][0]
    for noise in (knorm_noise(Q, 2.0), ball_noise(Q, 2.0), laplace_noise(Q, 2.0)):
        told, Z = moments(noise, 8000), drawn(noise, 8000)
        for values, of in (((Z**2).sum(axis=1), told.mean_square), (np.linalg.norm(Z, axis=1), told.mean_norm)):
            # Draws of a chain are correlated: their spread is taken as twice an independent sample's.
            spread = 2 * values.std() / math.sqrt(len(values))
            assert of.low - 5 * spread <= values.mean() <= of.high + 5 * spread


def test_laplace_in_closed_form() -> None:
    """√2·Δ₁/ε for every query that varies, nothing for a constant one."""
    Q = np.vstack([corners(np.array([1.0, 2.0])), np.full(4, 9.0)])
    noise = laplace_noise(Q, 0.5)
    assert moments(noise).mean_square.value == pytest.approx(2 * 2 * (3.0 / 0.5) ** 2)
    Z = drawn(noise, 20_000)
    assert not Z[:, 2].any()
    assert kstest(Z[:, 0], "laplace", args=(0.0, 6.0)).pvalue > FALSE_ALARM


@pytest.mark.parametrize("name", NAMES)
def test_the_ball_in_closed_form(name: str) -> None:
    """Lemma 4.2: E‖Z‖ = d·diam/ε and E‖Z‖² = d(d + 1)diam²/ε²."""
    Q, d, _ = BODIES[name]
    told, diameter = moments(ball_noise(Q, 0.5)), max(np.linalg.norm(a - b) for a in Q.T for b in Q.T)
    assert told.mean_norm.value == pytest.approx(2 * d * diameter)
    assert told.mean_square.value == pytest.approx(4 * d * (d + 1) * diameter**2)


def test_a_cube_in_closed_form() -> None:
    """K a box of sides w: E Z_i² = (d + 1)(d + 2)w_i²/(3ε²)."""
    w = np.array([1.0, 2.0, 0.25])
    assert knorm_noise(corners(w), 1.0).exact_mean_square == pytest.approx(20 / 3 * (w**2).sum())


def test_full_parity_through_its_histogram() -> None:
    """k = N: E‖Z‖²/k is the histogram's E‖u‖² = N(N − 1)E_j[2/(j+1) + 2/(N−j+1)]."""
    N = 16
    j = np.arange(1, N)
    logs = -gammaln(j + 1) - gammaln(N - j + 1) - gammaln(j) - gammaln(N - j)
    law = np.exp(logs) / np.exp(logs).sum()
    expected = N * (N - 1) * float(law @ (2 / (j + 1) + 2 / (N - j + 1)))
    exact = knorm_noise(hadamard(N), 1.0).exact_mean_square
    assert exact is not None
    assert exact / N == pytest.approx(expected)


def test_knorm_noise_is_never_worse_than_the_ball() -> None:
    for name in NAMES:
        Q = BODIES[name][0]
        assert moments(knorm_noise(Q, 1.0)).mean_square.value <= moments(ball_noise(Q, 1.0)).mean_square.value * 1.0001


# The recursive mechanism --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["projected", "hardt-talwar"])
@pytest.mark.parametrize("split", ["optimal", "equal"])
def test_costs_add_up(form: str, split: str) -> None:
    """(Σc^{1/3})³/ε² with the optimal shares, m²Σc/ε² with equal ones, exactly where all laws are."""
    steps = steps_of(signs(6, 8), form=form)
    assert [stage.dimension for stage in steps.stages(steps.depths)] == [3, 2, 1]
    for depth in range(1, steps.depths + 1):
        noise = noise_of(steps, 0.5, split=split, depth=depth)  # type: ignore[arg-type]
        costs = np.array([stage.cost for stage in noise.stages])
        expected = np.cbrt(costs).sum() ** 3 if split == "optimal" else depth**2 * costs.sum()
        told = moments(noise)
        assert told.mean_square.value == pytest.approx(4 * expected)
        assert told.mean_square.low == told.mean_square.high
        assert steps.cost(depth, split) == pytest.approx(expected)  # type: ignore[arg-type]
        Z = drawn(noise, 8000)
        squares = (Z**2).sum(axis=1)
        assert abs(squares.mean() - 4 * expected) < 6 * squares.std() / math.sqrt(8000)
        assert told.mean_norm.low <= np.linalg.norm(Z, axis=1).mean() + 6 * math.sqrt(squares.mean() / 8000)
        assert told.mean_norm.value <= math.sqrt(told.mean_square.value)


def test_the_first_depth_is_knorm_noise_and_chains_give_intervals() -> None:
    Q = signs(9, 40)
    steps = steps_of(Q)
    whole, plain = moments(noise_of(steps, 1.0, depth=1)), moments(knorm_noise(Q, 1.0))
    assert whole.mean_square.low <= plain.mean_square.high
    assert plain.mean_square.low <= whole.mean_square.high
    assert plain.diagnoses
    full = moments(noise_of(steps, 1.0, depth=99))
    assert full.mean_square.low < full.mean_square.value < full.mean_square.high


@pytest.mark.parametrize("form", ["projected", "hardt-talwar"])
def test_subspaces_are_orthogonal_and_span(form: str) -> None:
    Q = BODIES["dependent"][0]
    steps = steps_of(Q, form=form)
    frames = [stage.noise.frame for stage in steps.stages(steps.depths)]
    bases = [np.linalg.svd(F, full_matrices=False)[0][:, : np.linalg.matrix_rank(F)] for F in frames]
    together = np.hstack(bases)
    assert together.T @ together == pytest.approx(np.eye(3), abs=1e-10)
    assert [basis.shape[1] for basis in bases] == [2, 1]
    centred = Q - Q[:, :1]
    assert together @ (together.T @ centred) == pytest.approx(centred, abs=1e-10)


@pytest.mark.parametrize("split", ["optimal", "equal"])
def test_the_recursive_mechanism_loses_at_most_epsilon(split: str) -> None:
    """Σ ε_i‖P_{W_i}s‖_{B_i} ≤ ε for every s = Q_x − Q_y: the loss of the composition, attained per stage."""
    Q = signs(5, 9)
    steps = steps_of(Q)
    noise = noise_of(steps, 0.7, split=split, depth=99)  # type: ignore[arg-type]
    shifts = np.array([a - b for a in Q.T for b in Q.T if (a != b).any()])
    total = np.zeros(len(shifts))
    for stage, share in zip(noise.stages, noise.shares, strict=True):
        W = np.linalg.qr(stage.noise.frame)[0]
        sizes = Gauge(body_of(W.T @ Q)).of(shifts @ W)
        assert sizes.max() == pytest.approx(1.0, abs=1e-9)
        total += share * sizes
        # The noise of the stage is K-norm noise of that very body.
        gauges = Gauge(body_of(W.T @ Q)).of(drawn_stage(stage.noise) @ W)
        assert kstest(gauges, "gamma", args=(stage.dimension,)).pvalue > FALSE_ALARM
    assert total.max() <= 0.7 + 1e-9


def drawn_stage(noise: KNormNoise) -> FloatArray:
    return drawn(noise, 500)


def test_shares() -> None:
    """ε_i ∝ c_i^{1/3}, Σ ε_i ≤ ε as real numbers, and no other shares of these costs do better."""
    for seed in range(200):
        costs = rng(seed).lognormal(0.0, 5.0, 1 + seed % 7)
        for split in ("optimal", "equal"):
            shares = shares_of(costs, 0.3, split)  # type: ignore[arg-type]
            assert sum(map(Fraction, shares)) <= Fraction(0.3)
            assert sum(shares) == pytest.approx(0.3, rel=1e-12)
    costs = np.array([8.0, 1.0, 27.0])
    assert shares_of(costs, 6.0) == pytest.approx((2.0, 1.0, 3.0))
    best = float((costs / np.array(shares_of(costs, 1.0)) ** 2).sum())
    others = rng().dirichlet(np.ones(3), 500)
    assert best <= (costs / others**2).sum(axis=1).min()


def test_depth_follows_the_shape() -> None:
    """A round body wants K-norm noise; one long direction among many short ones wants its own stage."""
    assert steps_of(signs(8, 40)).best_depth() == 1
    skewed = signs(8, 40) * np.array([1000.0] + [1.0] * 7)[:, None]
    steps = steps_of(skewed)
    assert steps.best_depth() > 1
    assert steps.cost(steps.best_depth()) < 0.1 * steps.cost(1)
    adaptive = recursive_noise(skewed, 1.0, rng())
    assert isinstance(adaptive, RecursiveNoise)
    assert len(adaptive.stages) == steps.best_depth()


def test_a_given_depth_is_kept() -> None:
    for depth, stages in ((1, 1), (2, 2), (50, 3)):
        noise = recursive_noise(signs(6, 8), 1.0, rng(), depth=depth)
        assert isinstance(noise, RecursiveNoise)
        assert len(noise.stages) == stages


def test_the_forms_of_one_ladder_share_its_bodies_and_are_those_of_each_alone() -> None:
    Q = signs(6, 9)
    both = ladders(Q, rng(), ("projected", "hardt-talwar"))
    assert not isinstance(both, Unavailable)
    for first, second in zip(both["projected"].wholes, both["hardt-talwar"].wholes, strict=True):
        assert first is second
    forms: tuple[Form, Form] = ("projected", "hardt-talwar")
    for form in forms:
        alone = ladders(Q, rng(), (form,))
        assert not isinstance(alone, Unavailable)
        assert alone[form].wholes[0].cost == both[form].wholes[0].cost
        assert alone[form].depths == both[form].depths


@pytest.mark.parametrize("form", ["projected", "hardt-talwar"])
@pytest.mark.parametrize("split", ["optimal", "equal"])
def test_the_norms_of_a_ladder_have_the_mean_square_of_each_depth(form: Form, split: Split) -> None:
    """E‖Z‖² = Σ c_i/ε_i² by formulas, from draws that all depths, forms and splits share."""
    steps = steps_of(np.diag(np.arange(1.0, 9.0)) @ hadamard(8), form=form)
    draws = LadderDraws(rng(4), 40_000)
    for depth in range(1, steps.depths + 1):
        norms = draws.norms(steps, depth, split)
        assert not isinstance(norms, Unavailable)
        squares = norms**2
        spread = 5.0 * squares.std() / math.sqrt(len(squares))
        assert squares.mean() == pytest.approx(steps.cost(depth, split), abs=spread)
        assert np.array_equal(norms, draws.norms(steps, depth, split))


# Mechanisms ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", names())
def test_releases(name: str) -> None:
    Q = BODIES["random signs"][0]
    mechanism = build(name, Q, 1.0, rng())
    assert isinstance(mechanism, PureMechanism)
    assert mechanism.guarantee.epsilon == 1.0
    assert mechanism.guarantee.relation == "one of n users replaced, n fixed"
    x = np.arange(12)
    y = mechanism.simulate_release(x, rng(3), 6000)
    assert not isinstance(y, Unavailable)
    assert y.shape == (5, 6000)
    told = mechanism.moments(rng())
    assert isinstance(told, Moments)
    error = y - (Q @ x / 66)[:, None]
    lengths = np.linalg.norm(error, axis=0)
    mean = mean_error(told, 5, 66.0)
    assert (
        abs(lengths.mean() / math.sqrt(5) - mean.value) < 6 * lengths.std() / math.sqrt(5 * 6000) + mean.high - mean.low
    )
    square = root_mean_square(told, 5, 66.0)
    assert mean.value <= square.value
    spread = error.std(axis=1) / math.sqrt(6000)
    assert np.all(np.abs(error.mean(axis=1)) < 6 * spread)
    assert np.array_equal(y, mechanism.simulate_release(x, rng(3), 6000))


def test_noise_scales_with_epsilon() -> None:
    for name in names():
        loud, quiet = (build(name, signs(4, 8), epsilon, rng()) for epsilon in (0.5, 2.0))
        assert isinstance(loud, PureMechanism)
        assert isinstance(quiet, PureMechanism)
        first, second = loud.moments(rng()), quiet.moments(rng())
        assert isinstance(first, Moments)
        assert isinstance(second, Moments)
        assert first.mean_square.value == pytest.approx(16 * second.mean_square.value)


@pytest.mark.parametrize("name", names())
def test_constant_queries_need_no_noise(name: str) -> None:
    mechanism = build(name, np.full((2, 3), 5.0), 1.0, rng())
    assert isinstance(mechanism, PureMechanism)
    y = mechanism.simulate_release([1, 2, 3], rng(), 4)
    assert np.array_equal(y, np.full((2, 4), 5.0))
    told = mechanism.moments(rng())
    assert isinstance(told, Moments)
    assert told.mean_square.value == told.mean_norm.value == 0.0


def test_reasons_travel() -> None:
    """A body of more dimensions than a chain can mix in is a reason, not a number, at every door."""
    Q = signs(LARGEST_DIMENSION + 1, LARGEST_DIMENSION + 20)
    mechanism = build("k-norm", Q, 1.0, rng())
    assert isinstance(mechanism, PureMechanism)
    assert isinstance(mechanism.moments(rng()), Unavailable)
    assert isinstance(mechanism.simulate_release(np.ones(Q.shape[1]), rng()), Unavailable)
    assert isinstance(build("recursive", Q, 1.0, rng()), Unavailable)


def test_bad_arguments_are_refused() -> None:
    Q = signs(3, 6)
    with pytest.raises(UnknownName, match="k-norm"):
        build("knorm", Q, 1.0, rng())
    with pytest.raises(BadValue, match="epsilon"):
        build("k-norm", Q, 0.0, rng())
    with pytest.raises(UnknownName, match="projected"):
        ladder(Q, rng(), form="other")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="optimal"):
        noise_of(steps_of(Q), 1.0, split="other")  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="depth"):
        recursive_noise(Q, 1.0, rng(), depth=0)
    mechanism = build("laplace", Q, 1.0, rng())
    assert isinstance(mechanism, PureMechanism)
    for data, message in (
        (np.zeros(6), "at least one user"),
        (np.full(6, 0.5), "be a count"),
        (-np.ones(6), "be a count"),
        (np.full(6, np.nan), "be a count"),
        (np.ones(5), "counts of shape"),
    ):
        with pytest.raises(BadValue, match=message):
            mechanism.simulate_release(data, rng())
    with pytest.raises(BadValue, match="trials"):
        mechanism.simulate_release(np.ones(6), rng(), 0)
