"""Faults that a run of the workflow may meet, each done to a copy of the project at moments drawn from a seed.

A fault is a function of a trial. It breaks something, sees that what the run then says is of use, and mends what only
the user can mend (a full disk, a missing right); what the product must mend itself is left as it is.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from factormech.config.yaml_file import read_yaml
from factormech.errors import BadValue
from factormech.store import content as _seal

ROOT = Path(__file__).resolve().parents[1]
# The content of a file of a study that measures seconds, as far as two runs agree on it.
CLOCK = b"whole, and of the clock"
UNLOCK = Path(__file__).with_name("unlock.py")
# What a run makes and is compared; logs and benchmarks tell of times.
MADE = ("results", "figures")
APART = ("results/logs/", "results/benchmarks/", "results/README.md", "figures/README.md")
PATIENCE = 1800.0
# Kills after which a run that is killed again and again is taken not to get anywhere.
MOST_KILLS = 1000
# What all processes of a run may take together, in KiB, and how many jobs share it.
MEMORY, JOBS = 8 << 20, 2
LINE = re.compile(r"^(?:\w*Error: )?(error: .+ = .+: must .+; .+|error: some jobs failed: .+)$", re.MULTILINE)


class Broken(Exception):
    """What a trial found to be wrong."""


class Skipped(Exception):
    """Why a fault cannot be made here."""


@dataclass
class Trial:
    """A copy of the project, what an undisturbed run makes of it, and the chances of this trial."""

    folder: Path
    target: str
    seconds: float
    expected: dict[str, bytes]
    rng: random.Random
    tools: Path
    part: tuple[float, float] = (0.0, 1.0)  # of an undisturbed run, in which the moment of the fault is drawn
    every: float = 0.0  # seconds between kills, where a run is killed again and again; more and more, if 0
    moment: float = 0.0
    said: list[str] = field(default_factory=list)
    runs: int = 0
    settled: bool = False
    number: dict[int, int] = field(default_factory=dict)  # process of a run → which run it is
    broken: dict[str, bytes] = field(default_factory=dict)  # what was put in the place of results, on purpose

    def start(self, *, limit: str = "") -> subprocess.Popen[bytes]:
        """Begin a run, in a session of its own; ``limit`` is for the jobs (see ``limited_python``)."""
        environment = os.environ | {
            "PYTHONPATH": str(self.folder / "src"),
            "PATH": os.pathsep.join([str(self.tools), str(Path(sys.executable).parent), os.environ["PATH"]]),
            "FACTORMECH_TRUST_LIMIT": limit,
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        # As make does: the lock of a dead run goes first.
        begin = f'"$0" {shlex.quote(str(UNLOCK))} && exec "$0" -m snakemake --cores {JOBS} {self.target}'
        command = ["sh", "-c", begin, sys.executable]
        self.runs += 1
        # Not a pipe: the jobs of a killed run would hold it, and hide that they live on.
        with self._output(self.runs).open("w") as output:
            run = subprocess.Popen(
                command, cwd=self.folder, env=environment, stdout=output, stderr=output, start_new_session=True
            )
        self.number[run.pid] = self.runs
        return run

    def end(self) -> None:
        """End what is still at work: runs, and jobs of killed ones."""
        for process in self.number:
            with suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)

    def _output(self, number: int) -> Path:
        return self.folder.with_name(f"output-{number}")

    def ended(self, run: subprocess.Popen[bytes]) -> int:
        """The exit code of a run; it says something of use unless it is 0, and never shows a traceback."""
        run.wait(PATIENCE)
        text = self._output(self.number[run.pid]).read_text(errors="replace")
        if run.returncode < 0:
            return run.returncode
        if "Traceback (most recent call last)" in text:
            raise Broken(f"a traceback: {text[-1500:]}")
        if run.returncode:
            lines = LINE.findall(text)
            if not lines:
                raise Broken(f"exit code {run.returncode} without a line that says what to do: {text[-1500:]}")
            self.said += lines
        return run.returncode

    def wait(self) -> None:
        """Let time pass until a moment in this trial's part of an undisturbed run."""
        self.moment = round(self.seconds * self.rng.uniform(*self.part), 2)
        time.sleep(self.moment)

    def results(self, suffix: str = "") -> list[Path]:
        """The files that are there now."""
        return [self.folder / name for name in made(self.folder) if name.endswith(suffix)]

    def check_sound(self) -> None:
        """Every file that stands under a final name is right, or as it was broken on purpose."""
        for name, content in made(self.folder).items():
            if content not in (self.expected.get(name), self.broken.get(name)):
                raise Broken(f"{name} is there and is not what an undisturbed run makes")


def made(folder: Path) -> dict[str, bytes]:
    """What a run made: path to content. Hidden files are none; whole files with seconds in them count as equal."""
    found, clocks = {}, clocked(folder)
    for path in sorted(path for part in MADE for path in (folder / part).rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not name.startswith(APART) and not path.name.startswith("."):
            found[name] = CLOCK if any(study in name for study in clocks) and is_whole(path) else path.read_bytes()
    return found


def clocked(folder: Path) -> list[str]:
    """The studies that measure seconds, which differ in every run."""
    studies = read_yaml(folder / "config.yaml")["studies"]
    return [f"/{name}" for name, study in studies.items() if study["kind"] == "timing"]


def is_whole(path: Path) -> bool:
    """Whether a result's seal fits, or a file without one has something in it."""
    try:
        return (path.suffix != ".h5" and path.stat().st_size > 0) or _seal.check(path) is None
    except BadValue:
        return False


def jobs_of(folder: Path) -> list[int]:
    """The processes of jobs at work in a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().split(b"\0")
                here = (entry / "cwd").resolve() == folder
            except OSError:
                continue
            if here and b"-m" in command and any(word.startswith(b"factormech.pipeline.") for word in command):
                found.append(int(entry.name))
    return found


# Killed -----------------------------------------------------------------------------------------------------


def kill_run(trial: Trial) -> None:
    """``kill -9`` of Snakemake at a random moment; its jobs live on."""
    run = trial.start()
    trial.wait()
    os.kill(run.pid, signal.SIGKILL)
    trial.ended(run)
    trial.check_sound()


def kill_job(trial: Trial) -> None:
    """``kill -9`` of a job at a random moment, or of the next one where there is none at that moment."""
    run = trial.start()
    trial.wait()
    while run.poll() is None:
        jobs = jobs_of(trial.folder)
        if jobs:
            try:
                os.kill(trial.rng.choice(jobs), signal.SIGKILL)
                break
            except ProcessLookupError:
                continue
        time.sleep(0.02)
    trial.ended(run)
    trial.check_sound()


def kill_again_and_again(trial: Trial) -> None:
    """``kill -9`` of Snakemake each time that it has been at work for some seconds, until a run is complete.

    The jobs of a killed run live on, and the next run waits for them. Where no seconds are given, each run has a fifth
    more than the one before it, from a third of an undisturbed run on.
    """
    for number in range(MOST_KILLS):
        trial.moment = trial.every or round(trial.seconds / 3 * 1.2**number, 2)
        run = trial.start()
        with suppress(subprocess.TimeoutExpired):
            run.wait(trial.moment)
        if run.poll() is not None:
            if trial.ended(run) == 0:
                return
            if "killed" not in trial.said[-1]:  # jobs of the killed run are still at work
                raise Broken(f"a run that nobody disturbed has failed: {trial.said[-1]}")
            while jobs_of(trial.folder):
                time.sleep(0.1)
            continue
        os.kill(run.pid, signal.SIGKILL)
        trial.ended(run)
        trial.check_sound()
    raise Broken(f"not complete after {MOST_KILLS} runs of {trial.moment} s")


def two_runs(trial: Trial) -> None:
    """Two runs in one folder, the second at a random moment of the first."""
    first = trial.start()
    trial.wait()
    second = trial.start()
    codes = {trial.ended(second), trial.ended(first)}
    if 0 not in codes:
        raise Broken("neither of two runs ended well")
    trial.check_sound()


# Disk -------------------------------------------------------------------------------------------------------


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[None]:
    """Something mounted on a folder for a while; the program runs in a mount namespace of its own."""
    done = subprocess.run(["mount", *options, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        reason = " ".join(done.stderr.split())
        if "FACTORMECH_TRUST_MOUNTS" in os.environ:  # root, with mounts of its own: then it must be possible
            raise Broken(reason)
        raise Skipped(f"needs root ({reason})")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)


def full_disk(trial: Trial) -> None:
    """A small file system that something else fills at a random moment: of the results alone, or of everything."""
    place = trial.folder if trial.rng.random() < 0.5 else trial.folder / "results"
    saved, filler = trial.folder.with_name("saved"), place / ".filler"  # hidden: it is no result
    place.mkdir(exist_ok=True)
    shutil.copytree(place, saved, symlinks=True)
    size = sum(path.lstat().st_size + 4096 for path in saved.rglob("*")) + 2**26
    with mounted(place, "-t", "tmpfs", "-o", f"size={size}", "tmpfs"):
        shutil.copytree(saved, place, symlinks=True, dirs_exist_ok=True)
        run = trial.start()
        trial.wait()
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(b"\0" * 4096)
        trial.ended(run)
        trial.check_sound()
        filler.unlink()
        settle(trial)


def read_only(trial: Trial) -> None:
    """Results where nothing may be written, from the beginning or from a random moment on."""
    results = trial.folder / "results"
    results.mkdir(exist_ok=True)
    with mounted(results, "--bind", str(results)):
        late = trial.rng.random() < 0.5
        run = trial.start() if late else None
        if late:
            trial.wait()
        remount = ["mount", "-o", "remount,bind,ro", str(results)]
        while subprocess.run(remount, capture_output=True, check=False).returncode:
            time.sleep(0.02)  # a file is being written
        trial.ended(run or trial.start())
        trial.check_sound()
        subprocess.run(["mount", "-o", "remount,bind,rw", str(results)], check=True)
        settle(trial)


# Damage -----------------------------------------------------------------------------------------------------


def _damage(trial: Trial, how: Callable[[bytes], bytes]) -> None:
    """One file of a complete run (result, table, figure, seal) replaced, under its old time stamp or a new one."""
    _replace(trial, trial.rng.choice(trial.results()), how)
    trial.check_sound()


def _replace(trial: Trial, path: Path, how: Callable[[bytes], bytes]) -> None:
    stamp, content = path.stat().st_mtime_ns, how(path.read_bytes())
    path.write_bytes(content)
    trial.broken[path.relative_to(trial.folder).as_posix()] = content
    if trial.rng.random() < 0.5:
        os.utime(path, ns=(stamp, stamp))


def cut_off(trial: Trial, count: int) -> None:
    """Many results of a complete run cut off: the next run has them to make, and what depends on them."""
    for path in trial.rng.sample(trial.results(".h5"), count):
        _replace(trial, path, lambda whole: whole[: trial.rng.randrange(1, len(whole))])


def truncated(trial: Trial) -> None:
    """A result cut off at a random byte."""
    _damage(trial, lambda whole: whole[: trial.rng.randrange(1, len(whole))])


def bit_flip(trial: Trial) -> None:
    """A random bit of a result turned over."""

    def flip(whole: bytes) -> bytes:
        place = trial.rng.randrange(len(whole))
        return whole[:place] + bytes([whole[place] ^ 1 << trial.rng.randrange(8)]) + whole[place + 1 :]

    _damage(trial, flip)


def empty(trial: Trial) -> None:
    """A result of no bytes."""
    _damage(trial, lambda whole: b"")


def foreign(trial: Trial) -> None:
    """Somebody else's HDF5 file, or a whole result of another place, in the place of a result."""
    import io

    import h5py

    if trial.rng.random() < 0.5:
        others = {content for name, content in trial.expected.items() if name.endswith(".h5")}
        _damage(trial, lambda whole: trial.rng.choice(sorted(others - {whole})))
        return
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file["measurements"] = [trial.rng.random() for _ in range(8)]
    _damage(trial, lambda whole: buffer.getvalue())


# Memory -----------------------------------------------------------------------------------------------------


def limited_python(folder: Path) -> Path:
    """A folder for ``PATH`` with a ``python`` that gives the jobs of one module, or of ``every``, less memory
    (``MODULE KILOBYTES``).

    One that begins while a file ``hold`` is beside it waits for a file ``release``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "python"
    script.write_text(
        "#!/bin/sh\n"
        'here="${0%/*}"; if [ -e "$here/hold" ]; then until [ -e "$here/release" ]; do sleep 0.1; done; fi\n'
        'set -- "${FACTORMECH_TRUST_LIMIT%% *}" "${FACTORMECH_TRUST_LIMIT##* }" "$@"\n'
        "module=$1 size=$2; shift 2\n"
        'if [ "$module" = every ]; then ulimit -v "$size"; fi\n'
        'if [ -n "$module" ]; then case "$*" in *"factormech.pipeline.$module "*) ulimit -v "$size";; esac; fi\n'
        f'exec {sys.executable!r} "$@"\n'
    )
    script.chmod(0o755)
    return folder


def little_memory(trial: Trial) -> None:
    """A job with a limit on its memory (RLIMIT_AS) below its need, at a random place of its work."""
    module = trial.rng.choice(["evaluate", "tabulate", "draw"])
    run = trial.start(limit=f"{module} {trial.rng.randrange(24, 480) * 1024}")
    trial.ended(run)
    trial.check_sound()


def limited_memory(trial: Trial) -> None:
    """8 GiB for a whole run: its jobs, so many at a time, have equal shares of it (RLIMIT_AS); it must be enough."""
    if trial.ended(trial.start(limit=f"every {MEMORY // JOBS}")):
        raise Broken(f"{MEMORY >> 20} GiB are not enough: {trial.said[-1]}")
    trial.check_sound()


# After ------------------------------------------------------------------------------------------------------


def settle(trial: Trial) -> int:
    """Run again, doing what is said, until a run is complete; the number of runs. Then everything must be right."""
    runs = 0
    while runs < 5:
        runs += 1
        if trial.ended(trial.start()) == 0:
            break
        if "killed" in trial.said[-1] or "another run" in trial.said[-1]:
            while jobs_of(trial.folder):
                time.sleep(0.1)
    else:
        raise Broken(f"five runs have not completed it: {trial.said[-1]}")
    found = made(trial.folder)
    different = sorted(name for name in found.keys() | trial.expected if found.get(name) != trial.expected.get(name))
    if different:
        raise Broken(f"complete, and different from an undisturbed run: {', '.join(different)}")
    left = [path for part in MADE for path in (trial.folder / part).rglob("*.tmp")]
    if left:
        raise Broken(f"left behind: {left[0].name}")
    trial.settled = True
    return runs


# Name → (what is done, whether it is done to a complete folder).
FAULTS: dict[str, tuple[Callable[[Trial], None], bool]] = {
    "kill -9 of Snakemake": (kill_run, False),
    "kill -9 of a job": (kill_job, False),
    "kill -9 again and again": (kill_again_and_again, False),
    "two runs at once": (two_runs, False),
    "full disk": (full_disk, False),
    "read-only results": (read_only, False),
    "too little memory": (little_memory, False),
    "8 GiB of memory": (limited_memory, False),
    "truncated result": (truncated, True),
    "flipped bit": (bit_flip, True),
    "empty result": (empty, True),
    "foreign result": (foreign, True),
}
