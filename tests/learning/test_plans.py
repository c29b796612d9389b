"""Plans for classes: against the learners and bounds themselves, exact tests of pairs, restrictions, and refusals."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import factormech as fm
from factormech.errors import BadValue
from factormech.learning import every_protocol, planned_blocks
from factormech.learning.agnostic import AgnosticLearner
from factormech.learning.concepts import concept_class
from factormech.learning.planning import plan_class
from factormech.learning.plans import Bound, strongest
from factormech.learning.subset_users import agnostic_reports, realizable_reports
from factormech.norms.subsets.classes import subset_class
from factormech.norms.subsets.norms import class_hardness, subset_norm

PAGE = Path(__file__).resolve().parents[2] / "docs" / "class-plans.md"
TASKS = [(refute, realizable) for refute in (False, True) for realizable in (False, True)]


@pytest.mark.slow
def test_the_code_of_the_page_runs() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 2
    exec(compile("\n".join(blocks), str(PAGE), "exec"), {})  # noqa: S102


# Every protocol -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.6), (0.0, 0.1), (0.3, 0.9)])
def test_two_types_are_told_apart_by_randomized_response(epsilon: float, p: float, q: float) -> None:
    """The integral is the angle between coins of randomized response, and chords are above it by little."""
    tau = math.tanh(0.5 * epsilon)
    angle = math.asin(math.sqrt(0.5 + tau * (q - 0.5))) - math.asin(math.sqrt(0.5 + tau * (p - 0.5)))
    exact = (math.acos(2.0 * math.sqrt(0.1 * 0.9)) / angle) ** 2
    found = every_protocol.users_of_pair([1 - p, p], [1 - q, q], epsilon, 0.1)
    assert 0.99 * exact <= found <= exact


@pytest.mark.parametrize(("alpha", "epsilon"), [(0.05, 1.0), (0.2, 0.5), (0.3, 3.0)])
def test_the_best_test_with_randomized_response_needs_more_users(alpha: float, epsilon: float) -> None:
    tau = math.tanh(0.5 * epsilon)
    low, high = 0.5 - 0.5 * tau * alpha, 0.5 + 0.5 * tau * alpha
    needed = math.ceil(every_protocol.learning_users(None, epsilon, alpha, 0.1))

    def error(n: int) -> float:
        """The least larger error of a threshold with a fair coin at it: that of the middle."""
        return float(0.5 * (binom.sf((n - 1) // 2, n, low) + binom.cdf(n - (n - 1) // 2 - 2, n, high)))

    enough = next(n for n in range(1, 10**5, 2) if error(n) <= 0.1)
    assert needed <= enough <= 2 * needed
    assert abs((1 - low) - high) < 1e-12


def test_a_third_type_that_both_laws_share_costs_users() -> None:
    few = every_protocol.users_of_pair([0.5, 0.5, 0.0], [0.5, 0.0, 0.5], 1.0, 0.1)
    whole = every_protocol.users_of_pair([1.0, 0.0], [0.0, 1.0], 1.0, 0.1)
    assert whole < few
    # A channel that ignores the shared type sees a mass of a half: no bound is above what it needs.
    assert few <= 4.0 * every_protocol.users_of_pair([0.5, 0.5], [0.0, 1.0], 1.0, 0.1)
    assert every_protocol.users_of_pair([0.5, 0.5], [0.5, 0.5], 1.0, 0.1) == math.inf


# Blocks -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["conjunctions", "majorities", "parities"])
def test_a_centre_of_the_blocks_is_one_of_the_pairs_written_out(name: str) -> None:
    """Every |M̃_v|/2 and φ times the column weights are below one law of labelled points, and φ is the largest such."""
    queries = subset_class(name, 4)
    found = class_hardness(queries, 0.3)
    witness = subset_norm(queries, "gamma-2-approximate", 0.3).witness
    W, U = queries.dense(queries.values), queries.dense(_a_pair(queries, witness["dual"]))
    gains = (W * U).sum(axis=1)
    used = (gains > 0.0) & (gains >= 0.3 * np.abs(U).sum(axis=1) * (1.0 - 1e-7))
    half = 0.5 * (np.abs(U[used]) / gains[used, None]).max(axis=0)
    sizes = np.bincount(np.bitwise_count(np.arange(16)), minlength=5)
    q = np.repeat(witness["column_weights"] / sizes, sizes)
    q = 0.5 * q / q.sum()
    assert found.centre is not None
    for theta in (0.05, 0.2, 0.3):
        phi = found.share(theta)
        total = 2.0 * np.maximum(phi * q, theta * half).sum()
        assert (total <= 1.0 + 1e-9) == (phi > 0.0)  # a share of 0 says that the masses alone are too many
        if 0.0 < phi < 1.0 - 1e-9:
            assert 2.0 * np.maximum(1.01 * phi * q, theta * half).sum() > 1.0
    assert found.share(0.2, "sequential") == found.share(0.4)


def _a_pair(queries, masses):
    """The mass of one pair of sets of each kind."""
    users = np.array([math.comb(queries.attributes, int(size)) for size in queries.columns]).repeat(
        queries.attributes + 1
    )
    pairs = queries.on_columns * users
    return np.divide(masses, pairs, out=np.zeros_like(masses), where=pairs > 0)


def test_parities_have_the_uniform_law_for_a_centre_and_no_share_is_lost() -> None:
    found = class_hardness(subset_class("parities", 6), 0.2)
    assert found.strength == pytest.approx(8.0, rel=1e-5)
    assert found.share(0.2) > 0.999


def test_reports_by_eta_are_those_of_the_dense_learner() -> None:
    from factormech.learning.realizable import RealizableLearner

    found, dense = (
        realizable_reports(subset_class("conjunctions", 4), 1.0, 0.1),
        RealizableLearner(concept_class("conjunctions", 4), 1.0, 0.1),
    )
    assert found.norm.upper == pytest.approx(dense.reports.release.norm_product, rel=1e-2)
    assert found.margin == pytest.approx(dense.margin, rel=1e-6)
    assert dense.likely_users(0.1) <= found.users(0.1) <= 4 * dense.likely_users(0.1)
    assert dense.confident_users(0.1) <= found.users(0.1, proved=True) <= 4 * dense.confident_users(0.1)


def test_a_margin_that_is_lost_is_refused() -> None:
    with pytest.raises(BadValue, match="leave a margin"):
        agnostic_reports(subset_class("conjunctions", 3), 1.0, 0.1, distance=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("refute", "realizable"), TASKS)
@pytest.mark.parametrize("name", ["conjunctions", "majorities"])
def test_both_engines_agree_on_a_class_that_both_take(name: str, refute: bool, realizable: bool) -> None:
    """Predictions within a factor 4; every bound of either below the predictions of both."""
    asked = {"refute": refute, "realizable": realizable}
    given = {"epsilon": 1.0, "alpha": 0.1, "beta": 0.1}
    dense, queries = plan_class(name, 1.0, 0.1, attributes=4, **asked), subset_class(name, 4)
    blocks = min(planned_blocks.protocols(queries, **given, **asked), key=lambda one: one.users)
    assert dense.best.users <= 1.001 * blocks.users <= 4 * dense.best.users
    bounds = [*dense.bounds, *planned_blocks.lower_bounds(queries, **given, **asked)]
    assert all(0.0 <= bound.users < dense.best.users for bound in bounds)


# Plans --------------------------------------------------------------------------------------------------------------


def test_the_best_learner_is_the_one_that_is_made_alone() -> None:
    found = plan_class("thresholds", 1.0, 0.1, domain_size=6)
    learners = [
        AgnosticLearner(concept_class("thresholds", 6), 1.0, 0.1, randomizer=each)
        for each in ("half-sphere", "priv-unit")
    ]
    assert found.best.users == min(learner.likely_users(0.1) for learner in learners)
    assert [one.users for one in found.candidates] == sorted(one.users for one in found.candidates)
    assert found.table["users"].tolist() == [one.users for one in found.candidates]
    assert found.best.protocol == "non-interactive"
    assert found.ratio == pytest.approx(found.best.users / found.bound.whole_users)


def test_more_attributes_have_no_smaller_bound_for_every_hypothesis() -> None:
    """A class of fewer attributes is a restriction."""
    users = []
    for d in (5, 6, 8):
        found = plan_class("conjunctions", 1.0, 0.1, attributes=d, refute=True)
        users.append(max(bound.users for bound in found.bounds))
    assert users == sorted(users)


def test_only_bounds_that_hold_for_the_best_protocol_are_set_beside_it() -> None:
    found = plan_class("conjunctions", 1.0, 0.1, attributes=4)
    rounds = replace(found.best, protocol="sequential")
    bounds = [
        Bound(9.0, "non-interactive", False, ""),
        Bound(5.0, "sequential", False, ""),
        Bound(2.0, "every", False, ""),
    ]
    assert replace(found, bounds=bounds).bound.users == 9.0
    assert replace(found, bounds=bounds, candidates=[rounds]).bound.users == 5.0
    assert strongest([*bounds, Bound(4.0, "sequential", True, ""), Bound(7.0, "sequential", True, "")]) == [
        bounds[0], Bound(7.0, "sequential", True, ""), *bounds[1:]
    ]  # fmt: skip


def test_kearns_learner_is_the_only_one_of_polynomial_growth_and_wins_at_few_accuracies() -> None:
    found = plan_class("conjunctions", 1.0, 0.05, attributes=1, realizable=True)
    assert found.best.name == "kearns-learner"
    assert found.best.users == found.best.proved_users


def test_a_class_of_one_concept_needs_nobody_to_be_learned() -> None:
    assert plan_class("2-way-parities", 1.0, 0.1, attributes=2).best.users == 1
    assert plan_class("2-way-parities", 1.0, 0.1, attributes=2, refute=True).best.users > 100


WRONG = {
    ("conjuntions", "attributes", 4): "did you mean 'conjunctions'",
    ("conjunctions", "attributes", 31): "at most 30",
    ("conjunctions", "attributes", 0): "at least 1",
    ("conjunctions", "domain_size", 4): "number of attributes",
    ("conjunctions", "attributes", None): "be given for conjunctions",
    ("decision-stumps", "attributes", 7): "at most 64 points",
    ("thresholds", "attributes", 4): "number of points",
    ("thresholds", "domain_size", 65): "at most 64 points",
    ("halfspaces", "domain_size", 15): "a square",
}


@pytest.mark.parametrize("given", WRONG, ids=str)
def test_a_class_that_no_engine_takes_is_told_which_takes_what(given: tuple[str, str, int | None]) -> None:
    name, size, value = given
    with pytest.raises(BadValue, match=WRONG[given]) as refused:
        plan_class(name, 1.0, 0.1, **{size: value})
    covers = WRONG[given] in ("number of points", "number of attributes", "a square", "at least 1")
    assert covers or "to 30 attributes (programs in blocks), other classes to 256 concepts on 64 points" in str(
        refused.value
    )


def test_options_of_the_other_kind_of_plan_are_refused() -> None:
    for given in ({"rmse": 0.1}, {"metric": "linf"}, {"realisable": True}, {"failure": 0.5}, {"alpha": 0.5}):
        with pytest.raises(BadValue):
            fm.plan(**{"concept_class": "points", "domain_size": 3, "epsilon": 1.0, "alpha": 0.1, **given})
    with pytest.raises(BadValue, match="concept_class alone"):
        fm.plan(fm.workload("prefix", 4), 1.0, rmse=0.1, refute=True)  # type: ignore[call-overload]
