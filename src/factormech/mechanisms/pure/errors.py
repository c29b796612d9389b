r"""Errors of pure mechanisms on given data and on the worst data found, and what random matrices do to K.

**Errors on given data.** E‖Ŷ − Q(X)‖₂/√k (the mean of norms that Nikolov, SODA 2023, calls err) is simulated. Draws
through one random matrix T depend on each other, so an interval counts matrices, not draws: it is Student's over the
means of the matrices. A release without a random matrix draws its noise ``matrices`` times over, to the same end;
noise from a Markov chain has its chain's own diagnosis.

**Distortion by a random matrix T.** It is measured by distances between the vertices of K, and by its width.

**Distances.** E sup |‖T(y − y')‖ − ‖y − y'‖| ≲ w(S)/√ℓ over y, y' in any bounded S (Liaw, Mehrabian, Plan & Vershynin,
GAFA seminar 2014–2016; Nikolov, SODA 2023, Theorem 2.5). Here S is the set of columns, all pairs of it: exact for S,
and at most the supremum over K, whose inner points it leaves out.

**Width.** E w(TK) ≲ w(K) (Lemma 2.8). For Gaussian T there is no constant to lose: given g ~ N(0, I_ℓ), the vector Tᵀg
is N(0, (‖g‖²/ℓ)·I_k), so that

.. math:: \mathbb E\, w(TK) = \mathbb E \max_{y \in K} \langle T^T g, y\rangle = c_\ell\, w(K), \qquad
          c_\ell = \mathbb E\lVert g\rVert/\sqrt\ell = \sqrt{2/\ell}\;Γ(\tfrac{\ell+1}2)/Γ(\tfrac\ell2) < 1 .

**The worst data of a named family.** A search gives the "worst found", which is at most the worst case and proves
nothing about it. The family: all users of one type (a *vertex*: types at random, and the one whose answers lie
farthest out); *s-sparse*, equal counts, but for remainders, of s types at random, s = 2, 4, 8 … N; *uniform* is its
last member. The error of full parity is largest at an s that grows with n, which vertices and uniform data alone
would not show.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import Unavailable
from factormech.mechanisms.central.moments import LEVEL, Estimate, student
from factormech.mechanisms.pure.bodies import body_of, checked_queries, half_spreads
from factormech.mechanisms.pure.jl import jl_matrix
from factormech.mechanisms.pure.knorm import scaled
from factormech.mechanisms.pure.mechanism import Draws, Release, checked_counts

# Errors on given data.


def errors_on(
    release: Release, data: Sequence[Any], rng: np.random.Generator, *, matrices: int = 12, draws: int = 50
) -> FloatArray | Unavailable:
    """‖Ŷ − Q(X)‖₂/√k, (data sets, matrices, draws): every data set sees the same matrices and noise."""
    matrices, draws = check_positive_integer("matrices", matrices), check_positive_integer("draws", draws)
    drawn = []
    for _ in range(matrices):
        one = release.draw(rng, draws)
        if isinstance(one, Unavailable):
            return one
        drawn.append(one)
    return errors_of(drawn, release.queries, data)


def errors_of(drawn: Sequence[Draws], queries: FloatArray, data: Sequence[Any]) -> FloatArray:
    """The same of noise that is there already; every n may use it again."""
    truths = []
    for counts in data:
        x = checked_counts(counts, queries.shape[1])
        truths.append(queries @ (x / x.sum()))
    found = [
        [np.linalg.norm(one.answers(counts) - truth[:, None], axis=0) for one in drawn]
        for counts, truth in zip(data, truths, strict=True)
    ]
    return np.array(found) / math.sqrt(len(queries))


def mean_error(errors: FloatArray, level: float = LEVEL) -> Estimate:
    """Return the mean of errors (matrices, draws), with an interval over the means of the matrices."""
    found = student(errors.mean(axis=1), level)
    return Estimate(found.value, max(0.0, found.low), found.high)


# Distortion by a random matrix T.


@dataclass(frozen=True)
class Distortion:
    """Means over matrices, with intervals.

    Attributes
    ----------
    distance
        E max over pairs of columns of |‖T(v − v')‖ − ‖v − v'‖|.
    rate
        distance·√ℓ/w(K): Theorem 2.5 says that it stays bounded.
    width_ratio
        E w(TK)/w(K).
    """

    rows: int
    distance: Estimate
    rate: Estimate
    width_ratio: Estimate


def width_factor(rows: int) -> float:
    """Return c_ℓ = E w(TK)/w(K) for Gaussian T with ℓ rows, exactly."""
    half = 0.5 * check_positive_integer("rows", rows)
    return math.exp(gammaln(half + 0.5) - gammaln(half)) / math.sqrt(half)


def distances(points: FloatArray) -> FloatArray:
    """Return ‖p_i − p_j‖ for all pairs i < j of points, which are the rows."""
    from scipy.spatial.distance import pdist

    return np.asarray(pdist(points))


def distortion(
    queries: Any,
    rows: int,
    kind: str,
    width: float,
    rng: np.random.Generator,
    *,
    matrices: int = 30,
    gaussians: int = 200,
    level: float = LEVEL,
) -> Distortion:
    """Of ``matrices`` draws of T; ``width`` is w(K), and w(TK) is measured by ``gaussians`` draws for each."""
    V = np.ascontiguousarray(body_of(checked_queries(queries)).columns.T)
    before = distances(V)
    matrices = check_positive_integer("matrices", matrices, minimum=2)
    worst, widths = np.empty(matrices), np.empty(matrices)
    for m in range(matrices):
        images = V @ jl_matrix(rows, V.shape[1], kind, rng).T
        worst[m] = np.abs(distances(images) - before).max(initial=0.0)
        widths[m] = half_spreads(images, rng, gaussians).mean()
    distance = student(worst, level)
    return Distortion(
        rows, distance, scaled(distance, math.sqrt(rows) / width), scaled(student(widths, level), 1.0 / width)
    )


# The worst data of a named family.


@dataclass(frozen=True)
class WorstFound:
    """The data set of largest mean error among those tried, and its error on draws that did not choose it."""

    family: str
    sparsity: int
    data: FloatArray
    error: Estimate
    tried: int


def spread(users: int, types: Any, size: int) -> FloatArray:
    """Counts (N,) of n users spread over these types as evenly as whole users can be."""
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
