"""The counter-examples of the page run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "statistical-queries.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(
    "code", BLOCKS, ids=["constant", "dimension", "certified", "every algorithm", "tolerance", "scales"]
)
def test_the_code_of_the_page_holds(code: str) -> None:
    assert "assert" in code
    exec(compile(code, str(PAGE), "exec"), {})  # noqa: S102
