"""The norms' benchmark: its stored lines are those of its cases, and running some cases keeps the rest."""

from __future__ import annotations

import csv
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "norms.py"


@pytest.fixture(scope="module")
def benchmark() -> Iterator[ModuleType]:
    """The script, without the environment that it sets."""
    before = dict(os.environ)
    spec = importlib.util.spec_from_file_location("norms_benchmark", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]
    os.environ.clear()
    os.environ.update(before)


def test_stored_lines_are_the_cases_in_their_order(benchmark: ModuleType) -> None:
    cases = list(benchmark.cases())
    stored = benchmark.kept(SCRIPT.with_suffix(".csv"))
    assert list(stored) == [case.name for case in cases]
    for case in cases:
        first, *others = stored[case.name]
        assert (float(first["gap_asked"]), float(first["seconds_asked"])) == (case.gap, case.seconds)
        assert first["met"] == "yes"
        # jax-privacy need not be installed here; every other rival must have been measured.
        named = [line["method"] for line in others if not line["method"].startswith("jax-privacy")]
        assert named == [name for name, _ in case.rivals if not name.startswith("jax-privacy")]


def test_stored_ratios_are_those_of_the_seconds(benchmark: ModuleType) -> None:
    for ours, *others in benchmark.kept(SCRIPT.with_suffix(".csv")).values():
        for line in others:
            ratio = float(line["cpu_seconds"]) / float(ours["cpu_seconds"])
            # Both are stored to 1e-4 s.
            assert float(line["ratio"]) == pytest.approx(ratio, rel=6e-5 / float(ours["cpu_seconds"]), abs=1.0)
            # Certified intervals of one number meet.
            assert float(line["lower"]) <= float(ours["upper"])
            assert float(ours["lower"]) <= float(line["upper"])


def test_running_some_cases_keeps_the_rest(
    benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "norms.csv"
    solve = benchmark.exact("gamma-2", benchmark.prefix(2))
    names = ["first", "second", "third"]
    every = [benchmark.Case(name, solve, 1e-6, 10.0, (("other", solve),)) for name in names]
    monkeypatch.setattr(benchmark, "cases", lambda: iter(every))
    line = dict.fromkeys(benchmark.COLUMNS, "old")
    benchmark.write(path, [line | {"case": name} for name in ("third", "second", "gone")])
    monkeypatch.setattr(sys, "argv", ["norms.py", "--only", "first", "second", "--output", str(path)])
    benchmark.main()
    with path.open(newline="") as file:
        found = [(row["case"], row["method"] == "old") for row in csv.DictReader(file)]
    assert found == [("first", False)] * 2 + [("second", False)] * 2 + [("third", True)]
