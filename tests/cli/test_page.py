"""The page of the command line is what the command line says now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from factormech.cli.schema import COMMANDS, KEYS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"error", "study list", "check", "init", "trace"}))
def test_every_command_is_shown(command: str) -> None:
    assert f"$ factormech {command} " in PAGE or f"$ factormech {command}\n" in PAGE


def test_every_key_is_explained() -> None:
    assert all(f"| `{name}` | {key.type}" in PAGE for name, key in KEYS.items())


@pytest.mark.slow
def test_the_page_is_current() -> None:
    tool = ROOT / "tools" / "command_line_page.py"
    done = subprocess.run([sys.executable, str(tool), "--check"], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == ""
    assert done.returncode == 0
