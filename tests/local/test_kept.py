"""What is kept between budgets: by content, few of them, and equal to what is computed anew."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.mechanisms.local import noisy_columns
from factormech.mechanisms.local.matrix_mechanism import L1, L2, L2_GAUSSIAN, MatrixMechanism
from factormech.mechanisms.local.noisy_columns import (
    checked_gram,
    inverse_of,
    seen,
    variance_by_type,
    variance_of,
    with_gaussian_noise,
    with_half_sphere_noise,
    with_laplace_noise,
)
from factormech.mechanisms.local.solved import Solution
from tests.oracles import prefix


def centred_gram(n: int) -> np.ndarray:
    W = prefix(n)
    W = W - W.mean(axis=1, keepdims=True)
    return np.asarray(W.T @ W)


def test_results_are_kept_by_content_and_the_oldest_is_forgotten() -> None:
    calls: list[float] = []

    @noisy_columns.kept
    def total(A: np.ndarray) -> float:
        calls.append(float(A.sum()))
        return calls[-1]

    A = np.arange(6.0).reshape(2, 3)
    assert total(A) == total(np.asfortranarray(A)) == 15.0
    assert calls == [15.0]
    total(A.reshape(3, 2))  # other shape, other matrix
    A[0, 0] = 1.0  # changed in place: another one
    assert total(A) == 16.0
    assert len(calls) == 3
    for k in range(noisy_columns.KEPT):
        total(np.full((1, 1), float(k)))
    assert total(A) == 16.0
    assert len(calls) == 4 + noisy_columns.KEPT


def test_large_matrices_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    total = noisy_columns.kept(lambda A: calls.append(A.size))
    monkeypatch.setattr(noisy_columns, "KEPT_SIZE", 3)
    for _ in range(2):
        total(np.zeros((2, 2)))
    assert calls == [4, 4]


@pytest.mark.parametrize(
    "make", [with_laplace_noise, with_half_sphere_noise, lambda A, e: with_gaussian_noise(A, e, 1e-9)]
)
def test_what_is_seen_gives_the_variance_to_the_bit(make) -> None:  # type: ignore[no-untyped-def]
    A, C = np.random.default_rng(0).standard_normal((9, 8)), centred_gram(8)
    for epsilon in (0.5, 4.0):
        noisy = make(A, epsilon)
        found = seen(noisy.columns, C)
        assert np.array_equal(variance_of(noisy, found), variance_by_type(noisy, inverse_of(noisy.columns), C))


@pytest.mark.parametrize("mechanism", [L1, L2, L2_GAUSSIAN], ids=["l1", "l2", "l2-gaussian"])
def test_budgets_and_workloads_in_turn_change_nothing(
    mechanism: MatrixMechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    stored = [Solution({"columns": rng.standard_normal((9, 8))}, {}) for _ in range(3)]
    grams = [centred_gram(8), np.eye(8) - 1 / 8]
    asked = [(s, e, C) for e in (0.5, 1.0, 4.0) for s in stored for C in grams]
    found = [mechanism.restore(s, e).evaluate(C) for s, e, C in asked]
    monkeypatch.setattr(noisy_columns, "KEPT_SIZE", 0)
    for one, (s, e, C) in zip(found, asked, strict=True):
        anew = mechanism.restore(s, e).evaluate(C)
        assert np.array_equal(one.variance, anew.variance)
        assert (one.residual, one.privacy_loss) == (anew.residual, anew.privacy_loss)


def test_shared_results_cannot_be_written_to() -> None:
    A, C = np.random.default_rng(2).standard_normal((9, 8)), centred_gram(8)
    for shared in (checked_gram(C), inverse_of(A), seen(A, C).means):
        with pytest.raises(ValueError, match="read-only"):
            shared[...] = 0.0
