"""The figure of simulated collections: every point is drawn or told, nothing is cut off, disagreement is visible."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from tests.figure_checks import assert_no_overlaps, said
from tests.tiers import every, every_pair

from factormech.errors import BadValue
from factormech.plots import style
from factormech.plots.simulated_collection import draw

pytestmark = pytest.mark.heavy

Make = Callable[..., pd.DataFrame]
FEW = {"hadamard": 2.0, "hierarchical": 1.0, "rappor": 1.5}
CASES: dict[str, dict[str, Any]] = {
    "two by two": {},
    "one panel, one number of users": {"workloads": ("prefix",), "mechanisms": FEW, "epsilons": (1.0,), "users": (50,)},
    "populations and seeds": {"mechanisms": FEW, "populations": ("uniform", "zipf"), "seeds": (0, 1)},
    "a single budget": {"workloads": ("histogram", "prefix", "a-" * 30, "all-ranges"), "epsilons": (1.0,)},
    "four columns": {"workloads": ("prefix",), "epsilons": (0.5, 1.0, 2.0, 4.0, 5.0), "domain_sizes": (16, 64, 256)},
    "long names": {"mechanisms": {**FEW, "x" * 120: 1.0, "a plugin with $ in it": 3.0}},
}


@pytest.fixture(params=every(3, CASES), scope="module")
def case(request: pytest.FixtureRequest, make_collections: Make) -> tuple[pd.DataFrame, Figure]:
    frame = make_collections(**CASES[request.param])
    return frame, draw(frame)


def pairs(figure: Figure) -> list[tuple[Axes, Axes]]:
    return list(zip(figure.axes[::2], figure.axes[1::2], strict=True))


def markers(ax: Axes, name: str) -> np.ndarray:
    """The heights of a mechanism's markers, black ones last."""
    look = style.mechanism_styles([name])[name]
    lines = [line for line in ax.lines if line.get_marker() == look.marker and line.get_color() == look.colour]
    black = [line for line in ax.lines if line.get_marker() == look.marker and line.get_color() == style.BLACK]
    values = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in lines + black])
    return values[np.isfinite(values)]


def test_no_text_is_cut_off_or_covers_another(case: tuple[pd.DataFrame, Figure]) -> None:
    assert_no_overlaps(case[1])


def test_markers_and_ratios_are_the_tables_numbers(make_collections: Make) -> None:
    frame = make_collections(("prefix",), FEW, (1.0,), populations=("uniform", "zipf"), seeds=(3, 4))
    [(ax, strip)] = pairs(draw(frame))
    for name in FEW:
        rows = frame[(frame["mechanism"] == name) & (frame["status"] == "ok")]
        by_users = (rows["measured_error"] * rows["users"]).groupby(rows["users"]).mean()
        np.testing.assert_allclose(markers(ax, name), by_users)
        np.testing.assert_allclose(markers(strip, name), rows.groupby("users")["ratio_to_exact"].mean())
    dashes = np.concatenate([np.ravel(line.get_ydata()) for line in strip.lines if line.get_marker() == "_"])
    np.testing.assert_allclose(np.sort(dashes[np.isfinite(dashes)]), np.sort(frame["ratio_to_exact"].dropna()))


def test_intervals_are_the_hull_of_the_copies(make_collections: Make) -> None:
    frame = make_collections(("prefix",), {"hadamard": 1.0}, (1.0,), users=(100,), populations=("uniform", "zipf"))
    [(ax, strip)] = pairs(draw(frame))
    [bar] = [c for c in ax.collections if len(c.get_paths()) and len(c.get_paths()[0].vertices) == 2]
    wanted = [frame["interval_low"].min() * 100, frame["interval_high"].max() * 100]
    np.testing.assert_allclose(bar.get_paths()[0].vertices[:, 1], wanted)
    relative = [
        (frame["interval_low"] / frame["exact_error"]).min(),
        (frame["interval_high"] / frame["exact_error"]).max(),
    ]
    np.testing.assert_allclose(strip.collections[0].get_paths()[0].vertices[:, 1], relative)


def test_everything_measured_is_inside(case: tuple[pd.DataFrame, Figure]) -> None:
    for ax, strip in pairs(case[1]):
        for part in (ax, strip):
            low, high = part.get_ylim()
            left, right = part.get_xlim()
            for line in part.lines:
                # A line at a fixed x spans the panel in its own coordinates.
                if line.get_transform() != part.transData:
                    continue
                x, y = (np.asarray(values, dtype=float) for values in line.get_data())
                assert np.all((low <= y) & (y <= high) | np.isnan(y))
                assert np.all((left <= x) & (x <= right))


def test_mechanisms_stand_apart(make_collections: Make) -> None:
    [(ax, _)] = pairs(draw(make_collections(("histogram",), epsilons=(1.0,))))
    places = np.sort([line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "None"])
    assert len(places) == 9
    assert np.all(np.diff(np.log10(places)) > 0.1)
    assert places[-1] < 10 ** (2 + 1) < 10**4 * 0.11


def test_exact_is_drawn_where_nothing_was_simulated(make_collections: Make) -> None:
    figure = draw(make_collections(("histogram",), {"rappor": 1.0}, (1.0,)))
    [(ax, _)] = pairs(figure)
    lines = [line for line in ax.lines if line.get_linestyle() == "-" and len(line.get_xdata()) == 5]
    assert np.isfinite(lines[0].get_ydata()).all()
    assert len(markers(ax, "rappor")) == 2
    assert "Unavailable: RAPPOR [N = 1000000] — too many users" in footer(figure)


def test_what_is_missing_is_told(make_collections: Make) -> None:
    figure = draw(make_collections(("histogram", "prefix"), {"fourier-3": 1.0, "rappor": 1.0}, (1.0,), (16, 32)))
    lines = footer(figure)
    assert "Refused: Fourier (≤ 3-way) [Prefix] — the workload is outside the strategy's row space" in lines
    assert "Unavailable: RAPPOR [every workload at some points] — too many users; needs 2^32 outputs" in lines


def footer(figure: Figure) -> str:
    """The text below the panels, its line breaks undone."""
    return max((t.get_text() for t in figure.texts), key=len).replace("\n", " ")


def test_intervals_that_miss_are_black_and_told(make_collections: Make) -> None:
    frame = make_collections(("histogram",), FEW, (1.0,), seeds=(0, 1))
    row = (frame["mechanism"] == "hadamard") & (frame["users"] == 100) & (frame["seed"] == 1)
    off = frame.assign(interval_low=frame["interval_low"].where(~row, frame["exact_error"] * 1.0001))
    off = off.assign(measured_error=off["measured_error"].where(~row, off["exact_error"] * 1.2))
    off = off.assign(
        ratio_to_exact=off["ratio_to_exact"].where(~row, 1.2), interval_high=off["interval_high"].where(~row, math.inf)
    )
    figure = draw(off)
    for part in pairs(figure)[0]:
        black = [line for line in part.lines if line.get_marker() == "^" and line.get_color() == style.BLACK]
        assert sum(np.isfinite(line.get_ydata()).sum() for line in black) == 1
    assert "1 interval without the exact error (black): Hadamard (block) [N = 100, seed 1]" in footer(figure)
    strip = pairs(figure)[0][1]
    arrows = [line for line in strip.lines if line.get_marker() == "^" and line.get_markersize() == 2.0]
    assert any(np.isfinite(line.get_ydata()).any() for line in arrows)
    assert_no_overlaps(figure)


def test_zero_errors_are_told(make_collections: Make) -> None:
    frame = make_collections(("histogram",), FEW, (1.0,))
    free = frame["mechanism"] == "hadamard"
    empty = dict.fromkeys(("ratio_to_exact", "bias_ratio"), math.nan)
    zero = dict.fromkeys(("exact_error", "interval_low", "interval_high"), 0.0) | {
        "measured_error": 0.0,
        "z_score": 0.0,
    }
    figure = draw(frame.assign(**{c: frame[c].where(~free, v) for c, v in {**zero, **empty}.items()}))
    assert "Not drawn: Hadamard (block) — exact error 0, measured at most 0" in footer(figure)
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["Hierarchical (block Hadamard)", "RAPPOR"]


@pytest.mark.parametrize(
    ("workloads", "sizes", "epsilons", "shape", "told"),
    every_pair(
        4,
        [
            (2, 1, 3, (2, 3), ""),
            (2, 2, 3, (4, 3), ""),
            (2, 3, 3, (2, 3), "Panels show the largest domain size, n = 18, of 16, 17, 18; the verdict is on all"),
            (1, 1, 8, (1, 4), "Panels show ε = 1, 3, 6, 8 of 1, 2, 3, 4, 5, 6, 7, 8; the verdict is on all"),
            (5, 1, 4, (5, 2), "Panels show ε = 1, 4 of 1, 2, 3, 4; the verdict is on all"),
            (7, 1, 3, (3, 3), "Panels show ε = 2 of 1, 2, 3; the verdict is on all"),
            (4, 1, 1, (2, 3), ""),
        ],
    ),
)
def test_panels(
    make_collections: Make, workloads: int, sizes: int, epsilons: int, shape: tuple[int, int], told: str
) -> None:
    frame = make_collections(
        [f"w{i}" for i in range(workloads)],
        {"hadamard": 1.0},
        [float(e + 1) for e in range(epsilons)],
        [16 + i for i in range(sizes)],
        users=(10, 100),
    )
    figure = draw(frame)
    rows, columns = figure.axes[0].get_gridspec().get_geometry()
    assert (rows // 2, columns) == shape
    assert told in footer(figure)
    assert ("Panels show" in footer(figure)) == bool(told)


def test_caption_says_what_was_run_and_whether_it_agrees(make_collections: Make) -> None:
    frame = make_collections(
        mechanisms={"fourier-3": 1.0, "rappor": 1.0},
        populations=("uniform", "zipf"),
        seeds=(0, 1),
        domain_sizes=(16, 32),
    )
    text = said("Collections", "measured is exact", frame)
    assert text == said("Collections", "measured is exact", frame)
    points = (frame["status"] == "ok").sum()
    for part in (
        "Collections: N × mean squared error per query",
        "Measured is exact.",
        "with seeds 0, 1",
        "on populations uniform, zipf",
        "N = 100, 10000, 1000000",
        "each run 50 times",
        "at the two-sided level 1e-6 each",
        "All measured collections agree with the exact error.",
        "at the simultaneous level 1e-6",
        f"comparisons of {points} points",
        "simultaneous p = 1",
        "Refused: Fourier (≤ 3-way) [Prefix]",
        "Unavailable: RAPPOR",
    ):
        assert part in text, part
    assert "\n" not in text


def test_several_studies_are_refused(make_collections: Make) -> None:
    frame = make_collections(("prefix",), FEW)
    with pytest.raises(BadValue, match="draw one study at a time"):
        draw(pd.concat([frame, frame.assign(study="other")], ignore_index=True))


def test_copies_are_counted(make_collections: Make) -> None:
    frame = make_collections(("prefix",), {"hadamard": 1.0}, (1.0,), populations=("uniform", "zipf"), seeds=(0, 1, 2))
    assert "their hull over 2 populations × 3 seeds" in footer(draw(frame))
    assert "2 populations × 3 seeds stand together" in said("", "", frame)
    one = frame[frame["population"] == "zipf"].reset_index(drop=True)
    assert "their hull over 3 seeds" in footer(draw(one))
    single = one[one["seed"] == 0].reset_index(drop=True)
    assert "hull" not in footer(draw(single))
    assert "stand together" not in said("", "", single)
