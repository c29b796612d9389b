"""The studies of lower bounds: numbers against closed forms and oracles, what is refused, figures without overlaps."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from factormech.bounds.central.line import least_noise
from factormech.bounds.central.width import maximum_width, minimum_width, prefix_maximum_width
from factormech.plots import registry as figures
from factormech.privacy.gaussian import gaussian_noise_multiplier
from factormech.studies import registry
from factormech.studies.measures.hard_pairs import averaged, hard_test, pairs_of
from factormech.studies.noise_floor import half_delta
from factormech.workloads.registry import create
from tests.bounds.hard.oracles import exact_advantage
from tests.figure_checks import assert_no_overlaps, said
from tests.studies import project, quick, refusals, rows_of
from tests.tiers import every

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[2]
STUDIES = (
    "noise-floor",
    "central-bounds",
    "prefix-growth",
    "parity-growth",
    "corollary-growth",
    "threshold-growth",
    "polytope-width",
    "sensitivity-polytope",
    "hard-distributions",
    "hard-distributions-told-apart",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", every(3, reversed(STUDIES)))
def test_figures_and_captions(name: str) -> None:
    frame = quick(name)
    kind = registry.experiment(project().studies[name].kind)
    figure = figures.draw(kind.kind, frame)
    assert_no_overlaps(figure)
    told = said("Title", "Words.", frame)
    assert told.startswith("Title: ")
    assert " Words. " in told
    assert "\n" not in told
    assert "nan" not in told


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_covers_its_quick_run(name: str) -> None:
    """The whole study has every workload and mechanism of the quick one, so that the gallery's captions fit both."""
    study, small = project().studies[name].asked, project().quick_studies[f"quick/{name}"].asked
    assert study is not None
    assert small is not None
    for axis in ("workload", "family", "body"):
        assert set(small.grid.get(axis, ())) <= set(study.grid.get(axis, ()))


# The least noise.


def test_pure_noise_is_between_its_ends() -> None:
    for row in rows_of("noise-floor", epsilon=(0.3, 2.0), delta=(0.0,)):
        b = math.exp(-row["epsilon"])
        if row["shifts"] == "unit":
            exact = 2.0 * b / (1.0 - b) ** 2
        else:
            exact = (b + (b * (1.0 + b) / 2.0) ** (2.0 / 3.0)) / (1.0 - b) ** 2
        assert row["least_noise"] <= math.sqrt(exact) * (1 + 1e-12)
        assert row["least_noise_upper"] >= math.sqrt(exact) * (1 - 1e-12)
        assert row["least_noise_upper"] / row["least_noise"] < 1.0 + 1e-9
        assert "ratio_to_bound" not in row


def test_noise_falls_in_delta_and_rises_with_shifts() -> None:
    rows = rows_of("noise-floor", epsilon=(1.0,), delta=(0.0, 1e-6, 0.05))
    unit, interval = ([row for row in rows if row["shifts"] == shifts] for shifts in ("unit", "interval"))
    assert [row["least_noise"] for row in unit] == sorted((row["least_noise"] for row in unit), reverse=True)
    assert all(i["least_noise"] >= u["least_noise"] for u, i in zip(unit, interval, strict=True))
    assert unit[1]["least_noise"] == pytest.approx(1.3568713, abs=1e-6)
    assert unit[1]["ratio_to_bound"] == pytest.approx(
        gaussian_noise_multiplier(1.0, 1e-6) / unit[1]["least_noise"], rel=1e-12
    )


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_half_delta_is_where_half_is_left(epsilon: float) -> None:
    delta, pure = half_delta(epsilon), least_noise(epsilon, 0.0).lower
    assert math.sqrt(least_noise(epsilon, delta).lower / pure) == pytest.approx(0.5, rel=1e-6)
    assert least_noise(epsilon, delta * 1.01).upper < 0.25 * pure


def test_noise_below_the_floor_is_refused() -> None:
    check = registry.experiment("noise-floor").check
    row = {"least_noise": 1.0, "least_noise_upper": 1.1, "delta": 1e-6, "analytic_sigma": 2.0}
    assert check(row) is None
    assert check(row | {"analytic_sigma": 0.9}) is not None
    assert check(row | {"least_noise_upper": 0.9}) is not None


# Central bounds.


def test_the_histogram_has_closed_forms() -> None:
    """Γ_p of the identity is n^{1/p}; the trace bound is the same."""
    rows = rows_of("central-bounds", workload=("histogram",), domain_size=(9,), p=(2.0, math.inf), epsilon=(1.0,))
    sigma, least = gaussian_noise_multiplier(1.0, 1e-6), math.sqrt(least_noise(1.0, 1e-6).lower)
    for row, norm, moment in zip(rows, (3.0, 1.0), (1.0, math.sqrt(2.0 * math.log(9.0) + 2.0)), strict=True):
        assert row["lower_bound"] == pytest.approx(least * norm, rel=1e-9)
        assert row["trace_lower"] == pytest.approx(least * norm, rel=1e-9)
        assert row["total_error"] == pytest.approx(sigma * moment * norm, rel=1e-9)
        assert row["ratio_to_bound"] == pytest.approx(sigma * moment / least, rel=1e-9)


def test_solved_norms_agree_with_closed_forms() -> None:
    """The general study and the published families bound the same numbers."""
    solved = rows_of(
        "central-bounds", workload=("prefix", "2-way-parities"), domain_size=(16,), p=(2.0,), epsilon=(1.0,)
    )
    closed = [
        *rows_of("published-bounds", family=("prefix",), size=(16,), p=(2.0,), epsilon=(1.0,)),
        *rows_of("published-bounds", family=("2-way-parities",), size=(4,), p=(2.0,), epsilon=(1.0,)),
    ]
    for a, b in zip(solved, closed, strict=True):
        assert a["queries"] == b["queries"]
        assert a["scaled_norm_lower"] <= b["scaled_norm_upper"] * (1 + 1e-12)
        assert b["scaled_norm_lower"] <= a["scaled_norm_upper"] * (1 + 1e-12)


def test_growth_is_scaled_to_the_largest_size() -> None:
    sizes = (4096, 4, 64)
    for settings, power in (({}, 1.0), ({"statements": "edmonds2020"}, 0.5)):
        rows = rows_of("published-bounds", settings, family=("prefix",), size=sizes, p=(math.inf,), epsilon=(1.0,))
        assert rows[0]["growth_scaled"] == pytest.approx(rows[0]["lower_bound"], rel=1e-12)
        for row, T in zip(rows, sizes, strict=True):
            assert row["growth_scaled"] / rows[0]["lower_bound"] == pytest.approx(
                math.log(T) / math.log(4096), rel=1e-12
            )
            assert row["growth"] == pytest.approx(math.log(T) ** (1.0 / power), rel=1e-12)


def test_families_without_such_a_statement_are_refused() -> None:
    both = {"p": (2.0,), "epsilon": (1.0,)}
    assert not refusals("published-bounds", family=("prefix", "2-way-parities"), size=(4,), **both)
    assert "be a family of liu2024" in refusals("published-bounds", family=("2-way-marginals",), size=(4,), **both)[0]
    assert "be from 3 to" in refusals("published-bounds", family=("3-way-parities",), size=(2,), **both)[0]
    assert "be from 2 to" in refusals("published-bounds", family=("prefix",), size=(1,), **both)[0]
    edmonds = {"statements": "edmonds2020"}
    assert not refusals("published-bounds", edmonds, family=("at-most-2-way-parities",), size=(4,), **both)
    assert refusals("published-bounds", edmonds, family=("2-way-parities",), size=(4,), **both)
    assert "be at least 2" in refusals("central-bounds", workload=("prefix",), domain_size=(4,), p=(1.0,))[0]


def test_errors_in_the_wrong_order_are_refused() -> None:
    check = registry.experiment("central-bounds").check
    assert check({"total_error": 2.0, "lower_bound": 1.0, "trace_lower": 0.5}) is None
    assert check({"total_error": 0.9, "lower_bound": 1.0, "trace_lower": 0.5}) is not None
    assert check({"total_error": 2.0, "lower_bound": 1.0, "trace_lower": 2.5}) is not None


# Widths and pictures.


@pytest.mark.parametrize("seed", range(4))
def test_the_maximum_width_against_many_directions(seed: int) -> None:
    """No direction of the cube's surface is below the lower end, and a fine grid comes near the upper one."""
    W = np.random.default_rng(seed).standard_normal((2, 5))
    t = np.linspace(-1.0, 1.0, 20001)
    theta = np.concatenate([np.column_stack([np.ones_like(t), t]), np.column_stack([t, np.ones_like(t)])])
    least = 2.0 * float(np.abs(theta @ W).max(axis=1).min())
    low, high = maximum_width(W)
    assert low <= least * (1 + 1e-12)
    assert high == pytest.approx(least, abs=2e-3)
    assert 0.0 <= high - low < 1e-9
    assert minimum_width(W).lower <= high


@pytest.mark.parametrize("n", [1, 2, 3, 8, 16])
def test_widths_of_prefix_sums(n: int) -> None:
    low, high = maximum_width(create("prefix", n))
    assert low <= prefix_maximum_width(n) <= high
    assert high - low < 1e-9


def test_a_width_off_its_closed_form_is_refused() -> None:
    check = registry.experiment("polytope-width").check
    assert check({"width_lower": 1.0, "width_upper": 1.1, "closed_form": 1.05}) is None
    assert check({"width_lower": 1.0, "width_upper": 1.1, "closed_form": 1.2}) is not None
    assert check({"width_lower": 1.0, "width_upper": 1.1}) is None


def test_more_queries_than_types_have_no_width() -> None:
    rows = rows_of("polytope-width", workload=("all-ranges",), domain_size=(8,))
    assert [(row["width_lower"], row["width_upper"]) for row in rows] == [(0.0, 0.0)] * 2


def test_the_picture_is_the_geometry() -> None:
    frame = quick("sensitivity-polytope")
    for body, rows in frame.groupby("body"):
        columns = ["x", "y", "z"][: 2 if body == "prefix/2" else 3]
        points = {name: part[columns].to_numpy(dtype=float) for name, part in rows.groupby("element")}
        R, theta = points["ellipsoid"].T, points["direction"][0]
        inside = np.linalg.norm(np.linalg.solve(R, points["corner"].T), axis=0)
        assert inside.max() <= 1.0 + 1e-6
        assert np.linalg.norm(theta) == pytest.approx(1.0)
        reach = float(np.abs(points["corner"] @ theta).max())
        assert 2.0 * reach == pytest.approx(float(rows["width_upper"].iloc[0]), rel=1e-9)
        corners = {tuple(point) for point in points["corner"]}
        assert {tuple(point) for point in points["facet"]} <= corners
        assert float(rows["gamma_2"].iloc[0]) == pytest.approx(float(np.linalg.norm(R, axis=1).max()))
    assert frame[frame["body"] == "prefix/2"]["gamma_2"].iloc[0] == pytest.approx(2.0 / math.sqrt(3.0), rel=1e-6)


def test_bodies_that_cannot_be_drawn_are_refused() -> None:
    assert not refusals("sensitivity-polytope", body=("prefix/2", "1-way-parities/8"))
    assert "has 4" in refusals("sensitivity-polytope", body=("prefix/4",))[0]
    assert "linearly independent" in refusals("sensitivity-polytope", body=("all-ranges/2",))[0]


# Hard pairs.


def test_pairs_are_distributions_with_the_gaps_told() -> None:
    frame = quick("hard-distributions")
    for (name, v), rows in frame.groupby(["workload", "query"]):
        rows = rows.sort_values("type")
        W = create(str(name), 8)
        answers = [
            float(W.answer(rows[c].to_numpy(dtype=float))[v]) for c in ("first_probability", "second_probability")
        ]
        assert rows["first_probability"].sum() == pytest.approx(1.0)
        assert rows["second_probability"].sum() == pytest.approx(1.0)
        assert answers[0] - answers[1] == pytest.approx(float(rows["answer_gap"].iloc[0]))
        assert np.all(np.minimum(rows["first_probability"], rows["second_probability"]) == 0.0)


@pytest.mark.parametrize("form", ["mixed", "centre"])
def test_mixed_pairs_have_equal_gaps(form: str) -> None:
    W = create("prefix", 6)
    assert 2.0 * pairs_of(W, 0.1, form).half_gaps(W) == pytest.approx(0.2, rel=1e-6)


def channels(types: int, epsilon: float) -> list[np.ndarray]:
    """Every channel of two reports whose likelihoods are e^{±ε} apart: the extreme ones of two reports."""
    p = math.exp(epsilon) / (1.0 + math.exp(epsilon))
    signs = itertools.product((p, 1.0 - p), repeat=types)
    return [np.array([row, 1.0 - np.array(row)]) for row in signs]


@pytest.mark.parametrize("name", ["prefix", "parities"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_no_channel_passes_the_limit(name: str, epsilon: float) -> None:
    test = hard_test(create(name, 4), 0.1)
    for users in (1, 7):
        best = max(float(test.pairs.weights @ exact_advantage(test.pairs, Q, users)) for Q in channels(4, epsilon))
        assert best <= test.limit(epsilon, users)


def test_the_limit_is_reached_by_one_user_of_one_query() -> None:
    """With one pair, randomized response attains the limit as θ and ε → 0: no constant is lost."""
    test = hard_test(np.array([[0.0, 1.0]]), 1e-3)
    best = max(float(exact_advantage(test.pairs, Q, 1)[0]) for Q in channels(2, 0.02))
    assert test.limit(0.02, 1) * (1.0 - 1e-4) <= best <= test.limit(0.02, 1)


def test_simulated_advantages_hold_the_exact_ones() -> None:
    grid = {"workload": ("prefix",), "domain_size": (4,), "epsilon": (1.0,), "users": (3, 6)}
    rows = rows_of("distinguishing-advantage", {"mechanisms": ["randomized-response"], "half_gap": 0.2}, **grid)
    test = hard_test(create("prefix", 4), 0.2)
    Q = (np.ones((4, 4)) + np.eye(4) * (math.e - 1.0)) / (3.0 + math.e)
    for row in rows:
        exact = float(test.pairs.weights @ exact_advantage(test.pairs, Q, row["users"]))
        assert row["low"] <= exact <= row["high"]
        assert row["high"] - row["low"] <= 2.0 * 0.02 * (1 + 1e-12)
        assert exact <= row["limit"]
    assert rows == rows_of("distinguishing-advantage", {"mechanisms": ["randomized-response"], "half_gap": 0.2}, **grid)


def test_mechanisms_that_cannot_be_drawn_say_why() -> None:
    grid = {"workload": ("prefix",), "domain_size": (8,), "epsilon": (1.0,), "users": (10,)}
    (row,) = rows_of("distinguishing-advantage", {"mechanisms": ["matrix-l2-gaussian"]}, **grid)
    assert row["reason"]
    assert "advantage" not in row
    check = registry.experiment("distinguishing-advantage").check
    assert check({"low": 0.1, "advantage": 0.2, "high": 0.3, "limit": 0.25}) is None
    assert check({"low": 0.26, "advantage": 0.28, "high": 0.3, "limit": 0.25}) is not None


def test_the_mean_over_symmetries_is_no_worse_a_certificate() -> None:
    """It is the same for all permutations and flips of bits, keeps W•U, and has no larger ‖U‖₁."""
    W = create("2-way-marginals", 16).matrix()
    U = np.random.default_rng(0).normal(size=W.shape)
    mean = averaged(U, W)
    assert (W * mean).sum() == pytest.approx((W * U).sum())
    assert np.abs(mean).sum() < np.abs(U).sum()
    np.testing.assert_allclose(averaged(mean, W), mean)
    # Cells of 2-way marginals are all alike: a type matters by how many of its two bits agree with the cell's.
    assert len(np.unique(np.round(mean, 12))) == 3
    alone = np.random.default_rng(1).normal(size=(15, 16))
    np.testing.assert_array_equal(averaged(alone, create("prefix", 16).matrix()[:15]), alone)


def test_the_map_shows_the_first_above_and_the_second_below() -> None:
    from factormech.plots import hard_pairs

    frame = quick("hard-distributions")
    figure = hard_pairs.draw(frame)
    image = figure.axes[0].images[0].get_array()
    rows = frame[frame["workload"] == frame["workload"].iloc[0]]
    for _, row in rows.iterrows():
        value = float(image[row["query"], row["type"]])
        assert np.sign(value) == np.sign(row["first_probability"] - row["second_probability"])
