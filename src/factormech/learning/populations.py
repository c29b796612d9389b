"""Laws of labelled points that are hard for a learner or a refuter: the worst found in a family, no proof of worst.

**Agnostic.** A base has a marginal m (T,) and a lean g (T,), |g| ≤ m; at signal s ∈ (0, 1] its law is
(m(x) + b·s·g(x))/2. The bases are

- each concept *planted* on uniform points: g = c/T;
- the pairs of lower bounds: m = |U_v|/‖U_v‖₁, g = ±U_v/‖U_v‖₁.

Candidates are compared by the central limit theorem, with common normal numbers.

**Realizable.** Laws that a concept c* labels: its points uniform, and with a rival c' a mass s on the points where they
differ, uniform there or as in a certificate of learning, the rest where they agree. Laws on which every concept loses
at least α: the hard pairs of refutation, and uniform points labelled by a concept and flipped with probability α (any
other concept then loses α + (1 − 2α)P(it differs)). The family is ranked by the central limit and the union bound, and
the first few are compared with common normal numbers.

What is found is then simulated with the randomizer itself and other random numbers, so that choosing does not flatter
it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from factormech.arrays import FloatArray, check_positive_integer
from factormech.bounds.hard.certificate import Witness
from factormech.bounds.hard.pairs import HardPairs
from factormech.errors import BadValue
from factormech.learning.agnostic import AgnosticLearner, AgnosticRefuter
from factormech.learning.concepts import ConceptClass
from factormech.learning.realizable import KearnsLearner, RealizableLearner, RealizableRefuter
from factormech.learning.realizable_bounds import learning_rows
from factormech.learning.reports import AgreementReports

# So many signals, from 1 to these at least; one just above that of an excess α is the hardest for many users.
_SIGNALS, _LEAST = 13, 1e-2
_FINE_SIGNALS, _FINE_LEAST = 25, 5e-2
# An excess, or a mass of wrong labels, just above α.
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


# Realizable learners and refuters.

_MASSES = np.geomspace(1.0, 1e-3, 22)
_RIVALS, _CLOSEST, _RIVAL_DRAWS = 4, 48, 512


def realizable_laws(
    concepts: ConceptClass, certificate: Witness | None = None, alpha: float | None = None
) -> FloatArray:
    """(F, 2T): laws that a concept labels; with ``alpha`` some put just more on what two concepts differ in."""
    k, T = concepts.matrix.shape
    masses = _MASSES if alpha is None else np.append(_MASSES, [_ABOVE * alpha, min(1.5 * alpha, 1.0)])
    first, points = [np.arange(k)], [np.full((k, T), 1.0 / T)]
    for c, marginal, agree in _rivals(concepts, certificate):
        if not agree.any():
            continue
        rest = agree / agree.sum()
        first.append(np.full(len(masses), c))
        points.append(masses[:, None] * marginal + (1.0 - masses[:, None]) * rest)
    return labelled(concepts, np.concatenate(first), np.concatenate(points))


def labelled(concepts: ConceptClass, rows: npt.NDArray[np.intp], points: FloatArray) -> FloatArray:
    """(F, 2T): points (F, T) labelled by concepts (F,)."""
    positive = concepts.matrix[rows] > 0
    return np.hstack([np.where(positive, points, 0.0), np.where(positive, 0.0, points)])


def unfit_laws(concepts: ConceptClass, alpha: float, pairs: HardPairs | None = None) -> FloatArray:
    """(F, 2T): laws on which every concept loses at least α."""
    T = concepts.domain_size
    right = labelled(concepts, np.arange(concepts.size), np.full((concepts.size, T), 1.0 / T))
    flipped = (1.0 - alpha) * right + alpha * np.hstack([right[:, T:], right[:, :T]])
    laws = flipped if pairs is None else np.concatenate([flipped, pairs.first])
    return np.asarray(laws / laws.sum(axis=1, keepdims=True))


def worst_realizable_law(
    learner: RealizableLearner | AgnosticLearner,
    laws: FloatArray,
    users: int,
    rng: np.random.Generator,
    *,
    above: float | None = None,
) -> FloatArray:
    """The law of the largest expected loss that was found, or, with ``above``, of the most losses above it."""
    n, release = check_positive_integer("users", users), learner.reports.release
    sign = 1.0 if isinstance(learner, RealizableLearner) else -1.0
    means = sign * laws @ (release.workload + release.bias).T
    lost = 0.5 - 0.5 * (laws[:, : learner.concepts.domain_size] - laws[:, learner.concepts.domain_size :]) @ (
        learner.concepts.labels.T
    )
    cost = lost if above is None else (lost > above).astype(float)
    best = np.argmin(lost, axis=1)
    spread = np.sqrt(np.maximum(learner.difference_variances[best] / n, np.finfo(float).tiny))
    rough = (cost * ndtr(-(means - np.take_along_axis(means, best[:, None], axis=1)) / spread)).sum(axis=1)
    ranked = np.argsort(-rough, kind="stable")[:_CLOSEST]
    L = release.noise_root(coins(learner.concepts))
    noise = rng.standard_normal((_RIVAL_DRAWS, L.shape[1])) @ L.T / np.sqrt(n)
    chosen = np.argmin(means[ranked, None, :] + noise, axis=2)
    found = np.take_along_axis(cost[ranked], chosen, axis=1).mean(axis=1)
    return np.asarray(laws[ranked[int(np.argmax(found))]])


def worst_fit(refuter: RealizableRefuter, laws: FloatArray, users: int, rng: np.random.Generator) -> FloatArray:
    """Return the law with the most misses that were found, among laws that a concept labels."""
    return _worst(refuter, laws, users, rng, alarm=False)


def worst_unfit(refuter: RealizableRefuter, laws: FloatArray, users: int, rng: np.random.Generator) -> FloatArray:
    """Return the law with the most false alarms that were found, among laws that no concept fits."""
    return _worst(refuter, laws, users, rng, alarm=True)


def conjunction_laws(learner: KearnsLearner) -> FloatArray:
    """(F, 2T): laws where one wrongly dropped bit costs more than α, or one wrongly kept, or several do together."""
    d, alpha, T = learner.d, learner.alpha, learner.concepts.domain_size
    but_one = T - 1 - (1 << np.arange(d))
    points, rows = [], []
    most = max(1, min(d, int(1.0 / (_ABOVE * alpha))))
    just = _ABOVE * alpha
    for needed, each in ((most, 1.0 / most), (0, just), (0, just / d), (d // 2, just / d)):
        law = np.zeros(T)
        law[but_one] = each
        law[T - 1] = max(0.0, 1.0 - law.sum())
        points.append(law / law.sum())
        rows.append((1 << needed) - 1)
    points.append(np.eye(T)[T - 1] * (1.0 - _ABOVE * alpha) + np.eye(T)[0] * _ABOVE * alpha)
    rows.append(0)
    return labelled(learner.concepts, np.array(rows), np.array(points))


def worst_by_simulation(
    learner: KearnsLearner, laws: FloatArray, users: int, rng: np.random.Generator, *, trials: int = 2000
) -> FloatArray:
    """Return the law with the most losses above α among ``laws``, by simulation."""
    failures = [float(np.mean(learner.losses(law, users, trials, rng) > learner.alpha)) for law in laws]
    return np.asarray(laws[int(np.argmax(failures))])


def _worst(
    refuter: RealizableRefuter, laws: FloatArray, users: int, rng: np.random.Generator, *, alarm: bool
) -> FloatArray:
    n, release, tau = check_positive_integer("users", users), refuter.reports.release, refuter.threshold(users)
    means = laws @ release.workload.T
    spread = np.sqrt(refuter.reports.variances / n)
    low = ndtr((tau - means) / spread)
    rough = low.sum(axis=1) if alarm else -low.max(axis=1)
    ranked = np.argsort(-rough, kind="stable")[:_CLOSEST]
    L = release.noise_root(coins(refuter.concepts))
    noise = rng.standard_normal((_RIVAL_DRAWS, L.shape[1])) @ L.T / np.sqrt(n)
    fits = ((means[ranked, None, :] + noise).min(axis=2) <= tau).mean(axis=1)
    return np.asarray(laws[ranked[int(np.argmax(fits if alarm else -fits))]])


def _rivals(
    concepts: ConceptClass, certificate: Witness | None
) -> Iterator[tuple[int, FloatArray, npt.NDArray[np.bool_]]]:
    """A concept, a law of points where some rival differs from it, and where the two agree."""
    for c, row in enumerate(concepts.matrix):
        apart = row != concepts.matrix
        order = np.argsort(apart.sum(axis=1), kind="stable")[1:]
        for rival in np.unique(np.concatenate([order[:_RIVALS], order[-_RIVALS:]])):
            yield c, apart[rival] / apart[rival].sum(), ~apart[rival]
    if certificate is None or certificate.strength <= 0.0:
        return
    U = certificate.matrix[:, : concepts.domain_size]
    for D, u in zip(learning_rows(concepts), U, strict=True):
        if u.any():
            c = int(np.argmax((concepts.labels[:, D != 0.0] == D[D != 0.0]).all(axis=1)))
            yield c, np.abs(u) / np.abs(u).sum(), D == 0.0
