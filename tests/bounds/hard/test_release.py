"""Certificates re-proved in rational arithmetic and by a general solver; bounds below what mechanisms achieve."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from factormech.arrays import FloatArray
from factormech.bounds.hard import divergence
from factormech.bounds.hard.certificate import Witness, best_witness, certify
from factormech.bounds.hard.divergence import Protocol
from factormech.bounds.hard.release import lower_bound_release, risk, users_at, users_for_query
from factormech.errors import BadValue, UnknownName
from factormech.norms.certificates import dual_norm
from factormech.norms.registry import compute
from factormech.workloads.registry import create
from tests.bounds.hard import oracles

WORKLOADS = oracles.workloads()


def reprove(W: FloatArray, witness: Witness) -> None:
    """The claims of a certificate, in fractions but for γ₂*."""
    U = [[Fraction(float(u)) for u in row] for row in witness.matrix]
    exact = [[Fraction(float(w)) for w in row] for row in W]
    gains = [sum(w * u for w, u in zip(*rows, strict=True)) for rows in zip(exact, U, strict=True)]
    assert all(sum(row) == 0 for row in U)
    assert all(g >= Fraction(witness.theta) * sum(map(abs, row)) for g, row in zip(gains, U, strict=True))
    assert sum(gains) >= Fraction(witness.gain)
    assert float(sum(gains)) <= witness.gain * (1 + 1e-9)
    again = dual_norm(witness.matrix, gap=1e-7, iterations=20_000)
    assert again.lower <= witness.size
    np.testing.assert_array_equal(witness.spreads.shape, (2, W.shape[1]))


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("theta", [0.05, 0.3])
def test_best_witness_against_a_general_solver(name: str, theta: float) -> None:
    W = WORKLOADS[name]
    truth = oracles.best_gain(W, theta)
    found = best_witness(W, theta, gap=1e-4)
    assert found.witness.strength <= truth * (1 + 1e-6)
    assert found.upper >= truth * (1 - 1e-6)
    assert found.gap <= 1e-4
    assert found.witness.theta >= theta * (1 - 1e-6)
    reprove(W, found.witness)


def test_the_row_constraint_costs_less_than_the_approximation() -> None:
    """γ̂₂(W, θ) ≤ G(θ) ≤ γ̂₂(W, 0); five sign thresholds at θ = 0.4: 0.98, 1.64."""
    W = WORKLOADS["thresholds"]
    exact = compute("gamma-2-shifted", W, alpha=0.0).upper
    near = compute("gamma-2-shifted", W, alpha=0.4)
    found = best_witness(W, 0.4)
    assert near.lower == pytest.approx(0.98, abs=0.01)
    assert found.witness.strength == pytest.approx(1.64, abs=0.01)
    assert found.upper <= exact * (1 + 1e-3)
    cleaned = certify(W, near.witness["dual"], 0.4)
    assert near.lower * (1 - 1e-3) <= cleaned.strength <= found.upper
    assert cleaned.theta >= 0.4 * (1 - 1e-6)
    reprove(W, cleaned)


def test_the_centre_comes_with_the_size() -> None:
    """Column weights size·q have row weights of sum at most size that make the bordered matrix semidefinite."""
    import cvxpy as cp

    W = WORKLOADS["prefix"]
    witness = best_witness(W, 0.1).witness
    U = witness.matrix[witness.matrix.any(axis=1)]
    p = cp.Variable(len(U))
    q = np.diag(witness.size * witness.centre)
    problem = cp.Problem(cp.Minimize(cp.sum(p)), [cp.bmat([[cp.diag(p), U], [U.T, q]]) >> 0])
    problem.solve(solver="CLARABEL")
    assert float(problem.value) <= witness.size * (1 + 1e-6)


def test_parities_by_hand() -> None:
    """G = √(k−1) at every θ ≤ 1; the centre is uniform, its share 1."""
    W = create("parities", 16)
    epsilon, alpha = 1.0, 0.01
    found = lower_bound_release(W, epsilon, alpha)
    assert found.witness.strength == pytest.approx(math.sqrt(15), rel=1e-6)
    t, w = found.t, (math.e - 1) / 4 * 2 * found.t * alpha
    constant = w * w / -math.log(1 - w * w)
    value = math.log(t * t / (2 * t - 1)) * constant * 15 / (math.sinh(0.5) * t * alpha) ** 2
    assert found.pairs == pytest.approx(value, rel=1e-5)
    assert found.formula == "hard-pairs"
    sequential = lower_bound_release(W, epsilon, alpha, protocol="sequential")
    assert found.single < sequential.pairs < found.pairs
    with_markov = divergence.kl_of_error(0.25) / (divergence.kappa(1.0) * (math.e - 1) ** 2) * 15 / (4 * alpha) ** 2
    assert found.pairs > 10 * with_markov


def test_one_query() -> None:
    """The pairs prove less than the exact two-point bound, and more than half of it at small ε."""
    W = np.array([[0.0, 1.0]])
    for epsilon, alpha in ((0.2, 0.05), (0.5, 0.01), (0.3, 0.003)):
        found = lower_bound_release(W, epsilon, alpha)
        assert found.users == found.single
        assert 0.58 * found.single <= found.pairs <= found.single


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_single_query_in_closed_form(epsilon: float) -> None:
    tau, r = math.tanh(epsilon / 2), 3.0
    theta = min(0.5 * r, r / (4 * tau))
    assert risk(r, epsilon, 1) == pytest.approx(theta * (1 - 2 * tau * theta / r), rel=1e-4)
    assert risk(r, epsilon, 1) == risk(r, epsilon, 2)
    n = 5
    thetas = np.linspace(1e-3, 0.5, 4000) * r
    up = 0.5 + tau * thetas / r
    wrong = sum(math.comb(n, j) * up**j * (1 - up) ** (n - j) for j in range(3))
    assert risk(r, epsilon, n) == pytest.approx(float((2 * thetas * wrong).max()), rel=1e-4)
    least = users_for_query(r, epsilon, 0.05)
    assert risk(r, epsilon, least) <= 0.05 < risk(r, epsilon, least - 1)
    # Coins of size r/2·coth(ε/2): the mean of n reports errs by √(2/π) of its deviation, at most 5.6 times the users.
    mean = 2 / math.pi * (0.5 * r / tau / 0.05) ** 2
    assert 5.2 <= mean / least <= 5.8


@pytest.mark.parametrize("users", [1, 2, 7, 40])
def test_no_mechanism_for_one_query_needs_fewer(users: int) -> None:
    """Shrunk means of randomized responses, their exact worst expected error over all coins."""
    epsilon = 1.0
    tau = math.tanh(epsilon / 2)
    coins = np.linspace(0, 1, 201)
    bias = 0.5 + tau * (coins - 0.5)
    j = np.arange(users + 1)
    law = np.array([math.comb(users, int(i)) * bias**i * (1 - bias) ** (users - i) for i in j])
    worst = []
    for shrink in np.linspace(0, 1, 41):
        answers = 0.5 + shrink * (j / users - 0.5) / tau
        worst.append((law * np.abs(answers[:, None] - coins)).sum(axis=0).max())
    assert users_for_query(1.0, epsilon, min(worst)) <= users
    assert lower_bound_release(np.array([[0.0, 1.0]]), epsilon, min(worst)).users <= users


def simplex(parts: int) -> FloatArray:
    return np.array([(i, j, parts - i - j) for i in range(parts + 1) for j in range(parts + 1 - i)]) / parts


@pytest.mark.parametrize("epsilon", [0.5, 1.5])
def test_no_mechanism_of_one_user_does_better(epsilon: float) -> None:
    """The best single report for 3 types and every answer on a grid, by linear programming."""
    W = np.array([[1.0, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    laws = simplex(12)
    answers = simplex(8) @ W.T * 1.0
    f, tau = oracles.corners(3), math.tanh(epsilon / 2)
    errors = np.abs(answers[:, None] - laws @ W.T).max(axis=2)  # answer × law
    chance = 1 + tau * f @ laws.T  # corner × law
    cost = (chance[:, None, :] * errors[None]).reshape(-1, len(laws))
    columns = np.repeat(1 + tau * f, len(answers), axis=0)
    upper = np.hstack([cost.T, -np.ones((len(laws), 1))])
    equal = np.hstack([columns.T, np.zeros((3, 1))])
    target = np.zeros(len(cost) + 1)
    target[-1] = 1
    found = linprog(target, A_ub=upper, b_ub=np.zeros(len(laws)), A_eq=equal, b_eq=np.ones(3), method="highs")
    assert lower_bound_release(W, epsilon, float(found.fun)).users <= 1.0


@pytest.mark.parametrize("users", [5, 30])
def test_randomized_response_needs_more(users: int) -> None:
    """Its exact worst expected error on the prefix queries of three types."""
    epsilon, W = 1.0, np.tril(np.ones((3, 3)))[:2]
    a = math.exp(epsilon)
    Q = (np.ones((3, 3)) + (a - 1) * np.eye(3)) / (a + 2)
    counts = oracles.all_counts(3, users)
    ways = np.array([math.factorial(users) / math.prod(map(math.factorial, c)) for c in counts.tolist()])
    laws = simplex(10)
    estimates = counts / users @ np.linalg.inv(Q).T
    centre = np.full(3, 1 / 3)
    best = math.inf
    for shrink in np.linspace(0, 1, 21):
        answers = (centre + shrink * (estimates - centre)) @ W.T
        chance = ways[:, None] * np.prod((laws @ Q.T)[None] ** counts[:, None, :], axis=2)
        error = np.abs(answers[:, None] - laws @ W.T).max(axis=2)
        best = min(best, float((chance * error).sum(axis=0).max()))
    found = lower_bound_release(W, epsilon, best)
    assert 0 < found.least_users <= users


@pytest.mark.slow
def test_search_over_t() -> None:
    """No t on a fine grid does better with a certificate of its own."""
    W = create("conjunctions-3", 32)
    for alpha in (0.02, 0.15):
        found = lower_bound_release(W, 1.0, alpha)
        for t in np.geomspace(1.05, 3.3, 8):
            other = best_witness(W, t * alpha, gap=1e-3).witness
            assert users_at(other, 1.0, alpha, float(t) * (1 - 1e-6)) <= found.pairs * 1.03
        assert found.users <= found.ceiling
        assert found.theta == pytest.approx(found.t * alpha)
    bounds = [lower_bound_release(W, 1.0, alpha).users for alpha in (0.01, 0.02, 0.05, 0.1, 0.3, 0.6)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] == 0.0


def test_sizes() -> None:
    import time

    start = time.process_time()
    found = lower_bound_release(create("prefix", 128), 1.0, 0.01)
    assert found.witness.strength == pytest.approx(1.8337, rel=2e-3)
    assert time.process_time() - start < 10.0


def test_bad_input() -> None:
    W = WORKLOADS["prefix"]
    for alpha in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(BadValue, match="alpha"):
            lower_bound_release(W, 1.0, alpha)
    with pytest.raises(UnknownName):
        lower_bound_release(W, 1.0, 0.1, protocol="central")  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="shape"):
        certify(W, np.ones((1, 1)), 0.1)
    with pytest.raises(BadValue, match="theta"):
        best_witness(W, 0.0)
    with pytest.raises(BadValue, match="users"):
        risk(1.0, 1.0, -1)
    nothing = lower_bound_release(np.ones((2, 3)), 1.0, 0.1)
    assert (nothing.users, nothing.single, nothing.pairs) == (0.0, 0, 0.0)
    # A dual matrix that is no good gives a poor bound, not a wrong one.
    poor = certify(W, np.random.default_rng(0).standard_normal(W.shape), 0.05)
    reprove(W, poor)
    assert poor.strength < best_witness(W, 0.05).upper


def test_users_for_thresholds_grow_as_the_square_of_the_logarithm() -> None:
    """Corollary 4 of Edmonds, Nikolov & Ullman (2020) at α = 0.005: √users rises by the same number with each doubling.

    So does the norm of T thresholds around their best shift, which is known and rises by ln(2)/π.
    """
    sizes = (8, 16, 32)
    roots = [math.sqrt(lower_bound_release(create("prefix", n), 1.0, 0.005).users) for n in sizes]
    norms = [sum(1 / math.sin((2 * j - 1) * math.pi / (2 * n)) for j in range(1, n + 1)) / (2 * n) for n in sizes]
    first, second = np.diff(roots) / np.diff(norms)
    assert 95 < first < 105
    assert second == pytest.approx(first, rel=0.01)
    assert np.diff(norms)[1] == pytest.approx(math.log(2) / math.pi, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["non-interactive", "sequential"])
@pytest.mark.parametrize("name", ["prefix", "2-way-marginals", "at-most-2-way-marginals"])
def test_no_bound_falls_as_the_domain_grows(name: str, protocol: Protocol) -> None:
    # Certificates are solved to 2e-3.
    bounds = [lower_bound_release(create(name, n), 1.0, 0.05, protocol=protocol).users for n in (8, 16, 32, 64)]
    assert all(b >= a * (1.0 - 2e-3) for a, b in itertools.pairwise(bounds))


@pytest.mark.slow
def test_a_problem_within_another_counts() -> None:
    """Marginals of two ways within those of at most two; the certificate is one of the whole matrix."""
    found, part = (
        lower_bound_release(create(name, 32), 1.0, 0.05) for name in ("at-most-2-way-marginals", "2-way-marginals")
    )
    assert found.users >= part.users * (1.0 - 1e-3)
    assert users_at(found.witness, 1.0, 0.05, found.t) == found.pairs
    W = create("at-most-2-way-marginals", 32).matrix()
    assert found.witness.matrix.shape == W.shape
    assert (np.einsum("ij,ij->i", W, found.witness.matrix) >= -1e-12).all()
