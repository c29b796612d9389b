r"""Users that a pure mechanism needs for a root mean square error α, on one matrix of queries.

**Without a projection** the error is (E‖Z‖²/k)^{½}/n on all data: n = (E‖Z‖²/k)^{½}/α, exact where E‖Z‖² is. Gaussian
noise has other guarantees, and the packing bounds say nothing of it.

**With one** the error depends on the data and falls at no fixed rate. It is simulated at n = 1, 2, 4 …, on the worst
data found, with draws of noise (and of T) that all n share. One half of the blocks of draws searches the data, by
exchanges of users between types (:mod:`factormech.mechanisms.pure.worst`), and chooses the rows ℓ; the other measures.
More users of the same types do not make the least error larger, so that the error at n is at most the upper end at any
fewer users and at least the lower end at any more: these envelopes, and the least error up to n, are joined by straight
lines in logarithms, and where the three pass α are n and the ends of its interval.

Neighbours replace one user of n. The packing bounds are for the mean of norms, which the root mean square is at least.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.central.moments import Estimate
from factormech.mechanisms.central.projection import Hull
from factormech.mechanisms.pure.bodies import checked_queries, jl_is_better_for
from factormech.mechanisms.pure.errors import candidates
from factormech.mechanisms.pure.jl import JLRelease
from factormech.mechanisms.pure.mechanism import (
    Draws,
    NoisyDraws,
    ShapedNoise,
    build,
    concentrated_law,
    gaussian_law,
    pure_law,
    shaped,
)
from factormech.mechanisms.pure.recursive import ladder, noise_of
from factormech.mechanisms.pure.worst import best_of_worst
from factormech.studies.measures.pure import lengths, signs

# Mechanisms by the law of their noise, without and with the projection on K.
UNPROJECTED = {"laplace": "laplace", "k-norm": "k-norm", "recursive": "recursive", "split": "split"}
PROJECTED = {
    "laplace-projection": "laplace",
    "l2-ball-projection": "l2-ball",
    "k-norm-projection": "k-norm",
    "recursive-projection": "recursive",
    "split-projection": "split-for-projection",
}
JL, CHOICE = "jl", "jl-or-k-norm"
# Gaussian noise shaped by the queries, beside pure privacy for the same neighbours: (ε, δ), and ρ = ε²/2, the zCDP that
# ε-privacy implies (Bun & Steinke, TCC 2016, Proposition 1.4).
SHAPED = ("shaped-gaussian", "shaped-zcdp")
PURE = (*UNPROJECTED, *PROJECTED, JL, CHOICE)
MECHANISMS = (*PURE, *SHAPED, *(f"{law}-projection" for law in SHAPED))
# Directions behind the covariances and costs of the recursion.
_LADDER = 1000
# Doublings of n after which an error that has not been reached is given up.
_DOUBLINGS = 26
# From nε of this many queries on, three doublings that leave this share of an error are the last.
_MANY, _STILL = 30, 0.9


@dataclass(frozen=True)
class Point:
    """The root mean square error at one n, with the rows ℓ (0 if none) and the types of the data that were chosen."""

    users: int
    error: Estimate
    rows: int = 0
    sparsity: int = 0


@dataclass(frozen=True)
class Needed:
    """Users for one α: n with its interval, and the point of the curve at or after it."""

    users: Estimate
    at: Point


@dataclass
class Setup:
    """One matrix with what all its mechanisms share: the noise of a law is drawn once."""

    queries: FloatArray
    epsilon: float
    matrices: int
    draws: int
    rows: tuple[int, ...]
    chance: Any
    exchanges: int = 0
    delta: float = 1e-6
    known: dict[str, Any] = field(default_factory=dict)

    def shaped(self, name: str) -> ShapedNoise | Unavailable:
        """Gaussian noise of one of ``SHAPED``."""
        law = (
            concentrated_law(0.5 * self.epsilon**2) if name == "shaped-zcdp" else gaussian_law(self.epsilon, self.delta)
        )
        found = shaped(law).of(self.queries)
        return found if isinstance(found, ShapedNoise) else Unavailable("the queries are constant")

    @property
    def hull(self) -> Hull:
        """K."""
        if "hull" not in self.known:
            self.known["hull"] = Hull(np.unique(self.queries, axis=1))
        return self.known["hull"]  # type: ignore[no-any-return]

    def blocks(self, name: str) -> list[tuple[int, list[Draws]]] | Unavailable:
        """Pairs of ℓ and blocks of draws of a law with the projection, or of JL release."""
        if name not in self.known:
            self.known[name] = _sketches(self) if name == JL else _projected(self, name)
        return self.known[name]  # type: ignore[no-any-return]

    def data(self, users: int) -> list[FloatArray]:
        """The data sets tried at n, the same for all mechanisms."""
        return [counts for _, counts in candidates(self.queries, users, self.chance("data", str(users)))]


def queries_of(family: str, types: int, queries: int, skew: float, rng: np.random.Generator) -> FloatArray:
    """Return the matrix of a family, (k, N); parities and marginals have as many queries as they have.

    Parameters
    ----------
    family
        One of ``FAMILIES`` of ``studies/pure_sample_complexity.py``.
    types
        N.
    queries
        k of random and skewed queries.
    skew
        How many times as long the long queries are, one in eight, of ``skewed-queries``.
    rng
        For the signs.
    """
    from factormech.workloads import registry

    if family in ("parities", "2-way-marginals"):
        return checked_queries(registry.create(family, types).matrix())
    found = signs(queries, types, rng)
    long = max(1, queries // 8)
    return found if family == "random-queries" else lengths(queries, long, skew)[:, None] * found


def tried_rows(queries: int, largest: int) -> tuple[int, ...]:
    """Return the numbers of rows ℓ that JL release chooses among: 1, 2, 4 … and min(k, largest) as the last."""
    last = min(queries, largest)
    return (*(2**i for i in range(last.bit_length()) if 2**i < last), last)


def users_for(setup: Setup, mechanism: str, alphas: Sequence[float]) -> list[Needed | Unavailable]:
    """Return the users of a mechanism for each α."""
    if mechanism in UNPROJECTED or mechanism in SHAPED:
        square = _mean_square(setup, UNPROJECTED.get(mechanism, mechanism))
        if isinstance(square, Unavailable):
            return [square] * len(alphas)
        return [_unprojected(square, len(setup.queries), alpha) for alpha in alphas]
    curve: list[Point] = []
    for point in errors(setup, mechanism):
        if isinstance(point, Unavailable):
            return [point] * len(alphas)
        curve.append(point)
        if min(one.error.high for one in curve) <= min(alphas) or _settled(curve, setup):
            break
    return [inverted(curve, alpha) for alpha in alphas]


def errors(setup: Setup, mechanism: str) -> Iterator[Point | Unavailable]:
    """Yield the root mean square error at n = 1, 2, 4 … of a mechanism whose error depends on the data."""
    for i in range(_DOUBLINGS):
        n = 2**i
        tried = _releases(setup, mechanism, n)
        if isinstance(tried, Unavailable):
            yield tried
            return
        data = setup.data(n)
        best = best_of_worst([blocks for _, blocks in tried], setup.queries, data, setup.exchanges, power=2)
        low, value, high = (math.sqrt(max(0.0, s)) for s in (best.error.low, best.error.value, best.error.high))
        yield Point(n, Estimate(value, low, high), tried[best.release][0], int(np.count_nonzero(best.data)))


def inverted(curve: Sequence[Point], alpha: float) -> Needed | Unavailable:
    """Return where the error, and the ends of its interval, pass α."""
    if not (math.isfinite(alpha) and alpha > 0.0):
        raise BadValue("alpha", alpha, "be a finite number above 0", "give for example 0.1")
    users = np.array([point.users for point in curve], dtype=np.float64)
    low, value, high = (np.array([getattr(one.error, end) for one in curve]) for end in ("low", "value", "high"))
    value, high = np.minimum.accumulate(value), np.minimum.accumulate(high)
    low = np.maximum.accumulate(low[::-1])[::-1]
    if high[-1] > alpha:
        return Unavailable(f"an error of {alpha:g} is not reached by {curve[-1].users} users for certain")
    first, middle, last = (_crossing(users, errors, alpha) for errors in (low, value, high))
    at = next(point for point, error in zip(curve, value, strict=True) if error <= alpha)
    return Needed(Estimate(middle, min(first, middle), max(middle, last)), at)


def _settled(curve: Sequence[Point], setup: Setup) -> bool:
    """Return whether more users do not help: rows ℓ that are too few keep an error however many users there are."""
    many = curve[-1].users * setup.epsilon > _MANY * len(setup.queries)
    return many and curve[-1].error.value > _STILL * curve[-4].error.value


def _crossing(users: FloatArray, errors: FloatArray, alpha: float) -> float:
    """The n at which a curve of errors that does not increase reaches α."""
    after = int(np.argmax(errors <= alpha))
    if after == 0:
        return float(users[0])
    n, e = np.log(users[after - 1 : after + 1]), np.log(np.maximum(errors[after - 1 : after + 1], 1e-300))
    return float(np.exp(n[0] + (n[1] - n[0]) * (e[0] - math.log(alpha)) / (e[0] - e[1])))


def _unprojected(square: Estimate, queries: int, alpha: float) -> Needed:
    """n = (E‖Z‖²/k)^{½}/α, at least 1."""
    low, value, high = (max(1.0, math.sqrt(s / queries) / alpha) for s in (square.low, square.value, square.high))
    users = math.ceil(value)
    return Needed(Estimate(value, low, high), Point(users, Estimate(alpha, alpha, alpha)))


def _mean_square(setup: Setup, law: str) -> Estimate | Unavailable:
    """E‖Z‖² of a law."""
    chance = setup.chance("moments", law)
    if law in SHAPED:
        noise = setup.shaped(law)
        return noise if isinstance(noise, Unavailable) else Estimate(*[noise.mean_square] * 3)
    if law == "recursive":
        steps = ladder(setup.queries, chance, draws=_LADDER)
        moments = steps if isinstance(steps, Unavailable) else noise_of(steps, setup.epsilon).moments(chance, _LADDER)
    else:
        built = build(law, setup.queries, setup.epsilon, chance)
        moments = built if isinstance(built, Unavailable) else built.moments(chance, _LADDER)
    return moments if isinstance(moments, Unavailable) else moments.mean_square


def _releases(setup: Setup, mechanism: str, users: int) -> list[tuple[int, list[Draws]]] | Unavailable:
    """Return the releases to choose from at n."""
    if mechanism != CHOICE:
        return setup.blocks(PROJECTED.get(mechanism, mechanism.removesuffix("-projection")))
    if not jl_is_better_for(users, setup.epsilon, len(setup.queries)):
        return setup.blocks("k-norm")
    found = setup.blocks(JL)
    if isinstance(found, Unavailable):
        return found
    balanced = min(max(rows for rows, _ in found), math.ceil(users * setup.epsilon))
    return [next(one for one in found if one[0] >= balanced)]


def _projected(setup: Setup, law: str) -> list[tuple[int, list[Draws]]] | Unavailable:
    """Blocks of noise of a law, to be projected."""
    chance, count = setup.chance("noise", law), 2 * setup.matrices * setup.draws
    if law == "recursive":
        steps = ladder(setup.queries, chance, draws=_LADDER)
        Z = steps if isinstance(steps, Unavailable) else noise_of(steps, setup.epsilon).draw(chance, count)
    elif law in SHAPED:
        noise = setup.shaped(law)
        Z = noise if isinstance(noise, Unavailable) else noise.draw(chance, count)
    else:
        Z = pure_law(law, setup.epsilon, chance).draw(setup.queries, chance, count)
    if isinstance(Z, Unavailable):
        return Z
    return [(0, [NoisyDraws(setup.queries, part, setup.hull) for part in np.split(Z, 2 * setup.matrices)])]


def _sketches(setup: Setup) -> list[tuple[int, list[Draws]]] | Unavailable:
    """Blocks of JL release, a T for each, of every ℓ for which there is noise."""
    law, found, reason = pure_law("k-norm", setup.epsilon), [], Unavailable("no rows were offered")
    for rows in setup.rows:
        chance, release = setup.chance(JL, str(rows)), JLRelease.of(setup.queries, law, rows)
        drawn: list[Draws] = []
        for _ in range(setup.matrices):
            one = release.draw(chance, setup.draws)
            if isinstance(one, Unavailable):
                reason = one
                break
            drawn.append(one)
        if len(drawn) == setup.matrices:
            found.append((rows, drawn))
    return found or reason


def told(needed: Needed | Unavailable, rows: Sequence[int]) -> Mapping[str, Any]:
    """Return the columns of one number of users; a best ℓ that is the last tried, and not the only one, is marked."""
    if isinstance(needed, Unavailable):
        return {"reason": needed.reason}
    at = needed.at
    numbers: dict[str, Any] = {"measured_users": float(math.ceil(needed.users.value * (1.0 - 1e-12)))}
    numbers |= {"low": needed.users.low, "high": needed.users.high}
    if at.sparsity:
        numbers["sparsity"] = float(at.sparsity)
    if at.rows:
        numbers |= {"jl_rows": float(at.rows), "best_rows": "last" if at.rows == max(rows) > min(rows) else "inside"}
    return numbers
