"""The lower bounds on the variance of local mechanisms, by name.

A bound is a function (workload, epsilon) → a number that the variance per user, summed over the queries and averaged
over the user types, of no *unbiased linear strategy* is below: every user draws a report from one ε-LDP strategy of any
number of outputs, not interactively, and the answers are a sum of one vector per report, without bias. Biased answers
(constants, shrunk or consistent estimates), interactive protocols and (ε, δ) are outside of that class.

Every bound is rounded down: it holds for the floats that it is printed with, as its module proves. It is 0 where it is
vacuous. To add one, write the function and one line here.
"""

from __future__ import annotations

from importlib import import_module

from factormech.errors import UnknownName
from factormech.workloads.base import Workload

_BOUNDS = {
    "svd": "factormech.bounds.spectral:svd",
    "centred-svd": "factormech.bounds.spectral:centred_svd",
    "parametric": "factormech.bounds.parametric:parametric",
    "pairwise": "factormech.bounds.pairwise:pairwise",
    "certified": "factormech.bounds.pairwise:certified",
}


def names() -> list[str]:
    """Return the names of all bounds."""
    return list(_BOUNDS)


def module_of(name: str) -> str:
    """The module that a bound's code starts from."""
    return _target(name).partition(":")[0]


def variance_bound(name: str, workload: Workload, epsilon: float) -> float:
    """Return the bound on the average variance per user of unbiased linear strategies; 0 where it is vacuous."""
    module, _, function = _target(name).partition(":")
    value: float = getattr(import_module(module), function)(workload, epsilon)
    return value


def _target(name: str) -> str:
    if name not in _BOUNDS:
        raise UnknownName("bound", name, _BOUNDS)
    return _BOUNDS[name]
