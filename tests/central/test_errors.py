"""Exact errors against quadrature and simulation, simulated maxima against closed forms, releases."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import kstest, norm

from factormech.errors import BadValue
from factormech.mechanisms.central import mechanism as central
from factormech.mechanisms.central import moments
from factormech.mechanisms.central.mechanism import CentralMechanism, system_gaussians
from factormech.mechanisms.central.registry import build
from factormech.workloads.matrix import MatrixWorkload
from factormech.workloads.registry import create
from tests.statistics import FALSE_ALARM, covariance_p_value, mean_p_value
from tests.tiers import every

pytestmark = pytest.mark.heavy


def mechanism(name: str, family: str, n: int, **options: float) -> CentralMechanism:
    built = build(name, create(family, n), 1.0, 1e-6, **options)  # type: ignore[arg-type]
    assert isinstance(built, CentralMechanism)
    return built


def _weighted(y: float, p: float, top: float, b: float, s: float) -> float:
    return float((abs(y) / top) ** p * norm.pdf(y, b, s))


@pytest.mark.parametrize("p", every(2, [1.0, 1.5, 2.0, 3.0, 4.0, 7.3, 8.0, 40.0, 66.0]))
def test_moments_are_the_integrals(p: float) -> None:
    shifts = np.array([0.0, 1e-6, -0.4, 2.0, 7.0, -13.0, 15.0, 16.2, 60.0])
    for s in (0.5, 3.0):
        found = moments.shifted_norms(p, np.full(shifts.size, s), shifts)
        for value, b in zip(found, shifts, strict=True):
            top = abs(b) + s * (math.sqrt(p) + 13)
            points = [0.0, b, *(x for x in (s * math.sqrt(p), -s * math.sqrt(p), b + s, b - s))]
            expected = quad(_weighted, -top, top, args=(p, top, b, s), points=points, limit=400, epsabs=0)[0]
            assert value == pytest.approx(top * expected ** (1 / p), rel=1e-9)


def test_moments_at_the_edges() -> None:
    assert moments.gaussian_norm(2.0) == pytest.approx(1.0, rel=1e-15)
    assert moments.gaussian_norm(1.0) == pytest.approx(math.sqrt(2 / math.pi), rel=1e-15)
    assert moments.gaussian_norm(4.0) == pytest.approx(3**0.25, rel=1e-15)
    # Without noise the bias is all; a bias that drowns the noise is the norm.
    found = moments.shifted_norms(3.0, np.array([0.0, 1.0, 1e-300]), np.array([-2.0, 1e12, 1.0]))
    np.testing.assert_allclose(found, [2.0, 1e12, 1.0], rtol=1e-12)
    # The two ways agree for even p, to the last bits, and no power overflows.
    m = np.concatenate([np.zeros(1), np.geomspace(1e-6, 1e7, 60)])
    for p in (2.0, 6.0, 20.0):
        np.testing.assert_allclose(moments._even(p, m), moments._by_quadrature(p, m), rtol=2e-13)
    assert math.isfinite(moments.error_of_order(600.0, np.array([1e5, 1.0])).total)
    whole = moments.error_of_order(4.0, np.array([1.0, 2.0]))
    assert whole.total == pytest.approx((3 * 17) ** 0.25)
    assert whole.per_query == pytest.approx((3 * 17 / 2) ** 0.25)
    for bad in (0.5, math.inf, math.nan, "2"):
        with pytest.raises(BadValue, match="p ="):
            moments.error_of_order(bad, np.ones(2))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "family", "n"),
    [
        ("gamma-2", "prefix", 24),
        ("gamma-f", "all-ranges", 9),
        pytest.param("square-root-normalised", "prefix", 20, marks=pytest.mark.slow),
        ("binary-tree", "prefix", 13),
        ("binary-tree-plain", "all-ranges", 8),
        ("gaussian-input", "2-way-marginals", 16),
        ("gaussian-output", "parities", 8),
    ],
)
def test_simulated_errors_agree_with_the_exact_ones(name: str, family: str, n: int) -> None:
    found, trials = mechanism(name, family, n), 20_000
    x = np.arange(float(n))
    rng = np.random.default_rng(11)
    errors = found.simulate_release(x, rng, trials) - found.workload.answer(x)[:, None]
    L = found.left.dense()
    covariance = found.sigma**2 * L @ L.T
    assert mean_p_value(errors, np.zeros(len(L)), covariance) > FALSE_ALARM
    assert covariance_p_value(errors, np.zeros(len(L)), covariance) > FALSE_ALARM
    for p in (1.0, 2.0, 3.0, 4.0):
        powers = np.sum(np.abs(errors) ** p, axis=0)
        z = (powers.mean() - found.exact_error(p).total ** p) / (powers.std() / math.sqrt(trials))
        assert 2 * norm.sf(abs(z)) > FALSE_ALARM


def test_errors_of_an_approximation_hold_their_bias() -> None:
    found, users = mechanism("approximate", "histogram", 8, alpha=0.25), 12.0
    W, LR = np.eye(8), found.left.dense() @ found.right.dense()
    assert 0.2 < np.abs(LR - W).max() <= 0.25 + found.factorization.residual
    vertices = [found.exact_error(4.0, data=users * e).total for e in np.eye(8)]
    assert found.exact_error(4.0, users=users).total == pytest.approx(max(vertices), rel=1e-12)
    assert found.exact_error(4.0, data=np.full(8, users / 8)).total <= max(vertices)
    x, trials = users * np.eye(8)[2], 20_000
    errors = found.simulate_release(x, np.random.default_rng(5), trials) - x[:, None]
    assert (
        mean_p_value(errors, (LR - W) @ x, found.sigma**2 * (found.left.dense() @ found.left.dense().T)) > FALSE_ALARM
    )
    for p in (2.0, 3.0):
        powers = np.sum(np.abs(errors) ** p, axis=0)
        z = (powers.mean() - found.exact_error(p, data=x).total ** p) / (powers.std() / math.sqrt(trials))
        assert 2 * norm.sf(abs(z)) > FALSE_ALARM
    peak = found.simulated_max(np.random.default_rng(6), 0.05, data=x)
    largest = np.abs(errors).max(axis=0)
    slack = 6 * largest.std() / math.sqrt(trials)
    assert peak.mean.low - slack <= largest.mean() <= peak.mean.high + slack
    for arguments in ({}, {"data": x, "users": 3.0}):
        with pytest.raises(BadValue, match="data, users"):
            found.exact_error(2.0, **arguments)
    with pytest.raises(BadValue, match=r"data = None.* approximate factorization"):
        found.simulated_max(np.random.default_rng(0))
    for bad in (math.nan, math.inf, 0.5, True, "12"):
        with pytest.raises(BadValue, match="users ="):
            found.exact_error(2.0, users=bad)  # type: ignore[arg-type]


def test_the_worst_user_type_of_an_approximation_decides() -> None:
    """The user types of prefixes have unlike biases, so that the largest error and the smallest differ."""
    found = mechanism("approximate", "prefix", 6, alpha=0.25)
    totals = [found.exact_error(4.0, data=100.0 * e).total for e in np.eye(6)]
    assert max(totals) > 1.001 * min(totals)
    assert found.exact_error(4.0, users=100.0).total == pytest.approx(max(totals), rel=1e-12)
    one = max(found.exact_error(4.0, data=e).total for e in np.eye(6))
    assert found.exact_error(4.0, users=1).total == pytest.approx(one, rel=1e-12)


def test_simulated_maxima_scale_with_the_queries() -> None:
    """By a power of two, to the last bit: so does what bounds the tail of the maximum."""
    small, one = (
        build("gaussian-input", MatrixWorkload("scaled", scale * np.eye(4)), 1.0, 1e-6) for scale in (2.0**-12, 1.0)
    )
    assert isinstance(small, CentralMechanism)
    assert isinstance(one, CentralMechanism)
    first, other = (each.simulated_max(np.random.default_rng(3), 0.05) for each in (small, one))
    assert first.certain is not None
    assert other.certain is not None
    for name in ("mean", "root_mean_square", "certain"):
        pair = [getattr(each, name) for each in (first, other)]
        assert (pair[0].low, pair[0].high) == (pair[1].low * 2.0**-12, pair[1].high * 2.0**-12)


def test_large_simulations_are_drawn_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many maxima as are asked for, whatever the size of a block; each block has noise of its own."""
    found, asked = mechanism("gaussian-input", "histogram", 3), (1, 7, 8, 50)
    monkeypatch.setattr(central, "block_columns", lambda left: 7)
    drawn: list[np.ndarray] = []

    def estimate(draw: Callable[[int], np.ndarray], *_: object, **__: object) -> None:
        drawn.extend(draw(count) for count in asked)

    monkeypatch.setattr(moments, "estimate", estimate)
    found.simulated_max(np.random.default_rng(0))
    assert [values.size for values in drawn] == list(asked)
    assert np.unique(np.concatenate(drawn)).size == sum(asked)


@pytest.mark.parametrize("k", [1, 64])
def test_simulated_maxima_hold_the_closed_form(k: int) -> None:
    """E max |Z_i| of k independent Gaussians is ∫ 1 − (2Φ(t) − 1)^k dt, E max² is ∫ 2t(1 − …) dt."""
    found = mechanism("gaussian-input", "histogram", k)
    mean = quad(lambda t: 1 - (2 * ndtr(t) - 1) ** k, 0, 12)[0] * found.sigma
    square = quad(lambda t: 2 * t * (1 - (2 * ndtr(t) - 1) ** k), 0, 12)[0] * found.sigma**2
    for seed in range(3):
        simulated = found.simulated_max(np.random.default_rng(seed), 0.03)
        assert simulated.reached
        assert simulated.certain is not None
        for interval, value in (
            (simulated.mean, mean),
            (simulated.certain, mean),
            (simulated.root_mean_square, math.sqrt(square)),
        ):
            assert interval.low <= value <= interval.high
        assert max(simulated.mean.relative_width, simulated.root_mean_square.relative_width) <= 0.03
    assert found.simulated_max(np.random.default_rng(1), 0.03) == found.simulated_max(np.random.default_rng(1), 0.03)


def test_sequential_intervals_cover_as_often_as_they_say() -> None:
    """At level 0.2, 500 runs that stop when they like: far more than one in five misses would show."""
    rng = np.random.default_rng(8)
    misses = 0
    for _ in range(500):
        run = moments.estimate(rng.standard_exponential, 0.2, level=0.2, looks=6)
        misses += not (run.mean.low <= 1.0 <= run.mean.high)
        misses += not (run.root_mean_square.low <= math.sqrt(2.0) <= run.root_mean_square.high)
    assert 0 < misses <= 100


def test_looks_run_out_visibly() -> None:
    run = moments.estimate(np.random.default_rng(0).standard_exponential, 1e-4, looks=3)
    assert (run.reached, run.looks, run.draws) == (False, 3, 4 * moments.FIRST)
    for bad in (0.0, 1.0, math.nan):
        with pytest.raises(BadValue, match="relative_width"):
            moments.estimate(np.ones, bad)
    still = moments.estimate(np.ones, 0.01)
    assert (still.mean.value, still.mean.relative_width, still.draws) == (1.0, 0.0, moments.FIRST)


def test_private_releases_take_no_seed_and_differ() -> None:
    found = mechanism("square-root", "prefix", 50)
    x = np.ones(50)
    one, other = found.simulate(x), found.simulate(x)
    assert one.shape == (50,)
    assert np.all(one != other)
    z = (one - found.workload.answer(x)) / found.deviations
    assert np.abs(z).max() < 9
    again = [found.simulate_release(x, np.random.default_rng(4), 3) for _ in range(2)]
    np.testing.assert_array_equal(*again)


def test_noise_of_the_system_is_gaussian() -> None:
    draws = system_gaussians(200_000)
    assert np.isfinite(draws).all()
    assert kstest(draws, "norm").pvalue > FALSE_ALARM
    assert system_gaussians(0).size == 0


def test_noise_of_the_system_is_the_quantile_of_its_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """In every chunk: the lowest bit is the sign, the others are the lower tail, from the smallest to a half."""
    numbers = [0, 1, 2, 3, 2**64 - 1, 2**64 - 2, 12345, 2**63, 2**63 + 1, 2**40 + 1]
    waiting = b"".join(number.to_bytes(8, "little") for number in numbers)

    def token_bytes(count: int) -> bytes:
        nonlocal waiting
        assert len(waiting) >= count
        given, waiting = waiting[:count], waiting[count:]
        return given

    monkeypatch.setattr(central, "_CHUNK", 4)
    monkeypatch.setattr(central.secrets, "token_bytes", token_bytes)
    expected = [(1 if v & 1 else -1) * norm.isf(((v >> 1) + 0.5) / 2**64) for v in numbers]
    np.testing.assert_allclose(system_gaussians(len(numbers)), expected, rtol=1e-12, atol=1e-15)
    assert waiting == b""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([1.0, math.nan, 0.0], r"data\[1\]"),
        ([1.0, -1.0, -2.0], r"data\[1\] = -1.0.*2 such"),
        ([math.inf, 0.0, 0.0], r"data\[0\]"),
        ([1.0, 2.0], "data"),
        ([[1.0], [2.0], [3.0]], "data"),
        (["a", "b", "c"], "data"),
    ],
)
def test_bad_data_are_refused(data: object, message: str) -> None:
    found = mechanism("gaussian-output", "prefix", 3)
    for release in (found.simulate, lambda x: found.simulate_release(x, np.random.default_rng(0))):
        with pytest.raises(BadValue, match=message):
            release(data)
