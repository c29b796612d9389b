"""Lower bounds with Fano's logarithm: what is guessed, what reports tell, and the order of classes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from factormech.learning.agnostic import AgnosticLearner
from factormech.learning.concepts import concept_class
from factormech.learning.information import relative_constant
from factormech.learning.naming import _Names, least_learning_users, naming_certificates, naming_users, restrictions
from factormech.learning.selection.lower_bounds import users_to_name


@pytest.mark.parametrize("d", [2, 4])
def test_parities_have_the_bound_of_planted_families(d: int) -> None:
    """p₀ = 1/N just above the excess, where names are exact; the constants differ by what |u| is bounded by."""
    found = least_learning_users(concept_class("parities", d), 1.0, 0.1, 0.1, proper=True)
    assert found == pytest.approx(users_to_name(1 << d, 0.2, 1.0, interactive=False, success=0.9), rel=0.08)
    assert found <= users_to_name(1 << d, 0.2, 1.0, interactive=False, success=0.9)


@pytest.mark.parametrize(("name", "size"), [("thresholds", 6), ("conjunctions", 3), ("points", 6)])
def test_no_hypothesis_is_near_more_planted_concepts_than_is_proved(name: str, size: int) -> None:
    concepts = concept_class(name, size)
    hypotheses = np.array(list(itertools.product((-1.0, 1.0), repeat=concepts.domain_size)))
    for witness in naming_certificates(concepts, 0.1):
        names, T = _Names(concepts, witness), concepts.domain_size
        U = witness.matrix[:, :T] - witness.matrix[:, T:]
        own = np.einsum("vx,vx->v", concepts.labels, U)
        near = (U[own > 0] @ hypotheses.T) / own[own > 0, None]
        for gap in (0.15, 0.25):
            least = 1.0 - 0.1 / gap
            share = float((names.prior @ (near >= least)).max())
            assert share <= (witness.norm(gap) / (2 * (gap - 0.1))) ** 2
            inside = (names.prior @ ((U[own > 0] @ concepts.labels.T) / own[own > 0, None] >= least)).max()
            assert inside <= names.guess(least) <= share * (1 + 1e-6)


def test_reports_tell_no_more_than_is_proved() -> None:
    """Random ε-LDP channels, each report of two values: the mean divergence from the centre against κ⁺χ̂²."""
    concepts, epsilon, gap = concept_class("thresholds", 5), 1.0, 0.2
    witness = naming_certificates(concepts, 0.1)[0]
    names, T = _Names(concepts, witness), concepts.domain_size
    U = witness.matrix[:, :T] - witness.matrix[:, T:]
    used = np.einsum("vx,vx->v", concepts.labels, U) > 0
    M = gap * np.hstack([U, -U])[used] / np.einsum("vx,vx->v", concepts.labels, U)[used, None]
    share, q = witness.share(2 * gap), witness.centre
    floor = np.abs(M).max(axis=0)
    centre = np.maximum(share * q, floor)
    centre += (1.0 - centre.sum()) * q  # what is left of it, anywhere
    assert centre.min() >= 0.0
    assert math.isclose(centre.sum(), 1.0)
    u = min(-math.expm1(-epsilon), 0.5 * math.expm1(epsilon) * witness.row_mass(gap))
    limit = relative_constant(u, interactive=False) * math.sinh(epsilon / 2) ** 2 * witness.norm(gap) ** 2 / share
    rng, largest = np.random.default_rng(8), 0.0
    for _ in range(2000):
        high = rng.integers(0, 2, 2 * T)
        yes = np.where(high == 1, math.exp(epsilon), 1.0) / (1 + math.exp(epsilon))
        r = np.array([yes, 1 - yes])
        base, laws = r @ centre, r @ (centre + M).T
        divergence = (laws * np.log(laws / base[:, None])).sum(axis=0)
        largest = max(largest, float(names.prior @ divergence))
    assert 0.05 * limit < largest <= limit


def test_restrictions_never_have_a_larger_bound() -> None:
    """Points are left out: a part of the domain adds the concept that is false there, a good hypothesis."""
    for name, sizes in (("thresholds", (4, 8, 16)), ("parities", (2, 3)), ("conjunctions", (3, 4))):
        found = [least_learning_users(concept_class(name, size), 1.0, 0.1, 0.1, proper=True) for size in sizes]
        assert sorted(found) == found
        for size, users in zip(sizes, found, strict=True):
            assert users <= AgnosticLearner(concept_class(name, size), 1.0, 0.1).likely_users(0.1)
    parts = [part.domain_size for part in restrictions(concept_class("parities", 3))]
    assert parts == [8, 4, 2]


def test_sequential_and_improper_bounds_are_weaker() -> None:
    concepts = concept_class("parities", 4)
    witnesses = naming_certificates(concepts, 0.1)

    def users(**more: object) -> float:
        return naming_users(concepts, witnesses, 1.0, 0.1, 0.1, **more)  # type: ignore[arg-type]

    assert 0.0 < users() < users(proper=True)
    assert 0.0 < users(proper=True, protocol="sequential") < users(proper=True)
