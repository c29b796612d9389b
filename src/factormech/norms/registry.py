"""The factorization norms and the methods that compute them, by name: the one place where a name becomes a function.

A norm is a name for p: ``gamma-2`` (p = ∞), ``gamma-f`` (p = 2), ``gamma-p`` (p as given). A method is a function
(workload, p, **options) → ``CertifiedNorm``. To add a method, write the function and one line in ``_METHODS``; one that
only suits some workloads raises ``BadValue`` with the reason on the others.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

from factormech.errors import BadValue, UnknownName
from factormech.norms.certified import CertifiedNorm
from factormech.workloads.base import Workload

_NORMS: dict[str, float | None] = {"gamma-2": math.inf, "gamma-f": 2.0, "gamma-p": None}

_EXACT = "factormech.norms.exact:factorization_norm"
# name: (module:function, options that the name stands for)
_METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "auto": ("factormech.norms.automatic:automatic_norm", {}),
    "structured": ("factormech.norms.structured.by_workload:structured_norm", {}),
    "dense": (_EXACT, {"method": "auto"}),
    "fixed-point": (_EXACT, {"method": "fixed-point"}),
    "barrier": (_EXACT, {"method": "barrier"}),
    "cvxpy": ("factormech.norms.semidefinite:semidefinite_norm", {}),
}


def names() -> list[str]:
    """Every norm."""
    return list(_NORMS)


def methods() -> list[str]:
    """Every method."""
    return list(_METHODS)


def module_of(method: str) -> str:
    """The module that a method's code starts from."""
    return _target(method)[0].partition(":")[0]


def solve(
    norm: str, workload: Workload | Any, *, p: float | None = None, method: str = "auto", **options: Any
) -> CertifiedNorm:
    """The norm of a workload or a dense matrix, with its factors and its interval.

    ``p`` belongs to ``gamma-p`` alone. Options are the method's: ``gap`` and ``iterations``, or ``solver``
    (``CLARABEL``, ``SCS``) for ``cvxpy``.
    """
    if norm not in _NORMS:
        raise UnknownName("norm", norm, _NORMS)
    target, fixed = _target(method)
    exponent = _NORMS[norm]
    if (exponent is None) == (p is None):
        remedy = "give for example p=4" if p is None else "leave p out, or ask for gamma-p"
        raise BadValue("p", p, "be given for gamma-p, and for no other norm", remedy)
    module, _, function = target.partition(":")
    answer: CertifiedNorm = getattr(import_module(module), function)(
        workload, exponent if p is None else p, **fixed, **options
    )
    return answer


def _target(method: str) -> tuple[str, dict[str, Any]]:
    if method not in _METHODS:
        raise UnknownName("method", method, _METHODS)
    return _METHODS[method]
