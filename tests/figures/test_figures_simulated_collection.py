"""Figures of simulated collections: pooled ratios with intervals around the exact error, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from tests.figure_checks import assert_no_overlaps, said

from factormech.errors import BadValue
from factormech.plots.simulated_collection import STANDARD_ERRORS, draw, pooled

pytestmark = pytest.mark.heavy

Make = Callable[..., pd.DataFrame]
FEW = {"hadamard": 2.0, "hierarchical": 1.0, "rappor": 1.5}


def footer(figure: Figure) -> str:
    """The text below the panels, its line breaks undone."""
    return max((t.get_text() for t in figure.texts), key=len).replace("\n", " ")


def test_no_text_is_cut_off_or_covers_another(make_collections: Make) -> None:
    names = {**FEW, "x" * 40: 1.0, "a plugin with $ in it": 3.0}
    assert_no_overlaps(draw(make_collections(("histogram", "prefix", "all-ranges"), names)))


def test_marks_are_pooled_ratios_around_the_exact_line(make_collections: Make) -> None:
    frame = make_collections(("prefix",), FEW, (1.0,), populations=("uniform", "zipf"), seeds=(3, 4))
    [ax] = draw(frame).axes
    rows = pooled(frame).set_index("mechanism")
    for i, name in enumerate(FEW):
        own = frame[(frame["mechanism"] == name) & (frame["status"] == "ok")]
        errors = own["standard_error"] / own["exact_error"]
        assert rows["ratio_to_exact"][name] == pytest.approx(own["ratio_to_exact"].mean())
        half = STANDARD_ERRORS * math.sqrt((errors**2).sum()) / len(own)
        assert rows["ratio_high"][name] - rows["ratio_low"][name] == pytest.approx(2 * half)
        drawn = [y for line in ax.lines for x, y in line.get_xydata() if x == i and line.get_linestyle() == "None"]
        assert drawn == pytest.approx([rows["ratio_to_exact"][name]])
    assert any(np.all(np.asarray(line.get_ydata()) == 1.0) for line in ax.lines)


def test_every_mechanism_is_named_on_the_axis(make_collections: Make) -> None:
    figure = draw(make_collections(("histogram", "prefix"), FEW))
    for ax in figure.axes:
        assert [t.get_text() for t in ax.get_xticklabels()] == [
            "Hadamard (block)",
            "Hierarchical (block Hadamard)",
            "RAPPOR",
        ]


def test_what_is_missing_is_told(make_collections: Make) -> None:
    lines = footer(draw(make_collections(("histogram", "prefix"), {"fourier-3": 1.0, "rappor": 1.0}, (1.0,), (16, 32))))
    assert "Refused: Fourier (≤ 3-way) [Prefix] — the workload is outside the strategy's row space" in lines
    assert "Unavailable: RAPPOR [every workload at some points] — too many users; needs 2^32 outputs" in lines


def test_intervals_that_miss_are_told(make_collections: Make) -> None:
    frame = make_collections(("histogram",), FEW, (1.0,), seeds=(0, 1))
    row = (frame["mechanism"] == "hadamard") & (frame["users"] == 100) & (frame["seed"] == 1)
    off = frame.assign(interval_low=frame["interval_low"].where(~row, frame["exact_error"] * 1.0001))
    assert "1 interval without the exact error: Hadamard (block) [N = 100, seed 1]" in said("", "", off)


def test_zero_errors_are_told(make_collections: Make) -> None:
    frame = make_collections(("histogram",), FEW, (1.0,))
    free = frame["mechanism"] == "hadamard"
    empty = dict.fromkeys(("ratio_to_exact", "bias_ratio"), math.nan)
    zero = dict.fromkeys(("exact_error", "interval_low", "interval_high", "measured_error", "z_score"), 0.0)
    figure = draw(frame.assign(**{c: frame[c].where(~free, v) for c, v in {**zero, **empty}.items()}))
    assert "Not drawn: Hadamard (block) — exact error 0, measured at most 0" in footer(figure)


def test_caption_says_what_was_run_and_whether_it_agrees(make_collections: Make) -> None:
    frame = make_collections(
        mechanisms={"fourier-3": 1.0, "rappor": 1.0},
        populations=("uniform", "zipf"),
        seeds=(0, 1),
        domain_sizes=(16, 32),
    )
    text = said("Collections", "measured is exact", frame)
    points = (frame["status"] == "ok").sum()
    for part in (
        "Collections: measured over exact error, for each mechanism.",
        "Measured is exact.",
        "seeds: 0, 1",
        "populations: uniform, zipf",
        "N = 100, 10000, 1000000",
        "Each collection was run 50 times",
        f"Bars: {STANDARD_ERRORS:g} standard errors to either side.",
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
