"""The mean squared error, and the number of users that it needs, for every ε-LDP protocol (Theorem A).

**From errors to numbers of users.** For a fixed proof the numbers of users with a bound of at least a given error > 0
are an interval (§4 of ``docs/lower-bounds-every-protocol.md``), so a search by halves finds both its ends.

**The search for the best prior.** The search is that of ``squared.py`` over uniform priors on faces, the hardest
centre, and weights of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol

from factormech.bounds.protocols import faces, squared
from factormech.bounds.protocols.designs import more_designs
from factormech.bounds.protocols.record import (
    Data,
    ProtocolBound,
    checked,
    checked_error,
    checked_types,
    checked_users,
    vacuous,
)
from factormech.bounds.protocols.squared import SquaredProof
from factormech.workloads.base import Workload

# From errors to numbers of users.

# A search follows at most so many proofs.
_CHANGES = 60


class ErrorProof(Protocol):
    """The quantities that prove a bound on the mean squared error."""

    def error(self, users: int, data: str) -> Fraction | float:
        """A bound on the error with this many users; it may be below 0."""


ProofAt = Callable[[int], ErrorProof | None]


def last_users(proof: ErrorProof, error: Fraction, start: int, data: str) -> int:
    """The largest N ≥ ``start`` with a bound of at least ``error``, which ``start`` has."""
    low, high = start, 2 * start
    while proof.error(high, data) >= error:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if proof.error(middle, data) >= error else (low, middle)
    return low


def first_users(proof: ErrorProof, error: Fraction, start: int, data: str) -> int:
    """Return the least N such that every number from N to ``start`` has a bound of at least ``error``."""
    low, high = 0, start
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if proof.error(middle, data) >= error else (middle, high)
    return high


def most_users(proof_at: ProofAt, error: Fraction, start: int, data: str) -> tuple[int, ErrorProof] | None:
    """The largest N that is found to have a bound of at least ``error``, and its proof.

    The search halves N from ``start`` until a proof is found, and follows each proof as far as it goes.
    """
    users, found = start, proof_at(start)
    while users > 1 and (found is None or found.error(users, data) < error):
        users //= 2
        found = proof_at(users)
    if found is None or found.error(users, data) < error:
        return None
    users = last_users(found, error, users, data)
    for _ in range(_CHANGES):
        # Shares are best at the number of users that they are computed for.
        other = proof_at(users)
        if other is None or other.error(users, data) < error:
            break
        further = last_users(other, error, users, data)
        if further == users:
            break
        users, found = further, other
    return users, found


def fewest_users(proof_at: ProofAt, proof: ErrorProof, error: Fraction, last: int, data: str) -> int:
    """Return the least N such that every number from N to ``last`` is found to have a bound of at least ``error``."""
    fewest = first_users(proof, error, last, data)
    for _ in range(_CHANGES):
        other = None if fewest == 1 else proof_at(fewest - 1)
        if other is None or other.error(fewest - 1, data) < error:
            break
        fewest = first_users(other, error, fewest - 1, data)
    return fewest


# The search for the best prior.


class SquaredSearch:
    """The designs of one workload and budget, for bounds at many numbers of users.

    Parameters
    ----------
    workload
        A :class:`Workload` or a (k, n) matrix.
    epsilon
        The privacy budget.
    types
        One face to search alone; all faces of the families without it.
    """

    def __init__(self, workload: Workload | Any, epsilon: float, types: Sequence[int] | None = None) -> None:
        self.epsilon = checked(epsilon, "given")
        self.problem = faces.problem_of(workload)
        face = checked_types(types, self.problem.types)
        if face is not None:
            self.designs = [found for found in [squared.design_of(self.problem, face)] if found is not None]
            return
        self.designs = squared.squared_designs(self.problem) + more_designs(self.problem, self.epsilon)

    def error(self, users: int, data: Data = "given") -> ProtocolBound:
        """The bound on the mean squared error per query with this many users."""
        users = checked_users(users)
        found = self._proof(users, data)
        if found is None:
            raise vacuous("users", users, "ask for more users, or for another ε")
        error = found.error(users, data) / self.problem.queries
        return self._record(found, data, users, _below(error))

    def users(self, alpha: float, data: Data = "given") -> ProtocolBound:
        """The bound on the number of users for a mean squared error of at most α per query."""
        largest = squared.constant_answers(self.problem) / self.problem.queries
        target = checked_error(alpha, largest, "the mean squared error of constant answers")
        target *= self.problem.queries
        start = squared.many_users(self.designs, self.epsilon, float(target))
        reached = most_users(lambda users: self._proof(users, data), target, start, data)
        if reached is None:
            raise vacuous("alpha", alpha, "ask for a smaller error, or for another ε")
        last, found = reached
        fewest = 1
        if data == "given":
            fewest = fewest_users(lambda users: self._proof(users, data), found, target, last, data)
        return self._record(found, data, last + 1, float(alpha), fewest)

    def _proof(self, users: int, data: str) -> SquaredProof | None:
        choice = squared.best_choice(self.designs, self.epsilon, users, data)
        if choice is None:
            return None
        found = squared.proof_of(self.problem, choice, self.epsilon, users)
        return found if found.error(users, data) > 0 else None

    def _record(self, found: Any, data: Data, users: int, error: float, fewest: int = 1) -> ProtocolBound:
        design = found.design
        return ProtocolBound(
            theorem="A",
            measure="mean squared error",
            data=data,
            epsilon=self.epsilon,
            users=users,
            error=error,
            types=design.types,
            prior=found.beta,
            field=found.field,
            information=design.certificate,
            proof=found,
            centre=design.centre,
            fewest=fewest,
        )


def _below(value: Fraction) -> float:
    """The largest float that is not above a positive fraction."""
    found = float(value)
    return found if Fraction(found) <= value else math.nextafter(found, 0.0)


def mean_squared_error(
    workload: Workload | Any, epsilon: float, users: int, *, data: Data = "given", types: Sequence[int] | None = None
) -> ProtocolBound:
    """Return a lower bound on the mean squared error per query of every ε-LDP protocol with this many users.

    Parameters
    ----------
    workload
        A :class:`Workload` or a (k, n) matrix W; the answers are Wx/N for N users with type counts x.
    epsilon
        The privacy budget, finite and above 0.
    users
        N, at least 1.
    data
        ``given``: the error on the worst data set of N users. ``drawn``: the worst over distributions of the types.
    types
        One face to use; without it many are tried.

    Returns
    -------
    ProtocolBound
        With ``error`` the bound, and all that it follows from.

    Raises
    ------
    BadValue
        Where the bound is vacuous, all queries are constant, or an argument is not allowed.

    Examples
    --------
    >>> from factormech.bounds.protocols.mean_squared import mean_squared_error
    >>> from factormech.workloads.registry import create
    >>> found = mean_squared_error(create("prefix", 16), epsilon=1.0, users=10**6)
    >>> f"{found.error:.3e}", found.theorem, found.protocols
    ('4.520e-06', 'A', 'every ε-LDP protocol, interactive or not, any estimator')
    """
    checked(epsilon, data)
    return SquaredSearch(workload, epsilon, types).error(users, data)


def users_for_mean_squared_error(
    workload: Workload | Any, epsilon: float, alpha: float, *, data: Data = "given", types: Sequence[int] | None = None
) -> ProtocolBound:
    """Return a lower bound on the users of every ε-LDP protocol with a mean squared error of at most α per query.

    Parameters
    ----------
    workload, epsilon, data, types
        As of :func:`mean_squared_error`.
    alpha
        The mean squared error per query, below that of constant answers.

    Returns
    -------
    ProtocolBound
        No protocol with from ``fewest`` to ``users`` − 1 users has an error of α.

    Raises
    ------
    BadValue
        Where the bound is vacuous, all queries are constant, or an argument is not allowed.

    Examples
    --------
    >>> from factormech.bounds.protocols.mean_squared import users_for_mean_squared_error
    >>> from factormech.workloads.registry import create
    >>> found = users_for_mean_squared_error(create("histogram", 16), epsilon=1.0, alpha=1e-4)
    >>> found.users, found.fewest
    (25881, 1)
    """
    checked(epsilon, data)
    return SquaredSearch(workload, epsilon, types).users(alpha, data)
