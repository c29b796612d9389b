"""Words that Tab completes, and help that shows an example for every command."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from factormech.cli.completion import words
from factormech.cli.parser import NORMS, build, parse
from factormech.cli.schema import COMMANDS

from .conftest import Run

LEAVES = [tuple(name.split()) for name in COMMANDS if name != "error" and "--" not in name]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["pl"], ["plan"]),
        (["st"], ["strategy", "study"]),
        (["strategy", "o"], ["optimise"]),
        (["plan", "pre"], ["prefix"]),
        (["plan", "--epsilon", "1", "pre"], ["prefix"]),
        (["plan", "prefix", "--met"], ["--metric"]),
        (["plan", "prefix", "--metric", ""], ["linf", "mse"]),
        (["plan", "prefix", "--json", "--rm"], ["--rmse"]),
        (["norm", "gamma-2"], [name for name in sorted(NORMS) if name.startswith("gamma-2")]),
        (["norm", "eta", "hist"], ["histogram"]),
        (["strategy", "verify", "Q"], []),
        (["nonsense", "x"], []),
        (["--vers"], ["--version"]),
    ],
)
def test_words_that_may_stand_next(given: list[str], found: list[str]) -> None:
    assert words(given) == found


def test_studies_are_completed_from_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert words(["study", "show", ""]) == []
    Path("config.yaml").write_text("seed: 0\nstudies:\n  first-one:\n    paper: x\n  second:\n    paper: y\n")
    assert words(["study", "show", ""]) == ["first-one", "second"]
    assert words(["results", "show", "s"]) == ["second"]
    assert words(["trace", "f"]) == ["first-one"]


def test_the_words_of_a_command_line_are_one_a_line(run: Run) -> None:
    assert run("completion", "words", "--", "plan", "prefix", "--m").out == "--metric\n"
    assert "--epsilon" in run("completion", "words", "--", "plan", "prefix", "--").out.splitlines()
    assert "_factormech" in run("completion", "zsh").out
    assert run("completion", "csh").code == 2


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")
def test_bash_completes(tmp_path: Path) -> None:
    command = tmp_path / "factormech"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m factormech.cli "$@"\n')
    command.chmod(0o755)
    script = (
        f'export PATH={tmp_path}:$PATH; eval "$(factormech completion bash)"; '
        'COMP_WORDS=(factormech strategy ex); COMP_CWORD=2; _factormech; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "export\n"


@pytest.mark.parametrize("command", LEAVES, ids=" ".join)
def test_every_command_shows_an_example_that_is_one(run: Run, command: tuple[str, ...]) -> None:
    text = run(*command, "--help").out
    example = shlex.split(text.rpartition("example:\n  ")[2])
    assert example[: 1 + len(command)] == ["factormech", *command]
    assert parse(example[1:]).answer
    assert max(map(len, text.splitlines())) <= 120


def test_help_is_in_sentences() -> None:
    def check(parser: object) -> None:
        for child in (getattr(parser, "groups", None) or type("", (), {"choices": {}})).choices.values():
            assert child.description[0].isupper()
            assert child.description.endswith(".")
            check(child)

    check(build())
