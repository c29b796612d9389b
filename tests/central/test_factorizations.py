"""Factors by name: their product is the workload, their norms are what they say, and published values are met."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.errors import BadValue, Unavailable, UnknownName
from factormech.mechanisms.central import registry
from factormech.mechanisms.central.factorization import (
    BLOCK,
    Factorization,
    IdentityFactor,
    Queries,
    blocked_row_squares,
    of_matrices,
    peaks,
)
from factormech.mechanisms.central.mechanism import CentralMechanism
from factormech.norms.registry import compute
from factormech.workloads.base import Workload
from factormech.workloads.ranges import AllRanges, Prefix
from factormech.workloads.registry import create

ORDERED = ("square-root", "square-root-normalised", "binary-tree-plain", "binary-tree")
ANY = ("gaussian-output", "gaussian-input", "gamma-2", "gamma-f", "gamma-p4")
CASES = [(w, n, name) for w, n in (("prefix", 1), ("prefix", 37), ("all-ranges", 13)) for name in (*ORDERED, *ANY)]
CASES += [(w, 16, name) for w in ("2-way-marginals", "parities", "random-signs", "histogram") for name in ANY]


def factors(name: str, workload: Workload) -> Factorization:
    found = registry.factorize(name, workload)
    assert isinstance(found, Factorization)
    return found


@pytest.mark.parametrize(("family", "n", "name"), CASES)
def test_factors_are_what_they_say(family: str, n: int, name: str) -> None:
    workload = create(family, n)
    found = factors(name, workload)
    L, R, W = found.left.dense(), found.right.dense(), workload.matrix()
    scale = np.abs(W).max()
    assert np.abs(L @ R - W).max() <= found.residual + 1e-12 * scale
    assert found.residual <= 1e-8 * scale
    columns = np.linalg.norm(R, axis=0).max()
    assert columns * (1 - 1e-14) <= found.sensitivity <= columns * (1 + 1e-11)
    np.testing.assert_allclose(found.row_norms, np.linalg.norm(L, axis=1), atol=1e-11 * scale * n)
    np.testing.assert_allclose(found.left.apply_transposed(np.eye(len(L))), L.T, atol=1e-12 * scale * n)
    np.testing.assert_allclose(found.right.apply_transposed(np.eye(len(R))), R.T, atol=1e-12 * scale * n)
    z = np.random.default_rng(1).standard_normal((L.shape[1], 64))
    np.testing.assert_allclose(peaks(found.left, z), np.abs(L @ z).max(axis=0), rtol=1e-9, atol=1e-12)


# k^{−1/p}(Σ‖L_i‖^p)^{1/p}‖R‖_{1→2} of prefix sums at n = 512, at p = 2 and at p = ∞.
TABLE = {
    "gamma-f": (2.7394, None),
    "gamma-2": (None, 2.7464),
    "square-root-normalised": (2.774, 2.863),
    "square-root": (2.889, 3.052),
    "binary-tree": (3.394, 4.098),
    "binary-tree-plain": (6.710, 9.487),
    "gaussian-input": (math.sqrt(513 / 2), math.sqrt(512)),
    "gaussian-output": (math.sqrt(512), math.sqrt(512)),
}


@pytest.mark.parametrize("name", TABLE)
def test_prefix_errors_at_512(name: str) -> None:
    found = factors(name, create("prefix", 512))
    for p, value in zip((2.0, math.inf), TABLE[name], strict=True):
        if value is not None:
            assert found.error(p) == pytest.approx(value, abs=6e-4)
        norm = compute("gamma-f" if p == 2.0 else "gamma-2", create("prefix", 512))
        assert found.error(p) >= norm.lower * (1 - 1e-12)


@pytest.mark.slow
def test_large_ordered_domains_need_no_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a dense matrix was asked for")

    for family in (Workload, Prefix, AllRanges):
        monkeypatch.setattr(family, "matrix", refuse)
        monkeypatch.setattr(family, "gram", refuse)
    rng = np.random.default_rng(3)
    for name in (*ORDERED, "gamma-f", "gamma-2", "gaussian-input", "gaussian-output"):
        mechanism = registry.build(name, create("prefix", 4096), 1.0, 1e-6)
        assert isinstance(mechanism, CentralMechanism)
        assert mechanism.exact_error(4.0).per_query > 0
        assert mechanism.simulate_release(np.ones(4096), rng).shape == (4096, 1)
    for name in (*ORDERED, "gamma-f", "gaussian-input"):
        mechanism = registry.build(name, create("all-ranges", 256), 1.0, 1e-6)
        assert isinstance(mechanism, CentralMechanism)
        assert mechanism.simulated_max(rng, 0.3).reached


def test_the_normalised_square_root_beats_the_square_root() -> None:
    for n in (2, 9, 100):
        workload = create("prefix", n)
        for p in (2.0, math.inf):
            assert factors("square-root-normalised", workload).error(p) < factors("square-root", workload).error(p)


def test_rows_by_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    import factormech.mechanisms.central.factorization as module

    workload = create("2-way-marginals", 32)
    expected = np.sum(workload.matrix() ** 2, axis=1)
    for limit in (BLOCK, 1, 100):
        monkeypatch.setattr(module, "BLOCK", limit)
        np.testing.assert_allclose(blocked_row_squares(Queries(workload)), expected)
        z = np.random.default_rng(0).standard_normal((32, 7))
        shift = np.arange(float(workload.queries))
        np.testing.assert_allclose(
            peaks(Queries(workload), z, shift), np.abs(workload.matrix() @ z + shift[:, None]).max(axis=0)
        )
    assert IdentityFactor(3).row_squares().tolist() == [1.0, 1.0, 1.0]


def test_given_factors_must_multiply_to_the_workload() -> None:
    workload = create("prefix", 5)
    W = workload.matrix()
    assert of_matrices(workload, W, np.eye(5)).sensitivity == pytest.approx(1.0, rel=1e-14)
    wrong = np.eye(5)
    wrong[2, 3] = 1e-6
    with pytest.raises(BadValue, match=r"multiply to the workload prefix: \|W − LR\| reaches 1e-06"):
        of_matrices(workload, W, wrong)
    with pytest.raises(BadValue, match="shapes of left and right"):
        of_matrices(workload, np.eye(5)[:, :4], np.eye(5))
    with pytest.raises(BadValue, match="finite"):
        of_matrices(workload, W * np.nan, np.eye(5))


def test_what_cannot_run_says_why() -> None:
    trees = registry.build("binary-tree-plain", create("parities", 8), 1.0, 1e-6)
    assert isinstance(trees, Unavailable)
    assert "prefix sums and ranges" in trees.reason
    large = registry.build("gamma-2", create("all-ranges", 256), 1.0, 1e-6)
    assert isinstance(large, Unavailable)
    assert "decomposes" in large.reason
    assert isinstance(registry.factorize("square-root-normalised", create("prefix", 1 << 15)), Unavailable)


@pytest.mark.parametrize("name", ["laplace", "gamma-p2", "eta", "gamma-2-approximate", "gaussian-projection"])
def test_names_without_a_factorization_are_refused(name: str) -> None:
    with pytest.raises(UnknownName, match="central mechanism"):
        registry.factorize(name, create("prefix", 4))


def test_arguments_that_do_not_belong_are_refused() -> None:
    workload = create("prefix", 4)
    with pytest.raises(BadValue, match="alpha"):
        registry.build("approximate", workload, 1.0, 1e-6)
    with pytest.raises(BadValue, match="alpha"):
        registry.build("gamma-2", workload, 1.0, 1e-6, alpha=0.1)
    with pytest.raises(BadValue, match="base"):
        registry.build("gamma-2", workload, 1.0, 1e-6, base="gamma-f")
    assert {registry.module_of(n) for n in registry.names() if "{" not in n} == {
        f"factormech.mechanisms.central.{m}" for m in ("ordered", "solved", "projection")
    }
