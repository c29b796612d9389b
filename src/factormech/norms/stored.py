"""A certified norm as arrays and attributes, and back: what a file of a factorization holds.

Its ``form`` says how R and A are kept: ``dense`` (``left``, ``right``); ``workload`` (R = W·``inner``, and ``right``);
or ``chain``, where ``left_weights`` and ``right_weights`` define both. The witness's arrays are named ``witness_…``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.norms.certified import CertifiedNorm, DenseFactor
from factormech.norms.exact import WorkloadFactor
from factormech.norms.ordered_factors import ChainFactor
from factormech.workloads.base import Workload

NUMBERS = ("lower", "upper", "residual")
_WITNESS, _RECORD = "witness_", "solver_"


def to_datasets(norm: CertifiedNorm) -> tuple[dict[str, FloatArray], dict[str, Any]]:
    """Arrays and attributes that :func:`from_datasets` makes the norm from again."""
    datasets = {_WITNESS + name: array for name, array in norm.witness.items()}
    match norm.left, norm.right:
        case DenseFactor(left), DenseFactor(right):
            form, arrays = "dense", {"left": left, "right": right}
        case WorkloadFactor(inner=inner), DenseFactor(right):
            form, arrays = "workload", {"inner": inner, "right": right}
        case ChainFactor(), ChainFactor():
            form, arrays = "chain", {}
        case _:
            found = f"{type(norm.left).__name__}, {type(norm.right).__name__}"
            raise BadValue("factors", found, "be dense, of the workload or of a chain", "give dense factors")
    numbers = {name: float(getattr(norm, name)) for name in NUMBERS}
    record = {_RECORD + name: value for name, value in norm.record.items()}
    return {**datasets, **arrays}, {"form": form, **numbers, **record}


def from_datasets(
    datasets: Mapping[str, FloatArray], attributes: Mapping[str, Any], workload: Workload | None = None
) -> CertifiedNorm:
    """The norm; ``workload`` is needed for the forms ``workload`` and ``chain``, whose factors are not kept whole."""
    witness = {name.removeprefix(_WITNESS): array for name, array in datasets.items() if name.startswith(_WITNESS)}
    record = {name.removeprefix(_RECORD): value for name, value in attributes.items() if name.startswith(_RECORD)}
    left, right = _factors(str(attributes["form"]), datasets, witness, workload)
    lower, upper, residual = (float(attributes[name]) for name in NUMBERS)
    return CertifiedNorm(lower, upper, left, right, residual, witness, record)


def _factors(
    form: str, datasets: Mapping[str, FloatArray], witness: Mapping[str, FloatArray], workload: Workload | None
) -> tuple[Any, Any]:
    if form == "dense":
        return DenseFactor(datasets["left"]), DenseFactor(datasets["right"])
    if workload is None:
        raise BadValue("workload", None, f"be given for factors of form {form}", "make it by its name and domain size")
    if form == "workload":
        return WorkloadFactor(workload, datasets["inner"]), DenseFactor(datasets["right"])
    from factormech.norms import ordered_factors

    q = np.ascontiguousarray(witness["right_weights"])
    if "left_weights" in witness:
        return ordered_factors.prefix_factors(np.ascontiguousarray(witness["left_weights"]), q)[:2]
    return ordered_factors.ranges_factors(q)[:2]
