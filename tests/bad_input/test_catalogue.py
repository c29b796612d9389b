"""Every bad configuration, file and line is answered before any computation: one line a mistake, exit 1, no trace."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factormech.cli.main import main
from factormech.cli.schema import COMMANDS
from factormech.config.kinds import study_schema
from factormech.config.schema import mapping
from factormech.config.studies import ConfigErrors, load
from factormech.config.yaml_file import read_yaml
from factormech.studies.registry import experiment
from tests.tiers import every

from ..cli.test_refusals import USAGE, WRONG
from .catalogue import FILES, GOOD, SETTINGS, TEXTS

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"
# The key or place, the value, the rule, the remedy.
LINE = re.compile(r"(config|error): .+ = .+: must .+; .+", re.DOTALL)
Refuse = Callable[[], str]

pytestmark = [pytest.mark.heavy, pytest.mark.usefixtures("schema_read_once")]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a good configuration and its file; nothing measures or solves here."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "mine.csv").write_text("1,0,0,0,0,0,0,1\n")
    (folder / "config.yaml").write_text(yaml.safe_dump(GOOD))
    return folder


@pytest.fixture
def refused(project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Refuse:
    """The lines that the configuration of the project is refused with."""

    def forbidden(*_: Any, **__: Any) -> None:
        raise AssertionError("computed before it was checked")

    monkeypatch.setattr("factormech.pipeline.planning.Plan.__init__", forbidden)

    def call() -> str:
        before = sorted(project.parent.rglob("*"))
        assert main(["check", "--schema", str(SCHEMA)]) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert "Traceback" not in said.err
        for line in said.err.splitlines():
            assert LINE.fullmatch(line), line
        assert sorted(project.parent.rglob("*")) == before
        return said.err

    return call


def changed(changes: dict[str, Any]) -> dict[str, Any]:
    new = copy.deepcopy(GOOD)
    for key, value in changes.items():
        first, _, last = key.rpartition(".") if not key.startswith("studies...") else ("studies", "", key[8:])
        node: Any = new
        for part in first.split(".") if first else ():
            node = node[part]
        if value is ...:
            del node[last]
        else:
            node[last] = value
    return new


def test_the_good_configuration_is_good(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--schema", str(SCHEMA)]) == 0
    assert "3 studies" in capsys.readouterr().out


@pytest.mark.parametrize("case", every(2, SETTINGS))
def test_bad_settings(project: Path, refused: Refuse, case: str) -> None:
    changes, words = SETTINGS[case]
    (project / "config.yaml").write_text(yaml.dump(changed(changes)))
    assert words in refused()


@pytest.mark.parametrize("case", TEXTS)
def test_bad_texts(project: Path, refused: Refuse, case: str) -> None:
    content, words = TEXTS[case]
    (project / "config.yaml").write_bytes(content)
    assert words in refused()


@pytest.mark.parametrize("case", every(2, FILES))
def test_bad_files(project: Path, refused: Refuse, case: str) -> None:
    name, write, words = FILES[case]
    write(project / name)
    (project / "config.yaml").write_text(yaml.safe_dump(changed({"workloads.mine.file": name})))
    said = refused()
    assert said.startswith("config: workloads.mine.file = ")
    assert words in said
    assert not (project / "hacked").exists()


def test_files_that_have_no_end_are_not_read_to_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--config", "/dev/zero", "--schema", str(SCHEMA)]) == 1
    assert LINE.fullmatch(capsys.readouterr().err.rstrip("\n"))


def test_paths_that_users_may_give(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An absolute one, one that goes up and stays inside, and a link that they made."""
    outside = project.parent / "outside"
    outside.mkdir()
    (outside / "q.csv").write_text("1,2\n")
    (project / "link").symlink_to(outside)
    (project / "below").mkdir()
    for path in (str(outside / "q.csv"), "below/../mine.csv", "link/q.csv"):
        (project / "config.yaml").write_text(yaml.safe_dump(changed({"workloads.mine.file": path})))
        assert main(["check", "--schema", str(SCHEMA)]) == 0, capsys.readouterr().err


def test_the_catalogue_is_long_enough() -> None:
    assert len(SETTINGS) + len(TEXTS) + len(FILES) >= 190
    assert len(WRONG) + len(USAGE) >= 60


def test_every_command_has_bad_input() -> None:
    lines = [arguments for arguments, _ in WRONG.values()] + list(USAGE.values())
    for command in sorted(COMMANDS.keys() - {"error"}):
        words = tuple(command.split())
        assert any(line[: len(words)] == words for line in lines), command


# The schema, fuzzed -----------------------------------------------------------------------------------------


STRANGE: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    0.5,
    10**40,
    float("nan"),
    "",
    "x",
    "\0",
    [],
    [[]],
    {},
    {"a": []},
    "../..",
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a configuration."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, entry in entries for found in [(*path, key), *places(entry, (*path, key))]]


def answer_to(config: Any, base: Path) -> list[str]:
    """The lines for a configuration, checked for their form."""
    problems = 0
    lines: list[str] = []
    try:
        load(config, SCHEMA, base=base)
    except ConfigErrors as errors:
        lines, problems = str(errors).splitlines(), len(errors.problems)
    assert len(lines) == problems
    for line in lines:
        assert LINE.fullmatch(line), line
    return lines


def known_settings() -> set[tuple[str, ...]]:
    """The settings of the schema that every configuration has a place for, and those of the kind of study one."""
    top = read_yaml(SCHEMA)["properties"]
    common = mapping(top["studies"]["additionalProperties"])
    study = study_schema(experiment(GOOD["studies"]["one"]["kind"]), common)["properties"]
    return {(name,) for name in top} | {("studies", "one", name) for name in study}


def test_no_setting_takes_everything(project: Path) -> None:
    """All settings of a study, and then of the top, given one strange value after the other: each refuses most."""
    told = dict.fromkeys(known_settings(), 0)
    for value in STRANGE:
        top, kind = [path for path in told if len(path) == 1], [("studies", "one", "kind")]
        # Of a study of no known kind nothing else is judged: the kind is given a strange value alone.
        for here in (top, kind, [path for path in told if path not in (*top, *kind)]):
            new = copy.deepcopy(GOOD)
            for path in here:
                node: Any = new
                for part in path[:-1]:
                    node = node[part]
                node[path[-1]] = value
            lines = answer_to(new, project)
            for path in here:
                key = ".".join(path)
                told[path] += any(re.match(rf"config: {re.escape(key)}[ .\[]", line) for line in lines)
    assert {path for path, count in told.items() if count < len(STRANGE) // 2} == set()


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_any_change_is_taken_or_answered_in_lines(project: Path, data: st.DataObject) -> None:
    new = copy.deepcopy(GOOD)
    words = st.sampled_from(STRANGE) | st.text(max_size=8) | st.integers() | st.floats()
    for _ in range(data.draw(st.integers(1, 3))):
        *above, last = data.draw(st.sampled_from(places(new)))
        node: Any = new
        for part in above:
            node = node[part]
        match data.draw(st.sampled_from(["other", "other", "none", "more"])):
            case "other":
                node[last] = data.draw(words | st.lists(words, max_size=3))
            case "none":
                del node[last]
            case _ if isinstance(node, dict):
                node[data.draw(st.text(max_size=6))] = data.draw(words)
    answer_to(new, project)


# No pickle is ever loaded -----------------------------------------------------------------------------------


@pytest.mark.parametrize("room", ["src", "tools", "benchmarks"])
def test_no_pickle_is_ever_loaded(room: str) -> None:
    """NumPy loads with ``allow_pickle=False`` said, YAML with the strict loader, and nothing else can run a file."""
    suspects = re.compile(r"pickle|\bdill\b|joblib|marshal|shelve|yaml|\bload\b")
    for path in sorted((ROOT / room).rglob("*.py")):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if suspects.search(text) else ():
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            forbidden = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
            assert forbidden.isdisjoint(name.partition(".")[0] for name in names), path
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            owner, name = ast.unparse(node.func.value), node.func.attr
            given_ = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            if owner in ("np", "numpy") and name == "load":
                assert given_.get("allow_pickle") == "False", f"{path}:{node.lineno}"
            assert not name.endswith("pickle"), f"{path}:{node.lineno}"
            if owner == "yaml" and name == "load":
                assert given_.get("Loader") == "_StrictLoader", f"{path}:{node.lineno}"
            assert not (owner == "yaml" and name in ("unsafe_load", "full_load")), f"{path}:{node.lineno}"
