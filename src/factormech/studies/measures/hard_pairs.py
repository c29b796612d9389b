r"""Hard pairs of a workload, as pictures and as tests that real mechanisms take beside what none can pass.

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
from typing import Any

import numpy as np

from factormech.arrays import check_epsilon, check_positive_integer
from factormech.bounds.hard import divergence
from factormech.bounds.hard.certificate import best_witness
from factormech.bounds.hard.pairs import HardPairs, around_centre, from_witness, mix_rows, weighted
from factormech.errors import BadValue, UnknownName
from factormech.numerics.rounding import above, gamma, spectral_norm_above

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
    pairs = from_witness(witness.matrix, workload)
    return pairs if form == "apart" else mix_rows(pairs, workload, min(theta, witness.theta))


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
