"""The tool that plants faults: what it changes, how a fault takes the place of a function, and what ends its tests."""

from __future__ import annotations

import sys
from functools import cached_property, lru_cache
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.heavy

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
import mutants  # type: ignore[import-not-found]  # noqa: E402

sys.path.remove(str(TOOLS))

SOURCE = '''
def clipped(x: float, high: float = 2.0) -> float:
    """Words with 1 + 1."""
    if x < 0:
        raise ValueError(f"{x + 1}")
    total = min(x, high)
    total += 1
    return -total if x and not high else total
'''


def values(code: object) -> list[float | str]:
    def clipped(x: float, high: float = 2.0) -> float:
        return 0.0

    clipped.__code__ = code  # type: ignore[assignment]
    found: list[float | str] = []
    for arguments in ((-1.0, 2.0), (0.0, 2.0), (1.0, 2.0), (3.0, 2.0), (1.0, 0.0)):
        try:
            found.append(clipped(*arguments))
        except ValueError:
            found.append("refused")
    return found


def test_every_change_changes_something() -> None:
    original = ["refused", 1.0, 2.0, 3.0, -1.0]
    made = list(mutants.mutants(SOURCE))
    assert {name for name, *_ in made} == {"clipped"}
    changed = [values(code) for *_, code in made]
    assert all(found != original for found in changed)
    assert {"x <= 0", "max", "2", "pass", "total -= 1"} <= {new for _, _, new, _ in made}
    assert not any("1 + 1" in new or "f'" in new for _, _, new, _ in made)  # words are left alone


def test_functions_are_found_below_their_decorators() -> None:
    module = ModuleType("one")

    class Thing:
        @cached_property
        def size(self) -> int:
            return 1

        @property
        def name(self) -> str:
            return "thing"

        @staticmethod
        def made() -> int:
            return 2

    module.__dict__.update(Thing=Thing, kept=lru_cache(test_every_change_changes_something))
    for name in ("Thing.size", "Thing.name", "Thing.made", "kept"):
        found = mutants.planted(module, name)
        assert found is not None
        assert found.__code__.co_name in (name.rpartition(".")[2], "test_every_change_changes_something")
    assert mutants.planted(module, "Thing.none") is None


@pytest.mark.slow
@pytest.mark.parametrize(("body", "dead"), [("return 3", True), ("return 2", False), ("while True: pass", True)])
def test_tests_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, dead: bool) -> None:
    """In a fork, without a trace in this process."""
    monkeypatch.setattr(mutants, "run", lambda tests: int(subject() != 2))
    scope: dict[str, object] = {}
    exec(f"def subject():\n    {body}", scope)  # noqa: S102
    assert mutants.killed(subject, scope["subject"].__code__, (), 2)[0] is dead  # type: ignore[attr-defined]
    assert subject() == 2


def subject() -> int:
    return 2


def test_reasons_name_lines_that_exist() -> None:
    for module, reasons in mutants.EQUIVALENT.items():
        path = TOOLS.parent / "src" / "factormech" / f"{module.replace('.', '/')}.py"
        lines, made = path.read_text().splitlines(), list(mutants.mutants(path.read_text()))
        assert reasons.keys() <= {(lines[line - 1].strip(), new) for _, line, new, _ in made}
