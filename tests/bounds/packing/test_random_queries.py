"""Random signs: the deviation rate against exact laws, packings that really remain, what mechanisms attain."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from factormech.bounds.packing.random_queries import deviation_rate, random_queries, theorem_terms
from factormech.errors import BadValue
from tests.bounds.packing import mechanisms
from tests.tiers import every


def law_of_squares(terms: int) -> tuple[np.ndarray, np.ndarray]:
    """Values and masses of Z²/‖u‖², Z a sum of this many signs."""
    z = 2 * np.arange(terms + 1) - terms
    return z**2 / terms, binom.pmf(np.arange(terms + 1), terms, 0.5)


@pytest.mark.parametrize("q", every(2, [1, 2, 5, 20]))
@pytest.mark.parametrize("k", [3, 12, 40])
def test_the_rate_bounds_the_exact_probability(q: int, k: int) -> None:
    """The law of ‖Wu‖² by convolution, for every difference of q or a little more elements each."""
    for more in (0, 1, 3):
        terms = 2 * (q + more)
        values, masses = law_of_squares(terms)
        units = np.rint(values * terms).astype(int)
        one = np.zeros(units.max() + 1)
        np.add.at(one, units, masses)
        total = np.ones(1)
        for _ in range(k):
            total = np.convolve(total, one)
        for tau in (0.1, 0.5, 0.8, 0.95):
            exact = float(total[: math.floor((1 - tau) * k * terms + 1e-9) + 1].sum())
            single = q == 1 and more == 0
            rate = float(deviation_rate(np.array([tau]), np.array([q]), np.array([single]))[0, 0])
            assert exact <= math.exp(-k * rate) * (1 + 1e-9)


def test_the_rate_is_that_of_normal_variables_in_the_limit() -> None:
    tau = np.array([0.2, 0.5, 0.9])
    rate = deviation_rate(tau, np.array([500]), np.array([False]))[0]
    assert rate == pytest.approx(0.5 * (-tau - np.log1p(-tau)), rel=0.01)
    assert np.all(rate <= 0.5 * (-tau - np.log1p(-tau)))
    assert np.all(deviation_rate(tau, np.array([1]), np.array([False]))[0] >= tau**2 / 6 * 0.99)


@pytest.mark.parametrize("seed", range(5))
def test_enough_data_sets_remain_and_are_apart(seed: int) -> None:
    """Single elements: of the columns drawn, those of the witness's number are as far apart as it says."""
    k, N, n = 24, 60, 1
    found = random_queries(k, N, n, 2.0, failure=0.05)
    assert found.value > 0
    assert found.witness["set_size"] == 1
    W = 2.0 * np.random.default_rng(seed).integers(0, 2, (k, N)) - 1
    apart = np.linalg.norm(W[:, :, None] - W[:, None, :], axis=0) / math.sqrt(k) >= found.witness["distance"]
    kept = list(range(N))
    for i, j in itertools.combinations(range(N), 2):
        if i in kept and j in kept and not apart[i, j]:
            kept.remove(j)
    assert len(kept) >= math.exp(found.witness["log_size"])


@pytest.mark.parametrize(("k", "N"), [(4, 8), (16, 256), (64, 128)])
def test_no_mechanism_is_contradicted(k: int, N: int) -> None:
    W = 2.0 * np.random.default_rng(1).integers(0, 2, (k, N)) - 1
    for n in (1, 10, 1000, 10**6):
        for epsilon in (0.05, 1.0, 5.0):
            bound = random_queries(k, N, n, epsilon).value
            assert bound <= min(mechanisms.ball_noise(W, n, epsilon), 1.0)


def test_more_failures_allow_more() -> None:
    values = [random_queries(64, 1024, 100, 0.3, failure=f).value for f in (1e-9, 1e-4, 0.01, 0.5)]
    assert all(b >= a for a, b in itertools.pairwise(values))
    assert values[-1] > values[0] > 0


def test_sets_of_many_elements_are_needed_for_many_types() -> None:
    """De's packings, not single elements, once there are many more types than queries and enough persons."""
    found = random_queries(1024, 2**18, 10_000, 1.0)
    assert found.witness["set_size"] > 10
    single = 10_000 * found.value
    assert single > 10_000 * random_queries(1024, 2**10, 10_000, 1.0).value


def test_the_terms_of_the_theorem() -> None:
    first, second, third = theorem_terms(100, 10**6, 0.1, 0.5)
    assert first == pytest.approx(100 / 0.05)
    assert second == pytest.approx(math.sqrt(100 * math.log(10**4)) / 0.05)
    assert third == pytest.approx(math.log(10**4) / 0.005)
    assert theorem_terms(100, 50, 0.1, 0.5)[1:] == (0.0, 0.0)


def test_bad_values_are_refused() -> None:
    with pytest.raises(BadValue, match="failure"):
        random_queries(4, 8, 1, 1.0, failure=0.0)
    with pytest.raises(BadValue, match="queries"):
        random_queries(0, 8, 1, 1.0)
    with pytest.raises(BadValue, match="alpha"):
        theorem_terms(4, 8, 1.5, 1.0)
