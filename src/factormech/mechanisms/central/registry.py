"""The central mechanisms, by name.

To add a factorization, write a function workload → ``Factorization`` (or ``Unavailable``) and add one line to
``_FACTORIZATIONS``; a mechanism of another shape goes to ``build``. ``gamma-p{p}`` stands for a whole p from 3 to 999,
``approximate`` needs an error ``alpha``, and a projection takes as ``base`` the mechanism whose answers it projects
(that of ``PROJECTIONS`` if left out).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from factormech.errors import BadValue, Unavailable, UnknownName
from factormech.mechanisms.central.factorization import Factorization
from factormech.mechanisms.central.mechanism import CentralMechanism, from_factorization
from factormech.mechanisms.central.projection import ProjectedMechanism
from factormech.norms.registry import quantity
from factormech.workloads.base import Workload

_HERE = "factormech.mechanisms.central."
# name: (module:function of a workload, or of a domain size for prefixes; whether it is of prefixes)
_FACTORIZATIONS = {
    "gaussian-output": (_HERE + "ordered:output_noise", False),
    "gaussian-input": (_HERE + "ordered:input_noise", False),
    "square-root": (_HERE + "ordered:square_root_of_prefixes", True),
    "square-root-normalised": (_HERE + "ordered:normalised_square_root", True),
    "binary-tree": (_HERE + "ordered:least_squares_tree", True),
    "binary-tree-plain": (_HERE + "ordered:plain_tree", True),
}
_NORMS = ("gamma-2", "gamma-f", "gamma-p{p}")
APPROXIMATE = "approximate"
# name: the mechanism whose answers are projected on those that so many users could have.
PROJECTIONS = {"gaussian-projection": "gaussian-output", "gamma-f-projection": "gamma-f"}
_SOLVED = _HERE + "solved"


def names() -> list[str]:
    """Return the names of all mechanisms; ``{p}`` stands for a whole number."""
    return [*_FACTORIZATIONS, *_NORMS, APPROXIMATE, *PROJECTIONS]


def module_of(name: str) -> str:
    """The module that a mechanism's code starts from."""
    if name in PROJECTIONS:
        return _HERE + "projection"
    if name in _FACTORIZATIONS:
        return _FACTORIZATIONS[name][0].partition(":")[0]
    _check_solved(name)
    return _SOLVED


def factorize(name: str, workload: Workload, *, alpha: float | None = None) -> Factorization | Unavailable:
    """The factorization of this name, without noise, or why there is none."""
    if (name == APPROXIMATE) == (alpha is None):
        remedy = "give for example alpha=0.1" if alpha is None else "leave it out"
        raise BadValue("alpha", alpha, "be given for approximate, and for nothing else", remedy)
    if name in _FACTORIZATIONS:
        module, _, function = _FACTORIZATIONS[name][0].partition(":")
        ordered = import_module(module)
        make = getattr(ordered, function)
        answer: Factorization | Unavailable = (
            ordered.of_prefixes(workload, make) if _FACTORIZATIONS[name][1] else make(workload)
        )
        return answer
    _check_solved(name)
    solved = import_module(_SOLVED)
    found: Factorization | Unavailable = (
        solved.approximate(workload, alpha)
        if name == APPROXIMATE
        else solved.optimal(workload, name, quantity(name).exponent)
    )
    return found


def build(
    name: str,
    workload: Workload,
    epsilon: float,
    delta: float,
    *,
    calibration: str = "analytic",
    alpha: float | None = None,
    base: str | None = None,
) -> CentralMechanism | ProjectedMechanism | Unavailable:
    """The mechanism of this name for a workload, or why there is none."""
    if name not in PROJECTIONS:
        if base is not None:
            raise BadValue("base", base, f"be given for {', '.join(PROJECTIONS)} alone", "leave it out")
        factors = factorize(name, workload, alpha=alpha)
        if isinstance(factors, Unavailable):
            return factors
        return from_factorization(name, factors, epsilon, delta, calibration)
    base = base or PROJECTIONS[name]
    factors = factorize(base, workload, alpha=alpha)
    if isinstance(factors, Unavailable):
        return factors
    if factors.approximate:
        raise BadValue("base", base, "be an unbiased mechanism", "give for example gamma-f")
    return ProjectedMechanism(name, from_factorization(base, factors, epsilon, delta, calibration))


def _check_solved(name: Any) -> None:
    if name == APPROXIMATE:
        return
    try:
        exponent = quantity(name).exponent
    except UnknownName:
        exponent = None
    if exponent is None:
        raise UnknownName("central mechanism", name, names()) from None
