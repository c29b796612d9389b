"""The checker of one page accepts what the package proves, agrees with it, and refuses every planted forgery."""

from __future__ import annotations

import ast
import copy
import json
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from factormech.bounds.protocols import record as certificate
from factormech.bounds.protocols.largest import largest_error
from factormech.bounds.protocols.mean_squared import mean_squared_error
from factormech.bounds.protocols.record import ProtocolBound
from factormech.errors import BadValue
from factormech.workloads.registry import create
from tests.tiers import every

pytestmark = pytest.mark.heavy

CHECKER = Path(__file__).parents[3] / "tools" / "verify_protocol_bound.py"


def _run(path: Path, record: Any) -> subprocess.CompletedProcess[str]:
    path.write_text(record if isinstance(record, str) else json.dumps(record), encoding="utf-8")
    return subprocess.run([sys.executable, str(CHECKER), str(path)], capture_output=True, text=True, timeout=60)


def _record(bound: ProtocolBound, workload: Any) -> dict[str, Any]:
    return json.loads(certificate.text(bound, workload))


@pytest.fixture(scope="module")
def squared() -> dict[str, Any]:
    workload = create("prefix", 8)
    return _record(mean_squared_error(workload, 1.0, 10**4, types=range(8)), workload)


@pytest.fixture(scope="module")
def largest() -> dict[str, Any]:
    workload = create("parities", 8)
    return _record(largest_error(workload, 1.0, 20_000), workload)


def test_the_checker_is_one_page_and_shares_no_code_with_the_package() -> None:
    source = CHECKER.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 120
    modules = {node.module for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)}
    modules |= {a.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import) for a in node.names}
    assert modules <= {"__future__", "json", "math", "sys", "fractions", "pathlib", "typing"}


@pytest.mark.parametrize(("name", "epsilon"), [("prefix", 1.0), ("histogram", 3.0), ("all-ranges", 0.01)])
@pytest.mark.parametrize("users", [300, 10**8])
@pytest.mark.parametrize("data", ["given", "drawn"])
def test_bounds_of_theorem_a_hold(name: str, epsilon: float, users: int, data: Any, tmp_path: Path) -> None:
    workload = create(name, 16)
    if data == "given" and (epsilon, users) == (0.01, 300):
        users = 10**5
    bound = mean_squared_error(workload, epsilon, users, data=data, types=range(0, 16, 3))
    record = _record(bound, workload)
    done = _run(tmp_path / "c.json", record)
    assert (done.returncode, done.stderr) == (0, "")
    # β moves by up to ¼.
    assert 0.95 * bound.error < float(Fraction(record["error"])) <= bound.error * 1.01


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 6.0])
def test_bounds_of_theorem_c_hold(epsilon: float, tmp_path: Path) -> None:
    for name in ("parities", "prefix"):
        workload = create(name, 8)
        bound = largest_error(workload, epsilon, 10**6)
        if bound.theorem != "C":
            bound = largest_error(workload, epsilon, 10**9)
        done = _run(tmp_path / "c.json", _record(bound, workload))
        assert (done.returncode, done.stderr) == (0, "")


def test_real_workloads_of_floats_hold(tmp_path: Path) -> None:
    W = np.random.default_rng(0).standard_normal((5, 6))
    record = _record(mean_squared_error(W, 0.7, 10**5, types=range(6)), W)
    assert _run(tmp_path / "c.json", record).returncode == 0


def test_other_designs_have_no_certificate() -> None:
    workload = create("prefix", 8)
    pairs = mean_squared_error(workload, 4.0, 10**8)
    assert pairs.information == "pairs"
    with pytest.raises(BadValue, match="uniform prior"):
        certificate.text(pairs, workload)
    with pytest.raises(BadValue, match="uniform prior"):
        certificate.text(largest_error(np.array([[0.0, 1.0]]), 1.0, 10), np.array([[0.0, 1.0]]))


def _scaled(key: str, factor: Fraction) -> Callable[[dict[str, Any]], None]:
    def change(record: dict[str, Any]) -> None:
        record[key] = str(Fraction(record[key]) * factor)

    return change


def _entry(key: str, value: Any, row: int = 0, column: int = 0) -> Callable[[dict[str, Any]], None]:
    def change(record: dict[str, Any]) -> None:
        record[key][row][column] = value if not callable(value) else value(record[key][row][column])

    return change


def _put(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda record: record.update(changes)


def _doubled_dual(record: dict[str, Any]) -> None:
    record["dual"] = [[2 * x for x in row] for row in record["dual"]]


def _short_dual(record: dict[str, Any]) -> None:
    record["dual"] = [[row[0] + row[1], *row[2:]] for row in record["dual"]]


def _constant_row(record: dict[str, Any]) -> None:
    record["rows"][0] = [1] * len(record["rows"][0])


BOTH: dict[str, Callable[[dict[str, Any]], None]] = {
    "a larger error": _scaled("error", Fraction(1001, 1000)),
    "an error of 0": _put(error="0"),
    "a negative error": _put(error="-1"),
    "an error that is no number": _put(error="nan"),
    "a number that would fill the memory": _put(error="1e-999999999"),
    "a smaller ratio": _scaled("ratio", 1 - Fraction(1, 10**20)),
    "a larger ε": _scaled("epsilon", Fraction(11, 10)),
    "ε of 0": _put(epsilon="0"),
    "more users": lambda record: record.update(users=int(record["users"] * 1.01)),
    "no users": _put(users=0),
    "users that are no whole number": _put(users=99.5),
    "users as a truth value": _put(users=True),
    "larger rows": _put(rows_denominator=0),
    "rows of another unit": lambda record: record.update(rows_denominator=-record["rows_denominator"]),
    "a row that is too short": lambda record: record["rows"][0].pop(),
    "no rows": _put(rows=[]),
    "one type": _put(rows=[[1]]),
    "an entry that is a float": _entry("rows", 0.5),
    "an entry that is text": _entry("rows", "1"),
    "an entry that is too long": _entry("rows", 2**600),
    "another kind": _put(kind="factormech lower bound certificate"),
    "another version": _put(version=2),
    "another theorem": _put(theorem="D"),
    "other data": _put(data="stolen"),
    "a β that is not a multiple of ½": _put(beta="37/16"),
    "a β of 1": _put(beta="1"),
    "a β that is too large": _put(beta="100000000"),
    "no ratio": lambda record: record.pop("ratio"),
}
SQUARED: dict[str, Callable[[dict[str, Any]], None]] = {
    "a dual that is twice as large": _doubled_dual,
    "a dual with one entry changed": _entry("dual", lambda x: x + 1),
    "a dual of another shape": _short_dual,
    "a dual of zeros": lambda record: record.update(dual=[[0] * 8 for _ in range(8)]),
    "a dual of a smaller unit": lambda record: record.update(dual_denominator=record["dual_denominator"] // 2),
    "a constant row": _constant_row,
    "the other field": lambda record: record.update(
        field="constant" if record["field"] == "square-root" else "square-root"
    ),
    "an unknown field": _put(field="cubic"),
    "given data called drawn with the error of drawn data and more": lambda record: record.update(
        data="drawn", error=str(Fraction(record["error"]) * 2)
    ),
}
LARGEST: dict[str, Callable[[dict[str, Any]], None]] = {
    "dependent rows": lambda record: record["rows"].append(record["rows"][0]),
    "a constant row": _constant_row,
    "given data": _put(data="given"),
    "a smaller β": _put(beta="2"),
}


@pytest.mark.parametrize("forgery", every(3, [*SQUARED, *BOTH]))
def test_forgeries_of_theorem_a_are_refused_in_one_line(forgery: str, squared: dict[str, Any], tmp_path: Path) -> None:
    _refused(copy.deepcopy(squared), (BOTH | SQUARED)[forgery], tmp_path)


@pytest.mark.parametrize("forgery", every(2, [*LARGEST, *BOTH]))
def test_forgeries_of_theorem_c_are_refused_in_one_line(forgery: str, largest: dict[str, Any], tmp_path: Path) -> None:
    _refused(copy.deepcopy(largest), (BOTH | LARGEST)[forgery], tmp_path)


def _refused(record: dict[str, Any], change: Callable[[dict[str, Any]], None], tmp_path: Path) -> None:
    change(record)
    done = _run(tmp_path / "forged.json", record)
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("refused: ")


@pytest.mark.parametrize("text", ["", "[]", "{", "null", "3", "[" * 100_000])
def test_files_that_are_no_certificate_are_refused(text: str, tmp_path: Path) -> None:
    done = _run(tmp_path / "bad.json", text)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
