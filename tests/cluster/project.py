"""Copies of the project on which sweeps are run and disturbed.

The jobs' ``python`` is a shim that notes which files were begun and finished, and does to a job what a test asks: hold
memory, or take its time. So every disturbance is aimed at one job, and "computed once" is counted.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from factormech.store import hdf5
from tests.cluster.site import PATIENCE, ROOT, kill_group

# What the whole sweep makes, and what hangs on every solve.
TABLE, AFTER = "results/tables/swept.csv", "results/parts/swept/optimised.h5"
# Twelve cheap solves and what is made of them: some twenty jobs.
CONFIG = """
studies:
  swept:
    paper: mckenna2020
    artefact: Figure 1
    kind: sample-complexity
    title: Swept
    grid: {workload: [histogram, prefix, all-ranges, all-marginals], domain_size: [8], epsilon: [0.5, 1.0, 2.0]}
    mechanisms: [optimised, randomized-response]
    alpha: 0.01
"""
SHIM = """#!/bin/bash
# The python of the jobs. FAULTS holds files named after the output they disturb: mb of memory, or seconds of patience.
output=; previous=
for word in "$@"; do [ "$previous" = --output ] && output=$word; previous=$word; done
[ -n "$output" ] || exec REAL "$@"
name=${output//\\//+}
echo "$output ${SLURM_JOB_ID:-local} ${SLURM_ARRAY_JOB_ID:-alone} ${SLURMD_NODENAME:-}" >> FAULTS/began
if [ -f "FAULTS/$name.mb" ]; then
    REAL -c "import time; held = bytearray($(cat "FAULTS/$name.mb") * 2**20); time.sleep(12)" || exit 1
fi
if [ -f "FAULTS/$name.seconds" ]; then sleep "$(cat "FAULTS/$name.seconds")" || exit 1; fi
REAL "$@" || exit 1
echo "$output" >> FAULTS/finished
"""
# The executor looks at its jobs after 2, 12, 22, … seconds; here, every other second.
IMPATIENT = """
import asyncio
sleep = asyncio.sleep
asyncio.sleep = lambda seconds, *rest: sleep(min(seconds, 2), *rest)
"""


@dataclass
class Project:
    """A copy of the project with a configuration, and the shim as the jobs' Python."""

    folder: Path
    target: str = AFTER
    running: subprocess.Popen[str] | None = None

    @property
    def faults(self) -> Path:
        return self.folder / "faults"

    def environment(self) -> dict[str, str]:
        path = f"{self.folder / 'bin'}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        modules = f"{self.folder / 'src'}{os.pathsep}{self.folder / 'bin'}"
        return os.environ | {"PATH": path, "PYTHONPATH": modules} | threads

    def begin(self, *words: str, profile: str = "quick-slurm") -> subprocess.Popen[str]:
        """Start a sweep, in a process group of its own."""
        command = [sys.executable, "tools/sweep.py", "--profile", profile, "--target", self.target]
        with (self.folder / "said").open("w") as said:
            return subprocess.Popen(
                [*command, "--", *words],
                cwd=self.folder,
                env=self.environment(),
                stdout=said,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )

    def sweep(self, *words: str, fails: bool = False, profile: str = "quick-slurm") -> str:
        """Run a sweep to its end; what it said."""
        running = self.begin(*words, profile=profile)
        try:
            code = running.wait(timeout=PATIENCE)
        finally:
            kill_group(running)
        assert (code != 0) == fails, self.said[-4000:]
        return self.said

    @property
    def said(self) -> str:
        return (self.folder / "said").read_text()

    def plain(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Snakemake itself, on this machine."""
        command = [sys.executable, "-m", "snakemake", "--cores", "2", *words]
        return subprocess.run(
            command, cwd=self.folder, env=self.environment(), capture_output=True, text=True, check=False
        )

    def lines(self, name: str) -> list[str]:
        """What the shim noted."""
        path = self.faults / name
        return path.read_text().splitlines() if path.exists() else []

    def disturb(self, file: str, **how: int) -> None:
        """Ask the shim to hold ``mb`` of memory, or to wait ``seconds``, before it makes a file."""
        for kind, value in how.items():
            (self.faults / f"{file.replace('/', '+')}.{kind}").write_text(str(value))

    def calm(self) -> None:
        """Nothing is disturbed any more."""
        for path in [*self.faults.glob("*.mb"), *self.faults.glob("*.seconds")]:
            path.unlink()

    def forget(self, *files: str) -> None:
        """Results that are to be made again; the notes of the shim start anew."""
        for file in files:
            (self.folder / file).unlink()
        for name in ("began", "finished"):
            (self.faults / name).unlink(missing_ok=True)

    def strategies(self) -> list[str]:
        """The solved files, by name."""
        return sorted(str(p.relative_to(self.folder)) for p in (self.folder / "results/strategies").rglob("*.h5"))

    def datasets(self) -> dict[str, bytes]:
        """Every result file, whole: equal inputs give equal files."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for folder in ("strategies", "parts", "bounds", "tables")
            for path in (self.folder / "results" / folder).rglob("*")
            if path.is_file()
        }

    def check(self, expected: dict[str, bytes]) -> None:
        """Everything is there and as in the local run, passes verification, and nothing finished was made twice."""
        found = self.datasets()
        assert found.keys() == expected.keys()
        assert [name for name in found if found[name] != expected[name]] == []
        for name in found:
            if name.endswith(".h5"):
                hdf5.read(self.folder / name)
        finished = Counter(self.lines("finished"))
        assert {name: count for name, count in finished.items() if count > 1} == {}
        assert self.plain(self.target, "--dry-run").stdout.count("Nothing to be done") == 1


def profile_text() -> str:
    """The committed profile, with the waits of a cluster made those of one machine."""
    text = (ROOT / "workflow/profiles/slurm/config.yaml").read_text()
    for old, new in (
        ("latency-wait: 60", "latency-wait: 10"),
        ("slurm-init-seconds-before-status-checks: 20", "slurm-init-seconds-before-status-checks: 2"),
        ("solves-of-2-seconds=200", "solves-of-2-seconds=4"),
    ):
        assert old in text
        text = text.replace(old, new)
    return text


def new_project(folder: Path) -> Project:
    """A copy of what a sweep needs."""
    names = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    for name in filter(None, names):
        if name.split("/")[0] in {"src", "workflow", "profiles", "tools", "Snakefile", "environment.yml"}:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    (folder / "config.yaml").write_text(CONFIG)
    profile = folder / "workflow/profiles/quick-slurm/config.yaml"
    profile.parent.mkdir()
    profile.write_text(profile_text())
    made = Project(folder)
    made.faults.mkdir()
    shim = folder / "bin/python"
    shim.parent.mkdir()
    shim.write_text(SHIM.replace("REAL", sys.executable).replace("FAULTS", str(made.faults)))
    shim.chmod(0o755)
    (shim.parent / "sitecustomize.py").write_text(IMPATIENT)
    return made


def copy_of(local: Project, folder: Path) -> Project:
    """A project of its own in which everything has been made."""
    shutil.copytree(local.folder, folder, symlinks=True)
    made = Project(folder)
    shim = folder / "bin/python"
    shim.write_text(shim.read_text().replace(str(local.folder), str(folder)))
    made.forget()
    return made
