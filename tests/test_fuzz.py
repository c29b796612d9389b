"""The fuzzer sees what it should see, and sees nothing in a few hundred inputs for every reader."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from factormech.errors import BadValue

pytestmark = pytest.mark.heavy

TOOLS = Path(__file__).resolve().parents[1] / "tools"
sys.path.insert(0, str(TOOLS))
import fuzz  # noqa: E402

sys.path.remove(str(TOOLS))


def refuse(_: Path) -> None:
    raise BadValue("a", 1, "be 2", "give 2")


def lines(_: Path) -> None:
    raise BadValue("a\nb", 1, "be 2", "give 2")


def colours(_: Path) -> None:
    raise BadValue("\x1b[31m", 1, "be 2", "give 2")


def fail(_: Path) -> None:
    raise TypeError("nothing to add")


def leave(_: Path) -> None:
    raise SystemExit


@pytest.mark.parametrize(
    ("read", "outcome"),
    [(str, "taken"), (refuse, "refused"), (lines, "fault"), (colours, "fault"), (fail, "fault"), (leave, "fault")],
)
def test_what_is_a_fault(read, outcome: str, tmp_path: Path) -> None:
    assert fuzz._outcome(read, tmp_path).partition(" ")[0] == outcome


def test_inputs_have_numbers() -> None:
    """An input that ended a process can be made again."""
    seeds = [b"1,2\n3,4\n", b"%YAML"]
    assert fuzz.input_of("csv", seeds, 7, 0) == fuzz.input_of("csv", seeds, 7, 0)
    assert len({fuzz.input_of("csv", seeds, number, 0) for number in range(100)}) > 80
    assert any(fuzz.changed(b"abc", random.Random(i)) != b"abc" for i in range(3))


@pytest.mark.parametrize("name", ["yaml", "csv", "npy", "table", "request", "certificate", "result"])
def test_no_reader_is_surprised(name: str) -> None:
    counts, faults = fuzz.fuzz(name, 50, seed=1)
    assert faults == []
    assert counts.total() == 50
    assert counts["refused"] >= 10


@pytest.mark.slow
def test_crashes_are_seen_and_contained() -> None:
    """SciPy's reader of Matrix Market files ends the process on one in thirty inputs; the package says so in a line."""
    counts, faults = fuzz.fuzz("mtx", 100, seed=0)
    assert faults == []
    assert counts["contained"] >= 1
