"""A user's own workloads and mechanisms: registered like the rest, refused on one line, seen when they change."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from factormech import labels, plugins, testing
from factormech.code import Sources
from factormech.config.studies import Config, ConfigErrors, load
from factormech.config.yaml_file import leads_outside, seen_from
from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.local import registry as mechanisms
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.mechanisms.local.two_valued import two_valued
from factormech.pipeline.common import job_parser
from factormech.plots import style
from factormech.workloads import registry as workloads
from tests.cli.conftest import Run, run  # noqa: F401

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"
HEAD = """
import numpy as np
from factormech.plugins import mechanism, solver, workload
"""
Load = Callable[..., plugins.Plugin]


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    before = plugins.loaded()
    yield
    for plugin in plugins.loaded():
        if plugin not in before:
            plugins.unload(plugin)


def written(folder: Path, text: str, name: str = "mine.py") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD + textwrap.dedent(text))
    return path


@pytest.fixture
def plugin(tmp_path: Path) -> Load:
    return lambda text, name="mine.py": plugins.load(written(tmp_path, text, name))


# Registering -------------------------------------------------------------------------------------------------------


FAMILIES = """
from factormech.workloads.base import Workload

@workload("neighbours", label="Neighbours")
def neighbours(domain_size):
    types = np.arange(domain_size)
    return np.abs(types[:, None] - types) <= 1

@workload("first-{k}")
def first(domain_size, k):
    return np.eye(domain_size)[:max(k, 1)]

@workload("noise", seeded=True)
def noise(domain_size, rng):
    return rng.normal(size=(3, domain_size))

@workload("bits", binary=True)
class Bits(Workload):
    @property
    def queries(self):
        return 1
    def answer(self, x):
        return x.sum(axis=0, keepdims=True)
"""


def test_workloads_are_made_by_the_registry(plugin: Load) -> None:
    found = plugin(FAMILIES)
    assert found.workloads == ["neighbours", "first-{k}", "noise", "bits"]
    assert workloads.names()[-4:] == found.workloads
    made = workloads.create("neighbours", 4)
    assert (made.name, made.domain_size, made.queries) == ("neighbours", 4, 4)
    np.testing.assert_array_equal(made.matrix()[0], [1, 1, 0, 0])
    assert workloads.create("first-2", 5).queries == 2
    assert workloads.module_of("first-2") == "factormech.own.mine"
    one, other = (workloads.create("noise", 3, seed=seed).matrix() for seed in (1, 2))
    assert not np.array_equal(one, other)
    assert np.array_equal(one, workloads.create("noise", 3, seed=1).matrix())
    assert workloads.reason_against("bits", 6) is not None
    assert workloads.create("bits", 4).queries == 1


def test_mechanisms_are_made_by_the_registry(plugin: Load) -> None:
    found = plugin("""
    from factormech.mechanisms.local.two_valued import two_valued
    from factormech.mechanisms.local.strategy import StrategyMatrix
    from factormech.errors import Unavailable

    @mechanism("coins", label="Two coins")
    def coins(domain_size, epsilon):
        if epsilon > 3:
            return Unavailable("coins are for small budgets")
        return two_valued(np.eye(domain_size, dtype=bool), epsilon)

    @mechanism("half-a-budget")
    def careful(domain_size, epsilon):
        return StrategyMatrix(two_valued(np.eye(domain_size, dtype=bool), epsilon / 2), epsilon)
    """)
    assert found.mechanisms == ["coins", "half-a-budget"]
    assert not mechanisms.is_solved("coins")
    built = mechanisms.build("coins", 4, 1.0)
    assert isinstance(built, StrategyMatrix)
    np.testing.assert_array_equal(built.matrix, two_valued(np.eye(4, dtype=bool), 1.0))
    assert mechanisms.build("coins", 4, 3.5) == Unavailable("coins are for small budgets")
    assert isinstance(mechanisms.build("half-a-budget", 3, 1.0), StrategyMatrix)
    assert testing.check_mechanism("half-a-budget", (1, 4), (1.0,)) == 4


SOLVER = """
from factormech.mechanisms.local.solved import Option, Solution
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.mechanisms.local.two_valued import two_valued

@solver("by-hand", per_epsilon=True, seeded=False, options={"rows": Option()})
class ByHand:
    def with_options(self, **options):
        return self
    def solve(self, workload, epsilon, rng):
        Q = two_valued(np.eye(workload.domain_size, dtype=bool), epsilon)
        return Solution({"matrix": Q}, {"objective": 1.0, "iterations": 0, "stopped": "made"})
    def restore(self, solution, epsilon):
        return StrategyMatrix(solution.datasets["matrix"], EPSILON)
"""


def test_solvers_are_solved_and_restored(plugin: Load) -> None:
    plugin(SOLVER.replace("EPSILON", "epsilon"))
    assert mechanisms.is_solved("by-hand")
    assert [str(p) for p in mechanisms.check_options("by-hand", {"rows": 0})] != []
    strategy = mechanisms.strategy_for("by-hand", workloads.create("prefix", 4), 1.0)
    assert isinstance(strategy, StrategyMatrix)


def test_a_solver_cannot_restore_more_than_its_budget(plugin: Load) -> None:
    plugin(SOLVER.replace("EPSILON", "2 * epsilon"))
    with pytest.raises(BadValue, match=r"by-hand: epsilon of its guarantee = 2\.0: must be at most the budget .* 1;"):
        mechanisms.strategy_for("by-hand", workloads.create("prefix", 4), 1.0)


def test_labels_are_the_plugins_or_the_names(plugin: Load) -> None:
    plugin(FAMILIES)
    loaded = plugin(
        """
        @mechanism("coins", label="Two coins")
        def coins(domain_size, epsilon):
            return np.full((2, domain_size), 0.5)
        """,
        "other.py",
    )
    assert labels.workload_label("neighbours") == "Neighbours"
    assert labels.value_label("workload", "first-2") == "First 2"
    assert labels.value_label("mechanism", "coins") == "Two coins"
    looks = style.mechanism_styles(["hadamard", "coins"])
    assert (looks["coins"].label, looks["coins"].colour) == ("Two coins", style.INDIGO)
    plugins.unload(loaded)
    assert labels.mechanism_label("coins") == "coins"


def test_a_plugin_is_loaded_once_and_again_when_it_has_changed(tmp_path: Path, plugin: Load) -> None:
    first = plugin(FAMILIES)
    assert plugins.load(tmp_path / "mine.py") is first
    plugin(FAMILIES.replace("neighbours", "friends"))
    assert "neighbours" not in workloads.names()
    assert "friends" in workloads.names()


def test_nothing_of_a_refused_plugin_stays(plugin: Load) -> None:
    names = [*workloads.names(), *mechanisms.names()]
    with pytest.raises(BadValue):
        plugin(FAMILIES + "\nmechanism('hadamard')(None)\n")
    assert [*workloads.names(), *mechanisms.names()] == names
    assert plugins.loaded() == []


# Refusals ----------------------------------------------------------------------------------------------------------


WRONG = {
    "a syntax error": ("def f(:\n", r"plugin \S+mine\.py, line 4 = 'SyntaxError: .*': must load without an error"),
    "an error": ("x = 1\n1 / 0\n", r"mine\.py, line 5 = 'ZeroDivisionError: .*': must load without"),
    "an error in a function": ("def f():\n    return [][1]\nf()\n", r"mine\.py, line 5 = 'IndexError: list index"),
    "an exit": ("import sys\nsys.exit(3)\n", r"mine\.py, line 5 = 'SystemExit: 3': must load without"),
    "a missing module": ("import mine_too\n", r"line 4 = \"ModuleNotFoundError: .*one file: install what it imports"),
    "nothing": (
        "x = 1\n",
        r"plugin \S+mine\.py = 'no name': must register a workload or a mechanism; decorate a function",
    ),
    "a workload's name": (
        "@workload('prefix')\ndef f(domain_size): ...\n",
        r"line 4, name of a workload = 'prefix': must not exist already; rename it, for example to 'my-prefix'",
    ),
    "a name of a family": ("@workload('2-way-marginals')\ndef f(domain_size): ...\n", "must not exist already"),
    "a family of a name": ("@workload('conjunctions-{k}')\ndef f(domain_size, k): ...\n", "must not exist already"),
    "a mechanism's name": ("@mechanism('hadamard')\ndef f(n, e): ...\n", "line 4, name of a mechanism = 'hadamard'"),
    "a bound's place": ("@mechanism('lower-bound')\ndef f(n, e): ...\n", "must not exist already"),
    "another curve's name": ("@mechanism('half-alpha/priv-unit')\ndef f(n, e): ...\n", "lower-case letters, digits"),
    "no name": ("@workload\ndef f(domain_size): ...\n", r"name of a workload = <function f .*: must be made of lower"),
    "a name with a blank": ("@workload('my counts')\ndef f(domain_size): ...\n", "must be made of lower-case letters"),
    "no label": ("@workload('mine', label=3)\ndef f(domain_size): ...\n", "label of the workload mine = 3: must be"),
}


@pytest.mark.parametrize(("text", "line"), WRONG.values(), ids=WRONG)
def test_a_wrong_plugin_is_answered_with_one_line(tmp_path: Path, text: str, line: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HEAD + text)
    with pytest.raises(BadValue, match=line) as refused:
        plugins.load(path)
    assert "\n" not in str(refused.value)
    assert plugins.loaded() == []


@pytest.mark.parametrize("name", ["nowhere.py", "", "a\0b.py"])
def test_a_plugin_that_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadValue, match=r"plugin '.*' = '.+': must be the path of a readable Python file; check"):
        plugins.load(Path(f"{tmp_path}/{name}"))


def test_a_plugin_of_another_kind_and_one_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadValue, match=r"must be a Python file \(\.py\)"):
        plugins.load(written(tmp_path, "", "mine.txt"))
    monkeypatch.setattr(plugins, "SIZE_LIMIT", 10)
    with pytest.raises(BadValue, match="of at most 10 bytes"):
        plugins.load(written(tmp_path, FAMILIES))


def test_two_plugins_of_one_name(plugin: Load) -> None:
    plugin(FAMILIES)
    with pytest.raises(BadValue, match=r"must have another file name than the plugin \S+mine\.py; rename one"):
        plugin("", "other/mine.py")


MATRICES = {
    "np.full((2, domain_size), np.nan)": r"matrix of workload wrong, row 1, column 1 = nan: must be a finite number",
    "np.ones((2, domain_size + 1))": r"columns of workload wrong = 5: must be 4, the domain size that it is asked for",
    "np.ones(domain_size)": r"matrix of workload wrong = \(4,\): must have two dimensions",
    "'text'": "matrix of workload wrong = 'str.*': must hold numbers",
    "None": "matrix of workload wrong = 'object': must hold numbers",
    "[[1, 2, 3, 4], [1]]": "matrix of workload wrong = .*: must be a table of numbers; give every row the same length",
    "1 / 0": r"workload wrong \(\S+mine\.py, line 6\) = 'ZeroDivisionError: .*': must raise no error",
}


@pytest.mark.parametrize(("matrix", "line"), MATRICES.items())
def test_a_wrong_workload_is_answered_with_one_line(plugin: Load, matrix: str, line: str) -> None:
    plugin(f"@workload('wrong')\ndef wrong(domain_size):\n    return {matrix}\n")
    with pytest.raises(BadValue, match=line) as refused:
        workloads.create("wrong", 4)
    assert "\n" not in str(refused.value)


STRATEGIES = {
    "np.eye(domain_size)": r"mechanism wrong: epsilon = 1\.0: must be at least the privacy loss of the strategy, inf",
    "np.where(np.eye(4), 3.0, 1.0) / 6": r"must be at least the privacy loss of the strategy, 1\.09861\d* \(output 0",
    "np.ones((2, domain_size))": r"mechanism wrong: sum of strategy column 0 = 2\.0",
    "np.full((2, 5), 0.5)": "mechanism wrong = '5 columns': must have one column for each of the 4 user types",
    "[['a']]": "mechanism wrong: strategy = 'str.*': must hold real numbers",
    "None": "mechanism wrong: mechanism = 'NoneType': must state its guarantee",
    "StrategyMatrix(np.where(np.eye(4), 3.0, 1.0) / 6, 1.2)": r"epsilon of its guarantee = 1\.2: must be at most",
    "{}[1]": r"mechanism wrong \(\S+mine\.py, line 7\) = 'KeyError: 1': must raise no error",
}


@pytest.mark.parametrize(("matrix", "line"), STRATEGIES.items())
def test_a_mechanism_that_is_not_private_is_refused_with_the_loss_it_has(plugin: Load, matrix: str, line: str) -> None:
    head = "from factormech.mechanisms.local.strategy import StrategyMatrix\n"
    plugin(f"{head}@mechanism('wrong')\ndef wrong(domain_size, epsilon):\n    return {matrix}\n")
    with pytest.raises(BadValue, match=line) as refused:
        mechanisms.build("wrong", 4, 1.0)
    assert "\n" not in str(refused.value)


# Configuration -----------------------------------------------------------------------------------------------------


def configuration(*paths: str, workload: str = "neighbours") -> dict[str, Any]:
    grid = {"workload": [workload], "domain_size": [8], "epsilon": [1.0]}
    study = {"paper": "mine", "artefact": "a", "kind": "sample-complexity", "title": "t", "grid": grid}
    return {"plugins": [*paths], "studies": {"one": {**study, "mechanisms": ["hadamard"]}}}


def loaded(folder: Path, *paths: str, workload: str = "neighbours") -> Config:
    return load(configuration(*paths, workload=workload), SCHEMA, base=folder)


def test_a_study_names_what_a_plugin_has(tmp_path: Path) -> None:
    written(tmp_path, FAMILIES, "code/mine.py")
    assert loaded(tmp_path, "code/mine.py").study("one").asked["workload"] == ("neighbours",)
    assert plugins.files() == {"factormech.own.mine": tmp_path / "code/mine.py"}


def test_an_absolute_plugin_may_be_anywhere(tmp_path: Path) -> None:
    path = written(tmp_path, FAMILIES)
    assert loaded(ROOT, str(path)).study("one").asked["workload"] == ("neighbours",)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (
            "nowhere.py",
            r"config: plugins\[0\]: plugin '\S*nowhere\.py' = 'No such file.*': must be the path of",
        ),
        ("../mine.py", r"config: plugins\[0\] = '\.\./mine\.py': must stay inside the folder of the project"),
        ("bad.py", r"config: plugins\[0\]: plugin \S*bad\.py, line 4 = 'ValueError: no': must load without an error"),
        ("mine.py", r"config: studies\.one\.grid\.workload\[0\] = 'neighbour': .* did you mean 'neighbours'"),
        ("", r"config: plugins\[0\] = '': must be a text"),
    ],
)
def test_a_wrong_plugin_in_a_configuration(tmp_path: Path, path: str, line: str) -> None:
    written(tmp_path, FAMILIES)
    written(tmp_path, FAMILIES, "project/mine.py")
    written(tmp_path, "raise ValueError('no')\n", "project/bad.py")
    with pytest.raises(ConfigErrors, match=line) as refused:
        loaded(tmp_path / "project", path, workload="neighbour")
    assert len(str(refused.value).splitlines()) == 1


def test_paths_are_relative_to_the_configuration(tmp_path: Path) -> None:
    here = tmp_path / "project"
    config = {"plugins": ["a.py", "../b.py", "/c.py"], "data": "d", "workloads": {"w": {"file": "e.csv"}}, "seed": 1}
    inside = seen_from(config, here / "x", here)
    assert inside == {
        "plugins": ["x/a.py", "b.py", "/c.py"],
        "data": "x/d",
        "workloads": {"w": {"file": "x/e.csv"}},
        "seed": 1,
    }
    beside = seen_from(config, tmp_path / "y", here)
    assert beside["plugins"] == [str(tmp_path / "y/a.py"), "../b.py", "/c.py"]
    assert leads_outside(beside["plugins"][1], here)
    assert seen_from(config, here, here) is config
    assert seen_from({"plugins": 3, "workloads": [], "data": None}, tmp_path, here)["plugins"] == 3


def test_ways_out_of_the_project(tmp_path: Path) -> None:
    for path, out in [("a/../b", False), ("..", True), ("a/../../b", True), ("/a/../b", False), ("a/..b", False)]:
        assert leads_outside(path, tmp_path) is out, path


# What depends on a plugin ------------------------------------------------------------------------------------------


def test_the_code_of_a_name_is_its_file_and_what_that_imports(tmp_path: Path, plugin: Load) -> None:
    text = "from factormech.mechanisms.local.two_valued import two_valued\n@workload('w')\ndef w(n): return np.eye(n)\n"
    own = plugins.files() | {plugin(text).module: tmp_path / "mine.py"}
    before = Sources(elsewhere=own).code_of("factormech.own.mine")
    names = {path.name for path in before.files}
    assert {"mine.py", "two_valued.py", "plugins.py"} <= names
    plugin(text.replace("np.eye(n)", "2 * np.eye(n)"))
    after = Sources(elsewhere=plugins.files()).code_of("factormech.own.mine")
    assert before.files == after.files
    assert before.digest != after.digest
    assert plugins.among(after.files) == [str(tmp_path / "mine.py")]
    assert plugins.among(Sources().code_of("factormech.pipeline.evaluate").files) == []


def test_a_plugin_may_build_on_another(tmp_path: Path, plugin: Load) -> None:
    plugin(FAMILIES)
    plugin("from factormech.own.mine import first\nworkload('again-{k}')(first)\n", "other.py")
    assert workloads.module_of("again-3") == "factormech.own.other"
    found = Sources(elsewhere=plugins.files()).code_of("factormech.own.other")
    assert plugins.among(found.files) == [str(tmp_path / "mine.py"), str(tmp_path / "other.py")]


def test_jobs_and_commands_load_plugins(tmp_path: Path, run: Run) -> None:  # noqa: F811
    path = written(tmp_path, FAMILIES)
    args = job_parser("A job.").parse_args(["--plugins", str(path), "--code", "x"])
    assert args.plugins == [path]
    assert job_parser("A job.").parse_args(["--plugins"]).plugins == []
    plugins.unload(plugins.loaded()[0])
    said = run("workload", "describe", "neighbours", "--domain-size", 8, "--plugin", path)
    assert (said.code, said.err) == (0, "")
    assert "queries" in said.out
    said = run("workload", "list", "--plugin", tmp_path / "nowhere.py")
    assert said.code == 1
    assert said.err.startswith("error: plugin '")
    assert said.err.count("\n") == 1
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump(configuration("mine.py")))
    plugins.unload(plugins.loaded()[0])
    said = run("check", "--config", config, "--schema", SCHEMA)
    assert (said.code, said.err) == (0, "")


# Test your own -----------------------------------------------------------------------------------------------------


BROKEN_WORKLOADS = {
    "gram": "return np.eye(self.domain_size)",
    "centred_gram": "return self.gram()",
    "gram_times": "return x",
    "adjoint": "return 2 * self.matrix().T @ y",
    "gram_diagonal": "return np.ones(self.domain_size)",
    "column_sums": "return np.ones(self.domain_size)",
    "frobenius_squared": "return 1.0",
    "total_squared": "return 1.0",
    "singular_values": "return np.ones(self.domain_size)",
    "centred_singular_values": "return self.singular_values()",
    "matrix": "return np.full((2, self.domain_size), np.nan)",
}


@pytest.mark.parametrize(("method", "body"), BROKEN_WORKLOADS.items())
def test_a_workload_that_contradicts_itself_is_found(plugin: Load, method: str, body: str) -> None:
    arguments = {"gram_times": ", x", "adjoint": ", y"}.get(method, "")
    plugin(f"""
from factormech.workloads.base import Workload

@workload("broken")
class Broken(Workload):
    @property
    def queries(self):
        return 2
    def answer(self, x):
        weights = np.arange(1.0, self.domain_size + 1)
        return np.stack([x.sum(axis=0), np.tensordot(weights, x, 1)])
    def {method}(self{arguments}):
        {body}
""")
    with pytest.raises(testing.BrokenPromise, match=r"workload broken, domain size \d+: "):
        testing.check_workload("broken")


def test_the_same_workload_without_the_slip_keeps_its_promises(plugin: Load) -> None:
    plugin(FAMILIES)
    assert testing.check_workload("neighbours") == 5
    assert testing.check_workload("first-{k}", (4,)) == 3
    assert testing.check_workload("bits") == 4
    with pytest.raises(testing.BrokenPromise, match="exists at none of the domain sizes"):
        testing.check_workload("bits", (3, 5))


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("evaluate = lambda self, C: replace(super(Odd, self).evaluate(C), variance=np.ones(4))", "variance = Σ_o"),
        (
            "simulate_estimates = lambda s, *a: np.eye(4)[:, :1] + StrategyMatrix.simulate_estimates(s, *a)",
            "off on average",
        ),
        ("simulate_estimates = lambda self, c, t, r: r.normal(size=(4, t))", "simulated"),
        ("reconstruction = property(lambda self: np.zeros((4, 4)))", "answers none|VQ = W"),
        ("domain_size = 3", "3 columns"),
    ],
)
def test_a_mechanism_that_contradicts_itself_is_found(plugin: Load, body: str, line: str) -> None:
    plugin(f"""
from dataclasses import replace
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.mechanisms.local.two_valued import two_valued

class Odd(StrategyMatrix):
    {body}

@mechanism("odd")
def odd(domain_size, epsilon):
    return Odd(two_valued(np.eye(domain_size, dtype=bool), epsilon), epsilon)
""")
    with pytest.raises((testing.BrokenPromise, BadValue), match=line):
        testing.check_mechanism("odd", (4,), (1.0,))


def test_what_answers_nothing_is_no_mechanism(plugin: Load) -> None:
    plugin("""
    from factormech.errors import Unavailable
    @mechanism("silent")
    def silent(domain_size, epsilon):
        return np.ones((1, domain_size))
    @mechanism("absent")
    def absent(domain_size, epsilon):
        return Unavailable("never")
    """)
    with pytest.raises(testing.BrokenPromise, match="silent: answers none of the workloads"):
        testing.check_mechanism("silent", (4,), (1.0,))
    with pytest.raises(testing.BrokenPromise, match="absent: is available at none"):
        testing.check_mechanism("absent", (4,), (1.0,))


def test_from_a_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = written(tmp_path, FAMILIES)
    assert testing.main([str(good)]) == 0
    assert "neighbours: 5 cases, all promises kept" in capsys.readouterr().out
    wrong = written(tmp_path, "@mechanism('wrong')\ndef wrong(n, e): return np.eye(n)\n", "wrong.py")
    assert testing.main([str(good), str(wrong)]) == 1
    assert capsys.readouterr().err.startswith("broken: mechanism wrong: epsilon = ")
    assert testing.main([str(tmp_path / "nowhere.py")]) == 1
    assert capsys.readouterr().err.count("\n") == 1
