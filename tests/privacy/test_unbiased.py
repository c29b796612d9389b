"""Estimates of every registered mechanism without a projection are right on average: one in a million, all together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.errors import Unavailable
from factormech.mechanisms.central.mechanism import CentralMechanism
from factormech.mechanisms.local.factorized.release import LocalRelease
from tests.privacy.subjects import Subject, made, subjects
from tests.statistics import FALSE_ALARM, student_p_value

SUBJECTS = [
    s for s in subjects() if s.family in ("strategy", "release", "central", "pure") and "projection" not in s.name
]
TRIALS = 4000


def estimates(mechanism: Any, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Errors, (trials, k), against what is to be estimated, and by how much they may be biased in each entry."""
    if isinstance(mechanism, LocalRelease):
        x = 10 * (1 + np.arange(mechanism.domain_size) % 3)
        return mechanism.estimates(x, TRIALS, rng) - mechanism.truth(x), mechanism.bias @ (x / x.sum())
    if isinstance(mechanism, CentralMechanism):
        data = np.arange(4.0)
        found = mechanism.simulate_release(data, rng, TRIALS).T
        return found - mechanism.workload.answer(data), mechanism.bias(data)
    if hasattr(mechanism, "simulate_estimates"):
        x = 10 * (1 + np.arange(mechanism.domain_size) % 3)
        found = mechanism.simulate_estimates(x, TRIALS, rng).T
        return found - (x - x.mean()), np.zeros(len(x))
    counts = np.ones(mechanism.queries.shape[1])
    released = mechanism.simulate_release(counts, rng, TRIALS)
    assert not isinstance(released, Unavailable)
    return released.T - mechanism.queries.mean(axis=1), np.zeros(len(mechanism.queries))


@pytest.mark.parametrize("subject", SUBJECTS, ids=str)
def test_the_mean_error_is_the_bias_that_is_stated(subject: Subject) -> None:
    mechanism = made(subject.family, subject.name)
    errors, bias = estimates(mechanism, np.random.default_rng(7))
    if subject.name in ("fourier-3", "optimised, symmetric") and subject.family == "strategy":
        pytest.skip("its row space does not hold the histogram")
    live = errors.std(axis=0) > 1e-9
    np.testing.assert_allclose(errors[:, ~live], np.broadcast_to(bias[~live], errors[:, ~live].shape), atol=1e-6)
    for error, due in zip(errors[:, live].T, bias[live], strict=True):
        assert student_p_value(error, float(due)) > FALSE_ALARM / (len(SUBJECTS) * len(bias))
