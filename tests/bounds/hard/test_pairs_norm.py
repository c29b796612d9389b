"""Families of pairs, and the norm that a randomizer sees them with."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.bounds.hard.certificate import best_witness
from factormech.bounds.hard.pairs import (
    HardPairs,
    around_centre,
    from_witness,
    mix_level_set,
    mix_rows,
    symmetrised,
    upper_norm,
    weighted,
)
from factormech.errors import BadValue
from factormech.norms.certificates import dual_norm
from tests.bounds.hard import oracles

WORKLOADS = oracles.workloads()


def random_witness(W: FloatArray, seed: int) -> FloatArray:
    U = np.random.default_rng(seed).standard_normal(W.shape) * 0.3 + W
    return np.asarray(U - U.mean(axis=1, keepdims=True))


@pytest.mark.parametrize("name", WORKLOADS)
def test_row_by_row_mixing(name: str) -> None:
    W = WORKLOADS[name]
    U = random_witness(W, 1)
    family = from_witness(U, W)
    a = family.half_gaps(W)
    gains = np.abs(np.einsum("vx,vx->v", W, U))
    used = family.queries
    np.testing.assert_allclose(a, gains[used] / np.abs(U[used]).sum(axis=1), atol=1e-14)
    theta = float(np.quantile(a, 0.4))
    mixed = mix_rows(family, W, theta)
    np.testing.assert_allclose(mixed.half_gaps(W), theta, rtol=1e-12)
    kept = mixed.queries
    signs = np.sign(np.einsum("vx,vx->v", W, U))[kept, None]
    np.testing.assert_allclose(mixed.witness, 2 * theta * signs * U[kept] / gains[kept].sum(), atol=1e-14)
    level = mix_level_set(family, W, theta)
    assert level.half_gaps(W).min() >= theta * (1 - 1e-12)
    # What the papers state of the level set: at most (2θ/(π(S)min a))·γ₂*(U_S/‖U‖₁).
    S = np.isin(family.queries, level.queries)
    stated = 2 * theta / (family.weights[S].sum() * a[S].min()) * dual_norm(family.witness[S]).upper / 2
    assert dual_norm(level.witness).lower <= stated * (1 + 1e-9)


def test_one_common_weight_is_never_better_on_the_same_rows() -> None:
    for seed in range(5):
        W = np.random.default_rng(seed).uniform(-1, 1, (5, 6))
        family = from_witness(random_witness(W, seed), W)
        a = family.half_gaps(W)
        theta = float(a.min())
        rows = mix_rows(family, W, theta)
        s = theta / a.min()
        common = HardPairs(family.first, (1 - s) * family.first + s * family.second, family.weights, family.queries)
        assert dual_norm(rows.witness).lower <= dual_norm(common.witness).upper * (1 + 1e-9)


@pytest.mark.parametrize("name", WORKLOADS)
def test_l2_step(name: str) -> None:
    W = WORKLOADS[name]
    family = mix_rows(from_witness(random_witness(W, 3), W), W, 0.02)
    after, bound = weighted(family)
    exact = oracles.exact_norm(after)
    assert exact <= bound
    assert bound <= dual_norm(family.witness).upper * (1 + 1e-12)
    assert upper_norm(after) <= bound * (1 + 1e-3)


@pytest.mark.parametrize("name", WORKLOADS)
def test_upper_norm_is_the_relaxation(name: str) -> None:
    import cvxpy as cp

    family = from_witness(random_witness(WORKLOADS[name], 5))
    C = np.sqrt(family.weights)[:, None] * family.difference
    brute = oracles.exact_norm(family)
    y = cp.Variable(C.shape[1])
    problem = cp.Problem(cp.Minimize(cp.sum(y)), [cp.diag(y) - C.T @ C >> 0])
    problem.solve(solver="CLARABEL")
    upper = upper_norm(family)
    assert upper == pytest.approx(math.sqrt(float(problem.value)), rel=2e-4)
    assert brute <= upper <= math.sqrt(math.pi / 2) * brute * (1 + 1e-4)


@pytest.mark.parametrize("name", WORKLOADS)
def test_centres(name: str) -> None:
    W = WORKLOADS[name]
    witness = best_witness(W, 0.05).witness
    for protocol, one_sided in (("non-interactive", False), ("sequential", True)):
        theta = 0.9 / float(witness.spreads[int(one_sided)].sum())
        for part in (0.1, 0.5, 1.0):
            family = around_centre(witness, W, part * theta, one_sided=one_sided)
            np.testing.assert_allclose(family.half_gaps(W), part * theta, rtol=1e-9)
            share = witness.share(part * theta, protocol)  # type: ignore[arg-type]
            D = part * theta * witness.spreads[int(one_sided)]
            total = float(np.maximum(share * witness.centre, D).sum())
            assert total <= 1.0
            assert share == 1.0 or total == pytest.approx(1.0, abs=1e-8) or share >= 1 - 1e-9
            middle = family.first[0] * 0.5 + family.second[0] * 0.5
            if not one_sided:
                np.testing.assert_allclose(
                    0.5 * (family.first + family.second), middle[None].repeat(len(family.first), 0)
                )
                assert (middle >= share * witness.centre * (1 - 1e-9)).all()
            else:
                same = [np.ptp(rows, axis=0).max() < 1e-12 for rows in (family.first, family.second)]
                assert any(same)
    assert witness.share(1.01 / float(witness.spreads[0].sum())) == 0.0


def test_symmetrised() -> None:
    W = WORKLOADS["random"]
    U = np.random.default_rng(4).standard_normal(W.shape)
    family, double = symmetrised(U), np.hstack([W, -W])
    np.testing.assert_allclose(double @ family.second.T, 0.0, atol=1e-15)
    gaps = np.einsum("vx,vx->v", W, U) / np.abs(U).sum(axis=1)
    np.testing.assert_allclose(2 * family.half_gaps(double), gaps, atol=1e-14)


def test_bad_input() -> None:
    W = WORKLOADS["random"]
    with pytest.raises(BadValue, match="sum of dual_matrix row 0"):
        from_witness(np.ones((2, 3)))
    with pytest.raises(BadValue, match="all zero"):
        from_witness(np.zeros((2, 3)))
    family = from_witness(random_witness(W, 1), W)
    with pytest.raises(BadValue, match="theta"):
        mix_rows(family, W, 5.0)
    with pytest.raises(BadValue, match="workload"):
        family.half_gaps(np.ones((1, 2)))
    with pytest.raises(BadValue, match="distribution"):
        HardPairs(np.ones((1, 2)), np.ones((1, 2)), np.ones(1), np.zeros(1, dtype=np.int64))
