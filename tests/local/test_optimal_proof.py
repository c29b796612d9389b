"""What is kept to prove the bounds of optimised strategies: true, near, and refused where there is no proof."""

from __future__ import annotations

import json
import runpy
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.bounds import pairwise
from factormech.bounds.centred import as_whole
from factormech.mechanisms.local.optimal import proof
from factormech.mechanisms.local.optimal.mechanism import MECHANISM
from factormech.workloads import registry
from factormech.workloads.base import Workload
from factormech.workloads.matrix import MatrixWorkload
from tests.tiers import every

VERIFIER = runpy.run_path(str(Path(__file__).resolve().parents[2] / "tools" / "verify_certificate.py"))


def objective_bound(workload: Workload, epsilon: float) -> float:
    """On L, in floats."""
    n = workload.domain_size
    return (
        n * pairwise.pairwise(workload, epsilon)
        + float(np.trace(workload.centred_gram()))
        + workload.total_squared() / n
    )


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("name", ["prefix", "3-way-marginals", "all-ranges"])
def test_small_domains_are_certified(name: str, epsilon: float) -> None:
    workload = registry.create(name, 8)
    solution = MECHANISM.solve(workload, epsilon, np.random.default_rng(0))
    record = json.loads(str(solution.datasets["certificate"]))
    assert VERIFIER["failure"](record) == ""
    np.testing.assert_array_equal(np.array(record["gram"]) / record["gram_denominator"], workload.gram())
    proved = Fraction(record["objective_bound"]) + Fraction(int(workload.total_squared()), 8)
    assert solution.record["lower_bound"] <= proved
    assert float(proved) == pytest.approx(solution.record["lower_bound"], rel=1e-15)
    assert 0.0 <= solution.record["gap"] < 1e-6
    restored = MECHANISM.restore(solution, epsilon).evaluate(workload.centred_gram())
    assert restored.average == solution.record["average_variance"]


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
@pytest.mark.parametrize("name", ["prefix", "all-marginals"])
def test_larger_ones_have_a_rigorous_bound(name: str, epsilon: float) -> None:
    workload = registry.create(name, 32)
    C = workload.centred_gram()
    found = proof.rigorous_bound(workload, C, epsilon, pairwise.solve(C, epsilon))
    float_bound = objective_bound(workload, epsilon)
    assert (1 - 1e-5) * float_bound < found.lower_bound <= float_bound * (1 + 1e-12)
    assert found.record["rigorous_lower_bound"] == found.lower_bound
    assert found.datasets["bound_weights"].sum() == pytest.approx(1.0)


def test_nothing_is_claimed_where_nothing_varies() -> None:
    workload = MatrixWorkload("total", np.ones((1, 6)))
    solution = MECHANISM.solve(workload, 1.0, np.random.default_rng(0))
    assert not {"certificate", "bound_weights"} & set(solution.datasets)
    assert solution.record["certificate"].startswith("none: all types have the same")
    assert solution.record["objective"] == pytest.approx(solution.record["lower_bound"])


def test_a_gram_matrix_that_floats_make_indefinite_has_no_certificate() -> None:
    """One query with rounded coefficients: WᵀW of floats has no rank one exactly."""
    W = np.array([[0.1, 0.7, 0.3, 1.1]])
    workload = MatrixWorkload("rounded", W)
    solution = MECHANISM.solve(workload, 1.0, np.random.default_rng(0))
    assert "certificate" not in solution.datasets
    assert "not positive semidefinite exactly" in solution.record["certificate"]
    assert solution.record["rigorous_lower_bound"] <= solution.record["objective"]


def test_whole_matrices_are_recognised() -> None:
    G = np.array([[3.0, 1.0], [1.0, 2.0]])
    np.testing.assert_array_equal(as_whole(G + 1e-14), G)
    np.testing.assert_array_equal(as_whole(G + 1e-9), G + 1e-9)
    np.testing.assert_array_equal(as_whole(0.3 * G), 0.3 * G)


@pytest.mark.parametrize("seed", every(4, range(40)))
def test_semidefinite_by_elimination(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, rank = int(rng.integers(1, 7)), int(rng.integers(0, 4))
    R = rng.integers(-3, 4, (rank, n))
    A: FloatArray = R.T @ R
    assert proof.is_positive_semidefinite(A.tolist())
    if rng.random() < 0.5:
        A[rng.integers(n), rng.integers(n)] += rng.integers(-1, 2)
        A = A + A.T
    lowest = float(np.linalg.eigvalsh(A.astype(float))[0])
    assert proof.is_positive_semidefinite(A.tolist()) == (lowest > -1e-9)
