"""The figure of sample complexities: everything of the table is on it, and no text is cut off or covered."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from importlib import import_module
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from tests.figure_checks import assert_no_overlaps, said
from tests.tiers import every, every_pair

from factormech.errors import BadValue, UnknownName
from factormech.plots import registry, style
from factormech.plots.text import renderer_of, wrap
from factormech.studies import registry as experiments
from factormech.studies.sample_complexity import MEASURED
from factormech.tables import kinds as tables

pytestmark = pytest.mark.heavy

MakeTable = Callable[..., pd.DataFrame]


def draw(frame: pd.DataFrame, **settings: Any) -> Figure:
    return registry.draw("sample-complexity", frame, **settings)


SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)
EVERYTHING = {name: 0.5 + 0.2 * i for i, name in enumerate(style.MECHANISMS)}
LONG = {
    "my_university.groups.research.extraordinarily-long-plugin-name-of-somebody-who-likes-long-names": 0.9,
    "a plugin whose name has $dollars$ in it": 0.8,
    "x" * 150: 0.7,
}
CASES: dict[str, dict[str, Any]] = {
    "paper, figure 1": {},
    "paper, figure 2": {"epsilons": (1.0,), "domain_sizes": SIZES},
    "one workload": {"workloads": {"prefix": 1.0}, "mechanisms": EVERYTHING},
    "twelve workloads": {
        "workloads": {f"at-most-{i}-way-marginals-01": 2.0**i for i in range(12)},
        "epsilons": (1.0,),
        "domain_sizes": SIZES,
    },
    "long names": {
        "mechanisms": {**EVERYTHING, **LONG},
        "workloads": {"w" * 70: 1.0, "a-" * 40: 1.0, "prefix": 1.0},
    },
    "a single x": {"epsilons": (1.0,), "mechanisms": EVERYTHING},
    "a single x, one mechanism": {
        "epsilons": (1.0,),
        "mechanisms": {"hadamard": 1.0},
        "workloads": {"prefix": 1.0},
    },
    "uneven sizes": {"epsilons": (1.0,), "domain_sizes": (2, 3, 8, 12, 15, 16, 100, 2**20)},
    "nearly flat": {"epsilons": (1.0, 1.05), "workloads": {"prefix": 1.0, "histogram": 1.0}},
    "seeds": {"workloads": {"prefix": 1.0}, "seeds": (0, 1, 2)},
}


@pytest.fixture(params=every(3, CASES), scope="module")
def case(request: pytest.FixtureRequest, make_table: MakeTable) -> tuple[pd.DataFrame, Figure]:
    frame = make_table(**CASES[request.param])
    return frame, draw(frame)


@pytest.mark.slow
def test_no_text_is_cut_off_or_covers_another(case: tuple[pd.DataFrame, Figure]) -> None:
    assert_no_overlaps(case[1])


def test_no_curve_runs_through_a_note(case: tuple[pd.DataFrame, Figure]) -> None:
    assert_notes_are_clear(case[1])


def assert_notes_are_clear(figure: Figure) -> None:
    for ax in figure.axes:
        for note in ax.texts:
            box = note.get_window_extent(renderer_of(figure))
            for line in ax.lines:
                xy = ax.transData.transform(line.get_xydata())
                for start, end in itertools.pairwise(xy[np.isfinite(xy).all(axis=1)]):
                    points = start + np.linspace(0, 1, 300)[:, None] * (end - start)
                    inside = (points > [box.x0, box.y0]) & (points < [box.x1, box.y1])
                    assert not inside.all(axis=1).any(), note.get_text()


def test_a_note_gets_room_where_every_corner_has_curves() -> None:
    point = {"study": "t", "workload": "w", "domain_size": 8, "seed": 0, "metric": "mse", "alpha": 0.01}
    rows: list[dict[str, Any]] = []
    for e in (1.0, 2.0, 3.0):
        for name, value in (
            ("hadamard", 10**e),
            ("fourier", 10 ** (4 - e)),
            ("rappor", 1e3),
            ("hierarchical", 10.0),
        ):
            measured = dict.fromkeys(MEASURED, value)
            rows.append({**point, "epsilon": e, "mechanism": name, "status": "ok", **measured})
    for e in (1.0, 2.0):
        gone = {"status": "refused", "reason": "no"}
        rows.append({**point, "epsilon": e, "mechanism": "fourier-3", **gone})
    rows.append({**rows[-3], "mechanism": "fourier-3"})
    figure = draw(tables.from_rows(rows))
    assert figure.axes[0].texts[0].get_text().replace("\n", " ") == "refused: Fourier (≤ 3-way) [ε ≤ 2]"
    assert figure.axes[0].get_ylim()[1] > 1.6e3  # without a note 1.33e3
    assert_notes_are_clear(figure)
    assert_no_overlaps(figure)


def test_every_number_is_drawn_inside_the_panel(case: tuple[pd.DataFrame, Figure]) -> None:
    frame, figure = case
    medians = frame[frame["status"] == "ok"].groupby(["workload", "mechanism", "epsilon", "domain_size"])
    wanted = medians["sample_complexity"].median()
    shown = sum(
        np.isfinite(line.get_ydata()).sum()
        for ax in figure.axes
        for line in ax.lines
        if line.get_marker() not in ("", "None", "_")
    )
    assert shown == len(wanted)
    for ax, (_, values) in zip(figure.axes, wanted.groupby("workload", sort=False), strict=False):
        bottom, top = ax.get_ylim()
        assert bottom < top
        drawn = np.concatenate([np.asarray(line.get_ydata()) for line in ax.lines])
        mechanisms = drawn[np.isfinite(drawn)]
        assert mechanisms.max() <= top
        assert len(values)


def test_curves_are_the_tables_numbers(make_table: MakeTable) -> None:
    frame = make_table({"prefix": 1.0})
    ax = draw(frame).axes[0]
    for name in ("randomized-response", "hierarchical"):
        rows = frame[frame["mechanism"] == name]
        colour = style.MECHANISMS[name].colour
        line = next(line for line in ax.lines if line.get_color() == colour and line.get_marker() in "o>")
        np.testing.assert_array_equal(line.get_xdata(), rows["epsilon"])
        np.testing.assert_array_equal(line.get_ydata(), rows["sample_complexity"])


@pytest.mark.slow
def test_what_is_missing_is_named(make_table: MakeTable) -> None:
    figure = draw(make_table())
    legend = [t.get_text() for t in figure.legends[0].get_texts()]
    drawn = [style.MECHANISMS[n].label for n in style.MECHANISMS if n in figure_mechanisms() and n != "rappor"]
    assert legend == [
        *drawn,
        "Lower bound, unbiased (SVD, McKenna et al. Cor. 5.7)",
        "Lower bound, unbiased (centred SVD)",
        "Below the stronger bound for unbiased strategies",
    ]
    footer = [t.get_text() for t in figure.texts]
    assert "not drawn: RAPPOR — needs 2^512 outputs, more than 65536" in footer
    notes = {ax.get_title(): [t.get_text() for t in ax.texts] for ax in figure.axes}
    refused = "refused: Fourier (≤ 3-way)\nvacuous: SVD bound [ε ≥ 3.5]"
    assert notes["Prefix"] == [refused]
    assert notes["3-Way Marginals"] == ["vacuous: SVD bound [ε ≥ 3.5]"]


def figure_mechanisms() -> list[str]:
    return [n for n in style.MECHANISMS if not n.startswith(("matrix", "adaptive", "optimised"))]


def test_partly_missing_says_where(make_table: MakeTable) -> None:
    figure = draw(make_table({"prefix": 1.0}, epsilons=(1.0,), domain_sizes=SIZES))
    note = figure.axes[0].texts[0].get_text().replace("\n", " ")
    assert note == "unavailable: RAPPOR [n ≥ 32]"


@pytest.mark.slow
def test_rows_that_the_table_lacks_are_named(make_table: MakeTable) -> None:
    frame = make_table({"prefix": 1.0, "histogram": 1.0}, {"hadamard": 1.0, "hierarchical": 2.0})
    lost = frame[~((frame["mechanism"] == "hadamard") & (frame["workload"] == "prefix") & (frame["epsilon"] > 1.9))]
    notes = draw(lost).axes[0].texts[0].get_text().replace("\n", " ")
    assert "not in the table: Hadamard (block) [ε ≥ 2]" in notes


def test_zero_is_named_on_the_logarithmic_axis() -> None:
    point = {
        "study": "t",
        "workload": "total",
        "domain_size": 8,
        "seed": 0,
        "metric": "mse",
        "alpha": 0.01,
        "status": "ok",
    }
    rows = [
        {**point, "epsilon": e, "mechanism": name, **dict.fromkeys(MEASURED, value)}
        for e in (1.0, 2.0)
        for name, value in (("hadamard", 0.0), ("fourier", 3.0 if e == 1 else 0.0))
    ]
    figure = draw(tables.from_rows(rows))
    assert "not drawn: Hadamard (block) — its variance is 0" in figure.texts[-1].get_text()
    assert figure.axes[0].texts[0].get_text().replace("\n", " ") == "needs no users: Fourier (all parities) [ε = 2]"


@pytest.mark.parametrize("bound", [0.0, -5.0, 1e-30, 40.0])
def test_odd_bounds(bound: float) -> None:
    point = {"study": "t", "workload": "w", "domain_size": 8, "seed": 0, "metric": "mse", "alpha": 0.01}
    rows = []
    for e in (1.0, 2.0, 3.0):
        near = {**point, "epsilon": e, "lower_bound": bound if e == 2 else -1.0, "bound_name": "svd"}
        rows.append({**near, "mechanism": "hadamard", "status": "ok", **dict.fromkeys(MEASURED, 50.0)})
        rows.append({**near, "mechanism": "lower-bound", "status": "bound"})
    ax = draw(tables.from_rows(rows)).axes[0]
    where = "[ε = 1, 3]" if bound > 0 else ""
    assert ax.texts[0].get_text().replace("\n", " ") == f"vacuous: lower bound {where}".strip()
    bottom, top = ax.get_ylim()
    assert 1 < bottom < 50 < top < 1000
    alone = [line for line in ax.lines if line.get_marker() == "_" and len(line.get_xdata())]
    assert len(alone) == (1 if bound > 0 else 0)


def test_nothing_available_at_all() -> None:
    point = {"study": "t", "workload": "w", "domain_size": 8, "seed": 0, "metric": "mse", "alpha": 0.01, "epsilon": 1.0}
    frame = tables.from_rows([{**point, "mechanism": "rappor", "status": "unavailable", "reason": "too large"}])
    assert [t.get_text() for t in draw(frame).texts][-1] == "not drawn: RAPPOR — too large"
    assert "No mechanism has a number to draw." in said("", "", frame)


@pytest.mark.parametrize(
    ("count", "shape"), every_pair(2, [(1, (1, 1)), (2, (1, 2)), (4, (2, 2)), (5, (2, 3)), (6, (2, 3)), (12, (4, 3))])
)
def test_panels(make_table: MakeTable, count: int, shape: tuple[int, int]) -> None:
    frame = make_table({f"w{i}": 1.0 for i in range(count)}, {"hadamard": 1.0}, (1.0, 2.0))
    figure = draw(frame)
    assert len(figure.axes) == count
    assert figure.axes[0].get_gridspec().get_geometry() == shape


def test_axes(make_table: MakeTable) -> None:
    figure = draw(make_table({"prefix": 1.0}, {"hadamard": 1.0}, (1.0,), SIZES))
    ax = figure.axes[0]
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert [t.get_text() for t in ax.get_xticklabels()] == [str(n) for n in SIZES]
    assert {"domain size n", "users needed for mean squared error 0.01 per query"} <= {
        t.get_text() for t in figure.texts
    }
    ax = draw(make_table({"prefix": 1.0}, {"hadamard": 1.0})).axes[0]
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "log")
    assert plt.get_fignums() == []


def test_no_number_of_axes_is_refused(make_table: MakeTable) -> None:
    frame = make_table({"prefix": 1.0}, {"hadamard": 1.0}, (1.0, 2.0), (8, 16, 32))
    figure = draw(pd.concat([frame, frame.assign(alpha=0.1)]))
    assert {ax.get_title() for ax in figure.axes} == {
        f"Prefix, ε = {e}, α = {alpha}" for e in (1, 2) for alpha in (0.01, 0.1)
    }
    assert "users needed for mean squared error α per query" in [t.get_text() for t in figure.texts]
    with pytest.raises(BadValue, match="at least one row"):
        draw(frame[0:0])


def marks(ax: Any, marker: str) -> list[list[float]]:
    return [list(line.get_ydata()) for line in ax.lines if line.get_marker() == marker]


def test_the_study_says_what_is_x_panel_and_curve(make_table: MakeTable) -> None:
    frame = make_table({"prefix": 1.0}, {"hadamard": 1.0, "rappor": 2.0}, (1.0, 2.0), (8, 16, 32))
    figure = draw(frame, figure={"x": "domain_size", "panels": ["mechanism"], "series": ["epsilon"]})
    assert [ax.get_title() for ax in figure.axes] == ["Hadamard (block)", "RAPPOR"]
    rows = frame[(frame["mechanism"] == "hadamard") & (frame["epsilon"] == 2.0)]
    legend = [t.get_text() for t in figure.legends[0].get_texts()]
    assert legend[:2] == ["ε = 1", "ε = 2"]
    drawn = [list(line.get_ydata()) for line in figure.axes[0].lines]
    assert rows["sample_complexity"].tolist() in drawn
    bounds = frame[(frame["status"] == "bound") & (frame["lower_bound"] > 0)]
    least = bounds.groupby(["bound_name", "domain_size"])["lower_bound"].min().groupby(level=1).max()
    [shade] = [path.get_paths()[0] for path in figure.axes[0].collections]
    assert float(shade.vertices[:, 1].max()) == pytest.approx(float(least.max()))
    lines = [t.get_text() for t in figure.texts]
    assert "a lower bound is the least of those for all values of ε" in lines


def test_a_summary_is_the_statistic_with_its_quantiles(make_table: MakeTable) -> None:
    frame = make_table({"prefix": 1.0}, {"hadamard": 1.0}, seeds=(0, 1, 5))
    how = {"summarise": {"seed": "mean"}, "quantiles": [0.25, 0.75]}
    [line] = marks(draw(frame, figure=how).axes[0], "^")
    rows = frame[frame["mechanism"] == "hadamard"].groupby("epsilon")["sample_complexity"]
    np.testing.assert_allclose(line, rows.mean())
    told = registry.words("sample-complexity", "T", "", frame, figure=how)
    assert "Lines are means over 3 seeds, bands reach from the 0.25 to the 0.75 quantile." in told.caption


def test_width_and_size_of_text_are_the_studys(make_table: MakeTable) -> None:
    frame = make_table({"prefix": 1.0}, {"hadamard": 1.0})
    figure = draw(frame, figure={"width": 4.0, "font_size": 6.0})
    assert figure.get_figwidth() == 4.0
    assert figure.legends[0].get_texts()[0].get_fontsize() == 6.0
    assert figure.axes[0].xaxis.get_ticklabels()[0].get_fontsize() == 5.5
    assert draw(frame).get_figwidth() == 5.2


@pytest.mark.slow
def test_panels_beyond_what_a_page_holds_are_left_to_the_table(make_table: MakeTable) -> None:
    sizes = tuple(2**k for k in range(2, 15))
    frame = make_table({"prefix": 1.0, "histogram": 1.0}, {"hadamard": 1.0}, tuple(range(1, 15)), sizes)
    figure = draw(frame)
    assert [ax.get_title() for ax in figure.axes][:3] == [f"Prefix, n = {n}" for n in (4, 256, 16384)]
    footer = [t.get_text() for t in figure.texts]
    assert "of 13 values of n, the panels show 4, 256, 16384; the table has all" in footer


def test_seeds_are_medians_with_bands(make_table: MakeTable) -> None:
    frame = make_table({"prefix": 1.0}, {"hadamard": 1.0}, seeds=(0, 1, 5))
    ax = draw(frame).axes[0]
    line = next(line for line in ax.lines if line.get_marker() == "^")
    middle = frame[(frame["mechanism"] == "hadamard") & (frame["seed"] == 1)]["sample_complexity"]
    np.testing.assert_allclose(line.get_ydata(), middle)
    assert len(ax.collections) == 2  # impossible, and one band


def test_registry(make_table: MakeTable) -> None:
    for kind in experiments.names():
        module = import_module(registry.module_of(kind))
        assert callable(module.draw), kind
        assert callable(module.words), kind
    assert registry.module_of("sample-complexity") == "factormech.plots.compared"
    assert isinstance(registry.draw("sample-complexity", make_table({"prefix": 1.0})), Figure)
    with pytest.raises(UnknownName, match="did you mean 'sample-complexity'"):
        registry.draw("sample-complexty", make_table({"prefix": 1.0}))


def test_an_equation_is_not_broken() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = Figure()
    FigureCanvasAgg(figure)
    assert wrap(figure, "vacuous: the bound [ε = 4]", 1.2, 8).split("\n")[-1] == "[ε = 4]"


def test_wrap_fits_and_keeps_every_letter() -> None:
    figure = Figure()
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    text = "Some words, " + "x" * 200 + " a-hyphenated-name_with_underscores $5 end"
    lines = wrap(figure, text, 1.0, 8).replace(r"\$", "$").split("\n")
    assert "".join("".join(lines).split()) == "".join(text.split())
    for line in lines:
        box = figure.text(0, 0, line.replace("$", r"\$"), fontsize=8).get_window_extent(renderer_of(figure))
        assert box.width <= 1.0 * figure.dpi + 1


# --- captions


def test_caption_says_what_is_drawn_and_missing(make_table: MakeTable) -> None:
    text = said("Figure 1 of McKenna et al., 2020", "Fewer is better", make_table())
    assert text.startswith("Figure 1 of McKenna et al., 2020: users needed for mean squared error 0.01")
    for part in (
        "ε from 0.5 to 4, with n = 512",
        "Fewer is better.",
        "Hadamard (Table 1); Hierarchical (block Hadamard)",
        "Not drawn: RAPPOR (needs 2^512 outputs, more than 65536).",
        "Fourier (≤ 3-way) is missing for Histogram, Prefix, All Ranges, All Marginals (refused:",
        "Corollary 5.7); it is 0 or less, which says nothing, for every workload at ε ≥ 3.5.",
        "Lower bound, unbiased (centred SVD): ",
    ):
        assert part in text, part
    assert "\n" not in text
    assert text.count("outside the strategy's row space") == 1


def test_caption_of_the_other_axis(make_table: MakeTable) -> None:
    text = said("T", "", make_table({"prefix": 1.0}, epsilons=(1.0,), domain_sizes=SIZES, seeds=(0, 1)))
    assert "domain size n from 8 to 1024, with ε = 1" in text
    assert "RAPPOR is missing for Prefix at n ≥ 32 (unavailable: needs 2^32 outputs" in text
    assert "medians over 2 seeds" in text
