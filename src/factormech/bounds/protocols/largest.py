r"""The expected largest error of every ε-LDP protocol, interactive or not, with any estimator: Theorems C, D and E.

Let the users' types be drawn from p, uniform priors on a face of m types as in ``prior.py``, D = P/m and b = mβ.

**Theorem C.** For queries V, r ≤ m − 1 rows of W, with expected largest error α,

.. math:: \alpha \ge c_r \det(VDV^\top)^{1/2r} \Bigl/ \sqrt{NL + j}, \qquad
          L = \min\Bigl(\frac{\sigma_m(1+\chi)}r, \tanh^2\frac\varepsilon2\,\frac{b-1}{m(\beta-1)}\Bigr), \quad
          j = \frac{(b-1)(b-2)}{m(\beta-2)},

c_r = √(2πe)·r/(2e(r!)^{1/r}), and c_1 = 0.7916.

**Theorem E.** The same with C_r√r/√(tr K), C_r of ``box.py``, tr K ≤ min(Nσ_m(1+χ)/λ_min(Γ), N tanh²(ε/2)(b−1)/(m(β−1))
·tr Γ⁻¹) + j·tr Γ⁻¹, Γ = VDVᵀ: better for queries that are nearly orthogonal, such as parities.

**Theorem D.** If W_vz_v = 1 and Σw_v = 1, then α ≥ 0.7916/√(Σw_v z_vᵀ(E I_T + J)z_v), the sum being at most
tNσ_m(1+χ) + j·m·tr M for M = Σw_vz_vz_vᵀ ⪯ tD.

On data sets of N users instead of distributions, α + r₀√(ln(2r)/(2N)) is an expected largest error on distributions, r₀
the largest range of the rows on the face; α + r₀/(2√N) for r = 1. Proofs: ``docs/lower-bounds-every-protocol.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import gammaln

from factormech.arrays import FloatArray, IntArray
from factormech.bounds.hard import single
from factormech.bounds.protocols import box, drive, faces, one_query, prior, record
from factormech.bounds.protocols.record import Data, ProtocolBound
from factormech.bounds.protocols.squared import BETAS, CONSTANT
from factormech.workloads.base import Workload

# −a'₁: the least eigenvalue of −u″ + |x|u, rounded down; c_1 follows from it.
_AIRY = 1.018792971647
ONE = (2.0 / 3.0) * _AIRY * math.sqrt(4.0 * _AIRY / 3.0)
# Relative rounding of c_r, of a determinant's root, and of the quotient: far more than they have.
_MARGIN = 1e-11
_UNIT = 2.0**-53
# Steps of the search for weights.
_WEIGHT_STEPS = 100


def constant_of(rows: int) -> float:
    """c_r, rounded down."""
    if rows == 1:
        return ONE * (1.0 - _MARGIN)
    root = math.exp(math.lgamma(rows + 1.0) / rows)
    return math.sqrt(2.0 * math.pi * math.e) * rows / (2.0 * math.e * root) * (1.0 - _MARGIN)


@dataclass(frozen=True)
class LargestProof:
    """What a bound α ≥ strength/√(N·information + prior) on the largest error follows from.

    Attributes
    ----------
    theorem
        ``C``, ``D`` or ``E``.
    types
        The face.
    queries
        V on the face, (r, m); of Theorem D all rows with weight.
    beta
        β.
    strength
        c_r·det(VDVᵀ)^{1/2r}, 0.7916 or C_r; rounded down.
    information, prior
        L and j, or those of Theorem D; rounded up.
    spread
        What a data set may differ from its distribution by, times √N, in expectation.
    weights
        w of Theorem D.
    """

    theorem: str
    types: tuple[int, ...]
    queries: FloatArray
    beta: Fraction
    strength: float
    information: float
    prior: float
    spread: float
    weights: FloatArray | None = None

    def error(self, users: int, data: str) -> float:
        """A lower bound on the expected largest error with this many users; it may be below 0."""
        drawn = self.strength / math.sqrt(users * self.information + self.prior) * (1.0 - _MARGIN)
        return drawn if data == "drawn" else drawn - self.spread / math.sqrt(users) * (1.0 + _MARGIN)


@dataclass(frozen=True)
class CoinsProof:
    """The Bayes risk of N coins for the query of the largest range."""

    types: tuple[int, ...]
    value_range: float
    epsilon: float

    def two_points(self, users: int) -> float:
        """The risk under a prior on two points, which takes no time."""
        return single.risk(self.value_range, self.epsilon, users)

    def error(self, users: int, data: str) -> float:
        """The risk of this many users, which falls as their number grows."""
        spread = 0.0 if data == "drawn" else 0.5 * self.value_range / math.sqrt(users)
        return one_query.risk(self.value_range, self.epsilon, users) - spread * (1.0 + _MARGIN)


@dataclass(frozen=True)
class _Face:
    """A face for the search: its rows in greedy order, and for the first r of them, Γ = VDVᵀ, what the theorems need.

    ``logarithms`` has log det(Γ)/r and ``spreads`` the spread, for every r; ``sizes`` the r of Theorem E, ``largest``
    1/λ_min(Γ) and ``means`` tr(Γ⁻¹)/r for these.
    """

    types: tuple[int, ...]
    order: tuple[int, ...]
    queries: FloatArray
    logarithms: FloatArray
    spreads: FloatArray
    sizes: IntArray
    largest: FloatArray
    means: FloatArray


class LargestSearch:
    """The faces of one workload and budget, for bounds at many numbers of users.

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
        self.epsilon = record.checked(epsilon, "drawn")
        self.problem = faces.problem_of(workload)
        face = record.checked_types(types, self.problem.types)
        tried = faces.families(self.problem) if face is None else [face]
        self.faces = [found for found in map(self._face, tried) if found is not None]
        self.weighted = [found for found in map(self._weighted, self._some()) if found is not None]
        self.coins = self._coins(face)

    def error(self, users: int, data: Data = "drawn") -> ProtocolBound:
        """The bound on the expected largest error with this many users."""
        users = record.checked_users(users)
        found: Any = self._proof(users, data)
        noisy = 0.0 if found is None else found.error(users, data)
        # Coins are worth at most 5.4 times as many users as two points, and so at most 2.4 times the error.
        if self.coins is not None and 2.4 * self.coins.two_points(users) > noisy:
            found = max((proof for proof in (found, self.coins) if proof), key=lambda proof: proof.error(users, data))
        if found is None or not found.error(users, data) > 0.0:
            raise record.vacuous("users", users, "ask for more users, or for another ε")
        return self._record(found, data, users, math.nextafter(float(found.error(users, data)), 0.0))

    def users(self, alpha: float, data: Data = "drawn") -> ProtocolBound:
        """The bound on the number of users for an expected largest error of at most α."""
        largest = 0.5 * float(np.ptp(self.problem.rows, axis=1).max())
        target = record.checked_error(alpha, largest, "the largest error of constant answers")
        reached = drive.most_users(lambda users: self._proof(users, data), target, self._many(target), data)
        last, found = (0, None) if reached is None else reached
        # The risk of coins falls as users are drawn; for given data the users that it serves need not be an interval.
        if data == "drawn" and self.coins is not None and self.coins.error(last + 1, data) >= target:
            found = self.coins
            last = drive.last_users(found, target, last + 1, data)
        if found is None:
            raise record.vacuous("alpha", alpha, "ask for a smaller error, or for another ε")
        fewest = 1
        if data == "given":
            fewest = drive.fewest_users(lambda users: self._proof(users, data), found, target, last, data)
        return self._record(found, data, last + 1, float(alpha), fewest)

    def _many(self, target: Fraction) -> int:
        """More users than any of the proofs can ask for."""
        most = 1.0
        for face in self.faces:
            r = np.arange(1, len(face.order) + 1)
            floor = float(prior.uniform_trace_limit(len(face.types), prior.ratio_above(self.epsilon))) / r
            floor = np.minimum(floor, prior.contraction(float(prior.ratio_above(self.epsilon))))
            most = max(most, float(np.max(_constants(len(r)) ** 2 * np.exp(face.logarithms) / floor)))
        return math.ceil(min(2.0 * most / float(target) ** 2, 1e300))

    def _face(self, types: tuple[int, ...]) -> _Face | None:
        """The rows of a face, each raising the determinant most."""
        distinct = faces.distinct_queries(self.problem.rows[:, list(types)])
        if not len(distinct):
            return None
        R = (distinct - distinct.mean(axis=1, keepdims=True)) / math.sqrt(len(types))
        order: list[int] = []
        squares: list[float] = []
        for _ in range(min(len(R), len(types) - 1)):
            left = np.square(R).sum(axis=1)
            v = int(np.argmax(left >= left.max() * (1.0 - 1e-9)))
            if left[v] <= 1e-9 * (squares[0] if squares else 0.0):
                break
            order.append(v)
            squares.append(float(left[v]))
            unit = R[v] / math.sqrt(squares[-1])
            R = R - np.outer(R @ unit, unit)
        ranges = np.maximum.accumulate(np.ptp(distinct[order], axis=1))
        count = np.arange(1, len(order) + 1)
        spreads = ranges * np.where(count == 1, 0.5, np.sqrt(0.5 * np.log(2.0 * count)))
        sizes = np.array([r for r in faces.sizes(len(order)) if r <= len(order)], dtype=np.int64)
        A = (distinct[order] - distinct[order].mean(axis=1, keepdims=True)) / math.sqrt(len(types))
        inverse = [1.0 / np.linalg.eigvalsh(A[:r] @ A[:r].T) for r in sizes]
        largest, means = np.array([(float(x.max()), float(x.mean())) for x in inverse]).reshape(-1, 2).T
        return _Face(types, tuple(order), distinct, np.cumsum(np.log(squares)) / count, spreads, sizes, largest, means)

    def _some(self) -> list[_Face]:
        """Faces on which Theorem D is tried: a few sizes, and the largest face."""
        ordered = sorted(self.faces, key=lambda face: len(face.types))
        return ordered[:: max(1, len(ordered) // 3)] + ordered[-1:]

    def _proof(self, users: int, data: str) -> LargestProof | None:
        """The best proof by Theorems C and D."""
        return max(self._noisy(users, data), key=lambda proof: proof.error(users, data), default=None)

    def _noisy(self, users: int, data: str) -> list[LargestProof]:
        """The best proof by Theorem C, with all roundings accounted for, and those by Theorem D."""
        best: list[tuple[float, _Face, int, int] | None] = [None, None]
        for face in self.faces:
            both = (
                (self._values(face, users, data), np.arange(1, len(face.order) + 1)),
                (
                    self._box_values(face, users, data),
                    face.sizes,
                ),
            )
            for kind, (values, sizes) in enumerate(both):
                i, r = np.unravel_index(int(np.argmax(values)), values.shape) if values.size else (0, 0)
                seen = best[kind]
                if values.size and values[i, r] > (0.0 if seen is None else seen[0]):
                    best[kind] = float(values[i, r]), face, int(i), int(sizes[r])
        found = [
            prove(seen[1], seen[3], BETAS[CONSTANT][seen[2]], self.epsilon)
            for seen, prove in zip(best, (_determinant, _box), strict=True)
            # The constants of Theorem E are solved for: only where it may be the better one.
            if seen is not None and (prove is _determinant or best[0] is None or seen[0] > 0.98 * best[0][0])
        ]
        more = (_of_weights(*weighted, users, data, self.epsilon) for weighted in self.weighted)
        return [proof for proof in (*found, *more) if proof is not None]

    def _values(self, face: _Face, users: int, data: str) -> FloatArray:
        """The bounds of Theorem C for every β and every r, (betas, rows)."""
        r = np.arange(1, len(face.order) + 1)
        trace, cap, prior_ = _numbers(len(face.types), self.epsilon)
        information = np.minimum(trace[:, None] / r, cap[:, None])
        drawn = _constants(len(r)) * np.exp(0.5 * face.logarithms) / np.sqrt(users * information + prior_[:, None])
        return np.asarray(drawn if data == "drawn" else drawn - face.spreads / math.sqrt(users))

    def _box_values(self, face: _Face, users: int, data: str) -> FloatArray:
        """About the bounds of Theorem E for every β and every r of ``sizes``, (betas, sizes)."""
        trace, cap, prior_ = _numbers(len(face.types), self.epsilon)
        information = np.minimum(trace[:, None] * face.largest / face.sizes, cap[:, None] * face.means)
        drawn = box.about(face.sizes) / np.sqrt(users * information + prior_[:, None] * face.means)
        return np.asarray(drawn if data == "drawn" else drawn - face.spreads[face.sizes - 1] / math.sqrt(users))

    def _weighted(self, face: _Face) -> tuple[_Face, FloatArray, FloatArray] | None:
        """Weights of the rows, and the fields z_v that they suggest."""
        A = face.queries - face.queries.mean(axis=1, keepdims=True)
        weights = np.full(len(A), 1.0 / len(A))
        for _ in range(_WEIGHT_STEPS):
            values, U = np.linalg.eigh((A.T * weights) @ A)
            roots = np.sqrt(np.maximum(values, 1e-14 * values[-1]))
            variances = np.einsum("vi,i,vi->v", A @ U, 1.0 / roots, A @ U)
            weights = weights * np.sqrt(np.maximum(variances, 0.0) / variances.max())
            weights /= weights.sum()
        # The best z_v for these weights is a multiple of XW_vᵀ, X the pseudo-inverse of (AᵀDiag(w)A)^{1/2}.
        Z = (A @ U) / roots @ U.T
        Z -= Z.mean(axis=1, keepdims=True)
        return face, weights, Z

    def _coins(self, face: tuple[int, ...] | None) -> CoinsProof | None:
        index = np.arange(self.problem.types) if face is None else np.array(face)
        rows = self.problem.rows[:, index]
        row = rows[int(np.argmax(np.ptp(rows, axis=1)))]
        ends = sorted({int(index[row.argmin()]), int(index[row.argmax()])})
        # A difference of two floats with one rounding each, and one more.
        value_range = float(np.ptp(row)) * (1.0 - 4.0 * _UNIT)
        return CoinsProof((ends[0], ends[-1]), value_range, self.epsilon) if value_range > 0.0 else None

    def _record(self, found: Any, data: Data, users: int, error: float, fewest: int = 1) -> ProtocolBound:
        coins = isinstance(found, CoinsProof)
        return ProtocolBound(
            theorem="one query" if coins else found.theorem,
            measure="largest error",
            data=data,
            epsilon=self.epsilon,
            users=users,
            error=error,
            types=found.types,
            prior=Fraction(1) if coins else found.beta,
            field="" if coins else CONSTANT,
            information="coins" if coins else "trace",
            proof=found,
            fewest=fewest,
        )


@lru_cache(maxsize=1024)
def _numbers(types: int, epsilon: float) -> FloatArray:
    """σ_m(1+χ), the largest information in one direction and j for every β of the grid, (3, betas)."""
    exact = prior.ratio_above(epsilon)
    limit, tanh_squared = float(prior.uniform_trace_limit(types, exact)), prior.contraction(float(exact))
    beta = np.array([float(x) for x in BETAS[CONSTANT]])
    field = prior.constant_field(types, beta, limit, tanh_squared)
    return np.array([field.information, tanh_squared * (types * beta - 1) / (types * (beta - 1)), field.prior])


@lru_cache(maxsize=64)
def _constants(rows: int) -> FloatArray:
    """c_1 … c_r."""
    r = np.arange(1, rows + 1)
    found = math.sqrt(0.5 * math.pi / math.e) * r / np.exp(gammaln(r + 1.0) / r)
    found[0] = ONE
    return np.asarray(found)


def determinant_strength(queries: FloatArray) -> float:
    """c_r·det(VDVᵀ)^{1/2r} of Theorem C, rounded down; 0 for dependent rows."""
    roots, rows = _roots_below(queries), len(queries)
    if len(roots) < rows:
        return 0.0
    return constant_of(rows) * math.exp(float(np.log(roots).sum()) / rows) * (1.0 - _MARGIN)


def _determinant(face: _Face, rows: int, beta: Fraction, epsilon: float) -> LargestProof | None:
    """Theorem C for the first rows of a face, with all roundings accounted for."""
    V, m = face.queries[list(face.order[:rows])], len(face.types)
    strength = determinant_strength(V)
    trace, cap, prior_ = known(m, beta, epsilon)
    both = _above(min(trace / rows, cap)), _above(prior_)
    if strength == 0.0:
        return None
    return LargestProof("C", face.types, V, beta, strength, *both, float(face.spreads[rows - 1]))


def known(types: int, beta: Fraction, epsilon: float) -> tuple[Fraction, Fraction, Fraction]:
    """σ_m(1+χ), the largest information in one direction, and j, in fractions."""
    exact = prior.ratio_above(epsilon)
    tanh_squared = prior.contraction(exact)
    field = prior.constant_field(types, beta, prior.uniform_trace_limit(types, exact), tanh_squared)
    return field.information, tanh_squared * (types * beta - 1) / (types * (beta - 1)), field.prior


def _box(face: _Face, rows: int, beta: Fraction, epsilon: float) -> LargestProof | None:
    """Theorem E for the first rows of a face, with all roundings accounted for."""
    V, m = face.queries[list(face.order[:rows])], len(face.types)
    roots = _roots_below(V)
    if len(roots) < rows:
        return None
    trace, cap, prior_ = known(m, beta, epsilon)
    largest, mean = Fraction(roots[-1]) ** -2, sum((Fraction(x) ** -2 for x in roots), Fraction(0)) / rows
    both = _above(min(trace * largest / rows, cap * mean)), _above(prior_ * mean)
    return LargestProof("E", face.types, V, beta, box.box_constant(rows), *both, float(face.spreads[rows - 1]))


def _roots_below(V: FloatArray) -> FloatArray:
    """Lower bounds on the square roots of the eigenvalues of VDVᵀ, largest first."""
    m = V.shape[1]
    A = (V - V.mean(axis=1, keepdims=True)) / math.sqrt(m)
    largest = float(np.square(V).sum()) / m
    return faces.singular_values_below(A @ A.T, (2 * m + 16) * _UNIT * largest * (1.0 + 1e-6))


def _of_weights(
    face: _Face, weights: FloatArray, Z: FloatArray, users: int, data: str, epsilon: float
) -> LargestProof | None:
    """Theorem D for any weights and fields, z_v scaled so that W_vz_v = 1, with the best β for this many users."""
    m = len(face.types)
    answers = np.einsum("vu,vu->v", face.queries, Z)
    keep = (weights > 1e-12) & (answers > 1e-9 * answers.max())
    V, w, Z = face.queries[keep], weights[keep] / weights[keep].sum(), Z[keep] / answers[keep, None]
    # What is wrong with W_vz_v and Σw_v is far below this share of it.
    safe = 1.0 - 1e-9
    M = (Z.T * w) @ Z
    largest = m * (float(np.linalg.eigvalsh(M)[-1]) + m * 1e-12 * float(np.trace(M)))
    spent = m * float(np.trace(M)) * (1.0 + 1e-9)
    numbers = _numbers(m, epsilon)
    i = int(np.argmin(users * largest * numbers[0] + numbers[2] * spent))
    count = np.sqrt(0.5 * math.log(2.0 * len(V)))
    spread = float(np.ptp(V, axis=1).max()) * max(0.5, float(count))
    beta = BETAS[CONSTANT][i]
    trace, _, prior_ = known(m, beta, epsilon)
    both = largest * _above(trace) * (1.0 + 1e-9), _above(prior_) * spent
    return LargestProof("D", face.types, V, beta, ONE * safe, *both, spread, w)


def _above(value: float | Fraction) -> float:
    """A float that is not below a positive number."""
    return math.nextafter(float(value), math.inf)


def largest_error(
    workload: Workload | Any, epsilon: float, users: int, *, data: Data = "drawn", types: Sequence[int] | None = None
) -> ProtocolBound:
    """Return a lower bound on the expected largest error over the queries of every ε-LDP protocol with this many users.

    Parameters
    ----------
    workload
        A :class:`Workload` or a (k, n) matrix W; the answers are Wp for the distribution p of the types.
    epsilon
        The privacy budget, finite and above 0.
    users
        N, at least 1.
    data
        ``drawn``: the error E‖ψ̂ − Wp‖_∞ on the worst distribution p. ``given``: E‖ψ̂ − Wx/N‖_∞ on the worst data set.
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
    >>> from factormech.bounds.protocols.largest import largest_error
    >>> from factormech.workloads.registry import create
    >>> found = largest_error(create("parities", 8), epsilon=1.0, users=20_000)
    >>> f"{found.error:.4f}", found.theorem
    ('0.0570', 'E')
    """
    record.checked(epsilon, data)
    return LargestSearch(workload, epsilon, types).error(users, data)


def users_for_largest_error(
    workload: Workload | Any, epsilon: float, alpha: float, *, data: Data = "drawn", types: Sequence[int] | None = None
) -> ProtocolBound:
    """Return a lower bound on the number of users of every ε-LDP protocol with an expected largest error of at most α.

    Parameters
    ----------
    workload, epsilon, data, types
        As of :func:`largest_error`.
    alpha
        The expected largest error, below that of constant answers.

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
    >>> from factormech.bounds.protocols.largest import users_for_largest_error
    >>> from factormech.workloads.registry import create
    >>> users_for_largest_error(create("parities", 8), epsilon=1.0, alpha=0.05).users
    26450
    """
    record.checked(epsilon, data)
    return LargestSearch(workload, epsilon, types).users(alpha, data)
