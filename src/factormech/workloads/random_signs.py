"""Random signs: as hard as a workload of ±1 queries gets, and without any structure to use."""

from __future__ import annotations

import numpy as np

from factormech.arrays import check_dense_size
from factormech.workloads.base import Workload
from factormech.workloads.matrix import MatrixWorkload


def square(name: str, domain_size: int, rng: np.random.Generator) -> Workload:
    """Registered as ``random-signs``: p = n queries of independent, uniform signs, the same for one seed."""
    check_dense_size(f"matrix of workload {name}", domain_size, domain_size)
    bits = rng.integers(0, 2, size=(domain_size, domain_size), dtype=np.int8)
    return MatrixWorkload(name, 2 * bits - 1)
