"""The randomizers of the unit ball, by name.

To add one, write a class (dimension, epsilon), with delta third if it has one, and one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from factormech.arrays import check_epsilon, check_positive_integer
from factormech.errors import BadValue, UnknownName
from factormech.mechanisms.local.randomizers.base import BallRandomizer
from factormech.privacy.gaussian import check_delta

# name: (module:function, whether it has a δ)
_RANDOMIZERS = {
    "half-sphere": ("factormech.mechanisms.local.randomizers.cap_randomizers:HalfSphere", False),
    "priv-unit": ("factormech.mechanisms.local.randomizers.cap_randomizers:PrivUnit", False),
    "gaussian": ("factormech.mechanisms.local.randomizers.base:GaussianNoise", True),
}


def names() -> list[str]:
    """Return every randomizer, in the order in which legends and tables show them."""
    return list(_RANDOMIZERS)


def has_delta(name: str) -> bool:
    """Return whether the randomizer is (ε, δ)-private rather than ε-private."""
    return _entry(name)[1]


def module_of(name: str) -> str:
    """The module that a randomizer's code starts from."""
    return _entry(name)[0].partition(":")[0]


def build(name: str, dimension: int, epsilon: float, delta: float | None = None) -> BallRandomizer:
    """The randomizer of the unit ball of ℝ^dimension with this budget; δ for those that have one, and only for them."""
    target, needs_delta = _entry(name)
    d, epsilon = check_positive_integer("dimension", dimension), check_epsilon(epsilon)
    module, _, attribute = target.partition(":")
    make: Callable[..., BallRandomizer] = getattr(import_module(module), attribute)
    if not needs_delta:
        if delta is not None:
            raise BadValue("delta", delta, f"be left out for {name}, which is ε-private", "leave it out")
        return make(d, epsilon)
    if delta is None:
        raise BadValue("delta", delta, f"be given for {name}", "give for example 1e-9")
    return make(d, epsilon, check_delta(delta))


def _entry(name: str) -> tuple[str, bool]:
    if name not in _RANDOMIZERS:
        raise UnknownName("randomizer", name, names())
    return _RANDOMIZERS[name]
