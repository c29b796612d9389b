"""How a study is drawn: every column gets a role by the stated rules, and wrong blocks are answered."""

from __future__ import annotations

from typing import Any

import pytest

from factormech.config.studies import ConfigErrors, load
from factormech.experiments import registry
from factormech.experiments.drawing import Drawing, Key, roles
from tests.studies import ROOT

SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"
KEYS = [
    Key("workload", False, 2),
    Key("domain_size", True, 3),
    Key("epsilon", True, 8),
    Key("alpha", True, 8),
    Key("seed", True, 5),
    Key("mechanism", False, 4),
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
    single = [Key(key.name, key.numeric, 1) for key in KEYS]
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
    keys = [Key(column.name, column.type != "text", 2) for column in drawable]
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
