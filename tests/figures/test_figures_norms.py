"""Figures and tables of norms and of prefix factorizations: the table's numbers, what is known, and no covered text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from tests.figure_checks import assert_no_overlaps, said
from tests.tiers import every

from factormech.errors import BadValue
from factormech.plots import registry, style, text
from factormech.tables import kinds as tables
from factormech.tables.norm_view import norm_view

pytestmark = pytest.mark.heavy

SIX = ("histogram", "prefix", "all-ranges", "all-marginals", "3-way-marginals", "at-most-3-way-parities")


def norm_row(norm: str, n: int, alpha: float = math.nan, scale: float = 1.0) -> dict[str, Any]:
    """A norm that grows with n, falls with α, and has a closed form at γ₂."""
    value = scale * math.sqrt(n) * (1.0 if math.isnan(alpha) else max(1.0 - alpha, 0.0))
    value *= {"gamma-f": 0.8, "gamma-2-shifted": 0.7, "eta": 0.5}.get(norm, 1.0)
    row = {
        "domain_size": n,
        "seed": 0,
        "queries": n,
        "norm": norm,
        "entry_error": alpha,
        "lower": value,
        "upper": value * (1 + 1e-4),
    }
    row |= {"method": "chain", "stopped": "gap", "status": "ok"}
    if norm == "gamma-2":
        row |= {"known_lower": value, "known_upper": value * (1 + 1e-12), "known": "closed form"}
    return row


def norms(
    names: tuple[str, ...] = ("gamma-f", "gamma-p4", "gamma-2"),
    sizes: tuple[int, ...] = (8, 16, 32),
    alphas: tuple[float, ...] = (),
    workloads: tuple[str, ...] = SIX,
    scale: float = 1.0,
) -> pd.DataFrame:
    rows = []
    for workload in workloads:
        for n in sizes:
            for name in names:
                tolerant = name in ("gamma-2-approximate", "gamma-2-shifted", "eta")
                for alpha in alphas if tolerant else (math.nan,):
                    row = {"study": "s", "workload": workload, **norm_row(name, n, alpha, scale)}
                    if workload == "prefix" and name == "gamma-2":
                        row |= {
                            "known_upper": row["upper"] * 1.2,
                            "known": "Mathias",
                            "trace_bound": row["lower"] / 1.1,
                        }
                    if workload == "histogram" and name == "eta":
                        numbers = dict.fromkeys(("lower", "upper", "known_lower", "known_upper"), math.nan)
                        row |= numbers | {"known": "", "status": "unavailable", "reason": "entries are no labels"}
                    rows.append(row)
    return tables.from_rows(rows, "norms")


def prefix_errors(
    sizes: tuple[int, ...] = (4, 64, 1024), orders: tuple[float, ...] = (2.0, 8.0, math.inf)
) -> pd.DataFrame:
    rows = []
    for order in orders:
        for n in sizes:
            best = 1.0 + math.log(n) / math.pi
            for name, factor in (("optimal", 1.0), ("square-root", 1.1), ("binary-tree", 1.4), ("identity", n**0.4)):
                row = {"study": "s", "domain_size": n, "p": order, "factorization": name, "lower_bound": best}
                row |= {
                    "order_p_error": best * factor,
                    "ratio_to_bound": best * factor / best,
                    "trace_bound": 0.97 * best,
                }
                rows.append(row | {"logarithm": math.log(n) / math.pi})
    return tables.from_rows(rows, "prefix-factorizations")


APPROXIMATE = ("gamma-2-approximate", "gamma-2-shifted")
CASES: dict[str, Callable[[], pd.DataFrame]] = {
    "six workloads": norms,
    "one workload, large": lambda: norms(("gamma-f",), (8, 4096, 131072), workloads=("prefix",), scale=50.0),
    "flat": lambda: norms(("gamma-2",), (8, 9), workloads=("histogram", "prefix")),
    "over alpha": lambda: norms(APPROXIMATE, (16,), (0.0, 0.1, 0.5, 1.0)),
    "concepts": lambda: norms(("gamma-2", *APPROXIMATE, "eta"), (4, 8), (0.0, 0.1), SIX[:5]),
    "one point": lambda: norms(("gamma-2", "eta"), (8,), (0.1,)),
    "prefix": prefix_errors,
    "two orders": lambda: prefix_errors((2, 4, 8, 2**20), (2.0, 4.0)),
}


@pytest.fixture(params=every(3, CASES), scope="module")
def case(request: pytest.FixtureRequest) -> tuple[pd.DataFrame, Figure]:
    frame = CASES[request.param]()
    return frame, registry.draw(tables.kind_of(frame), frame)


def test_no_text_is_cut_off_or_covers_another(case: tuple[pd.DataFrame, Figure]) -> None:
    assert_no_overlaps(case[1])


def test_everything_drawn_is_inside_and_every_axis_has_labels(case: tuple[pd.DataFrame, Figure]) -> None:
    for ax in case[1].axes:
        low, high = ax.get_ylim()
        for line in ax.lines:
            y = np.asarray(line.get_ydata(), dtype=float)
            assert np.all((low <= y) & (y <= high) | np.isnan(y) | (line.get_marker() in ("", "None")))
        assert len([t for t in ax.get_yticklabels() if t.get_text()]) >= 2


def test_every_table_has_a_caption(case: tuple[pd.DataFrame, Figure]) -> None:
    frame, _ = case
    words = said("Title", "Text", frame)
    assert words.startswith("Title: ")
    assert " Text. " in words


def gamma(subscript: str, letter: str = r"\mathregular{γ}") -> str:
    """A norm as a figure sets it: with a real subscript."""
    return rf"${letter}_{{\mathregular{{{subscript}}}}}$"


def marked(ax: Axes, look: style.Style) -> np.ndarray:
    found = [line for line in ax.lines if line.get_marker() == look.marker and line.get_color() == look.colour]
    return np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in found])


def test_curves_are_the_tables_numbers_and_crosses_the_closed_forms() -> None:
    frame = norms()
    looks = style.norm_styles([(name, None) for name in ("gamma-f", "gamma-p4", "gamma-2")])
    figure = registry.draw("norms", frame)
    for ax, (workload, part) in zip(figure.axes, frame.groupby("workload", sort=False), strict=True):
        for (name, _), look in looks.items():
            np.testing.assert_array_equal(marked(ax, look), part.loc[part["norm"] == name, "upper"])
        crosses = [np.asarray(line.get_ydata()) for line in ax.lines if line.get_marker() == "+"]
        if workload == "prefix":
            assert not crosses
            assert len(ax.collections) == 4  # three intervals and the published band
        else:
            np.testing.assert_array_equal(crosses[0], part.loc[part["norm"] == "gamma-2", "known_upper"])
    assert [t.get_text() for t in figure.legends[0].get_texts()] == [
        *(f"{gamma('F')}(W)", f"{gamma('(4)')}(W)", f"{gamma('2')}(W)"),
        *("Closed form", "Interval (Mathias)", "Trace bound ‖W‖⁎/√(kN)"),
    ]


def test_the_sandwich_is_drawn_over_alpha() -> None:
    frame = norms(APPROXIMATE, (16,), (0.0, 0.5, 1.0), ("prefix",))
    [ax] = registry.draw("norms", frame).axes
    [dashed] = [line for line in ax.lines if line.get_color() == style.GREY]
    shifted = frame[frame["norm"] == "gamma-2-shifted"]
    np.testing.assert_allclose(dashed.get_ydata(), 2 * shifted["upper"] + 1 + shifted["entry_error"])
    legend = [t.get_text() for t in registry.draw("norms", frame).legends[0].get_texts()]
    shifted_gamma = gamma("2", r"\hat{\mathregular{γ}}")
    assert legend == [*(f"{g}(W, α)" for g in (gamma("2"), shifted_gamma)), f"2{shifted_gamma}(W, α) + 1 + α"]
    words = said("T", "", frame)
    assert "T: norms against error α of every entry from 0 to 1, with n = 16; workloads: Prefix." in words
    assert norm_view(norms(APPROXIMATE, (16, 32), (0.0, 0.5), ("prefix",))).axis == "domain_size"


def test_norms_are_measured_as_they_are_set() -> None:
    """Beside a dollar that is one, too: a line is as wide on the figure as it was when it was broken."""
    figure = registry.draw("norms", norms(("gamma-f",), workloads=("prefix",)))
    words = "γF(W) costs 1$, γ₍₁₂₎(W) more than γ̂₂(W, 0.1); γ alone, and Γ₂, are words. " * 2
    with style.context():
        lines = text.wrap(figure, words, 2.0, 8.0)
        widths = [figure.text(0, 0, line, fontsize=8.0).get_window_extent().width for line in lines.split("\n")]
    assert 0.6 * 2.0 * figure.dpi < max(widths) <= 2.0 * figure.dpi + 1.0
    assert " ".join(lines.split("\n")).startswith(f"{gamma('F')}(W) costs 1\\$, {gamma('(12)')}(W) more")
    assert "γ alone, and Γ₂," in " ".join(lines.split("\n"))


def test_a_hat_stands_over_its_letter_in_every_format() -> None:
    """The line is higher by a hat, which a formula sets in PDF, SVG and PNG alike; it is measured as it is set."""
    figure = registry.draw("norms", norms(("gamma-f",), workloads=("prefix",)))
    with style.context():
        line = text.wrap(figure, "not mixed: R̂ = 1.025 > 1.02", 9.0, 8.0)
        assert line == r"not mixed: $\hat{\mathregular{R}}$ = 1.025 > 1.02"
        plain, hatted = (figure.text(0, 0, one, fontsize=8.0).get_window_extent() for one in ("not mixed: R", line))
        assert hatted.height > plain.height + 0.5
        words = "not mixed: R̂ = 1.025 > 1.02 " * 9
        lines = text.wrap(figure, words, 2.0, 8.0).split("\n")
        widths = [figure.text(0, 0, one, fontsize=8.0).get_window_extent().width for one in lines]
    assert max(widths) <= 2.0 * figure.dpi + 1.0


def test_what_is_missing_is_told_everywhere() -> None:
    frame = norms(("gamma-2", "eta"), (4, 8), (0.1,))
    words = said("T", "", frame)
    assert "Histogram: η(C, α) missing — entries are no labels." in words
    figure = registry.draw("norms", frame)
    assert any("missing — entries are no labels" in t.get_text() for t in figure.texts)
    assert "entries are no labels" in tables.latex(frame)


def test_a_factorization_far_above_the_others_leaves_its_panel() -> None:
    frame = prefix_errors()
    for ax, (_, part) in zip(registry.draw("prefix-factorizations", frame).axes, frame.groupby("p"), strict=True):
        for name, look in style.FACTORIZATIONS.items():
            errors = part.loc[part["factorization"] == name, "order_p_error"].to_numpy()
            shown = marked(ax, look)
            inside = np.isfinite(shown)
            np.testing.assert_array_equal(shown[inside], errors[inside])
            assert inside.all() == (name != "identity")
    words = said("T", "", frame)
    assert "Square root 1.1, 1.1, 1.1; Binary tree (least squares) 1.4" in words
    assert "p = ∞ (largest)" in words


BAD = [
    ({"lower": 9.0}, "be at most upper"),
    ({"upper": math.nan}, "be at least 0 where the status is ok"),
    ({"known_lower": 9.0, "known_upper": 9.0, "known": "closed form"}, "be at most upper"),
    ({"known_lower": 1.0, "known_upper": 1.0, "known": "closed form"}, "be at most known_upper"),
    ({"known_lower": 1.0}, "only there"),
    ({"trace_bound": 9.0}, "be at most upper"),
    ({"entry_error": -0.1}, "be at least 0, or empty"),
    ({"status": "fine"}, "be one of ok, unavailable"),
]


@pytest.mark.parametrize(("change", "rule"), BAD)
def test_a_table_that_contradicts_itself_is_refused(change: dict[str, Any], rule: str) -> None:
    row = {"study": "s", "workload": "prefix", **norm_row("gamma-f", 4)}
    assert len(tables.from_rows([row], "norms")) == 1
    with pytest.raises(BadValue, match=re.escape(rule)):
        tables.from_rows([row | change], "norms")


def test_prefix_errors_below_the_optimum_are_refused() -> None:
    row = prefix_errors((4,), (2.0,)).to_dict("records")[0]
    for change, rule in (
        ({"order_p_error": 0.9 * row["order_p_error"], "ratio_to_bound": 0.9}, "no factorization is below the optimum"),
        ({"ratio_to_bound": 1.5}, "be order_p_error over lower_bound"),
        ({"p": 1.0}, "be at least 2"),
    ):
        with pytest.raises(BadValue, match=rule):
            tables.from_rows([row | change], "prefix-factorizations")
