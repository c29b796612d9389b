r"""The statistical query dimension of a class: a linear program whose cuts are queries, and closed forms.

The *value* of a law μ on U × {±1} is

.. math:: V(\mu) = \max_\zeta \min_\lambda \mathrm{E}_{F\sim\zeta}\lvert F(\lambda) - F(\mu)\rvert,

over laws ζ of queries |F| ≤ 1 and all λ on which some concept c loses at most θ. SQD^R is the largest 1/V(μ) over the μ
on which everything loses more than α, at θ = 0; SQD^A the largest over those where everything loses more than θ + α,
over all θ (Feldman, COLT 2017; Edmonds, PhD thesis, University of Toronto, 2023, Definitions 49 and 55). "Everything"
is every concept of the class in the definitions, and every hypothesis where a learner must not need a proper one.

**Fixed μ.** By minimax, and as |F(λ) − F(μ)| is convex in λ so that one λ_c a concept is enough,

.. math:: V(\mu) = \min_y \max_{s \in \{\pm1\}^k} \sum_x \Bigl\lvert\sum_c s_c U_c(x)\Bigr\rvert,
          \qquad U_c = y_c - \pi_c\mu, \quad y_c = \pi_c\lambda_c,

a linear program in y with a cut Σ_c s_c⟨F, U_c⟩ ≤ t for every s and every F ∈ {±1}^{2T}. The maximum is found by
enumeration of s, or of F where that is the smaller side (at most 2^15 patterns). Both ends are evaluated afterwards:
the upper is the enumerated maximum at y; the lower, with the weights w of the cuts as ζ, min_c min_λ Σ_j w_j
s_jc(F_j(λ) − F_j(μ)), where the inner minimum puts θ on the worst point of all and 1 − θ on the worst rightly labelled
one. So the interval holds, to rounding, whatever the solver did (``certified``). Where automorphisms of the class leave
μ alone (:mod:`factormech.learning.sq.symmetry`), y is the same on each of their orbits, cuts are averaged over them,
and ζ has all images of a query.

The least over μ is in :mod:`factormech.learning.sq.dimension_search`.

**Parities of d bits at uniform points with coin labels**, N = 2^d. Adding a mask to all concepts (and turning labels by
its parity) and adding a point to all points are automorphisms, transitive on pairs of a concept and a point with its
label; as V is convex in y, all y_c may be uniform on the points with the labels of c, and with g(x) = ½(F(x, +) −
F(x, −))

.. math:: V = \frac1{N^2}\max_{s, g \in \{\pm1\}^N} s^\top H g = \frac{\lVert H\rVert_{\infty\to1}}{N^2},

H the matrix of characters. As ‖H‖ = √N the maximum is at most N^{3/2}, with equality for the bent functions g of an
even d (Rothaus, J. Combin. Theory A 20, 1976): **V = 2^{−d/2}**. For odd d ≥ 3 the product of the best pair of 3 bits,
of value 20, and a bent function of the others has 20·(N/8)^{3/2}: 2^{d/2} ≤ 1/V ≤ 2^{d/2}·8^{3/2}/20. One bit: V = ½.

**Every class.** ζ uniform on the k functions F_c = b·c(x) sees at least 2α/k of every μ and λ, as F_c(λ) − F_c(μ) ≥ 2α
for the concept that loses at most θ on λ: **SQD ≤ k/(2α)**. One point whose label is wrong with probability α has
V ≤ 2α: **SQD ≥ 1/(2α)**. Two concepts that agree at x and differ at x′ have the law with masses 1 − 3α/2, α/2 on the
right and the wrong label of x, and α/2 on both of x′, and

.. math:: λ_c = (1-α)δ_{(x, c(x))} + αδ_{(x', c(x'))}, \qquad π = (½, ½), \qquad V \le α,

as Σπ_cλ_c − μ has the mass α/2 on either label of x alone, and ½(λ_c − λ_{c′}) on either label of x′: **SQD ≥ 1/α**.
Every hypothesis loses α on these laws, so that both hold for all kinds of the dimension.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue
from factormech.learning.concepts import ConceptClass
from factormech.learning.reports import checked_loss_gap
from factormech.learning.sq.game import strategies
from factormech.learning.sq.oracles import check_law
from factormech.learning.sq.symmetry import Group, automorphisms

# max sᵀHg of 3 bits, and of 1 bit.
_THREE, _ONE = 20.0, 2.0


def parities_at_uniform_points(bits: int) -> tuple[float, float]:
    """Return 1/V of parities at uniform points with coin labels between two ends, which are equal for even ``bits``.

    Examples
    --------
    >>> parities_at_uniform_points(16)
    (256.0, 256.0)
    """
    d = check_positive_integer("bits", bits)
    least = 2.0 ** (0.5 * d)
    if d % 2 == 0:
        return least, least
    if d in (1, 3):
        value = 4.0**d / (_ONE if d == 1 else _THREE)
        return value, value
    return math.nextafter(least, 0.0), math.nextafter(least * 8.0**1.5 / _THREE, math.inf)


def simple_ends(concepts: ConceptClass, alpha: float) -> tuple[float, float]:
    """Return 1/α or 1/(2α), and k/(2α): SQD is between them, realizable or agnostic, for every class."""
    a = checked_loss_gap(alpha)
    products = concepts.labels @ concepts.labels.T
    agree = bool((products[~np.eye(len(products), dtype=bool)] > -concepts.domain_size).any())
    return 1.0 / a if agree else 0.5 / a, max(0.5 * concepts.size / a, 0.5 / a)


SIDE_LIMIT = 16
# Cuts that are added in a round, and rounds.
CUTS_A_ROUND, ROUNDS = 12, 60
# At most so many where they are equally good, as in classes with symmetries.
_EQUAL_CUTS = 512
# Between the best point so far and the program's, where cuts are deep (Ben-Ameur & Neto, Networks 49(1), 2007).
_STEPS = (0.1, 0.4, 1.0)
_GAP = 1e-7
Losers = Literal["class", "all"]
LOSERS: tuple[Losers, ...] = ("class", "all")


@dataclass(frozen=True)
class Cuts:
    """Queries F, (J, 2T), each with the signs s, (J, k), that F(λ_c) − F(μ) is counted with."""

    queries: FloatArray
    signs: FloatArray

    def joined(self, *others: Cuts) -> Cuts:
        """All of them, without doubles."""
        every = np.concatenate([np.c_[cuts.queries, cuts.signs] for cuts in (self, *others)])
        every = np.unique(every, axis=0)
        width = self.queries.shape[1]
        return Cuts(every[:, :width], every[:, width:])

    def __len__(self) -> int:
        return len(self.queries)


@dataclass(frozen=True)
class QueryValue:
    """V(μ) between two ends, with what proves them.

    Attributes
    ----------
    lower, upper
        The interval; ``certified`` says whether it was closed as far as asked.
    law
        μ, (2T,).
    joint
        y, (k, 2T), rows π_cλ_c, whose maximum is the upper end.
    queries, probabilities, signs
        ζ: queries (J, 2T), how likely each is, and the signs of the proof of the lower end.
    theta
        What λ_c may lose on c.
    cuts
        All cuts, to start another program from.
    """

    lower: float
    upper: float
    law: FloatArray
    joint: FloatArray
    queries: FloatArray
    probabilities: FloatArray
    signs: FloatArray
    theta: float
    cuts: Cuts
    certified: bool

    @property
    def dimension(self) -> float:
        """1/V(μ), its lower end."""
        return 1.0 / self.upper if self.upper > 0.0 else math.inf

    @property
    def weights(self) -> FloatArray:
        """π, (k,)."""
        return np.asarray(self.joint.sum(axis=1))


def value_at(
    concepts: ConceptClass,
    law: Any,
    *,
    theta: float = 0.0,
    enough: float = math.inf,
    cuts: Cuts | None = None,
    gap: float = _GAP,
    played: bool = False,
) -> QueryValue:
    """V(μ) of a labelled law μ, (2T,), with its queries.

    Parameters
    ----------
    theta
        What the λ_c may lose, in [0, 1): 0 for realizable learning.
    enough
        Stop as soon as the lower end is this large.
    cuts
        Of a program of the same class, to start from.
    gap
        Width of the interval that is asked for.
    played
        Whether the programs of θ = 0 are solved as matrix games: sooner, and of several best y and ζ perhaps others.
    """
    check_class(concepts)
    mu = _checked_labelled(concepts, law)
    if not 0.0 <= theta < 1.0:
        raise BadValue("theta", theta, "be at least 0 and below 1", "give 0 for realizable learning")
    program = _MeasureProgram(concepts, theta, automorphisms(concepts).keeping(mu), played and theta == 0.0)
    return program.solve(mu, cuts if cuts is not None and len(cuts) else program.first_cuts(mu), enough, gap)


def dimension_at(concepts: ConceptClass, law: Any, *, theta: float = 0.0) -> tuple[float, float]:
    """1/V(μ) between two ends."""
    found = value_at(concepts, law, theta=theta)
    return found.dimension, 1.0 / found.lower if found.lower > 0.0 else math.inf


def least_loss(concepts: ConceptClass, law: FloatArray, losers: Losers) -> float:
    """The least loss on a labelled law, of a concept or of any hypothesis."""
    T = concepts.domain_size
    up, down = law[:T], law[T:]
    if losers == "all":
        return float(np.minimum(up, down).sum())
    return float(np.where(concepts.matrix > 0, down, up).sum(axis=1).min())


def reason_too_large(concepts: ConceptClass) -> str:
    """Why a class has no program here; empty if it has one."""
    k, width = concepts.size, 2 * concepts.domain_size
    if min(k, width) <= SIDE_LIMIT:
        return ""
    return f"exact up to {SIDE_LIMIT} concepts or {SIDE_LIMIT // 2} points; this class has {k} and {width // 2}"


def check_class(concepts: ConceptClass) -> None:
    """Refuse a class that is too large for the enumeration."""
    reason = reason_too_large(concepts)
    if reason:
        remedy = "give a smaller class"
        raise BadValue(
            "class", concepts.name, f"be small enough for its statistical query dimension ({reason})", remedy
        )


def sign_norm(matrix: FloatArray, count: int = 1) -> tuple[float, FloatArray, FloatArray]:
    """max_s Σ_x|Σ_c s_cU_cx| by enumeration, and the best ``count`` pairs (F, s) of signs, up to both signs.

    One of the sides is at most ``SIDE_LIMIT`` long.
    """
    k, N = matrix.shape
    if k <= N:
        sums = _signs(k) @ matrix
        values = np.abs(sums).sum(axis=1)
        best = _largest(values, count)
        s, F = _signs(k)[best], np.where(sums[best] >= 0.0, 1.0, -1.0)
    else:
        sums = _signs(N) @ matrix.T
        values = np.abs(sums).sum(axis=1)
        best = _largest(values, count)
        s, F = np.where(sums[best] >= 0.0, 1.0, -1.0), _signs(N)[best]
    return float(values[best[0]]), F, s


class _MeasureProgram:
    """The linear program of one class and θ, with y constant on the orbits of a group that leaves μ alone."""

    def __init__(self, concepts: ConceptClass, theta: float, group: Group, played: bool) -> None:
        k, T = concepts.matrix.shape
        self.k, self.N, self.theta, self.played = k, 2 * T, theta, played
        right = concepts.matrix > 0
        # right[c, x]: whether x = (a, b) has the label of c.
        self.right = np.concatenate([right, ~right], axis=1)
        used = self.right if theta == 0.0 else np.ones_like(self.right)
        self.group = group
        orbit, sizes = group.orbits()
        # A variable an orbit of used places; the places of one follow each other in ``order``.
        self.places = np.flatnonzero(used)
        _, self.variable = np.unique(orbit.ravel()[self.places], return_inverse=True)
        self.order = np.argsort(self.variable, kind="stable")
        self.starts = np.searchsorted(self.variable[self.order], np.arange(self.variable.max() + 1))
        self.sizes = sizes[orbit.ravel()[self.places[self.order[self.starts]]]]

    def first_cuts(self, mu: FloatArray) -> Cuts:
        y = self.right / self.right.sum()
        _, F, s = sign_norm(self._differences(y, mu), CUTS_A_ROUND)
        return Cuts(F, s)

    def solve(self, mu: FloatArray, cuts: Cuts, enough: float, gap: float) -> QueryValue:
        joint = self.right / self.right.sum()
        lower, upper = 0.0, sign_norm(self._differences(joint, mu))[0]
        proof = (cuts, np.full(len(cuts), 1.0 / len(cuts)))
        for _ in range(ROUNDS):
            y, weights = self._minimise(mu, cuts)
            new, centre = [], joint
            for step in _STEPS:
                point = (1.0 - step) * centre + step * y
                value, F, s = sign_norm(self._differences(point, mu), CUTS_A_ROUND)
                new.append(Cuts(F, s))
                if value < upper:
                    upper, joint = value, point
            bound = self._lower(mu, cuts, weights)
            if bound > lower:
                lower, proof = bound, (cuts, weights)
            if upper - lower <= gap or lower >= enough:
                break
            more = cuts.joined(*new)
            if len(more) == len(cuts):
                break
            cuts = more
        kept = proof[1] > 0.0
        F, s = self.group.images(proof[0].queries[kept], proof[0].signs[kept])
        weights = np.tile(proof[1][kept] / len(self.group), len(self.group))
        certified = upper - lower <= max(gap, 1e-6)
        return QueryValue(lower, upper, mu, joint, F, weights, s, self.theta, cuts, certified)

    def _differences(self, y: FloatArray, mu: FloatArray) -> FloatArray:
        return np.asarray(y - y.sum(axis=1, keepdims=True) * mu)

    def _minimise(self, mu: FloatArray, cuts: Cuts) -> tuple[FloatArray, FloatArray]:
        """y at the least t, and the weights of the cuts."""
        gains = cuts.queries - (cuts.queries @ mu)[:, None]
        table = self._averaged((cuts.signs[:, :, None] * gains[:, None, :]).reshape(len(cuts), -1))
        found = strategies(table) if self.played else None
        values, w = self._solved(table) if found is None else found
        y = np.zeros(self.k * self.N)
        y[self.places] = (values / self.sizes)[self.variable]
        y = self._feasible((y / y.sum()).reshape(self.k, self.N))
        return y, w / w.sum() if w.sum() > 0.0 else np.full(len(cuts), 1.0 / len(cuts))

    def _solved(self, table: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The variables and the weights, neither negative, by a general solver."""
        from scipy.optimize import linprog

        J, n = table.shape
        rows = [np.c_[table, -np.ones(J)]]
        if self.theta > 0.0:
            wrong = np.where(self.right, -self.theta, 1.0 - self.theta)
            own = np.repeat(np.eye(self.k), self.N, axis=1).reshape(self.k, self.k, self.N)
            rows.append(np.c_[self._averaged((own * wrong).reshape(self.k, -1)), np.zeros(self.k)])
        A = np.concatenate(rows)
        found = linprog(
            np.r_[np.zeros(n), 1.0], A_ub=A, b_ub=np.zeros(len(A)), A_eq=np.r_[np.ones(n), 0.0][None], b_eq=[1.0],
            bounds=[(0.0, None)] * n + [(None, None)], method="highs-ds",
        )  # fmt: skip
        if found.x is None:
            raise BadValue("linear program", found.message, "have a solution", "report this class as a bug")
        return np.maximum(found.x[:-1], 0.0), np.maximum(-found.ineqlin.marginals[:J], 0.0)

    def _averaged(self, table: FloatArray) -> FloatArray:
        """The means over the orbits, (J, variables), of numbers at all places, (J, kN)."""
        return np.asarray(np.add.reduceat(table[:, self.places[self.order]], self.starts, axis=1) / self.sizes)

    def _feasible(self, y: FloatArray) -> FloatArray:
        """What rounding has put on wrong labels beyond θ, moved onto the right ones."""
        if self.theta == 0.0:
            return y
        mass, wrong = y.sum(axis=1), np.where(self.right, 0.0, y).sum(axis=1)
        allowed = np.minimum(1.0, np.divide(self.theta * mass, wrong, out=np.ones_like(mass), where=wrong > 0.0))
        kept = np.where(self.right, y, y * allowed[:, None])
        lost = (mass - kept.sum(axis=1))[:, None] * self.right / self.right.sum(axis=1, keepdims=True)
        return np.asarray(kept + lost)

    def _lower(self, mu: FloatArray, cuts: Cuts, weights: FloatArray) -> float:
        """min_c min_λ of the average difference, as the weights see it."""
        F, s = cuts.queries, cuts.signs
        seen = (weights[:, None] * s).T @ (F - (F @ mu)[:, None])
        if len(self.group) > 1:
            images = self.group.concepts[:, :, None] * self.N + self.group.points[:, None, :]
            seen = seen.ravel()[images].mean(axis=0)
        right = np.where(self.right, seen, np.inf).min(axis=1)
        least = (1.0 - self.theta) * right + self.theta * np.minimum(right, seen.min(axis=1))
        return float(least.min())


def _checked_labelled(concepts: ConceptClass, law: Any) -> FloatArray:
    mu = check_law(law)
    if len(mu) != 2 * concepts.domain_size:
        raise BadValue("shape of law", mu.shape, f"be ({2 * concepts.domain_size},)", "give λ(a, b) of labelled points")
    return mu


def _largest(values: FloatArray, count: int) -> npt.NDArray[np.intp]:
    equal = int(np.count_nonzero(values >= values.max() * (1.0 - 1e-9)))
    count = min(max(count, min(equal, _EQUAL_CUTS)), len(values))
    best = np.argpartition(values, -count)[-count:]
    return np.asarray(best[np.argsort(-values[best], kind="stable")])


@lru_cache(maxsize=4)
def _signs(length: int) -> FloatArray:
    """All rows of signs with the first one +1."""
    rows = np.arange(1 << (length - 1))[:, None] >> np.arange(length - 1)[None, :] & 1
    return np.asarray(np.c_[np.ones(len(rows)), 1.0 - 2.0 * rows])
