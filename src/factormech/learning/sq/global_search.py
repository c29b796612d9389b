r"""The statistical query dimension between two certified ends: the least value over all laws, by branch and bound.

With y_c = π_cλ_c the value of :mod:`factormech.learning.sq.dimension` at μ is the least over π and y of

.. math:: \max_{s, F} \sum_c s_c \langle F, y_c - w_c \rangle, \qquad w_c = π_cμ,

so that min_μ V(μ) is a linear program but for the products. Put w_c ≥ 0 in their place, with Σ_cw_c = μ, sum π_c, and
as constraints what holds of products:

* w_c/π_c is a law on which everything loses θ + α: linear in w_c and v_c = θπ_c;
* for π_c in [l, u] and μ_x in [a, b] McCormick's four planes (Mathematical Programming 10, 1976), for example
  w_cx ≥ lμ_x + aπ_c − la; for v_c and θ as well.

The least of the relaxation is at most min V over the box, as every product satisfies all of this, and boxes are split
where a product is farthest from what stands for it. A box whose bound is near the best value known is done. The lower
end is the least bound of all boxes, the upper end a value at one law, both ends of it evaluated (``value_at``).

**Safety.** A bound is not what the solver says, but its dual numbers λ put into weak duality: with all variables in
[0, h_j] and reduced costs r = c − Aᵀλ it is bᵀλ + Σ_jh_j·min(r_j, 0), whatever λ is (Neumaier & Shcherbina,
Mathematical Programming 99, 2004); its roundings, some thousand of numbers of size 1, are less than ``_ROUNDING``. A
program with some of its cuts is a relaxation again, so that cuts are shared by all boxes.

**Symmetry.** If an automorphism of the class carries concept c to c′ then π may be exchanged accordingly: so π_0 may be
the largest in the orbit of concept 0, then π_1 in its orbit under the automorphisms that fix 0, and so on.

Larger classes have ends in closed form alone (:mod:`factormech.learning.sq.dimension`).
"""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.learning.concepts import ConceptClass
from factormech.learning.sq.dimension import Cuts, Losers, QueryValue, sign_norm
from factormech.learning.sq.dimension_search import smallest_value, value_of
from factormech.learning.sq.symmetry import Permutations, automorphisms

MOST_POINTS = 4
# All classes of four points have at most so many concepts.
MOST_CONCEPTS = 16
GAP, NODES = 0.01, 2000
_ROUNDING = 1e-10
# A value is a handful of sums.
_DOWN = 1.0 - 1e-12
_CUTS, _ROUNDS = 8, 12
# A box with a side shorter than this is not split along it.
_NARROW = 1e-7
# Better laws are looked for at the first nodes, and then each time after as many.
_TRIED = 16


@dataclass(frozen=True)
class CertifiedDimension:
    """SQD between two ends.

    Attributes
    ----------
    lower, upper
        The interval.
    value
        V at the best law found, which proves the lower end.
    nodes
        Boxes whose program was solved; 0 where there was no search.
    """

    lower: float
    upper: float
    value: QueryValue
    nodes: int


def is_searched(concepts: ConceptClass) -> bool:
    """Whether branch and bound takes the class."""
    return concepts.domain_size <= MOST_POINTS and concepts.size <= MOST_CONCEPTS


def certified_dimension(
    concepts: ConceptClass,
    alpha: float,
    *,
    agnostic: bool = False,
    losers: Losers = "class",
    found: QueryValue | None = None,
    gap: float = GAP,
    nodes: int = NODES,
) -> CertifiedDimension:
    """Return SQD^R, or SQD^A, of a class of at most four points as a certified interval.

    Parameters
    ----------
    concepts
        The class, of at most four points.
    alpha, agnostic, losers
        As of ``smallest_value``.
    found
        The value at a law from a search like ``smallest_value``, to start from.
    gap
        The relative width that is asked for.
    nodes
        Boxes at most; the interval is then what is proved so far.

    Raises
    ------
    BadValue
        If the class is too large.

    Examples
    --------
    >>> from factormech.learning.concepts import concept_class
    >>> found = certified_dimension(concept_class("thresholds", 2), 0.1)
    >>> 5.0 <= found.lower <= found.upper <= 1.03 * found.lower
    True
    """
    if not is_searched(concepts):
        rule = f"have at most {MOST_CONCEPTS} concepts on {MOST_POINTS} points for a search over all laws"
        raise BadValue("class", concepts.name, rule, "ask for dimension.simple_ends, which hold for every class")
    best = found or smallest_value(concepts, alpha, agnostic=agnostic, losers=losers)
    search = _Search(_Program(concepts, alpha, agnostic, losers, best.cuts), best, gap)
    lower = max(search.run(nodes), 2.0 * alpha / concepts.size)
    best = search.best
    return CertifiedDimension(_DOWN / best.upper, 1.0 / min(lower, best.upper), best, search.nodes)


@dataclass(frozen=True)
class _Box:
    """Bounds of π (k,), μ (N,) and θ, (2, k + N + 1)."""

    sides: FloatArray

    def split(self, at: int, where: float) -> tuple[_Box, _Box]:
        low, high = self.sides.copy(), self.sides.copy()
        low[1, at] = high[0, at] = where
        return _Box(low), _Box(high)


class _Program:
    """The relaxation: variables y (k·N), w (k·N), v (k), m (k·T), t."""

    def __init__(self, concepts: ConceptClass, alpha: float, agnostic: bool, losers: Losers, cuts: Cuts) -> None:
        k, T = concepts.matrix.shape
        self.concepts, self.alpha, self.agnostic, self.losers = concepts, alpha, agnostic, losers
        self.k, self.N, self.T = k, 2 * T, T
        right = concepts.matrix > 0
        wrong = np.concatenate([~right, right], axis=1)
        kN = k * self.N
        self.size = 2 * kN + k + k * T + 1
        self.upper = np.ones(self.size)
        self.upper[-1] = 2.0
        if not agnostic:
            self.upper[:kN][wrong.ravel()] = 0.0
            self.upper[2 * kN : 2 * kN + k] = 0.0
        eye, unit = np.eye(k), np.eye(self.size)
        # π_c, μ_x and θ as functions of the variables.
        self.pi, self.mu = np.zeros((k, self.size)), np.zeros((self.N, self.size))
        self.pi[:, kN : 2 * kN] = np.repeat(eye, self.N, axis=1)
        self.mu[:, kN : 2 * kN] = np.tile(np.eye(self.N), (1, k))
        self.v = unit[2 * kN : 2 * kN + k]
        self.theta, self.w = self.v.sum(axis=0), unit[kN : 2 * kN].reshape(k, self.N, -1)
        y, m = unit[:kN].reshape(k, self.N, -1), unit[2 * kN + k : -1].reshape(k, T, -1)
        self.equal = np.concatenate([y.sum(axis=1) - self.pi, self.pi.sum(axis=0)[None]])
        self.totals = np.r_[np.zeros(k), 1.0]
        rows = [np.einsum("cx,cxj->cj", wrong, y) - self.v]
        if losers == "class":
            rows += [self.v + alpha * self.pi - np.einsum("x,cxj->cj", one, self.w) for one in wrong.astype(float)]
            self.upper[2 * kN + k : -1] = 0.0
        else:
            rows += [self.v + alpha * self.pi - m.sum(axis=1)]
            rows += [(m - self.w[:, side]).reshape(k * T, -1) for side in (slice(0, T), slice(T, None))]
        rows.append(_ordered(automorphisms(concepts).concepts, self.pi))
        self.fixed = np.concatenate(rows)
        self.cuts = np.zeros((0, self.size))
        self.add(cuts.queries, cuts.signs)

    def add(self, queries: FloatArray, signs: FloatArray) -> bool:
        """Add cuts Σ_cs_c⟨F, y_c − w_c⟩ ≤ t; whether any is new."""
        own = (signs[:, :, None] * queries[:, None, :]).reshape(len(signs), -1)
        rest = np.zeros((len(own), self.size - 2 * own.shape[1]))
        rest[:, -1] = -1.0
        more = np.unique(np.concatenate([self.cuts, np.concatenate([own, -own, rest], axis=1)]), axis=0)
        new, self.cuts = len(more) > len(self.cuts), more
        return new

    def value(self, law: FloatArray) -> QueryValue:
        """V at a law that is made to lose enough."""
        mu = np.maximum(law, 0.0)
        return value_of(self.concepts, mu / mu.sum(), self.alpha, self.agnostic, self.losers)

    def planes(self, box: _Box) -> tuple[FloatArray, FloatArray]:
        """The sides of the box and McCormick's planes, rows · z ≤ limits."""
        k, N = self.k, self.N
        (low, a, p), (up, b, q) = ((side[:k], side[k : k + N], side[-1]) for side in box.sides)
        linear = np.concatenate([self.pi, self.mu, self.theta[None]])
        rows, limits = [linear, -linear], [box.sides[1], -box.sides[0]]
        pi, mu = self.pi[:, None, :], self.mu[None, :, :]
        for c, x, sign in ((low, a, 1.0), (up, b, 1.0), (up, a, -1.0), (low, b, -1.0)):
            plane = c[:, None, None] * mu + x[None, :, None] * pi - self.w
            rows.append(sign * plane.reshape(k * N, -1))
            limits.append(sign * np.outer(c, x).ravel())
        for c, at, sign in ((low, p, 1.0), (up, q, 1.0), (up, p, -1.0), (low, q, -1.0)):
            rows.append(sign * (np.outer(c, self.theta) + at * self.pi - self.v))
            limits.append(sign * c * at)
        return np.concatenate(rows), np.concatenate(limits)

    def bound(self, box: _Box, cost: FloatArray | None = None, most: float = 2.0) -> tuple[float, FloatArray | None]:
        """The safe bound of a box (2 if it is empty), and the solution; of another cost, with t ≤ ``most``."""
        from scipy.optimize import linprog

        planes, limits = self.planes(box)
        c = np.eye(self.size)[-1] if cost is None else cost
        top = self.upper.copy()
        top[-1] = most
        for _ in range(_ROUNDS):
            A = np.concatenate([self.fixed, self.cuts, planes])
            b = np.r_[np.zeros(len(self.fixed) + len(self.cuts)), limits]
            found = linprog(c, A, b, self.equal, self.totals, np.c_[np.zeros(self.size), top], method="highs-ds")
            if found.x is None:
                return (2.0, None) if found.status == 2 else (0.0, None)
            duals, free = np.minimum(found.ineqlin.marginals, 0.0), found.eqlin.marginals
            reduced = c - duals @ A - free @ self.equal
            safe = float(b @ duals + self.totals @ free + np.minimum(reduced, 0.0) @ top) - _ROUNDING
            kN = self.k * self.N
            value, F, s = sign_norm((found.x[:kN] - found.x[kN : 2 * kN]).reshape(self.k, self.N), _CUTS)
            if cost is not None or value <= found.x[-1] * (1.0 + 1e-3) + 1e-9 or not self.add(F, s):
                break
        return safe, found.x


def _ordered(moved: Permutations, pi: FloatArray) -> FloatArray:
    """π_c − π_i ≤ 0 for the c in the orbit of i, under the automorphisms that fix all concepts before i."""
    rows = [np.zeros((0, pi.shape[1]))]
    for i in range(len(pi)):
        others = sorted({*moved[:, i].tolist()} - {i})
        rows.append(pi[others] - pi[i])
        moved = moved[moved[:, i] == i]
    return np.concatenate(rows)


class _Search:
    """Boxes in the order of their bounds, until the least is near the best value known."""

    def __init__(self, program: _Program, best: QueryValue, gap: float) -> None:
        self.program, self.best, self.gap = program, best, gap
        self.nodes = 0

    @property
    def enough(self) -> float:
        """Boxes with this bound are done."""
        return self.best.upper / (1.0 + self.gap)

    def run(self, nodes: int) -> float:
        """The least bound of all boxes."""
        root = _Box(np.repeat([[0.0], [1.0]], self.program.k + self.program.N + 1, axis=1))
        _, z = self.program.bound(root)
        if z is not None:
            self._try(root, z)
        count, done = itertools.count(), math.inf
        waiting: list[tuple[float, int, _Box, FloatArray]] = []

        def put(box: _Box, parent: float) -> None:
            nonlocal done
            self.nodes += 1
            bound, z = self.program.bound(box)
            bound = max(bound, parent)
            if z is None or bound >= self.enough:
                done = min(done, bound)
                return
            if self.nodes < _TRIED or self.nodes % _TRIED == 0:
                self._try(box, z)
            heapq.heappush(waiting, (bound, next(count), box, z))

        put(self._tightened(root), 0.0)
        while waiting and self.nodes < nodes:
            bound, _, box, z = heapq.heappop(waiting)
            at, where = (-1, 0.0) if bound >= self.enough else self._widest(box, z)
            if at < 0:
                done = min(done, bound)
                continue
            for half in box.split(at, where):
                put(half, bound)
        return min([done, *(bound for bound, *_ in waiting)])

    def _try(self, box: _Box, z: FloatArray) -> None:
        """Look for a better law: the best one for the π and θ of a solution, where the program is exact."""
        program, sides = self.program, np.array([[0.0], [1.0]]) * np.ones(box.sides.shape[1])
        k, place = program.k, np.concatenate([program.pi @ z, program.mu @ z, [float(program.theta @ z)]])
        for at in (*range(k), -1):
            sides[:, at] = min(max(place[at], 0.0), 1.0)
        # A little room, as the sum of π must be 1.
        sides[:, :k] += np.array([[-1e-9], [1e-9]])
        _, found = program.bound(_Box(sides))
        if found is None or found[-1] >= self.best.upper * (1.0 - 1e-3):
            return
        value = program.value(program.mu @ found)
        if value.upper < self.best.upper:
            self.best = value

    def _tightened(self, box: _Box) -> _Box:
        """The box with the sides that values up to the best one known leave."""
        program, sides = self.program, box.sides.copy()
        linear = np.concatenate([program.pi, program.mu, program.theta[None]])
        for _ in range(2):
            for j, row in enumerate(linear):
                for side, sign in ((0, 1.0), (1, -1.0)):
                    if sides[1, j] - sides[0, j] > _NARROW:
                        least, z = program.bound(_Box(sides), sign * row, self.best.upper)
                        if z is not None:
                            sides[side, j] = np.clip(sign * least, *sides[:, j])
        return _Box(sides)

    def _widest(self, box: _Box, z: FloatArray) -> tuple[int, float]:
        """The coordinate of π, μ and θ whose products are farthest from what stands for them, and where to cut."""
        program = self.program
        pi, mu, theta = program.pi @ z, program.mu @ z, float(program.theta @ z)
        away = np.abs(program.w @ z - np.outer(pi, mu))
        beside = np.abs(program.v @ z - theta * pi)
        width = box.sides[1] - box.sides[0]
        scores = np.concatenate([away.sum(axis=1) + beside, away.sum(axis=0), [beside.sum()]]) * (width > _NARROW)
        # A split pays by the part of the box that it takes away.
        scores *= width / np.maximum(box.sides[1], _NARROW)
        at = int(np.argmax(scores))
        if scores[at] <= 0.0:
            return -1, math.nan
        middle, point = float(box.sides[:, at].mean()), float(np.concatenate([pi, mu, [theta]])[at])
        margin = 0.2 * float(width[at])
        return at, float(np.clip(0.5 * (middle + point), box.sides[0, at] + margin, box.sides[1, at] - margin))
