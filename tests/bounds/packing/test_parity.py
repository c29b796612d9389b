"""Full parity: randomized response, K-norm noise, the best mechanism by linear programming; whole multiplicities."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from factormech.bounds.central.line import least_noise
from factormech.bounds.packing.core import averaging_bound, mean_noise
from factormech.bounds.packing.families import KINDS, set_families
from factormech.bounds.packing.lower import lower_bound
from factormech.bounds.packing.marginals import averaged_bound, full_parity, sparse_bound
from factormech.errors import BadValue
from factormech.workloads.registry import create
from tests.bounds.packing import mechanisms
from tests.tiers import every

pytestmark = pytest.mark.heavy

EPSILONS = [0.01, 0.1, 1.0, 3.0, 8.0, 20.0]


@pytest.mark.parametrize("N", [2, 4, 16, 256, 65536])
def test_one_person_with_much_budget_is_randomized_response(N: int) -> None:
    for epsilon in (math.log(N) + 0.1, 12.0, 20.0):
        if math.exp(epsilon) >= N - 1:
            attained = mechanisms.randomized_response(N, epsilon)
            assert full_parity(N, 1, epsilon).value == pytest.approx(attained, rel=1e-9)
            assert full_parity(N, 1, epsilon).value <= attained


def test_copies_are_whole() -> None:
    """At n = 1 and ε = 20 a real multiplicity would claim 0.086; randomized response has 7e-7."""
    assert full_parity(256, 1, 20.0).value <= mechanisms.randomized_response(256, 20.0) < 1e-6


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("N", [2, 16, 256, pytest.param(4096, marks=pytest.mark.slow)])
def test_no_mechanism_is_contradicted(N: int, epsilon: float) -> None:
    for n in [1, 2, 3, 5, 10, 30, 100, 1000, 10**4, 10**6, 10**9]:
        bound = full_parity(N, n, epsilon).value
        # The uniform histogram, whatever the data, and K-norm noise (its mean is at most its root mean square).
        assert bound <= math.sqrt(1.0 - 1.0 / N)
        assert bound <= mechanisms.parity_noise(N, n, epsilon)


def test_k_norm_noise_is_nearly_optimal_for_many_persons() -> None:
    """Within 2.3 for nε far above N: no packing comes near."""
    for N in (16, 256):
        n = 4000 * N
        assert mechanisms.parity_noise(N, n, 1.0) <= 2.4 * full_parity(N, n, 1.0).value
        assert full_parity(N, n, 1.0).method == "averaging"
        assert sparse_bound(N, n, 1.0).value < 0.5 * full_parity(N, n, 1.0).value


@pytest.mark.parametrize(
    ("N", "n", "epsilon"), [(2, 1, 0.3), (2, 3, 1.0), (2, 6, 0.5), (3, 1, 0.5), (3, 2, 2.0), (3, 3, 1.0)]
)
def test_the_best_of_all_mechanisms_is_above(N: int, n: int, epsilon: float) -> None:
    """A linear program over mechanisms that answer on a lattice, histograms in the place of parities."""
    W = np.eye(N) * math.sqrt(N)
    grid = np.array(mechanisms.histograms(N, 4 * n)) / (4 * n) * math.sqrt(N)
    best = mechanisms.best_of_all(W, n, epsilon, grid)
    bound = max(full_parity(N, n, epsilon).value, lower_bound(W, n, epsilon).value)
    assert 0.25 * best <= bound <= best * (1 + 1e-9)


def test_the_witness_makes_the_bound() -> None:
    for N, n, epsilon in [(256, 40, 1.0), (4096, 1000, 0.3), (65536, 10_000, 1.0)]:
        found = sparse_bound(N, n, epsilon)
        w = found.witness
        assert w["replacements"] == w["copies"] * w["set_size"] <= n
        assert w["distance"] == pytest.approx(w["copies"] / n * math.sqrt(2 * (w["set_size"] - w["largest_overlap"])))
        assert found.value == pytest.approx(w["distance"] * w["share"], rel=1e-9)
        assert w["code"] in KINDS


def test_data_sets_of_a_small_witness_are_as_far_apart_as_it_says() -> None:
    """The polynomials' family over Hadamard queries, with the package's own parities."""
    N, s, t, r, n = 16, 4, 1, 2, 9
    field = np.array([[0, 0, 0, 0], [0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2]])
    add = np.bitwise_xor
    graphs = [[4 * x + int(add(field[a, x], b)) for x in range(4)] for a, b in itertools.product(range(4), repeat=2)]
    W = create("parities", N)
    data = np.zeros((N, len(graphs)))
    for i, graph in enumerate(graphs):
        np.add.at(data[:, i], graph, r)
        data[0, i] += n - r * s
    answers = W.answer(data) / n / math.sqrt(W.queries)
    apart = np.linalg.norm(answers[:, :, None] - answers[:, None, :], axis=0)[np.triu_indices(len(graphs), 1)]
    found = set_families(N)
    here = (found.size == s) & (found.overlap == t)
    assert math.exp(found.log_count[here][0]) >= len(graphs) * (1 - 1e-9)
    assert apart.min() >= r / n * math.sqrt(2 * (s - t)) * (1 - 1e-12)


def test_scales_and_types() -> None:
    whole, half = sparse_bound(64, 50, 1.0), sparse_bound(64, 50, 1.0, scale=0.5)
    assert half.value == pytest.approx(0.5 * whole.value, rel=1e-9)
    assert sparse_bound(64, 50, 1.0, scale=0.0).value == 0.0
    # More types are no easier; the grids of sizes differ.
    values = [full_parity(N, 100, 1.0).value for N in (2, 4, 16, 64, 256, 1024)]
    assert all(b >= a * (1 - 0.03) for a, b in itertools.pairwise(values))


def test_averaging_is_the_central_bound_at_its_failure_probability() -> None:
    from factormech.bounds.central.release import replacement_bound

    for N, n in [(2, 10), (4, 100), (5, 2000)]:
        W = np.linalg.qr(np.random.default_rng(N).normal(size=(N, N)))[0] * math.sqrt(N)
        central = replacement_bound(W, 0.7, 0.0, n, moment=1)
        ours = averaging_bound((N - 1) * math.sqrt(N), N, N, n, 0.7)
        assert ours == pytest.approx(central.per_query / n, rel=1e-5)
        assert ours <= averaged_bound(N, n, 0.7).value * (1 + 1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 0.0), (0.01, 1e-3), (0.04, 0.01), (0.02, 0.3), (0.02, 0.9)])
def test_noise_for_small_budgets_in_groups_is_below_and_near(epsilon: float, delta: float) -> None:
    exact = least_noise(epsilon, delta, moment=1)
    assert mean_noise(epsilon, delta) <= exact.lower
    assert mean_noise(epsilon, delta) >= (0.99 if delta < 0.1 * epsilon else 0.5) * exact.lower


def test_small_budgets_take_proportionally_more_persons() -> None:
    assert averaged_bound(16, 10**9, 1e-6).value == pytest.approx(averaged_bound(16, 10**5, 0.01).value, rel=1e-3)


def test_bad_values_are_refused() -> None:
    for arguments, name in [
        ((1, 5, 1.0), "types"),
        ((8, 0, 1.0), "users"),
        ((8, 5, -1.0), "epsilon"),
        ((2**40, 5, 1.0), "types"),
    ]:
        with pytest.raises(BadValue, match=name):
            full_parity(*arguments)


@pytest.mark.parametrize("epsilon", [1e-320, 1e-30, 1e-6, 700.0, 1e4, 1e300])
@pytest.mark.parametrize("n", every(3, [1, 10**6, 10**18, 10**30]))
def test_extreme_numbers_give_bounds(n: int, epsilon: float) -> None:
    bound = full_parity(64, n, epsilon).value
    assert 0.0 <= bound <= 1.0
    if n == 1:
        assert bound <= mechanisms.randomized_response(64, min(epsilon, 700.0)) or epsilon > 700.0
    if n == 1 and epsilon < 1.0:
        assert bound > 0.9
