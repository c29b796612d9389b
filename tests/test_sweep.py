"""What ``tools/sweep.py`` answers before anything is planned: a line for everything that a site or a profile lacks."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from factormech.config.studies import load, read_yaml

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "tools/sweep.py"
SWEEP = runpy.run_path(str(TOOL))
CONFIG = """
studies:
  swept:
    paper: mckenna2020
    artefact: Figure 1
    kind: sample-complexity
    title: Swept
    grid: {workload: [prefix], domain_size: [8], epsilon: [1.0]}
    mechanisms: [hadamard]
    alpha: 0.01
"""
FULL = """executor: slurm
jobs: 9
cores: 2
default-resources: {mem_mb: 500, runtime: 5}
"""
CONFIGURED = "echo 'AccountingStorageType   = accounting_storage/none'"


class Site:
    """A folder with a configuration and a profile, on a site whose SLURM is a few small scripts."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch
        self.tools = folder / "tools"
        self.tools.mkdir()
        (folder / "my.yaml").write_text(CONFIG)
        (folder / "mine").mkdir()
        for name in ("sbatch", "squeue", "scancel", "sinfo", "scontrol"):
            self.command(name, {"sinfo": "echo main; echo long", "scontrol": CONFIGURED}.get(name, ":"))
        # Nothing else is on the path: a real SLURM of this machine has no part in this.
        monkeypatch.setenv("PATH", str(self.tools))
        monkeypatch.chdir(folder)

    def command(self, name: str, does: str) -> None:
        (self.tools / name).write_text(f"#!/bin/sh\n{does}\n")
        (self.tools / name).chmod(0o755)

    def says(self, profile: str, *words: str) -> str:
        """What the tool says to a profile; it ends before Snakemake begins."""
        (self.folder / "mine/config.yaml").write_text(profile)
        self.monkeypatch.setattr(sys, "argv", ["sweep.py", "--config", "my.yaml", "--profile", "mine", *words])
        with pytest.raises(SystemExit) as end:
            SWEEP["main"]()
        said = str(end.value.code)
        assert all(line.startswith("sweep: ") for line in said.splitlines())
        return said


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(tmp_path, monkeypatch)


def test_no_slurm_on_the_path(site: Site) -> None:
    """As a user sees it: a line, no traceback, exit code 1."""
    for script in site.tools.iterdir():
        script.unlink()
    (site.folder / "mine/config.yaml").write_text(FULL)
    done = subprocess.run(
        [sys.executable, TOOL, "--config", "my.yaml", "--profile", "mine"],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "sbatch, squeue, scancel, sinfo, scontrol: not on the path" in done.stderr
    assert "login node" in done.stderr


def test_an_unknown_partition(site: Site) -> None:
    said = site.says(FULL, "--partition", "man")
    assert said == ("sweep: slurm_partition = 'man': must be a known name; did you mean 'main'? known: long, main")


def test_no_partition_where_the_site_has_no_default(site: Site) -> None:
    said = site.says(FULL)
    assert "slurm_partition is missing" in said
    assert "PARTITION= to one of long, main" in said


@pytest.mark.parametrize("key", ["executor", "jobs", "cores", "mem_mb", "runtime"])
def test_a_profile_with_a_missing_key(site: Site, key: str) -> None:
    lines = {"mem_mb": FULL.replace("mem_mb: 500, ", ""), "runtime": FULL.replace(", runtime: 5", "")}
    without = "".join(line + "\n" for line in FULL.splitlines() if not line.startswith(f"{key}:"))
    said = site.says(lines.get(key, without))
    assert said.count("\n") == 0
    assert f"{key} is missing: say " in said


def test_a_controller_that_does_not_answer(site: Site) -> None:
    site.command("sinfo", "echo 'Unable to contact slurm controller' >&2; exit 1")
    said = site.says(FULL)
    assert said.count("\n") == 0
    assert "Unable to contact slurm controller" in said


def test_jobs_of_an_earlier_sweep_in_the_same_folder(site: Site) -> None:
    site.command("squeue", f"echo '17 {site.folder}'; echo '18 {site.folder}'; echo '19 /elsewhere'")
    said = site.says(FULL, "--partition", "main")
    assert said.count("\n") == 0
    assert said.endswith("scancel 17 18")


def test_an_unknown_profile(site: Site) -> None:
    said = site.says(FULL, "--profile", "slrum")
    assert "did you mean 'slurm'?" in said


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_examples_have_one_axis(example: Path) -> None:
    """A figure has one; a study with two would fail after all its solves."""
    for study in load(read_yaml(example), ROOT / "workflow/schemas/config.schema.yaml", base=ROOT).studies.values():
        assert min(len(study.asked["domain_size"]), len(study.asked["epsilon"])) == 1
