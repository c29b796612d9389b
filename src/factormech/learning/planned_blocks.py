"""Protocols and lower bounds of a class on sets of many attributes, for ``learning.planning``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from factormech.bounds.hard.divergence import PROTOCOLS
from factormech.learning import bounds, every_protocol, naming, planned_dense, realizable_bounds
from factormech.learning.concepts import ConceptClass, from_matrix
from factormech.learning.planned_dense import FANO, KEARNS_CLASSES, PAIRED, PAIRS, REALIZABLY_REFUTED, REFUTED
from factormech.learning.plans import EVERY, Bound, PlannedProtocol
from factormech.learning.reports import checked_loss_gap
from factormech.learning.subset_users import SubsetReports, agnostic_reports, realizable_reports
from factormech.norms.subsets.classes import SubsetClass, subset_class
from factormech.norms.subsets.norms import class_hardness

# η of more attributes takes minutes, and three of its programs are solved.
MOST_PENALTIES = 20
# Attributes of the restriction whose bounds are those of the dense programs.
RESTRICTED = 4
# Agreements of certificates over twice the excess.
_REACH = (1.5, 3.0)


def protocols(
    queries: SubsetClass, *, epsilon: float, alpha: float, beta: float, refute: bool, realizable: bool
) -> list[PlannedProtocol]:
    """Return the protocols for a task."""
    return list(_protocols(queries, epsilon, alpha, beta, refute, realizable))


def lower_bounds(
    queries: SubsetClass, *, epsilon: float, alpha: float, beta: float, refute: bool, realizable: bool
) -> list[Bound]:
    """Return the lower bounds of a task; those of the class of a few attributes, a restriction, count, too.

    A learner of the class need not output a concept of the restriction: only bounds for every hypothesis carry over.
    """
    asked = {"epsilon": epsilon, "alpha": alpha, "beta": beta}
    small = listed(subset_class(queries.name, RESTRICTED))
    restricted = planned_dense.lower_bounds(small, **asked, refute=refute, realizable=realizable)
    found = (_refuted if refute else _learned)(queries, epsilon, alpha, beta, realizable)
    return [*found, *(bound for bound in restricted if not bound.proper)]


def listed(queries: SubsetClass) -> ConceptClass:
    """Return a class of few attributes with its concepts written out, points in the order of their masks."""
    matrix = queries.dense(queries.values)
    by_kind = np.argsort(np.bitwise_count(np.arange(matrix.shape[1])), kind="stable")
    return from_matrix(matrix[:, np.argsort(by_kind)], queries.name)


def _protocols(
    queries: SubsetClass, epsilon: float, alpha: float, beta: float, refute: bool, realizable: bool
) -> Iterator[PlannedProtocol]:
    d = queries.attributes
    if realizable and queries.name in KEARNS_CLASSES:
        kearns = planned_dense.kearns_round if refute else planned_dense.kearns_candidate
        yield kearns(d, epsilon, alpha, beta)
    if realizable and d <= MOST_PENALTIES:
        name, label = ("realizable-refuter", "Refuter by η") if refute else ("realizable-learner", "Learner by η")
        yield _candidate(name, label, "Theorem 42", realizable_reports(queries, epsilon, alpha), beta, refute)
    if not (realizable and refute):
        name, label = ("agnostic-refuter", "Agnostic refuter") if refute else ("agnostic-learner", "Agnostic learner")
        reports = agnostic_reports(queries, epsilon, alpha, refute=refute)
        yield _candidate(name, label, "Theorem 29", reports, beta, refute)


def _candidate(
    name: str, label: str, theorem: str, reports: SubsetReports, beta: float, refute: bool
) -> PlannedProtocol:
    users, proved = (reports.users(beta, refute=refute, proved=proved) for proved in (False, True))
    constants = {
        "gamma": reports.norm.upper, "distance": reports.distance, "margin": reports.margin,
        "coth": 1.0 / math.tanh(0.5 * reports.epsilon), "spread": reports.spread,
    }  # fmt: skip
    return PlannedProtocol(
        f"{name}/half-sphere", f"{label} (half sphere)", users, proved, "non-interactive", theorem, constants
    )


def _learned(queries: SubsetClass, epsilon: float, alpha: float, beta: float, realizable: bool) -> Iterator[Bound]:
    if realizable:
        yield Bound(every_protocol.realizable_learning_users(None, epsilon, alpha, beta), EVERY, False, PAIRED)
        return
    yield Bound(every_protocol.learning_users(None, epsilon, alpha, beta), EVERY, False, PAIRED)
    thetas = sorted({min(reach * 2.0 * checked_loss_gap(alpha), 0.95) for reach in _REACH})
    found = [class_hardness(queries, theta) for theta in thetas]
    found.append(class_hardness(queries, thetas[-1], "margin-complexity"))
    for protocol in PROTOCOLS:
        users = naming.improper_users(found, epsilon, alpha, beta, protocol=protocol)
        yield Bound(users, protocol, False, FANO)
    # The empty set's concept is constant: its half differences with all others are again a class on sets.
    differences = replace(queries, values=0.5 * (queries.values - queries.values[0, 0]))
    theta = min(2.0 * alpha * (1.0 + 1e-6), 1.0 - 1e-9)
    users = bounds.confident_learning_users([class_hardness(differences, theta)], epsilon, alpha, beta)
    yield Bound(users, PROTOCOLS[0], False, PAIRS)


def _refuted(queries: SubsetClass, epsilon: float, alpha: float, beta: float, realizable: bool) -> Iterator[Bound]:
    if realizable:
        yield Bound(every_protocol.realizable_refutation_users(epsilon, alpha, beta), EVERY, False, PAIRED)
        if queries.attributes <= MOST_PENALTIES:
            users = realizable_bounds.refutation_users(class_hardness(queries, alpha, "eta"), epsilon, alpha, beta)
            yield Bound(users, PROTOCOLS[0], False, REALIZABLY_REFUTED)
        return
    yield Bound(every_protocol.refutation_users(epsilon, alpha, beta), EVERY, False, PAIRED)
    kinds = ("gamma-2-approximate", "margin-complexity")
    found = [class_hardness(queries, min(2.0 * alpha, 1.0 - 1e-9), kind) for kind in kinds]
    for protocol in PROTOCOLS:
        users = max(bounds.refutation_users(one, epsilon, alpha, beta, protocol) for one in found)
        yield Bound(users, protocol, False, REFUTED)
