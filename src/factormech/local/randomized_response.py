"""Randomized response over n types: the true type with e^ε times the probability of any other (Warner, JASA 1965)."""

from __future__ import annotations

import numpy as np

from factormech.local.strategy import Strategy
from factormech.local.subsets import subset_strategy


def strategy(domain_size: int, epsilon: float) -> Strategy:
    """Report a subset of size one."""
    law = np.zeros(domain_size + 1)
    law[1] = 1.0
    return subset_strategy(law, epsilon)
