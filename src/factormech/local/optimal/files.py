"""Optimised strategies as the datasets of a result file, and back; verified as they come back.

A staircase strategy is ``supports``, (m, ⌈n/8⌉), the sets as packed bits, the first type in the highest bit;
``weights`` θ, (m,); and ``prior``, (n,), which the reconstruction is best for. A symmetric one has ``table``, ``masks``
and ``weights`` of family k under names that end in ``-k``, and ``permuted``, one number 0 or 1 for each family. A
fixed one has neither: the attribute ``chosen`` names it. What proves the lower bound (``proof.py``) is not read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.local.optimal.problem import Optimised
from factormech.local.optimal.rows import strategy_of
from factormech.local.solved import Solution
from factormech.local.strategy import Strategy
from factormech.local.symmetric.patterns import PatternFamily
from factormech.local.symmetric.strategy import SymmetricStrategy

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
