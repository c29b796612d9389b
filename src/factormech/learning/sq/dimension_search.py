r"""The least value of a class over all laws, and so an estimate of its statistical query dimension.

V (:mod:`factormech.learning.sq.dimension`) is bilinear in y and μ: ``smallest_value`` minimises over each in turn, from
several starts. Every V met is an upper bound on the least, so 1/V is an ``estimate`` of the dimension from below. A law
on which all hypotheses lose is one on which all concepts do, and what is found for θ = 0 serves where θ is free, so the
wider search begins with what the narrower one found, and its value is never larger. An estimate is enough for lower
bounds on samples (:mod:`factormech.learning.sq.bounds`), which hold for every pair (μ, y), and never a guarantee for a
learner.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue, UnknownName
from factormech.learning.concepts import ConceptClass
from factormech.learning.sq.dimension import (
    CUTS_A_ROUND,
    LOSERS,
    ROUNDS,
    Cuts,
    Losers,
    QueryValue,
    check_class,
    least_loss,
    sign_norm,
    value_at,
)


def smallest_value(
    concepts: ConceptClass,
    alpha: float,
    *,
    agnostic: bool = False,
    losers: Losers = "class",
    starts: int = 4,
    rounds: int = 20,
    known: Sequence[QueryValue] = (),
    rng: np.random.Generator | None = None,
) -> QueryValue:
    """The least V(μ) found over μ: 1/V is an estimate of SQD^R, or of SQD^A, from below.

    With the same starts it is never larger for ``class`` than for ``all``, and never larger for the agnostic than for
    the realizable one.

    Parameters
    ----------
    alpha
        What everything must lose on μ beyond θ, in (0, 1/2].
    agnostic
        Whether θ is free; else it is 0.
    losers
        Whether all concepts must lose, as defined, or all hypotheses.
    starts
        How many laws to start from: the uniform one, and concepts with noisy labels on random points.
    known
        What narrower searches of this class and α have found; they are made again if nothing is given.
    rounds
        Minimisations over y and then μ at most, from every start.
    """
    check_class(concepts)
    if losers not in LOSERS:
        raise UnknownName("losers", losers, LOSERS)
    if not 0.0 < alpha <= 0.5:
        raise BadValue("alpha", alpha, "be above 0 and at most 1/2", "give for example 0.1")
    check_positive_integer("starts", starts)
    chance = rng or np.random.default_rng(0)
    laws = [_start(concepts, start, alpha, chance) for start in range(starts)]

    def least(free: bool, who: Losers, before: list[QueryValue]) -> QueryValue:
        """Over the starts and laws that a narrower search has found."""
        found = [_descend(concepts, alpha, free, who, rounds, law) for law in (*laws, *(v.law for v in before))]
        return min([*before, *found], key=lambda value: value.upper)

    if known or not (agnostic or losers == "class"):
        return least(agnostic, losers, list(known))
    narrow = least(False, "all", [])
    if agnostic and losers == "class":
        return least(True, "class", [least(True, "all", [narrow]), least(False, "class", [narrow])])
    return least(agnostic, losers, [narrow])


def value_of(
    concepts: ConceptClass, law: FloatArray, alpha: float, agnostic: bool = False, losers: Losers = "class"
) -> QueryValue:
    """Return V at a law, mixed with coin labels as little as makes everything lose α; θ is the largest there, or 0."""
    mu = _losing(concepts, law, alpha, losers)
    return value_at(concepts, mu, theta=_theta(concepts, mu, alpha, losers) if agnostic else 0.0)


def _descend(
    concepts: ConceptClass, alpha: float, agnostic: bool, losers: Losers, rounds: int, mu: FloatArray
) -> QueryValue:
    """Minimise over y and over μ in turn."""
    theta = _theta(concepts, mu, alpha, losers) if agnostic else 0.0
    best = value_at(concepts, mu, theta=theta)
    for _ in range(rounds):
        mu = _best_law(concepts, best, alpha, losers)
        theta = _theta(concepts, mu, alpha, losers) if agnostic else 0.0
        found = value_at(concepts, mu, theta=theta, cuts=best.cuts)
        if found.upper >= best.upper - 1e-7:
            break
        best = found
    return best


def _theta(concepts: ConceptClass, mu: FloatArray, alpha: float, losers: Losers) -> float:
    """The largest θ that μ allows: V falls with θ."""
    return max(0.0, least_loss(concepts, mu, losers) - alpha)


def _best_law(concepts: ConceptClass, found: QueryValue, alpha: float, losers: Losers) -> FloatArray:
    """The μ with the least maximum for the y that was found, at the same θ, by cuts again."""
    from scipy.optimize import linprog

    k, T = concepts.matrix.shape
    y, pi = found.joint, found.weights
    loss = found.theta + alpha
    cuts, best, value = found.cuts, found.law, found.upper
    # Variables: μ (2T), m ≤ both sides of μ (T), t.
    if losers == "class":
        right = concepts.matrix > 0
        needs = [np.c_[-np.concatenate([~right, right], axis=1).astype(float), np.zeros((k, T + 1))]]
        limits = np.full(k, -loss)
    else:
        eye = np.eye(T)
        needs = [
            np.c_[np.concatenate([-np.eye(2 * T), np.concatenate([eye, eye])], axis=1), np.zeros(2 * T)],
            np.r_[np.zeros(2 * T), -np.ones(T), 0.0][None],
        ]
        limits = np.r_[np.zeros(2 * T), -loss]
    for _ in range(ROUNDS):
        # Σ_c s_c⟨F, y_c⟩ − (s·π)⟨F, μ⟩ ≤ t.
        own = np.einsum("jc,cx,jx->j", cuts.signs, y, cuts.queries)
        table = np.c_[-(cuts.signs @ pi)[:, None] * cuts.queries, np.zeros((len(cuts), T)), -np.ones(len(cuts))]
        answer = linprog(
            np.r_[np.zeros(3 * T), 1.0], A_ub=np.concatenate([table, *needs]), b_ub=np.r_[-own, limits],
            A_eq=np.r_[np.ones(2 * T), np.zeros(T + 1)][None], b_eq=[1.0],
            bounds=[(0.0, None)] * (3 * T) + [(None, None)], method="highs-ds",
        )  # fmt: skip
        if answer.x is None:
            return best
        mu = np.maximum(answer.x[: 2 * T], 0.0)
        mu = _losing(concepts, mu / mu.sum(), loss, losers)
        reached, F, s = sign_norm(y - pi[:, None] * mu, CUTS_A_ROUND)
        if reached < value:
            best, value = mu, reached
        more = cuts.joined(Cuts(F, s))
        if reached - answer.x[-1] <= 1e-8 or len(more) == len(cuts):
            break
        cuts = more
    return best


def _losing(concepts: ConceptClass, mu: FloatArray, loss: float, losers: Losers) -> FloatArray:
    """μ mixed with the law of coin labels as little as makes everything lose ``loss``."""
    missing = loss - least_loss(concepts, mu, losers)
    if missing <= 0.0:
        return mu
    T = concepts.domain_size
    coins = np.tile(0.5 * (mu[:T] + mu[T:]), 2)
    share = min(1.0, missing / max(0.5 - (loss - missing), 1e-300) * (1.0 + 1e-9))
    return np.asarray((1.0 - share) * mu + share * coins)


def _start(concepts: ConceptClass, number: int, alpha: float, rng: np.random.Generator) -> FloatArray:
    """Uniform points with coin labels; then the labels of a concept, false with probability α, on random points."""
    T = concepts.domain_size
    if number == 0:
        return np.full(2 * T, 0.5 / T)
    c = concepts.matrix[rng.integers(concepts.size)]
    points = rng.dirichlet(np.full(T, 0.3))
    up = np.where(c > 0, 1.0 - alpha, alpha)
    mu = np.concatenate([points * up, points * (1.0 - up)])
    return np.asarray(mu / mu.sum())
