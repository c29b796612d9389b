"""Quantities that a kind takes one value of at a time are axes: every value has its rows, one value its old numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from factormech.config.studies import ConfigErrors, load
from factormech.errors import BadValue
from factormech.plots import registry as figures
from factormech.studies import registry
from factormech.studies.asked import Asked, split
from factormech.studies.axes import DOMAIN_SIZE, EPSILON
from factormech.studies.base import Column, Curves, Experiment, PaperTable, Shown
from factormech.studies.run import parts_of
from factormech.studies.sweeps import quantity, swept
from factormech.tables import kinds as tables
from factormech.tables.papers import papers_of
from factormech.tables.rows import part_of, table_of
from tests.studies import ROOT, frame_of, project

SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"
SWEPT = [kind for kind in registry.names() if registry.experiment(kind).swept]


def measure(asked: Asked) -> Iterator[Mapping[str, Any]]:
    for (n,) in asked.points("domain_size"):
        yield {"domain_size": n, "variance": n * asked["epsilon"]}


def refuse(asked: Asked) -> Iterator[BadValue]:
    if asked["epsilon"] > 2.0:
        yield BadValue("grid.epsilon", asked["epsilon"], "be small", "give 1")
    yield BadValue("grid.domain_size[0]", 3, "be even", "give 4")


KIND = Experiment(
    kind="toy-sweep",
    description="A value at one budget.",
    axes=(DOMAIN_SIZE,),
    columns=(DOMAIN_SIZE.column(), Column("variance")),
    keys=("domain_size",),
    measure=measure,
    refuse=refuse,
    parts=split("domain_size"),
    figure=Curves(x="domain_size", y="variance", series="domain_size"),
    tables=(PaperTable(rows=("domain_size",), shown=(Shown("variance"),)),),
    seconds=lambda asked: asked["epsilon"],
)
TOY = swept(KIND, quantity(EPSILON, 1.0, "Budgets."))


def test_every_value_has_its_parts_rows_and_seconds() -> None:
    asked = Asked({"domain_size": (4, 8), "epsilon": (0.5, 3.0)})
    parts = TOY.parts(asked)
    assert list(parts) == ["4_0.5", "8_0.5", "4_3.0", "8_3.0"]
    assert parts["8_3.0"] == Asked({"domain_size": (8,), "epsilon": (3.0,)})
    frames = {name: part_of(TOY, "s", TOY.measure(part)) for name, part in parts.items()}
    frame = table_of(TOY, "s", asked, frames)
    assert frame[["epsilon", "domain_size", "variance"]].to_numpy().tolist() == [
        [0.5, 4, 2.0], [0.5, 8, 4.0], [3.0, 4, 12.0], [3.0, 8, 24.0]
    ]  # fmt: skip
    assert TOY.seconds(asked) == 3.5
    assert [problem.rule for problem in TOY.refuse(asked)] == ["be even", "be small"]
    assert TOY.tables[0].rows == ("epsilon", "domain_size")
    assert TOY.keys == ("epsilon", "domain_size")


def test_one_value_has_the_parts_and_rows_of_a_setting() -> None:
    at_one = Asked({"domain_size": (4, 8)}, {"epsilon": 0.5})
    asked = Asked({"domain_size": (4, 8), "epsilon": (0.5,)})
    assert list(TOY.parts(asked)) == list(KIND.parts(at_one))
    rows = [{key: row[key] for key in ("domain_size", "variance")} for row in TOY.measure(asked)]
    assert rows == list(KIND.measure(at_one))
    left_out = [row["variance"] for row in TOY.measure(Asked({"domain_size": (4,)}))]
    assert left_out == [4.0]


@pytest.mark.parametrize("kind", SWEPT)
def test_every_swept_quantity_is_a_key_and_has_a_default(kind: str) -> None:
    experiment = registry.experiment(kind)
    axes = {axis.name: axis for axis in experiment.axes}
    for name in experiment.swept:
        assert axes[name].beside
        assert axes[name].default is not None
        assert name in experiment.keys
        assert not any(setting.name == name for setting in experiment.settings)
        assert all(name in table.rows for table in papers_of(experiment))


def swept_study(**changes: Any) -> dict[str, Any]:
    grid = {"domain_size": [4], "users_times_epsilon": [4, 8]}
    study = {"paper": "p", "artefact": "a", "kind": "full-parity", "title": "t", "grid": grid, "trials": 4}
    return {"studies": {"s": {**study, **changes}}}


def test_budgets_of_a_purely_private_kind_are_an_axis() -> None:
    grid = {"domain_size": [4], "users_times_epsilon": [4, 8], "epsilon": [0.5, 1.0]}
    several = load(swept_study(grid=grid), SCHEMA, base=".").studies["s"]
    assert several.asked["epsilon"] == (0.5, 1.0)
    frame = frame_of(several)
    tables.check(frame)
    for epsilon in (0.5, 1.0):
        single = load(swept_study(epsilon=epsilon), SCHEMA, base=".").studies["s"]
        assert set(parts_of(single.kind, single.asked)) <= {
            name.removesuffix(f"_{epsilon}") for name in parts_of(several.kind, several.asked)
        }
        rows = frame[frame["epsilon"] == epsilon].drop(columns="origin").reset_index(drop=True)
        assert rows.equals(frame_of(single).drop(columns="origin"))
    figure = figures.draw("full-parity", frame)
    assert [ax.get_title() for ax in figure.axes] == ["ε = 0.5", "ε = 1"]  # n = 4 is said below
    assert tables.latex(frame).count("0.5") >= 1
    with pytest.raises(ConfigErrors, match=r"studies.s.epsilon = 1.0: must be said once"):
        load(swept_study(grid=grid, epsilon=1.0), SCHEMA, base=".")


def test_studies_of_the_project_ask_one_value_of_every_swept_quantity() -> None:
    for study in project().studies.values():
        for name in registry.experiment(study.kind).swept:
            assert len(study.asked[name]) == 1, study.name
