"""The page's tables are what its command prints, and its example runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from factormech.bounds.packing import __main__ as command

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "lower-bounds-pure.md").read_text()


@pytest.mark.parametrize("part", [command.constants, command.parities, command.users_of_parity, command.others])
def test_tables_are_those_of_the_command(part: object) -> None:
    assert "\n".join(part()) in PAGE  # type: ignore[operator]


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(compile(code, "docs/lower-bounds-pure.md", "exec"), {})  # noqa: S102
    value, method, size, copies = capsys.readouterr().out.split()
    assert (method, size, copies) == ("packing", "30", "2")
    assert float(value) == pytest.approx(0.0698, abs=1e-4)
