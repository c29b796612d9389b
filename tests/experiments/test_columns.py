"""One vocabulary of columns: no name twice, none unknown or unused, and older tables read by the names of today."""

from __future__ import annotations

import collections
import csv
import io
from pathlib import Path

import pytest

from factormech.errors import UnknownName
from factormech.studies.base import Column
from factormech.studies.columns import MEANINGS, meaning
from factormech.studies.registry import experiment, names
from factormech.studies.renamed import RENAMED
from factormech.tables import kinds
from factormech.tables.rows import KIND, ORIGIN, STUDY
from tests.tiers import every

GALLERY = Path(__file__).parents[2] / "docs/gallery"
NO_TABLE = {"claims", "jobs", "run", "times"}
TABLES = sorted(path for path in GALLERY.glob("*.csv") if path.stem not in NO_TABLE)
OF_ALL = {STUDY, KIND, ORIGIN}


def test_no_name_is_defined_twice_and_none_is_unused() -> None:
    defined = [found.name for found in MEANINGS]
    used = {column.name for kind in kinds.names() for column in kinds.declared(kind).columns}
    axes = {axis.name for kind in names() for axis in experiment(kind).axes}
    assert [name for name, count in collections.Counter(defined).items() if count > 1] == []
    assert sorted(defined) == sorted(used | axes | OF_ALL)
    assert defined == sorted(defined)
    assert all(found.label and found.description.endswith(".") for found in MEANINGS)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean 'lower_bound'"):
        Column("lower_bond")


def test_an_integer_that_may_be_empty_is_a_number() -> None:
    assert meaning("trials").type == Column("trials").type == "integer"
    assert Column("trials", empty="free").type == "number"


@pytest.mark.parametrize("kind", RENAMED)
def test_no_older_name_is_a_name_of_today(kind: str) -> None:
    columns = {column.name for column in kinds.declared(kind).columns}
    assert set(RENAMED[kind].values()) <= columns
    assert not set(RENAMED[kind]) & columns


@pytest.mark.parametrize("path", every(4, reversed(TABLES)), ids=lambda path: path.stem)
def test_a_table_with_older_names_is_read_and_written_with_those_of_today(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    kind = kinds.kind_of(kinds.read_csv(path))
    older = {now: name for name, now in RENAMED.get(kind, {}).items()}
    header, rest = text.split("\n", 1)
    (tmp_path / "older.csv").write_text("\n".join([",".join(older.get(c, c) for c in header.split(",")), rest]))
    frame = kinds.read_csv(tmp_path / "older.csv")
    assert kinds.kind_of(frame) == kind
    kinds.write_csv(frame, tmp_path / "now.csv")
    now = list(csv.DictReader(io.StringIO((tmp_path / "now.csv").read_text(encoding="utf-8"))))
    assert [{name: row[name] for name in header.split(",")} for row in now] == list(csv.DictReader(io.StringIO(text)))
