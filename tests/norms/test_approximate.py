"""γ₂(W, α), γ̂₂, η, mc: closed forms, rational re-checks of both ends, an independent solver, inequalities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.norms import approximate, involutions, known, splitting
from factormech.norms.approximate import approximate_norm, eta_norm, margin_complexity, solve
from factormech.norms.boxes import Boxes, around, difference_matrix, of_eta, of_margin, reduce
from factormech.norms.certificates import dual_norm
from factormech.norms.certified import CertifiedNorm
from factormech.norms.exact import factorization_norm
from factormech.numerics.vectors import level
from tests.norms import exactly, matrices

pytestmark = pytest.mark.heavy

RNG = np.random.default_rng(11)
SIGNS = np.sign(RNG.standard_normal((7, 6)))
NORMAL = RNG.standard_normal((6, 8))
TENTHS = RNG.integers(-9, 10, size=(5, 6)) / 10.0  # none of these, nor alpha, is a double

PROBLEMS: dict[str, Boxes] = {
    "prefix": around(matrices.prefix(9), 0.1, shifted=False),
    "prefix, shifted": around(matrices.prefix(9), 0.1, shifted=True),
    "ranges": around(matrices.ranges(4), 0.2, shifted=False),
    "ranges, shifted": around(matrices.ranges(4), 0.2, shifted=True),
    "normal": around(NORMAL, 0.3, shifted=False),
    "normal, shifted": around(NORMAL, 0.3, shifted=True),
    "equality, shifted": around(NORMAL, 0.0, shifted=True),
    "tenths, shifted": around(TENTHS, 0.1, shifted=True),
    "margin": of_margin(SIGNS),
    "margin of half-spaces": of_margin(matrices.halfspaces(2)),
    "eta": of_eta(SIGNS, 0.1),
    "eta, equality": of_eta(SIGNS, 0.0),
    "eta of half-spaces": of_eta(matrices.halfspaces(2), 0.3),
}


def holds(norm: CertifiedNorm, value: float, gap: float = 1e-5) -> bool:
    """The interval holds the value (to its rounding) and is as narrow as asked."""
    return norm.lower <= value * (1 + 1e-14) and norm.upper >= value * (1 - 1e-14) and norm.gap <= gap


# Closed forms ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.45])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_identity(n: int, alpha: float) -> None:
    assert holds(approximate_norm(np.eye(n), alpha, gap=1e-6), known.approximate_identity(n, alpha))
    value, shifted = (
        known.approximate_identity(n, alpha, shifted=True),
        approximate_norm(np.eye(n), alpha, shifted=True),
    )
    assert holds(shifted, value, 1e-3 if value else math.inf)
    assert shifted.upper <= value * (1 + 1e-3) + 1e-14


@pytest.mark.parametrize("alpha", [0.1, 0.7])
def test_parities(alpha: float) -> None:
    """Those of weight at most 2 over 3 bits, with and without the constant one."""
    H = matrices.hadamard(8)[[0, 1, 2, 4, 3, 5, 6]]
    assert holds(approximate_norm(H, alpha), known.approximate_parities(7, alpha))
    assert holds(approximate_norm(H, alpha, shifted=True), known.approximate_parities(7, alpha, shifted=True))
    value = known.approximate_parities(6, alpha, shifted=True, constant=False)
    assert holds(approximate_norm(H[1:], alpha, shifted=True), value)
    assert holds(margin_complexity(H), known.approximate_parities(7, 0.0))
    assert holds(eta_norm(H, alpha), 0.5 * known.approximate_parities(7, alpha))


@pytest.mark.parametrize("n", [3, 24])
def test_sign_thresholds(n: int) -> None:
    W = matrices.sign_thresholds(n)
    assert holds(approximate_norm(W, 0.2), known.approximate_sign_thresholds(n, 0.2))
    assert holds(margin_complexity(W), known.approximate_sign_thresholds(n, 0.0))
    assert holds(eta_norm(W, 0.2), 0.5 * known.approximate_sign_thresholds(n, 0.2))


def test_closed_forms_need_no_steps() -> None:
    """(1 − α)W and γ₂'s dual matrix are the start: the first look proves them."""
    for norm in (approximate_norm(matrices.sign_thresholds(40), 0.1), eta_norm(matrices.hadamard(16), 0.1)):
        assert norm.record["iterations"] == 1
        assert norm.gap < 1e-9


def test_against_published_values() -> None:
    """γ₂(W, .1) of 128 prefix sums is in [1.94236, 1.94254]; γ̂₂(W, 0) of 8 thresholds is 1.940."""
    norm = approximate_norm(matrices.prefix(128), 0.1)
    assert norm.gap <= 1e-3
    assert norm.lower <= 1.94254
    assert norm.upper >= 1.94236
    shifted = approximate_norm(matrices.sign_thresholds(8), 0.0, shifted=True)
    assert shifted.lower == pytest.approx(1.940, abs=2e-3)


# Both ends -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROBLEMS)
def test_interval_factors_and_witness_agree(name: str) -> None:
    boxes = PROBLEMS[name]
    norm = solve(boxes, gap=1e-4)
    assert 0.0 < norm.lower <= norm.upper
    assert norm.gap <= 1e-4
    R, A, c, U = norm.left.dense(), norm.right.dense(), norm.witness["shift"], norm.witness["dual"]
    inside = R @ A - c[:, None]
    assert max((boxes.low - inside).max(), (inside - boxes.high).max()) <= norm.residual <= 1e-10
    assert np.linalg.norm(R, axis=1).max() * np.linalg.norm(A, axis=0).max() == pytest.approx(norm.upper, rel=1e-9)
    assert boxes.shifted or not c.any()
    assert not U[np.isneginf(boxes.low)].clip(min=0.0).any()
    assert not U[np.isposinf(boxes.high)].clip(max=0.0).any()
    assert dual_norm(U).lower <= 1.0 + 1e-9
    ends = np.where(U > 0.0, boxes.low, np.where(U < 0.0, boxes.high, 0.0))
    assert np.sum(ends * U) == pytest.approx(norm.lower, rel=1e-9)


def exact_bounds(name: str) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """L and H as they are meant, without the rounding of W ± α."""
    W, alpha = {"normal": (NORMAL, 0.3), "tenths, shifted": (TENTHS, 0.1)}[name]
    signs = (-Fraction(alpha), Fraction(alpha))
    low, high = ([[x + s for x in row] for row in exactly.exact(W)] for s in signs)
    return low, high


@pytest.mark.parametrize("name", ["normal", "tenths, shifted"])
def test_lower_end_in_rational_arithmetic(name: str) -> None:
    """An exactly feasible U, its exact numerator, and weights that prove its γ₂* without a rounding."""
    low, high = exact_bounds(name)
    norm = solve(PROBLEMS[name], gap=1e-6)
    matrix = norm.witness["dual"]
    U = exactly.exact(matrix)
    if PROBLEMS[name].shifted:
        assert [sum(row) for row in U] == [0] * len(U)
    numerator = sum(
        u * (low_end if u > 0 else high_end)
        for us, ls, hs in zip(U, low, high, strict=True)
        for u, low_end, high_end in zip(us, ls, hs, strict=True)
    )
    found = dual_norm(matrix, gap=1e-8)
    rows, columns = matrix.any(axis=1), matrix.any(axis=0)
    U = exactly.exact(matrix[np.ix_(rows, columns)])
    scales = found.row_scales[rows], found.column_scales[columns]
    weights = [[Fraction(float(x)) ** 2 for x in d] for d in scales]
    a, b = ([x / sum(d) * Fraction(found.upper) for x in d] for d in weights)
    assert exactly.is_positive_definite(exactly.bordered(a, U, b))
    assert Fraction(norm.lower) * Fraction(found.upper) <= numerator * (1 + Fraction(1, 10**7))
    assert Fraction(norm.lower) >= numerator / Fraction(found.upper) * (1 - Fraction(1, 10**6))


@pytest.mark.parametrize("name", ["normal", "tenths, shifted"])
def test_upper_end_in_rational_arithmetic(name: str) -> None:
    """R, A and the exact distance of RA − c1ᵀ from the boxes that are meant, absorbed by τ."""
    low, high = exact_bounds(name)
    norm = solve(PROBLEMS[name], gap=1e-6)
    R, A = exactly.exact(norm.left.dense()), exactly.exact(norm.right.dense())
    shift = [Fraction(float(x)) for x in norm.witness["shift"]]
    E = [
        [max(below - (p - c), (p - c) - above, Fraction(0)) for below, p, above in zip(ls, ps, hs, strict=True)]
        for ls, ps, hs, c in zip(low, exactly.product(R, A), high, shift, strict=True)
    ]
    assert max(max(row) for row in E) <= Fraction(norm.residual)
    rows = max(sum(x * x for x in row) for row in R)
    columns = [sum(x * x for x in column) for column in zip(*A, strict=True)]
    errors = [sum(e * e for e in column) for column in zip(*E, strict=True)]
    tau = Fraction(math.sqrt(max(errors) * rows / max(columns)))
    rows += tau
    size = max(a + (e / tau if tau else 0) for a, e in zip(columns, errors, strict=True))
    assert Fraction(norm.upper) ** 2 >= rows * size
    assert Fraction(norm.upper) ** 2 <= rows * size * (1 + Fraction(1, 10**9))


def test_upper_end_counts_what_lies_outside() -> None:
    """Factors of W itself, for boxes that W misses by d everywhere: E has rank one and size d."""
    W, d = matrices.prefix(5), 1e-3
    boxes = Boxes(W + d, W + d + 1.0, False)
    upper, residual = approximate.upper_end(boxes, W, np.eye(5), np.zeros(5))
    assert d <= residual <= d * (1 + 1e-9)
    # (r + τ²)(a + 5d²/τ²) at its best τ is (√r·√a + √5 d)².
    assert upper == pytest.approx(math.sqrt(5.0) * 1.0 + math.sqrt(5.0) * d, rel=1e-12)
    assert approximate.upper_end(boxes, W, np.eye(5), np.full(5, -2 * d))[1] == 0.0


def test_upper_end_knows_that_bounds_are_rounded() -> None:
    """A constant row at the rounded bound W + α lies outside the bound that is meant in half the cases."""
    missed = 0
    for w in np.arange(1, 60) / 10.0:
        boxes = around(np.array([[w]]), 0.1, shifted=True)
        upper, residual = approximate.upper_end(boxes, np.zeros((1, 0)), np.zeros((0, 1)), -boxes.high[0])
        outside = Fraction(float(boxes.high[0, 0])) - Fraction(float(w)) - Fraction(0.1)
        missed += outside > 0
        assert outside <= Fraction(residual) <= Fraction(1, 10**14)
        assert outside <= Fraction(upper)
    assert missed > 10


@pytest.mark.parametrize("name", ["prefix, shifted", "eta", "margin"])
def test_feasible_repairs_any_matrix(name: str) -> None:
    boxes = PROBLEMS[name]
    for scale in (1e-200, 1.0, 1e200):
        U = approximate.feasible(boxes, scale * np.random.default_rng(2).standard_normal(boxes.shape))
        assert not ((U > 0) & np.isneginf(boxes.low)).any()
        assert not ((U < 0) & np.isposinf(boxes.high)).any()
        if boxes.shifted:
            assert all(sum(map(Fraction, row)) == 0 for row in U.tolist())
            assert name != "prefix, shifted" or U.any()
    tilted = np.array([[1.0, 1.0, 1.0]])
    one_sided = Boxes(np.zeros((1, 3)), np.full((1, 3), math.inf), True)
    assert not approximate.feasible(one_sided, tilted).any()


def test_stopping_early_is_valid() -> None:
    for name in ("prefix, shifted", "eta", "normal"):
        best = solve(PROBLEMS[name], gap=1e-6)
        early = solve(PROBLEMS[name], iterations=3, gap=1e-9)
        assert early.record["stopped"] == "iteration_limit"
        assert early.gap > best.gap
        assert early.lower <= best.upper
        assert early.upper >= best.lower
        assert math.isfinite(early.upper)


@pytest.mark.parametrize("name", ["prefix", "ranges, shifted", "equality, shifted", "margin of half-spaces", "eta"])
@pytest.mark.parametrize("method", ["clarabel", "scs"])
def test_against_a_general_solver(name: str, method: str) -> None:
    norm, reference = solve(PROBLEMS[name], gap=1e-5), solve(PROBLEMS[name], method=method)
    assert reference.gap <= (1e-4 if method == "clarabel" else 1e-2)
    assert norm.gap <= 1e-5
    assert norm.lower <= reference.upper
    assert reference.lower <= norm.upper


# Properties ------------------------------------------------------------------------------------------------


def test_decreasing_and_convex_in_alpha() -> None:
    alphas = [0.0, 0.2, 0.4, 0.8]
    for shifted in (False, True):
        norms = [approximate_norm(NORMAL, alpha, shifted=shifted, gap=1e-5) for alpha in alphas]
        for first, second in itertools.pairwise(norms):
            assert second.upper < first.lower
        assert norms[1].lower <= 0.5 * (norms[0].upper + norms[2].upper)
        assert norms[2].lower <= 0.5 * (norms[0].upper + norms[3].upper)


def test_shift_is_free_and_helps() -> None:
    rows = np.random.default_rng(4).standard_normal((6, 1))
    first, second = (approximate_norm(W, 0.2, shifted=True, gap=1e-6) for W in (NORMAL, NORMAL + rows))
    assert first.lower <= second.upper
    assert second.lower <= first.upper
    assert first.upper < approximate_norm(NORMAL, 0.2).lower


@pytest.mark.parametrize("exponent", [-600, 600])
def test_scale(exponent: int) -> None:
    """A power of two scales everything without a rounding."""
    W, alpha = np.ldexp(NORMAL, exponent), math.ldexp(0.3, exponent)
    for shifted in (False, True):
        small, large = approximate_norm(NORMAL, 0.3, shifted=shifted), approximate_norm(W, alpha, shifted=shifted)
        assert large.upper == math.ldexp(small.upper, exponent)
        assert large.lower == math.ldexp(small.lower, exponent)
        np.testing.assert_array_equal(large.witness["shift"], np.ldexp(small.witness["shift"], exponent))


def test_scaling_and_sums() -> None:
    """γ₂(sW, sα) = sγ₂(W, α); γ₂(W, α) ≤ (1 − t)γ₂(W) + tγ₂(W, α/t); γ₂(V + W, α + β) ≤ γ₂(V, α) + γ₂(W, β)."""
    W, V = NORMAL[:, :6], SIGNS[:6]
    at = {alpha: approximate_norm(W, alpha) for alpha in (0.1, 0.2, 0.4)}
    triple = approximate_norm(3 * W, 0.6)
    assert triple.lower <= 3 * at[0.2].upper
    assert 3 * at[0.2].lower <= triple.upper
    assert at[0.2].lower <= 0.5 * factorization_norm(W).upper + 0.5 * at[0.4].upper
    for first, second in ((0.1, 0.1), (0.2, 0.4)):
        both = approximate_norm(W + V, first + second)
        assert both.lower <= at[first].upper + approximate_norm(V, second).upper


@pytest.mark.parametrize("shifted", [False, True])
def test_repeated_opposite_and_fitting_lines_cost_nothing(shifted: bool) -> None:
    W = np.vstack([NORMAL, -NORMAL[:2], NORMAL[3], np.full(8, 0.1)])
    W = np.hstack([W, W[:, :3], *([] if shifted else [-W[:, 4:5], np.full((10, 1), -0.05)])])
    norm, core = approximate_norm(W, 0.2, shifted=shifted), approximate_norm(NORMAL, 0.2, shifted=shifted)
    assert (norm.record["rows"], norm.record["columns"]) == (6, 8)
    assert (norm.lower, norm.record["iterations"]) == (core.lower, core.record["iterations"])
    # The upper end is proved anew for the whole, whose roundings are others.
    assert norm.upper == pytest.approx(core.upper, rel=1e-11)
    inside = norm.left.dense() @ norm.right.dense() - norm.witness["shift"][:, None]
    assert float(np.abs(inside - W).max()) <= 0.2 + norm.residual
    assert norm.residual <= 1e-10


def test_difference_matrix() -> None:
    """(c − c')/2 by pairs; γ₂(D_C, α) ≤ γ₂(W, α) ≤ 2γ₂(D_C, α/2) + 1, and equal for a class closed under negation."""
    C = SIGNS[:4]
    D = difference_matrix(C)
    assert D.shape == (16, 6)
    np.testing.assert_array_equal(D[1 * 4 + 3], (C[1] - C[3]) / 2)
    d, half, w = approximate_norm(D, 0.2), approximate_norm(D, 0.1), approximate_norm(C, 0.2)
    assert d.record["rows"] == 6
    assert d.lower <= w.upper
    assert w.lower <= 2 * half.upper + 1
    closed = np.vstack([C, -C])
    d, w = (approximate_norm(W, 0.2, gap=1e-5) for W in (difference_matrix(closed), closed))
    assert d.lower <= w.upper
    assert w.lower <= d.upper


@pytest.mark.parametrize("alpha", [0.0, 0.2, 0.6])
def test_margins_and_eta_are_sandwiched(alpha: float) -> None:
    """(1 − α)mc/2 ≤ η ≤ min((1 − α)γ₂(W, 0), (1 + α)γ₂(W, 2α/(1 + α)))/2; (1 − α)mc ≤ γ₂(W, α)."""
    for C in (SIGNS, matrices.halfspaces(2)):
        mc, eta = margin_complexity(C), eta_norm(C, alpha)
        assert (1 - alpha) * mc.lower <= 2 * eta.upper
        assert 2 * eta.lower <= (1 - alpha) * factorization_norm(C).upper
        assert 2 * eta.lower <= (1 + alpha) * approximate_norm(C, 2 * alpha / (1 + alpha)).upper
        assert (1 - alpha) * mc.lower <= approximate_norm(C, alpha).upper


def test_no_error_is_the_exact_norm() -> None:
    assert holds(approximate_norm(NORMAL, 0.0, gap=1e-6), factorization_norm(NORMAL, gap=1e-9).upper)
    # The splitting agrees where the boxes are points.
    assert holds(solve(around(NORMAL, 0.0, shifted=False), gap=1e-5), factorization_norm(NORMAL, gap=1e-9).upper)


def test_zero() -> None:
    for norm in (approximate_norm(NORMAL, 4.0), approximate_norm(np.zeros((2, 3)), 0.0), eta_norm(SIGNS, 1.5)):
        assert (norm.lower, norm.upper, norm.gap, norm.residual) == (0.0, 0.0, 0.0, 0.0)
    shifted = approximate_norm(np.outer([1.0, 5.0], np.ones(3)), 0.25, shifted=True)
    assert shifted.upper == 0.0
    np.testing.assert_array_equal(shifted.witness["shift"], [-1.0, -5.0])


def test_answers_repeat() -> None:
    first, second = (eta_norm(SIGNS, 0.1) for _ in range(2))
    assert (first.lower, first.upper) == (second.lower, second.upper)
    np.testing.assert_array_equal(first.left.dense(), second.left.dense())


def test_bad_input() -> None:
    for alpha in (-0.1, math.nan, math.inf, True, "a"):
        with pytest.raises(BadValue, match="alpha"):
            approximate_norm(NORMAL, alpha)  # type: ignore[arg-type]
        with pytest.raises(BadValue, match="alpha"):
            eta_norm(SIGNS, alpha)  # type: ignore[arg-type]
    for concepts in (np.zeros((2, 2)), np.eye(3), np.zeros((0, 3)), np.array([[math.nan]]), np.ones(3)):
        with pytest.raises(BadValue):
            margin_complexity(concepts)
        with pytest.raises(BadValue):
            difference_matrix(concepts)
    with pytest.raises(BadValue):
        approximate_norm(np.full((2, 2), 1.7e308), 1.7e308)
    with pytest.raises(BadValue):
        approximate_norm(np.array([[1e200, 1e-200]]), 0.0, shifted=True)
    for options in ({"gap": 0.0}, {"gap": math.nan}, {"iterations": 0}, {"method": "newton"}):
        with pytest.raises(BadValue):
            approximate_norm(NORMAL, 0.1, **options)  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="splitting"):
        approximate_norm(np.random.default_rng(0).standard_normal((120, 120)), 0.1, method="clarabel")


# Parts -----------------------------------------------------------------------------------------------------


def symmetric_cases() -> dict[str, tuple[FloatArray, bool]]:
    S = NORMAL[:, :6] + NORMAL[:, :6].T
    both = NORMAL + NORMAL[::-1, ::-1]
    return {
        "transpose": (S, False),
        "transpose, reversed": (S[:, ::-1].copy(), False),
        "reversal": (both, False),
        "reversal, negated": (NORMAL - NORMAL[::-1, ::-1], True),
        "rows reversed, negated": (np.vstack([NORMAL, 1.0 - NORMAL[::-1]]), True),
        "columns reversed, negated": (NORMAL - NORMAL[:, ::-1], True),
        "none": (NORMAL, False),
    }


@pytest.mark.parametrize("name", symmetric_cases())
def test_symmetry_is_found_and_changes_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    W, shifted = symmetric_cases()[name]
    norm = approximate_norm(W, 0.1, shifted=shifted, gap=1e-5)
    assert norm.gap <= 1e-5
    assert norm.record["symmetry"] == name
    k, N = reduce(around(W, 0.1, shifted=shifted)).boxes.shape
    monkeypatch.setattr(involutions, "find", lambda boxes: involutions.trivial(k + N))
    plain = approximate_norm(W, 0.1, shifted=shifted, gap=1e-5)
    assert plain.lower <= norm.upper
    assert norm.lower <= plain.upper


def test_blocks_keep_the_spectrum() -> None:
    W, _ = symmetric_cases()["columns reversed, negated"]
    T = involutions.find(around(W, 0.1, shifted=True))
    X = np.random.default_rng(1).standard_normal((14, 14))
    X = X + X.T
    image = np.concatenate([np.arange(6), 6 + np.arange(8)[::-1]])
    signs = np.repeat([1.0, -1.0], [6, 8])
    X = X + signs[:, None] * X[np.ix_(image, image)] * signs
    blocks = T.blocks(X)
    assert sorted(map(len, blocks)) == [4, 10]
    np.testing.assert_allclose(T.whole(blocks), X, atol=1e-13)
    F = T.columns(blocks)
    np.testing.assert_allclose(F @ F.T, X @ X, atol=1e-12)
    values = np.sort(np.concatenate([np.linalg.eigvalsh(block) for block in blocks]))
    np.testing.assert_allclose(values, np.linalg.eigvalsh(X), atol=1e-12)


def bit_cases() -> dict[str, tuple[FloatArray, bool, list[str]]]:
    """Workloads whose rows become each other, up to signs, when the columns are reordered; and what must be found."""
    ranges = np.array([[i <= x <= j for x in range(10)] for i in range(10) for j in range(i, 10)], dtype=float)
    types = np.arange(8)[:, None] >> np.arange(3) & 1
    pairs = [types[:, i] * types[:, j] for i in range(3) for j in range(i)]
    conjunctions = np.array([*types.T, *pairs, types.prod(axis=1)], dtype=float)
    two = [(i, j, a, b) for i, j in ((0, 1), (0, 2), (1, 2)) for a in (0, 1) for b in (0, 1)]
    every = np.array([(types[:, i] == a) & (types[:, j] == b) for i, j, a, b in two])
    parities = np.array([(-1.0) ** (types @ (m >> np.arange(3) & 1)) for m in range(7)])
    return {
        "ranges": (ranges, False, ["columns reversed"]),
        "centred ranges": (ranges, True, ["opposite rows", "columns reversed"]),
        "conjunctions": (conjunctions, False, ["bits 0 and 1 exchanged"]),
        "without the last type": (2.0 * conjunctions[:, :7] - 1.0, False, ["bits 0 and 1 exchanged"]),
        "marginals": (every.astype(float), False, ["columns reversed", "bit 0 turned", "bit 1 turned"]),
        "parities": (parities, True, ["columns reversed", "bit 0 turned", "bit 1 turned"]),
    }


@pytest.mark.parametrize("name", bit_cases())
def test_symmetries_of_columns_split_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every T found maps the boxes to themselves, the blocks keep the spectrum, and the norm is what it is without."""
    W, shifted, expected = bit_cases()[name]
    whole = around(W, 0.1, shifted=shifted)
    boxes = splitting._centred(reduce(whole).boxes)[0]
    found = list(involutions._of_columns(boxes))
    assert set(expected) <= {T.name for T in found}
    k, N = boxes.shape
    V = np.random.default_rng(3).standard_normal((k, N))
    inside = np.clip(V, boxes.low, boxes.high)
    for T in found:
        rows, columns = T.image[:k], T.image[k:] - k
        image = T.signs[:k, None] * inside[np.ix_(rows, columns)]
        np.testing.assert_allclose(image, np.clip(image, boxes.low, boxes.high), atol=1e-12)
    monkeypatch.setattr(involutions, "_DECOMPOSED", (0.0, 0.0, 0.0, 1.0))
    monkeypatch.setattr(involutions, "_FOLDED", (0.0,))
    tree = involutions.find(boxes)
    assert tree.count == len(tree.blocks(np.eye(k + N))) >= 2
    X = np.random.default_rng(4).standard_normal((k + N, k + N))
    X = tree.mean(X + X.T)
    np.testing.assert_allclose(tree.mean(X), X, atol=1e-12)
    blocks = tree.blocks(X)
    np.testing.assert_allclose(tree.whole(blocks), X, atol=1e-12)
    F = tree.columns(blocks)
    np.testing.assert_allclose(F @ F.T, X @ X, atol=1e-11)
    values = np.sort(np.concatenate([np.linalg.eigvalsh(block) for block in blocks]))
    np.testing.assert_allclose(values, np.linalg.eigvalsh(X), atol=1e-11)
    norm = approximate_norm(W, 0.1, shifted=shifted, gap=1e-4)
    monkeypatch.setattr(involutions, "find", lambda boxes: involutions.trivial(sum(boxes.shape)))
    plain = approximate_norm(W, 0.1, shifted=shifted, gap=1e-4)
    assert norm.gap <= 1e-4 >= plain.gap
    assert max(norm.lower, plain.lower) <= min(norm.upper, plain.upper)


def test_symmetries_that_do_not_commute_are_not_taken_together() -> None:
    turned = involutions.Signed("turned", np.array([1, 0, 3, 2]), np.ones(4))
    exchanged = involutions.Signed("exchanged", np.array([0, 2, 1, 3]), np.ones(4))
    reversed_ = involutions.Signed("reversed", np.array([3, 2, 1, 0]), -np.ones(4))
    assert not turned.commutes(exchanged)
    assert turned.commutes(reversed_)
    assert reversed_.commutes(exchanged)
    signed = involutions.Signed("signed", np.arange(4), np.array([1.0, -1.0, 1.0, 1.0]))
    assert not turned.commutes(signed)


@pytest.mark.parametrize("make", [lambda: of_eta(SIGNS, 0.1), lambda: around(NORMAL, 0.4, shifted=True)])
def test_shifts_minimise_the_distance(make: Callable[[], Boxes]) -> None:
    boxes = make()
    V = 3.0 * np.random.default_rng(8).standard_normal(boxes.shape)
    for start in (np.zeros(len(V)), np.full(len(V), 1e6)):
        c = splitting.shifts(V, boxes, start)
        residual = np.clip(V, boxes.low + c[:, None], boxes.high + c[:, None]) - V
        np.testing.assert_allclose(residual.sum(axis=1), 0.0, atol=1e-12)
        assert np.abs(residual).max() > 0.1


def test_level_is_the_proximal_step() -> None:
    """t + ½Σ(v_i − t)₊²/m over a fine grid is least at the level."""
    v, mass = np.random.default_rng(9).standard_normal(12), 0.7
    t = level(v, mass)
    assert np.maximum(v - t, 0.0).sum() == pytest.approx(mass)
    grid = np.linspace(-3.0, 3.0, 20_001)
    values = mass * grid + 0.5 * np.square(np.maximum(v[:, None] - grid, 0.0)).sum(axis=0)
    assert grid[np.argmin(values)] == pytest.approx(t, abs=4e-4)


def test_cone_is_the_nearest() -> None:
    X = np.random.default_rng(10).standard_normal((9, 9))
    X = X + X.T - 2.0 * np.eye(9)
    for sign in (1.0, -1.0):
        S = splitting.into_cone(sign * X, involutions.trivial(9))
        F = splitting.root_in_cone(sign * X, involutions.trivial(9))
        np.testing.assert_allclose(F @ F.T, S, atol=1e-12)
        assert np.linalg.eigvalsh(S)[0] >= -1e-12
        assert np.linalg.eigvalsh(S - sign * X)[0] >= -1e-12
        assert float(np.sum(S * (S - sign * X))) == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("name", ["prefix, shifted", "tenths, shifted", "eta, equality", "margin", "ranges"])
def test_every_iterate_is_feasible(name: str) -> None:
    """W̃ in the boxes with its own c, U of the right signs and sums, however early."""
    boxes, looks = reduce(PROBLEMS[name]).boxes, []
    assert splitting.solve(boxes, 45, lambda iterate: bool(looks.append(iterate)))[:2] == (45, "iteration_limit")
    assert len(looks) == 4
    for iterate in looks:
        inside = iterate.matrix - iterate.shift[:, None]
        assert max((boxes.low - inside).max(), (inside - boxes.high).max()) <= 1e-14
        U, size = iterate.dual, np.abs(iterate.dual).max()
        assert not ((U > 0) & (np.isneginf(boxes.low))).any()
        assert not ((U < 0) & (np.isposinf(boxes.high))).any()
        if boxes.shifted:
            assert np.abs(U.sum(axis=1)).max() <= 1e-10 * size
        assert iterate.row_weights.min() >= 0.0
        assert iterate.row_weights.sum() > 0.0


def test_completed_factors_make_the_sum() -> None:
    """RA + E exactly, and short rows pay for E: no row becomes much longer than the longest was."""
    rng = np.random.default_rng(13)
    R, A, E = rng.standard_normal((5, 3)), rng.standard_normal((3, 7)), np.zeros((5, 7))
    R[1] *= 0.1
    E[1] = 1e-6
    left, right = approximate.completed(R, A, E)
    np.testing.assert_allclose(left @ right, R @ A + E, atol=1e-15)
    assert left.shape == (5, 4)
    assert np.linalg.norm(left, axis=1).max() <= np.linalg.norm(R, axis=1).max() * (1 + 1e-5)
    assert np.linalg.norm(right, axis=0).max() <= np.linalg.norm(A, axis=0).max() * (1 + 1e-11)
    assert approximate.completed(R, A, np.zeros((5, 7)))[0] is R
