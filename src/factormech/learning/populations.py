r"""Laws of labelled points that are hard for a learner or a refuter: the worst found in a family, no proof of worst.

A base has a marginal m (T,) and a lean g (T,), |g| ≤ m; at signal s ∈ (0, 1] its law is (m(x) + b·s·g(x))/2. The
bases are

- each concept *planted* on uniform points: g = c/T;
- the pairs of lower bounds: m = |U_v|/‖U_v‖₁, g = ±U_v/‖U_v‖₁.

Candidates are compared by the central limit theorem, with common normal numbers; what is found is then simulated with
the randomizer itself and other random numbers, so that choosing does not flatter it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from factormech.arrays import FloatArray, check_positive_integer
from factormech.bounds.hard.certificate import Witness
from factormech.errors import BadValue
from factormech.learning.agnostic import AgnosticLearner, AgnosticRefuter
from factormech.learning.concepts import ConceptClass
from factormech.learning.reports import AgreementReports

# So many signals, from 1 to these at least; one just above that of an excess α is the hardest for many users.
_SIGNALS, _LEAST = 13, 1e-2
_FINE_SIGNALS, _FINE_LEAST = 25, 5e-2
_ABOVE = 1.0 + 1e-6
_DRAWS = 256
# Of many marginals of coins so many are looked at closely.
_CLOSER = 8
_CELLS = 2**22


@dataclass(frozen=True)
class Bases:
    """Marginals and leans, (F, T) each."""

    marginals: FloatArray
    leans: FloatArray

    def law(self, base: int, signal: float) -> FloatArray:
        """(2T,): the law of one base at a signal s."""
        m, g = self.marginals[base], signal * self.leans[base]
        return np.concatenate([0.5 * (m + g), 0.5 * (m - g)])


def bases(concepts: ConceptClass, witnesses: Sequence[Witness] = ()) -> Bases:
    """Planted concepts, and both sides of the pairs of these certificates (of [M | −M], ``bounds.certificate``)."""
    T = concepts.domain_size
    marginals, leans = [np.full(concepts.matrix.shape, 1.0 / T)], [concepts.labels / T]
    for witness in witnesses:
        U = witness.matrix[:, :T]
        U = U[U.any(axis=1)]
        sizes = np.abs(U).sum(axis=1, keepdims=True)
        for sign in (1.0, -1.0):
            marginals.append(np.abs(U) / sizes)
            leans.append(sign * U / sizes)
    return Bases(np.concatenate(marginals), np.concatenate(leans))


def coins(concepts: ConceptClass) -> FloatArray:
    """(2T,): uniform points with fair labels."""
    return np.full(2 * concepts.domain_size, 0.5 / concepts.domain_size)


def worst_for_learner(
    learner: AgnosticLearner, family: Bases, users: int, rng: np.random.Generator, *, above: float | None = None
) -> FloatArray:
    """The law of the family, at the best of some signals, of the largest expected excess that was found.

    With ``above`` it is that of the most excesses above this.
    """
    noise = _noise(learner.reports, users, rng)
    q = family.leans @ learner.concepts.labels.T
    means = family.leans @ learner.reports.approximated.T
    worst, where = -1.0, (0, 1.0)
    for s in _signals(q, noise, above).tolist():
        for start in range(0, len(q), max(1, _CELLS // noise.size)):
            block = slice(start, start + max(1, _CELLS // noise.size))
            chosen = np.argmax(s * means[block, None, :] + noise, axis=2)
            reached = 0.5 * s * (q[block].max(axis=1, keepdims=True) - np.take_along_axis(q[block], chosen, axis=1))
            excess = (reached if above is None else reached > above).mean(axis=1)
            if excess.max() > worst:
                worst, where = float(excess.max()), (start + int(np.argmax(excess)), s)
    return family.law(*where)


def _signals(q: FloatArray, noise: FloatArray, above: float | None) -> FloatArray:
    """From 1 to where the noise hides a base, or to where no excess is above a limit any more."""
    if above is None:
        return np.geomspace(1.0, min(_LEAST, float(noise.std())), _SIGNALS)
    apart = float(np.ptp(q, axis=1).max())
    return np.geomspace(1.0, min(_FINE_LEAST, _ABOVE * 2.0 * above / apart), _FINE_SIGNALS)


def worst_coins(refuter: AgnosticRefuter, family: Bases, users: int, rng: np.random.Generator) -> FloatArray:
    """Fair labels on the points of one base, or on uniform ones, of the most false alarms that were found.

    The sums of the estimates' tails rank them; the first few are compared with common normal numbers.
    """
    n, release = check_positive_integer("users", users), refuter.reports.release
    tau = refuter.threshold(n)
    uniform = np.full((1, refuter.concepts.domain_size), 1.0 / refuter.concepts.domain_size)
    points = np.concatenate([uniform, np.unique(family.marginals.round(12), axis=0)])
    laws = np.hstack([points, points])
    laws /= laws.sum(axis=1, keepdims=True)
    spreads = np.sqrt(laws @ (release.query_variances + (release.workload + release.bias) ** 2).T / n)
    ranked = np.argsort(-ndtr(-tau / spreads).sum(axis=1), kind="stable")[:_CLOSER]
    normal = rng.standard_normal((4 * _DRAWS, release.dimension))
    alarms = []
    for law in laws[ranked]:
        L = release.noise_root(law)
        noise = normal[:, : L.shape[1]] @ L.T / np.sqrt(n)
        alarms.append(float(np.mean(noise.max(axis=1) > tau)))
    return np.asarray(laws[ranked[int(np.argmax(alarms))]])


def worst_for_refuter(refuter: AgnosticRefuter, family: Bases, users: int, rng: np.random.Generator) -> FloatArray:
    """The law of the family on which the best concept loses ½ − α exactly and most misses were found."""
    noise, tau = _noise(refuter.reports, users, rng), refuter.threshold(users)
    best = (family.leans @ refuter.concepts.labels.T).max(axis=1)
    fit = np.flatnonzero(best >= 2.0 * refuter.alpha)
    if not len(fit):
        rule = f"have a base that some concept agrees with by {2.0 * refuter.alpha}"
        raise BadValue("family", len(best), rule, "plant the concepts of the class")
    signals = 2.0 * refuter.alpha / best[fit]
    means = signals[:, None] * (family.leans[fit] @ refuter.reports.approximated.T)
    misses = np.array([float(np.mean((row + noise).max(axis=1) <= tau)) for row in means])
    # Where no miss was seen at all, the least margin decides.
    worst = int(np.lexsort((means.max(axis=1), -misses))[0])
    return family.law(int(fit[worst]), float(signals[worst]))


def _noise(reports: AgreementReports, users: int, rng: np.random.Generator) -> FloatArray:
    """(draws, k): normal errors of the estimates when labels are nearly fair coins on uniform points."""
    n = check_positive_integer("users", users)
    L = reports.release.noise_root(coins(reports.concepts))
    return np.asarray(rng.standard_normal((_DRAWS, L.shape[1])) @ L.T / np.sqrt(n))
