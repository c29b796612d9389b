"""What is known without solving lies where the solvers say; files of factorizations give back the very floats."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from factormech.errors import BadValue, UnknownName
from factormech.norms import closed_forms, registry
from factormech.norms.approximate import difference_norm, labels_of
from factormech.norms.certified import CertifiedNorm, DenseFactor
from factormech.norms.known import known
from factormech.norms.stored import from_datasets, to_datasets
from factormech.store import hdf5
from factormech.workloads.registry import create

# Workloads with a closed form at p = 2, 4, ∞, and, as concept classes, for γ₂; True where it is one.
KNOWN = {
    "histogram": ((True, True, True), True),
    "total": ((True, True, True), False),
    "prefix": ((True, True, True), True),
    "all-ranges": ((False, False, False), False),
    "all-marginals": ((True, False, True), False),
    "2-way-marginals": ((True, True, True), False),
    "at-most-1-way-marginals": ((True, False, True), False),
    "parities": ((True, True, True), True),
    "2-way-parities": ((True, True, True), True),
    "at-most-2-way-parities": ((True, True, True), True),
    "at-most-2-way-parities-01": ((False, False, False), True),
    "conjunctions-2": ((False, False, False), False),
}
EXACT = ("gamma-f", "gamma-p4", "gamma-2")


def agrees(fact: object, norm: CertifiedNorm) -> None:
    lower, upper = fact.lower, fact.upper  # type: ignore[attr-defined]
    assert lower <= norm.upper * (1 + 1e-9) + 1e-9
    assert upper >= norm.lower * (1 - 1e-9) - 1e-9


@pytest.mark.parametrize("n", [4, 16])
@pytest.mark.parametrize("name", KNOWN)
def test_exact_norms(name: str, n: int) -> None:
    workload = create(name, n)
    for norm, there in zip(EXACT, KNOWN[name][0], strict=True):
        fact = known(norm, workload)
        assert (fact is not None) == there
        if fact is not None:
            agrees(fact, registry.compute(norm, workload))


@pytest.mark.parametrize("n", [4, 8])
@pytest.mark.parametrize("name", KNOWN)
def test_concept_classes(name: str, n: int) -> None:
    workload = create(name, n)
    labels = labels_of(workload)
    fact = known("gamma-2", workload, concepts=True)
    assert (fact is not None) == KNOWN[name][1]
    for norm in ("gamma-2", "gamma-2-approximate", "gamma-2-shifted", "eta", "margin-complexity"):
        for alpha in (0.0, 0.1, 0.6) if registry.quantity(norm).tolerant else (None,):
            fact = known(norm, workload, alpha=alpha, concepts=True)
            if fact is not None:
                agrees(fact, registry.compute(norm, labels, alpha=alpha))


def test_approximate_norms_of_workloads() -> None:
    for name in ("histogram", "at-most-2-way-parities", "2-way-parities"):
        for norm in ("gamma-2-approximate", "gamma-2-shifted"):
            for alpha in (0.0, 0.2, 0.7, 1.5):
                fact = known(norm, create(name, 8), alpha=alpha)
                assert fact is not None
                agrees(fact, registry.compute(norm, create(name, 8), alpha=alpha))


@pytest.mark.parametrize(("d", "w"), [(1, 1), (4, 0), (4, 2), (4, 4), (5, 3)])
def test_marginals_of_one_width_have_the_trace_bound_as_norm(d: int, w: int) -> None:
    workload = create(f"{w}-way-marginals", 2**d)
    trace = np.linalg.svd(workload.matrix(), compute_uv=False).sum() / math.sqrt(workload.queries * 2**d)
    assert closed_forms.marginals_exactly(d, w) == pytest.approx(trace, rel=1e-12)


def test_labels() -> None:
    W = create("prefix", 4).matrix()
    np.testing.assert_array_equal(labels_of(create("prefix", 4)), 2 * W - 1)
    np.testing.assert_array_equal(labels_of(-np.ones((2, 2))), -np.ones((2, 2)))
    with pytest.raises(BadValue, match="all be ±1"):
        labels_of(np.array([[0.0, -1.0]]))


def test_the_lemma_on_differences() -> None:
    """γ₂(D, α) ≤ γ₂(W, α) ≤ 2γ₂(D, α/2) + 1 (Edmonds, PhD thesis, 2023)."""
    for name in ("prefix", "histogram", "random-signs"):
        labels = labels_of(create(name, 6))
        for alpha in (0.0, 0.3):
            whole = registry.compute("gamma-2-approximate", labels, alpha=alpha)
            assert difference_norm(labels, alpha).lower <= whole.upper
            assert whole.lower <= 2 * difference_norm(labels, alpha / 2).upper + 1


@pytest.mark.parametrize(
    ("norm", "name", "n", "alpha", "form"),
    [
        ("gamma-2", "prefix", 40, None, "chain"),
        ("gamma-p4", "prefix", 12, None, "chain"),
        ("gamma-f", "all-ranges", 9, None, "chain"),
        ("gamma-f", "all-marginals", 8, None, "workload"),
        ("gamma-2", "conjunctions-2", 8, None, "dense"),
        ("gamma-2-shifted", "prefix", 6, 0.1, "dense"),
    ],
)
def test_a_factorization_survives_its_file(
    tmp_path: Path, norm: str, name: str, n: int, alpha: float | None, form: str
) -> None:
    workload = create(name, n)
    found = registry.compute(norm, workload, alpha=alpha)
    datasets, attributes = to_datasets(found)
    assert attributes["form"] == form
    hdf5.write(tmp_path / "f.h5", "factorization", datasets=datasets, attributes=attributes)
    record = hdf5.read(tmp_path / "f.h5", "factorization")
    back = from_datasets(record.datasets, record.attributes, workload)
    assert (back.lower, back.upper, back.residual) == (found.lower, found.upper, found.residual)
    np.testing.assert_array_equal(back.left.dense(), found.left.dense())
    np.testing.assert_array_equal(back.right.dense(), found.right.dense())
    assert set(back.witness) == set(found.witness)
    assert back.record == {**found.record}
    if form != "dense":
        with pytest.raises(BadValue, match="workload"):
            from_datasets(record.datasets, record.attributes)
    if alpha is None:
        W = workload.matrix()
        product = back.left.dense() @ back.right.dense()
        assert np.abs(product - W).max() <= max(found.residual, 1e-9) * (1 + 1e-9)


def test_unknown_factors_are_refused() -> None:
    norm = CertifiedNorm(1.0, 1.0, DenseFactor(np.eye(2)), None, 0.0)  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="factors"):
        to_datasets(norm)


def test_names_of_quantities() -> None:
    assert registry.quantity("gamma-p12").exponent == 12.0
    assert registry.quantity("gamma-2").exponent == math.inf
    for name in ("gamma-p2", "gamma-p", "gamma-p04", "gamma-p1000", "gamma"):
        with pytest.raises(UnknownName):
            registry.quantity(name)
    with pytest.raises(BadValue, match="be given for eta"):
        registry.compute("eta", np.eye(2) * 2 - 1)
    with pytest.raises(BadValue, match="not be given for gamma-2"):
        registry.compute("gamma-2", np.eye(2), alpha=0.1)


def test_auto_takes_the_structured_method_where_there_is_one() -> None:
    for norm, name, p, chained in (
        ("gamma-2", "prefix", None, True),
        ("gamma-p", "prefix", 5.0, True),
        ("gamma-f", "all-ranges", None, True),
        ("gamma-2", "all-ranges", None, False),
        ("gamma-f", "histogram", None, False),
    ):
        auto = registry.solve(norm, create(name, 8), p=p)
        dense = registry.solve(norm, create(name, 8), p=p, method="dense")
        assert (auto.record["method"] == "chain") == chained
        assert max(auto.lower, dense.lower) <= min(auto.upper, dense.upper)
    # Finer than the chain can certify: the dense solver answers as finely as it can.
    assert registry.solve("gamma-2", create("prefix", 8), gap=1e-10).record["method"] != "chain"
    with pytest.raises(BadValue, match="prefix or all-ranges"):
        registry.solve("gamma-2", create("histogram", 8), method="structured")
