r"""How much information about its user one ε-LDP report can carry.

For a row q of a strategy with max q ≤ e^ε min q, the trace of its part of X_c (see ``local/strategy.py``), relative
to its share 1ᵀq/n of the mass, is n‖q‖²/(1ᵀq)² − 1. ‖q‖² is convex, so on {1ᵀq = 1} its maximum is at an
extreme row, proportional to 1 + (a−1)1_S with a = e^ε; with k = |S| it equals

.. math:: \sigma_k = \frac{(a-1)^2 k(n-k)}{(n+(a-1)k)^2} .

Hence tr X_c ≤ σ = max_k σ_k ≤ sinh²(ε/2) for every ε-LDP strategy, with equality for subset selection of the best size.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import check_epsilon, check_positive_integer


def information_of_size(domain_size: int, epsilon: float, size: int) -> float:
    """σ_k for the subset size k, written so that nothing overflows or cancels: with c = (1−e^{−ε})."""
    n, k = domain_size, size
    c = -math.expm1(-epsilon)
    # (a−1)/(n+(a−1)k) = c / (n e^{−ε} + c k)
    return float(c**2 * k * (n - k) / (n * math.exp(-epsilon) + c * k) ** 2)


def best_subset_size(domain_size: int, epsilon: float) -> int:
    """The k in 1 … n − 1 (1 if n = 1) with the largest σ_k; σ rises to n/(a+1) and falls after it."""
    n = check_positive_integer("domain_size", domain_size)
    epsilon = check_epsilon(epsilon)
    centre = n * math.exp(-epsilon) / (1.0 + math.exp(-epsilon))
    candidates = {min(max(k, 1), max(n - 1, 1)) for k in (math.floor(centre), math.ceil(centre))}
    return max(sorted(candidates), key=lambda k: information_of_size(n, epsilon, k))


def largest_information(domain_size: int, epsilon: float) -> float:
    """σ: no ε-LDP strategy on n types has tr X_c above it; 0 if n = 1."""
    n = check_positive_integer("domain_size", domain_size)
    value = information_of_size(n, epsilon, best_subset_size(n, epsilon))
    return value if np.isfinite(value) else math.inf
