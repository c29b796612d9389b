r"""What is kept beside an optimised strategy so that others can check its lower bound.

Two proofs, both of the statement that no ε-LDP strategy has L = ‖W1‖²/n + tr(X_c⁺C) below a number:

* the *certificate* (``bounds/rational.py``), integers for n ≤ 16 that ``tools/verify_certificate.py`` checks alone: it
  is as good as the exact solver's own bound;
* the *rigorous bound* (``bounds/rigorous.py``, ``bounds/rigorous_pairs.py``) for n ≤ 512, with the weights p, N and ω
  that it is made from: the record's ``lower_bound`` less what the roundings may have added to it, about 1e-9 of it.

**The Gram matrix.** A certificate speaks of a rational matrix. Queries with whole coefficients have a whole Gram
matrix, and floats that differ from whole numbers by rounding alone stand for it. Other floats are taken as they are:
they must be positive semidefinite exactly, or they are no Gram matrix and there is no certificate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray
from factormech.bounds import pairwise, rational, rigorous, rigorous_pairs
from factormech.bounds.centred import as_whole
from factormech.bounds.omega_limit import InformationLimit
from factormech.errors import BadValue
from factormech.numerics.rounding import rounded_down as rounded_down
from factormech.workloads.base import Workload

# Certificates walk through 2ⁿ vectors in whole numbers: a second for 16 types.
CERTIFIED_UP_TO = 16
# Beyond, extended precision takes minutes.
RIGOROUS_UP_TO = 512
# What the centring of G may cost an entry of C, relatively to the largest entry of G: 32 roundings.
CENTRING = 2.0**-48
# What ``rigorous_bound`` keeps: datasets, and lines of the record.
KEPT_DATASETS = ("bound_weights", "bound_pairs")
KEPT_RECORD = ("rigorous_lower_bound", "bound_omega")


@dataclass(frozen=True)
class Proof:
    """Datasets and lines of the record to add; ``lower_bound`` on L is 0 where nothing is proved.

    ``variance_bound`` is the same on the average variance per user, where it is known.
    """

    lower_bound: float = 0.0
    datasets: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    record: dict[str, Any] = field(default_factory=dict)
    variance_bound: float = 0.0


def certificate(workload: Workload, epsilon: float, dual: FloatArray, multiplier: FloatArray) -> Proof:
    """The exact solver's bound as whole numbers: dataset ``certificate``, JSON, and a bound on L rounded down.

    Where there is none, the record's ``certificate`` says why.
    """
    n = workload.domain_size
    if not 2 <= n <= CERTIFIED_UP_TO:
        return Proof(record={"certificate": f"none: more than {CERTIFIED_UP_TO} user types"})
    if not np.any(dual):
        return Proof(record={"certificate": "none: all types have the same answers"})
    G = as_whole(workload.gram())
    try:
        found = rational.certify(G, epsilon, dual, multiplier)
    except BadValue as error:
        return Proof(record={"certificate": f"none: {error}"})
    if not is_positive_semidefinite(found.gram):
        return Proof(record={"certificate": "none: the Gram matrix of floats is not positive semidefinite exactly"})
    constant = Fraction(sum(map(sum, found.gram)), n * found.gram_denominator)
    bound = rounded_down(found.objective_bound + constant)
    kept = {"certificate": np.array(found.text())}
    return Proof(bound, kept, {"certificate": "checked in whole numbers"}, rounded_down(found.average_variance_bound))


def rigorous_bound(
    workload: Workload, centred_gram: FloatArray, epsilon: float, found: pairwise.PairwiseBound
) -> Proof:
    """The rigorous bound on L: ``rigorous_lower_bound``, ``bound_weights`` p, ``bound_omega`` ω, ``bound_pairs`` N.

    N is left out where it is zero. Uniform p need no ω: the least useful one is the best.
    """
    n, C, p, omega = workload.domain_size, centred_gram, found.weights, found.omega
    limit = InformationLimit.of(n, epsilon) if n > 1 else None
    if limit is None or n > RIGOROUS_UP_TO:
        return Proof()
    error = CENTRING * float(workload.gram_diagonal().max())
    weights, pairs = KEPT_DATASETS
    datasets = {weights: p}
    if found.pairs.any():
        datasets[pairs] = found.pairs
        bound = rigorous_pairs.rigorous_objective(C, epsilon, p, found.pairs, omega, entry_error=error)
    else:
        omega = limit.floor if np.ptp(p) == 0.0 else omega
        bound = rigorous.rigorous_objective(C, epsilon, p, omega, entry_error=error)
    if not bound > 0.0:
        return Proof()
    constant = Fraction(workload.total_squared()) * (1 - Fraction(1, 2**48)) / n
    lower = rounded_down(Fraction(bound) + constant)
    return Proof(lower, datasets, dict(zip(KEPT_RECORD, (lower, float(omega)), strict=True)))


def is_positive_semidefinite(matrix: list[list[int]]) -> bool:
    """Whether a symmetric matrix of whole numbers is, by elimination without fractions (Bareiss)."""
    A = [list(row) for row in matrix]
    n, before = len(A), 1
    for k in range(n):
        pivot = A[k][k]
        if pivot < 0 or (pivot == 0 and any(A[k][k:])):
            return False
        if pivot == 0:
            continue
        for i in range(k + 1, n):
            row, factor = A[i], A[i][k]
            for j in range(k + 1, n):
                row[j] = (pivot * row[j] - factor * A[k][j]) // before
            row[k] = 0
        before = pivot
    return True
