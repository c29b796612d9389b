r"""The expected largest error of every ε-LDP protocol, interactive or not, with any estimator: Theorems C, D and E.

Let the users' types be drawn from p, uniform priors on a face of m types as in ``prior.py``, D = P/m and b = mβ.

**Theorem C.** For queries V, r ≤ m − 1 rows of W, with expected largest error α,

.. math:: \alpha \ge c_r \det(VDV^\top)^{1/2r} \Bigl/ \sqrt{NL + j}, \qquad
          L = \min\Bigl(\frac{\sigma_m(1+\chi)}r, \tanh^2\frac\varepsilon2\,\frac{b-1}{m(\beta-1)}\Bigr), \quad
          j = \frac{(b-1)(b-2)}{m(\beta-2)},

c_r = √(2πe)·r/(2e(r!)^{1/r}), and c_1 = 0.7916.

**Theorem E.** The same with C_r√r/√(tr K), where C_r is that of ``prior.py`` and Γ = VDVᵀ, tr K ≤
min(Nσ_m(1+χ)/λ_min(Γ), N tanh²(ε/2)(b−1)/(m(β−1))·tr Γ⁻¹) + j·tr Γ⁻¹: better for queries that are nearly orthogonal,
such as parities.

**Theorem D.** If W_vz_v = 1 and Σw_v = 1, then α ≥ 0.7916/√(Σw_v z_vᵀ(E I_T + J)z_v), the sum being at most
tNσ_m(1+χ) + j·m·tr M for M = Σw_vz_vz_vᵀ ⪯ tD.

On data sets of N users instead of distributions, α + r₀√(ln(2r)/(2N)) is an expected largest error on distributions, r₀
the largest range of the rows on the face; α + r₀/(2√N) for r = 1. Proofs: ``docs/lower-bounds-every-protocol.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from scipy.special import gammaln

from factormech.arrays import FloatArray, IntArray
from factormech.bounds.protocols import faces, largest_proofs, mean_squared, prior, record
from factormech.bounds.protocols.largest_proofs import (
    CoinsProof,
    LargestProof,
    box_proof,
    determinant_proof,
    weighted_proof,
)
from factormech.bounds.protocols.record import Data, ProtocolBound
from factormech.bounds.protocols.squared import BETAS, CONSTANT
from factormech.workloads.base import Workload

# Steps of the search for weights.
_WEIGHT_STEPS = 100


# What the proofs of ``largest_proofs`` ask for: the face, V, β, ε and the spread.
_Asked: TypeAlias = tuple[tuple[int, ...], FloatArray, Fraction, float, float]


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


_Values: TypeAlias = Callable[[_Face, int], tuple[FloatArray, IntArray, FloatArray]]


class LargestSearch:
    """A search over the faces of one workload at one budget, for bounds at many numbers of users.

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
        self.weighted = [self._weighted(face) for face in self._some()]
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
        reached = mean_squared.most_users(lambda users: self._proof(users, data), target, self._many(target), data)
        last, found = (0, None) if reached is None else reached
        # The risk of coins falls as users are drawn; for given data the users that it serves need not be an interval.
        if data == "drawn" and self.coins is not None and self.coins.error(last + 1, data) >= target:
            found = self.coins
            last = mean_squared.last_users(found, target, last + 1, data)
        if found is None:
            raise record.vacuous("alpha", alpha, "ask for a smaller error, or for another ε")
        fewest = 1
        if data == "given":
            fewest = mean_squared.fewest_users(lambda users: self._proof(users, data), found, target, last, data)
        return self._record(found, data, last + 1, float(alpha), fewest)

    def _many(self, target: Fraction) -> int:
        """More users than any of the proofs can ask for."""
        most = 1.0
        for face in self.faces:
            r = np.arange(1, len(face.order) + 1)
            floor = float(prior.uniform_trace_limit(len(face.types), prior.ratio_above(self.epsilon))) / r
            floor = np.minimum(floor, prior.contraction(float(prior.ratio_above(self.epsilon))))
            most = max(most, float(np.max(_constants(len(r)) ** 2 * np.exp(face.logarithms) / floor)))
        return math.ceil(min(2.5 * most / float(target) ** 2, 1e300))

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
        """The best proofs by Theorem C and by E, with all roundings accounted for, and those by Theorem D."""
        determinant, boxed = (self._best(users, data, values) for values in (self._values, self._box_values))
        found = [] if determinant is None else [determinant_proof(*determinant[1])]
        # The constants of Theorem E are solved for: only where it may be the better one.
        if boxed is not None and (determinant is None or boxed[0] > 0.98 * determinant[0]):
            found.append(box_proof(*boxed[1]))
        more = (weighted_proof(*weighted, users, self.epsilon) for weighted in self.weighted)
        return [proof for proof in (*found, *more) if proof is not None]

    def _best(self, users: int, data: str, values_of: _Values) -> tuple[float, _Asked] | None:
        """The face, rows and β with the largest value, as the proofs ask for them; ``None`` where all are vacuous."""
        best: tuple[float, _Asked] | None = None
        for face in self.faces:
            values, sizes, spreads = values_of(face, users)
            values = values if data == "drawn" else values - spreads / math.sqrt(users)
            i, j = np.unravel_index(int(np.argmax(values)), values.shape)
            if values[i, j] > (0.0 if best is None else best[0]):
                V = face.queries[list(face.order[: int(sizes[j])])]
                best = float(values[i, j]), (face.types, V, BETAS[CONSTANT][int(i)], self.epsilon, float(spreads[j]))
        return best

    def _values(self, face: _Face, users: int) -> tuple[FloatArray, IntArray, FloatArray]:
        """The bounds of Theorem C for drawn data, every β and every r, (betas, rows); the r, and their spreads."""
        r = np.arange(1, len(face.order) + 1)
        trace, cap, prior_ = largest_proofs.numbers(len(face.types), self.epsilon)
        information = np.minimum(trace[:, None] / r, cap[:, None])
        drawn = _constants(len(r)) * np.exp(0.5 * face.logarithms) / np.sqrt(users * information + prior_[:, None])
        return np.asarray(drawn), r, face.spreads

    def _box_values(self, face: _Face, users: int) -> tuple[FloatArray, IntArray, FloatArray]:
        """The same of Theorem E, to some per cent, for the r of ``sizes``."""
        trace, cap, prior_ = largest_proofs.numbers(len(face.types), self.epsilon)
        information = np.minimum(trace[:, None] * face.largest / face.sizes, cap[:, None] * face.means)
        drawn = prior.about(face.sizes) / np.sqrt(users * information + prior_[:, None] * face.means)
        return np.asarray(drawn), face.sizes, face.spreads[face.sizes - 1]

    def _weighted(self, face: _Face) -> tuple[tuple[int, ...], FloatArray, FloatArray, FloatArray]:
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
        return face.types, face.queries, weights, Z

    def _coins(self, face: tuple[int, ...] | None) -> CoinsProof | None:
        index = np.arange(self.problem.types) if face is None else np.array(face)
        rows = self.problem.rows[:, index]
        row = rows[int(np.argmax(np.ptp(rows, axis=1)))]
        ends = sorted({int(index[row.argmin()]), int(index[row.argmax()])})
        # A difference of two floats with one rounding each, and one more.
        value_range = float(np.ptp(row)) * (1.0 - 4.0 * 2.0**-53)
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


@lru_cache(maxsize=64)
def _constants(rows: int) -> FloatArray:
    """c_1 … c_r."""
    r = np.arange(1, rows + 1)
    found = math.sqrt(0.5 * math.pi / math.e) * r / np.exp(gammaln(r + 1.0) / r)
    found[0] = largest_proofs.ONE
    return np.asarray(found)


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
