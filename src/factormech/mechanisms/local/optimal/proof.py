"""The proof of an optimised strategy's lower bound, and the strategy with its proof in a result file.

**Proofs.** They let others check the lower bound. There are three, of the statement that no ε-LDP strategy has L =
‖W1‖²/n + tr(X_c⁺C) below a number:

* the *certificate* (``bounds/certificates.py``), integers for n ≤ 16 that ``tools/verify_certificate.py``
  checks alone: it is as good as the exact solver's own bound;
* the *rigorous bound* (``bounds/rigorous.py``) for n ≤ 512, with the weights p, N and ω
  that it is made from: the record's ``lower_bound`` less what the roundings may have added to it, about 1e-9 of it;
* the *bound from triples* (``bounds/triples.py``) in place of it where it is higher, with its certificate.

**The Gram matrix.** A certificate speaks of a rational matrix. Queries with whole coefficients have a whole Gram
matrix, and floats that differ from whole numbers by rounding alone stand for it. Other floats are taken as they are:
they must be positive semidefinite exactly, or they are no Gram matrix and there is no certificate.

**Result files.** A strategy is verified again as it is read. A staircase strategy is ``supports``, (m, ⌈n/8⌉), the
sets as packed bits, the first type in the highest bit; ``weights`` θ, (m,); and ``prior``, (n,), which the
reconstruction is best for. A symmetric one has ``table``, ``masks`` and ``weights`` of family k under names that end
in ``-k``, and ``permuted``, one number 0 or 1 for each family. A fixed one has neither: the attribute ``chosen``
names it. The proof of the lower bound is not read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray
from factormech.bounds import certificates, pairwise, rigorous, triples
from factormech.bounds.centred import CentredGram, as_whole
from factormech.bounds.staircase import InformationLimit
from factormech.errors import BadValue
from factormech.mechanisms.local.optimal.problem import Optimised
from factormech.mechanisms.local.optimal.rows import strategy_of
from factormech.mechanisms.local.solved import Solution
from factormech.mechanisms.local.strategy import Strategy
from factormech.mechanisms.local.symmetric.patterns import PatternFamily
from factormech.mechanisms.local.symmetric.strategy import SymmetricStrategy
from factormech.numerics.rounding import rounded_down as rounded_down
from factormech.workloads.base import Workload

# Proofs.

# Certificates walk through 2ⁿ vectors in whole numbers: a second for 16 types.
CERTIFIED_UP_TO = 16
# Beyond, extended precision takes minutes.
RIGOROUS_UP_TO = 512
# What the centring of G may cost an entry of C, relatively to the largest entry of G: 32 roundings.
CENTRING = 2.0**-48
# What ``rigorous_bound`` keeps: datasets, and lines of the record.
KEPT_DATASETS = ("bound_weights", "bound_pairs", "triple_prices", "triple_roots", "triple_sizes")
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
        found = certificates.certify(G, epsilon, dual, multiplier)
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
    weights, pairs = KEPT_DATASETS[:2]
    datasets = {weights: p}
    if found.pairs.any():
        datasets[pairs] = found.pairs
        bound = rigorous.rigorous_pair_objective(C, epsilon, p, found.pairs, omega, entry_error=error)
    else:
        omega = limit.floor if np.ptp(p) == 0.0 else omega
        bound = rigorous.rigorous_objective(C, epsilon, p, omega, entry_error=error)
    if not bound > 0.0:
        return Proof()
    lower = rounded_down(Fraction(bound) + _constant_below(workload))
    return Proof(lower, datasets, dict(zip(KEPT_RECORD, (lower, float(omega)), strict=True)))


def triple_bound(workload: Workload, epsilon: float, found: triples.TripleCertificate) -> Proof:
    """The bound on L from triples: ``rigorous_lower_bound``, ``triple_prices``, ``triple_roots``, ``triple_sizes``."""
    objective = triples.objective(CentredGram.of(workload), epsilon, found)
    lower = rounded_down(objective + _constant_below(workload))
    kept = dict(zip(KEPT_DATASETS[2:], (found.prices, found.roots, found.sizes), strict=True))
    return Proof(lower, kept, {KEPT_RECORD[0]: lower})


def triples_of(datasets: Mapping[str, npt.NDArray[Any]]) -> triples.TripleCertificate:
    """What ``triple_bound`` kept."""
    return triples.TripleCertificate(*(np.asarray(datasets[name], dtype=float) for name in KEPT_DATASETS[2:]))


def _constant_below(workload: Workload) -> Fraction:
    """‖W1‖²/n, rounded down."""
    return Fraction(workload.total_squared()) * (1 - Fraction(1, 2**48)) / workload.domain_size


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


# Result files.

# The record's word for the solver whose strategy was kept.
CHOSEN = "chosen"
# Priors keep this much of the uniform one: a reconstruction divides by what outputs a type would see.
LEAST_PRIOR = 1e-12


def to_datasets(found: Optimised) -> dict[str, FloatArray]:
    """A staircase strategy."""
    n = found.supports.shape[1]
    prior = np.asarray(found.details.get("prior", np.full(n, 1.0 / n)), dtype=float)
    prior = np.maximum(prior, LEAST_PRIOR / n)
    return {
        "supports": np.packbits(found.supports, axis=1),
        "weights": np.asarray(found.weights, dtype=float),
        "prior": prior / prior.sum(),
    }


def from_symmetric(strategy: SymmetricStrategy) -> dict[str, FloatArray]:
    """A symmetric strategy."""
    datasets: dict[str, FloatArray] = {"permuted": np.array([f.permuted for f in strategy.families], dtype=float)}
    for k, family in enumerate(strategy.families):
        datasets[f"table-{k}"] = family.table.astype(np.uint8)
        datasets[f"masks-{k}"] = np.asarray(family.masks, dtype=np.int64)
        datasets[f"weights-{k}"] = np.asarray(family.weights, dtype=float)
    return datasets


def restored(solution: Solution, epsilon: float) -> Strategy:
    """The strategy of these datasets, for a domain of ``record["domain_size"]`` types."""
    n, kept = int(solution.record["domain_size"]), solution.datasets
    if "permuted" in kept:
        families = [
            PatternFamily(
                np.asarray(kept[f"table-{k}"]).astype(bool),
                np.asarray(kept[f"masks-{k}"], dtype=np.int64),
                np.asarray(kept[f"weights-{k}"], dtype=float),
                bool(permuted),
            )
            for k, permuted in enumerate(kept["permuted"])
        ]
        return SymmetricStrategy(n.bit_length() - 1, families, epsilon)
    missing = {"supports", "weights", "prior"} - kept.keys()
    if missing:
        raise BadValue("stored strategy: missing", sorted(missing), "be complete", "solve it again")
    return strategy_of(sets_of(kept, n), np.asarray(kept["weights"]), epsilon, np.asarray(kept["prior"]))


def sets_of(kept: Mapping[str, npt.NDArray[Any]], domain_size: int) -> npt.NDArray[np.bool_]:
    """The sets of a staircase strategy, (m, n)."""
    return np.unpackbits(np.asarray(kept["supports"], dtype=np.uint8), axis=1, count=domain_size).astype(bool)
