"""Singular values from below, and faces of smaller domains in larger ones."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.bounds.protocols import faces
from factormech.workloads.registry import create


def test_singular_values_are_below_those_in_exact_arithmetic_and_near_them() -> None:
    rng = np.random.default_rng(0)
    for n in (2, 5, 12):
        U, V = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
        W = (U * 10.0 ** -np.arange(n, dtype=float).clip(0, 6)) @ V.T + 1e3 * rng.standard_normal((n, 1))
        problem = faces.problem_of(W)
        form, error = faces.form_on(problem, tuple(range(n)))
        low = faces.singular_values_below(form, error)
        long = W.astype(np.longdouble)
        F = (long - long.mean(axis=1, keepdims=True)) / np.sqrt(np.longdouble(n))
        exact = np.sqrt(np.maximum(np.sort(_eigenvalues(F @ F.T))[::-1], 0.0)).astype(float)
        assert np.all(low <= exact[: len(low)] * (1 + 1e-15))
        assert low[0] == pytest.approx(exact[0], rel=1e-9)


def _eigenvalues(A: np.ndarray) -> np.ndarray:
    """Eigenvalues in extended precision, by Jacobi's rotations."""
    A = A.copy()
    n = len(A)
    for _ in range(30):
        for i in range(n):
            for j in range(i):
                if A[i, j] == 0.0:
                    continue
                t = np.arctan2(2 * A[i, j], A[j, j] - A[i, i]) / 2
                c, s = np.cos(t), np.sin(t)
                R = np.eye(n, dtype=A.dtype)
                R[i, i] = R[j, j] = c
                R[i, j], R[j, i] = s, -s
                A = R.T @ A @ R
    return np.diagonal(A)


def test_a_planted_error_of_the_form_is_accounted_for() -> None:
    form = np.diag([4.0, 1.0, 0.0])
    assert faces.singular_values_below(form, 0.5) == pytest.approx([3.5**0.5, 0.5**0.5], rel=1e-6)
    assert len(faces.singular_values_below(form, 1.0)) == 1


@pytest.mark.parametrize("name", ["prefix", "parities", "all-marginals", "all-ranges", "at-most-2-way-parities"])
def test_every_face_of_the_smaller_domain_is_tried_in_the_larger(name: str) -> None:
    small, large = (set(faces.families(faces.problem_of(create(name, n)))) for n in (16, 32))
    assert small <= large


def test_constant_and_repeated_queries_do_not_change_the_faces() -> None:
    W = np.random.default_rng(1).integers(0, 5, size=(6, 9)).astype(float)
    more = np.vstack([W, 3.0 - W[:2], np.full((1, 9), 2.0)])
    assert faces.families(faces.problem_of(W)) == faces.families(faces.problem_of(more))
