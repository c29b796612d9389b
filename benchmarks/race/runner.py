"""Measure contests: every contestant in a process of its own, interleaved, round after round, on one thread."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.race.contest import Contest, Contestant

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = (
    "contest",
    "size",
    "round",
    "position",
    "contestant",
    "package",
    "version",
    "cpu_seconds",
    "wall_seconds",
    "base_mebibytes",
    "peak_mebibytes",
    "load",
    "work",
    "answer",
    "disagreement",
    "tolerance",
)
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "NPROC",
)
SETTINGS = {
    **dict.fromkeys(THREADS, "1"),
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "PYTHONHASHSEED": "0",
}
# Rounds, and rounds where somebody takes LONG wall seconds or more.
ROUNDS, FEWER, LONG = 5, 3, 10.0
TIMEOUT = 600
Row = dict[str, str]


class Refused(Exception):
    """Contestants did different work, or their answers differ by more than is allowed."""


@dataclass(frozen=True)
class Track:
    """Where contestants run: our Python, and that of the peers, if there is one."""

    ours: Path = Path(sys.executable)
    peers: Path | None = None

    def present(self, contest: Contest, size: int) -> list[Contestant]:
        """Who can run here."""
        return [who for who in contest.at(size) if self.peers is not None or not who.peers]

    def run(self, contest: Contest, who: Contestant, size: int, lent: float | None) -> dict[str, Any]:
        """One measurement."""
        python = self.peers if who.peers else self.ours
        asked = {"contest": contest.name, "contestant": who.name, "size": size, "lent": lent}
        paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
        done = subprocess.run(
            [str(python), "-m", "benchmarks.race.child"],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
            cwd=ROOT,
            env=os.environ | SETTINGS | {"PYTHONPATH": paths},
        )
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise Refused(f"{contest.name}, {size}: {who.name} failed: {last}")
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found


def one_round(contest: Contest, size: int, number: int, track: Track) -> list[Row]:
    """All contestants once; who begins changes from round to round, but lenders stay before those they lend to."""
    present = track.present(contest, size)
    free = [who for who in present if who.lender is None]
    shift = number % len(free)
    order = free[shift:] + free[:shift] + [who for who in present if who.lender is not None]
    found: dict[str, dict[str, Any]] = {}
    rows: dict[str, Row] = {}
    for position, who in enumerate(order):
        lent = found[who.lender]["answer"][0] if who.lender else None
        load = os.getloadavg()[0]
        found[who.name] = track.run(contest, who, size, lent)
        about = {"contest": contest.name, "size": size, "round": number, "position": position}
        numbers = found[who.name] | {"contestant": who.name, "package": who.package, "load": load}
        rows[who.name] = {key: shown((about | numbers).get(key, "")) for key in COLUMNS}
    judge(contest, size, [who.name for who in present], found, rows)
    return list(rows.values())


def judge(
    contest: Contest, size: int, names: Iterable[str], found: dict[str, dict[str, Any]], rows: dict[str, Row]
) -> None:
    """Write down how far answers differ; a race of different works or answers is refused."""
    names = list(names)
    # Lent or not, the first contestant of the contest is ours.
    first = next(who.name for who in contest.contestants if who.name in names)
    for name in names:
        if found[name]["work"] != found[first]["work"]:
            raise Refused(f"{contest.name}, {size}: {name} did other work than {first}")
        distance = contest.disagreement(found[name]["answer"], found[first]["answer"])
        rows[name] |= {"disagreement": f"{distance:.2g}", "tolerance": f"{contest.tolerance:g}"}
        rows[name]["answer"] = f"{found[name]['answer'][0]:.10g}"
        if not distance <= contest.tolerance:
            raise Refused(
                f"{contest.name}, {size}: answers of {name} and {first} differ by {distance:.2g}; "
                f"must be: {contest.agreement}"
            )


def shown(value: Any) -> str:
    """A number with as many digits as mean something."""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def rounds_due(rows: Iterable[Row], rounds: int) -> int:
    """How many rounds there should be, after what the first ones took."""
    long = any(float(row["wall_seconds"]) >= LONG for row in rows)
    return min(rounds, FEWER) if long else rounds


def measure(
    contests: Iterable[tuple[Contest, tuple[int, ...]]],
    rows: list[Row],
    track: Track,
    rounds: int,
    keep: Callable[[list[Row]], None],
) -> list[Row]:
    """All rounds that are missing; a round without somebody who can run is measured again, whole."""
    for contest, sizes in contests:
        for size in sizes:
            names = {who.name for who in track.present(contest, size)}
            known = complete_rounds(rows, contest.name, size, names)
            others = [row for row in rows if (row["contest"], row["size"]) != (contest.name, str(size))]
            while len(known) < rounds_due((row for one in known.values() for row in one), rounds):
                number = next(i for i in range(len(known) + 1) if i not in known)
                print(f"{contest.name}, {size}, round {number + 1} ...", flush=True)
                known[number] = one_round(contest, size, number, track)
                rows = others + [row for one in known.values() for row in one]
                keep(rows)
    return rows


def complete_rounds(rows: Iterable[Row], contest: str, size: int, names: set[str]) -> dict[int, list[Row]]:
    """The rounds in which everybody named took part."""
    found: dict[int, list[Row]] = {}
    for row in rows:
        if (row["contest"], row["size"]) == (contest, str(size)):
            found.setdefault(int(row["round"]), []).append(row)
    return {number: one for number, one in sorted(found.items()) if names <= {row["contestant"] for row in one}}


def read(path: Path) -> list[Row]:
    """The rows of a table, none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def sorted_rows(rows: Iterable[Row], contests: dict[str, Contest]) -> list[Row]:
    """In the order of the contests, of what there still is."""
    order = list(contests)
    known = [row for row in rows if row["contest"] in contests]
    return sorted(
        known, key=lambda row: (order.index(row["contest"]), *(int(row[k]) for k in ("size", "round", "position")))
    )
