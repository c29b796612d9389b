"""Hard pairs of a workload, as pictures and as tests that real mechanisms take beside what none can pass.

The pairs are those of ``bounds.hard``: the best certificate at a half-gap θ, as pairs λ_v, μ_v of disjoint supports
(``apart``: 2U^±/‖U_v‖₁), mixed row by row to gaps 2θ (``mixed``), or ν ± M_v/2 around a common centre (``centre``).

**The limit around a centre.** Let D = diag(ν) and c = ‖Π^{½}MD^{−½}‖²: then diag(cν) ⪰ MᵀΠM, so that the proof of
``bounds.hard.divergence`` holds with y = cν, Y = c and φ = 1. There the average over π of ln(1/A_v), A_v the affinity
of n reports, is at most nL₁, L₁ the L of which ``users_around_centre`` makes one user. With V_v² ≤ 1 − A_v² and as
√(1 − e^{−2x}) is concave, the average total variation is at most √(1 − e^{−2nL₁}); the bound without a centre,
``divergence.advantage``, holds as well. Neither knows the mechanism.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.bounds.hard import divergence
from factormech.bounds.hard.certificate import best_witness
from factormech.bounds.hard.pairs import HardPairs, around_centre, from_witness, mix_rows, weighted
from factormech.errors import BadValue, UnknownName
from factormech.norms.certified import checked_matrix
from factormech.numerics.rounding import above, gamma, spectral_norm_above

if TYPE_CHECKING:
    from factormech.arrays import FloatArray
    from factormech.workloads.base import Workload


def matrix_of(mechanism: str, workload: Workload, epsilon: float, root_seed: int, most: int) -> FloatArray | str:
    """Return Q, outputs × types, if it has at most this many outputs; else the reason."""
    from factormech.errors import Unavailable
    from factormech.mechanisms.local.registry import strategy_for
    from factormech.mechanisms.local.strategy import StrategyMatrix
    from factormech.mechanisms.local.symmetric.strategy import SymmetricStrategy

    strategy = strategy_for(mechanism, workload, epsilon, root_seed=root_seed)
    if isinstance(strategy, Unavailable):
        return strategy.reason
    if not isinstance(strategy, (StrategyMatrix, SymmetricStrategy)):
        return "its reports are not drawn from a matrix"
    if strategy.outputs > most:
        return f"more than {most} possible reports"
    return (strategy.as_matrix() if isinstance(strategy, SymmetricStrategy) else strategy).matrix


FORMS = ("apart", "mixed", "centre")
# Any β serves to read L₁ off a number of users; numbers of users are right to a few roundings.
_BETA, _SLACK = 0.25, 1.0 + 1e-12


def pairs_of(workload: Any, theta: float, form: str = "centre") -> HardPairs:
    """The pairs of the best certificate at this half-gap, their queries in order."""
    if form not in FORMS:
        raise UnknownName("form", form, FORMS)
    witness = best_witness(workload, theta).witness
    if not witness.matrix.any():
        rule = "be below half of the range of some query"
        raise BadValue("half_gap", theta, rule, "give a smaller half_gap: no pairs differ by so much")
    if form == "centre":
        return around_centre(witness, workload, theta)
    pairs = from_witness(averaged(witness.matrix, checked_matrix("workload", workload)), workload)
    return pairs if form == "apart" else mix_rows(pairs, workload, min(theta, witness.theta))


def averaged(U: FloatArray, W: FloatArray) -> FloatArray:
    """Return the mean of a dual matrix over the symmetries of a workload that flip and permute the bits of types.

    W•U stays as it is, and neither ‖U‖₁ nor a dual norm of U grows, since both are convex and have these symmetries:
    the mean is no worse a certificate, and it shows no choice that a solver made between alike ones. Only flips of one
    bit, and permutations of all bits, that map the queries onto queries are used.
    """
    n = W.shape[1]
    bits = n.bit_length() - 1
    if n != 1 << bits:
        return U
    types = np.arange(n)
    for i in range(bits):
        flipped = _moved(U, W, types ^ (1 << i))
        U = U if flipped is None else 0.5 * (U + flipped)
    # Every permutation of j + 1 bits is one of j bits after a swap of bit j with one of them, or with itself.
    for j in range(1, bits):
        swapped = [_moved(U, W, _swapped(types, i, j)) for i in range(j)]
        found = [one for one in swapped if one is not None]
        U = (U + np.sum(found, axis=0)) / (j + 1) if len(found) == j else U
    return np.asarray(U)


def _swapped(types: IntArray, i: int, j: int) -> IntArray:
    """Types with bits i and j in each other's place."""
    differ = ((types >> i) ^ (types >> j)) & 1
    return np.asarray(types ^ (differ << i) ^ (differ << j))


def _moved(U: FloatArray, W: FloatArray, moved: IntArray) -> FloatArray | None:
    """The dual matrix after a permutation of the types, or ``None`` if it maps some query onto no query."""
    place = {row.tobytes(): v for v, row in enumerate(np.ascontiguousarray(W))}
    found = [place.get(row.tobytes(), -1) for row in np.ascontiguousarray(W[:, moved])]
    if sorted(found) != list(range(len(W))):
        return None
    image = np.empty_like(U)
    image[found] = U[:, moved]
    return image


@dataclass(frozen=True)
class HardTest:
    """Pairs around a centre with the weights that make them hardest, and what bounds their tests.

    ``norm`` is at least ‖M‖_{∞→L2(π)}, ``relaxed`` at least √c.
    """

    pairs: HardPairs
    norm: float
    relaxed: float

    def limit(self, epsilon: float, users: int) -> float:
        """No ε-LDP mechanism of n non-interactive users has a larger average total variation."""
        epsilon, n = check_epsilon(epsilon), check_positive_integer("users", users)
        plain = divergence.advantage(self.norm, epsilon, n, self.pairs.row_mass)
        enough = divergence.users_around_centre(self.relaxed, epsilon, _BETA, 1.0, self.pairs.row_mass)
        one = divergence.log_affinity(_BETA) / enough * _SLACK
        return min(plain, math.sqrt(-math.expm1(-2.0 * n * one)) * _SLACK, 1.0)


def hard_test(workload: Any, theta: float) -> HardTest:
    """The pairs ν ± M_v/2 of half-gap θ, weighted for the least norm."""
    pairs, norm = weighted(pairs_of(workload, theta))
    return HardTest(pairs, norm, _relaxed_norm(pairs))


def _relaxed_norm(pairs: HardPairs) -> float:
    """At least √c; entries of the matrix have five roundings, those of ν two."""
    centre = 0.5 * (pairs.first[0] + pairs.second[0])
    used = centre > 0.0
    C = np.sqrt(pairs.weights)[:, None] * pairs.difference[:, used] / np.sqrt(centre[used])
    error = gamma(8) * float(np.linalg.norm(C)) * (1.0 + gamma(C.size + 2))
    return above(spectral_norm_above(C) + error, 4)
