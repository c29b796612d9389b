"""One reader of configurations for ``factormech check`` and plain ``snakemake``; what both accept, runs."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import factormech
from factormech.cli.main import main
from tests.bad_input.catalogue import GOOD, TEXTS
from tests.test_workflow import copy_of_project, snakemake
from tests.tiers import every

pytestmark = pytest.mark.workflow

SCHEMA = Path(__file__).resolve().parents[1] / "workflow" / "schemas" / "config.schema.yaml"
PLUGIN = """
import numpy as np
from factormech.plugins import workload

if __name__ == "{module}":
    raise SystemExit("the plugin took the place of a module of Python")


@workload("{name}")
def own(domain_size):
    return np.eye(domain_size)
"""
STUDY = "y-123456" * 8
LONGEST = "x-123456" * 8
MATRIX = "da ta/a:b 'x' %s $HOME \"é;&|.csv"
# Everything that is strange and allowed.
STRANGE = {
    "plugins": ["random.py", "types.py", "secrets.py"],
    "workloads": {LONGEST: {"file": MATRIX}},
    "studies": {
        STUDY: {
            "paper": "z-123456" * 8,
            "artefact": "Figure {x} %s $HOME",
            "kind": "sample-complexity",
            "title": "{wildcards.study} %d {input} \\alpha & $x$ <b> é 𝔸",
            "caption": '{a} "c" $(touch hacked) `touch hacked` \'',
            "grid": {"workload": [LONGEST, "own-random", "own-types"], "domain_size": [4], "epsilon": [0.001, 40.0]},
            "mechanisms": ["randomized-response"],
        }
    },
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in a folder with a blank, and strange things in it."""
    folder = tmp_path_factory.mktemp("pro ject")
    copy_of_project(folder)
    for module in ("random", "types", "secrets"):
        (folder / f"{module}.py").write_text(PLUGIN.format(module=module, name=f"own-{module}"))
    (folder / MATRIX).parent.mkdir()
    (folder / MATRIX).write_text("1,0,0,1\n0,1,1,0\n")
    (folder / "strange one.yaml").write_text(yaml.safe_dump(STRANGE, allow_unicode=True))
    return folder


@pytest.mark.slow
def test_what_check_accepts_runs(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The longest names, letters that shells, Python, LaTeX and paths have a use for, plugins named like modules."""
    monkeypatch.chdir(project)
    assert main(["check", "--config", "strange one.yaml", "--schema", str(SCHEMA)]) == 0, capsys.readouterr().err
    done = snakemake(project, STUDY, "--configfile", "strange one.yaml", "--quiet", "rules", "--show-failed-logs")
    assert done.returncode == 0, done.stderr[-2000:]
    table = factormech.load(project / f"results/tables/{STUDY}.csv")
    assert set(table["workload"]) == {LONGEST, "own-random", "own-types"}
    assert (table["status"] != "failed").all()
    assert not (project / "hacked").exists()


@pytest.mark.slow
# Snakemake itself refuses what is no YAML, with words of its own; these it would read in its own way.
@pytest.mark.parametrize(
    "case",
    every(6, ["a key twice", "an octal seed", "a range", "a switch", "a date", "a thousand", "a key twice, deep"]),
)
def test_snakemake_reads_as_check_does(project: Path, case: str) -> None:
    content, words = TEXTS[case]
    (project / "bad.yaml").write_bytes(
        content + yaml.safe_dump({"studies": GOOD["studies"]}).encode() * ("deep" not in case)
    )
    done = snakemake(project, "--configfile", "bad.yaml", "--dry-run")
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert words in said
    assert "Traceback" not in said
    assert sum(line.startswith("config: ") for line in said.splitlines()) == 1
