"""The examples are the first code that a user writes: they are run, and so is what the README says of one's own."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import factormech
from factormech import plugins, testing
from factormech.config.studies import Config, load, read_yaml
from factormech.config.yaml_file import seen_from
from factormech.mechanisms.local import registry as mechanisms
from factormech.workloads import registry as workloads
from tests.cli.conftest import Run, run  # noqa: F401
from tests.test_workflow import copy_of_project, edited, made, planned, snakemake

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"
CONFIGS = sorted(EXAMPLES.glob("*/config.yaml"))
PLUGINS = sorted(EXAMPLES.glob("*/*.py"))
STUDY = "examples/study/config.yaml"


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    yield
    for plugin in plugins.loaded():
        plugins.unload(plugin)


def configured(path: Path) -> Config:
    return load(seen_from(read_yaml(path), path.parent, ROOT), SCHEMA, base=ROOT)


def code_lines(path: Path) -> list[str]:
    """What is left without docstring, comments, imports and empty lines."""
    text = re.sub(r'""".*?"""', "", path.read_text(), flags=re.DOTALL)
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith(("import ", "from "))]


def test_there_is_an_example_of_each() -> None:
    assert [path.parent.name for path in CONFIGS] == ["mechanism", "study", "workload_from_file", "workload_in_python"]
    assert [path.name for path in PLUGINS] == ["arc_response.py", "windows.py"]


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.parent.name)
def test_examples_are_good_configurations_with_a_word_of_explanation(path: Path) -> None:
    assert path.read_text().startswith("# ")
    config = configured(path)
    assert len(config.studies) == 1
    assert all(len(line) <= 120 for line in path.read_text().splitlines())


@pytest.mark.parametrize("path", PLUGINS, ids=lambda path: path.name)
def test_examples_are_short_and_keep_their_promises(path: Path) -> None:
    found = plugins.load(path)
    assert len(code_lines(path)) <= 10
    for name in found.workloads:
        assert testing.check_workload(name) == len(testing.SIZES)
    for name in found.mechanisms:
        assert testing.check_mechanism(name, (1, 3, 8), (0.5, 3.0)) == 12


def test_arcs_are_worth_an_example() -> None:
    """Beside the simplest and the tree they win somewhere, on the workload that they are for."""
    plugins.load(EXAMPLES / "mechanism" / "arc_response.py")
    C = workloads.create("prefix", 16).centred_gram()
    names = ("arc-response", "randomized-response", "hadamard", "hierarchical", "subset-selection")
    worst = {name: mechanisms.build(name, 16, 2.0).evaluate(C).worst for name in names}
    assert min(worst, key=worst.__getitem__) == "arc-response"


# Pages -------------------------------------------------------------------------------------------------------------


def test_what_the_first_page_says_of_ones_own(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Run,  # noqa: F811
) -> None:
    """Its lines of Python, its command and its configuration, word for word."""
    section = (ROOT / "docs/start.md").read_text().partition("## Your own\n")[2].partition("\n## ")[0]
    code, config = (re.search(rf"```{kind}\n(.*?)```", section, re.DOTALL)[1] for kind in ("python", "yaml"))  # type: ignore[index]
    assert len([line for line in code.splitlines() if line]) <= 10
    (tmp_path / "windows.py").write_text(code)
    (tmp_path / "mine.yaml").write_text(config)
    monkeypatch.chdir(tmp_path)
    command = " ".join(re.search(r"`factormech (plan .*?)`", section, re.DOTALL)[1].split())  # type: ignore[index]
    said = run(*command.split())
    assert (said.code, said.err.count("error")) == (0, 0)
    assert load(yaml.safe_load(config), SCHEMA, base=tmp_path).study("my-windows").asked["workload"] == ("windows",)
    assert testing.check_workload("windows") == len(testing.SIZES)


def test_what_the_page_says_of_a_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "adding.md").read_text().partition("## A plugin")[2].partition("\n## ")[0]
    code, tests = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "mine.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    exec(compile("from pathlib import Path\n" + tests, "docs/adding.md", "exec"), {})  # noqa: S102
    assert "factormech.own.mine" in plugins.files()


# The workflow ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project in which every example has been made."""
    folder = copy_of_project(tmp_path_factory.mktemp("examples"))
    shutil.copytree(EXAMPLES, folder / "examples")
    shutil.copy2(ROOT / "config.yaml", folder / "config.yaml")
    for path in CONFIGS:
        made(folder, "all", "--configfile", str(path.relative_to(ROOT)))
    return folder


@pytest.mark.slow
def test_what_is_ones_own_is_in_every_table_and_figure(project: Path) -> None:
    shown = {
        "my-queries": ["Grades"],
        "my-windows": ["Windows of three"],
        "my-mechanism": ["Arc response"],
        "my-study": ["Grades", "Windows of three", "Arc response"],
    }
    assert {path.stem for path in (project / "figures").glob("*.svg")} == set(shown)  # and nothing of config.yaml
    for study, labels in shown.items():
        drawn = set(re.findall(r"<!-- (.*?) -->", (project / f"figures/{study}.svg").read_text()))
        caption, notes = ((project / f"figures/{study}.{kind}").read_text() for kind in ("txt", "notes.txt"))
        assert set(labels) <= drawn
        assert all(label in caption + notes for label in labels)
    latex = (project / "results/tables/my-study.tex").read_text()
    assert "Arc response" in re.sub(r" \\\\ ", " ", latex)  # the head may break between words
    # Read where no plugin is loaded.
    table = factormech.load(project / "results/tables/my-study.csv")
    assert set(table["status"]) == {"ok", "bound"}
    assert {"windows", "grades"} < set(table["workload"])
    assert "arc-response" in set(table["mechanism"])
    assert factormech.load(project / "results/my-study.h5").equals(table)


@pytest.mark.slow
def test_a_changed_plugin_makes_again_what_depends_on_it_and_nothing_else(project: Path) -> None:
    study = ("all", "--configfile", STUDY)
    assert planned(project, *study) == set()
    shown = {"tabulate study=my-study", "draw study=my-study"}
    arcs = project / "examples/mechanism/arc_response.py"
    with edited(arcs, arcs.read_text().replace("n / 2", "n / 3")):
        assert planned(project, *study) == {"evaluate study=my-study, part=arc-response", *shown}
    windows = project / "examples/workload_in_python/windows.py"
    with edited(windows, windows.read_text().replace("<= 1", "<= 2")):
        jobs = planned(project, *study)
        assert all("workload=windows" in job for job in jobs if job.startswith("solve "))
        assert not any("prefix" in job or "grades" in job for job in jobs)
        assert {job.partition(" ")[0] for job in jobs} >= {"solve", "evaluate", "tabulate", "draw"}
        other = planned(project, "all", "--configfile", "examples/mechanism/config.yaml")
        assert other == set()
    assert planned(project, *study) == set()


@pytest.mark.slow
def test_a_plugin_more_makes_nothing_again(project: Path) -> None:
    config = project / STUDY
    (project / "examples/study/more.py").write_text(
        "from factormech.plugins import workload\n@workload('more')\ndef more(n): return [[1] * n]\n"
    )
    with edited(config, config.read_text().replace("plugins: [", "plugins: [more.py, ")):
        assert planned(project, "all", "--configfile", STUDY) == set()


@pytest.mark.slow
def test_a_mechanism_that_is_not_private_ends_its_job_with_one_line(project: Path) -> None:
    arcs = project / "examples/mechanism/arc_response.py"
    with edited(arcs, arcs.read_text().replace("inner_ratio(epsilon)", "inner_ratio(2 * epsilon)")):
        done = snakemake(project, "all", "--configfile", STUDY, "--show-failed-logs")
    assert done.returncode == 1
    log = (project / "results/logs/evaluate/my-study/arc-response.log").read_text()
    assert log.startswith("error: mechanism arc-response: epsilon = 0.5: must be at least the privacy loss")
    assert "loss of the strategy, 0.9999999" in log
    assert log.count("\n") == 1


@pytest.mark.slow
def test_a_wrong_plugin_ends_the_run_before_it_begins(project: Path) -> None:
    arcs = project / "examples/mechanism/arc_response.py"
    with edited(arcs, arcs.read_text() + "\n1 / 0\n"):
        started = time.perf_counter()
        done = snakemake(project, "all", "--configfile", STUDY)
    assert done.returncode == 1
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("config: ")]
    assert said[0].startswith("config: plugins[1]: plugin examples/mechanism/arc_response.py, line ")
    assert "ZeroDivisionError" in said[0]
    assert "Traceback" not in done.stdout + done.stderr
    assert time.perf_counter() - started < 60
