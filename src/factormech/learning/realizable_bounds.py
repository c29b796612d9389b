r"""The least number of users that can refute or learn a class realizably, with what proves it.

**Refutation** at α: tell laws that some concept labels from laws on which every hypothesis loses at least α. Let U
(k × 2T) have rows that sum to 0, be at least 0 at wrong labels (x, −c(x)), and let its sums there, g_c, be at least
α‖U_c‖₁. With λ_c, μ_c = 2U_c^±/‖U_c‖₁ the concept loses L_c = 2g_c/‖U_c‖₁ ≥ 2α under λ_c and 0 under μ_c. Put

.. math:: \tildeλ_c = μ_c + \tfrac{2α}{L_c}(λ_c - μ_c), \qquad λ'_c = \tfrac12(\tildeλ_c + σ_c), \qquad
          μ'_c = \tfrac12(μ_c + σ_c),

σ_c having the points of λ̃_c and labels by c. Under μ'_c, c loses 0. Under λ'_c the wrong label has at every point half
of its mass in λ̃_c and at most the mass of the right label, so every h, in the class or not, loses at least half of the
2α that c loses under λ̃_c: α. And λ'_c − μ'_c = αU_c/g_c. With B the matrix of ones at wrong labels, g_c = B_c•U_c: this
is a certificate of B at θ = α in the sense of ``bounds.hard.witness``, of half-gap α/2, so by its L₂ step

.. math:: \lVert\tilde M\rVert \le α/G, \qquad G = B\bullet U/γ_2^*(U) .

Row-by-row mixing needs no level sets and loses no logarithm. The dual matrix of η(C, a) has the signs that are asked
for; its numerator is Σg_c − aΣ|U at right labels|, and the latter sum is at least the former as rows sum to 0: so where
no row is left out G ≥ η(C, a)/(1 − a). No G exceeds η(C, 0). Several a are tried, the first with every row near that
ceiling ends it. (Edmonds, PhD thesis, Toronto, 2023, chapter 7: Theorem 43, Lemmas 45–47.)

**Learning** to loss α with probability 1 − β, realizably, with any hypothesis. For concepts c ≠ c' that agree somewhere
let m be a law of points with m(c ≠ c') = 2α' > 2α: labelled by c and by c' it makes two realizable laws, and every
h has L(h) + L'(h) ≥ 2α', so a learner tells them apart with both errors at most β. They differ by b·D(x)m(x), D = (c −
c')/2. So any U on the rows of D_C, U∘D ≥ 0 and U = 0 where D = 0, gives pairs of the norm 2·2α'γ₂*(½[U | −U])/‖U‖₁ =
2α'γ₂*(U)/‖U‖₁ (``learning.bounds``, a_v = 1): best is the dual of min{γ₂(X): X∘D ≥ 1 where D ≠ 0}, a margin complexity
of D_C.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.bounds.hard import certificate as witness
from factormech.bounds.hard import divergence
from factormech.bounds.hard.certificate import Witness, certify
from factormech.bounds.hard.pairs import HardPairs
from factormech.bounds.hard.release import Pairs
from factormech.errors import BadValue
from factormech.learning.bounds import certificate, largest_error
from factormech.learning.concepts import ConceptClass, difference_matrix
from factormech.learning.realizable import wrong_labels
from factormech.learning.reports import checked_loss_gap
from factormech.norms import approximate
from factormech.norms.boxes import Boxes

# Rows of D_C in a certificate of learning at most, drawn at random (any rows give a bound).
MOST_DIFFERENCES = 200
# Multiples of α/(1 − α), the a of Theorem 43, whose dual matrices are tried after that of a = 0.
_MULTIPLES = (0.5, 1.0)
_ENOUGH = 1.002
_ABOVE = 1.0 + 1e-9


def refutation_certificate(concepts: ConceptClass, alpha: float, *, gap: float = 2e-3) -> Witness:
    """The strongest certificate found at α (see the module); its ``strength`` is G."""
    a = checked_loss_gap(alpha)
    wrong = wrong_labels(concepts)
    best, ceiling = witness.nothing(wrong.shape, a), math.inf
    for multiple in (0.0, *_MULTIPLES):
        norm = approximate.eta_norm(concepts.labels, multiple * a / (1.0 - a), gap=gap)
        ceiling = norm.upper if multiple == 0.0 else ceiling
        found = certify(wrong.astype(float), norm.witness["dual"], a)
        if (found.matrix[wrong] < 0.0).any():
            raise BadValue("dual matrix of eta", "negative", "be at least 0 at wrong labels", "solve it anew")
        if found.strength > best.strength:
            best = found
        if ceiling <= _ENOUGH * best.strength:
            break
    return best


def refutation_pairs(concepts: ConceptClass, found: Witness, alpha: float) -> HardPairs:
    """λ'_c and μ'_c of a certificate at ``alpha`` or more, weights ∝ g_c."""
    U, wrong = found.matrix, wrong_labels(concepts)
    rows = np.flatnonzero(U.any(axis=1))
    U, wrong = U[rows], wrong[rows]
    size, g = np.abs(U).sum(axis=1, keepdims=True), np.where(wrong, U, 0.0).sum(axis=1, keepdims=True)
    first, second = (2.0 * np.maximum(sign * U, 0.0) / size for sign in (1.0, -1.0))
    share = np.minimum(alpha * size / g, 1.0)
    mixed = second + share * (first - second)
    T = concepts.domain_size
    points = mixed[:, :T] + mixed[:, T:]
    sigma = np.where(wrong, 0.0, np.hstack([points, points]))
    return HardPairs(0.5 * (mixed + sigma), 0.5 * (second + sigma), g[:, 0] / g.sum(), rows)


def refutation_users(found: Pairs, epsilon: float, alpha: float, beta: float) -> float:
    """No non-interactive ε-LDP protocol of fewer users refutes realizably at α with both errors at most β."""
    a = _reached(found, alpha)
    if a == 0.0:
        return 0.0
    mass = found.row_mass(0.5 * a)
    return divergence.users_to_distinguish(found.norm(0.5 * a), epsilon, beta, row_mass=mass)


def sequential_refutation_users(epsilon: float, alpha: float, beta: float) -> float:
    """No sequential ε-LDP protocol of fewer users refutes any class realizably: one point alone takes as many.

    Its label is right under μ, and wrong with probability α under λ, where every h loses at least α: ‖λ − μ‖₁ = 2α.
    """
    return divergence.users_to_distinguish(2.0 * checked_loss_gap(alpha), epsilon, beta, protocol="sequential")


def learning_certificate(concepts: ConceptClass, *, gap: float = 5e-3) -> Witness:
    """The certificate of [D | −D] with a_v = 1, of rows of D_C whose concepts agree somewhere; may prove nothing."""
    D = learning_rows(concepts)
    if not len(D):
        return witness.nothing((1, 2 * concepts.domain_size), 1.0)
    boxes = Boxes(np.where(D > 0.0, 1.0, -math.inf), np.where(D < 0.0, -1.0, math.inf), False)
    U = approximate.solve(boxes, gap=gap).witness["dual"]
    return certificate(D, 1.0 - 1e-9, dual_matrix=U)


def learning_rows(concepts: ConceptClass) -> FloatArray:
    """The rows of D_C, at most so many, whose concepts agree somewhere."""
    if concepts.size < 2:
        return np.zeros((0, concepts.domain_size))
    D = difference_matrix(concepts)
    D = D[(D == 0.0).any(axis=1)]
    if len(D) > MOST_DIFFERENCES:
        D = D[np.sort(np.random.default_rng(0).permutation(len(D))[:MOST_DIFFERENCES])]
    return np.asarray(D)


def learning_users(found: Witness, epsilon: float, alpha: float, beta: float) -> float:
    """No non-interactive ε-LDP protocol of fewer users learns realizably: loss ≤ α with probability at least 1 − β."""
    theta = 2.0 * checked_loss_gap(alpha) * _ABOVE
    if found.strength <= 0.0 or theta >= found.theta:
        return 0.0
    norm, mass = found.norm(theta), found.row_mass(theta)
    return divergence.users_to_distinguish(norm, epsilon, beta, row_mass=mass)


def learning_floor(found: Witness, epsilon: float, users: int) -> float:
    """The expected loss of any learner with so many users is at least this on some realizable law (no interaction).

    By Le Cam 2L ≥ θ(1 − TV) for laws whose concepts differ by θ.
    """
    n = check_positive_integer("users", users)
    best = 0.0
    for theta in (np.geomspace(1e-3, 1.0, 49)[:-1] * min(found.theta, 1.0)).tolist():
        if found.strength > 0.0 and 0.5 * theta > best:
            norm, mass = found.norm(theta), found.row_mass(theta)
            beta = largest_error(
                lambda b, norm=norm, mass=mass: divergence.users_to_distinguish(norm, epsilon, b, row_mass=mass), n
            )
            best = max(best, theta * beta)
    return best


def _reached(found: Pairs, alpha: float) -> float:
    """α, less a rounding that a row may miss it by; 0 where the certificate is too low."""
    a = checked_loss_gap(alpha)
    if found.strength <= 0.0 or found.theta < a * (1.0 - 1e-6):
        return 0.0
    return min(a, found.theta)
