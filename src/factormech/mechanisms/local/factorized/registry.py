"""The mechanisms that answer a workload from local reports, by name: one line each.

To add one, write a function of a ``Request`` (``sources.py``) and a line in ``_SOURCES``. The mechanisms of
``mechanisms/local/registry.py`` are here under their own names, decoded for the workload.
"""

from __future__ import annotations

from collections.abc import Sequence

from factormech.arrays import check_epsilon
from factormech.errors import Unavailable, UnknownName
from factormech.mechanisms.local import registry as strategies
from factormech.mechanisms.local.factorized import sources
from factormech.mechanisms.local.factorized.factors import LocalFactorization, compressed
from factormech.mechanisms.local.factorized.release import LocalRelease, check_accuracy
from factormech.mechanisms.local.factorized.releases import ConstantRelease, FactorizationRelease
from factormech.mechanisms.local.factorized.sources import FactorRequest, Made, Source
from factormech.mechanisms.local.randomizers import registry as randomizers
from factormech.workloads.base import Workload

_SOURCES: dict[str, Source] = {
    "optimal": sources.optimal,
    "approximate": sources.approximate,
    "shifted": sources.shifted,
    "half-alpha": sources.half_alpha,
    "independent": sources.independent,
    "one-query": sources.one_query,
    "dyadic-tree": sources.dyadic_tree,
    "dyadic-tree-plain": sources.dyadic_tree_plain,
    "polynomial": sources.polynomials,
    "symmetric-polynomial": sources.symmetric_polynomial,
}


def names() -> list[str]:
    """Return the names of all mechanisms, in the order in which legends and tables show them."""
    return [*_SOURCES, *strategies.names()]


def uses_randomizer(name: str) -> bool:
    """Return whether users report points of the ball, so that the randomizer can be chosen."""
    _source(name)
    return name in _SOURCES and name != "one-query"


def module_of(name: str) -> str:
    """The module that a mechanism's code starts from."""
    return sources.__name__ if name in _SOURCES else strategies.module_of(name)


def build(
    name: str,
    workload: Workload,
    epsilon: float,
    *,
    alpha: float | None = None,
    randomizer: str = "half-sphere",
    delta: float | None = None,
    seed: int = 0,
    root_seed: int = 0,
) -> LocalRelease | Unavailable:
    """The mechanism for a workload and a budget, or why there is none.

    Parameters
    ----------
    alpha
        The accuracy that it is to reach in expected ℓ_∞ error, for those that are made for one.
    randomizer, delta
        Of the unit ball, for those whose users report its points (``randomizers/registry.py``).
    seed, root_seed
        Of the solver, for strategies that have one.

    Of several factorizations (of different distance a) the one that is predicted to need the fewest users is taken.
    """
    source, epsilon = _source(name), check_epsilon(epsilon)
    request = FactorRequest(name, workload, epsilon, alpha, seed, root_seed)
    if alpha is not None:
        check_accuracy(alpha, request.matrix)
    made: Made = source(request)
    if isinstance(made, (LocalRelease, Unavailable)):
        return made

    def release(factors: LocalFactorization) -> LocalRelease:
        return release_of(name, factors, epsilon, randomizer=randomizer, delta=delta)

    if isinstance(made, list):
        return _best(name, [release(factors) for factors in made], alpha)
    accuracy = request.accuracy()
    return release(made(lambda factors: release(factors).predicted_users(accuracy)))


def release_of(
    name: str,
    factors: LocalFactorization,
    epsilon: float,
    *,
    randomizer: str = "half-sphere",
    delta: float | None = None,
) -> LocalRelease:
    """The mechanism of any checked factors, in the least dimension."""
    small = compressed(factors)
    if not len(small.right):
        return ConstantRelease(name, small, epsilon)
    built = randomizers.build(randomizer, len(small.right), epsilon, delta)
    return FactorizationRelease(name, small, built)


def _best(name: str, releases: Sequence[LocalRelease], alpha: float | None) -> LocalRelease | Unavailable:
    if alpha is None:
        return releases[0]  # one, of a mechanism that is made for no accuracy
    near = [release for release in releases if release.distance < alpha]
    if not near:
        least = min((release.distance for release in releases), default=float("nan"))
        return Unavailable(f"no {name} factorization is within alpha = {alpha} (the nearest is at {least:.3g})")
    return near[0] if len(near) == 1 else min(near, key=lambda release: release.predicted_users(alpha))


def _source(name: str) -> Source:
    if name in _SOURCES:
        return _SOURCES[name]
    if name not in strategies.names():
        raise UnknownName("mechanism", name, names())
    return sources.strategy
