"""Studies at the sizes where the separations of Boolean classes show: tables, bounds that hold, figures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from factormech.bounds.hard.release import lower_bound_release
from factormech.mechanisms.local.factorized.marginal_users import largest_errors, least_users, sufficient_users
from factormech.mechanisms.local.factorized.registry import build
from factormech.norms.subsets.marginals import best_polynomial
from factormech.plots import registry as figures
from factormech.studies import registry
from factormech.workloads.given import workload
from tests.figure_checks import assert_no_overlaps, said
from tests.studies import project, quick, refusals
from tests.tiers import every

pytestmark = pytest.mark.heavy

STUDIES = ("attribute-norms", "marginals-growth", "marginals-users", "masked-parities", "conjunction-separation")


@pytest.mark.slow
@pytest.mark.parametrize("name", every(3, STUDIES))
def test_the_figure_has_no_overlaps_and_a_caption(name: str) -> None:
    frame, kind = quick(name), project().study(name).kind
    assert_no_overlaps(figures.draw(kind, frame))
    assert "Words." in said("Title", "Words.", frame)


def test_users_of_marginals_are_those_of_the_dense_bounds() -> None:
    """The same certificate and the same mechanism from 16 × 16 matrices."""
    W = workload("2-way-marginals", 16)
    for alpha in (0.02, 0.1):
        dense = lower_bound_release(W, 1.0, alpha)
        assert dense.users * 0.999 <= least_users(4, 2, 1.0, alpha) <= dense.ceiling * 1.001
        assert least_users(4, 2, 1.0, alpha, "sequential") <= least_users(4, 2, 1.0, alpha)
    guaranteed, predicted = sufficient_users(4, 2, 1.0, 0.1)
    mechanism = build("symmetric-polynomial", W, 1.0, alpha=0.1)
    assert mechanism.predicted_users(0.1) <= predicted <= 2 * mechanism.predicted_users(0.1)
    assert mechanism.guaranteed_users(0.1) <= guaranteed


def test_collections_of_marginals_err_as_the_dense_mechanism_does() -> None:
    """The same mean of the largest errors, from 16 × 16 matrices and types; and the bias where there is no noise."""
    counts, users, rng = np.eye(16, dtype=np.int64)[0] * 5000, 5000, np.random.default_rng(7)
    found = largest_errors(4, 2, 1.0, 0.1, users, 2000, rng)
    W = workload("2-way-marginals", 16)
    dense = build("symmetric-polynomial", W, 1.0, alpha=0.1).estimates(counts, 2000, rng)
    other = np.abs(dense - W.matrix()[:, 0]).max(axis=1)
    error = math.hypot(found.std(), other.std()) / math.sqrt(2000)
    assert abs(found.mean() - other.mean()) < 5.0 * error < 0.05 * found.mean()
    quiet = largest_errors(4, 2, 8.0, 0.3, 10**6, 5, rng)
    assert quiet == pytest.approx(best_polynomial(4, 2, 0.3)[1], abs=0.01)


def test_one_attribute_has_the_variance_of_one_bit() -> None:
    """n·Var = (c² − 1)/4 of ½ ± bit/2, c = coth(ε/2), where all users are alike."""
    errors = largest_errors(1, 1, 1.0, 0.1, 400, 20000, np.random.default_rng(8))
    exact = (1.0 / math.tanh(0.5) ** 2 - 1.0) / 4.0 / 400
    assert (errors**2).mean() == pytest.approx(exact, rel=0.05)


def test_the_norm_of_marginals_grows_faster_for_wider_ones() -> None:
    rows = quick("marginals-growth").set_index(["marginal_width", "attributes_over_width"])["local_exponent"]
    assert rows[1, 64] < 0.5 < 0.9 < rows[4, 64]
    assert np.isnan(rows[1, 1])


def test_collections_that_are_run_keep_their_target() -> None:
    rows = quick("marginals-users").set_index(["marginal_width", "attributes", "shown"])["measured_high"]
    assert 0.03 < rows[1, 16, "users/predicted"] < 0.05
    assert rows[3, 4096, "users/predicted"] != rows[3, 4096, "users/predicted"]  # too many users to run


def test_users_of_marginals_at_thousands_of_attributes() -> None:
    rows = quick("marginals-users").set_index(["marginal_width", "attributes", "shown"])["needed_users"]
    for width in (1, 3):
        growth = math.log(rows[width, 4096, "users/bound"] / rows[width, 256, "users/bound"]) / math.log(16)
        assert growth == pytest.approx(width, abs=0.15)


def test_one_more_round_saves_a_hundred_times_the_users() -> None:
    rows = quick("masked-parities").set_index(["attributes", "shown"])
    assert (
        rows.loc[(20, "users/sequential"), "needed_over_sequential"]
        > 100
        > 1
        > rows.loc[(8, "users/sequential"), "needed_over_sequential"]
    )
    assert (rows["success_high"] >= 0.9).all()
    assert rows["success"].min() > 0.87


def test_agnostic_users_grow_faster_than_realizable_ones_in_the_end() -> None:
    rows = quick("conjunction-separation").set_index(["attributes", "shown"])
    ratio = rows.xs("users/agnostic-learner", level="shown")["agnostic_over_kearns"]
    assert ratio[2] > ratio[6] > ratio[10] < ratio[12]
    assert ((rows["upper"] / rows["lower"] - 1.0) < 1e-5).all()


@pytest.mark.slow
def test_the_norm_passes_margin_complexity_between_eight_and_ten_bits() -> None:
    rows = quick("attribute-norms").set_index(["set_class", "attributes", "quantity"]).loc["conjunctions"]
    assert rows["upper"][8, "class-gamma-2"] < rows["lower"][8, "class-margin"]
    assert rows["lower"][10, "class-gamma-2"] > rows["upper"][10, "class-margin"]
    margins = rows.xs("class-margin", level="quantity")["norm_value"]
    assert np.diff(margins) == pytest.approx([1.1] * 4, abs=0.1)  # two bits at a time: nearly linear
    # (1 − α)mc/2 ≤ η ≤ (1 − α)γ₂/2, the γ₂ of α = 0 being at least that of 0.1.
    for d in (2, 4, 6, 8, 10):
        assert 0.45 * rows["lower"][d, "class-margin"] <= rows["upper"][d, "class-eta"] * (1 + 1e-9)


BAD: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("marginals-growth", {"lower": 2.0, "upper": 1.0}, "lower"),
    ("marginals-growth", {"lower": 2.0, "upper": 2.0, "attributes": 2, "marginal_width": 1}, "upper"),
    ("attribute-norms", {"lower": 2.0, "upper": 1.0}, "lower"),
    ("attribute-norms", {"lower": 3.0, "upper": 3.0, "attributes": 2}, "lower"),
    ("attribute-norms", {"lower": 1.0, "upper": 1.1, "attributes": 2}, "upper"),
    ("conjunction-separation", {"lower": 2.0, "upper": 1.0}, "lower"),
    (
        "conjunction-separation",
        {"lower": 1.0, "upper": 1.0, "shown": "users/agnostic-learner", "needed_users": 3, "least_users": 4},
        "needed_users",
    ),
    ("masked-parities", {"success_high": 0.8, "target_share": 0.9}, "success_high"),
    (
        "marginals-growth",
        {
            "lower": 1.0,
            "upper": 1.0,
            "attributes": 9,
            "marginal_width": 1,
            "conjunctions_lower": 2.0,
            "conjunctions_upper": 1.0,
        },
        "conjunctions_lower",
    ),
    ("marginals-users", {"needed_users": 3.0, "least_users": 4.0}, "needed_users"),
)


@pytest.mark.parametrize(("kind", "row", "column"), BAD)
def test_a_row_that_contradicts_its_bound_is_refused(kind: str, row: dict[str, Any], column: str) -> None:
    problem = registry.experiment(kind).check(row)
    assert problem is not None
    assert problem[0] == column


def test_bad_grids_are_refused() -> None:
    assert "at most 4" in refusals("marginals-users", marginal_width=[5], attributes=[4])[0]
    assert "from 1 to 30" in refusals("attribute-norms", set_class=["majorities"], attributes=[31])[0]
    assert "below 1" in refusals("attribute-norms", set_class=["majorities"], attributes=[3], entry_error=[1.0])[0]
    assert "from 1 to 30" in refusals("conjunction-separation", attributes=[31])[0]
    assert "1/4" in refusals("conjunction-separation", attributes=[3], alpha=[0.25])[0]
    assert "1/2" in refusals("marginals-users", marginal_width=[2], attributes=[4], alpha=[0.5])[0]
