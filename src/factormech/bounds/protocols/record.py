"""What a bound for every protocol says, and the checks that its callers share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from factormech.arrays import check_epsilon, check_positive_integer
from factormech.errors import BadValue, UnknownName

Data = Literal["given", "drawn"]
DATA = ("given", "drawn")
PROTOCOLS = "every ε-LDP protocol, interactive or not, any estimator"


@dataclass(frozen=True)
class ProtocolBound:
    """A number of users and an error that no protocol of the class reaches with fewer users.

    Attributes
    ----------
    theorem
        ``A``, ``C``, ``D`` or ``one query``, as ``docs/lower-bounds-every-protocol.md`` calls them.
    measure
        ``mean squared error`` (per query) or ``largest error``.
    data
        ``given``: the worst over the data sets of the users; ``drawn``: over distributions that they are drawn from.
    epsilon
        The privacy budget.
    users
        N. With N users every protocol of the class has an error of at least ``error``; of a bound on the number of
        users: with N − 1 users and fewer, down to ``fewest``.
    error
        The bound on the error, rounded down.
    types
        The face: the user types that the hard instances use.
    prior, centre
        β, the Dirichlet parameter per type; with a ``centre`` the parameters are mβ times its entries.
    field
        ``constant`` or ``square-root`` vector fields; empty for one query.
    information
        What bounds the information of a report: ``trace``, ``pairs``, or ``coins`` for one query.
    fewest
        The least number of users that a bound on the number of users was proved for; 1 unless the data are given.
    proof
        What the bound follows from in exact numbers, such as a ``SquaredProof``.
    protocols
        The class of protocols.
    """

    theorem: str
    measure: str
    data: Data
    epsilon: float
    users: int
    error: float
    types: tuple[int, ...]
    prior: Fraction
    field: str
    information: str
    proof: Any
    centre: tuple[Fraction, ...] | None = None
    fewest: int = 1
    protocols: str = PROTOCOLS


def checked(epsilon: float, data: str) -> float:
    """The privacy budget, and that ``data`` is known."""
    if data not in DATA:
        raise UnknownName("data", str(data), DATA)
    return check_epsilon(epsilon)


def checked_users(users: Any) -> int:
    """The number of users."""
    return check_positive_integer("users", users)


def checked_error(alpha: Any, largest: float, what: str) -> Fraction:
    """The error α as the exact number that it is, below that of answers which need no users."""
    good = isinstance(alpha, (int, float)) and not isinstance(alpha, bool)
    if not good or not math.isfinite(alpha) or alpha <= 0:
        raise BadValue("alpha", alpha, "be a finite number above 0", "give for example 0.01")
    if alpha >= largest:
        rule = f"be below {largest:.6g}, {what}, which needs no users"
        raise BadValue("alpha", alpha, rule, f"give for example {largest / 10:.2g}")
    return Fraction(alpha)


def checked_types(types: Sequence[int] | None, domain_size: int) -> tuple[int, ...] | None:
    """A face of at least two distinct types of the domain; ``None`` stays ``None``."""
    if types is None:
        return None
    found = tuple(sorted({check_positive_integer("types", u, minimum=0) for u in types}))
    if len(found) < 2 or found[-1] >= domain_size:
        rule = f"hold at least two distinct types from 0 to {domain_size - 1}"
        raise BadValue("types", list(types), rule, "give for example [0, 1], or leave them out")
    return found


def vacuous(name: str, value: Any, remedy: str) -> BadValue:
    """The error of a bound that says nothing."""
    return BadValue(name, value, "be such that the bound says something; it is vacuous here", remedy)
