"""What every experiment keeps, and what a configuration, a table and a figure make of a declaration."""

from __future__ import annotations

import dataclasses
import math
import re
import subprocess
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from factormech import labels
from factormech.config import reference
from factormech.config.studies import ConfigErrors, Study, load
from factormech.errors import BadValue, UnknownName
from factormech.pipeline.planning import Plan
from factormech.plots import registry as figures
from factormech.plots import style
from factormech.store import hdf5
from factormech.studies import axes, cost, registry
from factormech.studies.asked import Asked, check_parts, split, whole
from factormech.studies.base import REASON, Axis, Curves
from factormech.studies.run import modules_of, parts_of
from factormech.tables import kinds as tables
from factormech.tables.rows import format_of, part_of, table_of
from tests.experiments import toy
from tests.figure_checks import assert_no_overlaps, said
from tests.studies import frame_of, project, quick
from tests.tables.printed import printed
from tests.tiers import every

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"
STUDY: dict[str, Any] = {
    "paper": "nobody2020",
    "artefact": "nothing",
    "kind": "toy",
    "title": "Toy",
    "grid": {"workload": ["prefix", "all-ranges"], "domain_size": [4, 8]},
}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy is an experiment like any other."""
    monkeypatch.setitem(registry.modules(), "toy", "tests.experiments.toy")


def loaded(changes: dict[str, Any] | None = None, **others: Any) -> Study:
    study = {**STUDY, **(changes or {})}
    return load({"studies": {"one": study}, **others}, SCHEMA, base=ROOT).studies["one"]


def complaints(changes: dict[str, Any]) -> list[str]:
    with pytest.raises(ConfigErrors) as caught:
        loaded(changes)
    return str(caught.value).splitlines()


def planned(changes: dict[str, Any] | None = None) -> Plan:
    return Plan(load({"studies": {"one": {**STUDY, **(changes or {})}}}, SCHEMA, base=ROOT))


def asked_of(study: Study) -> Asked:
    return study.asked


# What every registered experiment keeps.


@pytest.mark.parametrize("kind", registry.names())
def test_every_experiment_has_names_for_its_curves(kind: str) -> None:
    """A curve of a registered name has a look and a label of its own; plugins alone are drawn by their names."""
    declared = registry.experiment(kind)
    if not isinstance(declared.figure, Curves):
        return
    series = declared.figure.series
    if not series:
        return
    known = {s.name.removesuffix("s"): s.names for s in (*declared.axes, *declared.settings)}
    if declared.column(series).type == "text":
        family = known.get(series)
        names = list(family.names()) if family else config_names(kind, series)
        assert names, f"{kind}: no study says which names are in {series}"
        for name in names:
            assert name in style.SERIES, f"{kind}: {name} has no style: add it to plots/style.py"
            assert style.SERIES[name].label == labels.SERIES[name] != name


def config_names(kind: str, series: str) -> list[str]:
    """The names in a column, measured on the quick studies of a kind."""
    frames = [quick(name) for name, study in project().studies.items() if study.kind == kind]
    return sorted({name for frame in frames for name in frame[series]})


def without(columns: tuple[str, ...], added: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of the oldest tables."""
    return tuple(name for name in columns if name not in added)


def test_no_two_kinds_have_the_same_columns_or_name() -> None:
    every = list(tables.formats())
    assert len({form.kind for form in every}) == len(every)
    headers = [header for form in every for header in (form.columns, without(form.columns, form.added))]
    assert len(set(headers)) == len(headers)


def test_one_name_has_one_look() -> None:
    """Also where two groups have it: the later of them would win in silence."""
    for module, table in ((style, style.SERIES), (labels, labels.SERIES)):
        groups = [v for name, v in vars(module).items() if name.isupper() and isinstance(v, dict) and v is not table]
        joined = [group for group in groups if group.keys() <= table.keys()]
        assert len(joined) >= 3
        assert all(table[name] == value for group in joined for name, value in group.items())
    assert style.SERIES.keys() == labels.SERIES.keys()


def test_planning_a_run_is_light() -> None:
    code = (
        "import sys; from factormech.studies import registry;"
        "[registry.experiment(name) for name in registry.names()];"
        "print([m for m in ('h5py', 'matplotlib', 'pandas', 'cvxpy', 'numba', 'scipy') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


# The configuration.


def test_defaults_are_filled_in_and_numbers_are_floats() -> None:
    asked = asked_of(loaded({"grid": {**STUDY["grid"], "p": [1, "inf"]}, "scale": 3}))
    assert asked["p"] == (1.0, math.inf)
    assert asked["delta"] == (0.25,)
    assert (asked["scale"], type(asked["scale"])) == (3.0, float)
    assert asked["methods"] == ["analytic", "classical"]
    assert Asked.from_json(asked.to_json()) == asked
    assert len(list(asked.points())) == 2 * 2 * 1 * 2


def test_the_quick_run_replaces_settings() -> None:
    study = {**STUDY, "quick": {"grid": {"domain_size": [4]}, "scale": 1.0}}
    quick = load({"studies": {"one": study}}, SCHEMA, base=ROOT).quick_studies["quick/one"]
    asked = asked_of(quick)
    assert asked["domain_size"] == (4,)
    assert asked["workload"] == ("prefix", "all-ranges")
    assert asked["scale"] == 1.0
    assert quick.quick


GRID = STUDY["grid"]


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        (
            {"grid": {**GRID, "epsilon": [1.0]}},
            "studies.one.grid.epsilon = [1.0]: must be a known setting; known here:",
        ),
        ({"mechanisms": ["hadamard"]}, "studies.one.mechanisms = ['hadamard']: must be a known setting; known here:"),
        ({"grid": {"workload": ["prefix"]}}, "studies.one.grid.domain_size = (missing): must be a list"),
        ({"grid": {**GRID, "delta": [1.5]}}, "grid.delta[0] = 1.5: must be a number above 0 and below 1; give for"),
        ({"grid": {**GRID, "delta": [0.1, 0.1]}}, "grid.delta[1] = 0.1: must differ from the entries before it"),
        (
            {"grid": {**GRID, "delta": 0.1}},
            "grid.delta = 0.1: must be a list with at least 1 entry, all different; put",
        ),
        ({"grid": {**GRID, "delta": [0.1, 0.6]}}, "studies.one.grid.delta[1] = 0.6: must be at most a half; give for"),
        (
            {"grid": {**GRID, "p": [0.5]}},
            "grid.p[0] = 0.5: must be a number of at least 1, or inf; give for example 2.0",
        ),
        ({"grid": {**GRID, "p": ["many"]}}, "grid.p[0] = 'many': must be a number of at least 1, or inf"),
        (
            {"grid": {**GRID, "workload": ["prefixx"]}},
            "grid.workload[0] = 'prefixx': must be a known name; did you mean",
        ),
        (
            {"grid": {"workload": ["3-way-marginals"], "domain_size": [6]}},
            "grid.domain_size[0] = 6: must be a domain size",
        ),
        (
            {"methods": ["analytik"]},
            "studies.one.methods[0] = 'analytik': must be a known name; did you mean 'analytic'?",
        ),
        ({"scale": -1}, "studies.one.scale = -1: must be a finite number of at least 0; give for example 2.0"),
        ({"scale": "2"}, "studies.one.scale = '2': must be a finite number of at least 0; write it without quotes"),
        ({"quick": {"grid": {"delta": [0.7]}}}, "studies.one.quick.grid.delta[0] = 0.7: must be at most a half"),
        (
            {"quick": {"grid": {"users": [1]}}},
            "studies.one.quick.grid.users = [1]: must be a known setting; known here:",
        ),
        ({"quick": {"kind": "norms"}}, "studies.one.quick.kind = 'norms': must be a known setting"),
        ({"quick": {"methods": ["x"]}}, "studies.one.quick.methods[0] = 'x': must be a known name"),
        ({"kind": "toyy"}, "studies.one.kind = 'toyy': must be agnostic-learning or"),
    ],
)
def test_mistakes_are_answered_in_a_line(changes: dict[str, Any], wanted: str) -> None:
    lines = complaints(changes)
    assert any(wanted in line for line in lines), lines
    if changes.get("kind") is None:
        assert len(lines) == 1, lines


def test_a_study_does_not_become_an_experiment_in_the_quick_run() -> None:
    study = {**STUDY, "kind": "norms", "norms": ["gamma-f"], "quick": {"kind": "toy"}}
    with pytest.raises(ConfigErrors, match=r"quick\.kind = 'toy'"):
        load({"studies": {"one": study}}, SCHEMA, base=ROOT)


def test_all_mistakes_are_answered_at_once() -> None:
    other = {**STUDY, "grid": {**GRID, "delta": [0.9]}}
    with pytest.raises(ConfigErrors) as caught:
        load({"seed": -1, "studies": {"one": {**STUDY, "scale": -1}, "two": other}}, SCHEMA, base=ROOT)
    assert [problem.name for problem in caught.value.problems] == [
        "seed",
        "studies.one.scale",
        "studies.two.grid.delta[0]",
    ]


def test_the_page_of_settings_has_those_of_experiments() -> None:
    page = reference.pages(SCHEMA, {})["configuration/others.md"]
    part = page.split("## toy")[1]
    assert "Nothing of worth." in part
    assert "| `grid.p` | list; each a number" in part
    assert "`[2.0]`" in part
    assert "| `scale` | a finite number of at least 0 | `2.0` | A factor. |" in part


def test_the_estimate_counts_every_part() -> None:
    assert [toy.EXPERIMENT.seconds(part) for part in parts_of("toy", asked_of(loaded())).values()] == [200.0, 200.0]
    parts = 2 * cost.seconds(cost.experiment("toy", 200.0, 0.0))
    assert 400.0 <= parts < planned().seconds(["one"]) < parts + 10.0


# Parts.


def test_a_part_is_asked_for_its_share_alone() -> None:
    mine = {"mine": {"union": [{"workload": "total"}]}, "both": {"union": [{"workload": "prefix"}]}}
    grid = {"workload": ["prefix", "both"], "domain_size": [4]}
    parts = parts_of("toy", asked_of(loaded({"grid": grid}, workloads=mine, seed=7)))
    assert list(parts) == ["prefix", "both"]
    assert parts["prefix"]["workload"] == ("prefix",)
    assert parts["prefix"].definitions == {}
    assert list(parts["both"].definitions) == ["both"]
    assert parts["prefix"].seed == 7


def test_chance_is_asked_for_only_where_it_has_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toy, "EXPERIMENT", dataclasses.replace(toy.EXPERIMENT, seeded=False))
    parts = parts_of("toy", asked_of(loaded({"grid": {**GRID, "workload": ["prefix", "random-signs"]}}, seed=7)))
    assert [part.seed for part in parts.values()] == [0, 7]


def test_parts_have_names_of_files() -> None:
    asked = Asked({"epsilon": (0.5, 1e-06), "name": ("a-b", "a")}, {"list": ["b", "a-b"]})
    parts = split("name", "epsilon", "list")(asked)
    assert list(parts)[:3] == ["a-b_0.5_b", "a-b_0.5_a-b", "a-b_1e-06_b"]
    assert len(parts) == 8
    assert parts["a_0.5_b"] == asked.only(name="a", epsilon=0.5, list="b")
    assert parts["a_0.5_b"]["list"] == ["b"]
    assert list(check_parts("toy", whole(asked))) == ["all"]
    for bad in ({"a/b": asked}, {"": asked}, {"-x": asked}, {}):
        with pytest.raises(BadValue):
            check_parts("toy", bad)


def test_the_code_of_a_name_is_that_of_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = Axis("mechanism", {"type": "string"}, "hadamard", names=axes.LOCAL_MECHANISMS)
    monkeypatch.setattr(toy, "EXPERIMENT", dataclasses.replace(toy.EXPERIMENT, axes=(*toy.EXPERIMENT.axes, mechanism)))
    asked = asked_of(loaded({"grid": {**GRID, "mechanism": ["hadamard", "fourier"]}}))
    assert modules_of("toy", asked) == [
        "tests.experiments.toy",
        "factormech.mechanisms.local.hadamard",
        "factormech.mechanisms.local.two_valued",
    ]
    [line] = complaints({"grid": {**GRID, "mechanism": ["hadamrd"]}})
    assert "did you mean 'hadamard'?" in line


@pytest.mark.parametrize("text", ["", "[]", "3", '{"grid": 3, "settings": {}, "seed": 0, "definitions": {}}', "{}"])
def test_a_job_refuses_what_no_study_asks(text: str) -> None:
    with pytest.raises(BadValue, match="--asked"):
        Asked.from_json(text)


# Declarations.


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": ("workload", "domain_size", "p", "method", "missing")}, "keys of experiment toy = 'missing'"),
        ({"keys": ("workload", "domain_size", "p")}, "keys of experiment toy = 'method'"),
        ({"figure": Curves(x="domain_size", y="nothing", series="method")}, "figure of experiment toy = 'nothing'"),
        ({"columns": (*toy.EXPERIMENT.columns, REASON)}, r"columns of experiment toy = \['reason'\]"),
        ({"columns": toy.EXPERIMENT.columns[:-1]}, "must have REASON"),
        ({"settings": (dataclasses.replace(toy.EXPERIMENT.settings[1], name="title"),)}, r"\['title'\]"),
        ({"settings": (dataclasses.replace(toy.EXPERIMENT.settings[1], name="p"),)}, r"\['p'\]"),
    ],
)
def test_a_declaration_does_not_contradict_itself(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadValue, match=message):
        dataclasses.replace(toy.EXPERIMENT, **change)


def test_unknown_kinds_and_wrong_modules_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="did you mean 'toy'"):
        registry.module_of("toyy")
    monkeypatch.setitem(registry.modules(), "other", "tests.experiments.toy")
    with pytest.raises(BadValue, match="have an Experiment of kind 'other'"):
        registry.experiment("other")


# Tables.


def rows_of(**changes: Any) -> list[dict[str, Any]]:
    rows = [
        {
            "workload": "prefix",
            "domain_size": 4,
            "p": p,
            "method": m,
            "l2_error": 2.0,
            "low": 1.0,
            "high": 3.0,
            "lower_bound": 1.0,
        }
        for p in (2.0, math.inf)
        for m in ("analytic", "classical")
    ]
    rows[3] |= {"l2_error": None, "low": None, "high": None, "reason": "why"}
    rows[1] |= changes
    return rows


def test_a_table_reads_back_as_it_was_written(tmp_path: Path) -> None:
    frame = part_of(toy.EXPERIMENT, "one", rows_of())
    tables.write(frame, tmp_path / "a.csv", tmp_path / "a.tex")
    assert tables.read_csv(tmp_path / "a.csv").equals(frame)
    assert tables.kind_of(frame) == "toy"
    assert tables.has_header(tmp_path / "a.csv")
    assert tables.from_rows([{"study": "one", **row} for row in rows_of()], "toy").equals(frame)
    hdf5.write(tmp_path / "a.h5", "part", datasets={"rows": frame}, attributes={})
    assert hdf5.read(tmp_path / "a.h5")["rows"].equals(frame)


@pytest.mark.parametrize(
    ("changes", "column", "rule"),
    [
        ({"l2_error": None}, "l2_error", "not be empty without a reason"),
        ({"method": ""}, "method", "not be empty"),
        ({"lower_bound": None}, "lower_bound", "not be empty"),
        ({"reason": "none"}, "reason", "be empty where no number is missing"),
        ({"l2_error": -1.0}, "l2_error", "be at least 0"),
        ({"l2_error": math.inf}, "l2_error", "be finite"),
        ({"high": 0.5}, "high", "be at least low"),
        ({"method": "analytic"}, "table", "have this row once"),
    ],
)
def test_rows_obey_their_rules(changes: dict[str, Any], column: str, rule: str) -> None:
    with pytest.raises(BadValue, match=rule) as caught:
        tables.from_rows([{"study": "one", **row} for row in rows_of(**changes)], "toy")
    assert column in caught.value.name


def test_a_table_is_complete_unless_its_kind_says_otherwise() -> None:
    part, question = part_of(toy.EXPERIMENT, "one", rows_of()[:3]), asked_of(loaded())
    with pytest.raises(BadValue, match="no row for prefix 4 inf classical"):
        table_of(toy.EXPERIMENT, "one", question, {"a": part})
    loose = dataclasses.replace(toy.EXPERIMENT, complete=False)
    assert len(table_of(loose, "one", question, {"a": part})) == 3
    with pytest.raises(BadValue, match="have this row once"):
        table_of(loose, "one", question, {"a": part, "b": part})


def test_latex_says_all_that_the_table_does() -> None:
    frame = part_of(toy.EXPERIMENT, "one", rows_of())
    [table] = printed(tables.latex(frame))
    assert (
        table.caption == "Error $E\\|\\cdot \\|_{2}$/$\\sqrt{k}$, by workload, method and order of error $p$. $n$ = 4."
    )
    assert "Not shown: Classical, $\\sqrt{2" in table.notes
    assert table.notes.count("why") == 1


@pytest.mark.parametrize(
    ("value", "label"),
    [(512, "512"), (0.05, "0.05"), (1e-6, "10⁻⁶"), (2.5e-7, "2.5·10⁻⁷"), (1e15, "10¹⁵"), (math.inf, "∞"), (2.0, "2")],
)
def test_numbers_are_short(value: float, label: str) -> None:
    assert labels.value_label("delta", value) == label


# Figures.


def test_the_declared_figure_shows_every_row() -> None:
    study = loaded({"grid": {**GRID, "p": [2, "inf"]}})
    frame = frame_of(study)
    figure = figures.draw("toy", frame)
    assert [ax.get_title() for ax in figure.axes] == ["Prefix", "All Ranges"]  # as the table has them
    for ax, (_, part) in zip(figure.axes, frame.groupby("workload", sort=False), strict=True):
        curves = [line for line in ax.lines if line.get_marker() not in ("None", "")]
        shown = [(name, p) for name, p in part.groupby(["method", "p"], sort=False).groups if (name, p) != lost]
        assert len(curves) == 3
        for line, (name, p) in zip(curves, shown, strict=True):
            rows = part[(part["method"] == name) & (part["p"] == p)]
            np.testing.assert_array_equal(line.get_ydata(), rows["l2_error"])
            np.testing.assert_array_equal(line.get_xdata(), rows["domain_size"])
            assert line.get_color() == style.SERIES[name].colour
        assert len(ax.collections) == 1 + 3  # the band, and the bars of every curve
        low, high = ax.get_ylim()
        assert low < part["low"].min()
        assert high > part["high"].max()
    assert len({line.get_linestyle() for line in figure.legends[0].get_lines()}) >= 2
    assert_no_overlaps(figure)
    words = said("Toy", "Of no use", frame)
    assert words.startswith("Toy: error E‖·‖₂/√k against domain size n from 4 to 8. Of no use. Values of no worth. ")
    assert "Not drawn: Classical, √(2 ln(1.25/δ))/ε, p = ∞ — for small p only." in words
    assert "Bars: lower end to upper end." in words
    assert any("not drawn: Classical" in text.get_text() for text in figure.texts)


lost = ("classical", math.inf)


def test_a_curve_that_lacks_numbers_says_where_and_why() -> None:
    rows = [
        {
            "delta": 0.1,
            "epsilon": e,
            "calibration": c,
            "sigma": 1.0,
            "ratio_to_analytic": 1.0,
            "spent_delta": 0.1,
            "analytic_sigma": 1.0,
        }
        for e in (0.5, 1.0, 2.0)
        for c in ("analytic", "classical")
    ]
    for row in rows:
        if row["calibration"] == "classical" and row["epsilon"] >= 1:
            row |= {"sigma": None, "ratio_to_analytic": None, "spent_delta": None, "reason": "too much"}
    frame = tables.from_rows([{"study": "s", **row} for row in rows], "gaussian-calibration")
    assert "Classical, √(2 ln(1.25/δ))/ε missing at ε ≥ 1 — too much." in said("T", "", frame)
    assert figures.draw("gaussian-calibration", frame).axes[0].get_title() == "δ = 0.1"
    small = figures.draw("gaussian-calibration", frame.assign(delta=1e-6, spent_delta=1e-6))
    assert small.axes[0].get_title() == r"δ = 10$^{\mathregular{-6}}$"


@pytest.mark.parametrize("x_scale", ["linear", "log", "log2"])
@pytest.mark.parametrize("y_scale", ["linear", "log", "ratio"])
@pytest.mark.parametrize("xs", every(2, [(4,), (6, 7), (4, 8, 1024)]))
def test_every_scale_can_be_drawn(
    monkeypatch: pytest.MonkeyPatch, x_scale: Any, y_scale: Any, xs: tuple[int, ...]
) -> None:
    curves = Curves("domain_size", "l2_error", "method", x_scale=x_scale, y_scale=y_scale, references=("lower_bound",))
    monkeypatch.setattr(toy, "EXPERIMENT", dataclasses.replace(toy.EXPERIMENT, figure=curves))
    frame = frame_of(loaded({"grid": {"workload": ["prefix"], "domain_size": list(xs)}}))
    figure = figures.draw("toy", frame)
    figure.draw_without_rendering()
    [ax] = figure.axes
    low, high = ax.get_ylim()
    assert all(low <= y <= high for line in ax.lines[1:] for y in line.get_ydata())
    left, right = ax.get_xlim()
    assert all(left <= x <= right for line in ax.lines[1:] for x in line.get_xdata())
    assert sum(bool(label.get_text()) for label in ax.get_xticklabels()) >= min(len(xs), 2)
    assert "Lower bound" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_curves_of_numbers_have_distinct_looks() -> None:
    looks = style.series_styles([0.5, 1e-6, *range(10, 40)], "α")
    assert looks[1e-6].label == "α = 10⁻⁶"
    assert looks[1e-6].colour == style.BLUE  # the least is first
    assert len({(look.marker, look.line) for look in looks.values()}) == 32
    plugins = style.series_styles(["mine", "analytic"])
    assert plugins["mine"].colour == style.INDIGO
    assert plugins["analytic"] == style.SERIES["analytic"]


def test_the_band_is_below_every_curve() -> None:
    from factormech.tables.curve_view import curve_view

    rows = rows_of()
    rows[0]["lower_bound"], rows[1]["lower_bound"] = 0.25, 0.5
    frame = part_of(toy.EXPERIMENT, "one", rows)
    [panel] = curve_view(frame, toy.EXPERIMENT).panels
    assert panel.below.tolist() == [0.25]


# The first of them.


def test_the_classical_calibration_is_private_below_one_and_has_a_reason_above() -> None:
    kind = registry.experiment("gaussian-calibration")
    grid = {"epsilon": (0.01, 0.3, 0.999, 1.0, 5.0), "delta": (0.9, 0.5, 0.1, 1e-3, 1e-6, 1e-12, 1e-100)}
    frame = part_of(kind, "s", kind.measure(Asked(grid)))
    assert len(table_of(kind, "s", Asked(grid), {"all": frame})) == 2 * 5 * 7
    classical = frame[frame["calibration"] == "classical"]
    assert ((classical["reason"] == "") == (classical["epsilon"] < 1)).all()
    ok = classical[classical["epsilon"] < 1]
    assert (ok["spent_delta"] <= ok["delta"]).all()
    assert (ok["ratio_to_analytic"] >= 1).all()
    np.testing.assert_allclose(ok["sigma"], np.sqrt(2 * np.log(1.25 / ok["delta"])) / ok["epsilon"], rtol=1e-14)
    analytic = frame[frame["calibration"] == "analytic"]
    np.testing.assert_allclose(analytic["spent_delta"], analytic["delta"], rtol=1e-9)


def test_a_calibration_that_is_not_private_is_refused() -> None:
    kind = registry.experiment("gaussian-calibration")
    form = format_of(kind)
    row = next(iter(kind.measure(Asked({"epsilon": (0.5,), "delta": (1e-6,)}))))
    for change, message in (
        ({"ratio_to_analytic": 0.99}, "less noise is not private"),
        ({"spent_delta": 2e-6}, "at most δ"),
    ):
        with pytest.raises(BadValue, match=message):
            form.from_rows([{"study": "s", "kind": form.kind, **row, **change}])


def test_the_kind_of_the_page_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module on the page "Adding things", as it stands there."""
    page = (ROOT / "docs" / "adding.md").read_text()
    [code] = [block for block in re.findall(r"^```python\n(.*?)^```", page, re.S | re.M) if "Experiment(" in block]
    module = types.ModuleType("page_kind")
    exec(compile(code, "docs/adding.md", "exec"), vars(module))  # noqa: S102
    monkeypatch.setitem(sys.modules, "page_kind", module)
    monkeypatch.setitem(registry.modules(), "noise-per-query", "page_kind")
    grid = {"workload": ["prefix", "histogram"], "domain_size": [8], "epsilon": [1, 2, 20]}
    study = loaded({"kind": "noise-per-query", "grid": grid})
    frame = frame_of(study)
    assert frame["mean_squared_error"].fillna(0.0).tolist() == [8.0, 2.0, 0.0] * 2
    assert "Analytic (Balle & Wang) missing at ε = 20" in said("T", "", frame)
    assert len(figures.draw("noise-per-query", frame).axes) == 2
