"""What every bound of the room is held against: workloads of all sorts, and strategies that it may not be above."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import Unavailable
from factormech.mechanisms.local import registry as mechanisms
from factormech.mechanisms.local.strategy import Evaluation
from factormech.workloads.base import Workload
from factormech.workloads.matrix import MatrixWorkload
from tests import solutions

EPSILONS = [0.05, 0.5, 1.0, 2.0, 4.0, 8.0]


def random_matrix(rng: np.random.Generator, n: int) -> FloatArray:
    """Of any rank, with columns of unlike size."""
    return np.asarray(
        rng.normal(size=(int(rng.integers(1, n + 3)), n)) * np.exp(rng.normal(size=n) * rng.choice([0.0, 1.5]))
    )


def hard_workload(rng: np.random.Generator, n: int, kind: int) -> Workload:
    """Few queries, 0/1 queries, columns of any scale, or reflected queries; two columns repeat the first."""
    W = rng.normal(size=(int(rng.integers(1, n + 2)), n))
    W = [W, (W > 0) * 1.0, W * np.exp(6 * rng.normal(size=n)), W + W[:, ::-1], np.vstack([W, W[:, ::-1]])][kind % 5]
    W[:, rng.integers(n, size=2)] = W[:, :1]
    return MatrixWorkload("hard", W * 10.0 ** rng.integers(-8, 8))


def centred_root(W: FloatArray) -> FloatArray:
    """PWᵀ."""
    return np.asarray((W - W.mean(axis=1, keepdims=True)).T)


def centring(n: int) -> FloatArray:
    """P."""
    return np.asarray(np.eye(n) - 1.0 / n)


def of_mechanisms(workload: Workload, epsilon: float) -> list[Evaluation]:
    """The variances of every mechanism that answers a workload of the registry, of the solved ones the published."""
    n, found = workload.domain_size, []
    for name in mechanisms.names():
        if mechanisms.is_solved(name) and name != "adaptive-pgd":
            continue
        strategy = solutions.strategy(name, workload.name, n, epsilon)
        if not isinstance(strategy, Unavailable):
            found.append(strategy.evaluate(workload.centred_gram()))
    return [evaluation for evaluation in found if evaluation.answered]


def of_baselines(workload: Workload, epsilon: float) -> Iterator[Evaluation]:
    """The variances of those that exist of the two simplest mechanisms, which answer every workload."""
    for name in ("randomized-response", "subset-selection"):
        strategy = mechanisms.build(name, workload.domain_size, epsilon)
        if not isinstance(strategy, Unavailable):
            evaluation = strategy.evaluate(workload.centred_gram())
            if evaluation.answered:
                yield evaluation
