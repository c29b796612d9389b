"""Command lines in this process: exit code, what was said, and the checked JSON object."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import jsonschema
import numpy as np
import pytest

from factormech.cli.main import main
from factormech.cli.schema import schema


@dataclass(frozen=True)
class Said:
    """What a command line came to."""

    code: int
    out: str
    err: str


Run = Callable[..., Said]
Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> Said:
        capsys.readouterr()
        try:
            code: object = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
        assert isinstance(code, int)
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return call


@pytest.fixture
def ask(run: Run) -> Ask:
    """The JSON object of a command line that ends with the code given, valid by the command's schema."""

    def call(*arguments: object, code: int = 0) -> dict[str, Any]:
        said = run(*arguments, "--json")
        assert said.code == code, said.err
        found = json.loads(said.out, parse_constant=_refuse)
        words = [str(argument) for argument in arguments[:2]]
        command = words[0] if words[0] in ("norm", "plan", "check", "paper") else " ".join(words)
        command = "plan --class" if words == ["plan", "--class"] else command
        jsonschema.validate(found, schema("error" if found["status"] == "error" else command))
        assert list(nulls_without_reason(found)) == []
        return dict(found)

    return call


def _refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} in JSON")


def nulls_without_reason(value: Any) -> list[str]:
    """Keys with null in objects that give no reason; no file is no loss."""
    if isinstance(value, list):
        return [key for item in value for key in nulls_without_reason(item)]
    if not isinstance(value, dict):
        return []
    own = [key for key, item in value.items() if item is None and key != "file" and not value.get("reason")]
    return own + [key for item in value.values() for key in nulls_without_reason(item)]


@pytest.fixture
def prefix_file(tmp_path: Path) -> Path:
    """The prefix sums over 8 types, as a user's own file."""
    path = tmp_path / "mine.csv"
    np.savetxt(path, np.tri(8), delimiter=",", fmt="%g")
    return path
