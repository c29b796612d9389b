"""What people type: other spellings, typos, numbers, and both ways to say a target error."""

from __future__ import annotations

import json

import pytest

import factormech as fm
from factormech.cli.parser import NORMS, norm_kind
from factormech.cli.schema import COMMANDS
from factormech.labels import NORM_ALIASES
from factormech.norms.registry import quantities

from .conftest import Ask, Run

N8 = ("--domain-size", "8")
E1 = ("--epsilon", "1")


def test_the_version_is_that_of_the_package(run: Run) -> None:
    said = run("--version")
    assert (said.code, said.out) == (0, f"factormech {fm.__version__}\n")


TYPOS = {
    ("pln", "prefix"): "did you mean 'plan'",
    ("optimize", "prefix"): "did you mean 'strategy optimise'",
    ("compare",): "did you mean 'strategy compare'",
    ("strategy", "optmise"): "did you mean 'strategy optimise'",
    ("workload", "lst"): "did you mean 'workload list'",
    ("norm", "gama2", "prefix"): "did you mean 'gamma-2'",
    ("norm", "gamma-F2", "prefix"): "did you mean 'gamma-f'",
    ("norm", "zzz", "prefix"): "known: gamma-2",
    ("zzz",): "known: workload, strategy",
    ("plan", "prefix", "--domainsize", "8"): "did you mean '--domain-size'",
    ("plan", "prefix", "--zzz=8"): "'--zzz' is no option of this command",
}


@pytest.mark.parametrize("words", TYPOS, ids=" ".join)
def test_a_typo_is_answered_with_the_nearest_word(run: Run, words: tuple[str, ...]) -> None:
    said = run(*words)
    assert (said.code, said.out) == (2, "")
    assert TYPOS[words] in said.err
    assert said.err.count("\n") == 1


def test_a_family_of_workloads_is_suggested_by_a_member(run: Run) -> None:
    assert "did you mean '2-way-marginals'" in run("workload", "describe", "k-way-marginals", *N8).err


def test_other_spellings_are_the_same_command(ask: Ask, run: Run) -> None:
    base = ("prefix", *N8, *E1, "--json")
    one, other = (json.loads(run("strategy", word, *base).out) for word in ("optimise", "optimize"))
    assert one | {"seconds": 0.0} == other | {"seconds": 0.0}
    values = {word: ask("norm", word, "prefix", *N8)["upper_bound"] for word in ("gamma2", "gamma-2")}
    assert values["gamma2"] == values["gamma-2"] == fm.norm("prefix", "gamma-2", n=8).upper
    for word in ("gammaF", "gammaf", "gamma-F"):
        assert ask("norm", word, "prefix", *N8)["norm"] == "gamma-f"


def test_every_alias_is_of_a_norm_and_every_norm_is_known_to_the_registry() -> None:
    assert {norm_kind(alias) for alias in NORM_ALIASES} <= {*NORMS}
    assert {*NORMS} - {"gamma-p"} <= {*quantities()}


def test_numbers_are_read_as_people_write_them(ask: Ask, run: Run) -> None:
    assert ask("workload", "describe", "prefix", "--domain-size", "1e2")["domain_size"] == 100
    base = ("strategy", "compare", "prefix", "--domain-size", "4")
    one = ask(*base, "--epsilon", "100%", "--alpha", "1%")
    assert (one["epsilon"], one["alpha"]) == (1.0, 0.01)
    for bad, words in (("1.5", "no whole number"), ("1%", "no whole number"), ("inf", "no whole"), ("x", "no number")):
        said = run("workload", "describe", "prefix", "--domain-size", bad)
        assert said.code == 2
        assert words in said.err


@pytest.mark.parametrize("command", [("plan",), ("strategy", "compare")])
def test_a_target_may_be_given_in_percentage_points(ask: Ask, run: Run, command: tuple[str, ...]) -> None:
    base = (*command, "prefix", "--domain-size", "4", *E1)
    by_root, by_square = ask(*base, "--rmse", "5%"), ask(*base, "--alpha", 0.05**2)
    assert by_root["alpha"] == by_square["alpha"]
    assert by_root["rmse"] == pytest.approx(0.05, rel=1e-15)
    assert by_root["mechanisms"][0]["users"] == by_square["mechanisms"][0]["users"]
    said = run(*base, "--alpha", "0.01").out
    assert "a mean squared error of 0.01, a root mean square error of 10 percentage points" in said
    assert run(*base, "--alpha", "0.01", "--rmse", "0.1").code == 2
    assert "--rmse = 0.0" in run(*base, "--rmse", "0").err


def test_the_plan_of_the_command_line_is_that_of_python(ask: Ask) -> None:
    said = ask("plan", "prefix", "--domain-size", "4", *E1, "--rmse", "5%")
    found = fm.plan(fm.workload("prefix", 4), 1.0, rmse=0.05)
    assert (said["users"], said["lower_bound"]) == (found.best.users, found.lower_bound)


def test_what_needs_no_users_is_not_planned(run: Run) -> None:
    for metric in ("mse", "linf"):
        said = run("plan", "total", *N8, *E1, "--alpha", "0.01", "--metric", metric)
        assert said.code == 1
        assert "need no users" in said.err
    # Of the identity over n types the best constant is 1/n each: (1 − 1/n)² + (n − 1)/n² = 1 − 1/n, over n queries.
    error = (1.0 - 1.0 / 8) / 8
    said = run("plan", "histogram", *N8, *E1, "--alpha", error * (1 + 1e-6))
    assert said.code == 1
    assert f"must be below {error:.6g}, the mean squared error of the best constant answer" in said.err
    assert "--rmse = 0.5: must be below" in run("plan", "histogram", *N8, *E1, "--rmse", "50%").err
    assert run("plan", "histogram", *N8, *E1, "--alpha", error * (1 - 1e-6)).code == 0


@pytest.mark.parametrize(
    "command", [(), *(tuple(name.split()) for name in COMMANDS if name not in ("error", "plan --class"))], ids=" ".join
)
def test_every_command_explains_itself(run: Run, command: tuple[str, ...]) -> None:
    said = run(*command, "--help")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"usage: {' '.join(['factormech', *command])}")


def test_a_configuration_without_its_option_is_told_of_it(run: Run) -> None:
    said = run("check", "mine.yaml")
    assert said.code == 2
    assert "a configuration is named by --config mine.yaml" in said.err
    assert "--config" not in run("check", "mine").err
