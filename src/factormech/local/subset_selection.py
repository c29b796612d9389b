"""Subset selection of the best size (Ye & Barg, IEEE Trans. Inf. Theory 64(8), 2018)."""

from __future__ import annotations

import numpy as np

from factormech.bounds.staircase import best_subset_size
from factormech.local.strategy import Strategy
from factormech.local.subsets import subset_strategy


def strategy(domain_size: int, epsilon: float) -> Strategy:
    """Report a uniform subset of the size that carries the most information, near n/(e^ε+1)."""
    law = np.zeros(domain_size + 1)
    law[best_subset_size(domain_size, epsilon)] = 1.0
    return subset_strategy(law, epsilon)
