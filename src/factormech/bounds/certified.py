"""The best bound that is affordable at a domain size: what a figure should draw."""

from __future__ import annotations

from factormech.arrays import check_epsilon
from factormech.bounds.pairwise import pairwise
from factormech.bounds.spectral import centred_svd
from factormech.workloads.base import Workload

# Weights are used up to this n (three minutes and 3 GB at 4096).
WEIGHTS_LIMIT = 4096


def certified(workload: Workload, epsilon: float) -> float:
    """Return the largest lower bound on the average variance per user that takes no more than minutes.

    It holds for unbiased linear strategies (``registry.py``), in exact arithmetic, and is 0 where it is vacuous.
    """
    epsilon = check_epsilon(epsilon)
    # The first is never below the others.
    return (pairwise if workload.domain_size <= WEIGHTS_LIMIT else centred_svd)(workload, epsilon)
