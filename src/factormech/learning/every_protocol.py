r"""Users that every ε-LDP protocol needs to tell two laws apart, however it interacts.

A protocol may speak to every user any number of times, in any order, with public and private coins; its whole
transcript T is ε-private in the type of each user, the types of the others being fixed. Then P(T | x) = g(T)Π_iφ_i(T,
x_i), as each message depends on its sender's type, coins and the past.

**Information.** Let the types be independent of law p_t = μ + t(λ − μ), z = λ − μ, and s_i = E[z(x_i)/p_t(x_i) | T].
Given T the types are independent, so the score of T in t is Σ_is_i, and E s_is_j = E[(z/p_t)(x_i)]·E[(z/p_t)(x_j)] = 0
for i ≠ j. As s_i is at most as informative as for known types of the others, which leave an ε-LDP channel,

.. math:: I_T(t) \le n\,J(t), \qquad J(t) = \max_Q \sum_o \frac{(q_o\cdot z)^2}{q_o\cdot p_t}

over ε-LDP channels Q of rows q_o (van Trees' route to lower bounds, Gill & Levit, Bernoulli 1(1), 1995, for protocols).
The summand is sublinear in q_o, and rows are sums of multiples of vectors v ∈ {1, e^ε}^m, so that J is a linear program
over these (Kairouz, Oh & Viswanath, JMLR 17, 2016); any y with y·v ≥ (v·z)²/(v·p_t) for all v proves J ≤ Σy.

**Distance.** t ↦ √P_t(T) is a curve on the unit sphere of length ∫½√I_T dt, no shorter than the angle between its ends,
whose cosine is their affinity A = Σ√(P_0P_1). Two errors of at most β need TV ≥ 1 − 2β, and TV² ≤ 1 − A², so

.. math:: n \ge \Bigl(\frac{\arccos 2\sqrt{β(1-β)}}{\int_0^1\frac12\sqrt{J(t)}\,dt}\Bigr)^2 .

J is convex in t, as 1/(v·p_t) is: below its chord on every interval, which bounds the integral from above. For two
types J is that of randomized response, and the integral a difference of two arcsin√: this is the test.

**Learning** (Edmonds, PhD thesis, Toronto, 2023, Definitions 24 to 27 for the tasks). Every task below tells two laws
on at most three labelled points apart, whatever the class, as long as it has two concepts that differ:

=====================  =============================================================================================
agnostic learning      one point, labels +1 with probability ½ ± α/2: a wrong label has an excess above α for more
agnostic refutation    one point, labels +1 with probability ½ + α, and fair coins
realizable learning    a point of mass α where two concepts differ, labelled by one or the other, the rest where they
                       agree
realizable refutation  one point, labels right, or wrong with probability α
=====================  =============================================================================================
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.bounds.hard.divergence import checked_error
from factormech.errors import BadValue
from factormech.learning.concepts import ConceptClass
from factormech.learning.reports import checked_loss_gap

# Points of [0, 1] where J is solved, chords between them.
_POINTS = 17
# 2^m vectors in the linear program.
_MOST_TYPES = 10
# An excess of exactly α is allowed to a learner, one just above is not.
_ABOVE = 1.0 + 1e-9
_SLACK = 1.0 - 1e-9


def users_of_pair(first: Any, second: Any, epsilon: float, beta: float) -> float:
    """Return a number of users that no ε-LDP protocol tells two laws apart with fewer than, both errors at most β.

    Parameters
    ----------
    first, second
        The laws of the types of independent users, at most ten types.
    epsilon
        The privacy budget of a user for the whole transcript.
    beta
        Both errors, above 0 and below ½.

    Returns
    -------
    float
        ∞ where the laws are equal.

    Examples
    --------
    >>> 50 < users_of_pair([0.55, 0.45], [0.45, 0.55], 1.0, 0.1) < 500
    True
    """
    mu, nu = (np.asarray(law, dtype=float) for law in (first, second))
    if mu.shape != nu.shape or mu.ndim != 1 or len(mu) > _MOST_TYPES:
        raise BadValue("laws", (mu.shape, nu.shape), f"be of the same at most {_MOST_TYPES} types", "give two vectors")
    e, needed = check_epsilon(epsilon), math.acos(2.0 * math.sqrt(checked_error(beta) * (1.0 - beta)))
    if np.array_equal(mu, nu):
        return math.inf
    V = np.array(list(itertools.product((math.exp(-e), 1.0), repeat=len(mu))))
    z = nu - mu
    J = [_largest_information(V, (V @ z) ** 2 / (V @ (mu + t * z))) for t in np.linspace(0.0, 1.0, _POINTS)]
    angle = math.fsum(_root_of_chord(a, b) for a, b in itertools.pairwise(J)) / (2.0 * (_POINTS - 1))
    return _SLACK * (needed / angle) ** 2


def learning_users(concepts: ConceptClass | None, epsilon: float, alpha: float, beta: float) -> float:
    """Return users that every protocol needs for excess loss at most α with probability 1 − β; ``None``: two concepts
    that differ."""
    gap = 0.5 * checked_loss_gap(alpha) * _ABOVE
    if concepts is not None and concepts.size < 2:
        return 0.0
    return users_of_pair([0.5 + gap, 0.5 - gap], [0.5 - gap, 0.5 + gap], epsilon, beta)


def refutation_users(epsilon: float, alpha: float, beta: float) -> float:
    """Return users that every protocol needs to refute any class agnostically at α with both errors at most β."""
    gap = checked_loss_gap(alpha)
    return users_of_pair([0.5 + gap, 0.5 - gap], [0.5, 0.5], epsilon, beta)


def realizable_learning_users(concepts: ConceptClass | None, epsilon: float, alpha: float, beta: float) -> float:
    """Return users that every protocol needs for loss at most α on realizable laws; ``None``: two concepts that agree
    somewhere and differ somewhere."""
    mass = checked_loss_gap(alpha) * _ABOVE
    if concepts is not None and concepts.size < 2:
        return 0.0
    if concepts is not None and not _some_agree(concepts):
        mass = 1.0
    return users_of_pair([1.0 - mass, mass, 0.0], [1.0 - mass, 0.0, mass], epsilon, beta)


def realizable_refutation_users(epsilon: float, alpha: float, beta: float) -> float:
    """Return users that every protocol needs to refute any class realizably at α with both errors at most β."""
    mass = checked_loss_gap(alpha)
    return users_of_pair([1.0, 0.0], [1.0 - mass, mass], epsilon, beta)


def _some_agree(concepts: ConceptClass) -> bool:
    """Whether two concepts, which differ somewhere, agree somewhere."""
    products = concepts.labels @ concepts.labels.T
    return bool((products[~np.eye(len(products), dtype=bool)] > -concepts.domain_size).any())


def _largest_information(V: FloatArray, gains: FloatArray) -> float:
    """At least the largest Σθ_v·gain_v over θ ≥ 0 with Σθ_vv = 1: by the dual solution, made feasible."""
    from scipy.optimize import linprog

    found = linprog(V.shape[1] * [1.0], A_ub=-V, b_ub=-gains, bounds=(None, None), method="highs-ds")
    if found.x is None:
        raise BadValue("linear program", found.message, "have a solution", "report these laws as a bug")
    # V·1 is at least m·e^{−ε} > 0, so that a multiple of 1 repairs what rounding has left.
    missing = float(np.max((gains - V @ found.x) / V.sum(axis=1), initial=0.0))
    return float(found.x.sum() + missing * V.shape[1]) / _SLACK


def _root_of_chord(a: float, b: float) -> float:
    """∫₀¹ √(a + (b − a)s) ds."""
    if abs(a - b) <= 1e-9 * max(a, b):
        return math.sqrt(max(a, b))
    return float(2.0 / 3.0 * (b**1.5 - a**1.5) / (b - a))
