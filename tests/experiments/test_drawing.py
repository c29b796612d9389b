"""How a study is drawn: every column gets a role by the stated rules, and wrong blocks are answered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from factormech.config.studies import ConfigErrors, load
from factormech.studies import registry
from factormech.studies.drawing import Drawing, KeyColumn, roles
from factormech.studies.run import parts_of
from factormech.tables import kinds as tables
from factormech.tables.compare import improvement_of_study, slopes_of_study
from tests.studies import ROOT, frame_of

SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"
KEYS = [
    KeyColumn("workload", False, 2),
    KeyColumn("domain_size", True, 3),
    KeyColumn("epsilon", True, 8),
    KeyColumn("alpha", True, 8),
    KeyColumn("seed", True, 5),
    KeyColumn("mechanism", False, 4),
]
OWN: dict[str, Any] = {"panels": ("workload",), "series": ("mechanism",)}


def test_without_a_word_the_longest_axis_is_x_and_seeds_are_summarised() -> None:
    found = roles(KEYS, Drawing(), x="domain_size", longest=True, **OWN)
    assert (found.x, found.panels, found.series) == ("epsilon", ("workload",), ("mechanism",))
    assert found.rest == ("domain_size", "alpha")
    assert (found.summarised, found.statistic) == (("seed",), "median")


def test_among_equals_the_kinds_own_x_is_x() -> None:
    assert roles(KEYS, Drawing(), x="alpha", longest=True, **OWN).x == "alpha"
    assert roles(KEYS, Drawing(), x="domain_size", **OWN).x == "domain_size"
    single = [KeyColumn(key.name, key.numeric, 1) for key in KEYS]
    assert roles(single, Drawing(), x="epsilon", longest=True, **OWN).x == "epsilon"


def test_what_the_study_says_is_done() -> None:
    drawing = Drawing.of({"x": "seed", "series": ["epsilon"], "summarise": {"alpha": "max"}})
    found = roles(KEYS, drawing, x="domain_size", **OWN)
    assert (found.x, found.panels, found.series) == ("seed", ("workload",), ("epsilon",))
    assert found.rest == ("domain_size", "mechanism")
    assert (found.summarised, found.statistic) == (("alpha",), "max")


@pytest.mark.parametrize("kind", registry.names())
def test_every_varying_column_has_one_role(kind: str) -> None:
    drawable = registry.experiment(kind).drawable
    keys = [KeyColumn(column.name, column.type != "text", 2) for column in drawable]
    for key in keys:
        found = roles(keys, Drawing(), x=key.name)
        every = [found.x, *found.panels, *found.series, *found.rest, *found.summarised]
        assert sorted(every) == sorted(name.name for name in keys)


def study(figure: Any, kind: str = "sample-complexity", **more: Any) -> dict[str, Any]:
    grid = {"workload": ["prefix"], "domain_size": [4, 8], "epsilon": [0.5, 1.0]}
    common = {"paper": "p", "artefact": "a", "kind": kind, "title": "t", "grid": grid, "mechanisms": ["hadamard"]}
    return {"studies": {"s": {**common, "figure": figure, **more}}}


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        ({"x": "mechanism"}, ["studies.s.figure.x = 'mechanism'", "column of numbers", "epsilon"]),
        ({"x": "epsilom"}, ["studies.s.figure.x = 'epsilom'", "column of numbers", "epsilon"]),
        ({"panels": ["workload", "nothing"]}, ["studies.s.figure.panels[1] = 'nothing'"]),
        ({"x": "epsilon", "panels": ["epsilon"]}, ["studies.s.figure.panels[0]", "figure.x already"]),
        ({"series": ["mechanism", "epsilon", "seed"]}, ["studies.s.figure.series", "at most two"]),
        ({"summarise": {"seed": "mode"}}, ["studies.s.figure.summarise.seed", "median or mean"]),
        ({"summarise": {"seed": "mean", "epsilon": "max"}}, ["studies.s.figure.summarise", "one statistic"]),
        ({"quantiles": [0.9, 0.1]}, ["studies.s.figure.quantiles", "lower end first", "[0.1, 0.9]"]),
        ({"quantiles": [0.9]}, ["studies.s.figure.quantiles", "two numbers"]),
        ({"width": 0.1}, ["studies.s.figure.width", "from 2 to 20"]),
        ({"formats": ["gif"]}, ["studies.s.figure.formats[0]", "pdf or svg or png"]),
        ({"colour": "red"}, ["studies.s.figure.colour", "known setting"]),
        ("nothing", ["studies.s.figure = 'nothing'", "mapping", "none"]),
        (["x"], ["studies.s.figure", "mapping"]),
    ],
)
def test_a_wrong_block_is_answered(figure: Any, words: list[str]) -> None:
    with pytest.raises(ConfigErrors) as error:
        load(study(figure), SCHEMA, base=".")
    assert len(error.value.problems) == 1
    for word in words:
        assert word in str(error.value)


def test_a_kind_with_a_fixed_form_takes_sizes_alone() -> None:
    data = {"grid": {"workload": ["prefix"], "domain_size": [8], "epsilon": [1.0], "data": ["hepth"]}}
    with pytest.raises(ConfigErrors, match="fixed form"):
        load(study({"x": "epsilon"}, "data-dependent", **data), SCHEMA, base=".")
    found = load(study({"width": 5.0}, "data-dependent", **data), SCHEMA, base=".").studies["s"]
    assert found.figure == {"width": 5.0}
    assert found.formats == ("pdf", "svg", "png")


def test_a_study_without_a_figure_has_no_formats() -> None:
    found = load(study("none", quick={"figure": {"formats": ["png"]}}), SCHEMA, base=".")
    assert (found.studies["s"].figure, found.studies["s"].formats) == (None, ())
    assert found.quick_studies["quick/s"].formats == ("png",)


# --- axes that a study may say beside its grid


def test_one_alpha_beside_the_grid_is_an_axis_of_one_value() -> None:
    beside = load(study({}, alpha=0.1), SCHEMA, base=".").studies["s"].asked
    grid = {"workload": ["prefix"], "domain_size": [4, 8], "epsilon": [0.5, 1.0], "alpha": [0.1]}
    assert beside == load(study({}, grid=grid), SCHEMA, base=".").studies["s"].asked
    assert beside["alpha"] == (0.1,)
    assert load(study({}), SCHEMA, base=".").studies["s"].asked["alpha"] == (0.01,)
    with pytest.raises(ConfigErrors, match=r"studies.s.alpha = 0.1: must be said once, and grid.alpha says it too"):
        load(study({}, alpha=0.1, grid=grid), SCHEMA, base=".")


def test_every_alpha_has_its_rows_and_no_part_depends_on_it() -> None:
    grid = {"workload": ["prefix"], "domain_size": [4, 8, 16], "epsilon": [0.5, 1.0], "alpha": [0.1, 0.01]}
    more = {"mechanisms": ["hadamard", "randomized-response"], "compare": "hadamard"}
    several = load(study({}, grid=grid, **more), SCHEMA, base=".").studies["s"]
    single = load(study({}, grid=grid | {"alpha": [0.1]}, **more), SCHEMA, base=".").studies["s"]
    assert parts_of(several.kind, several.asked) == parts_of(single.kind, single.asked)
    frame = frame_of(several)
    tables.check(frame)
    one = frame[frame["alpha"] == 0.1].reset_index(drop=True)
    pd.testing.assert_frame_equal(one, frame_of(single))
    needed = frame.pivot_table(
        index=["mechanism", "domain_size", "epsilon"], columns="alpha", values="sample_complexity"
    )
    np.testing.assert_allclose(needed[0.01], 10 * needed[0.1], rtol=1e-12)
    for table in (improvement_of_study(frame, several.asked), slopes_of_study(frame, several.asked)):
        assert set(table["alpha"]) == {0.1, 0.01}
        tables.check(table)


def test_the_table_of_several_alphas_has_a_row_for_each() -> None:
    grid = {"workload": ["prefix"], "domain_size": [4], "epsilon": [1.0], "alpha": [0.1, 0.01]}
    frame = frame_of(load(study({}, grid=grid), SCHEMA, base=".").studies["s"])
    users, _bits = tables.latex(frame).split("\\end{table}", 1)
    rows = [line.partition(" & ")[0] for line in users.splitlines() if " & " in line]
    assert rows[1:] == ["0.01", "0.1"]
