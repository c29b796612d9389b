"""From bounds on the error at given numbers of users to a bound on the number of users.

For a fixed proof the numbers of users with a bound of at least a given error > 0 are an interval (§4 of
``docs/lower-bounds-every-protocol.md``), so a search by halves finds both its ends.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Protocol

# A search follows at most so many proofs.
_CHANGES = 60


class Proof(Protocol):
    """What a bound follows from."""

    def error(self, users: int, data: str) -> Fraction | float:
        """A bound on the error with this many users; it may be below 0."""


ProofAt = Callable[[int], Proof | None]


def last_users(proof: Proof, error: Fraction, start: int, data: str) -> int:
    """The largest N ≥ ``start`` with a bound of at least ``error``, which ``start`` has."""
    low, high = start, 2 * start
    while proof.error(high, data) >= error:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if proof.error(middle, data) >= error else (low, middle)
    return low


def first_users(proof: Proof, error: Fraction, start: int, data: str) -> int:
    """The least N such that N … ``start`` have bounds of at least ``error``, which ``start`` has."""
    low, high = 0, start
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if proof.error(middle, data) >= error else (middle, high)
    return high


def most_users(proof_at: ProofAt, error: Fraction, start: int, data: str) -> tuple[int, Proof] | None:
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


def fewest_users(proof_at: ProofAt, proof: Proof, error: Fraction, last: int, data: str) -> int:
    """The least N so that all of N … ``last`` are found to have bounds of at least ``error``."""
    fewest = first_users(proof, error, last, data)
    for _ in range(_CHANGES):
        other = None if fewest == 1 else proof_at(fewest - 1)
        if other is None or other.error(fewest - 1, data) < error:
            break
        fewest = first_users(other, error, fewest - 1, data)
    return fewest
