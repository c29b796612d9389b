"""Errors on random queries: of each mechanism against Nε, and of JL release against its rows ℓ."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from factormech.plots import captions, curves, declared, form, style
from factormech.plots.canvas import empty_figure
from factormech.studies import pure
from factormech.studies.base import Experiment
from factormech.studies.drawn import Curves
from factormech.tables.curve_view import curve_view
from factormech.tables.panels import number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "words"]

CURVES = Curves(
    panel="shape",
    x="users_times_epsilon",
    y="l2_error",
    series="mechanism",
    low="low",
    high="high",
    bars="a 99.9 % interval",
    below="lower_bound",
    floor="bound for ε-private mechanisms",
    x_scale="log",
    text=(
        f"{pure.MEANING} With a projection or JL release it is that of the worst data found among vertices, sparse and "
        f"uniform data; {pure.IN_THE_LIMIT}"
    ),
)


# The second row: JL release alone, with every ℓ.
SWEPT = replace(CURVES, x="jl_rows", series="users_times_epsilon", below=None, x_scale="log2")
MOST_PRODUCTS = 4


def _kind(shown: Curves = CURVES) -> Experiment:
    from factormech.studies.pure_random_queries import EXPERIMENT

    return replace(EXPERIMENT, figure=shown)


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of errors on random queries."""
    swept = _swept(frame)
    if swept["jl_rows"].nunique() < 2:
        return declared.draw(_shown(frame), experiment=_kind())
    tables = [curve_view(_shown(frame), _kind()), curve_view(swept, _kind(SWEPT))]
    parts = [(panel, table) for table in tables for panel in table.panels]
    columns = len(tables[0].panels)
    titles = [f"{panel.title}: JL release" if table is tables[1] else panel.title for panel, table in parts]
    with style.context():
        figure, panels = _canvas(columns)
        panels = [*panels[:columns], *panels[columns : columns + len(tables[1].panels)]]
        for ax, (panel, table) in zip(panels, parts, strict=True):
            declared.draw_panel(ax, panel, table)
        for ax, (_, table) in zip(panels, parts, strict=True):
            ax.set_xlabel(table.x_label)
        _explain(panels[columns], declared.entries(tables[1]))
        curves.finish(
            figure,
            panels,
            titles,
            declared.entries(tables[0]),
            x_label="",
            y_label=tables[0].column("l2_error").label,
            footer=tables[0].missing(),
        )
    return figure


def _explain(ax: Axes, entries: list[curves.Entry]) -> None:
    """The legend of the second row, in its first panel."""
    shown, names = zip(*entries, strict=True)
    ax.legend(shown, names, loc="lower left", fontsize=form.small_size())


def _canvas(columns: int) -> tuple[Figure, list[Axes]]:
    """Two rows of panels."""
    figure = empty_figure(style.width(min(columns, 3)), 2 * curves.PANEL_HEIGHTS[min(columns, 3)] + 0.2)
    grid = figure.add_gridspec(2, columns)
    return figure, [figure.add_subplot(grid[divmod(i, columns)]) for i in range(2 * columns)]


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""

    caption, notes = declared.sentences(title, text, _shown(frame), experiment=_kind())
    swept = frame[(frame["mechanism"] == "jl") & frame["l2_error"].notna()]
    if not len(swept):
        return captions.words(caption, notes)
    rows = ", ".join(str(ell) for ell in sorted(set(swept["jl_rows"])))
    best = ", ".join(str(ell) for ell in sorted(set(swept.loc[swept["is_best"] == 1, "jl_rows"])))
    drawn = f"JL release has ℓ of {rows}, of which {best} are drawn as the best in the first row"
    return captions.words([*caption[:2], _second(frame), *caption[2:]], [_against_projection(frame), drawn, *notes])


def _against_projection(frame: pd.DataFrame) -> str:
    """In how many places JL release errs less than K-norm noise with the projection, and for certain."""
    at = ["shape", "users_times_epsilon"]
    shown = frame[(frame["is_best"] == 1) & frame["l2_error"].notna()].set_index(at)
    other = shown.loc[shown["mechanism"] == pure.PROJECTED, ["l2_error", "low", "high"]].add_suffix("_other")
    both = shown[shown["mechanism"] == "jl"].join(other, how="inner")
    if not len(both):
        return ""
    less = int((both["l2_error"] < both["l2_error_other"]).sum())
    certain = int((both["high"] < both["low_other"]).sum())
    worse = int((both["low"] > both["high_other"]).sum())
    return (
        f"Of {len(both)} places with both, JL release errs less than K-norm noise with the projection in {less}, and "
        f"by more than the intervals in {certain}; it errs more by more than the intervals in {worse}."
    )


def _second(frame: pd.DataFrame) -> str:
    """The second row in words."""
    swept = _swept(frame)
    if swept["jl_rows"].nunique() < 2:
        return ""
    products = ", ".join(number(value) for value in sorted(set(swept["users_times_epsilon"])))
    return f"Second row: JL release against its rows ℓ, on the worst data found for each, for Nε of {products}."


def _swept(frame: pd.DataFrame) -> pd.DataFrame:
    """JL release with every ℓ at some of the Nε."""
    found = frame[(frame["mechanism"] == "jl") & frame["l2_error"].notna()]
    products = sorted(set(found["users_times_epsilon"]))
    step = max(1, -(-len(products) // MOST_PRODUCTS))
    return _named(found[found["users_times_epsilon"].isin(products[::step])])


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the first row of panels."""
    return _named(frame[frame["is_best"] == 1])


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    """Panels named in words."""
    rows = frame.copy()
    names = zip(rows["queries"], rows["domain_size"], strict=True)
    rows["shape"] = [f"k = {k}, n = {n}" for k, n in names]
    return rows
