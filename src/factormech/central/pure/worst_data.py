r"""The worst data of a named family, searched: "worst found", which is at most the worst case and no proof of it.

The family: all users of one type (a *vertex*: types at random, and the one whose answers lie farthest out); *s-sparse*,
equal counts, but for remainders, of s types at random, s = 2, 4, 8 … N; *uniform* is its last member. The error of
full parity is largest at an s that grows with n, which vertices and uniform data alone would not show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.central.pure.bodies import checked_queries
from factormech.central.pure.errors import errors_on, mean_error
from factormech.central.pure.projection import Release
from factormech.central.sequential import LEVEL, Estimate
from factormech.local.strategy import Unavailable


@dataclass(frozen=True)
class WorstFound:
    """The data set of largest mean error among those tried, and its error on draws that did not choose it."""

    family: str
    sparsity: int
    data: FloatArray
    error: Estimate
    tried: int


def spread(users: int, types: Any, size: int) -> FloatArray:
    """Counts (N,) of n users spread over these types as evenly as whole persons can be."""
    n, chosen = check_positive_integer("users", users), np.asarray(types)
    counts = np.zeros(size)
    counts[chosen] = n // len(chosen)
    counts[chosen[: n % len(chosen)]] += 1.0
    return counts


def candidates(queries: Any, users: int, rng: np.random.Generator, *, copies: int = 1) -> list[tuple[str, FloatArray]]:
    """(family, counts) of the module's head, ``copies`` of each random member; at most n types are present."""
    Q, n = checked_queries(queries), check_positive_integer("users", users)
    N = Q.shape[1]
    far = int(np.argmax(np.linalg.norm(Q - Q.mean(axis=1, keepdims=True), axis=0)))
    found = [("vertex", spread(n, [far], N))]
    s = 1
    while s < min(n, N):
        for _ in range(copies):
            name = "vertex" if s == 1 else "sparse"
            found.append((name, spread(n, rng.choice(N, s, replace=False), N)))
        s *= 2
    if n >= N:
        found.append(("uniform", spread(n, np.arange(N), N)))
    else:
        found.append(("sparse", spread(n, rng.choice(N, n, replace=False), N)))
    return found


def worst_found(
    release: Release,
    users: int,
    rng: np.random.Generator,
    *,
    copies: int = 1,
    matrices: int = 12,
    draws: int = 50,
    level: float = LEVEL,
    extra: Sequence[tuple[str, Any]] = (),
) -> WorstFound | Unavailable:
    """Try every candidate, and ``extra`` ones, on common noise; measure the worst again on new noise."""
    tried = [*candidates(release.queries, users, rng, copies=copies), *extra]
    data = [np.asarray(counts, dtype=np.float64) for _, counts in tried]
    errors = errors_on(release, data, rng, matrices=matrices, draws=draws)
    if isinstance(errors, Unavailable):
        return errors
    at = int(np.argmax(errors.mean(axis=(1, 2))))
    again = errors_on(release, [data[at]], rng, matrices=matrices, draws=draws)
    if isinstance(again, Unavailable):
        return again
    return WorstFound(tried[at][0], int(np.count_nonzero(data[at])), data[at], mean_error(again[0], level), len(tried))
