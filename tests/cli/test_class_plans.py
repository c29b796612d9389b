"""``factormech plan --class``: the same numbers as in Python, and one line for what does not belong together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import factormech as fm

from .conftest import Ask, Run

README = Path(__file__).resolve().parents[2] / "README.md"
CLASS = ("plan", "--class", "conjunctions", "--attributes", 6, "--epsilon", 1, "--alpha", 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("task", [(), ("--realizable",), ("--refute",), ("--refute", "--realizable")])
def test_the_command_says_what_python_says(ask: Ask, task: tuple[str, ...]) -> None:
    found = ask(*CLASS, *task)
    given = {word.removeprefix("--"): True for word in task}
    plan = fm.plan(concept_class="conjunctions", attributes=6, epsilon=1.0, alpha=0.1, **given)  # type: ignore[call-overload]
    assert (found["users"], found["protocol"], found["engine"]) == (plan.best.users, plan.best.name, "blocks")
    assert (found["lower_bound"], found["bound_class"]) == (plan.bound.users, plan.bound.protocol)
    assert found["ratio"] == plan.ratio
    assert [one["users"] for one in found["protocols"]] == [one.users for one in plan.candidates]
    assert {one["bound_class"] for one in found["bounds"]} <= {"non-interactive", "sequential", "every"}
    assert (found["task"], found["realizable"]) == ("refute" if plan.refute else "learn", plan.realizable)


def test_a_reader_sees_protocol_theorem_bound_ratio_and_engine(run: Run) -> None:
    said = run(*CLASS, "--refute").out
    for text in ("Agnostic refuter", "Theorem 29", "without interaction", "times fewer", "γ =", "norms/subsets"):
        assert text in said
    dense = run(
        "plan", "--class", "thresholds", "--domain-size", 4, "--epsilon", 1, "--alpha", 0.1, "--failure", 0.05
    ).out
    assert "norms/approximate" in dense
    assert "probability 0.95" in dense


@pytest.mark.slow
def test_the_command_of_the_readme_runs(run: Run) -> None:
    said = re.findall(r"`factormech (plan --class [^`]*)`", README.read_text())
    assert len(said) == 1
    found = run(*said[0].split())
    assert (found.code, "1,024 concepts" in found.out) == (0, True)


WRONG = {
    ("plan", "--epsilon", "1", "--alpha", "0.1"): "or --class",
    ("plan", "prefix", "--class", "points", "--epsilon", "1", "--alpha", "0.1"): "not be given with --class",
    ("plan", "prefix", "--domain-size", "4", "--refute", "--epsilon", "1", "--alpha", "0.1"): "with --class alone",
    ("plan", "--class", "conjunctions", "--attributes", "4", "--epsilon", "1", "--rmse", "0.1"): "--alpha",
    ("plan", "--class", "conjunctions", "--attributes", "31", "--epsilon", "1", "--alpha", "0.1"): "to 30 attributes",
    ("plan", "--class", "conjunctions", "--epsilon", "1", "--alpha", "0.1"): "--attributes = 'nothing'",
    (
        "plan",
        "--class",
        "conjunctons",
        "--attributes",
        "3",
        "--epsilon",
        "1",
        "--alpha",
        "0.1",
    ): "--class = 'conjunctons'",
    (
        "plan",
        "--class",
        "points",
        "--domain-size",
        "3",
        "--epsilon",
        "1",
        "--alpha",
        "0.1",
        "--failure",
        "0.5",
    ): "--failure",
}


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_what_does_not_belong_together_is_one_line(run: Run, words: tuple[str, ...]) -> None:
    said = run(*words)
    assert (said.code, said.out) == (1, "")
    assert WRONG[words] in said.err
    assert said.err.count("\n") == 1
