"""The general optimiser: its coordinates, its steps, the exact optimum where it is known, and its promises."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.bounds.pairwise import pairwise
from factormech.bounds.parametric import parametric
from factormech.errors import BadValue
from factormech.mechanisms.local import registry as mechanisms
from factormech.mechanisms.local.optimal import columns as copula
from factormech.mechanisms.local.optimal import columns as pricing
from factormech.mechanisms.local.optimal import rows as peeling
from factormech.mechanisms.local.optimal import search
from factormech.mechanisms.local.optimal.columns import Candidate, Columns
from factormech.mechanisms.local.optimal.frame import Blocks, Frame, block_matrices, target_blocks
from factormech.mechanisms.local.optimal.masses import Evaluated, evaluate, project
from factormech.mechanisms.local.optimal.problem import BoolArray, Optimised, Problem, Step
from factormech.mechanisms.local.optimal.rows import prune
from factormech.mechanisms.local.optimal.search import BEST, STANDARD, GeneralOptions
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.workloads.base import Workload
from factormech.workloads.registry import create
from tests.tiers import every, every_pair

pytestmark = pytest.mark.heavy

TIGHT = replace(BEST, gap=0.0, rounds=40, polish=2000, stall=1e-12)


def all_sets(n: int) -> BoolArray:
    """Every set but ∅ and the whole domain."""
    return (np.arange(1, 2**n - 1)[:, None] >> np.arange(n)) & 1 == 1


def random_gram(rng: np.random.Generator, n: int, rank: int | None = None) -> FloatArray:
    """A centred Gram matrix without symmetry."""
    W = rng.normal(size=(n if rank is None else rank, n)) * np.exp(rng.normal(size=n))
    W -= W.mean(axis=1, keepdims=True)
    return np.asarray(W.T @ W)


def reflected(C: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (C + C[::-1, ::-1]))


def plain_rows(supports: BoolArray, epsilon: float) -> FloatArray:
    """v_S."""
    return np.where(supports, math.exp(epsilon), 1.0)


def plain_objective(V: FloatArray, theta: FloatArray, C: FloatArray, prior: FloatArray) -> float:
    """n(tr(X⁻C)) from the definition: X = Σθvvᵀ/(πᵀv), the part of X⁻¹ beside ππᵀ."""
    n = len(C)
    X = (V.T * (theta / (V @ prior))) @ V
    J = np.eye(n) - np.outer(np.ones(n), prior) / n
    return float(np.trace(np.linalg.pinv(X, rcond=1e-13) @ (J @ C @ J.T)))


def rows_of(answer: Optimised, epsilon: float) -> FloatArray:
    """The strategy's matrix, its ratio a little inside e^ε."""
    a = math.exp(epsilon) * (1.0 - 1e-12)
    Q = answer.weights[:, None] * np.where(answer.supports, a, 1.0)
    return np.asarray(Q / Q.sum(axis=0).max())


def check_feasible(answer: Optimised, n: int, epsilon: float) -> None:
    assert answer.supports.shape == (len(answer.weights), n)
    assert answer.weights.min() > 0.0
    sums = answer.weights @ plain_rows(answer.supports, epsilon)
    assert np.abs(sums - 1.0).max() < 1e-11


def reference(C: FloatArray, epsilon: float, prior: FloatArray | None = None) -> float:
    """The least objective over all strategies: every extreme row, a conic program."""
    import cvxpy as cp

    n = len(C)
    pi = np.ones(n) if prior is None else n * prior
    V = plain_rows(all_sets(n), epsilon)
    U = n * V / (V @ pi)[:, None] - 1.0
    size = float(np.abs(U).max())
    U /= size
    J = np.eye(n) - np.outer(np.ones(n), pi) / n
    values, vectors = np.linalg.eigh(J @ C @ J.T)
    keep = values > 1e-12 * values[-1]
    R = vectors[:, keep] * np.sqrt(values[keep] / values.sum())
    p = cp.Variable(len(V), nonneg=True)
    M = U.T @ cp.diag(p) @ U + np.ones((n, n)) / n
    problem = cp.Problem(cp.Minimize(cp.matrix_frac(R, M)), [U.T @ p == 0.0, cp.sum(p) == 1.0])
    value = problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10)
    return float(value) * n * float(values.sum()) / size**2


def candidate_of(frame: Frame, supports: BoolArray, masses: FloatArray | None = None) -> Candidate:
    columns = Columns.of(frame, frame.canonical(supports), np.float64)
    place = columns.place(np.ones(len(columns)) if masses is None else masses)
    assert place is not None
    return Candidate(columns, place)


# The coordinates -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("with_prior", [False, True])
@pytest.mark.parametrize(("n", "epsilon"), [(5, 0.3), (6, 2.0)])
def test_the_objective_is_the_one_of_the_definition(n: int, epsilon: float, with_prior: bool, symmetric: bool) -> None:
    rng = np.random.default_rng(n)
    C = random_gram(rng, n)
    x = rng.dirichlet(np.ones(n))
    if symmetric:
        C, x = reflected(C), 0.5 * (x + x[::-1])
    prior = x if with_prior else None
    frame = Frame.of(Problem(C, epsilon, prior))
    assert frame.symmetric == symmetric
    candidate = candidate_of(frame, all_sets(n), rng.random(len(frame.canonical(all_sets(n)))) + 0.1)
    supports, masses = frame.expand(candidate.columns.supports, candidate.place.masses)
    theta = frame.row_weights(supports, masses)
    V = plain_rows(supports, epsilon)
    assert theta @ V == pytest.approx(np.ones(n), abs=1e-11)
    wanted = plain_objective(V, theta, C, frame.prior)
    assert n * frame.scale * candidate.value == pytest.approx(wanted, rel=1e-8)


def test_the_prior_version_is_the_variance_under_the_prior() -> None:
    rng = np.random.default_rng(5)
    n, epsilon = 5, 1.0
    C, x = random_gram(rng, n), rng.dirichlet(np.ones(n))
    answer = search.solve(Problem(C, epsilon, x), rng, options=STANDARD)
    # The best V for this prior, by weighted least squares: rows of Q with D = Diag(Qx).
    Q = answer.weights[:, None] * plain_rows(answer.supports, epsilon)
    D = Q @ x
    B = np.linalg.solve((Q.T / D) @ Q, Q.T / D)
    W = np.linalg.cholesky(C + 1e-13 * np.trace(C) * np.eye(n)).T
    second = np.sum((W @ B) ** 2, axis=0)
    variance = float(x @ (Q.T @ second - np.sum(W**2, axis=0)))
    assert answer.objective == pytest.approx(n * (variance + x @ np.diagonal(C) - x @ C @ x), rel=1e-6)


@pytest.mark.parametrize("n", [4, 7])
def test_blocks_join_to_the_whole(n: int) -> None:
    rng = np.random.default_rng(n)
    C = reflected(random_gram(rng, n))
    frame = Frame.of(Problem(C, 1.0))
    blocks = tuple(root @ root.T for root in frame.roots)
    assert frame.whole(blocks) * frame.scale == pytest.approx(C, rel=1e-9, abs=1e-12 * np.trace(C))
    S = rng.random((6, n)) < 0.5
    beta = frame.slopes(S)[:, None]
    centred = beta * (S - S.mean(axis=1, keepdims=True))
    assert frame.joined(frame.features(S)) == pytest.approx(centred, abs=1e-12)
    assert frame.whole_vector(frame.ones) == pytest.approx(np.ones(n))


def test_canonical_sets_are_distinct_and_one_of_each_pair() -> None:
    frame = Frame.of(Problem(reflected(random_gram(np.random.default_rng(0), 5)), 1.0))
    S = frame.canonical(np.concatenate([all_sets(5), all_sets(5), np.zeros((1, 5), bool), np.ones((1, 5), bool)]))
    assert frame.multiplicity(S).sum() == 2**5 - 2
    expanded, masses = frame.expand(S, np.ones(len(S)))
    assert len(np.unique(expanded, axis=0)) == 2**5 - 2
    assert masses.sum() == pytest.approx(len(S))


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("symmetric", [False, True])
def test_gains_are_the_derivative(epsilon: float, symmetric: bool) -> None:
    """Along a feasible direction δ, Σδ = 0 and Σδu = 0, the derivative of the value is −Σδh."""
    rng = np.random.default_rng(2)
    C = random_gram(rng, 5)
    frame = Frame.of(Problem(reflected(C) if symmetric else C, epsilon))
    candidate = candidate_of(frame, all_sets(5))
    U, p = candidate.columns.features, candidate.place.masses
    A = np.column_stack([np.ones(len(p)), U[0]])
    delta = rng.normal(size=len(p))
    delta -= A @ np.linalg.lstsq(A, delta, rcond=None)[0]
    delta *= 1e-5 * p.min() / np.abs(delta).max()
    rise = (evaluate(frame, U, p + delta).value - evaluate(frame, U, p - delta).value) / 2.0
    assert rise == pytest.approx(-float(delta @ candidate.place.gains), rel=1e-4)


@pytest.mark.parametrize(("dtype", "limit"), [(np.float64, 1e-12), (np.float32, 1e-4)])
@pytest.mark.parametrize(("n", "symmetric"), [(100, False), (200, True)])  # blocks of 100 coordinates
def test_gains_of_many_sets_are_the_forms(
    n: int, symmetric: bool, dtype: type[np.floating], limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Problem(create("prefix" if symmetric else "histogram", n).centred_gram(), 1.0)
    frame = Frame.of(asked) if symmetric else Frame.of(replace(asked, prior=np.arange(1, n + 1) / 5050))
    assert frame.symmetric is symmetric
    sets = frame.canonical(np.random.default_rng(0).random((5 * n, n)) < 0.3)
    masses, found = project(frame, frame.features(sets)[0], np.ones(len(sets)))
    assert found
    place = evaluate(frame, frame.features(sets, dtype), masses)
    forms = [
        np.einsum("si,ij,sj->s", U, half @ half.T, U)
        for U, half in zip(frame.features(sets), place.halves, strict=True)
    ]
    np.testing.assert_allclose(place.gains, sum(forms), rtol=limit)
    for inverse in place.inverses:
        np.testing.assert_array_equal(inverse, inverse.T)
    monkeypatch.setattr("factormech.mechanisms.local.optimal.masses._TRIANGLE", n + 1)
    np.testing.assert_allclose(place.gains, evaluate(frame, frame.features(sets, dtype), masses).gains, rtol=limit)


def test_the_multipliers_show_the_optimum() -> None:
    """At the optimum no set has a positive excess and those with mass have none: then f is least among all sets."""
    C = random_gram(np.random.default_rng(4), 5)
    frame = Frame.of(Problem(C, 1.0))
    best, _ = candidate_of(frame, all_sets(5)).improved(3000, 0.0)
    assert best.place.column_gap < 1e-5
    assert float(best.place.masses @ np.abs(best.place.excess)) < 1e-6


# Feasible masses -------------------------------------------------------------------------------------------


def test_projection_is_feasible_and_entropic() -> None:
    rng = np.random.default_rng(8)
    frame = Frame.of(Problem(random_gram(rng, 6), 1.5))
    S = all_sets(6)
    U = frame.features(S)[0]
    q = rng.random(len(S)) + 0.01
    p, found = project(frame, U, q)
    assert found
    assert p.sum() == pytest.approx(1.0, abs=1e-13)
    assert np.abs(p @ U).max() < 1e-12
    # log(p/q) is affine in u: nothing is left of it after regression.
    A = np.column_stack([np.ones(len(S)), U])
    z = np.log(p / q)
    assert np.abs(z - A @ np.linalg.lstsq(A, z, rcond=None)[0]).max() < 1e-9


def test_projection_says_when_there_is_nothing() -> None:
    frame = Frame.of(Problem(random_gram(np.random.default_rng(8), 6), 1.5))
    S = np.eye(6, dtype=bool)[:4]  # types 4 and 5 in no set: their columns cannot reach the others'
    _, found = project(frame, frame.features(S)[0], np.ones(4))
    assert not found


# Masses ----------------------------------------------------------------------------------------------------


def parity_sets() -> BoolArray:
    """The three non-empty parities on four points, and the negation of the one that its reflection does not negate."""
    points = np.arange(4)
    even = np.array([[bin(s & u).count("1") % 2 == 0 for u in points] for s in (1, 2, 3)])
    return np.concatenate([even, ~even[2:]])


def em_step(frame: Frame, features: Blocks, place: Evaluated, exponent: float = 1.0) -> Evaluated:
    """One multiplicative step; with e = 1 or ½ the value does not increase, and with ½ it falls off the optimum."""
    U = features[0].astype(float)
    A = np.column_stack([np.ones(len(U)), U])
    weighted = place.masses * place.gains**exponent
    # x = (ν, μ) minimises a convex function whose derivative is (1, 0) − Σp'(1, u).
    x = np.zeros(A.shape[1])
    x[0] = float(weighted.sum()) ** (1.0 / exponent)
    for _ in range(60):
        z = A @ x
        new = weighted / z**exponent
        gradient = -(new @ A)
        gradient[0] += 1.0
        if float(np.abs(gradient).max()) < 1e-14 * max(1.0, float(np.abs(A).max())):
            break
        H = (A * (exponent * new / z)[:, None]).T @ A
        step = -np.linalg.lstsq(H, gradient, rcond=1e-14)[0]
        t = 1.0
        while t > 1e-12 and not (A @ (x + t * step)).min() > 0.1 * z.min():
            t *= 0.5
        x = x + t * step
    masses, _ = project(frame, U, new, place.inverses[0])
    return evaluate(frame, features, masses)


def test_em_can_cycle_and_its_root_cannot() -> None:
    """Three orthogonal parities: e = 1 swaps the masses for ever, e = ½ reaches the optimum in one step."""
    g = np.array([16.0, 4.0, 1.0])
    chi = np.where(parity_sets()[:3], 1.0, -1.0)
    C = (chi.T * g) @ chi / 16.0
    frame = Frame.of(Problem(C, 1.0))
    columns = Columns.of(frame, parity_sets(), np.float64)
    start = columns.place(np.array([1.0, 2.0, 2.0, 2.0]))
    assert start is not None
    once = em_step(frame, columns.features, start)
    twice = em_step(frame, columns.features, once)
    assert once.value == pytest.approx(start.value, rel=1e-10)
    assert twice.masses == pytest.approx(start.masses, rel=1e-9)
    assert not np.allclose(once.masses, start.masses, rtol=0.1)
    root = em_step(frame, columns.features, start, exponent=0.5)
    assert root.masses == pytest.approx(np.array([4.0, 2.0, 0.5, 0.5]) / 7.0, rel=1e-9)
    best, steps = Candidate(columns, start).improved(40, 0.0)
    assert best.value == pytest.approx(root.value, rel=1e-9)
    assert steps < 40


@pytest.mark.parametrize("exponent", [0.5, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_em_never_raises_the_objective(seed: int, exponent: float) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    frame = Frame.of(Problem(random_gram(rng, n), float(rng.choice([0.1, 1.0, 3.0]))))
    candidate = candidate_of(frame, all_sets(n), rng.random(2**n - 2) + 1e-3)
    place = candidate.place
    values = [place.value]
    for _ in range(15):
        place = em_step(frame, candidate.columns.features, place, exponent)
        values.append(place.value)
        assert np.abs(place.masses @ candidate.columns.features[0]).max() < 1e-11
    assert np.all(np.diff(values) <= 1e-12 * values[0])
    assert values[-1] < 0.999 * values[0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_quasi_newton_beats_em(dtype: type[np.floating]) -> None:
    """Twenty steps are better than sixty of EM, and never go up."""
    problem = Problem(create("prefix", 24).centred_gram(), 1.0)
    frame = Frame.of(problem)
    sets = copula.sample(frame, target_blocks(problem, frame), 1.0, 200, np.random.default_rng(1))
    columns = Columns.of(frame, frame.canonical(sets), dtype)
    place = columns.place(np.ones(len(columns)))
    assert place is not None
    fast = Candidate(columns, place)
    values = [fast.value]
    for _ in range(4):
        fast, _ = fast.improved(5, 0.0)
        values.append(fast.value)
    assert np.all(np.diff(values) <= 0.0)
    slow = place
    for _ in range(60 if dtype is np.float64 else 0):
        slow = em_step(frame, columns.features, slow)
    assert fast.value <= slow.value


# Sets ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_prior", [False, True])
def test_climbing_ends_at_local_summits_with_the_right_excess(with_prior: bool) -> None:
    rng = np.random.default_rng(3)
    n = 6
    prior = rng.dirichlet(np.ones(n)) if with_prior else None
    frame = Frame.of(Problem(random_gram(rng, n), 1.0, prior))
    some = candidate_of(frame, np.concatenate([np.eye(n, dtype=bool), ~np.eye(n, dtype=bool)]))
    every = Columns.of(frame, all_sets(n), np.float64)
    half, mu = some.place.halves[0], some.place.multipliers
    U = every.features[0]
    excess = (np.sum((U @ half) ** 2, axis=1) - U @ mu) / some.value - 1.0
    known = {S.tobytes(): e for S, e in zip(every.supports, excess, strict=True)}
    found, score = pricing.climb(frame, some.place, all_sets(n), 100)
    assert score == pytest.approx([known[S.tobytes()] for S in found], rel=1e-9, abs=1e-9)
    for S, e in zip(found, score, strict=True):
        for u in range(n):
            T = S.copy()
            T[u] = not T[u]
            assert known.get(T.tobytes(), -np.inf) <= e + 1e-9
    assert score.max() == pytest.approx(excess.max(), rel=1e-9)


def test_climbing_flips_at_most_as_often_as_told() -> None:
    rng = np.random.default_rng(3)
    frame = Frame.of(Problem(random_gram(rng, 12), 1.0))
    some = candidate_of(frame, np.concatenate([np.eye(12, dtype=bool), ~np.eye(12, dtype=bool)]))
    S = rng.random((30, 12)) < 0.4
    for flips in (0, 1, 3):
        found, _ = pricing.climb(frame, some.place, S, flips)
        assert (found != S).sum(axis=1).max() <= flips


def test_copula_sets_have_the_density_and_the_correlations_asked_for() -> None:
    n, epsilon = 9, 1.0
    problem = Problem(create("histogram", n).centred_gram(), epsilon)
    frame = Frame.of(problem)
    distance = np.abs(np.arange(n)[:, None] - np.arange(n))
    target = 0.7**distance
    S = copula.sample(frame, block_matrices(target, frame.symmetric), epsilon, 60000, np.random.default_rng(0))
    beta = 1.0 / (math.e + 1.0)
    assert S.mean(axis=0) == pytest.approx(np.full(n, beta), abs=0.01)
    assert np.corrcoef(S.T) == pytest.approx(target, abs=0.03)


def test_peeling_returns_the_strategy_itself() -> None:
    rng = np.random.default_rng(6)
    n, epsilon = 7, 1.2
    Q = rng.uniform(1.0, math.exp(epsilon), size=(20, n))
    Q /= Q.sum(axis=0)
    Q = 0.5 * Q + 0.5 / 20
    S, theta = peeling.staircase_rows(Q, math.expm1(epsilon))
    sums = theta @ plain_rows(S, epsilon)
    assert np.ptp(sums) < 1e-12
    constant = 1.0 - sums[0]
    assert constant > 0.0
    # Splitting rows does not make X smaller.
    V = plain_rows(S, epsilon)
    X = (V.T * (theta / V.sum(axis=1))) @ V + constant / n
    Y = (Q.T / Q.sum(axis=1)) @ Q
    assert np.linalg.eigvalsh(X - Y).min() > -1e-12


@pytest.mark.parametrize(
    "Q",
    [np.full((2, 3), 0.4), np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[1.1, 0.5], [-0.1, 0.5]])],
    ids=["columns", "ratio", "negative"],
)
def test_starts_that_are_no_strategies_are_refused(Q: FloatArray) -> None:
    with pytest.raises(BadValue):
        peeling.staircase_rows(Q, math.expm1(1.0))


def test_pruning_keeps_the_budget_and_a_strategy() -> None:
    rng = np.random.default_rng(1)
    problem = Problem(create("prefix", 16).centred_gram(), 1.0)
    frame = Frame.of(problem)
    sets = copula.sample(frame, target_blocks(problem, frame), 1.0, 300, rng)
    wide, _ = candidate_of(frame, sets).improved(50, 0.0)
    before = wide.value
    for rows in (128, 64, 33, 17):
        narrow, _ = prune(wide, rows, 10, 1e-9, 0.75)
        assert narrow.columns.rows <= rows
        assert np.abs(narrow.place.masses @ narrow.columns.features[0]).max() < 1e-11
        assert narrow.value >= before * (1.0 - 1e-3)
        before = narrow.value


# The solver ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(("n", "epsilon"), [(3, 1.0), (4, 0.1), (5, 1.0), (5, 4.0)])
def test_reaches_the_exact_optimum(n: int, epsilon: float, symmetric: bool) -> None:
    rng = np.random.default_rng(10 * n)
    C = random_gram(rng, n)
    C = reflected(C) if symmetric else C
    answer = search.solve(Problem(C, epsilon), rng, options=TIGHT)
    check_feasible(answer, n, epsilon)
    assert answer.objective == pytest.approx(reference(C, epsilon), rel=2e-6)


@pytest.mark.parametrize("zero", [False, True])
def test_reaches_the_exact_optimum_under_a_prior(zero: bool) -> None:
    rng = np.random.default_rng(9)
    C, x = random_gram(rng, 4), rng.dirichlet(np.ones(4))
    if zero:
        x = np.array([0.5, 0.3, 0.2, 0.0])
    answer = search.solve(Problem(C, 1.0, x), rng, options=TIGHT)
    check_feasible(answer, 4, 1.0)
    assert answer.objective == pytest.approx(reference(C, 1.0, x), rel=2e-6)


def test_pricing_finds_the_optimum_that_enumeration_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """From sampled sets, n = 7: the same optimum as over all 126 sets."""
    C = create("prefix", 7).centred_gram()
    problem = Problem(C, 1.0)
    every = search.solve(problem, np.random.default_rng(0), options=TIGHT)
    monkeypatch.setattr(search, "EVERY_SET", 2)
    priced = search.solve(problem, np.random.default_rng(0), options=TIGHT)
    assert priced.objective == pytest.approx(every.objective, rel=1e-5)


WORKLOADS = [("prefix", 32), ("all-ranges", 21), ("all-marginals", 32), ("3-way-marginals", 32), ("histogram", 24)]


@pytest.mark.parametrize(("name", "n"), [*WORKLOADS, ("at-most-3-way-parities", 32)])
@pytest.mark.parametrize("epsilon", every(2, [0.001, 1.0, 8.0]))
def test_the_objective_is_what_the_strategy_has(name: str, n: int, epsilon: float) -> None:
    C = create(name, n).centred_gram()
    answer = search.solve(Problem(C, epsilon), np.random.default_rng(0), options=replace(STANDARD, rounds=3))
    check_feasible(answer, n, epsilon)
    assert len(answer.weights) <= 16 * n
    strategy = StrategyMatrix(rows_of(answer, epsilon), epsilon)
    evaluation = strategy.evaluate(C)
    assert n * evaluation.average + float(np.trace(C)) == pytest.approx(answer.objective, rel=1e-7)


@pytest.mark.parametrize(
    ("name", "n", "epsilon", "ratio"),
    every_pair(3, [("prefix", 64, 1.0, 1.004), ("all-ranges", 64, 0.5, 1.004), ("all-marginals", 64, 2.0, 1.006)]),
)
def test_comes_near_the_certified_bound(name: str, n: int, epsilon: float, ratio: float) -> None:
    workload = create(name, n)
    bound = certified(workload, epsilon)
    answer = search.solve(
        Problem(workload.centred_gram(), epsilon), np.random.default_rng(0), options=STANDARD, lower_bound=bound
    )
    constant = workload.total_squared() / n
    assert 1.0 - 1e-9 <= (answer.objective + constant) / (bound + constant) <= ratio


def certified(workload: Workload, epsilon: float) -> float:
    """The parametric bound on tr(X_c⁺C)."""
    C = workload.centred_gram()
    return workload.domain_size * parametric(workload, epsilon) + float(np.trace(C))


def test_few_rows() -> None:
    workload = create("prefix", 32)
    bound, C = certified(workload, 1.0), workload.centred_gram()
    answer = search.solve(
        Problem(C, 1.0), np.random.default_rng(0), options=replace(BEST, rows=128, rounds=30), lower_bound=bound
    )
    assert len(answer.weights) <= 128
    assert answer.objective <= 1.03 * bound


@pytest.mark.parametrize("rows", [17, 64, 400])
@pytest.mark.parametrize("name", ["randomized-response", "subset-selection", "hadamard", "hierarchical"])
def test_never_worse_than_a_start(name: str, rows: int) -> None:
    """At ε = 5 the competitors are good, and one round of the search is not enough to match them by chance."""
    workload, epsilon = create("prefix", 16), 5.0
    C = workload.centred_gram()
    strategy = mechanisms.build(name, 16, epsilon)
    assert isinstance(strategy, StrategyMatrix)
    start = strategy.objective(C, 0.0)
    options = replace(STANDARD, rows=rows, rounds=0, polish=0)
    answer = search.solve(Problem(C, epsilon), np.random.default_rng(0), options=options, starts=[strategy.matrix])
    check_feasible(answer, 16, epsilon)
    assert answer.objective <= start * (1.0 + 1e-12)
    assert len(answer.weights) <= rows or answer.details["over_budget"]


def test_never_worse_than_a_start_that_was_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start whose level sets were too many to join the columns still counts, and is split where it wins."""
    monkeypatch.setattr(search, "SPLIT_LIMIT", 0)
    C = create("prefix", 16).centred_gram()
    good = search.solve(Problem(C, 1.0), np.random.default_rng(0), options=STANDARD)
    Q = good.weights[:, None] * plain_rows(good.supports, 1.0)
    Q /= Q.sum(axis=0)
    options = replace(STANDARD, rows=17, rounds=0, polish=0)
    answer = search.solve(Problem(C, 1.0), np.random.default_rng(1), options=options, starts=[Q])
    assert answer.objective <= good.objective * (1.0 + 1e-12)
    assert answer.details["over_budget"]
    alone = search.solve(Problem(C, 1.0), np.random.default_rng(1), options=options)
    assert alone.objective > 1.2 * good.objective
    assert len(alone.weights) <= 17


def test_a_start_for_another_domain_is_refused() -> None:
    with pytest.raises(BadValue, match="domain"):
        search.solve(
            Problem(create("prefix", 4).centred_gram(), 1.0), np.random.default_rng(0), starts=[np.full((2, 5), 0.5)]
        )


def test_constant_starts_and_useless_ones_do_no_harm() -> None:
    C = create("prefix", 12).centred_gram()
    half = np.where(np.arange(12) < 6, 0.7, 0.3)
    starts = [np.full((3, 12), 1.0 / 3.0), np.stack([half, 1.0 - half])]
    with_them = search.solve(Problem(C, 1.0), np.random.default_rng(0), starts=starts)
    without = search.solve(Problem(C, 1.0), np.random.default_rng(0))
    assert with_them.objective == pytest.approx(without.objective, rel=5e-3)


def test_stops_at_the_gap_asked_for() -> None:
    workload = create("prefix", 32)
    bound = certified(workload, 1.0)
    seen: list[Step] = []
    answer = search.solve(
        Problem(workload.centred_gram(), 1.0),
        np.random.default_rng(0),
        options=replace(STANDARD, gap=0.02),
        lower_bound=bound,
        report=seen.append,
    )
    assert answer.stopped == "gap"
    assert answer.gap <= 0.02
    assert [step.iteration for step in seen] == list(range(1, len(seen) + 1))
    assert all(step.objective >= bound for step in seen)


def test_says_when_the_rounds_are_used_up() -> None:
    C = create("prefix", 32).centred_gram()
    answer = search.solve(Problem(C, 1.0), np.random.default_rng(0), options=replace(STANDARD, rounds=1))
    assert answer.stopped == "iteration_limit"
    assert answer.details["rounds"] == 1


@pytest.mark.slow
def test_equal_seeds_give_equal_strategies() -> None:
    problem = Problem(create("prefix", 80).centred_gram(), 1.0)
    one, two = (search.solve(problem, np.random.default_rng(7), options=STANDARD) for _ in range(2))
    assert np.array_equal(one.supports, two.supports)
    assert np.array_equal(one.weights, two.weights)
    assert one.objective == two.objective


# Degenerate workloads --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 12])
def test_nothing_is_asked(n: int) -> None:
    answer = search.solve(Problem(np.zeros((n, n)), 1.0), np.random.default_rng(0))
    assert answer.objective == 0.0
    assert answer.weights @ plain_rows(answer.supports, 1.0) == pytest.approx(np.ones(n))


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
def test_two_types_are_randomized_response(epsilon: float) -> None:
    C = np.array([[0.5, -0.5], [-0.5, 0.5]])
    answer = search.solve(Problem(C, epsilon), np.random.default_rng(0))
    check_feasible(answer, 2, epsilon)
    assert answer.objective == pytest.approx(1.0 / math.tanh(epsilon / 2) ** 2, rel=1e-9)


@pytest.mark.parametrize("n", [3, 9, 20])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_one_boolean_query_is_randomized_response_on_its_answer(n: int, epsilon: float) -> None:
    k = n // 2
    w = (np.arange(n) < k).astype(float)
    z = w - w.mean()
    answer = search.solve(Problem(np.outer(z, z), epsilon), np.random.default_rng(0), options=TIGHT)
    check_feasible(answer, n, epsilon)
    # Randomized response on one bit, of either kind: n²⟨variance⟩ of an unbiased estimate of the count.
    flip = 1.0 / (1.0 + math.exp(epsilon))
    Q = np.where(np.stack([w, 1.0 - w]) > 0.5, 1.0 - flip, flip)
    response = StrategyMatrix(Q * (1 - 1e-13), epsilon + 1e-12).objective(np.outer(z, z), 0.0)
    assert answer.objective <= response * (1.0 + 1e-6)


def test_equal_columns_cost_nothing() -> None:
    """Types that no query tells apart: the optimum of W with columns repeated, against the conic program."""
    W = np.array([[1.0, 1.0, 0.0, 0.0, 2.0], [0.0, 0.0, 1.0, 1.0, -1.0]])
    W -= W.mean(axis=1, keepdims=True)
    C = W.T @ W
    answer = search.solve(Problem(C, 1.0), np.random.default_rng(0), options=TIGHT)
    check_feasible(answer, 5, 1.0)
    assert answer.objective == pytest.approx(reference(C, 1.0), rel=1e-5)


def test_a_row_budget_below_the_rank_is_refused() -> None:
    C = create("prefix", 16).centred_gram()
    with pytest.raises(BadValue, match="rank"):
        search.solve(Problem(C, 1.0), np.random.default_rng(0), options=GeneralOptions(rows=15))
    answer = search.solve(Problem(C, 1.0), np.random.default_rng(0), options=GeneralOptions(rows=16))
    assert len(answer.weights) <= 16
    check_feasible(answer, 16, 1.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [("gap", -1.0), ("gap", math.nan), ("rounds", -1), ("rows", 1), ("effort", math.nan), ("patience", 0)],
)
def test_options_out_of_range_are_refused(name: str, value: float) -> None:
    with pytest.raises(BadValue, match=name):
        replace(STANDARD, **{name: value})


def test_more_rounds_are_played_while_the_variance_is_far_from_its_bound() -> None:
    workload = create("prefix", 48)
    C = workload.centred_gram()
    trace = float(np.trace(C))
    bound = 48 * pairwise(workload, 3.0) + trace
    found = {
        enough: search.solve(
            Problem(C, 3.0),
            np.random.default_rng(0),
            options=GeneralOptions(rounds=1, steps=1, enough=enough, more=30),
            lower_bound=bound,
        )
        for enough in (9.0, 0.02)
    }
    few, more = (found[enough].objective - trace for enough in (9.0, 0.02))
    assert found[9.0].details["rounds"] == 1
    assert found[0.02].details["rounds"] > 1
    assert few > 1.02 * (bound - trace)
    assert bound - trace <= more <= 1.02 * (bound - trace)
