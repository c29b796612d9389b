"""The factorization norms and the methods that compute them, by name: the one place where a name becomes a function.

A norm is a name for p: ``gamma-2`` (p = ∞), ``gamma-f`` (p = 2), ``gamma-p`` (p as given). A method is a function
(workload, p, **options) → ``CertifiedNorm``. To add a method, write the function and one line in ``_METHODS``; one that
only suits some workloads raises ``BadValue`` with the reason on the others.

A *quantity* is what a study asks for, all options fixed: the norms, ``gamma-p4`` for p = 4, and the norms of whole sets
of matrices. To add one, write the function and one line in ``_QUANTITIES``.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from factormech.errors import BadValue, UnknownName
from factormech.norms.certified import CertifiedNorm
from factormech.workloads.base import Workload

_NORMS: dict[str, float | None] = {"gamma-2": math.inf, "gamma-f": 2.0, "gamma-p": None}

_EXACT = "factormech.norms.exact:factorization_norm"
# name: (module:function, options that the name stands for)
_METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "auto": ("factormech.norms.by_workload:automatic_norm", {}),
    "structured": ("factormech.norms.by_workload:structured_norm", {}),
    "dense": (_EXACT, {"method": "auto"}),
    "fixed-point": (_EXACT, {"method": "fixed-point"}),
    "barrier": (_EXACT, {"method": "barrier"}),
    "cvxpy": ("factormech.norms.semidefinite:semidefinite_norm", {}),
}


# What a study may name as its solver: our own, or a general one through cvxpy.
_SOLVERS: dict[str, str | None] = {"auto": None, "cvxpy": "clarabel", "cvxpy-scs": "scs"}


@dataclass(frozen=True)
class Quantity:
    """A quantity of a workload that a study may ask for.

    Attributes
    ----------
    target
        ``module:function`` of (workload or matrix[, α], gap=…) → ``CertifiedNorm``.
    options
        What the name stands for.
    exponent
        p of an exact norm, else ``None``.
    tolerant
        Whether it has an error α.
    labels
        Whether it is of a concept class, so that the matrix must hold ±1 labels.
    gap
        Relative width asked of our own solvers; the general ones stop by their own tolerances.
    """

    name: str
    target: str
    options: dict[str, Any]
    exponent: float | None = None
    tolerant: bool = False
    labels: bool = False
    gap: float = 1e-3

    def by(self, solver: str) -> tuple[str, dict[str, Any]]:
        """``module:function`` and its options for a solver of ``solvers()``."""
        if solver not in _SOLVERS:
            raise UnknownName("solver", solver, _SOLVERS)
        general = _SOLVERS[solver]
        if general is None:
            return self.target, {"gap": self.gap, **self.options}
        if self.exponent is None:
            return self.target, {"method": general, **self.options}
        return _METHODS["cvxpy"][0], {"solver": general.upper(), **self.options}

    def module(self, solver: str = "auto") -> str:
        """The module that its code starts from."""
        return self.by(solver)[0].partition(":")[0]


_APPROXIMATE = "factormech.norms.approximate:"
_QUANTITIES = (
    Quantity("gamma-2-approximate", _APPROXIMATE + "approximate_norm", {}, tolerant=True),
    Quantity("gamma-2-shifted", _APPROXIMATE + "approximate_norm", {"shifted": True}, tolerant=True),
    Quantity("gamma-2-difference", "factormech.norms.approximate:difference_norm", {}, tolerant=True, labels=True),
    Quantity("eta", _APPROXIMATE + "eta_norm", {}, tolerant=True, labels=True),
    Quantity("margin-complexity", _APPROXIMATE + "margin_complexity", {}, labels=True),
)
# gamma-p2 is gamma-f: one norm has one name.
_FINITE = re.compile(r"gamma-p([3-9]|[1-9][0-9]{1,2})")


def quantities() -> list[str]:
    """Return the names that a study may ask for; ``{p}`` stands for a whole number from 3 to 999."""
    return ["gamma-2", "gamma-f", "gamma-p{p}", *(quantity.name for quantity in _QUANTITIES)]


def quantity(name: str) -> Quantity:
    """The quantity of this name."""
    for known in _QUANTITIES:
        if known.name == name:
            return known
    finite = _FINITE.fullmatch(name) if isinstance(name, str) else None
    p = float(finite[1]) if finite else {"gamma-2": math.inf, "gamma-f": 2.0}.get(name)
    if p is None:
        raise UnknownName("norm", name, quantities())
    return Quantity(name, _METHODS["auto"][0], {"p": p}, exponent=p, gap=1e-6)


def solvers() -> list[str]:
    """The solvers that a study may name: ``cvxpy`` is Clarabel."""
    return list(_SOLVERS)


def compute(name: str, subject: Workload | Any, *, alpha: float | None = None, solver: str = "auto") -> CertifiedNorm:
    """A quantity of a workload or a dense matrix; ``alpha`` belongs to those that have an error."""
    asked = quantity(name)
    if asked.tolerant == (alpha is None):
        remedy = "give for example alpha=0.1" if alpha is None else "leave it out"
        raise BadValue("alpha", alpha, f"be given for {name}" if alpha is None else f"not be given for {name}", remedy)
    target, options = asked.by(solver)
    module, _, function = target.partition(":")
    arguments = (subject,) if alpha is None else (subject, alpha)
    answer: CertifiedNorm = getattr(import_module(module), function)(*arguments, **options)
    return answer


def names() -> list[str]:
    """Return the names of the norms."""
    return list(_NORMS)


def methods() -> list[str]:
    """Return the names of the methods."""
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
