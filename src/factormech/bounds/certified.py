"""The best bound that is affordable at a domain size: what a figure should draw."""

from __future__ import annotations

from factormech.arrays import check_epsilon
from factormech.bounds.pairwise import pairwise
from factormech.bounds.parametric import parametric
from factormech.bounds.spectral import centred_svd
from factormech.workloads.base import Workload

# Weights of pairs are looked for up to this n (seconds at 512), and weights of types up to that.
PAIRS_LIMIT = 640
TYPES_LIMIT = 2048


def certified(workload: Workload, epsilon: float) -> float:
    """The largest of this room's lower bounds on the average variance per user that takes no minutes."""
    epsilon, n = check_epsilon(epsilon), workload.domain_size
    if n <= PAIRS_LIMIT:
        return pairwise(workload, epsilon)  # never below the others
    return parametric(workload, epsilon) if n <= TYPES_LIMIT else centred_svd(workload, epsilon)
