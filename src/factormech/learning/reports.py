r"""Private estimates of how well every concept agrees with labelled points, by an approximate factorization.

A user holds a labelled point (x, b), b = ±1. The agreement of concept c with a law λ of labelled points is q_c(λ) = E
b·c(x) = 1 − 2L_λ(c), L_λ(c) being its loss. These are the answers to the workload [W | −W], W the ±1 matrix of the
class, over the 2T labelled points: first (x, +1) for all x, then (x, −1). With |RA − W| ≤ a the columns ±A_x of [A |
−A] answer it to a (Edmonds, Nikolov & Ullman, STOC 2020; Edmonds, PhD thesis, Toronto, 2023, chapter 6). No shift of
the rows helps: the two halves of the workload are opposite, so shifts average out.

Users are drawn from λ, so their number at each labelled point is multinomial, and errors are measured from Wλ: the
variances are those of ``local.factorized.drawn``.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue
from factormech.learning.concepts import ConceptClass
from factormech.mechanisms.local.factorized import release as drawn
from factormech.mechanisms.local.factorized.factors import Tried, best_distance, factorization, norm_at
from factormech.mechanisms.local.factorized.registry import release_of
from factormech.mechanisms.local.factorized.releases import FactorizationRelease


class AgreementReports:
    """A release of the agreements of all concepts, made for one target accuracy.

    Attributes
    ----------
    concepts
        The class.
    release
        The factorization mechanism of [W | −W].
    variances
        (k,): the largest variance of each estimate over all laws, times the number of users.
    """

    def __init__(self, concepts: ConceptClass, release: FactorizationRelease) -> None:
        self.concepts, self.release = concepts, release
        self.variances = drawn.worst_variances(release)

    @property
    def distance(self) -> float:
        """a, a certified bound on |RA − W|."""
        return self.release.distance

    @cached_property
    def approximated(self) -> FloatArray:
        """W̃ = RA, (k, T)."""
        T = self.concepts.domain_size
        return np.asarray(self.concepts.labels + self.release.bias[:, :T])

    @cached_property
    def proxies(self) -> FloatArray:
        """(k,): a subgaussian proxy of one user's estimates of each agreement, for every law.

        The randomizer's, and by Hoeffding's lemma (max |W̃_c|)² for the user's own labelled point.
        """
        rows = np.einsum("cs,cs->c", self.release.decoder, self.release.decoder)
        return np.asarray(self.release.randomizer.subgaussian_proxy * rows + np.abs(self.approximated).max(axis=1) ** 2)

    def agreements(self, law: npt.ArrayLike) -> FloatArray:
        """q_c(λ), (k,), of a law (2T,) of labelled points."""
        p = checked_law(law, self.concepts.domain_size)
        return np.asarray(self.concepts.labels @ lean_of(p))

    def estimates(self, law: npt.ArrayLike, users: int, trials: int, rng: np.random.Generator) -> FloatArray:
        """(trials, k): estimates from the reports of ``users`` drawn from the law, anew in every trial."""
        return drawn_estimates(self.release, self.concepts, law, users, trials, rng)


def drawn_estimates(
    release: FactorizationRelease,
    concepts: ConceptClass,
    law: npt.ArrayLike,
    users: int,
    trials: int,
    rng: np.random.Generator,
) -> FloatArray:
    """(trials, k): a release's estimates from the reports of ``users`` drawn from the law, anew in every trial."""
    p = checked_law(law, concepts.domain_size)
    n = check_positive_integer("users", users)
    reason = release.simulation_refusal(n)
    if reason:
        raise BadValue("users", n, "be few enough to simulate", reason)
    found = np.empty((check_positive_integer("trials", trials), concepts.size))
    for counts, row in zip(rng.multinomial(n, p, size=trials), found, strict=True):
        row[:] = release.estimates(counts, 1, rng)[0]
    return found


def reports_for(
    concepts: ConceptClass,
    epsilon: float,
    accuracy: float,
    *,
    randomizer: str = "half-sphere",
    distance: float | None = None,
) -> AgreementReports:
    """The reports whose norm γ₂(W, a) over accuracy − a is least over a, or those of one ``distance`` a."""
    W = concepts.labels
    if distance is None:
        found = best_distance(W, accuracy, shifted=False).best
    else:
        found = Tried(distance, norm_at(W, distance, shifted=False))
    R, A = found.norm.left.dense(), found.norm.right.dense()
    factors = factorization(np.hstack([W, -W]), R, np.hstack([A, -A]), distance=found.distance + found.norm.residual)
    release = release_of("approximate", factors, check_epsilon(epsilon), randomizer=randomizer)
    if not isinstance(release, FactorizationRelease):
        raise BadValue("accuracy", accuracy, "be below 1", "constants are as accurate: ask for more")
    return AgreementReports(concepts, release)


def lean_of(law: FloatArray) -> FloatArray:
    """λ(x, +1) − λ(x, −1), (T,)."""
    T = len(law) // 2
    return np.asarray(law[:T] - law[T:])


def losses(concepts: ConceptClass, law: npt.ArrayLike) -> FloatArray:
    """L_λ(c), (k,)."""
    p = checked_law(law, concepts.domain_size)
    return np.asarray(np.clip(0.5 - 0.5 * (concepts.labels @ lean_of(p)), 0.0, 1.0))


def checked_law(law: npt.ArrayLike, domain_size: int) -> FloatArray:
    """A law of labelled points, (2T,): (x, +1) for all x, then (x, −1); divided by its sum."""
    p = np.asarray(law, dtype=np.float64)
    good = p.shape == (2 * domain_size,) and bool(np.isfinite(p).all()) and p.min() >= 0 and abs(p.sum() - 1) <= 1e-9
    if not good:
        rule = f"be {2 * domain_size} probabilities that sum to 1"
        raise BadValue("law", p if p.ndim == 1 else p.shape, rule, "give one for each labelled point")
    return np.asarray(p / p.sum())


def checked_loss_gap(alpha: float) -> float:
    """α as a float in (0, ½)."""
    good = isinstance(alpha, (int, float, np.floating)) and not isinstance(alpha, bool)
    if not good or not 0.0 < alpha < 0.5:
        rule = "be above 0 and below 1/2, the loss of a guess"
        raise BadValue("alpha", alpha, rule, "give for example 0.1")
    return float(alpha)
