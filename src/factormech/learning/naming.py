r"""Learning names the planted concept: lower bounds with the logarithm of Fano's inequality.

Let U be a certificate of the ±1 matrix of a class (``learning.bounds``) that allows the fair-label centre ν, and

.. math:: λ_v = ν + \tilde M_v, \qquad \tilde M_v(x,b) = θ'\,b\,U_{vx}/(c_v\bullet U_v), \qquad
          E_{\hat π}(\tilde M_vf)^2 \le (2θ'/H)^2 .

Under λ_v concept v has loss ½ − θ', and a hypothesis h agrees to q_h(λ_v) = 2θ'K_v(h), K_v(h) = h•U_v/c_v•U_v. Excess
loss at most α < θ' means K_v(h) ≥ 1 − α/θ'. Draw v from π̂. If h is independent of v this has probability at most

.. math:: p_0 = \max_h \hat π\{v : K_v(h) \ge 1 - α/θ'\}, \qquad p_0 \le \Bigl(\frac{θ'}{H(θ'-α)}\Bigr)^2

for hypotheses of any kind (*improper*), as E_π̂(2θ'K_v(h))² is at most the norm's square; for a *proper* learner the
maximum is over the class and is computed. A learner that succeeds with probability s = 1 − β on every law makes it
happen with probability s, so by the data processing inequality n reports without interaction have

.. math:: \mathrm{kl}(s\Vert p_0) \le I(v;\text{reports}) \le n\,κ^+(u_*)\,\hat χ^2, \qquad
          \hat χ^2 = \sinh^2(ε/2)(2θ'/H)^2/φ .

The last step: a report of λ_v has the law ρ(1 + u), ρ that of ν, with E_π̂Σρu² ≤ χ̂² (``bounds.hard.divergence``, pairs
ν + M̃_v and ν), u ≥ −u_* with u_* = min(1 − e^{−ε}, ½(e^ε−1)‖M̃_v‖₁), and (1+u)ln(1+u) − u ≤ κ⁺(u_*)u², κ⁺(w) =
((1−w)ln(1−w) + w)/w², as the quotient falls in u. A *sequential* protocol has, the other way round, kl(p₀‖s) ≤
n·κ⁻(u_*)χ̂², κ⁻(w) = (−ln(1−w) − w)/w²: under νⁿ its transcript does not depend on v. That has no logarithm, and holds
without interaction too.

For parities H = √N, φ = 1 and p₀ = 1/N (proper): the bound grows like N ln N, as the learner's users do.

**Subclasses.** A learner of a class learns its restriction to a part of the domain, on laws that live there; a proper
one remains proper (with the restrictions of all concepts as hypotheses). So the largest bound of any restriction holds
for the class.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.bounds.hard.certificate import Witness
from factormech.bounds.hard.divergence import Protocol, checked_error
from factormech.bounds.hard.release import Pairs
from factormech.learning.bounds import certificate
from factormech.learning.concepts import ConceptClass, from_matrix
from factormech.learning.information import binary_divergence, relative_constant
from factormech.learning.reports import checked_loss_gap

# The agreements at which certificates are solved, over twice the excess.
_REACH = (1.5, 3.0)
# Half-gaps that are tried, from the excess to the reach of a certificate.
_GRID = np.concatenate([np.geomspace(1e-4, 0.05, 12), np.linspace(0.06, 1.0, 48)])
# Every bound is a handful of roundings, and π̂ a few more.
_SLACK = 1.0 - 1e-9


def naming_certificates(concepts: ConceptClass, excess: float, *, gap: float = 5e-3) -> tuple[Witness, ...]:
    """Certificates of the class at agreements above twice the excess, at most 1."""
    thetas = sorted({min(reach * 2.0 * checked_loss_gap(excess), 0.95) for reach in _REACH})
    return tuple(certificate(concepts.labels, theta, gap=gap) for theta in thetas)


def naming_users(
    concepts: ConceptClass,
    witnesses: Iterable[Witness],
    epsilon: float,
    excess: float,
    beta: float,
    *,
    proper: bool = False,
    protocol: Protocol = "non-interactive",
) -> float:
    """Return a number of users that no learner needs fewer than, by Fano's inequality.

    Parameters
    ----------
    concepts, witnesses
        The class, and certificates of its ±1 matrix (``naming_certificates``).
    epsilon
        The privacy budget.
    excess, beta
        Excess loss at most ``excess`` with probability 1 − β on every law.
    proper
        Whether the learner outputs a concept of the class.
    protocol
        ``non-interactive`` or ``sequential``.

    Returns
    -------
    float
        0 where no certificate allows a centre with fair labels.
    """
    e, alpha, b = check_epsilon(epsilon), checked_loss_gap(excess), checked_error(beta)
    named = [(one, _Names(concepts, one) if proper and one.strength > 0.0 else None) for one in witnesses]
    return max((_best(one, names, e, alpha, b, protocol) for one, names in named), default=0.0)


def improper_users(
    pairs: Iterable[Pairs],
    epsilon: float,
    excess: float,
    beta: float,
    *,
    protocol: Protocol = "non-interactive",
) -> float:
    """Return ``naming_users`` of learners that may output any hypothesis, from the numbers of certificates alone.

    Parameters
    ----------
    pairs
        Certificates of a ±1 matrix, which need not be written out (``norms.subsets.norms.class_hardness``).
    epsilon, excess, beta, protocol
        As of ``naming_users``.
    """
    e, alpha, b = check_epsilon(epsilon), checked_loss_gap(excess), checked_error(beta)
    return max((_best(one, None, e, alpha, b, protocol) for one in pairs), default=0.0)


def least_learning_users(
    concepts: ConceptClass, epsilon: float, excess: float, beta: float, *, proper: bool = False, gap: float = 1e-2
) -> float:
    """Return the largest ``naming_users`` of the class and of its restrictions, without interaction."""
    return max(
        naming_users(part, naming_certificates(part, excess, gap=gap), epsilon, excess, beta, proper=proper)
        for part in restrictions(concepts)
    )


def restrictions(concepts: ConceptClass) -> Iterator[ConceptClass]:
    """The class, and its restrictions to the first half of the points, to the first quarter, and so on.

    Of a class of the same family for each size they are the smaller ones: of parities and conjunctions with a bit less,
    of thresholds with half of the points.
    """
    part = concepts
    while part.size >= 2:
        yield part
        if part.domain_size < 4:
            return
        part = from_matrix(part.matrix[:, : part.domain_size // 2], concepts.name)


def _best(witness: Pairs, names: _Names | None, epsilon: float, alpha: float, beta: float, protocol: Protocol) -> float:
    """The bound at the best half-gap."""
    if witness.strength <= 0.0 or witness.theta <= 2.0 * alpha:
        return 0.0
    grid = alpha + (0.5 * witness.theta - alpha) * _GRID
    return max(_users(witness, names, epsilon, alpha, beta, gap, protocol) for gap in grid.tolist())


def _users(
    witness: Pairs,
    names: _Names | None,
    epsilon: float,
    alpha: float,
    beta: float,
    gap: float,
    protocol: Protocol,
) -> float:
    """The bound at one half-gap θ'."""
    share, norm = witness.share(2.0 * gap), witness.norm(gap)
    guess = min(1.0, (norm / (2.0 * (gap - alpha))) ** 2)
    if names is not None:
        guess = min(guess, names.guess(1.0 - alpha / gap))
    if share <= 0.0 or guess >= 1.0 - beta:
        return 0.0
    u = min(-math.expm1(-epsilon), 0.5 * math.expm1(epsilon) * witness.row_mass(gap))
    each = math.sinh(0.5 * epsilon) ** 2 * norm**2 / share
    users = binary_divergence(guess, 1.0 - beta) / relative_constant(u, interactive=True)
    if protocol == "non-interactive":
        users = max(users, binary_divergence(1.0 - beta, guess) / relative_constant(u, interactive=False))
    return _SLACK * users / each


class _Names:
    """How likely one concept of the class is near enough to a random planted one."""

    def __init__(self, concepts: ConceptClass, witness: Witness) -> None:
        T = concepts.domain_size
        U = witness.matrix[:, :T] - witness.matrix[:, T:]
        own = np.einsum("vx,vx->v", concepts.labels, U)
        used = np.flatnonzero(own > 0.0)
        self.near: FloatArray = (U[used] @ concepts.labels.T) / own[used, None]
        prior = own[used] ** 2 / witness.rows[used]
        self.prior: FloatArray = prior / prior.sum()

    def guess(self, least: float) -> float:
        """At least max_c π̂{v : K_v(c) ≥ least}."""
        return float((self.prior @ (self.near >= least - 1e-9)).max()) * (1.0 + 1e-9)
