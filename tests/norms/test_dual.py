"""γ₂*: closed forms, duality with γ₂, and ends that hold in rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.norms.certificates import dual_norm, lower_bound, upper_bound
from factormech.norms.exact import factorization_norm
from tests.norms import exactly, matrices

CASES = matrices.cases()


@pytest.mark.parametrize("n", [1, 4, 17])
def test_closed_forms(n: int) -> None:
    """Identity: n. Rank one: ‖u‖₁‖v‖₁. Orthogonal Hadamard: n√n. All are attained, so the gap is rounding."""
    u, v = np.arange(1.0, n + 1), np.linspace(-1.0, 2.0, n + 2)
    for U, value in ((np.eye(n), n), (np.outer(u, v), float(u.sum() * np.abs(v).sum()))):
        found = dual_norm(U, gap=1e-12)
        assert found.lower <= value * (1 + 1e-15)
        assert found.upper >= value * (1 - 1e-15)
        assert found.gap < 1e-12
    H = dual_norm(matrices.hadamard(16), gap=1e-9)
    assert H.lower <= 64.0 <= H.upper


@pytest.mark.parametrize("name", CASES)
def test_witnesses_prove_the_ends(name: str) -> None:
    U = CASES[name]
    found = dual_norm(U, gap=1e-7)
    assert 0.0 < found.lower <= found.upper
    assert found.gap <= 1e-7
    X, Y = found.left_vectors, found.right_vectors
    assert max(np.linalg.norm(X, axis=1).max(), np.linalg.norm(Y, axis=1).max()) <= 1 + 1e-14
    assert np.sum(U * (X @ Y.T)) == pytest.approx(found.lower, rel=1e-11)
    core = found.core(U)
    np.testing.assert_allclose(found.row_scales[:, None] * core * found.column_scales, U, rtol=1e-14)
    assert np.sum(found.row_scales**2) == pytest.approx(1.0)
    assert np.linalg.norm(core, 2) == pytest.approx(found.upper, rel=1e-11)


def test_upper_end_in_rational_arithmetic() -> None:
    """((D_a, U), (Uᵀ, D_b)) ≻ 0 with Σa = Σb proves γ₂* ≤ Σa; the certified end is just above such a sum."""
    U = CASES["random"]
    found = dual_norm(U, gap=1e-8)
    weights = [[Fraction(float(x)) ** 2 for x in d] for d in (found.row_scales, found.column_scales)]
    a, b = ([x / sum(d) * Fraction(found.upper) for x in d] for d in weights)
    assert exactly.is_positive_definite(exactly.bordered(a, exactly.exact(U), b))
    short = Fraction(1) - Fraction(1, 10**7)
    a, b = ([x * short for x in d] for d in (a, b))
    assert not exactly.is_positive_definite(exactly.bordered(a, exactly.exact(U), b))


def test_lower_end_in_rational_arithmetic() -> None:
    U = CASES["random"]
    found = dual_norm(U)
    X, Y = exactly.exact(found.left_vectors), exactly.exact(found.right_vectors)
    value = sum(
        u * z
        for us, zs in zip(exactly.exact(U), exactly.product(X, [list(c) for c in zip(*Y, strict=True)]), strict=True)
        for u, z in zip(us, zs, strict=True)
    )
    sizes = max(sum(x * x for x in row) for row in X) * max(sum(y * y for y in row) for row in Y)
    assert value > 0
    assert Fraction(found.lower) ** 2 * sizes <= value**2
    assert found.lower >= float(value) * (1 - 1e-12)


@pytest.mark.parametrize("name", ["prefix", "ranges", "random", "rank 2"])
def test_duality_with_gamma_2(name: str) -> None:
    """⟨U, W⟩ ≤ γ₂*(U)γ₂(W) for any U, with equality at γ₂'s own witness."""
    W = CASES[name]
    norm = factorization_norm(W, gap=1e-8)
    witness = norm.witness["dual"]
    assert dual_norm(witness, gap=1e-5, iterations=20_000).lower <= 1.0 + 1e-12
    assert upper_bound(witness, norm.witness["row_weights"], norm.witness["column_weights"]) >= 1.0 - 1e-9
    U = np.random.default_rng(3).standard_normal(W.shape)
    assert abs(float(np.sum(U * W))) <= dual_norm(U).upper * norm.upper


def test_any_vectors_and_weights_are_bounds() -> None:
    rng = np.random.default_rng(5)
    U = rng.standard_normal((8, 6))
    best = dual_norm(U, gap=1e-9)
    for _ in range(20):
        assert lower_bound(U, rng.standard_normal((8, 3)), rng.standard_normal((6, 3))) <= best.upper
        assert upper_bound(U, rng.exponential(size=8), rng.exponential(size=6)) >= best.lower


def test_early_stop_and_warm_start() -> None:
    U = np.sign(np.random.default_rng(1).standard_normal((60, 50)))
    early, best = dual_norm(U, iterations=3), dual_norm(U)
    assert early.record["stopped"] == "iteration_limit"
    assert early.lower <= best.upper
    assert early.upper >= best.lower
    assert early.gap > best.gap
    warm = dual_norm(U, start=best.right_vectors)
    assert int(str(warm.record["iterations"])) < int(str(best.record["iterations"]))


def test_zero_and_bad_input() -> None:
    zero = dual_norm(np.zeros((3, 2)))
    assert (zero.lower, zero.upper, zero.gap) == (0.0, 0.0, 0.0)
    for bad in (np.array([[math.nan]]), np.zeros((0, 3)), np.zeros(3), np.array([["a"]])):
        with pytest.raises(BadValue):
            dual_norm(bad)
    for options in ({"gap": 0.0}, {"iterations": 0}, {"start": np.ones((5, 2))}):
        with pytest.raises(BadValue):
            dual_norm(np.eye(3), **options)  # type: ignore[arg-type]
    with pytest.raises(BadValue):
        upper_bound(np.eye(2), np.array([1.0, 0.0]), np.ones(2))


def reference(U: FloatArray) -> float:
    """The semidefinite program by a general solver."""
    import cvxpy as cp

    k, N = U.shape
    G = cp.Variable((k + N, k + N), symmetric=True)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(U, G[:k, k:]))), [G >> 0, cp.diag(G) == 1])
    return float(problem.solve(solver="CLARABEL"))


@pytest.mark.parametrize("name", ["ranges", "random", "rank 2"])
def test_against_a_general_solver(name: str) -> None:
    found = dual_norm(CASES[name])
    assert reference(CASES[name]) == pytest.approx(found.lower, rel=3e-6)


def test_momentum_pays() -> None:
    """Differences of neighbours: plain alternation is at a gap of 1e-4 after a thousand iterations."""
    found = dual_norm(np.eye(256) - np.eye(256, k=1), iterations=1000)
    assert found.gap <= 1e-6
    assert found.lower <= 511.0 <= found.upper
