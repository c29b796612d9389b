"""A real SLURM of two nodes on this machine, and what its commands say."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SLURM = Path(__file__).parent / "slurm.sh"
# No wait is as long as this, however busy the machine: it ends a test that hangs.
PATIENCE = 300.0


class Cluster:
    """The two nodes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def tell(self, *words: str) -> None:
        subprocess.run([str(SLURM), *words], check=True)

    def start(self) -> None:
        self.tell("start", str(self.folder))

    def stop(self) -> None:
        self.tell("stop", str(self.folder))

    def kill(self, node: str) -> None:
        self.tell("kill", str(self.folder), node)

    def revive(self, node: str) -> None:
        self.tell("node", str(self.folder), node)
        wait_until(lambda: queue("sinfo", "-h", "-N", "-t", "idle,mix,alloc", "-o", "%N").count("\n") == 2)

    def jobs(self, folder: Path) -> list[str]:
        """The jobs that work in a folder."""
        lines = [line.split(maxsplit=1) for line in queue("squeue", "-h", "-o", "%A %Z").splitlines()]
        return [job for job, at in lines if Path(at) == folder]

    def finish(self, folder: Path, *how: str) -> None:
        """End every job of a folder, and wait until none is left."""
        if jobs := self.jobs(folder):
            subprocess.run(["scancel", *how, *jobs], check=True)
            wait_until(lambda: not self.jobs(folder))


def queue(*command: str) -> str:
    """What a SLURM command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def wait_until(holds: Callable[[], object]) -> None:
    """Look every fifth of a second until it holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"not within {PATIENCE} s"
        time.sleep(0.2)


def kill_group(process: subprocess.Popen[str]) -> None:
    """Kill a process with all that it started on this side of the cluster, as ``kill -9`` would."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
