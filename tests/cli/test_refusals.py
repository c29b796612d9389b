"""Wrong input: one helpful line, the right exit code, nothing written, nothing on standard output."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from factormech.store import hdf5
from tests.tiers import every

from .conftest import Ask, Run

N8 = ("--domain-size", "8")
E1 = ("--epsilon", "1")
OPTIMISE = ("strategy", "optimise", "prefix", *N8)
PLAN = ("plan", "prefix", *N8)
HUGE = ("--domain-size", "1000000000000")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with every kind of bad file."""
    monkeypatch.chdir(tmp_path)
    Path("garbage.csv").write_bytes(bytes(range(256)))
    Path("garbage.npy").write_bytes(b"\x93NUMPY" + bytes(range(200)))
    Path("garbage.h5").write_bytes(np.random.default_rng(0).bytes(2000))
    Path("nan.csv").write_text("1,2\n3,nan\n")
    Path("two.csv").write_text("1,2\n")
    Path("folder.csv").mkdir()
    Path("plain").write_text("")
    Path("x.yaml").write_text("workloads: {prefx: {file: two.csv}, five: 5}\n")
    Path("list.yaml").write_text("workloads: [five]\n")
    Path("number.yaml").write_text("plugins: 7\n")
    hdf5.write("other.h5", "measurement", datasets={"m": np.eye(3)}, attributes={})
    hdf5.write("empty.h5", "strategy", datasets={}, attributes={"mechanism": "optimised"})
    attributes = {"mechanism": "optimised", "workload": "prefix", "domain_size": 2, "epsilon": 1.0, "chosen": "exact"}
    hdf5.write("hollow.h5", "strategy", datasets={"weights": np.ones(2)}, attributes=attributes)
    gone = {**attributes, "mechanism": "nonsense"}
    hdf5.write("nonsense.h5", "strategy", datasets={}, attributes=gone)
    elsewhere = {**attributes, "workload": "of-my-own", "chosen": "randomized-response"}
    hdf5.write("elsewhere.h5", "strategy", datasets={}, attributes=elsewhere)
    hdf5.write("good.h5", "strategy", datasets={}, attributes={**elsewhere, "workload": "prefix"})
    return tmp_path


WRONG = {
    "an unknown workload": (("workload", "describe", "prefx", *N8), "did you mean 'prefix'"),
    "a figure that was never made": (("trace", "figures/none.svg"), "none.csv"),
    "a class that is too large": (
        ("plan", "--class", "conjunctions", "--attributes", "31", *E1, "--alpha", "0.1"),
        "to 30 attributes",
    ),
    "an unknown study to begin with": (("init", "mine", "--study", "nope"), "--study"),
    "a point without a value": (("trace", "none", "--point", "epsilon"), "be KEY=VALUE"),
    "no domain size": (("workload", "describe", "prefix"), "--domain-size"),
    "no types": (("workload", "describe", "prefix", "--domain-size", "0"), "--domain-size = 0"),
    "too many types": (("workload", "describe", "prefix", *HUGE), "from 1 to"),
    "types that do not suit": (("workload", "describe", "all-marginals", "--domain-size", "12"), "power of two"),
    "another number of types than the file has": (("workload", "describe", "two.csv", *N8), "has 2 columns"),
    "a file that is not there": (("workload", "describe", "none.csv"), "none.csv"),
    "a folder": (("workload", "describe", "folder.csv"), "a folder"),
    "a folder by its path": (("workload", "describe", "./"), "suffix"),
    "a binary file": (("workload", "describe", "garbage.csv"), "garbage.csv"),
    "a broken array": (("norm", "gamma2", "garbage.npy"), "garbage.npy"),
    "no HDF5": (("norm", "gamma2", "garbage.h5"), "garbage.h5"),
    "an entry that is no number": (("plan", "nan.csv", *E1, "--alpha", "0.1"), "line 2, column 2 = nan"),
    "a result as queries": (("norm", "gamma2", "other.h5"), "of kind measurement"),
    "a negative seed": (("workload", "describe", "prefix", *N8, "--seed", "-1"), "--seed = -1"),
    "no budget": ((*OPTIMISE, "--epsilon", "0"), "--epsilon = 0"),
    "a budget that is no number": ((*OPTIMISE, "--epsilon", "nan"), "--epsilon = nan"),
    "an infinite budget": (("strategy", "compare", "prefix", *N8, "--epsilon", "inf"), "--epsilon = inf"),
    "a budget out of range": ((*PLAN, "--epsilon", "1e9", "--alpha", "1"), "--epsilon"),
    "a huge solve": (("strategy", "optimise", "prefix", *HUGE, *E1), "from 1 to 8192"),
    "too few rows": ((*OPTIMISE, *E1, "--rows", "3"), "at least 8"),
    "no rows": ((*OPTIMISE, *E1, "--rows", "0"), "--rows = 0"),
    "a gap that is no number": ((*OPTIMISE, *E1, "--gap-limit", "nan"), "--gap-limit"),
    "a folder to write": ((*OPTIMISE, *E1, "--out", "folder.csv"), "--out"),
    "a file in a file": ((*OPTIMISE, *E1, "--out", "plain/Q.h5"), "plain"),
    "nowhere to write": ((*OPTIMISE, *E1, "--out", "/proc/none/Q.h5"), "--out"),
    "another suffix": ((*OPTIMISE, *E1, "--out", "Q.csv"), ".h5"),
    "a strategy that is not there": (("strategy", "verify", "none.h5"), "strategy optimise --out"),
    "a folder for a strategy": (("strategy", "verify", "folder.csv"), "folder.csv"),
    "garbage for a strategy": (("strategy", "verify", "garbage.h5"), "strategy optimise --out"),
    "a text for a strategy": (("strategy", "export", "nan.csv", "Q.csv"), "strategy optimise --out"),
    "another kind of result": (("strategy", "verify", "other.h5"), "kind 'strategy'"),
    "a strategy of nothing": (("strategy", "verify", "empty.h5"), "no workload"),
    "half a strategy": (("strategy", "verify", "hollow.h5"), "stored strategy"),
    "a strategy of no mechanism": (("strategy", "verify", "nonsense.h5"), "nonsense"),
    "another budget": (("strategy", "verify", "good.h5", "--epsilon", "2"), "--epsilon = 2.0"),
    "queries that nobody knows": (("strategy", "verify", "elsewhere.h5"), "--workload"),
    "another suffix of a matrix": (("strategy", "export", "good.h5", "Q.txt"), ".csv"),
    "no error": (("strategy", "compare", "prefix", *N8, *E1, "--alpha", "0"), "--alpha = 0.0"),
    "too many attributes": (("norm", "eta", "conjunctions", "--attributes", "31", "--alpha", "0.1"), "from 1 to 30"),
    "attributes of a workload": (("norm", "gamma2", "prefix", "--attributes", "8"), "{w}-way-marginals"),
    "attributes and a domain": (("norm", "gamma2", "conjunctions", *N8, "--attributes", "8"), "2^D user types"),
    "p without need": (("norm", "gamma2", "prefix", *N8, "--p", "4"), "--p = 4.0"),
    "no p": (("norm", "gammap", "prefix", *N8), "--p 4"),
    "too small a p": (("norm", "gammap", "prefix", *N8, "--p", "1"), "--p = 1.0"),
    "α without need": (("norm", "gammaF", "prefix", *N8, "--alpha", "0.1"), "--alpha = 0.1"),
    "no α": (("norm", "eta", "prefix", *N8), "--alpha 0.1"),
    "a negative α": (("norm", "gamma2-shifted", "prefix", *N8, "--alpha", "-1"), "--alpha = -1.0"),
    "no labels": (("norm", "margin", "two.csv"), "±1"),
    "a dense family that does not fit": (("norm", "gamma2", "random-signs", "--domain-size", "20000"), "1 to 8192"),
    "a norm that does not fit": (("norm", "gamma2", "all-ranges", "--domain-size", "4096"), "GiB"),
    "a target of nothing": ((*PLAN, *E1, "--alpha", "nan"), "--alpha = nan"),
    "a target that constants reach": ((*PLAN, *E1, "--alpha", "0.5", "--metric", "linf"), "below 0.5"),
    "queries that need no users": (("plan", "total", *N8, *E1, "--alpha", "0.1", "--metric", "linf"), "no users"),
    "data of another domain": (("collect", "simulate", "good.h5", "--data", "nan.csv"), "nan.csv"),
    "data that are not there": (("collect", "simulate", "good.h5", "--data", "none.csv"), "none.csv"),
    "no users": (("collect", "simulate", "good.h5", "--data", "two.csv", "--users", "0"), "--users = 0"),
    "no configuration": (("check",), "--config"),
    "no configuration to list": (("study", "list"), "--config"),
    "no configuration for results": (("results", "list"), "--config"),
    "a result that nobody asks for": (("results", "show", "x.h5"), "--config"),
    "a configuration that is not there": (("workload", "describe", "mine", "--config", "none.yaml"), "--config"),
    "a configuration that is no text": (("workload", "describe", "mine", "--config", "garbage.h5"), "garbage.h5"),
    "a workload that no configuration defines": (
        ("plan", "mine", *E1, "--rmse", "1%", "--config", "x.yaml"),
        "known: all-marginals",
    ),
    "a definition that is none": (("workload", "describe", "five", "--config", "x.yaml"), "five"),
    "workloads that are a list": (("workload", "describe", "five", "--config", "list.yaml"), "be a mapping"),
    "plugins that are a number": (("workload", "describe", "five", "--config", "number.yaml"), "be a list of paths"),
    "a folder for a configuration": (("study", "show", "x", "--config", "folder.csv"), "a folder"),
}


@pytest.mark.parametrize("case", every(3, WRONG))
def test_wrong_values_are_answered_with_one_helpful_line(run: Run, folder: Path, case: str) -> None:
    arguments, words = WRONG[case]
    before = sorted(folder.rglob("*"))
    said = run(*arguments)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert words in said.err
    assert "must " in said.err
    assert "; " in said.err  # rule; remedy
    assert sorted(folder.rglob("*")) == before
    as_json = run(*arguments, "--json")
    assert as_json.code == 1
    assert json.loads(as_json.out) == {"status": "error", "reason": said.err.removeprefix("error: ").rstrip("\n")}


USAGE = {
    "nothing": (),
    "an unknown command": ("optimise",),
    "half a command": ("strategy",),
    "no budget": OPTIMISE,
    "a word for a number": (*OPTIMISE, "--epsilon", "abc"),
    "half a type": ("workload", "describe", "prefix", "--domain-size", "1.5"),
    "an unknown norm": ("norm", "gama2", "prefix", *N8),
    "an unknown metric": (*PLAN, *E1, "--alpha", "0.1", "--metric", "l3"),
    "an unknown option": ("workload", "list", "--all"),
    "a shortened option": ("workload", "describe", "prefix", "--domain", "8"),
    "no data": ("collect", "simulate", "good.h5"),
    "no shell": ("completion",),
    "no folder": ("init",),
    "no study": ("paper",),
    "an unknown shell": ("completion", "csh"),
}


@pytest.mark.parametrize("case", USAGE)
def test_wrong_usage_is_answered_with_one_line_and_code_2(run: Run, case: str) -> None:
    said = run(*USAGE[case])
    assert (said.code, said.out) == (2, "")
    assert re.fullmatch(r"usage error: .*; see factormech.* --help\n", said.err)


# What was to be certified and is not ------------------------------------------------------------------------


def test_a_gap_above_the_limit_is_code_3(run: Run, ask: Ask, tmp_path: Path) -> None:
    out = tmp_path / "Q.h5"
    arguments = ("strategy", "optimise", "prefix", *N8, *E1, "--rows", 9, "--gap-limit", 1e-3, "--out", out)
    found = ask(*arguments, code=3)
    assert found["status"] == "no-certificate"
    assert "--gap-limit" in found["reason"]
    assert out.is_file()  # private and unbiased all the same
    said = run("norm", "gamma2", "prefix", *N8, "--gap-limit", 0)
    assert said.code == 3
    assert said.err.splitlines()[-1].startswith("no certificate: ")
    assert "at least" in said.out


@pytest.fixture
def solved(tmp_path: Path, ask: Ask) -> hdf5.Record:
    """A strategy with a certificate in whole numbers."""
    path = tmp_path / "Q.h5"
    ask("strategy", "optimise", "prefix", "--domain-size", 4, *E1, "--out", path)
    return hdf5.read(path)


def forged(record: hdf5.Record, datasets: dict[str, Any], attributes: dict[str, Any]) -> Path:
    """The same file with other content, sealed as if it were right."""
    path = record.path.with_name("forged.h5")
    hdf5.write(path, "strategy", datasets=record.datasets | datasets, attributes=record.attributes | attributes)
    return path


def test_an_unchanged_copy_holds(ask: Ask, solved: hdf5.Record) -> None:
    assert ask("strategy", "verify", forged(solved, {}, {}))["status"] == "ok"


def test_lies_are_found(ask: Ask, solved: hdf5.Record) -> None:
    text = str(solved["certificate"])
    certificate = json.loads(text)
    certificate["multiplier"][0] -= certificate["multiplier"][0] // 10
    weights = solved["weights"] * np.linspace(1.0, 1.01, len(solved["weights"]))
    lies: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "objective": ({}, {"objective": solved.attributes["objective"] * 0.99}),
        "lower bound": ({}, {"lower_bound": solved.attributes["lower_bound"] * 1.01}),
        "does not hold": ({"certificate": np.array(json.dumps(certificate))}, {}),
        "cannot be read": ({"certificate": np.array("{}")}, {}),
        "another domain or budget": ({"certificate": np.array(text.replace('"epsilon": "1"', '"epsilon": "2"'))}, {}),
        "column sums": ({"weights": weights}, {}),
    }
    for words, (datasets, attributes) in lies.items():
        found = ask("strategy", "verify", forged(solved, datasets, attributes), code=3)
        assert words in found["reason"]


def test_another_workload_has_another_objective(ask: Ask, solved: hdf5.Record) -> None:
    found = ask("strategy", "verify", solved.path, "--workload", "histogram", code=3)
    assert found["workload"] == "histogram"
    assert "another workload" in found["reason"]
