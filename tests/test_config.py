from __future__ import annotations

import copy
import dataclasses
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factormech.config import kinds, reference, schema
from factormech.config import studies as config
from factormech.config.studies import ConfigErrors, Family, Known, load, read_yaml
from factormech.errors import BadValue, UnknownName
from factormech.norms import registry as registry_of_norms
from factormech.studies import norms, registry

ROOT = Path(__file__).parents[1]
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"

GOOD: dict[str, Any] = {
    "seed": 3,
    "threads": 1,
    "workloads": {
        "mine": {"file": "mine.csv"},
        "both": {"union": [{"workload": "mine"}, {"workload": "cube", "weight": 2.0}]},
        "product": {"kronecker": [{"workload": "line", "domain_size": 4}, {"workload": "cube"}]},
    },
    "studies": {
        "one": {
            "paper": "somebody2020",
            "artefact": "Figure 1",
            "kind": "sample-complexity",
            "title": "A title",
            "grid": {"workload": ["line", "cube"], "domain_size": [8, 64], "epsilon": [1], "seed": [0]},
            "mechanisms": ["hadamard", "rappor"],
            "bounds": ["svd"],
            "quick": {"grid": {"domain_size": [8]}, "alpha": 0.1},
        },
    },
}


def family(*names: str) -> Family:
    def check(name: str) -> None:
        if name not in names:
            raise UnknownName("name", name, names)

    return Family(lambda: names, check)


def workload_reason(name: str, size: int, definitions: Any, base: Path) -> str | None:
    """``cube`` needs a power of two; a file has as many columns as its first line; parts decide for the rest."""
    definition = definitions.get(name)
    if definition is None:
        return "it needs a power of two" if name == "cube" and size & (size - 1) else None
    if "file" in definition:
        text = (base / definition["file"]).read_text()
        if not text.strip():
            raise BadValue(definition["file"], text, "have a row", "write one")
        columns = text.splitlines()[0].count(",") + 1
        return None if columns == size else f"the file has {columns} columns"
    for part in definition.get("union", []):
        reason = workload_reason(part["workload"], size, definitions, base)
        if reason:
            return reason
    return None


KNOWN = Known(family("line", "cube", "prefix"), workload_reason)


pytestmark = pytest.mark.usefixtures("schema_read_once")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "mine.csv").write_text("1,0,0,0,0,0,0,0\n")
    (folder / "empty.csv").write_text("\n")
    (folder / "folder").mkdir()
    return folder


def changed(changes: dict[str, Any]) -> dict[str, Any]:
    """The good configuration with other values; keys are dotted, and ``...`` removes one."""
    new = copy.deepcopy(GOOD)
    for key, value in changes.items():
        *above, last = [int(part) if part.isdigit() else part for part in key.split(".")]
        node: Any = new
        for part in above:
            node = node[part]
        if value is ...:
            node.pop(last, None)
        else:
            node[last] = value
    return new


def lines_for(new: Any, base: Path) -> list[str]:
    with pytest.raises(ConfigErrors) as caught:
        load(new, SCHEMA, base=base, known=KNOWN)
    lines = str(caught.value).splitlines()
    assert len(lines) == len(caught.value.problems)
    return lines


# --- good configurations


def test_a_good_configuration(base: Path) -> None:
    found = load(GOOD, SCHEMA, base=base, known=KNOWN)
    assert (found.seed, found.threads, set(found.workloads)) == (3, 1, {"mine", "both", "product"})
    assert found.workloads["both"]["union"][0] == {"workload": "mine", "weight": 1.0}
    assert "domain_size" not in found.workloads["product"]["kronecker"][1]
    one, quick = found.studies["one"], found.quick_studies["quick/one"]
    assert (one.name, one.quick, one.asked["alpha"], one.asked["metric"], one.caption) == (
        "one",
        False,
        (0.01,),
        "mse",
        "",
    )
    assert (quick.name, quick.quick, quick.asked["alpha"], quick.paper) == ("quick/one", True, (0.1,), "somebody2020")
    assert one.asked["epsilon"] == (1.0,)
    assert all(type(epsilon) is float for epsilon in one.asked["epsilon"])
    assert (one.asked["domain_size"], quick.asked["domain_size"]) == ((8, 64), (8,))
    assert quick.asked["workload"] == one.asked["workload"]
    assert found.study("quick/one") is quick
    assert found.study("one") is one
    with pytest.raises(UnknownName, match="did you mean 'quick/one'"):
        found.study("quick/on")


def test_a_simulated_collection(base: Path) -> None:
    found = load(changed(COLLECTION | {"studies.one.trials": 7}), SCHEMA, base=base, known=KNOWN).studies["one"]
    assert (found.asked["users"], found.asked["population"], found.asked["trials"], found.asked["level"]) == (
        (1000,),
        ("zipf",),
        7,
        1e-6,
    )


@pytest.mark.parametrize("kind", ["data-dependent", "consistency"])
def test_a_study_on_data_sets(base: Path, kind: str) -> None:
    changes = {"studies.one.kind": kind, "studies.one.grid.data": ["hepth"], "data": "here", "data_source": "http://h/"}
    users = PLAIN | {"studies.one.grid.users": [9]} if kind == "consistency" else {}
    found = load(changed(changes | users), SCHEMA, base=base, known=KNOWN)
    assert (found.data, found.data_source, found.studies["one"].asked["data"]) == ("here", "http://h/", ("hepth",))
    assert load(GOOD, SCHEMA, base=base, known=KNOWN).data is None


def test_a_study_of_norms(base: Path) -> None:
    changes = NORMS | {
        "studies.one.norms": ["gamma-2", "eta"],
        G + "entry_error": [0.5, 0],
        "studies.one.concepts": True,
    }
    found = load(changed(changes), SCHEMA, base=base, known=KNOWN).studies["one"]
    assert (found.asked["norms"], found.asked["concepts"]) == (["gamma-2", "eta"], True)
    assert norms.alphas(found.asked) == (0.0, 0.5)
    assert "mechanisms" not in found.asked.settings
    assert "epsilon" not in found.asked.grid


def test_the_solver_of_norms(base: Path) -> None:
    for solver in registry_of_norms.solvers():
        found = load(changed(NORMS | {"studies.one.solver": solver}), SCHEMA, base=base, known=KNOWN)
        assert found.studies["one"].asked["solver"] == solver
    with pytest.raises(ConfigErrors, match=r"studies\.one\.solver = 'scs': must be auto or cvxpy or cvxpy-scs"):
        load(changed(NORMS | {"studies.one.solver": "scs"}), SCHEMA, base=base, known=KNOWN)
    with pytest.raises(ConfigErrors, match=r"studies\.one\.solver = 'cvxpy': must be a known setting"):
        load(changed({"studies.one.solver": "cvxpy"}), SCHEMA, base=base, known=KNOWN)


def test_points_are_all_combinations(base: Path) -> None:
    several = changed({G + "domain_size": [8], G + "epsilon": [0.5, 1], G + "seed": [0, 1]})
    points = list(
        load(several, SCHEMA, base=base, known=KNOWN)
        .studies["one"]
        .asked.points("workload", "domain_size", "epsilon", "seed")
    )
    assert points[0] == ("line", 8, 0.5, 0)
    assert {points[1][2], points[2][2]} == {0.5, 1.0}
    assert len(set(points)) == len(points) == 2 * 2 * 2


def test_what_may_be_left_out(base: Path) -> None:
    new = changed({"seed": ..., "threads": ..., "workloads": ...})
    for key in ("bounds", "quick"):
        del new["studies"]["one"][key]
    del new["studies"]["one"]["grid"]["seed"]
    given = copy.deepcopy(new)
    found = load(new, SCHEMA, base=base, known=KNOWN)
    assert (found.seed, found.threads, found.workloads) == (0, 1, {})
    assert (found.studies["one"].asked["bounds"], found.studies["one"].asked["seed"]) == (["svd", "centred-svd"], (0,))
    assert new == given  # the caller's mapping is not filled in


def test_the_callers_mapping_may_be_of_any_kind(base: Path) -> None:
    from collections import ChainMap
    from types import MappingProxyType

    new = ChainMap({}, {**GOOD, "studies": MappingProxyType(GOOD["studies"])})
    assert load(new, SCHEMA, base=base, known=KNOWN) == load(GOOD, SCHEMA, base=base, known=KNOWN)


@pytest.mark.parametrize("name", ["mine", "both"])
def test_own_workloads_are_used_like_others(base: Path, name: str) -> None:
    new = changed({"studies.one.grid.workload": [name], "studies.one.grid.domain_size": [8]})
    assert load(new, SCHEMA, base=base, known=KNOWN).studies["one"].asked["workload"] == (name,)


# --- bad ones: change, key, value, rule, remedy

G, Q = "studies.one.grid.", "studies.one.quick."
# What the good study says and only some kinds have.
PLAIN: dict[str, Any] = {"studies.one.bounds": ..., Q + "alpha": ...}
COLLECTION = PLAIN | {
    "studies.one.kind": "simulated-collection",
    "studies.one.grid.users": [1000],
    "studies.one.grid.population": ["zipf"],
}
ON_DATA = {"studies.one.kind": "data-dependent", "studies.one.grid.data": ["hepth"]}
NORMS: dict[str, Any] = PLAIN | {
    "studies.one.kind": "norms",
    "studies.one.norms": ["gamma-2"],
    "studies.one.mechanisms": ...,
    G + "epsilon": ...,
}
TIMING, STARTS = (PLAIN | {"studies.one.kind": kind} for kind in ("timing", "initialisation"))
NORMS_KIND = {key: value for key, value in NORMS.items() if key != "studies.one.norms"}
PREFIX = NORMS | {"studies.one.kind": "prefix-factorizations", G + "workload": ["prefix"]}
NAMES = "be made of lower-case letters, digits and '-'"
BAD: list[tuple[dict[str, Any], str, str, str, str]] = [
    ({"seed": -1}, "seed", "-1", "a whole number from 0", "for example 0"),
    ({"seed": 1.0}, "seed", "1.0", "a whole number", "for example 0"),
    ({"seed": True}, "seed", "True", "a whole number", "for example 0"),
    ({"seed": None}, "seed", "None", "a whole number", "for example 0"),
    ({"seed": 2**63}, "seed", str(2**63), "from 0 to 9223372036854775807", "for example 0"),
    ({"threads": 0}, "threads", "0", "a whole number from 1 to 1024", "for example 1"),
    ({"threads": "2"}, "threads", "'2'", "a whole number", "without quotes"),
    ({"sed": 1}, "sed", "1", "be a known setting", "did you mean 'seed'?"),
    ({"nonsense": {}}, "nonsense", "{}", "be a known setting", "known here: seed, workloads, threads, data"),
    ({"studies": ...}, "studies", "(missing)", "a mapping from names to studies", "start from"),
    ({"studies": {}}, "studies", "{}", "at least one study", "start from"),
    ({"studies": []}, "studies", "[]", "a mapping from names to studies", "start from"),
    ({"studies.one": None}, "studies.one", "None", "a mapping of a study's settings", "copy a study"),
    ({"studies.One": GOOD["studies"]["one"]}, "name in studies", "'One'", NAMES, "rename it"),
    ({"studies.a\n": GOOD["studies"]["one"]}, "name in studies", r"'a\n'", NAMES, "rename it"),
    ({"studies.-": GOOD["studies"]["one"]}, "name in studies", "'-'", NAMES, "rename it"),
    ({"studies.one.paper": ...}, "studies.one.paper", "(missing)", NAMES, "for example mckenna2020"),
    ({"studies.one.paper": "A & B"}, "studies.one.paper", "'A & B'", NAMES, "for example mckenna2020"),
    ({"studies.one.artefact": ""}, "studies.one.artefact", "''", "a text, not an empty one", "Figure 1"),
    (
        {"studies.one.kind": "bar"},
        "studies.one.kind",
        "'bar'",
        " or sample-complexity or ",
        "for example sample-complexity",
    ),
    (
        {G + "users": [1000]},
        G + "users",
        "[1000]",
        "be a known setting",
        "known here: workload, domain_size, epsilon, seed",
    ),
    ({G + "data": ["hepth"]}, G + "data", "['hepth']", "be a known setting", "known here: workload, domain_size"),
    (
        {"studies.one.kind": "data-dependent"},
        G + "data",
        "(missing)",
        "a list with at least 1 entry",
        "for example [hepth]",
    ),
    (ON_DATA | {G + "data": ["hept"]}, G + "data[0]", "'hept'", "a known name", "did you mean 'hepth'?"),
    (ON_DATA | {G + "data": []}, G + "data", "[]", "a list with at least 1 entry", "for example [hepth]"),
    (
        ON_DATA | {G + "workload": ["line"], G + "domain_size.1": 12},
        G + "domain_size[1]",
        "12",
        "divisor of 4096",
        "512",
    ),
    (
        ON_DATA | {G + "workload": ["line"], Q + "grid.domain_size": [3]},
        Q + "grid.domain_size[0]",
        "3",
        "divisor",
        "512",
    ),
    ({"data": ""}, "data", "''", "a text, not an empty one", "leave the key out"),
    ({"data_source": "ftp://h/"}, "data_source", "'ftp://h/'", "be an http or https address", "leave the key out"),
    (COLLECTION | {G + "users": ...}, G + "users", "(missing)", "a list with at least 1 entry", "[1000]"),
    (COLLECTION | {G + "population": ...}, G + "population", "(missing)", "a list with at least", "[zipf]"),
    (COLLECTION | {G + "users": [0]}, G + "users[0]", "0", "a whole number from 1", "for example 1000"),
    (COLLECTION | {G + "users": []}, G + "users", "[]", "a list with at least 1 entry", "for example [1000]"),
    (COLLECTION | {G + "population": ["zipfs"]}, G + "population[0]", "'zipfs'", "a known name", "'zipf'?"),
    (COLLECTION | {"studies.one.trials": 1}, "studies.one.trials", "1", "a whole number from 2", "for example 20"),
    (COLLECTION | {"studies.one.level": 0.7}, "studies.one.level", "0.7", "below 0.5", "for example 1.0e-06"),
    ({"studies.all": GOOD["studies"]["one"]}, "name in studies", "'all'", "targets and rules", "'all-study'"),
    ({"studies.somebody2020": GOOD["studies"]["one"]}, "name in studies", "'somebody2020'", "own targets", "rename"),
    (
        {"studies.one.compare": "hadamards"},
        "studies.one.compare",
        "'hadamards'",
        "be a mechanism of the study",
        "leave the key",
    ),
    (
        {"studies.one.exclude": ["hadamards"]},
        "studies.one.exclude[0]",
        "'hadamards'",
        "another mechanism of",
        "do not compete",
    ),
    (
        {"studies.one.compare": "rappor", "studies.one.exclude": ["rappor"]},
        "studies.one.exclude[0]",
        "'rappor'",
        "be another mechanism of the study",
        "leave the key out",
    ),
    (
        {Q + "exclude": ["hadamards"]},
        Q + "exclude[0]",
        "'hadamards'",
        "be another mechanism of the study",
        "do not compete",
    ),
    (
        {"studies.one.kind": "optimality-gap", "studies.one.band": True},
        "studies.one.band",
        "True",
        "be a known setting",
        "known here: paper",
    ),
    ({"studies.one.band": 1}, "studies.one.band", "1", "be true or false", "give for example true"),
    (TIMING | {"studies.one.gaps": [1.0]}, "studies.one.gaps[0]", "1.0", "above 1", "for example 1.1"),
    (STARTS | {"studies.one.rows": [0]}, "studies.one.rows[0]", "0", "a whole number from 1", "for example 2"),
    (STARTS | {"studies.one.starts": 0}, "studies.one.starts", "0", "a whole number from 1", "for example 10"),
    (
        TIMING | {"studies.one.iteration_sizes": [1]},
        "studies.one.iteration_sizes[0]",
        "1",
        "number from 2",
        "example 64",
    ),
    ({"studies.derive": GOOD["studies"]["one"]}, "name in studies", "'derive'", "targets and rules", "'derive-study'"),
    ({Q + "compare": "hadamards"}, Q + "compare", "'hadamards'", "be a mechanism of the study", "give one of them"),
    ({"studies.one.title": 3}, "studies.one.title", "3", "be a text", "for example"),
    ({"studies.one.caption": ["x"]}, "studies.one.caption", "['x']", "be a text", "give a sentence"),
    ({"studies.one.metric": "rmse"}, "studies.one.metric", "'rmse'", "be mse", "give for example mse"),
    ({"studies.one.alpha": 0}, "studies.one.alpha", "0", "a finite number above 0", "for example 0.01"),
    ({"studies.one.alpha": -0.5}, "studies.one.alpha", "-0.5", "a finite number above 0", "for example 0.01"),
    ({"studies.one.alpha": math.inf}, "studies.one.alpha", "inf", "a finite number", "for example 0.01"),
    ({"studies.one.alpha": "1e-2"}, "studies.one.alpha", "'1e-2'", "a finite number", "write 1.0e-3"),
    ({"studies.one.grdi": {}}, "studies.one.grdi", "{}", "be a known setting", "did you mean 'grid'?"),
    ({"studies.one.grid": ...}, "studies.one.grid", "(missing)", "a mapping with the keys workload", "epsilon: ["),
    ({"studies.one.grid": [1]}, "studies.one.grid", "[1]", "a mapping with the keys workload", "epsilon: ["),
    ({G + "epsilson": [1.0]}, G + "epsilson", "[1.0]", "be a known setting", "did you mean 'epsilon'?"),
    ({G + "epsilon": ...}, G + "epsilon", "(missing)", "a list with at least 1 entry", "for example [1.0]"),
    ({G + "epsilon": []}, G + "epsilon", "[]", "a list with at least 1 entry", "for example [1.0]"),
    ({G + "epsilon": 1.0}, G + "epsilon", "1.0", "a list", "put it into a list: [1.0]"),
    ({G + "epsilon": [1, -1]}, G + "epsilon[1]", "-1", "a number from 0.001 to 40", "for example 1.0"),
    ({G + "epsilon": [1, 0]}, G + "epsilon[1]", "0", "a number from 0.001 to 40", "for example 1.0"),
    ({G + "epsilon.0": 50.5}, G + "epsilon[0]", "50.5", "a number from 0.001 to 40", "for example 1.0"),
    ({G + "epsilon.0": math.nan}, G + "epsilon[0]", "nan", "a number from 0.001 to 40", "for example 1.0"),
    ({G + "epsilon.0": math.inf}, G + "epsilon[0]", "inf", "a number from 0.001 to 40", "for example 1.0"),
    ({G + "epsilon.0": True}, G + "epsilon[0]", "True", "a number from 0.001 to 40", "for example 1.0"),
    ({G + "epsilon.0": "1.0"}, G + "epsilon[0]", "'1.0'", "a number from 0.001 to 40", "without quotes"),
    ({G + "epsilon.0": [1.0]}, G + "epsilon[0]", "[1.0]", "a number from 0.001 to 40", "for example 1.0"),
    ({G + "epsilon": [1, 2.0, 1.0]}, G + "epsilon[2]", "1.0", "differ from the entries before it", "remove it"),
    ({G + "domain_size.0": 0}, G + "domain_size[0]", "0", "a whole number from 1", "for example 64"),
    ({G + "domain_size.0": 8.0}, G + "domain_size[0]", "8.0", "a whole number", "for example 64"),
    ({G + "domain_size.0": 2**20 + 1}, G + "domain_size[0]", "1048577", "to 1048576", "for example 64"),
    ({G + "domain_size": [8, 8]}, G + "domain_size[1]", "8", "differ from", "remove it"),
    ({G + "domain_size.1": 12}, G + "domain_size[1]", "12", "workload 'cube' has (it needs a power", "another size"),
    ({G + "workload": ["mine"]}, G + "domain_size[1]", "64", "workload 'mine' has (the file has 8 col", "another size"),
    ({G + "workload": ["both"]}, G + "domain_size[1]", "64", "'both' has (the file has 8 columns)", "another size"),
    ({G + "workload": "line"}, G + "workload", "'line'", "a list with at least 1 entry", "into a list: ['line']"),
    ({G + "workload.0": "lime"}, G + "workload[0]", "'lime'", "a known name", "did you mean 'line'? known: both, cube"),
    ({G + "workload.0": ""}, G + "workload[0]", "''", "a text, not an empty one", "for example prefix"),
    ({G + "workload.0": "cube"}, G + "workload[1]", "'cube'", "differ from the entries before it", "remove it"),
    ({G + "seed": [0, 1, 0]}, G + "seed[2]", "0", "differ from the entries before it", "remove it"),
    ({G + "seed": [-1]}, G + "seed[0]", "-1", "a whole number from 0", "for example 0"),
    (
        {"studies.one.mechanisms": ...},
        "studies.one.mechanisms",
        "(missing)",
        "be a list with at least 1 entry",
        "[hadamard]",
    ),
    (
        {"studies.one.norms": ["gamma-2"]},
        "studies.one.norms",
        "['gamma-2']",
        "be a known setting",
        "known here: paper",
    ),
    (NORMS | {"studies.one.norms": ["gamma-3"]}, "studies.one.norms[0]", "'gamma-3'", "a known name", "known: eta"),
    (NORMS_KIND, "studies.one.norms", "(missing)", "a list with at least 1 entry", "gamma-f"),
    (NORMS | {"studies.one.norms": ["eta"]}, G + "entry_error", "[]", "given where a norm has an error", "[0.1]"),
    (NORMS | {G + "entry_error": [0.1]}, G + "entry_error", "[0.1]", "with a norm that has an error", "leave it out"),
    (NORMS | {G + "alpha": [0.1]}, G + "alpha", "[0.1]", "called entry_error", "write entry_error in the place of"),
    (NORMS | {G + "entry_error": [-0.1]}, G + "entry_error[0]", "-0.1", "a number from 0", "for example 0.1"),
    (
        NORMS | {G + "epsilon": [1.0]},
        G + "epsilon",
        "[1.0]",
        "be a known setting",
        "known here: workload, domain_size, entry_error, seed",
    ),
    (
        PREFIX | {G + "workload": ["line"]},
        G + "workload",
        "['line']",
        "be [prefix] here",
        "give [prefix]",
    ),
    (
        PREFIX | {"studies.one.norms": ["eta"]},
        "studies.one.norms[0]",
        "'eta'",
        "be an exact norm here",
        "gamma-2",
    ),
    (
        PREFIX | {"studies.one.factorizations": ["best"]},
        "studies.one.factorizations[0]",
        "'best'",
        "a known",
        "optimal",
    ),
    ({"studies.one.mechanisms": []}, "studies.one.mechanisms", "[]", "at least 1 entry", "for example [hadamard]"),
    (
        {"studies.one.mechanisms.0": "hadamards"},
        "studies.one.mechanisms[0]",
        "'hadamards'",
        "a known name",
        "mean 'hadamard'?",
    ),
    ({"studies.one.mechanisms.0": None}, "studies.one.mechanisms[0]", "None", "be a text", "for example hadamard"),
    ({"studies.one.mechanisms.1": "hadamard"}, "studies.one.mechanisms[1]", "'hadamard'", "differ from", "remove it"),
    ({"studies.one.bounds.0": "roof"}, "studies.one.bounds[0]", "'roof'", "a known name", "known: centred-svd"),
    ({"studies.one.bounds": "svd"}, "studies.one.bounds", "'svd'", "a list", "into a list: ['svd']"),
    ({"studies.one.quick": None}, "studies.one.quick", "None", "settings that the quick run replaces", "or {}"),
    ({Q + "alhpa": 1}, Q + "alhpa", "1", "be a known setting", "did you mean 'alpha'?"),
    ({Q + "quick": {}}, Q + "quick", "{}", "be a known setting", "known here: paper"),
    ({Q + "alpha": 0}, Q + "alpha", "0", "a finite number above 0", "for example 0.01"),
    ({Q + "grid.domain_sise": [4]}, Q + "grid.domain_sise", "[4]", "a known setting", "mean 'domain_size'?"),
    ({Q + "grid.domain_size": [6]}, Q + "grid.domain_size[0]", "6", "workload 'cube' has", "another size"),
    ({Q + "grid.workload": ["x"]}, Q + "grid.workload[0]", "'x'", "a known name", "known: both, cube"),
    ({Q + "mechanisms": ["x"]}, Q + "mechanisms[0]", "'x'", "a known name", "known: adaptive"),
    ({"workloads": None}, "workloads", "None", "a mapping from names to definitions", "or {}"),
    ({"workloads.My_own": {"file": "mine.csv"}}, "name in workloads", "'My_own'", NAMES, "rename it"),
    ({"workloads.cube": {"file": "mine.csv"}}, "name in workloads", "'cube'", "differ from the built-in", "'my-cube'"),
    ({"workloads.mine.file": "no.csv"}, "workloads.mine.file", "'no.csv'", "an existing file", "check the path"),
    ({"workloads.mine.file": "a\0"}, "workloads.mine.file", r"'a\x00'", "an existing file", "check the path"),
    ({"workloads.mine.file": "folder"}, "workloads.mine.file", "'folder'", "an existing file", "check the path"),
    ({"workloads.mine.file": "empty.csv"}, "workloads.mine.file", "'empty.csv'", "must have a row", "correct the file"),
    ({"workloads.mine.file": 3}, "workloads.mine.file", "3", "be a text", "data/mine.csv"),
    ({"workloads.mine": {}}, "workloads.mine", "{}", "exactly one of the keys", "for example {file:"),
    ({"workloads.mine.union": []}, "workloads.mine", "'union': []", "exactly one of the keys", "for example {file:"),
    ({"workloads.both.dataset": "a"}, "workloads.both", "{'union'", "exactly one of", "for example {file:"),
    ({"workloads.mine.flie": "x"}, "workloads.mine.flie", "'x'", "a known setting", "did you mean 'file'?"),
    ({"workloads.both.union.0": "mine"}, "workloads.both.union[0]", "'mine'", "the key workload", "weight: 2.0"),
    ({"workloads.both.union.0": {}}, "workloads.both.union[0].workload", "(missing)", "a text", "for example prefix"),
    (
        {"workloads.both.union.0.workload": "y"},
        "workloads.both.union[0].workload",
        "'y'",
        "a known name",
        "known: both, cube, line, mine, prefix, product",
    ),
    ({"workloads.both.union.1.weight": 0}, "workloads.both.union[1].weight", "0", "number above 0", "for example 1.0"),
    (
        {"workloads.both.union.0.workload": "both"},
        "workloads.both",
        "{'union'",
        "not be made from itself",
        "leave one of the links out",
    ),
    (
        {"workloads.product.kronecker.0": {"workload": "line"}},
        "workloads.product.kronecker[1]",
        "{'workload': 'cube'}",
        "have a domain_size (an earlier factor has none)",
        "for example 16",
    ),
    ({"workloads.mine.dataset": ""}, "workloads.mine.dataset", "''", "a text, not an empty", "give the name of"),
]


@pytest.mark.parametrize(("changes", "key", "value", "rule", "remedy"), BAD)
def test_a_bad_setting_has_one_line(
    base: Path, changes: dict[str, Any], key: str, value: str, rule: str, remedy: str
) -> None:
    """And no word of the validator reaches the user."""
    lines = lines_for(changed(changes), base)
    for said in lines:
        assert said.startswith("config: ")
        assert "; " in said.partition(": must ")[2]
        for word in ("schema", "instance", "required property", "additional", "is not of type", "regex", "^["):
            assert word not in said.lower(), said
    found = [line for line in lines if line.startswith(f"config: {key} = ") and rule in line]
    assert len(found) == 1, lines
    (line,) = found
    shown, _, rest = line.removeprefix(f"config: {key} = ").partition(": must ")
    assert value in shown
    assert rule in rest
    assert remedy in rest.partition(rule)[2]  # after the rule
    others = [other for other in lines if other != line]
    assert len(others) <= 1, others  # one mistake breaks at most two rules (an empty text that is no name)


def test_there_are_enough_of_them() -> None:
    assert len(BAD) >= 40


def test_keys_that_are_no_texts(base: Path) -> None:
    lines = lines_for({**GOOD, 3: 1, None: 2}, base)
    assert lines == [
        "config: key of (top level) = 3: must be a text; put the key in quotes",
        "config: key of (top level) = None: must be a text; use a text as key",
    ]


def test_a_configuration_inside_itself(base: Path) -> None:
    new = changed({})
    new["studies"]["two"] = new["studies"]
    (line, *_) = lines_for(new, base)
    assert "studies.two = 'itself': must not be inside itself" in line


@pytest.mark.parametrize("new", [{}, [], None, 3, "seed: 0"])
def test_no_configuration(base: Path, new: Any) -> None:
    assert all("must" in line for line in lines_for(new, base))


def test_all_errors_at_once(base: Path) -> None:
    changes = {
        "seed": -1,
        "studies.one.alpha": 0,
        "studies.one.mechanisms.0": "x",
        G + "epsilon": [-1, math.nan],
        G + "epsilson": [1],
        G + "domain_size": [12, "8"],
        "workloads.mine.file": "no.csv",
        Q + "bounds": ["x"],
    }
    keys = [line.removeprefix("config: ").partition(" = ")[0] for line in lines_for(changed(changes), base)]
    want = ["seed", "studies.one.alpha", "studies.one.mechanisms[0]", G + "epsilon[0]", G + "epsilon[1]"]
    want += [G + "epsilson", G + "domain_size[0]", G + "domain_size[1]", "workloads.mine.file", Q + "bounds[0]"]
    assert sorted(keys) == sorted(want)


def test_a_wrong_workload_is_named_once(base: Path) -> None:
    """What is made from a file that is missing is not blamed for it as well."""
    new = changed({"workloads.mine.file": "no.csv", G + "workload": ["mine", "both"]})
    assert len(lines_for(new, base)) == 1


def test_cycles_of_definitions(base: Path) -> None:
    loop = {"a": {"union": [{"workload": "b"}]}, "b": {"kronecker": [{"workload": "a"}]}}
    new = changed({"workloads": loop, G + "workload": ["a"]})
    keys = [line.split()[1] for line in lines_for(new, base)]
    assert keys == ["workloads.a", "workloads.b"]


def test_settings_of_solvers(base: Path) -> None:
    solved = {"studies.one.mechanisms": ["optimised", "rappor"]}
    options = {"optimised": {"objective": "worst"}}
    study = load(changed(solved | {"studies.one.options": options}), SCHEMA, base=base, known=KNOWN)
    assert study.study("one").asked["options"] == options
    wrong = {"optimised": {"objective": "edge"}, "bowl": {}, "rappor": {"eyes": 7}}
    keys = [line.split()[1] for line in lines_for(changed(solved | {"studies.one.options": wrong}), base)]
    assert keys == [f"studies.one.options.{name}" for name in ("optimised.objective", "bowl", "rappor.eyes")]


def test_the_numbers_of_a_name_are_checked_by_its_family(base: Path) -> None:
    def check(name: str) -> None:
        raise BadValue("k", name, "have at most 9 attributes", "give fewer")

    known = dataclasses.replace(KNOWN, workloads=Family(lambda: ["{k}-dice"], check))
    new = changed({"workloads": {}, G + "workload": ["line"]})
    with pytest.raises(ConfigErrors, match=r"workload\[0\] = 'line': must have at most 9 attributes; give fewer"):
        load(new, SCHEMA, base=base, known=known)


# --- fuzz: a mutation gives a configuration or lines, and nothing else

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["line", "cube", "mine", "both", "hadamard", "quick", "file", "workload", "mine.csv", ".", ""]),
    st.lists(st.integers(-2, 9) | st.text(max_size=2), max_size=3),
    st.dictionaries(st.sampled_from(["file", "union", "grid", "workload", "x"]), st.integers() | st.text(), max_size=2),
    st.just(GOOD),
    st.dates(),
    st.binary(max_size=2),
)


def nodes(value: Any) -> list[Any]:
    """Every mapping and list of a configuration."""
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return ([value] if isinstance(value, (dict, list)) else []) + [node for entry in below for node in nodes(entry)]


def mutate(data: st.DataObject, new: dict[str, Any]) -> None:
    every = nodes(new)
    node = data.draw(st.sampled_from(every))
    action = data.draw(st.sampled_from(["change", "remove", "add", "move"]))
    places = list(node) if isinstance(node, dict) else list(range(len(node)))
    value = copy.deepcopy(data.draw(st.sampled_from(every)) if action == "move" else data.draw(VALUES))
    if action == "remove" and places:
        del node[data.draw(st.sampled_from(places))]
    elif action == "add" and isinstance(node, list):
        node.append(value)
    elif action == "add":
        node[data.draw(st.text(max_size=4) | st.integers() | st.sampled_from(["file", "union", "dataset"]))] = value
    elif places:
        node[data.draw(st.sampled_from(places))] = value


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_fuzz(base: Path, data: st.DataObject) -> None:
    new = copy.deepcopy(GOOD)
    for _ in range(data.draw(st.integers(1, 3))):
        mutate(data, new)
    problems: tuple[BadValue, ...] = ()
    try:
        found = load(new, SCHEMA, base=base, known=KNOWN)
    except ConfigErrors as errors:
        problems, text = errors.problems, str(errors)
    if problems:
        assert len(text.splitlines()) == len(problems), text
        return
    for study in [*found.studies.values(), *found.quick_studies.values()]:
        points = list(study.asked.points("domain_size", "epsilon"))
        assert points
        assert all(0 < epsilon <= 50 and domain_size >= 1 for domain_size, epsilon in points)


# --- the project's own configuration, schema and page


def test_the_configuration_of_the_project() -> None:
    found = load(read_yaml(ROOT / "config.yaml"), SCHEMA, base=ROOT)
    assert {"epsilon", "domain-size"} <= set(found.studies)
    figure1, figure2 = found.studies["mckenna2020-figure-1"], found.studies["mckenna2020-figure-2"]
    assert figure1.asked["epsilon"] == tuple(np.arange(0.5, 4.5, 0.5))
    assert figure1.asked["domain_size"] == (512,)
    assert figure2.asked["domain_size"] == tuple(2**k for k in range(3, 11))
    assert figure2.asked["epsilon"] == (1.0,)
    assert figure1.asked["workload"] == figure2.asked["workload"]
    assert len(figure1.asked["workload"]) == 6
    assert set(found.studies["epsilon"].asked["epsilon"]) == {0.1, 0.25, 8.0} | set(figure1.asked["epsilon"])
    assert found.quick_studies["quick/epsilon"].asked["domain_size"] == (64,)
    assert max(found.quick_studies["quick/domain-size"].asked["domain_size"]) == 64


def test_the_registries_answer(base: Path) -> None:
    new = copy.deepcopy(GOOD) | {"workloads": {}}
    new["studies"]["one"] |= {"mechanisms": ["hadamard", "hadamarx"], "bounds": ["svd", "sdv"]}
    new["studies"]["one"]["grid"]["workload"] = ["prefix", "3-way-marginals", "{k}-way-marginals", "prefixes"]
    new["studies"]["one"]["grid"]["domain_size"] = [8, 12]
    with pytest.raises(ConfigErrors) as caught:
        load(new, SCHEMA, base=base)
    names = {problem.name for problem in caught.value.problems}
    one = "studies.one."
    want = {one + "mechanisms[1]", one + "bounds[1]", G + "workload[2]", G + "workload[3]", G + "domain_size[1]"}
    assert names == want


def test_the_schema_is_a_schema() -> None:
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(read_yaml(SCHEMA))


def test_every_setting_is_described_and_has_a_remedy() -> None:
    for path, node, _ in schema.settings(read_yaml(SCHEMA)):
        assert str(node["remedy"]), path
        if not path.endswith(("[]", "<name>")):
            assert node["description"].endswith("."), path


def test_defaults_obey_their_own_rules() -> None:
    rules = read_yaml(SCHEMA)
    for path, node, _ in schema.settings(rules):
        if "default" in node:
            assert schema.problems_of(node, node["default"]) == [], path
    assert config.defaults(SCHEMA)["seed"] == 0


@pytest.mark.parametrize("kind", registry.names())
def test_defaults_of_kinds_obey_their_own_rules(kind: str) -> None:
    common = read_yaml(SCHEMA)["properties"]["studies"]["additionalProperties"]
    for path, node, _ in schema.settings(kinds.study_schema(registry.experiment(kind), common)):
        if "default" in node and node["default"] != []:  # an axis that is left out
            assert schema.problems_of(node, node["default"]) == [], path


def test_the_pages_of_settings_are_up_to_date() -> None:
    tool = ROOT / "tools" / "configuration_reference.py"
    done = subprocess.run([sys.executable, str(tool), "--check"], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_the_pages_have_every_setting_and_no_long_cell() -> None:
    found = reference.pages(SCHEMA, {"norms": "mine"})
    for key in ("seed", "workloads.<name>.union[].weight", "studies.<name>.grid", "studies.<name>.quick"):
        assert f"| `{key}` |" in found["configuration.md"]
    assert "## norms\n" in found["configuration/mine.md"]
    assert "| `grid.epsilon` | list; each a number from 0.001 to 40, where" in found["configuration/others.md"]
    every = "\n".join(found.values())
    assert {*registry.names()} == {*re.findall(r"^\| `([a-z0-9-]+)` \| .*configuration/", every, re.MULTILINE)}
    for line in every.splitlines():
        if line.startswith("|"):
            assert max(map(len, re.split(r"(?<!\\\\)\|", line))) <= 220, line


# --- YAML


def test_read_yaml(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("a: &x {b: 1}\nc:\n  <<: *x\n  b: 2\nd: [*x, 1.0e-3]\n")
    assert read_yaml(path) == {"a": {"b": 1}, "c": {"b": 2}, "d": [{"b": 1}, 1e-3]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"seed: 1\nthreads: 2\nseed: 3\n", "line 3, column 1 = \"the key 'seed' is in line 1 already\""),
        (b"studies:\n  a: {x: 1, x: 2}\n", "line 2, column 13 = \"the key 'x' is in line 2 already\""),
        (b"a: [1, 2\nb: 3\n", "line 2, column 2"),
        (b"a: 1\n\tb: 2\n", "line 2, column 1"),
        (b"a: b: c\n", "line 1, column 5"),
        (b"a: *x\n", "line 1, column 4"),
        (b"a: !!python/object:os.system x\n", "line 1, column 4"),
        (b"a: 1\n---\nb: 2\n", "line 2, column 1"),
        (b"{[1]: 2}\n", "line 1, column 2"),
        (b"a: \xff\n", "be valid YAML"),
        (b"a: 2020-13-45\n", "a date in YAML 1.1 only"),
        (b"a: " + b"9" * 5000, "be valid YAML"),
        (b"a: " + b"[" * 5000, "be valid YAML"),
        (b"", "= None: must be a mapping"),
        (b"- 1\n", "= [1]: must be a mapping"),
        (b"seed\n", "'seed': must be a mapping"),
    ],
)
def test_bad_yaml(tmp_path: Path, text: bytes, words: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(text)
    with pytest.raises(BadValue) as caught:
        read_yaml(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert words in message
    assert "\n" not in message


def test_no_yaml(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(BadValue, match="be a readable file; check the path"):
            read_yaml(path)


def test_the_good_configuration_survives_the_command_line(base: Path) -> None:
    """Values from ``--config`` are parsed as YAML by Snakemake; a quoted number stays a text and is refused."""
    read = yaml.safe_load
    assert load(GOOD | read("{seed: 5}"), SCHEMA, base=base, known=KNOWN).seed == 5
    assert lines_for(GOOD | read("{seed: '5'}"), base)[0].startswith("config: seed = '5': must be a whole number")
