r"""JL release, and its coarse version on a net of the columns.

**JL release.** Answers pass through a random matrix T of few rows, get noise there, and the nearest point of TK is
lifted back. Nikolov (*Private query release via the Johnson–Lindenstrauss transform*, SODA 2023), Algorithm 1: draw
T, (ℓ, k), with independent entries N(0, 1/ℓ) or ±1/√ℓ, without the data; release

.. math:: \tilde Y = T Q(X) + Z/n, \qquad \hat Y \in \operatorname{argmin}_{y \in K} \lVert \tilde Y - Ty\rVert_2 .

**Guarantee.** Given T, Ỹ has the guarantee of the noise for TQ; T is independent of the data, so (T, Ỹ) has it too, and
Ŷ is post-processing (Lemma 3.1: pure, approximate and concentrated privacy alike).

**Error.** ‖Ŷ − Q(X)‖ ≤ ‖Z‖/n + sup |‖T(y − y')‖ − ‖y − y'‖| over y, y' ∈ K, as TŶ is a projection on TK.

**Ties.** The minimiser over the simplex is not unique where ℓ < k: TŶ is, Ŷ = Vλ is not. Rules, all post-processing:

* ``corral``: λ of Wolfe's last corral, at most ℓ + 1 columns with affinely independent images. Which ones follows from
  the path of the method, so from Ỹ and the order of the columns.
* ``centre``: the Ŷ near the centre c of K's distinct columns, the one solution of min ‖Ỹ − Ty‖² + η²‖y − c‖². If p is
  the projection of Ỹ on TK, ‖TŶ − p‖² ≤ ‖Ỹ − TŶ‖² − ‖Ỹ − p‖² ≤ η²·max‖Q_x − c‖²: with η = ``CENTRING`` the bound above
  grows by 10⁻⁴ of the radius of K. It helps data of many types, and hurts data of few.

**Rows.** ℓ may depend on Q, n and ε, never on the counts. The bound's two terms, w(K)/√ℓ and √ℓ·w(K)/(nε), balance at
ℓ = nε (:func:`balanced_rows`); :func:`tuned_rows` tries candidates on public, made-up data.

**Coarse JL.** It is the JL release of a net of the columns, chosen from Q alone (Nikolov, SODA 2023, Algorithm 2).
One greedy pass over the columns keeps each that is more than α√k/2 away from all that are kept; every other one lies
within α√k/2 of a kept one, and answers as its nearest. So answers move by at most α/2 (a mean of columns moves at
most as far as the farthest column), and the release of the kept columns has α/2 left. The net is narrower than K,
sometimes by much: with few kept columns the noise is small too.

Replacing one user replaces one column of the net by another, so the guarantee is that of the release of the net. k
counts the queries, repeated and constant ones included, as the error does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.errors import BadValue, Unavailable, UnknownName
from factormech.mechanisms.central.projection import Hull
from factormech.mechanisms.pure.bodies import checked_queries, jl_is_better_for
from factormech.mechanisms.pure.mechanism import Draws, Law, NoisyRelease, Release, checked_counts
from factormech.privacy.guarantee import Guarantee
from factormech.workloads.base import scatter

# JL release.

MATRICES = ("gaussian", "signs")
TIES = ("corral", "centre")
CENTRING = 1e-4


def jl_matrix(rows: int, queries: int, kind: str, rng: np.random.Generator) -> FloatArray:
    """T, (ℓ, k), with independent entries N(0, 1/ℓ) (``gaussian``) or ±1/√ℓ (``signs``): E TᵀT = I."""
    shape = (check_positive_integer("rows", rows), check_positive_integer("queries", queries))
    if kind not in MATRICES:
        raise UnknownName("JL matrix", kind, MATRICES)
    T = rng.standard_normal(shape) if kind == "gaussian" else rng.choice((-1.0, 1.0), shape)
    return np.asarray(T / np.sqrt(rows))


@dataclass(frozen=True)
class Lift:
    """From Ỹ, (t, ℓ), to Ŷ, (t, k), for one T."""

    columns: FloatArray
    matrix: FloatArray
    ties: str = "corral"

    @cached_property
    def centre(self) -> FloatArray:
        """c, (k,)."""
        return np.asarray(self.columns.mean(axis=1))

    @cached_property
    def hull(self) -> Hull:
        """TK; under ``centre`` with the coordinates η(y − c) below."""
        images = self.matrix @ (self.columns - self.centre[:, None])
        if self.ties == "corral":
            return Hull(images)
        return Hull(np.vstack([images, CENTRING * (self.columns - self.centre[:, None])]))

    def of(self, answers: FloatArray) -> FloatArray:
        """Ŷ for each line of ``answers``."""
        Y = answers - self.matrix @ self.centre
        if self.ties == "centre":
            Y = np.column_stack([Y, np.zeros((len(Y), len(self.columns)))])
        return np.asarray(self.hull.project_all(Y).weights @ self.columns.T)


@dataclass(frozen=True)
class JLDraws:
    """One T with draws of its noise, (draws, ℓ)."""

    queries: FloatArray
    lift: Lift
    noise: FloatArray

    def sketches(self, data: Any) -> FloatArray:
        """The private Ỹ, (draws, ℓ), of counts (N,)."""
        x = checked_counts(data, self.queries.shape[1])
        users = float(x.sum())
        return np.asarray(self.lift.matrix @ (self.queries @ (x / users)) + self.noise / users)

    def answers(self, data: Any) -> FloatArray:
        """Ŷ, (k, draws)."""
        return self.lift.of(self.sketches(data)).T


@dataclass(frozen=True)
class JLRelease:
    """Algorithm 1 for one query matrix and number of rows."""

    queries: FloatArray
    law: Law
    rows: int
    matrix: str = "gaussian"
    ties: str = "corral"

    @classmethod
    def of(cls, queries: Any, law: Law, rows: int, *, matrix: str = "gaussian", ties: str = "corral") -> JLRelease:
        """For a query matrix Q, (k, N)."""
        if matrix not in MATRICES:
            raise UnknownName("JL matrix", matrix, MATRICES)
        if ties not in TIES:
            raise UnknownName("ties", ties, TIES)
        return cls(checked_queries(queries), law, check_positive_integer("rows", rows), matrix, ties)

    @property
    def name(self) -> str:
        return "jl"

    @property
    def guarantee(self) -> Guarantee:
        return self.law.guarantee

    @cached_property
    def columns(self) -> FloatArray:
        """The distinct columns of Q."""
        return np.unique(self.queries, axis=1)

    def draw(self, rng: np.random.Generator, draws: int) -> JLDraws | Unavailable:
        """A new T, and noise for that many releases through it."""
        T = jl_matrix(self.rows, len(self.queries), self.matrix, rng)
        Z = self.law.draw(T @ self.columns, rng, draws)
        return Z if isinstance(Z, Unavailable) else JLDraws(self.queries, Lift(self.columns, T, self.ties), Z)

    def simulate_release(self, data: Any, rng: np.random.Generator, trials: int = 1) -> FloatArray | Unavailable:
        """Answers of repeated releases, (k, trials), a new T for each; for experiments, as a seed is known."""
        found = []
        for _ in range(check_positive_integer("trials", trials)):
            one = self.draw(rng, 1)
            if isinstance(one, Unavailable):
                return one
            found.append(one.answers(data)[:, 0])
        return np.array(found).T


def balanced_rows(users: float, epsilon: float, queries: int, constant: float = 1.0) -> int:
    """ℓ = ⌈constant·nε⌉ within 1 … k: where the two terms of the bound are alike. Public information only."""
    if not (users > 0.0 and epsilon > 0.0 and constant > 0.0 and np.isfinite(users * epsilon * constant)):
        rule = "be finite and above 0"
        raise BadValue("users, epsilon, constant", (users, epsilon, constant), rule, "give for example 1000, 1.0, 1.0")
    k = check_positive_integer("queries", queries)
    return int(min(k, max(1, np.ceil(constant * users * epsilon))))


def chosen_release(queries: Any, law: Law, users: int, *, constant: float = 1.0) -> Release:
    """Theorem 1.2's choice for n users: JL release of ⌈nε⌉ rows if nε ≤ constant·k, else noise and projection.

    The choice sees Q, n and ε alone. The theorem has the noise without the projection, which never does harm.
    """
    epsilon, Q = law.guarantee.epsilon, checked_queries(queries)
    if jl_is_better_for(users, epsilon, len(Q), constant):
        return JLRelease.of(Q, law, balanced_rows(users, epsilon, len(Q)))
    return NoisyRelease.of(Q, law)


def tuned_rows(
    queries: Any,
    law: Law,
    users: int,
    candidates: Iterable[int],
    rng: np.random.Generator,
    *,
    matrix: str = "gaussian",
    ties: str = "corral",
    matrices: int = 6,
    draws: int = 30,
) -> int | Unavailable:
    """The candidate ℓ of least error at worst over made-up data of so many users: it sees no data, so costs nothing.

    The made-up data are those of :func:`factormech.mechanisms.pure.errors.candidates`.
    """
    from factormech.mechanisms.pure.errors import candidates as made_up
    from factormech.mechanisms.pure.errors import errors_on

    data = [counts for _, counts in made_up(queries, users, rng)]
    found: list[tuple[float, int]] = []
    reason = Unavailable("no number of rows was offered")
    for rows in sorted(set(candidates)):
        release = JLRelease.of(queries, law, rows, matrix=matrix, ties=ties)
        errors = errors_on(release, data, rng, matrices=matrices, draws=draws)
        if isinstance(errors, Unavailable):
            reason = errors
            continue
        found.append((float(errors.mean(axis=(1, 2)).max()), rows))
    return min(found)[1] if found else reason


# Coarse JL.


@dataclass(frozen=True)
class Net:
    """Kept columns (their indices in Q, in its order), and for every column of Q the position of its nearest one.

    ``rounding`` is the largest distance to it over √k, at most α/2.
    """

    kept: IntArray
    nearest: IntArray
    rounding: float

    def farthest(self, queries: FloatArray) -> int:
        """Return the type whose kept column is farthest away: all users of it are the worst data of the rounding."""
        return int(np.argmax(np.linalg.norm(queries - queries[:, self.kept[self.nearest]], axis=0)))

    def counts(self, data: FloatArray) -> FloatArray:
        """Counts of the kept columns."""
        return scatter(self.nearest, data, len(self.kept))


def greedy_net(queries: Any, alpha: float) -> Net:
    """One pass over the columns of Q in their order; a distance of exactly α√k/2 is not kept."""
    Q = checked_queries(queries)
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float)) or not 0.0 < alpha < math.inf:
        raise BadValue("alpha", alpha, "be a finite number above 0", "give for example 0.1")
    V = np.ascontiguousarray(Q.T)
    N, separation = len(V), 0.5 * alpha * math.sqrt(len(Q))
    closest, nearest = np.full(N, np.inf), np.zeros(N, dtype=np.int64)
    kept: list[int] = []
    for i in range(N):
        if closest[i] > separation:
            # Distances to all columns, also the earlier ones: their nearest kept column may come after them.
            distances = np.linalg.norm(V - V[i], axis=1)
            nearer = distances < closest
            closest[nearer], nearest[nearer] = distances[nearer], len(kept)
            kept.append(i)
    return Net(np.array(kept, dtype=np.int64), nearest, float(closest.max()) / math.sqrt(len(Q)))


@dataclass(frozen=True)
class CoarseDraws:
    """Draws of the release of a net."""

    net: Net
    inner: Draws

    def answers(self, data: Any) -> FloatArray:
        return self.inner.answers(self.net.counts(checked_counts(data, len(self.net.nearest))))


@dataclass(frozen=True)
class CoarseJLRelease:
    """Algorithm 2 for an error α: the error measured against Q(X) includes the net's rounding.

    Attributes
    ----------
    inner
        One of the two mechanisms of Theorem 1.2 on the kept columns: JL release, or noise and projection.
    """

    queries: FloatArray
    net: Net
    inner: JLRelease | NoisyRelease

    @classmethod
    def of(
        cls,
        queries: Any,
        law: Law,
        alpha: float,
        rows: int | None,
        *,
        matrix: str = "gaussian",
        ties: str = "corral",
    ) -> CoarseJLRelease:
        """For a query matrix Q, (k, N), and the error α that the net is made for; no ``rows``: noise and projection."""
        Q = checked_queries(queries)
        net = greedy_net(Q, alpha)
        V = Q[:, net.kept]
        return cls(
            Q, net, NoisyRelease.of(V, law) if rows is None else JLRelease.of(V, law, rows, matrix=matrix, ties=ties)
        )

    @property
    def name(self) -> str:
        return "coarse-jl"

    @property
    def guarantee(self) -> Guarantee:
        return self.inner.guarantee

    def draw(self, rng: np.random.Generator, draws: int) -> CoarseDraws | Unavailable:
        inner = self.inner.draw(rng, draws)
        return inner if isinstance(inner, Unavailable) else CoarseDraws(self.net, inner)
