"""Refuse an evaluation that contradicts the strategy's own guarantee, or a lower bound on every such strategy.

A strategy of the package computes its variances from its probabilities; one of a plugin may state any number. Nobody's
table shows a number that a theorem excludes.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray
from factormech.bounds.spectral import centred_svd
from factormech.errors import BadValue
from factormech.local.strategy import Evaluation, Strategy
from factormech.privacy import REPLACE_ONE, guarantee_of
from factormech.workloads.base import Workload

# Relatively: of a loss; and of the bound, a square of a sum of singular values, small ones of which are known to the
# square root of a rounding only.
ROUNDING, BOUND_ROUNDING = 1e-9, 1e-6


def evaluated(
    mechanism: str, strategy: Strategy, workload: Workload, centred_gram: FloatArray, epsilon: float
) -> Evaluation:
    """Return the exact error of a strategy on a workload, after comparing it with what is proved.

    Parameters
    ----------
    mechanism
        Its name, for the words of a refusal.
    strategy, workload, centred_gram, epsilon
        The strategy, what it is asked, C = PWᵀWP of that, and the budget that it is asked for.

    Returns
    -------
    Evaluation
        ``strategy.evaluate(centred_gram)``.

    Raises
    ------
    BadValue
        If a variance is negative or no number; if the privacy loss is above the budget; or if the average variance is
        below the centred SVD bound on every ε-LDP strategy (of (ε, δ)-private ones nothing is proved).
    """
    found = strategy.evaluate(centred_gram)
    if not found.answered:
        return found
    what = f"mechanism {mechanism} on {workload.name}, domain size {workload.domain_size}, epsilon {epsilon:g}"
    variance = np.asarray(found.variance)
    # Variances far below the second moment are known to the rounding of the latter.
    least = -1e-12 * workload.frobenius_squared()
    if variance.shape != (workload.domain_size,) or not np.all(np.isfinite(variance) & (variance >= least)):
        rule = f"be {workload.domain_size} finite numbers of at least 0, one for each user type"
        raise BadValue(f"variance of {what}", f"array of shape {variance.shape}", rule, "correct its evaluate")
    if not found.privacy_loss <= epsilon * (1.0 + ROUNDING):
        rule = f"be at most the budget that it is asked for, {epsilon:g}"
        raise BadValue(f"privacy loss of {what}", found.privacy_loss, rule, "make it with the epsilon given")
    if guarantee_of(strategy, REPLACE_ONE).pure:
        _check_bound(found, workload, epsilon, what)
    return found


def _check_bound(found: Evaluation, workload: Workload, epsilon: float, what: str) -> None:
    bound, size = centred_svd(workload, epsilon), workload.frobenius_squared()
    if found.average < bound * (1.0 - BOUND_ROUNDING) - 1e-12 * size:
        rule = f"be at least {bound:.6g}, below which no {epsilon:g}-LDP strategy is"
        raise BadValue(f"average variance of {what}", found.average, rule, "correct its evaluate, or its guarantee")
