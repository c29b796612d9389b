"""The package carries the workflow: from a checkout, from a new project, as a module of Snakemake, and from a wheel."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest
import yaml

import factormech as fm
from factormech import shipped
from factormech.cli.main import main
from factormech.config.studies import load_file
from factormech.errors import BadValue, UnknownName
from tests.test_workflow import snakemake

ROOT = Path(__file__).resolve().parent.parent
# A workflow of somebody else, which imports ours beside a rule of its own.
MODULE = """
configfile: "config.yaml"

rule mine:
    input: "figures/quick/first.svg"

module factormech:
    snakefile: {snakefile}
    config: config

use rule * from factormech as factormech_*
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A new project."""
    shipped.start_project(tmp_path)
    return tmp_path


def test_every_file_of_the_workflow_is_in_the_package() -> None:
    """By links; a new rule file needs one: ln -s ../../../../workflow/rules/NEW.smk src/factormech/workflow/rules."""
    folders = ("rules", "report", "schemas", "profiles")
    own = [path for folder in folders for path in (ROOT / "workflow" / folder).rglob("*") if path.is_file()]
    own += [ROOT / "workflow/Snakefile"]
    for path in own:
        assert (shipped.FOLDER / path.relative_to(ROOT / "workflow")).resolve() == path
    assert shipped.CONFIG.resolve() == ROOT / "config.yaml"
    links = [path for path in shipped.FOLDER.rglob("*") if path.is_symlink()]
    assert len(links) == len(own) + 1
    assert not any(os.path.isabs(os.readlink(link)) for link in links)


@pytest.mark.slow
def test_a_new_project_can_print_and_read_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of a checkout the rules of configurations are those of the package; a table on small grids is offered."""
    shipped.start_project(tmp_path, ["gaussian-calibration"])
    monkeypatch.chdir(tmp_path)
    table = ROOT / "docs/gallery/gaussian-calibration.csv"
    files = fm.paper("gaussian-calibration", table=table, formats=("svg",))
    assert all(path.is_file() for path in files)
    assert fm.study("gaussian-calibration").kind == "gaussian-calibration"
    with pytest.raises(BadValue, match=r"name a table with --table$"):
        fm.paper("gaussian-calibration")
    small = tmp_path / "results/tables/quick/gaussian-calibration.csv"
    small.parent.mkdir(parents=True)
    text = table.read_text(encoding="utf-8")
    small.write_text(text.replace("\ngaussian-cal", "\nquick/gaussian-cal"), encoding="utf-8")
    with pytest.raises(BadValue, match=r"quick/gaussian-calibration$"):
        fm.paper("gaussian-calibration")
    assert fm.paper("quick/gaussian-calibration", formats=("svg",))


def test_a_new_project_has_a_sound_configuration(project: Path) -> None:
    config = load_file(project / "config.yaml", shipped.SCHEMA)
    assert list(config.studies) == ["first"]
    with pytest.raises(BadValue, match="give another folder"):
        shipped.start_project(project)


def test_a_new_project_with_studies_of_the_papers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their blocks mean what they mean in the project's own configuration, whose aliases they may use."""
    every = load_file(ROOT / "config.yaml", shipped.SCHEMA)
    names = ["mckenna2020-figure-2", "selection"]
    assert main(["init", str(tmp_path / "new"), "--study", names[0], "--study", names[1]]) == 0
    assert "snakemake" in capsys.readouterr().out
    config = load_file(tmp_path / "new/config.yaml", shipped.SCHEMA)
    assert config.studies == {name: every.studies[name] for name in names}
    assert config.quick_studies == {f"quick/{name}": every.quick_studies[f"quick/{name}"] for name in names}


def test_an_unknown_study_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'selection'"):
        shipped.start_project(tmp_path / "new", ["selecton"])
    assert not (tmp_path / "new").exists()


def without(library: str, code: str) -> subprocess.CompletedProcess[str]:
    """Run Python where an import of this library fails as if it were not installed."""
    code = f"import sys; sys.modules[{library!r}] = None; {code}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_missing_library_is_one_line(project: Path) -> None:
    check = ["check", "--config", str(project / "config.yaml")]
    done = without("jsonschema", f"from factormech.cli.main import main; sys.exit(main({check}))")
    assert done.stderr == "error: jsonschema is not installed; type: pip install 'factormech[pipeline]'\n"
    assert done.returncode == 1
    plot = "import factormech as fm; fm.plot(fm.sweep(['prefix'], epsilon=[1.0], n=[4], mechanisms=['hadamard']))"
    last = without("matplotlib", plot).stderr.splitlines()[-1]
    assert last.endswith("matplotlib is not installed; type: pip install 'factormech[plots]'")


@pytest.mark.slow
@pytest.mark.workflow
def test_a_new_project_plans_its_study(project: Path) -> None:
    """Plain ``snakemake`` makes ``all``, and nothing else."""
    done = snakemake(project, "--dry-run")
    assert done.returncode == 0, done.stderr[-2000:]
    assert re.search(r"^draw +1$", done.stdout + done.stderr, re.MULTILINE)
    assert "claims" not in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.workflow
@pytest.mark.parametrize("place", ["checkout", "package", "commit"])
def test_the_workflow_is_a_module_of_another(project: Path, place: str) -> None:
    """From files, and from a commit of a repository, where a rule finds nothing beside it."""
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    snakefile = {
        "checkout": repr(str(ROOT / "workflow/Snakefile")),
        "package": repr(str(shipped.SNAKEFILE)),
        "commit": f'gitfile({str(ROOT)!r}, path="workflow/Snakefile", commit={head!r})',
    }
    (project / "Snakefile").write_text(MODULE.format(snakefile=snakefile[place]))
    done = snakemake(project, "mine", "--dry-run")
    assert done.returncode == 0, done.stderr[-2000:]
    assert re.search(r"^factormech_draw +1$", done.stdout + done.stderr, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.workflow
def test_the_file_at_the_top_and_the_workflow_make_the_same(tmp_path: Path) -> None:
    """Of two studies of the project itself, with its claims and its tools."""
    shipped.start_project(tmp_path / "few", ["mckenna2020-figure-2", "selection"])
    only = ("--configfile", str(tmp_path / "few/config.yaml"))
    planned = []
    for file in ("Snakefile", "workflow/Snakefile"):
        done = snakemake(ROOT, "--snakefile", file, *only, "--dry-run", "--quiet", "rules", "--nolock", "--forceall")
        assert done.returncode == 0, done.stderr[-2000:]
        jobs = dict(re.findall(r"^(\w+) +(\d+)$", done.stdout + done.stderr, re.MULTILINE))
        planned.append({name: int(count) for name, count in jobs.items() if name not in ("all", "default", "total")})
    assert planned[0] == planned[1]
    assert {"evaluate", "draw", "judge"} <= set(planned[0])


def test_the_catalog_finds_what_it_asks_for() -> None:
    """Where Snakemake's catalog of workflows looks for a workflow, its settings and the words on them."""
    assert (ROOT / "workflow/Snakefile").is_file()
    listed = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())
    assert listed["usage"]["mandatory-flags"]["flags"] == ""
    assert set(listed["usage"]["software-stack-deployment"]) == {"conda", "apptainer", "apptainer+conda"}
    assert {"snakemake", "workflow"} <= set(re.findall(r"\w+", (ROOT / "README.md").read_text().lower()))
    assert "config.yaml" in (ROOT / "config/README.md").read_text()


@pytest.mark.slow
def test_the_wheel_in_an_empty_environment(tmp_path: Path) -> None:
    """The core answers questions; with its extras it runs a quick study. Packages are fetched, as by make setup."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment["PATH"] = f"{tmp_path / 'env/bin'}{os.pathsep}{environment['PATH']}"

    def typed(command: str, code: int = 0) -> str:
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stdout + done.stderr

    build = [sys.executable, "-m", "flit_core.wheel", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "env", with_pip=True, symlinks=True)
    typed(f"pip install --quiet {wheel}")
    installed = {line.partition("==")[0].lower() for line in typed("pip list --format freeze").splitlines()}
    assert not installed & {"snakemake", "matplotlib", "jsonschema"}
    assert "users" in typed("factormech plan prefix --domain-size 8 --epsilon 1 --rmse 5%")
    typed("python -c \"import factormech as fm; print(fm.compare(fm.workload('prefix', 8), epsilon=1.0))\"")
    typed("factormech init mine")
    assert "pip install 'factormech[pipeline]'" in typed("cd mine && factormech check", 1)
    typed(f"pip install --quiet '{wheel}[pipeline,plots]'")
    assert "1 study" in typed("cd mine && factormech check")
    typed("cd mine && snakemake quick --quiet")
    assert (tmp_path / "mine/figures/quick/first.svg").stat().st_size > 0
