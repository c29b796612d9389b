"""Weights of pairs in eigenvalues: against the matrices, a dual certificate, the general search, the optimum."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.bounds import parametric
from factormech.bounds.pair_search import PairWeights, uniform_start
from factormech.bounds.pairwise import evaluate, searched, solve
from factormech.bounds.staircase import SizeLimit
from factormech.bounds.translation_pairs import (
    FALL,
    GAP,
    TranslationProblem,
    best_translated,
    orbits_of,
    phi_lines,
    spectrum_of,
)
from factormech.workloads import binary
from factormech.workloads.registry import create
from tests.bounds import optimum
from tests.tiers import every

pytestmark = pytest.mark.heavy

NAMES = ["3-way-marginals", "at-most-3-way-parities", "all-marginals", "histogram"]


def random_spectrum(seed: int, n: int) -> FloatArray:
    """Of any rank, without a symmetry."""
    rng = np.random.default_rng(seed)
    spectrum = rng.exponential(size=n) ** 2 * (rng.uniform(size=n) < rng.choice([0.3, 0.7, 1.0]))
    spectrum[0], spectrum[1] = 0.0, 1.0
    return spectrum


@pytest.mark.parametrize("n", [2, 8, 32])
def test_the_spectrum_is_recognised(n: int) -> None:
    spectrum = random_spectrum(0, n)
    found = spectrum_of(binary.group_matrix(spectrum))
    assert found is not None
    np.testing.assert_allclose(found, spectrum, atol=1e-12)


def test_other_matrices_are_not_taken_for_such() -> None:
    C = binary.group_matrix(random_spectrum(0, 16))
    assert spectrum_of(create("prefix", 16).centred_gram()) is None
    assert spectrum_of(create("histogram", 12).centred_gram()) is None
    for wrong in (1.0 + 1e-6, math.nan):
        other = C.copy()
        other[3, 5] = other[5, 3] = wrong * C[3, 5]
        assert spectrum_of(other) is None
    assert spectrum_of(np.zeros((1, 1))) is None
    assert best_translated(np.zeros((8, 8)), SizeLimit.of(8, 1.0)) is None


def test_orbits_are_of_bits_that_can_be_exchanged() -> None:
    n = 32
    counts = binary.popcounts(n)
    np.testing.assert_array_equal(orbits_of(np.where(counts > 0, 1.0 / (1.0 + counts), 0.0)), counts)
    assert len(np.unique(orbits_of(random_spectrum(1, n)))) == n
    masks = np.arange(n)  # bits 0, 2, 4 alike, and bits 1, 3
    some, others = np.bitwise_count(masks & 0b10101), np.bitwise_count(masks & 0b01010)
    orbits = orbits_of(1.0 * some + 0.1 * others**2)
    assert len(np.unique(orbits)) == 4 * 3
    assert orbits[0] == 0
    for k in np.unique(orbits):
        assert len(np.unique(some[orbits == k])) == len(np.unique(others[orbits == k])) == 1


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0, 8.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_value_is_the_bound_of_the_matrices(seed: int, epsilon: float) -> None:
    """The theorem at full size, for the weights that the orbits give, is what the problem says."""
    n = 16
    spectrum = random_spectrum(seed, n)
    C, limit = binary.group_matrix(spectrum), SizeLimit.of(n, epsilon)
    best = best_translated(C, limit)
    assert best is not None
    np.testing.assert_allclose(best.types, 1.0 / n, rtol=1e-15)
    y = 1.0 - n * binary.transform(best.pairs[0])
    assert y[1:].min() >= 0.0
    a, b = phi_lines(limit)
    limited = float(np.max(a + b * best.pairs.sum()))
    objective = float(np.sum(np.sqrt(spectrum[1:] * y[1:]))) ** 2 / limited
    assert evaluate(C, best, limit).objective == pytest.approx(objective, rel=1e-8)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5, 4.0, 8.0])
@pytest.mark.parametrize("case", [*NAMES, "random-0", "random-1", "random-2"])
def test_a_dual_certificate(case: str, epsilon: float) -> None:
    """No weights are better: for w > 0 and a law μ of the sizes the value is at most Σc_s/w_s, if w and μ are such.

    As 2√(c_sy_s) ≤ c_s/w_s + w_sy_s, it is enough that Σw_s ≤ Σμ_ja_j and −Σw_sχ_s(z) ≤ Σμ_jb_j for every z ≠ 0. A step
    of Newton's method makes w and μ such, but for rounding: what is left is scaled away.
    """
    n = 16 if case.startswith("random") else 64
    spectrum = random_spectrum(int(case[-1]), n) if n == 16 else spectrum_of(create(case, n).centred_gram())
    assert spectrum is not None
    problem = TranslationProblem.of(spectrum, orbits_of(spectrum), SizeLimit.of(n, epsilon))
    point, m = problem.best(), len(problem.roots)
    slack = problem.slacks @ point
    y, c = slack[:m], problem.roots**2
    value = 2.0 * problem.roots @ np.sqrt(y) - point[-1]
    barrier = FALL ** math.ceil(math.log(GAP / len(slack), FALL))
    change = (problem.slacks @ problem.newton(point, barrier)[0]) / slack
    multipliers = barrier / slack * (1.0 - change)
    multipliers[:m] += problem.roots / np.sqrt(y) * (1.0 - 0.5 * change[:m])
    w, law = multipliers[:m], multipliers[2 * m :] / multipliers[2 * m :].sum()
    assert w.min() > 0.0
    assert law.min() >= 0.0
    a, b = -law @ problem.slacks[2 * m :, 0], -law @ problem.slacks[2 * m :, 1]
    along = w @ problem.slacks[:m, 1:-1]  # −Σ over s of w_sχ_s(z), the mean over an orbit of z
    scale = min(1.0, a / w.sum(), *(b / along[along > 0.0]))
    assert float(np.sum(c / (scale * w))) == pytest.approx(value, rel=1e-8)
    assert value >= 1.0 - 1e-9


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
@pytest.mark.parametrize("name", NAMES)
def test_orbits_lose_nothing(name: str, epsilon: float) -> None:
    spectrum = spectrum_of(create(name, 32).centred_gram())
    assert spectrum is not None
    limit, values = SizeLimit.of(32, epsilon), []
    for orbits in (orbits_of(spectrum), np.arange(32)):
        problem = TranslationProblem.of(spectrum, orbits, limit)
        point = problem.best()
        values.append(problem.value(point, 0.0))
    assert values[0] == pytest.approx(values[1], rel=1e-8)


@pytest.mark.parametrize("epsilon", every(3, [2.0, 0.5, 1.0, 4.0, 8.0]))
@pytest.mark.parametrize("case", [*NAMES, "random-3", "random-4", "random-5"])
def test_the_general_search_finds_nothing_better(case: str, epsilon: float) -> None:
    """Over weights of all types and pairs, not only invariant ones."""
    n = 16
    C = binary.group_matrix(random_spectrum(int(case[-1]), n)) if "random" in case else create(case, n).centred_gram()
    limit, found = SizeLimit.of(n, epsilon), solve(C, epsilon).objective
    assert found >= searched(C, uniform_start(n, limit), limit).objective * (1.0 - 1e-7)
    assert found >= parametric.evaluate(C, epsilon, None).objective
    rng = np.random.default_rng(0)
    best = best_translated(C, limit)
    assert best is not None
    for size in (1e-2, 0.3):
        N = np.triu(best.pairs * np.exp(size * rng.normal(size=(n, n))), 1)
        N += np.triu(rng.exponential(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.2), 1) * size / n**2
        other = PairWeights(best.types * np.exp(size * rng.normal(size=n)), N + N.T, math.exp(rng.normal()) / n)
        assert evaluate(C, other, limit).objective <= found * (1.0 + 1e-8)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0, 8.0])
@pytest.mark.parametrize("seed", range(3))
def test_never_above_the_exact_optimum(seed: int, epsilon: float) -> None:
    n = 8
    spectrum = random_spectrum(seed, n)
    C = binary.group_matrix(spectrum)
    root = binary.transform(np.eye(n)) * np.sqrt(spectrum / n)
    assert solve(C, epsilon).objective <= optimum.solve(root, epsilon).objective * (1.0 + 1e-5)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 30.0, 100.0, 400.0])
@pytest.mark.parametrize("n", [2, 4, 64])
@pytest.mark.parametrize("name", ["all-marginals", "histogram"])
def test_extreme_budgets(name: str, n: int, epsilon: float) -> None:
    C = create(name, n).centred_gram()
    found = solve(C, epsilon).objective
    assert math.isfinite(found)
    assert found >= parametric.evaluate(C, epsilon, None).objective
    if name == "histogram":  # subset selection attains the bound without pairs
        assert found == pytest.approx(parametric.evaluate(C, epsilon, None).objective, rel=1e-8)
