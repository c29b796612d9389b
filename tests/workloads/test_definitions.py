"""A user's own workloads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from factormech.errors import BadValue, UnknownName
from factormech.workloads import definitions as d
from factormech.workloads import registry

from .oracles import matrix

DEFINITIONS = {
    "table": {"file": "w.csv"},
    "mixed": {"union": [{"workload": "prefix", "weight": 2}, {"workload": "total"}]},
    "grid": {"kronecker": [{"workload": "prefix", "domain_size": 3}, {"workload": "histogram"}]},
    "fixed": {"kronecker": [{"workload": "parities", "domain_size": 4}, {"workload": "prefix", "domain_size": 3}]},
    "deep": {"union": [{"workload": "grid", "weight": 0.5}, {"workload": "table"}, {"workload": "all-ranges"}]},
    "noise": {"union": [{"workload": "random-signs"}, {"workload": "random-signs"}, {"workload": "prefix"}]},
    "prefix": {"union": [{"workload": "histogram"}]},
}
TABLE = np.array([[1.0, 2, 3, 4, 5, 6], [0, 0, 0.5, 0, 0, 0]])


@pytest.fixture
def base(tmp_path):
    np.savetxt(tmp_path / "w.csv", TABLE, delimiter=",")
    return tmp_path


DEFINITIONS_WITHOUT_SHADOW = {name: value for name, value in DEFINITIONS.items() if name != "prefix"}


def make(name, n, base=Path(), definitions=DEFINITIONS_WITHOUT_SHADOW, **options):
    return d.create(name, n, definitions, base=base, **options)


def test_each_kind(base):
    prefix3 = matrix("prefix", 3)
    grid = np.kron(prefix3, np.eye(2))
    wanted = {
        "table": TABLE,
        "mixed": np.concatenate([2 * matrix("prefix", 6), np.ones((1, 6))]),
        "grid": grid,
        "deep": np.concatenate([0.5 * grid, TABLE, matrix("all-ranges", 6)]),
        "all-ranges": matrix("all-ranges", 6),
    }
    for name, W in wanted.items():
        workload = make(name, 6, base)
        assert workload.name == name
        assert np.array_equal(workload.matrix(), W)
    assert np.array_equal(make("fixed", 12).matrix(), np.kron(matrix("parities", 4), prefix3))


def test_a_definition_comes_before_a_registered_name():
    assert np.array_equal(make("prefix", 4, definitions=DEFINITIONS).matrix(), np.eye(4))
    assert np.array_equal(make("prefix", 4, definitions={}).matrix(), matrix("prefix", 4))


def test_seeded_parts_have_streams_of_their_own():
    assert d.is_seeded("noise", DEFINITIONS)
    assert not d.is_seeded("deep", DEFINITIONS)
    one, again, other = (make("noise", 8, seed=seed).matrix() for seed in (0, 0, 1))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert not np.array_equal(one[:8], one[8:16])
    assert np.array_equal(make("random-signs", 8, seed=5).matrix(), registry.create("random-signs", 8, seed=5).matrix())


def test_modules_and_files(base):
    workloads = "factormech.workloads."
    assert d.modules_of("all-ranges", {}) == {workloads + "ranges"}
    deep = {workloads + module for module in ("combinators", "ranges", "histogram", "matrix")}
    assert d.modules_of("deep", DEFINITIONS_WITHOUT_SHADOW) == deep
    assert d.files_of("deep", DEFINITIONS, base) == [base / "w.csv"]
    assert d.files_of("mixed", DEFINITIONS, base) == []
    twice = {**DEFINITIONS, "t": {"union": [{"workload": "table"}, {"workload": "table"}]}}
    assert d.files_of("t", twice, base) == [base / "w.csv"]
    assert d.files_of("a", {"a": {"file": "/abs/w.npy"}}, base) == [Path("/abs/w.npy")]


def test_reasons(base):
    def reason(name, n):
        return d.reason_against(name, n, DEFINITIONS_WITHOUT_SHADOW, base)

    assert [reason(name, 6) for name in ("table", "mixed", "grid", "deep", "noise", "prefix")] == [None] * 6
    assert reason("table", 7) == "w.csv has 6 columns; give domain_size 6"
    assert reason("deep", 12) == "part table: w.csv has 6 columns; give domain_size 6"
    assert reason("grid", 7) == "its factors' domain sizes have the product 3; give a multiple of it"
    assert reason("fixed", 13) == "its factors' domain sizes have the product 12; give domain_size 12"
    assert "12 is none" in reason("parities", 12)
    assert "must be a whole number" in reason("prefix", 0)
    assert "must be a whole number" in reason("grid", 1.5)
    with pytest.raises(BadValue, match=r"domain_size = 7: must suit the workload grid; its factors' .* multiple"):
        make("grid", 7)


def test_the_columns_of_a_file_are_read_again_when_it_changes(base):
    assert d.reason_against("table", 6, DEFINITIONS, base) is None
    (base / "w.csv").write_text("1,2\n")
    assert d.reason_against("table", 2, DEFINITIONS, base) is None


def test_broken_files_are_refused_whatever_the_size(base):
    with pytest.raises(BadValue, match=r"none.csv = 'no such file'"):
        d.reason_against("a", 6, {"a": {"file": "none.csv"}}, base)
    (base / "w.csv").write_text("1,x\n")
    with pytest.raises(BadValue, match="line 1, column 2 = 'x'"):
        make("table", 2, base)


BAD = [
    (3, r"workloads\.a = 3: must be \{file"),
    (["prefix"], r"workloads\.a = \['prefix'\]"),
    ({}, r"workloads\.a: keys = \[\]"),
    ({"file": "w.csv", "union": []}, "just one of file, union, kronecker"),
    ({"file": "w.csv", "datset": "x"}, r"workloads\.a: key = 'datset': .* did you mean 'dataset'"),
    ({"union": [{"workload": "prefix"}], "dataset": "x"}, r"workloads\.a: key = 'dataset'"),
    ({"file": ""}, r"workloads\.a\.file = '': must be a path"),
    ({"file": 3}, r"workloads\.a\.file = 3"),
    ({"file": "w.h5", "dataset": 3}, r"workloads\.a\.dataset = 3"),
    ({"union": []}, r"workloads\.a\.union = \[\]: must be a list of at least one workload"),
    ({"union": "prefix"}, r"workloads\.a\.union = 'prefix'"),
    ({"union": ["prefix"]}, r"workloads\.a\.union\[0\] = 'prefix': must name its workload"),
    ({"union": [{"weight": 1}]}, r"workloads\.a\.union\[0\] = .*must name its workload"),
    ({"union": [{"workload": 3}]}, r"workloads\.a\.union\[0\]"),
    (
        {"union": [{"workload": "prefix", "wieght": 1}]},
        r"union\[0\]: key = 'wieght': .* did you mean 'weight'",
    ),
    ({"union": [{"workload": "prefix", "domain_size": 1}]}, r"union\[0\]: key = 'domain_size'"),
    ({"union": [{"workload": "prefix", "weight": 0}]}, r"union\[0\]\.weight = 0: must be a number above 0"),
    ({"union": [{"workload": "prefix", "weight": float("nan")}]}, r"union\[0\]\.weight = nan"),
    (
        {"union": [{"workload": "prefix"}, {"workload": "perfix"}]},
        r"workloads\.a: workload = 'perfix'.*'prefix'",
    ),
    ({"kronecker": [{"workload": "prefix", "domain_size": 0}]}, r"kronecker\[0\]\.domain_size = 0"),
    ({"kronecker": [{"workload": "prefix", "domain_size": None}]}, r"kronecker\[0\]\.domain_size = None"),
    ({"kronecker": [{"workload": "prefix", "weight": 1.0}]}, r"kronecker\[0\]: key = 'weight'"),
    (
        {"kronecker": [{"workload": "prefix"}, {"workload": "total"}]},
        "left out of 2': must be left out of one",
    ),
]


@pytest.mark.parametrize(("definition", "message"), BAD)
def test_bad_definitions(definition, message):
    for call in (
        lambda: make("a", 4, definitions={"a": definition}),
        lambda: d.modules_of("a", {"a": definition}),
        lambda: d.reason_against("a", 4, {"a": definition}),
    ):
        with pytest.raises(BadValue, match=message) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_unknown_names_list_the_definitions_too():
    with pytest.raises(UnknownName, match=r"workload = 'grids': .* did you mean 'grid'\? known: .*mixed.*prefix"):
        make("grids", 4)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_cycles_are_refused(length):
    cycle = {f"c{i}": {"union": [{"workload": "prefix"}, {"workload": f"c{(i + 1) % length}"}]} for i in range(length)}
    for name in cycle:
        with pytest.raises(BadValue, match="must not lead back to itself; break the cycle"):
            make(name, 4, definitions=cycle)
    outside = {**cycle, "out": {"kronecker": [{"workload": "c0"}]}}
    with pytest.raises(BadValue, match="c0 -> "):
        d.is_seeded("out", outside)


def test_the_same_part_twice_is_no_cycle():
    assert make("b", 4, definitions={**DEFINITIONS, "b": {"union": [{"workload": "mixed"}] * 2}}).queries == 10
