"""Synthetic populations: how many users there are of each type.

A population is a probability vector over the user types, fixed by its name and the domain size, from which the users
are drawn independently by a named random stream. The stream is named after the data alone, never after a mechanism: all
mechanisms collect from the same users.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.errors import UnknownName
from factormech.seeds import rng_for


def _uniform(n: int) -> FloatArray:
    """Return every type alike: the population that average variance describes."""
    return np.ones(n)


def _zipf(n: int) -> FloatArray:
    """Type u in proportion to 1/(u+1)."""
    return np.asarray(1.0 / np.arange(1, n + 1))


def _spiky(n: int) -> FloatArray:
    """Nine in ten users on about √n/2 evenly spaced types, the others on all types alike."""
    spikes = max(1, round(np.sqrt(n) / 2))
    mass = np.full(n, 0.1 / n)
    mass[(np.arange(spikes) * n) // spikes] += 0.9 / spikes
    return mass


def _smooth(n: int) -> FloatArray:
    """Two bells on the ordered types: two in three users around 0.3 n (deviation 0.1 n), the others around 0.7 n."""
    at = (np.arange(n) + 0.5) / n
    bells = [share * np.exp(-0.5 * ((at - centre) / 0.1) ** 2) for share, centre in ((2 / 3, 0.3), (1 / 3, 0.7))]
    return np.asarray(bells[0] + bells[1])


_POPULATIONS: dict[str, Callable[[int], FloatArray]] = {
    "uniform": _uniform,
    "zipf": _zipf,
    "spiky": _spiky,
    "smooth": _smooth,
}


def names() -> list[str]:
    """Return every synthetic population."""
    return list(_POPULATIONS)


def probabilities(name: str, domain_size: int) -> FloatArray:
    """The share of each type in the population of this name, (n,), summing to one."""
    if name not in _POPULATIONS:
        raise UnknownName("population", name, _POPULATIONS)
    mass = _POPULATIONS[name](check_positive_integer("domain_size", domain_size))
    return np.asarray(mass / mass.sum())


def population(name: str, domain_size: int, users: int, seed: int, *stream: str) -> IntArray:
    """The numbers of users by type, (n,), of ``users`` independent draws; fixed by the arguments.

    ``stream`` names one of several draws under one root seed.
    """
    p = probabilities(name, domain_size)
    users = check_positive_integer("users", users)
    rng = rng_for(seed, "population", name, str(domain_size), str(users), *stream)
    return np.asarray(rng.multinomial(users, p), dtype=np.int64)
