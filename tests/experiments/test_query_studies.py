"""The studies of statistical queries: what is refused, what the tables say, figures without overlaps."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from factormech.config.studies import Config, load
from factormech.experiments import registry
from factormech.experiments.run import parts_of
from factormech.figures import registry as figures
from factormech.tables.experiments import part_of, table_of
from tests.figure_checks import assert_no_overlaps

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ("correlational-queries", "query-complexity-bits", "query-complexity-ordered", "pan-private")


@cache
def project() -> Config:
    schema = ROOT / "workflow" / "schemas" / "config.schema.yaml"
    return load(yaml.safe_load((ROOT / "config.yaml").read_text()), schema, base=ROOT)


@cache
def quick(name: str) -> pd.DataFrame:
    """The table of a study's quick run; every rule of its rows is checked on the way."""
    study = project().quick_studies[f"quick/{name}"]
    assert study.asked is not None
    kind = registry.experiment(study.kind)
    parts = parts_of(study.kind, study.asked).values()
    return table_of(kind, [part_of(kind, study.name, kind.measure(part)) for part in parts])


@pytest.mark.parametrize("name", STUDIES)
def test_the_figure_has_no_overlaps_and_a_caption(name: str) -> None:
    frame, kind = quick(name), project().study(name).kind
    assert_no_overlaps(figures.draw(kind, frame))
    assert "Words." in figures.caption(kind, "Title", "Words.", frame)


def test_the_printed_constant_stays_wrong_and_the_right_one_does_not() -> None:
    rows = quick("correlational-queries").query("oracle == 'exact'").set_index(["constant", "queries"])["error"]
    assert rows["as-printed", 1000] == pytest.approx(1.0 - 0.5**0.5, abs=0.05)
    assert rows["unbiased", 1000] < 0.4 * rows["unbiased", 30]


def test_the_needed_tolerance_learns_and_the_printed_one_stalls() -> None:
    for name in STUDIES[1:3]:
        rows = quick(name)
        share = rows.groupby(rows["learner"].str.startswith("learner/"))["learned"].mean()
        assert share[True] == 1.0
        assert share[False] < 0.1
        assert np.all(rows["dimension"] >= rows["estimate"])


def test_a_stream_needs_fewer_users_and_no_model_too_few() -> None:
    rows = quick("pan-private").set_index(["epsilon", "model"])
    for epsilon in (0.1, 1.0):
        stream, local = (rows.loc[(epsilon, model)] for model in ("pan-private-stream", "sequential-reports"))
        assert stream["users"] < local["users"]
        assert stream["pan_private_bound"] <= stream["least"]
        assert local["sequential_bound"] <= local["least"]


BAD: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("correlational-queries", {"low": 0.3, "bound": 0.2, "least_queries": float("nan"), "queries": 9}, "error"),
    ("correlational-queries", {"low": 0.1, "bound": 0.2, "least_queries": 10.0, "queries": 9}, "queries"),
    (
        "query-complexity",
        {"learner": "learner/exact", "most": 9, "promised": 8, "learned_high": 1, "needed": 0.9},
        "most",
    ),
    ("query-complexity", {"learner": "learner/exact", "most": 7, "promised": 8, "learned_high": 0.8, "needed": 0.9},
     "learned_high"),
    ("pan-private", {"model": "pan-private-stream", "least": 5, "pan_private_bound": 6.0, "sequential_bound": 1.0},
     "least"),
    ("pan-private", {"model": "sequential-reports", "least": 5, "pan_private_bound": 1.0, "sequential_bound": 6.0},
     "least"),
)  # fmt: skip


@pytest.mark.parametrize(("kind", "row", "column"), BAD)
def test_a_row_that_contradicts_its_bound_is_refused(kind: str, row: dict[str, Any], column: str) -> None:
    problem = registry.experiment(kind).check(row)
    assert problem is not None
    assert problem[0] == column


def test_a_class_that_does_not_exist_is_refused() -> None:
    study = {
        "paper": "edmonds2023", "artefact": "x", "kind": "pan-private", "title": "x", "caption": "x",
        "grid": {"concept_class": ["3-way-parities"], "class_size": [2], "epsilon": [1.0]},
    }  # fmt: skip
    given = yaml.safe_load((ROOT / "config.yaml").read_text())
    given["studies"] = {"mine": study}
    schema = ROOT / "workflow" / "schemas" / "config.schema.yaml"
    with pytest.raises(Exception, match="at least 3 bits"):
        load(given, schema, base=ROOT)
