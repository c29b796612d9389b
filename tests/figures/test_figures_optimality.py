"""Figures of gaps, starts and times: the table's numbers, an axis from 1, what is missing, and no covered text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from tests.figure_checks import assert_no_overlaps, said
from tests.tiers import every

from factormech.plots import registry, style
from factormech.plots.declared import CENSORED
from factormech.tables import kinds as tables

pytestmark = pytest.mark.heavy

MakeTable = Callable[..., pd.DataFrame]
SIX = ("histogram", "prefix", "all-ranges", "all-marginals", "3-way-marginals", "at-most-3-way-parities")


def ratio_row(ratio: float | str, bound: float = 4.0) -> dict[str, Any]:
    """What a mechanism's row says of its gap; a text is a reason to be refused."""
    near = {"lower_bound": bound, "bound_name": "centred-svd"}
    if isinstance(ratio, str):
        return {**near, "status": "refused", "reason": ratio}
    average, worst = ratio * bound, 1.2 * ratio * bound
    numbers = {"ratio_to_bound": average / bound, "worst_ratio": worst / bound}
    return {**near, **numbers, "average_variance": average, "worst_variance": worst, "status": "ok"}


def gaps(scale: float, mechanisms: int = 5, workloads: tuple[str, ...] = SIX) -> pd.DataFrame:
    """Mechanisms at 1 + a growing part of ``scale``; the second is refused on Prefix."""
    names = list(style.MECHANISMS)[:mechanisms]
    rows = []
    for workload in workloads:
        for epsilon in (0.5, 1.0, 2.0):
            point = {"study": "s", "workload": workload, "domain_size": 64, "epsilon": epsilon, "seed": 0}
            for i, name in enumerate(names):
                missing = i == 1 and workload == "prefix"
                found: float | str = "outside" if missing else 1 + scale * i / mechanisms
                rows.append({**point, "mechanism": name, **ratio_row(found)})
    return tables.from_rows(rows, "optimality-gap")


def starts(mechanisms: tuple[str, ...] = ("adaptive-pgd", "optimised", "matrix-l1"), n: int = 5) -> pd.DataFrame:
    rows = []
    for workload in SIX[:3]:
        for name in mechanisms:
            for factor in (2, 4, 8):
                for start in range(n):
                    point = {"study": "s", "workload": workload, "domain_size": 64, "epsilon": 1.0, "seed": 0}
                    found: float | str = "no rows" if name == "matrix-l1" else 1.05 + 0.1 / factor + 0.01 * start**2
                    row = {**point, "mechanism": name, "row_factor": factor, "start": start, **ratio_row(found)}
                    rows.append(row)
    return tables.from_rows(rows, "initialisation")


def times(gap_values: tuple[float, ...] = (1.05, 1.1, 1.2)) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    base = {"study": "s", "epsilon": 1.0, "seed": 0}
    for n in (64, 256, 1024, 4096):
        seconds = 1e-9 * n**3
        single = {"seconds": seconds, "least_seconds": 0.9 * seconds, "iterations": 15 if n <= 1024 else 3}
        at = {"quantity": "iteration", "workload": "histogram", "domain_size": n, "mechanism": "adaptive-pgd"}
        rows.append({**base, **at, **single, "status": "ok"})
    for workload in ("prefix", "all-ranges"):
        for n in (16, 32, 64, 128):
            for name in ("adaptive-pgd", "optimised", "matrix-l2"):
                for gap in gap_values:
                    at = {"quantity": "to-gap", "workload": workload, "domain_size": n, "mechanism": name, "gap": gap}
                    rows.append({**base, **at, "lower_bound": 10.0, "bound_name": "svd", **_end(name, gap, n)})
    return tables.from_rows(rows, "timing")


def _end(name: str, gap: float, n: int) -> dict[str, Any]:
    if name == "matrix-l2":
        return {"status": "unavailable", "reason": "silent"}
    end = {"final_variance": 10.8, "final_seconds": 9.0}
    if gap < 1.08:
        return {**end, "status": "not reached", "reason": "ends at 1.080 times the lower bound"}
    return {**end, "status": "ok", "seconds": 1e-6 * n**2 / (gap - 1), "iterations": 3}


CASES: dict[str, Callable[[], pd.DataFrame]] = {
    "near optimal": lambda: gaps(0.01),
    "around two": lambda: gaps(1.5),
    "thousandfold": lambda: gaps(5000.0),
    "one workload": lambda: gaps(3.0, 11, ("prefix",)),
    "starts": starts,
    "one start of one solver": lambda: starts(("adaptive-pgd",), 1),
    "times": times,
    "many gaps": lambda: times((1.01, 1.1, 1.2, 1.5, 2.0)),
}


@pytest.fixture(params=every(3, CASES), scope="module")
def case(request: pytest.FixtureRequest) -> tuple[pd.DataFrame, Figure]:
    frame = CASES[request.param]()
    return frame, registry.draw(tables.kind_of(frame), frame)


def test_no_text_is_cut_off_or_covers_another(case: tuple[pd.DataFrame, Figure]) -> None:
    assert_no_overlaps(case[1])


def test_everything_drawn_is_inside(case: tuple[pd.DataFrame, Figure]) -> None:
    for ax in case[1].axes:
        low, high = ax.get_ylim()
        left, right = ax.get_xlim()
        for line in ax.lines:
            if line.get_transform() == ax.transData:
                x, y = (np.asarray(values, dtype=float) for values in line.get_data())
                assert np.all((low <= y) & (y <= high) | np.isnan(y))
                assert np.all((left <= x) & (x <= right))


def marked(ax: Axes, name: str) -> np.ndarray:
    look = style.MECHANISMS[name]
    return np.concatenate(
        [np.asarray(line.get_ydata(), dtype=float) for line in ax.lines if line.get_marker() == look.marker]
    )


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.01, 1.5, 300.0])
def test_gaps_are_the_tables_numbers_on_an_axis_from_one(scale: float) -> None:
    frame = gaps(scale)
    for ax, (_, part) in zip(
        registry.draw("optimality-gap", frame).axes, frame.groupby("workload", sort=False), strict=True
    ):
        for name, rows in part.groupby("mechanism"):
            np.testing.assert_array_equal(marked(ax, str(name)), rows["ratio_to_bound"])
        ticks = ax.get_yticks()
        assert ax.get_yscale() == "log"
        assert ticks[0] == 1.0 > ax.get_ylim()[0] > 0.5
        assert len(ticks) >= 2
        assert [float(t.get_text()) for t in ax.get_yticklabels()] == pytest.approx(ticks)


def test_what_has_no_gap_is_told() -> None:
    frame = gaps(2.0)
    figure = registry.draw("optimality-gap", frame)
    assert [t.get_text() for t in figure.axes[1].texts] == ["refused: RAPPOR"]
    words = said("T", "c", frame)
    assert "RAPPOR is missing for Prefix (refused: outside)." in words
    assert "ε from 0.5 to 2, with n = 64" in words
    only = gaps(2.0, 2, ("prefix",))
    assert "not drawn: RAPPOR — outside" in [t.get_text() for t in registry.draw("optimality-gap", only).texts]
    assert "$\\dagger$ outside." in tables.latex(frame)


def test_every_start_is_a_point_and_medians_a_line() -> None:
    frame = starts()
    figure = registry.draw("initialisation", frame)
    ax = figure.axes[0]
    points = np.concatenate([np.ravel(line.get_ydata()) for line in ax.lines if line.get_marker() == "o"])
    shown = frame[(frame["workload"] == "histogram") & (frame["status"] == "ok")]
    np.testing.assert_array_equal(np.sort(points), np.sort(shown["worst_ratio"]))
    medians = shown[shown["mechanism"] == "optimised"].groupby("row_factor")["worst_ratio"].median()
    np.testing.assert_allclose(marked(ax, "optimised"), medians)
    assert "not drawn: Matrix mechanism (L1) — no rows" in [t.get_text() for t in figure.texts]
    assert "one of 5 random starts" in said("", "", frame)


def test_times_are_the_tables_numbers() -> None:
    frame = times()
    figure = registry.draw("timing", frame)
    assert [ax.get_title() for ax in figure.axes] == ["One iteration", "Prefix", "All Ranges"]
    single = frame[frame["quantity"] == "iteration"]
    np.testing.assert_array_equal(marked(figure.axes[0], "adaptive-pgd"), single["seconds"])
    [published] = [line for line in figure.axes[0].lines if line.get_marker() == "X"]
    assert (published.get_xdata()[0], published.get_ydata()[0]) == (4096, 139.0)
    near = frame[(frame["workload"] == "prefix") & (frame["mechanism"] == "optimised") & (frame["gap"] == 1.1)]
    np.testing.assert_allclose(marked(figure.axes[1], "optimised"), near["seconds"])
    assert "Reported in the paper" in [t.get_text() for t in figure.legends[0].get_texts()]
    words = said("T", "", frame)
    assert "mean of 15 or 3" in words
    assert "within 1.1 of a lower bound" in words
    assert "Not drawn: Matrix mechanism (L2) — silent." in words


def test_a_gap_that_was_not_reached_is_an_arrow_off_the_line() -> None:
    frame = times((1.05,))
    figure = registry.draw("timing", frame)
    for ax in figure.axes[1:]:
        arrows = [line for line in ax.lines if "uparrow" in str(line.get_marker())]
        assert {y for line in arrows for y in line.get_ydata()} == {9.0}
        assert all(line.get_linestyle() == "None" for line in arrows)
        assert not ax.collections  # no bars
    assert CENSORED in [t.get_text() for t in figure.legends[0].get_texts()]


# --- the band below the strongest bound


def test_the_band_is_the_strongest_bound_and_the_published_one_stays(make_table: MakeTable) -> None:
    frame = make_table({"prefix": 1.0})
    figure = registry.draw("sample-complexity", frame, band=True)
    assert_no_overlaps(figure)
    ax = figure.axes[0]
    bounds = frame[frame["status"] == "bound"].groupby("epsilon")["lower_bound"].max()
    [edge] = [line for line in ax.lines if line.get_color() == style.BAND_EDGE]
    np.testing.assert_array_equal(edge.get_ydata(), bounds)
    legend = [t.get_text() for t in figure.legends[0].get_texts()]
    assert "Below the bound for unbiased strategies (certified)" in legend
    assert "Lower bound, unbiased (SVD, McKenna et al. Cor. 5.7)" in legend
    assert "Lower bound, unbiased (centred SVD)" not in legend
    published = frame[frame["bound_name"].eq("svd") & frame["status"].eq("bound") & (frame["lower_bound"] > 0)]
    lines = [np.asarray(line.get_ydata()) for line in ax.lines if line.get_color() == style.GREY]
    assert any(np.array_equal(line[np.isfinite(line)], published["lower_bound"]) for line in lines)
    words = said("T", "", frame, band=True)
    assert "No unbiased linear ε-LDP strategy of any number of outputs lies in the band" in words
    assert "Corollary 5.7" in words


def test_groups_of_mechanisms_have_panels_of_their_own_over_the_bound(make_table: MakeTable) -> None:
    frame = make_table({"prefix": 1.0, "histogram": 1.0})
    names = list(dict.fromkeys(frame.loc[frame["status"] == "ok", "mechanism"]))
    groups = {"first": names[:2], "second": names[1:]}
    figure = registry.draw("sample-complexity", frame, band=True, groups=groups)
    assert_no_overlaps(figure)
    assert [ax.get_title() for ax in figure.axes] == [f"{w}: {g}" for g in groups for w in ("Prefix", "Histogram")]
    assert "Below the bound" not in " ".join(t.get_text() for t in figure.legends[0].get_texts())
    rows = frame[(frame["workload"] == "prefix") & (frame["status"] == "ok")].set_index("epsilon")
    bounds = frame[frame["status"] == "bound"].query("workload == 'prefix'").groupby("epsilon")["lower_bound"].max()
    drawn = [[np.asarray(line.get_ydata()) for line in ax.lines] for ax in figure.axes]
    for i, name in enumerate(names):
        ratios = rows[rows["mechanism"] == name]["sample_complexity"] / bounds
        seen = [any(len(y) == len(ratios) and np.allclose(y, ratios) for y in lines) for lines in (drawn[0], drawn[2])]
        assert seen == [i < 2, i > 0]
    words = said("T", "", frame, band=True, groups=groups)
    assert "mechanisms in groups: first; second" in words
    assert "is below 1" in words
