r"""Lower bounds on the variance of every ε-LDP factorization mechanism, from singular values alone.

Both bound the *average-case* variance per user (summed over queries), hence the worst case too.

``svd``: McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020), Corollary 5.7: with λ the singular values of W,
(Σλ)²/(n e^ε) − ‖W‖_F²/n.

``centred_svd``: tr X_c ≤ σ (``staircase.py``), and by Cauchy–Schwarz
tr(X_c⁺C)·tr X_c ≥ (tr C^{1/2})² whenever C lies in the range of X_c, so

.. math:: \tfrac1n\bigl(\lVert WP\rVert_*^2/\sigma - \lVert WP\rVert_F^2\bigr) .

It is attained where C is a multiple of P (Histogram), by subset selection. It is never below ``svd``: with
t = ‖W1‖/√n, ‖W‖_* ≤ t + ‖WP‖_*, so ‖W‖_*² ≤ (t² + ‖WP‖_*²/σ)(1 + σ), and 1 + σ ≤ cosh²(ε/2) ≤ e^ε.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import check_epsilon
from factormech.bounds.staircase import largest_information
from factormech.workloads.base import Workload


def svd(workload: Workload, epsilon: float) -> float:
    """Corollary 5.7's lower bound on the variance per user, 0 where it is vacuous."""
    epsilon = check_epsilon(epsilon)
    n = workload.domain_size
    trace_norm = float(np.sum(workload.singular_values()))
    return max((trace_norm**2 * math.exp(-epsilon) - workload.frobenius_squared()) / n, 0.0)


def centred_svd(workload: Workload, epsilon: float) -> float:
    """The centred bound on the variance per user; 0 where it is vacuous or the workload is constant on users."""
    n = workload.domain_size
    values = workload.centred_singular_values()
    sigma = largest_information(n, check_epsilon(epsilon))
    if sigma <= 0.0:
        return 0.0
    return max((float(np.sum(values)) ** 2 / sigma - float(np.sum(values**2))) / n, 0.0)


def worst_case_interval(
    average: float, centred_squared: float, domain_size: int, epsilon: float
) -> tuple[float, float]:
    """Where the worst-case variance must lie, given the average: Theorem 5.1 applied to WP, N = 1.

    average ≤ worst ≤ e^ε(average + ‖WP‖_F²/n). The theorem has ‖W‖_F²; since both variances depend on W only through WP
    (``local/strategy.py``), it holds with ‖WP‖_F², which is never larger.
    """
    return average, math.exp(epsilon) * (average + centred_squared / domain_size)
