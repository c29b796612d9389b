"""What ``tools/sweep.py`` answers before anything is planned: a line for everything that a site or a profile lacks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
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
SINFO = "#!/bin/sh\necho 'main'\necho 'long'\n"
CONFIGURED = "#!/bin/sh\necho 'AccountingStorageType   = accounting_storage/none'\n"


def sweep(folder: Path, profile: str, *words: str, slurm: bool = True, sinfo: str = SINFO) -> str:
    """What the tool says to a profile, on a site whose SLURM is two small scripts; it ends before Snakemake begins."""
    (folder / "my.yaml").write_text(CONFIG)
    (folder / "mine").mkdir(exist_ok=True)
    (folder / "mine/config.yaml").write_text(profile)
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    for name in ("sbatch", "squeue", "scancel", "sinfo", "scontrol") if slurm else ():
        (tools / name).write_text({"sinfo": sinfo, "scontrol": CONFIGURED}.get(name, "#!/bin/sh\n"))
        (tools / name).chmod(0o755)
    done = subprocess.run(
        [sys.executable, ROOT / "tools/sweep.py", "--config", "my.yaml", "--profile", "mine", *words],
        cwd=folder,
        env=os.environ | {"PATH": f"{tools}:/bin", "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert all(line.startswith("sweep: ") for line in done.stderr.splitlines())
    return done.stderr


@pytest.mark.skipif(any(Path("/bin", name).exists() for name in ("sbatch", "sinfo")), reason="SLURM is in /bin")
def test_no_slurm_on_the_path(tmp_path: Path) -> None:
    said = sweep(tmp_path, FULL, slurm=False)
    assert said.count("\n") == 1
    assert "sbatch, squeue, scancel, sinfo, scontrol: not on the path" in said
    assert "login node" in said


def test_an_unknown_partition(tmp_path: Path) -> None:
    said = sweep(tmp_path, FULL, "--partition", "man")
    assert said == ("sweep: slurm_partition = 'man': must be a known name; did you mean 'main'? known: long, main\n")


def test_no_partition_where_the_site_has_no_default(tmp_path: Path) -> None:
    said = sweep(tmp_path, FULL)
    assert "slurm_partition is missing" in said
    assert "PARTITION= to one of long, main" in said


@pytest.mark.parametrize("key", ["executor", "jobs", "cores", "mem_mb", "runtime"])
def test_a_profile_with_a_missing_key(tmp_path: Path, key: str) -> None:
    lines = {"mem_mb": FULL.replace("mem_mb: 500, ", ""), "runtime": FULL.replace(", runtime: 5", "")}
    without = "".join(line + "\n" for line in FULL.splitlines() if not line.startswith(f"{key}:"))
    said = sweep(tmp_path, lines.get(key, without))
    assert said.count("\n") == 1
    assert f"{key} is missing: say " in said


def test_a_controller_that_does_not_answer(tmp_path: Path) -> None:
    said = sweep(tmp_path, FULL, sinfo="#!/bin/sh\necho 'Unable to contact slurm controller' >&2\nexit 1\n")
    assert said.count("\n") == 1
    assert "Unable to contact slurm controller" in said


def test_an_unknown_profile(tmp_path: Path) -> None:
    said = sweep(tmp_path, FULL, "--profile", "slrum")
    assert "did you mean 'slurm'?" in said
