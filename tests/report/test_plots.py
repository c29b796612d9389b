"""What the report plots of a table, says of its figure, and knows of its rows; without a browser."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from factormech.claims.verdicts import rows_of
from factormech.tables import kinds

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "workflow" / "reporter"))
details = pytest.importorskip("snakemake_report_plugin_factormech.details")
plots = pytest.importorskip("snakemake_report_plugin_factormech.plots")

GALLERY = ROOT / "docs" / "gallery"
OTHERS = ("claims", "jobs", "run", "times")
STUDIES = sorted(
    path.stem for path in GALLERY.glob("*.csv") if not path.stem.endswith(("improvement", "slopes", *OTHERS))
)


@pytest.mark.parametrize("study", STUDIES)
def test_every_table_has_a_plot_and_words(study: str) -> None:
    frame = kinds.read_csv(GALLERY / f"{study}.csv")
    plot = plots.plot_of(frame)
    named = [plot.x, plot.y, *plot.series, *plot.panels, *filter(None, (plot.low, plot.high, plot.below))]
    assert set(named) <= set(frame.columns)
    assert plot.x not in plot.panels
    assert frame[plot.y].notna().sum() > 0
    said = plots.description(frame, plot)
    assert said.endswith(".")
    assert "nan" not in said.split()
    assert "= ;" not in said


def test_words_are_the_numbers_of_the_table() -> None:
    frame = kinds.read_csv(GALLERY / "mckenna2020-figure-1.csv")
    said = plots.description(frame, plots.plot_of(frame))
    assert said.startswith("Users N from 7.379 to 61970000, against privacy budget ε from 0.5000 to 4.")
    assert "6 panels: Histogram; Prefix;" in said
    end = frame[(frame["epsilon"] == 4.0) & frame["sample_complexity"].notna()]
    least = end.loc[end.groupby("workload")["sample_complexity"].idxmin(), "mechanism"]
    assert set(least) == {"optimised"}
    assert said.endswith("the smallest number is that of Optimised in 6 of 6 panels.")


def test_claims_name_the_rows_that_they_use() -> None:
    ledger = {claim.id: claim for claim in details.ledger().claims}
    frame = kinds.read_csv(GALLERY / "mckenna2020-figure-3a.csv")
    claim = ledger["mckenna2020-factor-1-69"]
    used = frame[rows_of(claim, "mckenna2020-figure-3a", frame)]
    assert set(used["data"]) == {"nettrace", "hepth"}
    assert set(used["mechanism"]) == {"hadamard-table1", "hadamard"}  # the second in a reading
    assert not rows_of(claim, "consistency", frame).any()


@pytest.mark.slow
def test_entries_have_the_verdicts_of_a_run(tmp_path: Path) -> None:
    claims = details.ledger().claims
    entries = details.entries(claims, GALLERY / "claims.csv")
    assert [entry.claim.id for entry in entries] == [claim.id for claim in claims]
    assert {"reproduced", "not reproduced"} <= {entry.verdict for entry in entries}
    assert {entry.verdict for entry in details.entries(claims, tmp_path / "none.csv")} == {details.UNJUDGED}


@pytest.mark.parametrize(("rows", "spans"), [([0, 1, 2, 5], [[0, 2], [5, 5]]), ([], []), ([3], [[3, 3]])])
def test_spans_hold_the_rows_and_no_others(rows: list[int], spans: list[list[int]]) -> None:
    taken = np.zeros(8, dtype=bool)
    taken[rows] = True
    assert details.spans(taken) == spans
