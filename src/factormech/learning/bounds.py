r"""The least number of users that can refute or learn a class agnostically, with what proves it.

**Matrix.** M (k × T) stands for W, the class (refutation), or for D_C, the half differences (learning). A certificate
is a U with M_v•U_v ≥ θ‖U_v‖₁ for all v, and H = M•U/γ₂*(U). Nothing is centred: on labelled points it is U' = ½[U |
−U] for the workload [M | −M], whose rows sum to 0, with the same numerator, row sizes and γ₂* (opposite columns take
opposite vectors). So the best H is that of the best certificate of [M | −M] (``bounds.hard.best``; averaging over the
exchange of labels makes any certificate of it antisymmetric without loss), and the pairs differ by

.. math:: \tilde M_v(x, b) = \theta'\,b\,U_{vx}/(M_v\bullet U_v), \qquad \lVert\tilde M\rVert \le 2\theta'/H

in the weights of the L₂ step (``bounds.hard.witness``), for every θ'. No binning is needed, and no logarithm is lost:
rows are mixed one by one (Edmonds, PhD thesis, Toronto, 2023, chapter 6, mixes all alike and keeps a level set; the
bounds are Theorem 30 for refutation and Theorem 31 for learning, the latter by Definition 37 and Lemmas 39 to 41).

**Refutation** at α, both errors at most β. Take θ = 2α, θ' = α, a_v = M_v•U_v/‖U_v‖₁ ≥ 2α, and

.. math:: λ_v(x,b) = \tfrac{|U_{vx}|}{2‖U_v‖_1}\bigl(1 + b\,\tfrac{2α}{a_v}\operatorname{sign}U_{vx}\bigr),\qquad
          μ_v(x,b) = \tfrac{|U_{vx}|}{2‖U_v‖_1}.

Under λ_v the agreement of concept v is 2α, its loss ½ − α; under μ_v labels are fair coins. A refuter tells every pair
apart, so ``divergence.users_to_distinguish`` with the norm 2α/H bounds n. H is at least γ₂(W, 2α), whose dual (rows
below 2α dropped) is feasible, and at least the margin complexity, whose dual has a_v = 1.

Around a centre: if ν(x, b) = ν_x/2 has ν_x/2 ≥ |M̃_v(x, b)| for every v, then ν + M̃_v and ν are such a pair with *one*
μ = ν, of the same M̃. That gives e^ε times more, times the share of the column weights that ν keeps, and holds for
sequential protocols as well (``divergence``).

**Learning** to expected excess α' with a concept of the class (or with any hypothesis, negative excess counted as 0).
Row v = (c, c') of D_C, and λ_v, μ_v as above with ±θ'/a_v, θ' ≤ θ ≤ a_v: L(c') − L(c) is θ' under λ_v and −θ' under
μ_v, and as μ_v is λ_v with all labels flipped, L_λ(h) + L_μ(h) = 1 for every h. So the excesses of any h add up to

.. math:: L_λ(h) - L_λ(c) + L_μ(h) - L_μ(c') = 1 - L_λ(c) - (1 - L_λ(c')) = θ' ,

and by Le Cam 2α' ≥ θ'(1 − TV) for **every** v: TV ≥ 1 − 2β with β = α'/θ'. As for releases of error 2α'
(``bounds.hard.release``), n is bounded for every θ'. (The lemma of the thesis that mixes λ with sλ̄ + (1−s)μ keeps the
preference of λ for s < ½; the symmetric mixture is what its use needs.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.bounds.hard import divergence, release
from factormech.bounds.hard.certificate import Witness, best_witness, certify
from factormech.bounds.hard.divergence import PROTOCOLS, Protocol
from factormech.bounds.hard.release import Pairs
from factormech.errors import BadValue, UnknownName
from factormech.learning.concepts import ConceptClass, difference_matrix
from factormech.learning.reports import checked_loss_gap
from factormech.norms.certificates import dual_norm
from factormech.norms.certified import checked_matrix
from factormech.numerics.roots import bisect

# Rows of D_C in a certificate at most: the semidefinite program has as many, and twice the points.
MOST_DIFFERENCES = 160
# Where certificates of learning are made; strengths fall with θ, and the best θ' of a bound lies below one of them.
THETAS = (0.1, 0.25, 0.5, 0.9)
_GAPS, _HALVINGS = 48, 40


def certificate(matrix: Any, theta: float, *, gap: float = 5e-3, dual_matrix: FloatArray | None = None) -> Witness:
    """The best antisymmetric certificate of [M | −M] at θ, its columns (x, +1), then (x, −1).

    Parameters
    ----------
    matrix
        M, (k, T).
    gap
        Relative accuracy of the semidefinite program.
    dual_matrix
        A U (k, T) to certify instead of solving, for example a norm's: rows that miss θ are left out.
    """
    M = checked_matrix("matrix", matrix)
    T = M.shape[1]
    doubled = np.hstack([M, -M])
    if dual_matrix is None:
        found = best_witness(doubled, theta, gap=gap).witness.matrix
        U = found[:, :T] - found[:, T:]
    else:
        U = checked_matrix("dual_matrix", dual_matrix)
    if not U.any():
        return certify(doubled, np.zeros(doubled.shape), theta)
    scales = dual_norm(U, gap=1e-4)
    p, q = (np.maximum(s**2, 1e-9 * float(np.mean(s**2))) for s in (scales.row_scales, scales.column_scales))
    # Both labels of a point weigh the same, which a centre with fair labels needs.
    return certify(doubled, np.hstack([0.5 * U, -0.5 * U]), theta, weights=(p, np.concatenate([q, q])))


def refutation_certificate(concepts: ConceptClass, alpha: float, *, gap: float = 5e-3) -> Witness:
    """The certificate of W at θ = 2α."""
    return certificate(concepts.labels, 2.0 * checked_loss_gap(alpha), gap=gap)


def refutation_users(
    witness: Pairs, epsilon: float, alpha: float, beta: float, protocol: Protocol = "non-interactive"
) -> float:
    """Return the users that every ε-LDP refuter at α with both errors ≤ β needs; 0 where the certificate is too low."""
    a = checked_loss_gap(alpha)
    if protocol not in PROTOCOLS:
        raise UnknownName("protocol", protocol, PROTOCOLS)
    # A row may miss 2α by a rounding, and then the loss is ½ − α′ for an α′ as near.
    a = min(a, 0.5 * witness.theta) if witness.theta >= 2.0 * a * (1.0 - 1e-6) else a
    if witness.strength <= 0.0 or 2.0 * a > witness.theta:
        return 0.0
    norm, mass = witness.norm(a), witness.row_mass(a)
    share = witness.share(2.0 * a)
    users = divergence.users_around_centre(norm, epsilon, beta, share, mass, protocol="sequential")
    if share > 0.0:
        users = max(users, divergence.users_to_distinguish(norm, epsilon, beta, protocol="sequential"))
    if protocol == "non-interactive":
        users = max(users, divergence.users_to_distinguish(norm, epsilon, beta, row_mass=mass))
    return users


def refutation_floor(witness: Witness, epsilon: float, alpha: float, users: int) -> float:
    """The larger error of any refuter with so many users is at least this (without interaction)."""
    n = check_positive_integer("users", users)
    return largest_error(lambda beta: refutation_users(witness, epsilon, alpha, beta), n)


def difference_rows(concepts: ConceptClass, most: int = MOST_DIFFERENCES) -> FloatArray:
    """Rows of D_C, at most so many: those of concepts that differ at the most points first. Any rows give a bound."""
    D = difference_matrix(concepts)
    order = np.argsort(-np.abs(D).sum(axis=1), kind="stable")[:most]
    return np.asarray(D[np.sort(order)])


def learning_certificates(
    concepts: ConceptClass, thetas: Sequence[float] = THETAS, *, gap: float = 5e-3
) -> tuple[Witness, ...]:
    """Certificates of the differences at several θ; the bounds take the best of them."""
    D = difference_rows(concepts)
    return tuple(certificate(D, theta, gap=gap) for theta in thetas)


def learning_users(witnesses: Sequence[Pairs], epsilon: float, excess: float) -> float:
    """Return the users that every non-interactive ε-LDP learner needs for expected excess loss ≤ ``excess``."""
    if not 0.0 < excess < 0.5:
        raise BadValue("excess", excess, "be above 0 and below 1/2", "give for example 0.1")
    return max((release.best_t(witness, epsilon, 2.0 * excess)[0] for witness in witnesses), default=0.0)


def confident_learning_users(witnesses: Sequence[Pairs], epsilon: float, excess: float, beta: float) -> float:
    """No protocol without interaction of fewer users has excess ≤ ``excess`` with probability 1 − β on all laws.

    With θ' above twice the excess no h is within it on both laws of a pair, so they are told apart with errors β.
    """
    theta = 2.0 * checked_loss_gap(excess) * (1.0 + 1e-9)
    fit = [w for w in witnesses if w.strength > 0.0 and theta <= w.theta]
    return max((_pairs(w, check_epsilon(epsilon), theta, beta) for w in fit), default=0.0)


def learning_floor(witnesses: Sequence[Witness], epsilon: float, users: int) -> float:
    """The expected excess loss of any learner with so many users is at least this on some law (no interaction)."""
    e, n = check_epsilon(epsilon), check_positive_integer("users", users)
    best = 0.0
    for witness in witnesses:
        if witness.strength <= 0.0:
            continue
        for theta in (np.geomspace(1e-3, 1.0, _GAPS) * witness.theta).tolist():
            if 0.5 * theta > best:
                best = max(best, theta * largest_error(lambda beta, at=theta, w=witness: _pairs(w, e, at, beta), n))
    return best


def _pairs(witness: Pairs, epsilon: float, theta: float, beta: float) -> float:
    norm, mass = witness.norm(theta), witness.row_mass(theta)
    centre = divergence.users_around_centre(norm, epsilon, beta, witness.share(theta), mass)
    return max(centre, divergence.users_to_distinguish(norm, epsilon, beta, row_mass=mass))


def largest_error(users_needed: Any, users: int) -> float:
    """The largest β < ½ for which more than these users are needed, from below; 0 if there is none."""
    return bisect(lambda beta: users_needed(beta) <= users, 0.0, 0.5, halvings=_HALVINGS)[0]
