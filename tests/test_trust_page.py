"""The page of faults and bad input shows the committed counts, and says when it does not."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from factormech.config.studies import load_file
from factormech.shipped import SCHEMA

SIX_DISKS = ("six jobs", "full disk")
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import faults  # type: ignore[import-not-found]  # noqa: E402
import fuzz  # type: ignore[import-not-found]  # noqa: E402
import trust  # type: ignore[import-not-found]  # noqa: E402
import trust_page  # type: ignore[import-not-found]  # noqa: E402

import mutants  # type: ignore[import-not-found]  # noqa: E402

sys.path.remove(str(ROOT / "tools"))


def test_another_table_and_a_changed_page_are_seen(tmp_path: Path) -> None:
    table, page = tmp_path / "t.csv", tmp_path / "t.md"
    table.write_text("workflow,fault,trials,failed\nsix,a,3,0\nsix,b,4,1\n")
    parts = ("trials", "bad input", "fuzz", "mutants")
    page.write_text("".join(f"x\n<!-- {name} -->\nold\n<!-- end of {name} -->\ny\n" for name in parts))
    assert trust_page.write(check=True, table=table, page=page) == 1
    assert trust_page.write(table=table, page=page) == 0
    assert "\n| all |  | 7 | 1 |\n" in page.read_text()
    assert "old" not in page.read_text()
    assert trust_page.write(check=True, table=table, page=page) == 0
    page.write_text(page.read_text().replace("| 4 |", "| 5 |"))
    assert trust_page.write(check=True, table=table, page=page) == 1
    page.write_text("no marks")
    with pytest.raises(SystemExit, match="no part"):
        trust_page.write(table=table, page=page)


def test_every_fault_was_tried_and_none_failed() -> None:
    counts = list(csv.DictReader(trust_page.TABLE.read_text().splitlines()))
    tried = {row["fault"]: int(row["trials"]) for row in counts if row["workflow"] == "six jobs"}
    assert tried.keys() == faults.FAULTS.keys()
    assert tried == trust.SHARES
    assert sum(int(row["trials"]) for row in counts if row["workflow"] == "quick") == 5
    assert {row["failed"] for row in counts} == {"0"}


def test_the_trials_of_a_fault_share_the_run_out() -> None:
    plan = trust.planned(104, 5)
    parts, disks = trust.parts_of(plan), [n for n, workflow, fault in plan if (workflow, fault) == SIX_DISKS]
    assert [parts[number] for number in disks] == [(k / 10, (k + 1) / 10) for k in range(10)]
    assert all(0.0 <= low < high <= 1.0 for low, high in parts.values())
    only = trust.planned(4, 0, "full disk")
    assert [trust.parts_of(only)[n] for n, *_ in only] == [(0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0)]


def test_a_sweep_has_the_points_that_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(trust.sweep(195))
    studies = load_file(path, SCHEMA).studies.values()
    grids = [(e, m) for study in studies for e in study.asked.grid["epsilon"] for m in study.asked["mechanisms"]]
    assert len(grids) == len(set(grids)) == 200


def test_inputs_were_fuzzed_and_none_was_a_fault() -> None:
    counts = list(csv.DictReader(trust_page.FUZZ.read_text().splitlines()))
    assert [row["reader"] for row in counts] == list(fuzz.SHARES)
    assert sum(int(row[outcome]) for row in counts for outcome in fuzz.OUTCOMES) >= 10_000
    assert {row["fault"] for row in counts} == {"0"}
    assert {row["ended"] for row in counts if row["reader"] not in fuzz.FORGED} == {"0"}


def test_mutants_were_judged() -> None:
    for row in csv.DictReader(trust_page.MUTANTS.read_text().splitlines()):
        assert row["module"] in mutants.MODULES
        found = [int(row[key]) for key in ("killed", "argued away", "survived")]
        assert sum(found) == int(row["judged"]) <= int(row["mutants"])
