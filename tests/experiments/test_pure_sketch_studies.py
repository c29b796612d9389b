"""Studies of projections, JL release and recursion under pure privacy: closed forms, choices, refusals, figures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import stdtrit

from factormech.errors import Unavailable
from factormech.mechanisms.pure.errors import width_factor
from factormech.plots import pure_skew as skew_figure
from factormech.plots import registry as figures
from factormech.studies import jl_distortion, pure, pure_covariance, pure_marginals, pure_skew, recursion_depths
from factormech.studies.asked import Asked
from factormech.studies.measures.pure import chosen, lengths, signs
from tests.figure_checks import assert_no_overlaps, said
from tests.studies import project, quick
from tests.tiers import every

pytestmark = pytest.mark.heavy

STUDIES = ("pure-skew", "pure-covariance", "jl-distortion", "recursion-depths", "pure-marginals", "coarse-jl")


def asked_of(name: str, **changes: Any) -> Asked:
    """What a quick study asks, changed."""
    asked = project().quick_studies[f"quick/{name}"].asked
    assert asked is not None
    grid = {key: tuple(changes.get(key, values)) for key, values in asked.grid.items()}
    settings = {key: changes.get(key, value) for key, value in asked.settings.items()}
    return Asked(grid, settings, asked.seed, asked.definitions)


def test_the_long_queries_are_longer_by_the_skew_and_a_fixed_answer_errs_by_one() -> None:
    scales = lengths(7, 2, 5.0)
    np.testing.assert_allclose(scales[:2] / scales[2:4], 5.0)
    Q = scales[:, None] * signs(7, 9, np.random.default_rng(0))
    np.testing.assert_allclose(np.linalg.norm(Q, axis=0) / math.sqrt(7), 1.0)


def test_choices_are_made_on_noise_that_does_not_measure_them() -> None:
    errors = np.ones((2, 3, 6, 4))
    errors[0, :, :3] = 0.5  # release 0 looks better, though it is not
    errors[0, 1, :3] = 0.6
    errors[0, 1, 3:] = 7.0
    errors[0, 1, 3:, 0] += np.array([0.0, 0.4, -0.4])
    best = chosen(errors)
    assert (best.release, best.data) == (0, 1)
    assert best.error.value == pytest.approx(7.0)
    assert best.error.low < 7.0 < best.error.high


def test_widths_under_gaussian_matrices_are_the_exact_ones() -> None:
    frame = quick("jl-distortion")
    rows = frame[(frame["matrix"] == "gaussian") & (frame["quantity"] == jl_distortion.RATIO)]
    for row in rows.itertuples():
        assert row.factor == pytest.approx(width_factor(row.jl_rows))
        assert row.low * 0.98 <= row.factor <= row.high * 1.02


def test_a_row_whose_gaussian_width_is_wrong_breaks_the_rule() -> None:
    row = {
        "ratio_to_width": 0.9,
        "low": 0.89,
        "high": 0.91,
        "factor": 0.9,
        "matrix": "gaussian",
        "quantity": "width-ratio",
    }
    assert jl_distortion.check(row) is None
    assert jl_distortion.check(row | {"factor": 0.95}) is not None
    assert jl_distortion.check(row | {"factor": 0.95, "matrix": "signs"}) is None


def test_signs_of_one_row_move_the_distances_of_a_histogram_as_computed_by_hand() -> None:
    # |±1 ∓ 1| is 0 or 2 and the distance √2: the largest change is √2, if not all signs are equal.
    frame = quick("jl-distortion")
    at = (frame["workload"] == "histogram") & (frame["matrix"] == "signs") & (frame["jl_rows"] == 1)
    np.testing.assert_allclose(frame[at]["distortion"], math.sqrt(2.0))


def test_one_subspace_is_one_mechanism_whatever_the_form_and_shares() -> None:
    frame = quick("recursion-depths")
    for _, rows in frame[frame["depth"] == 1].groupby("skew"):
        assert rows["low"].max() <= rows["high"].min()


def test_recursion_pays_on_skewed_bodies_with_good_shares() -> None:
    frame = quick("recursion-depths").set_index(["skew", "subspace_noise", "split", "depth"])["scaled_root_mean_square"]
    skew = max(frame.index.get_level_values("skew"))
    assert frame[skew, "projected", "best-shares", 3] < 0.95 * frame[skew, "projected", "best-shares", 1]
    assert frame[1.0, "projected", "best-shares", 3] > 1.05 * frame[1.0, "projected", "best-shares", 1]
    assert frame[skew, "projected", "equal-shares", 3] > 1.05 * frame[skew, "projected", "best-shares", 3]


def test_the_interval_is_students_over_independent_ladders() -> None:
    found = [(1.0, 2.0, [3.0, 2.0]), (3.0, 12.0, [3.0, 6.0])]
    row = recursion_depths._over_ladders(found, 4)
    half = float(stdtrit(1, 1.0 - recursion_depths.LEVEL / 2))  # the two means are ±1 around theirs: s/√2 = 1
    assert row["scaled_error"] == pytest.approx(1.0)
    assert row["high"] == pytest.approx((2.0 + half) / 2.0)
    assert row["low"] == 0.0
    assert row["scaled_root_mean_square"] == pytest.approx(math.sqrt(7.0 / 4.0))
    assert row["best_depth"] == 1.0


def test_one_ladder_without_a_number_is_a_reason_for_all() -> None:
    assert recursion_depths._over_ladders([(1.0, 2.0, [3.0]), Unavailable("why")], 4) == {"reason": "why"}


def test_the_mean_norm_is_at_most_the_root_mean_square() -> None:
    frame = quick("recursion-depths")
    assert (frame["low"] <= frame["scaled_root_mean_square"] * 1.05).all()


def test_depths_that_a_body_does_not_have_give_a_reason() -> None:
    asked = asked_of("recursion-depths", skew=(4.0,), depth=(2, 9), subspace_noise=("projected",))
    rows = list(recursion_depths.measure(asked))
    assert [("reason" in row) for row in rows] == [False, True, False, True]


def test_the_frobenius_ball_errs_by_its_closed_form() -> None:
    frame = quick("pure-covariance")
    rows = frame[(frame["mechanism"] == "l2-ball") & (frame["statistic"] == "second-moment")]
    size = rows["coordinates"] * (rows["coordinates"] + 1) / 2
    exact = size * math.sqrt(2.0) / rows["users_times_epsilon"]  # E‖Z‖ = D·diam/(Nε)
    for column in ("frobenius_error", "low", "high"):
        np.testing.assert_allclose(rows[column], exact, rtol=1e-14)


def test_projections_do_no_harm_and_a_fixed_answer_bounds_them() -> None:
    frame = quick("pure-covariance").set_index(["coordinates", "statistic", "mechanism", "users_times_epsilon"])
    for name in ("trace", "l2-ball"):
        raw = frame.xs(("second-moment", name), level=("statistic", "mechanism"))
        projected = frame.xs(("second-moment", f"{name}-projection"), level=("statistic", "mechanism"))
        assert (projected["low"] <= raw["high"]).all()
        assert (projected["frobenius_error"] <= math.sqrt(2.0)).all()


def test_large_second_moments_are_not_lifted_and_say_so() -> None:
    asked = asked_of("pure-covariance", coordinates=(64,), mechanism=(pure_covariance.JL,), users_times_epsilon=(16.0,))
    rows = list(pure_covariance.EXPERIMENT.measure(asked))
    assert [row["statistic"] for row in rows] == ["second-moment", "covariance"]
    assert "lift" in rows[0]["reason"]
    assert "projection alone" in rows[1]["reason"]


def test_errors_on_marginals_are_above_the_bound_and_laplace_has_one_constant() -> None:
    frame = quick("pure-marginals")
    assert (frame["high"] >= frame["lower_bound"]).all()
    assert (frame["lower_bound"] > 0.0).all()
    laplace = frame[frame["mechanism"] == "laplace"]
    for _, rows in laplace.groupby("workload"):
        constants = rows["l2_error"] * rows["users_times_epsilon"]
        np.testing.assert_allclose(constants, constants.iloc[0])
    # 2-way marginals of types that differ in one of 4 attributes are √6 apart, more than half of the diameter √12.
    kept = frame[frame["mechanism"] == pure_marginals.COARSE].groupby("workload")["net_size"]
    assert (kept.min()["2-way-marginals"], kept.max()["2-way-marginals"]) == (16, 16)
    assert 1 <= kept.min()["conjunctions-2"] <= kept.max()["conjunctions-2"] < 16


@pytest.mark.slow
def test_the_cells_of_the_phase_diagram_are_ratios_of_errors() -> None:
    frame = quick("pure-skew")
    cells = skew_figure.ratios(frame, "k-norm-projection")
    errors = frame.set_index(["skew", "users_times_epsilon", "mechanism"])["l2_error"]
    for skew in cells.index:
        for product in cells.columns:
            expected = errors[skew, product, "jl"] / errors[skew, product, "k-norm-projection"]
            assert cells.loc[skew, product] == pytest.approx(expected)


def test_the_caption_counts_cells_and_clear_ones() -> None:
    frame = quick("pure-skew").copy()
    jl = frame["mechanism"] == "jl"
    frame[["l2_error", "low", "high"]] = np.where(jl, 1.0, 2.0)[:, None] + np.array([0.0, -0.1, 0.1])
    assert "in 6 of 6 cells, in 6 of them" in said("", "", frame)
    frame["high"] = 3.0
    assert "in 6 of 6 cells, in 0 of them" in said("", "", frame)
    frame.loc[jl, "l2_error"] = 2.05
    assert "in 0 of 6 cells" in said("", "", frame)


def test_one_chain_serves_every_skew() -> None:
    # Scaled noise of the plain body has the gauge that noise of the scaled body must have: Gamma(k)/ε.
    from factormech.mechanisms.pure.bodies import body_of
    from factormech.mechanisms.pure.bouncy import Gauge

    rng = np.random.default_rng(1)
    Q, z, scales = signs(4, 12, rng), rng.standard_normal((5, 4)), lengths(4, 1, 9.0)
    plain, scaled = body_of(Q), body_of(scales[:, None] * Q)
    before, after = Gauge(plain).of(z), Gauge(scaled).of(z * scales)
    np.testing.assert_allclose(after, before, rtol=1e-9)


@pytest.mark.parametrize(
    ("kind", "changes", "where"),
    [
        (pure_skew, {"rows": [4, 13]}, "rows[1]"),
        (pure_skew, {"long": 13}, "long"),
        (pure_skew, {"users_times_epsilon": (4.0, 4.5)}, "grid.users_times_epsilon[1]"),
        (recursion_depths, {"long": 6}, "long"),
        (pure_marginals, {"domain_size": (16, 32)}, "grid.domain_size"),
        (jl_distortion, {"domain_size": (16, 32)}, "grid.domain_size"),
    ],
)
def test_what_cannot_be_measured_is_refused(kind: Any, changes: dict[str, Any], where: str) -> None:
    asked = asked_of(kind.EXPERIMENT.kind, **changes)
    assert [error.name for error in kind.EXPERIMENT.refuse(asked)] == [where]


@pytest.mark.parametrize("name", every(3, STUDIES))
def test_the_figures_can_be_read_and_claim_no_worst_case(name: str) -> None:
    study = project().quick_studies[f"quick/{name}"]
    figure = figures.draw(study.kind, quick(name))
    assert_no_overlaps(figure)
    caption = said(study.title, study.caption, quick(name))
    assert "worst case" not in caption
    if name in ("pure-skew", "pure-covariance", "pure-marginals", "coarse-jl"):
        assert "worst data found" in caption


def test_nets_of_clusters_keep_one_type_each() -> None:
    from factormech.mechanisms.pure.jl import greedy_net
    from factormech.studies.coarse_jl import clustered

    Q = clustered(64, 40, 5, 1, np.random.default_rng(2))
    assert (np.count_nonzero(Q[:, :35] != Q[:, 5:], axis=0) <= 2).all()
    net = greedy_net(Q, 1.0)
    assert net.kept.tolist() == [0, 1, 2, 3, 4]
    assert net.nearest.tolist() == [i % 5 for i in range(40)]
    assert quick("coarse-jl").query("mechanism == 'coarse-jl'")["net_size"].eq(3).all()


def test_a_phase_diagram_below_its_bound_is_refused() -> None:
    row = {"l2_error": 1.0, "low": 0.9, "high": 1.1, "lower_bound": 1.05}
    assert pure.check_errors(row) is None
    assert pure.check_errors(row | {"lower_bound": 1.2}) is not None
