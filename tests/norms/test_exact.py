"""γ₂, γ_F and γ₍ₚ₎: closed forms, invariances, rational re-checks of both ends, and an independent solver."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.norms import closed_forms
from factormech.norms.certificates import trace_bound
from factormech.norms.certified import CertifiedNorm
from factormech.norms.exact import factorization_norm
from factormech.norms.semidefinite import semidefinite_norm
from factormech.workloads.registry import create
from tests.norms import exactly, matrices

CASES = matrices.cases()
EXPONENTS = [2.0, 3.0, 8.0, math.inf]


def primal(norm: CertifiedNorm, p: float) -> float:
    """What the factors reach, computed plainly."""
    r = np.linalg.norm(norm.left.dense(), axis=1)
    size = r.max() if math.isinf(p) else r.max() * float(np.mean((r / r.max()) ** p)) ** (1 / p)
    return float(size * np.linalg.norm(norm.right.dense(), axis=0).max())


def holds(norm: CertifiedNorm, value: float, gap: float = 1e-6) -> bool:
    """The interval holds the value and is as narrow as asked."""
    return norm.lower <= value * (1 + 1e-15) and norm.upper >= value * (1 - 1e-15) and norm.gap <= gap


@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize("name", CASES)
def test_interval_factors_and_witness_agree(name: str, p: float) -> None:
    W = CASES[name]
    norm = factorization_norm(W, p)
    assert 0.0 < norm.lower <= norm.upper
    assert norm.gap <= 1e-6
    R, A = norm.left.dense(), norm.right.dense()
    assert float(np.abs(W - R @ A).max()) <= norm.residual <= 1e-8 * float(np.abs(W).max())
    assert primal(norm, p) == pytest.approx(norm.upper, rel=1e-8)
    scale = float(np.abs(W).max())
    assert np.sum(norm.witness["dual"] * (W / scale)) == pytest.approx(norm.lower / scale, rel=1e-11)
    assert norm.lower >= trace_bound(W, p) * (1 - 1e-6)


@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize("name", ["prefix", "ranges", "ranges, columns", "half-spaces", "zero lines", "rank 2"])
def test_methods_agree(name: str, p: float) -> None:
    """The barrier and the fixed point share the decomposition and nothing else."""
    W = CASES[name]
    barrier, fixed = factorization_norm(W, p, method="barrier"), factorization_norm(W, p, method="fixed-point")
    assert barrier.gap <= 1e-6
    assert barrier.lower <= fixed.upper
    assert fixed.lower <= barrier.upper


@pytest.mark.parametrize("p", [2.0, 4.0, math.inf])
@pytest.mark.parametrize("name", ["prefix", "ranges, columns", "half-spaces", "zero lines", "rank 2"])
def test_against_a_general_solver(name: str, p: float) -> None:
    norm, reference = factorization_norm(CASES[name], p), semidefinite_norm(CASES[name], p)
    assert reference.gap <= 1e-4
    assert norm.lower <= reference.upper
    assert reference.lower <= norm.upper


@pytest.mark.parametrize("name", ["prefix", "ranges", "random", "zero lines"])
def test_ends_hold_in_rational_arithmetic(name: str) -> None:
    """γ₂: the dual matrix and the factors prove both ends without a rounding."""
    W = CASES[name]
    norm = factorization_norm(W, gap=1e-8)
    rows, columns = W.any(axis=1), W.any(axis=0)
    proved = proved_lower(W[np.ix_(rows, columns)], norm, rows, columns)
    assert Fraction(norm.lower) <= proved * (1 + Fraction(1, 10**11))
    squared, with_residual = proved_upper_squared(W, norm)
    assert squared <= Fraction(norm.upper) ** 2
    assert with_residual <= Fraction(norm.upper) ** 2 * (1 + Fraction(1, 10**12))


def proved_lower(W: FloatArray, norm: CertifiedNorm, rows: FloatArray, columns: FloatArray) -> Fraction:
    """U has γ₂*(U) ≤ 1 + 1e-12, as weights of sum one make the bordered matrix positive; so γ₂ ≥ ⟨U, W⟩/(1 + 1e-12)."""
    U = exactly.exact(norm.witness["dual"][np.ix_(rows, columns)])
    w = [Fraction(float(x)) for x in norm.witness["row_weights"][rows]]
    q = [Fraction(float(x)) for x in norm.witness["column_weights"][columns]]
    slack = 1 + Fraction(1, 10**12)
    w, q = [x / sum(w) * slack for x in w], [x / sum(q) * slack for x in q]
    if not exactly.is_positive_definite(exactly.bordered(w, U, q)):
        return Fraction(-1)  # nothing is proved
    value = sum(u * x for us, xs in zip(U, exactly.exact(W), strict=True) for u, x in zip(us, xs, strict=True))
    return value / slack


def proved_upper_squared(W: FloatArray, norm: CertifiedNorm) -> tuple[Fraction, Fraction]:
    """What R and A reach, squared, and [R | τI][A; E/τ], which is W exactly; as rational numbers."""
    R, A = exactly.exact(norm.left.dense()), exactly.exact(norm.right.dense())
    RA = exactly.product(R, A)
    E = [[x - y for x, y in zip(xs, ys, strict=True)] for xs, ys in zip(exactly.exact(W), RA, strict=True)]
    r = max(sum(x * x for x in row) for row in R)
    a = [sum(x * x for x in column) for column in zip(*A, strict=True)]
    errors = [sum(x * x for x in column) for column in zip(*E, strict=True)]
    tau2 = Fraction(math.sqrt(float(max(errors) * r / max(a))) + 1e-300)
    return r * max(a), (r + tau2) * max(x + e / tau2 for x, e in zip(a, errors, strict=True))


@pytest.mark.parametrize("p", [2.0, math.inf])
def test_hadamard_lines(p: float) -> None:
    H = matrices.hadamard(16)
    for rows, columns in ((16, 16), (5, 16), (16, 3)):
        assert holds(factorization_norm(H[:rows, :columns], p), closed_forms.hadamard_lines(rows, columns))
    # Not whole lines: the formula is false there.
    assert factorization_norm(matrices.hadamard(8)[:5, :6]).upper < 2.18 < math.sqrt(5)
    assert holds(factorization_norm(np.eye(9), p), 1.0)


@pytest.mark.parametrize("n", [1, 2, 10, 33])
def test_thresholds_and_prefix_sums(n: int) -> None:
    assert holds(factorization_norm(matrices.sign_thresholds(n)), closed_forms.sign_thresholds(n))
    low, high = closed_forms.prefix_interval(n)
    norm = factorization_norm(matrices.prefix(n))
    assert low <= norm.upper
    assert norm.lower <= high
    assert trace_bound(matrices.prefix(n)) == pytest.approx(low, rel=1e-12)
    assert trace_bound(matrices.prefix(n)) <= low * (1 + 1e-15)
    assert (n + 1) / (2 * n) * closed_forms.sign_thresholds(n) <= low * (1 + 1e-15)


@pytest.mark.parametrize(("d", "w"), [(1, 1), (3, 1), (4, 2), (5, 5), (6, 2)])
def test_marginals(d: int, w: int) -> None:
    workload = create(f"at-most-{w}-way-marginals", 2**d)
    assert holds(factorization_norm(workload, 2.0), closed_forms.marginals_up_to_f(d, w))
    assert holds(factorization_norm(workload), closed_forms.marginals_up_to_gamma2(d, w), 2e-6)


@pytest.mark.parametrize(("d", "w"), [(4, 2), (5, 5)])
def test_parities(d: int, w: int) -> None:
    workload = create(f"at-most-{w}-way-parities", 2**d)
    for p in EXPONENTS:
        assert holds(factorization_norm(workload, p), closed_forms.hadamard_lines(workload.queries, 2**d))


@pytest.mark.parametrize("p", EXPONENTS)
def test_invariances(p: float) -> None:
    """Signs and orders of rows and columns change nothing; scaling scales; a copied column changes nothing."""
    W = CASES["random"]
    rng, base = np.random.default_rng(2), factorization_norm(W, p)
    changed = (rng.choice([-1.0, 1.0], (5, 1)) * W)[rng.permutation(5)][:, rng.permutation(7)]
    for other, factor in ((changed, 1.0), (-3.0 * W, 3.0), (np.hstack([W, W[:, :2]]), 1.0)):
        norm = factorization_norm(other, p)
        assert norm.lower <= factor * base.upper
        assert factor * base.lower <= norm.upper
    # A row of zeros counts in k alone.
    padded = factorization_norm(np.vstack([W, np.zeros((3, 7))]), p)
    shrunk = (5 / 8) ** (1 / p)
    assert padded.lower <= shrunk * base.upper
    assert shrunk * base.lower <= padded.upper


def test_nondecreasing_in_p_and_symmetric_at_infinity() -> None:
    W = CASES["ranges"]
    norms = [factorization_norm(W, p) for p in (2.0, 2.5, 4.0, 50.0, 1e4, math.inf)]
    for smaller, larger in itertools.pairwise(norms):
        assert smaller.lower <= larger.upper
        assert smaller.gap <= 1e-6
    assert factorization_norm(W.T.copy()).lower == pytest.approx(norms[-1].lower, rel=2e-6)
    assert norms[0].upper < norms[2].lower < norms[-1].lower


@pytest.mark.parametrize("name", ["all-ranges", "parities-01", "2-way-marginals"])
def test_from_the_gram_matrix(name: str) -> None:
    workload = create(name, 16)
    norm, dense = factorization_norm(workload, 2.0), factorization_norm(workload.matrix(), 2.0)
    assert norm.gap <= 1e-6
    assert norm.lower <= dense.upper
    assert dense.lower <= norm.upper
    W, R, A = workload.matrix(), norm.left.dense(), norm.right.dense()
    assert float(np.abs(W - R @ A).max()) <= norm.residual
    x, y = np.arange(1.0, R.shape[1] + 1), np.arange(1.0, len(R) + 1)
    np.testing.assert_allclose(norm.left.apply(x[:, None])[:, 0], R @ x, atol=1e-9)
    np.testing.assert_allclose(norm.left.apply_transposed(y[:, None])[:, 0], R.T @ y, rtol=1e-8, atol=1e-8)


def test_more_queries_than_fit() -> None:
    """All ranges over 256 values, 32 896 queries: γ_F from the Gram matrix, with the answer of W x."""
    workload = create("all-ranges", 256)
    norm = factorization_norm(workload, 2.0)
    assert "Gram" in str(norm.record["method"])
    assert norm.gap <= 1e-6
    x = np.arange(256.0)[:, None]
    np.testing.assert_allclose(norm.left.apply(norm.right.apply(x)), workload.answer(x), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("method", ["auto", "fixed-point", "barrier"])
def test_early_stop_is_wide_and_valid(method: str) -> None:
    W = matrices.ranges(8)
    best, early = factorization_norm(W), factorization_norm(W, method=method, iterations=2)
    assert early.record["stopped"] == "iteration_limit"
    assert early.gap > 1e-3
    assert early.lower <= best.lower
    assert early.upper >= best.upper


def test_deterministic() -> None:
    a, b = (factorization_norm(matrices.ranges(8)) for _ in range(2))
    assert (a.lower, a.upper) == (b.lower, b.upper)
    np.testing.assert_array_equal(a.left.dense(), b.left.dense())


def test_zero_and_bad_input() -> None:
    zero = factorization_norm(np.zeros((3, 2)))
    assert (zero.lower, zero.upper, zero.gap) == (0.0, 0.0, 0.0)
    np.testing.assert_array_equal(zero.left.dense() @ zero.right.dense(), np.zeros((3, 2)))
    for p in (1.9, math.nan, -math.inf, "2", True):
        with pytest.raises(BadValue, match="p = "):
            factorization_norm(np.eye(2), p)  # type: ignore[arg-type]
    for bad in (np.array([[math.inf]]), np.array([[math.nan, 1.0]]), np.zeros((0, 2)), np.ones(4), [[1j]]):
        with pytest.raises(BadValue):
            factorization_norm(bad)
    with pytest.raises(BadValue, match="orders of magnitude"):
        factorization_norm(np.array([[1e300, 3e-310]]))
    for options in ({"gap": -1.0}, {"iterations": 0}, {"method": "newton"}):
        with pytest.raises(BadValue):
            factorization_norm(np.eye(2), **options)  # type: ignore[arg-type]


def test_what_does_not_fit_is_refused_with_the_way_out() -> None:
    with pytest.raises(BadValue, match="fit in"):
        factorization_norm(create("all-ranges", 4096))
    with pytest.raises(BadValue, match="fixed-point"):
        factorization_norm(np.ones((30_000, 1)), method="barrier")


@pytest.mark.slow
def test_targets() -> None:
    """Gap 1e-6 where the paper's figures need it."""
    rng = np.random.default_rng(0)
    assert factorization_norm(matrices.ranges(64)).gap <= 1e-6
    assert factorization_norm(matrices.halfspaces(4)).gap <= 1e-6
    for W in (matrices.prefix(1024), rng.choice([-1.0, 1.0], (1024, 1024))):
        assert factorization_norm(W).gap <= 1e-6
