"""γ₂(W, α) of marginals of one width, by a program of w + 1 numbers: its ends, its closed form, and its growth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.errors import BadValue
from factormech.norms import registry
from factormech.norms.symmetric_marginals import approximate_degree, approximate_norm, characters
from factormech.workloads.registry import create


def matrix_of(attributes: int, width: int, coefficients: np.ndarray) -> np.ndarray:
    """The matrix with these coefficients: rows by sets and bits, columns by types, an entry for each agreement."""
    import itertools

    types = list(itertools.product((0, 1), repeat=attributes))
    values = characters(width) @ coefficients
    return np.array(
        [
            [values[sum(x[i] == b for i, b in zip(S, y, strict=True))] for x in types]
            for S in itertools.combinations(range(attributes), width)
            for y in itertools.product((0, 1), repeat=width)
        ]
    )


@pytest.mark.parametrize(("attributes", "width"), [(3, 1), (4, 2), (5, 3)])
def test_the_norm_is_the_trace_norm_of_the_matrix(attributes: int, width: int) -> None:
    """The upper end is that of explicit factors: rows and columns of the root of the matrix have equal norms."""
    found = approximate_norm(attributes, width, 0.1)
    matrix = matrix_of(attributes, width, found.coefficients)
    exact = matrix_of(attributes, width, np.full(width + 1, 2.0**-width))
    assert set(np.unique(exact)) == {0.0, 1.0}
    assert np.abs(matrix - exact).max() <= 0.1 + 1e-9
    U, s, Vt = np.linalg.svd(matrix, full_matrices=False)
    left, right = U * np.sqrt(s), np.sqrt(s)[:, None] * Vt
    factored = np.sqrt((left**2).sum(axis=1).max() * (right**2).sum(axis=0).max())
    assert found.upper == pytest.approx(factored, rel=1e-9)


@pytest.mark.parametrize(("domain_size", "width"), [(8, 1), (8, 2), (16, 2), (16, 3)])
def test_a_general_solver_agrees(domain_size: int, width: int) -> None:
    norm = registry.compute("gamma-2-approximate", create(f"{width}-way-marginals", domain_size), alpha=1 / 6)
    found = approximate_norm(int(math.log2(domain_size)), width, 1 / 6)
    assert norm.lower * (1 - 1e-9) <= found.upper
    assert found.lower <= norm.upper * (1 + 1e-9)
    assert found.upper <= found.lower * (1 + 1e-9)


def test_without_an_error_it_is_the_closed_form() -> None:
    for attributes, width in ((5, 2), (9, 4), (100, 3)):
        exact = approximate_norm(attributes, width, 0.0)
        told = sum(math.sqrt(math.comb(width, t) * math.comb(attributes, t)) for t in range(width + 1)) / 2**width
        assert exact.upper == pytest.approx(told, rel=1e-12)
        assert approximate_norm(attributes, width, 1e-9).lower == pytest.approx(told, rel=1e-6)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 9, 16])
def test_growth_is_that_of_the_approximate_degree(width: int) -> None:
    """(d/w)^{D/2} in the end, D the degree of the polynomials within 1/6, which is at least a multiple of √w.

    Over two decades of d/w, from 2 to 256: local exponents come from ½D less than an eighth in the last octave, and
    the whole fit is not above it.
    """
    sizes = [width * 2**k for k in range(1, 9)]
    norms = [approximate_norm(d, width, 1 / 6) for d in sizes]
    assert all(norm.lower <= norm.upper <= norm.lower * 1.001 for norm in norms)
    upper = np.log2([norm.upper for norm in norms])
    degree = approximate_degree(width, 1 / 6)
    assert abs(upper[-1] - upper[-2] - degree / 2) < 0.14
    fit = np.polyfit(np.arange(8), upper, 1)[0]
    assert 0.35 * math.sqrt(width) < fit < degree / 2
    assert degree >= math.sqrt(width) and degree <= 2 * math.sqrt(width)  # noqa: PT018


def test_the_degree_of_an_approximation() -> None:
    assert [approximate_degree(1, alpha) for alpha in (0.4, 0.1)] == [1, 1]
    assert approximate_degree(1, 0.5) == 0
    assert approximate_degree(2, 1e-6) == 2
    assert approximate_degree(2, 0.2) == 2
    assert approximate_degree(2, 0.26) == 1


def test_bad_values_are_refused() -> None:
    for arguments, words in (((5, 17, 0.1), "from 1 to 16"), ((3, 4, 0.1), "at least the width"), ((5, 2, 0.5), "0.5")):
        with pytest.raises(BadValue, match=words):
            approximate_norm(*arguments)
