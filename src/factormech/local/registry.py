"""The local mechanisms, by the names that configuration, files and tables use.

To add one, write a module with a function ``strategy(domain_size, epsilon)`` that returns a ``Strategy`` (or
``Unavailable``), and add one line to ``_MECHANISMS``. A mechanism that looks at the workload takes
``(workload, epsilon, seed)`` instead and goes to ``_ADAPTIVE``. Nothing else needs to know: configuration, jobs,
tables, figures and the tests that run on every mechanism all read these two tables.
"""

from __future__ import annotations

from importlib import import_module

from factormech.arrays import check_epsilon
from factormech.errors import UnknownName
from factormech.local.strategy import Strategy, Unavailable
from factormech.workloads.base import Workload

_MECHANISMS = {
    "randomized-response": "factormech.local.randomized_response:strategy",
    "rappor": "factormech.local.rappor:strategy",
    "subset-selection": "factormech.local.subset_selection:strategy",
    "hadamard": "factormech.local.hadamard:strategy",
    "hadamard-table1": "factormech.local.hadamard:table1_strategy",
    "hierarchical": "factormech.local.hierarchical:strategy",
    "hierarchical-table1": "factormech.local.hierarchical:table1_strategy",
    "fourier": "factormech.local.fourier:strategy",
    "fourier-3": "factormech.local.fourier:low_order_strategy",
}
_ADAPTIVE: dict[str, str] = {}


def names() -> list[str]:
    """Every mechanism, in the order in which legends and tables show them."""
    return [*_MECHANISMS, *_ADAPTIVE]


def is_adaptive(name: str) -> bool:
    """Whether the strategy depends on the workload, and so must be built for each."""
    _target(name)
    return name in _ADAPTIVE


def module_of(name: str) -> str:
    """The module that a mechanism's code starts from."""
    return _target(name).partition(":")[0]


def build(name: str, workload: Workload, epsilon: float, *, seed: int = 0) -> Strategy | Unavailable:
    """The mechanism's strategy for this workload's domain, or the reason why there is none."""
    epsilon = check_epsilon(epsilon)
    module, _, function = _target(name).partition(":")
    make = getattr(import_module(module), function)
    arguments = (workload, epsilon, seed) if name in _ADAPTIVE else (workload.domain_size, epsilon)
    built: Strategy | Unavailable = make(*arguments)
    return built


def _target(name: str) -> str:
    known = _MECHANISMS | _ADAPTIVE
    if name not in known:
        raise UnknownName("mechanism", name, known)
    return known[name]
