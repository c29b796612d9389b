"""Studies of local releases: names, rows that agree with closed forms and bounds, and what the figures show."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri

from factormech import labels
from factormech.errors import BadValue, Unavailable, UnknownName
from factormech.mechanisms.local.factorized import registry
from factormech.mechanisms.local.factorized import release as drawn
from factormech.mechanisms.local.factorized.factors import factorization
from factormech.mechanisms.local.release_errors import sample_complexity
from factormech.plots import registry as figures
from factormech.plots import style
from factormech.studies import local_approximation, local_error, local_release, local_releases
from factormech.studies.asked import Asked
from factormech.studies.base import Experiment
from factormech.tables.rows import part_of, table_of
from factormech.workloads.registry import create
from tests.figure_checks import assert_no_overlaps, said

pytestmark = pytest.mark.heavy

MILLIONTH = 1e-6


def table(kind: Experiment, asked: Asked) -> pd.DataFrame:
    frames = {name: part_of(kind, "study", kind.measure(part)) for name, part in kind.parts(asked).items()}
    return table_of(kind, "study", asked, frames)


def released(mechanisms: list[str], **grid: Any) -> Asked:
    axes = {"domain_size": (4, 8), "workload": ("prefix",), "epsilon": (1.0,), "alpha": (0.1,)} | grid
    return Asked(axes, {"mechanisms": mechanisms, "delta": 1e-6})


@cache
def release_table() -> pd.DataFrame:
    names = ["randomized-response", "polynomial/half-sphere", "optimal/half-sphere", "shifted/priv-unit"]
    return table(local_release.EXPERIMENT, released(names, workload=("prefix", "2-way-marginals"), epsilon=(1.0, 2.0)))


@cache
def error_table() -> pd.DataFrame:
    axes = {
        "workload": ("prefix", "2-way-marginals"),
        "domain_size": (8,),
        "epsilon": (1.0,),
        "alpha": (0.1,),
        "population": ("zipf",),
        "users": (300, 3000),
    }
    names = ["randomized-response", "one-query", "dyadic-tree/half-sphere", "shifted/priv-unit"]
    settings = {"mechanisms": names, "delta": 1e-6, "relative_width": 0.1, "level": 0.01}
    return table(local_error.EXPERIMENT, Asked(axes, settings))


@cache
def approximation_table() -> pd.DataFrame:
    axes = {
        "workload": ("prefix", "at-most-2-way-parities"),
        "domain_size": (4,),
        "epsilon": (1.0,),
        "alpha": (0.1, 0.4),
        "bias_share": (0.0, 0.25, 0.5, 0.75),
    }
    return table(local_approximation.EXPERIMENT, Asked(axes, {"randomizer": "half-sphere"}))


# Names -------------------------------------------------------------------------------------------------------


def test_every_mechanism_has_a_label_and_a_look() -> None:
    """Of all names, and not only of those that a study of the project has."""
    for name in local_releases.names():
        assert style.SERIES[name].label == labels.SERIES[name] != name
    looks = {name: style.SERIES[name] for name in local_releases.names()}
    assert len({(look.colour, look.marker, look.line) for look in looks.values()}) == len(looks)
    for kind in (local_release, local_error):
        markers = {local_releases.apart(name)[0]: looks[name].marker for name in kind.DEFAULT}
        assert len(set(markers.values())) == len(markers)
    assert len({labels.SERIES[name] for name in local_releases.names()}) == len(looks)


def test_the_code_of_a_name_is_all_that_makes_it() -> None:
    from factormech.code import Sources
    from factormech.studies.registry import module_of

    needed = {"sources", "factors", "releases", "approximate", "splitting", "release", "certificate", "cap_randomizers"}
    found = Sources().code_of(module_of("local-release"), local_releases.module_of("shifted/priv-unit")).files
    assert needed <= {path.stem for path in found}
    assert local_releases.module_of("rappor") == "factormech.mechanisms.local.subsets"


@pytest.mark.parametrize("name", ["shifted", "shifted/laplace", "one-query/half-sphere", "rappor/priv-unit", ""])
def test_names_without_their_randomizer_are_refused(name: str) -> None:
    with pytest.raises(UnknownName):
        local_releases.check_name(name)


# Users who are drawn -----------------------------------------------------------------------------------------


def test_the_worst_variance_over_distributions_is_attained() -> None:
    """For two types it is the largest value of a parabola; on a grid of distributions nothing is above it."""
    W = create("prefix", 4)
    release = registry.build("shifted", W, 1.0, alpha=0.1)
    assert not isinstance(release, Unavailable)
    S, w = release.query_variances, release.workload + release.bias
    p = np.random.default_rng(0).dirichlet(np.full(4, 0.4), size=20000).T
    variances = S @ p + w**2 @ p - (w @ p) ** 2
    worst = drawn.worst_variances(release)
    assert (variances.max(axis=1) <= worst * (1 + 1e-12) + 1e-12).all()
    assert (variances.max(axis=1) >= worst * (1 - 2e-3)).all()
    assert (worst <= S.max(axis=1) + np.ptp(w, axis=1) ** 2 / 4 + 1e-9).all()


def test_users_who_are_drawn_err_by_no_more_than_predicted() -> None:
    """Simulated: a data set is drawn, then its reports; the mean error from the distribution's answers is below α."""
    release = registry.build("dyadic-tree", create("prefix", 4), 4.0)
    assert not isinstance(release, Unavailable)
    alpha, rng = 0.1, np.random.default_rng(1)
    n = drawn.predicted_users(release, alpha)
    assert n > release.predicted_users(alpha)
    law = np.array([0.5, 0.0, 0.0, 0.5])
    errors = [
        np.abs(release.estimates(rng.multinomial(n, law), 1, rng)[0] - release.workload @ law).max() for _ in range(400)
    ]
    half = -ndtri(MILLIONTH / 2) * np.std(errors) / math.sqrt(len(errors))
    assert np.mean(errors) - half <= alpha
    assert np.mean(errors) + half >= 0.5 * alpha


def test_what_is_as_far_from_the_workload_as_the_accuracy_is_refused() -> None:
    W = create("prefix", 4).matrix()
    far = factorization(W, np.eye(4), 0.9 * W, distance=0.1)
    release = registry.release_of("far", far, 1.0)
    assert drawn.guaranteed_users(release, 0.12) >= drawn.predicted_users(release, 0.12)
    for users in (drawn.predicted_users, drawn.guaranteed_users):
        with pytest.raises(BadValue, match="be above the distance"):
            users(release, 0.1)


# Rows --------------------------------------------------------------------------------------------------------


def test_delta_is_the_mechanisms_own() -> None:
    W = create("prefix", 4)
    assert sample_complexity(W, 1.0, 0.1, "matrix-l2-gaussian")["delta"] == 1e-9
    assert sample_complexity(W, 1.0, 0.1, "shifted", randomizer="gaussian", delta=1e-5)["delta"] == 1e-5
    assert sample_complexity(W, 1.0, 0.1, "shifted")["delta"] == 0.0
    assert math.isnan(sample_complexity(W, 1.0, 0.1, "polynomial")["delta"])


def test_only_pure_mechanisms_stand_above_a_bound() -> None:
    frame = table(
        local_release.EXPERIMENT,
        released(["shifted/half-sphere", "optimal/gaussian", "matrix-l2-gaussian"], domain_size=(4,)),
    ).set_index("mechanism")
    assert frame.loc["shifted/half-sphere", "lower_bound"] > 0
    assert frame.loc[["optimal/gaussian", "matrix-l2-gaussian"], "lower_bound"].isna().all()
    assert frame["delta"].tolist() == [0.0, 1e-6, 1e-9]


@pytest.mark.slow
def test_upper_numbers_are_above_the_bound_and_in_order() -> None:
    frame = release_table()
    run = frame[frame["reason"] == ""]
    assert (run["lower_bound"] <= run["guaranteed_drawn"]).all()
    assert (run["predicted_users"] <= run["predicted_drawn"]).all()
    assert (run["guaranteed_users"] <= run["guaranteed_drawn"]).all()
    assert set(frame.loc[frame["reason"] != "", "mechanism"]) == {"polynomial/half-sphere"}
    broken = run.iloc[0].to_dict() | {"lower_bound": 1e9}
    assert local_release.check(broken) == ("guaranteed_drawn", "be at least lower_bound")


def test_an_accuracy_of_constants_is_a_reason() -> None:
    frame = table(local_release.EXPERIMENT, released(["optimal/half-sphere"], alpha=(0.5,)))
    assert frame["reason"].tolist() == ["constants err by 0.5 at most"] * 2


def test_measured_errors_agree_with_exact_ones_at_one_in_a_million() -> None:
    """All rows together: exact squares, and the predicted mean of the largest errors within the intervals' reach."""
    every = error_table()
    frame = every[every["reason"] == ""]
    assert 0 < len(frame) < len(every)
    limit = -ndtri(MILLIONTH / (2 * len(frame)))
    assert (frame["l2_deviations"].abs() <= limit).all()
    assert frame["l2_deviations"].abs().max() > 0.01
    # The interval of 0.01 is 2.6 standard errors or more; normal noise stands for sums of 300 reports.
    room = 0.5 * (frame["measured_high"] - frame["measured_low"]) * 2.5 + 0.03 * frame["measured_error"]
    assert ((frame["measured_error"] - frame["gaussian_error"]).abs() <= room).all()
    assert (frame["measured_low"] <= frame["guaranteed_error"]).all()
    assert (frame["trials"] > 1).all()


def test_intervals_are_as_narrow_as_asked() -> None:
    frame = error_table()
    stopped = frame[frame["stopped"] == "width"]
    assert len(stopped)
    assert (0.5 * (stopped["measured_high"] - stopped["measured_low"]) <= 0.1 * stopped["measured_error"]).all()


def test_the_best_distance_beats_the_grid_and_half_alpha() -> None:
    frame = approximation_table()
    for (_, alpha, _), part in frame.groupby(["panel", "alpha", "factors"]):
        best = part.loc[part["choice"] == local_approximation.BEST, "predicted_users"]
        assert len(best) == 1
        assert best.iloc[0] == part["predicted_users"].min()
        half = part[(part["choice"] == "grid") & (part["bias_share"] == 0.5)]["predicted_users"].iloc[0]
        # The less the error asked for, the less an approximation may take of it: at 0.1, half of it costs 1.7 times.
        assert half > (1.7 if alpha == 0.1 else 1.0) * best.iloc[0]
    assert frame.groupby(["panel", "alpha"])["ratio_to_least"].min().eq(1.0).all()


def test_parities_lose_their_share_and_no_more() -> None:
    """γ₂(W, a) = (1 − a)√k for parities (all widths): users follow from the closed form of the norm."""
    frame = approximation_table()
    part = frame[(frame["workload"] == "at-most-2-way-parities") & (frame["factors"] == "approximate")]
    part = part[(part["choice"] == "grid") & (part["alpha"] == 0.4)]
    k = create("at-most-2-way-parities", 4).queries
    expected = (1 - part["bias_share"] * 0.4) * math.sqrt(k)
    assert np.allclose(part["upper"], expected, rtol=3e-3)


# Figures -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_figure_of_users_shows_the_whole_band() -> None:
    frame = release_table()
    figure = figures.draw("local-release", frame)
    assert len(figure.axes) == 4
    assert_no_overlaps(figure)
    for ax, (_, part) in zip(figure.axes, frame.groupby("panel", sort=False), strict=True):
        assert ax.get_ylim()[0] < part["lower_bound"].min()
        assert len(ax.collections) == 1
    told = said("T", "text", frame)
    assert "α = 0.1" in told
    assert "ε = 1" in told
    assert "purely ε-LDP" in told
    deltas = said("T", "text", frame.assign(delta=1e-9))
    assert "purely" not in deltas


def test_figure_of_errors_puts_marks_on_predicted_lines() -> None:
    frame = error_table()
    figure = figures.draw("local-error", frame)
    assert_no_overlaps(figure)
    ax, part = figure.axes[0], frame[frame["workload"] == "prefix"]
    marks = [line for line in ax.lines if line.get_linestyle() == "None"]
    bound, *lines = [line for line in ax.lines if line.get_linestyle() != "None"]
    np.testing.assert_array_equal(bound.get_ydata(), part.groupby("users")["lower_bound"].min())
    assert len(marks) == len(lines) == part["mechanism"].nunique()
    for mark, line in zip(marks, lines, strict=True):
        assert mark.get_color() == line.get_color()
    for line, (_, curve) in zip(lines, part.groupby("mechanism", sort=False), strict=True):
        assert line.get_ydata().tolist() == curve["gaussian_error"].tolist()
    told = said("T", "text", frame)
    assert "probability 0.99" in told
    assert "Users: zipf" in told


def test_figure_of_approximation_marks_the_least_and_half() -> None:
    frame = approximation_table()
    figure = figures.draw("local-approximation", frame)
    assert_no_overlaps(figure)
    for ax, (_, part) in zip(figure.axes, frame.groupby("panel", sort=False), strict=True):
        best = part[part["choice"] == local_approximation.BEST]
        stars = [(line.get_xdata()[0], line.get_ydata()[0]) for line in ax.lines if line.get_marker() == "*"]
        assert sorted(stars) == sorted(zip(best["bias_share"], best["ratio_to_least"], strict=True))
        assert any(list(line.get_xdata()) == [0.5, 0.5] for line in ax.lines)
    assert "times the users of the best a" in said("T", "text", frame)


def test_a_bound_that_is_missing_leaves_no_band() -> None:
    frame = release_table()
    figure = figures.draw("local-release", frame.assign(lower_bound=math.nan))
    assert all(not ax.collections for ax in figure.axes)


def test_panels_are_named_by_what_differs() -> None:
    asked = released(["one-query"], epsilon=(1.0, 2.0))
    assert local_releases.panel(asked, "prefix", epsilon=2.0, alpha=0.1) == "Prefix, ε = 2"
    assert (
        local_releases.panel(replace(asked, grid=asked.grid | {"epsilon": (1.0,)}), "prefix", epsilon=1.0) == "Prefix"
    )
