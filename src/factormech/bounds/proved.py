"""From weights of types and pairs to a number that is printed: a bound on the variance, every rounding outward.

**The larger of two proofs.** Two proofs of the same theorem (``pairwise.py``) take turns, for each loses digits where
the other keeps them:

* at small ε the bound on tr(X_c⁺C) of ``rigorous.py``, less tr C. The variance is then large
  beside tr C/n;
* at large ε the bound on the variance itself of ``scatter.py``. The variance is then a vanishing part of tr C/n.

Both hold in exact arithmetic, and so does their maximum. What they lose beside the bound in exact arithmetic was
measured on the cells of Figures 1 and 2 of the paper: 3e-10 of it at most for n ≤ 128, 2e-9 for n = 512 (3e-9 at
ε = 8).

**From tr(X_c⁺C) to a variance.** Theorems end with a bound on tr(X_c⁺C); studies need one on the average variance per
user.
"""

from __future__ import annotations

import numpy as np

from factormech.bounds import rigorous
from factormech.bounds.centred import CentredGram
from factormech.bounds.pair_search import PairWeights
from factormech.bounds.scatter import scatter_variance, single_variance
from factormech.bounds.staircase import InformationLimit
from factormech.workloads.base import Workload

# The larger of two proofs.

# The proofs that are tried: by traces up to the first budget, of the variance itself from the second on, or from the
# third where pairs have weights: for C of small rank their ω may be tiny, and the proof by traces loses digits.
TRACES_UP_TO, SCATTER_FROM, PAIRS_FROM = 6.0, 2.0, 1.0
# On larger domains only one is, by budget: either takes a minute for 4096 types.
BOTH_UP_TO, ONE_BUDGET = 1024, 1.0
# Of two bounds one is clearly better if floats say so by more than either proof may lose, relatively, up to the budget
# where rounding in a difference of traces reaches that.
_CLEARLY, _COMPARED_UP_TO = 1e-5, 20.0
# ω where it does not matter: g is the same for all types.
_ANY_OMEGA = 1e-12


def proved_variance(gram: CentredGram, epsilon: float, weights: PairWeights) -> float:
    """A lower bound on the average variance per user of unbiased linear strategies; 0 where it is vacuous.

    Parameters
    ----------
    gram
        The centred Gram matrix.
    epsilon
        The budget.
    weights
        p, N and ω, such as ``pairwise.solve`` and ``parametric.solve`` find; any give a bound.
    """
    if len(gram.matrix) < 2 or not gram.matrix.any():
        return 0.0
    large = len(gram.matrix) > BOTH_UP_TO
    found = [0.0]
    if epsilon < ONE_BUDGET if large else epsilon <= TRACES_UP_TO:
        found.append(_by_traces(gram, epsilon, weights))
    if epsilon >= (ONE_BUDGET if large else PAIRS_FROM if weights.pairs.any() else SCATTER_FROM):
        found.append(scatter_variance(gram, epsilon, _with_omega(weights, _ANY_OMEGA)))
        if weights.pairs.any():
            found.append(single_variance(gram, epsilon))
    return max(found)


def clearly_better(epsilon: float, objective: float, other: float, trace: float) -> bool:
    """Return whether a bound on tr(X_c⁺C) leaves no doubt that the other proves less of the variance."""
    return epsilon <= _COMPARED_UP_TO and objective - trace > (1.0 + _CLEARLY) * max(other - trace, 0.0)


def uniform_weights(domain_size: int) -> PairWeights:
    """p uniform and N = 0, the weights of ``centred-svd``."""
    n = domain_size
    return PairWeights(np.full(n, 1.0 / n), np.zeros((n, n)), _ANY_OMEGA)


def is_uniform(weights: PairWeights) -> bool:
    """Return whether these weights are those of ``centred-svd``; ω does not matter then."""
    return not weights.pairs.any() and float(np.ptp(weights.types)) == 0.0


def _with_omega(weights: PairWeights, omega: float) -> PairWeights:
    return PairWeights(weights.types, weights.pairs, omega) if is_uniform(weights) else weights


def _by_traces(gram: CentredGram, epsilon: float, weights: PairWeights) -> float:
    """(bound on tr(X_c⁺C) − tr C)/n, rounded down."""
    C, n, error = gram.matrix, len(gram.matrix), gram.entry_error
    limit = InformationLimit.of(n, epsilon)
    if limit is None:
        return 0.0
    w = _with_omega(weights, limit.floor)
    if w.pairs.any():
        objective = rigorous.rigorous_pair_objective(C, epsilon, w.types, w.pairs, w.omega, entry_error=error)
    else:
        objective = rigorous.rigorous_objective(C, epsilon, w.types, w.omega, entry_error=error)
    # One rounding each of the difference and of the quotient.
    excess = (objective - gram.trace_above) / n
    return max(excess - 2.0**-51 * abs(excess), 0.0)


# From tr(X_c⁺C) to a variance.


def same_for_all(workload: Workload, centred_trace: float) -> bool:
    """Whether every query has the same answer for all user types, but for the rounding of C, whose trace is given."""
    return bool(centred_trace <= workload.domain_size * np.finfo(float).eps * workload.frobenius_squared())
