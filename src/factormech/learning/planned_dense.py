"""Protocols and lower bounds of a class whose concepts and points are written out, for ``learning.planning``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from factormech.bounds.hard.divergence import PROTOCOLS
from factormech.learning import bounds, every_protocol, naming, realizable_bounds
from factormech.learning.agnostic import AgnosticLearner, AgnosticRefuter, refuter_of
from factormech.learning.concepts import ConceptClass
from factormech.learning.plans import EVERY, Bound, PlannedProtocol
from factormech.learning.realizable import KearnsLearner, RealizableLearner, RealizableRefuter

RANDOMIZERS = {"half-sphere": "half sphere", "priv-unit": "PrivUnit"}
# Pairs of concepts are listed on restrictions to at most so many points: more points have not given more there.
PAIR_POINTS = 8
KEARNS = "Kearns (STOC 1993) on randomized bits; section 7.1"
ROUND = "Lemma 50, from Kearns' learner"
KEARNS_CLASSES = ("conjunctions", "disjunctions")
FANO = "Fano's inequality around a centre with fair labels"
PAIRS = "Theorem 31, without its logarithm"
REALIZABLE_PAIRS = "pairs of realizable laws"
REFUTED = "Theorem 30, without its logarithm"
REALIZABLY_REFUTED = "Theorem 43, without its logarithm"
PAIRED = "two laws on one point, any interaction"


def protocols(
    concepts: ConceptClass, *, epsilon: float, alpha: float, beta: float, refute: bool, realizable: bool
) -> list[PlannedProtocol]:
    """Return the protocols for a task."""
    if concepts.size < 2 and not refute:
        return [PlannedProtocol("constant", "The one concept", 1, 1, "non-interactive", "nothing to tell apart", {})]
    return list((_refuters if refute else _learners)(concepts, epsilon, alpha, beta, realizable))


def lower_bounds(
    concepts: ConceptClass, *, epsilon: float, alpha: float, beta: float, refute: bool, realizable: bool
) -> list[Bound]:
    """Return the lower bounds of a task."""
    least = [Bound(1.0, EVERY, False, "at least one user")]
    if concepts.size < 2 and not refute:
        return least
    return [*least, *(_refuted if refute else _learned)(concepts, epsilon, alpha, beta, realizable)]


def constants_of(reports: Any, margin: float, epsilon: float, variance: float) -> dict[str, float]:
    """The numbers that a prediction from the reports of a factorization is made of."""
    return {
        "gamma": reports.release.norm_product,
        "distance": reports.distance,
        "margin": margin,
        "variance": variance,
        "coth": 1.0 / math.tanh(0.5 * epsilon),
    }


def _learners(
    C: ConceptClass, epsilon: float, alpha: float, beta: float, realizable: bool
) -> Iterator[PlannedProtocol]:
    kinds: list[tuple[str, str, str, Any]] = [("agnostic-learner", "Agnostic learner", "Theorem 29", AgnosticLearner)]
    if realizable:
        kinds.append(("realizable-learner", "Learner by η", "Theorem 42", RealizableLearner))
        if C.name in KEARNS_CLASSES:
            yield kearns_candidate(C.domain_size.bit_length() - 1, epsilon, alpha, beta)
    for name, label, theorem, make in kinds:
        for randomizer, said in RANDOMIZERS.items():
            learner = make(C, epsilon, alpha, randomizer=randomizer)
            largest = float(learner.difference_variances.max())
            yield PlannedProtocol(
                f"{name}/{randomizer}", f"{label} ({said})", learner.likely_users(beta), learner.confident_users(beta),
                "non-interactive", theorem, constants_of(learner.reports, learner.margin, epsilon, largest),
            )  # fmt: skip


def _refuters(
    C: ConceptClass, epsilon: float, alpha: float, beta: float, realizable: bool
) -> Iterator[PlannedProtocol]:
    make: Any = RealizableRefuter if realizable else AgnosticRefuter
    name, label, theorem = (
        ("realizable-refuter", "Refuter by η", "Theorem 42")
        if realizable
        else ("agnostic-refuter", "Agnostic refuter", "Theorem 29")
    )
    for randomizer, said in RANDOMIZERS.items():
        refuter = make(C, epsilon, alpha, randomizer=randomizer)
        largest = float(refuter.reports.variances.max())
        yield PlannedProtocol(
            f"{name}/{randomizer}", f"{label} ({said})", refuter.predicted_users(beta), refuter.guaranteed_users(beta),
            "non-interactive", theorem, constants_of(refuter.reports, refuter.signal, epsilon, largest),
        )  # fmt: skip
    if realizable and C.name in KEARNS_CLASSES:
        yield kearns_round(C.domain_size.bit_length() - 1, epsilon, alpha, beta)


def kearns_candidate(d: int, epsilon: float, alpha: float, beta: float) -> PlannedProtocol:
    """Kearns' learner of monotone conjunctions of d bits, or of disjunctions with bits and labels negated."""
    users = KearnsLearner(d, epsilon, alpha).confident_users(beta)
    constants = {"margin": alpha / d, "groups": float(d), "coth": 1.0 / math.tanh(0.5 * epsilon)}
    return PlannedProtocol("kearns-learner", "Kearns' learner", users, users, "non-interactive", KEARNS, constants)


def kearns_round(d: int, epsilon: float, alpha: float, beta: float) -> PlannedProtocol:
    """Kearns' learner and one more round of users."""
    found = refuter_of(lambda part: KearnsLearner(d, epsilon, part), epsilon, alpha, beta, proved=True)
    constants = {"accuracy": found.accuracy, "first_round": float(found.first), "second_round": float(found.second)}
    return PlannedProtocol(
        "kearns-one-more-round", "Kearns' learner, one more round", found.users, found.users, "sequential", ROUND,
        constants,
    )  # fmt: skip


def _learned(C: ConceptClass, epsilon: float, alpha: float, beta: float, realizable: bool) -> Iterator[Bound]:
    """Bounds of learners: the largest over restrictions of the class, as a learner of it learns each."""
    if realizable:
        yield Bound(every_protocol.realizable_learning_users(C, epsilon, alpha, beta), EVERY, False, PAIRED)
        for part in naming.restrictions(C):
            users = realizable_bounds.learning_users(realizable_bounds.learning_certificate(part), epsilon, alpha, beta)
            yield Bound(users, PROTOCOLS[0], False, REALIZABLE_PAIRS)
        return
    yield Bound(every_protocol.learning_users(C, epsilon, alpha, beta), EVERY, False, PAIRED)
    for part in naming.restrictions(C):
        found = naming.naming_certificates(part, alpha)
        for protocol in PROTOCOLS:
            for proper in (True, False):
                users = naming.naming_users(part, found, epsilon, alpha, beta, proper=proper, protocol=protocol)
                yield Bound(users, protocol, proper, FANO)
        if part.domain_size <= PAIR_POINTS:
            paired = bounds.learning_certificates(part)
            users = bounds.confident_learning_users(paired, epsilon, alpha, beta)
            yield Bound(users, PROTOCOLS[0], False, PAIRS)


def _refuted(C: ConceptClass, epsilon: float, alpha: float, beta: float, realizable: bool) -> Iterator[Bound]:
    """Bounds of refuters, who refute each restriction of the class."""
    if realizable:
        yield Bound(every_protocol.realizable_refutation_users(epsilon, alpha, beta), EVERY, False, PAIRED)
        for part in naming.restrictions(C):
            users = realizable_bounds.refutation_users(
                realizable_bounds.refutation_certificate(part, alpha), epsilon, alpha, beta
            )
            yield Bound(users, PROTOCOLS[0], False, REALIZABLY_REFUTED)
        return
    yield Bound(every_protocol.refutation_users(epsilon, alpha, beta), EVERY, False, PAIRED)
    for part in naming.restrictions(C):
        found = bounds.refutation_certificate(part, alpha)
        for protocol in PROTOCOLS:
            yield Bound(bounds.refutation_users(found, epsilon, alpha, beta, protocol), protocol, False, REFUTED)
