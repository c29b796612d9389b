"""Faults done to runs of the workflow, and what came of them: ``make trust``.

Each trial breaks a run of a copy of the project in one way, at a moment drawn from its seed. It is survived if every
run after that says in one line what to do, or ends complete with the very files of an undisturbed run, and if no file
under a final name is ever anything else. One line is printed for each trial, and the table counts them::

    python tools/trust.py                          # 104 trials on six jobs, five on the quick run
    python tools/trust.py --only "full disk" --trials 10 --quick-trials 0
    python tools/trust.py --trials 50-75 --log L   # a piece; L collects pieces: what is in it is not done again
    python tools/trust.py --points 2000 --every 60 --trials 0 --quick-trials 0  # a sweep, killed each minute (hours)
    python tools/trust.py --only "8 GiB of memory" --full --trials 0 --quick-trials 0  # the full run (half a day)

The trials of one fault come in equal parts of a run, one in each: ten disks are full at every tenth of it. A trial on
six jobs begins with nothing made, or, where a result is damaged, with all. One on the quick run begins with all made
and twelve results cut off, drawn at random: the run that makes them and their dependents again is disturbed. Faults of
disks need the rights of root, and are skipped, with the reason, where they are missing.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import trust_page
from faults import FAULTS, ROOT, Broken, Skipped, Trial, cut_off, limited_python, made, settle

SIX_JOBS = """\
studies:
  small:
    paper: mckenna2020
    artefact: Figure 1
    kind: sample-complexity
    title: Small
    caption: A small study.
    grid: {workload: [prefix], domain_size: [8], epsilon: [0.5, 1.0]}
    mechanisms: [hadamard, subset-selection]
    alpha: 0.01
"""
# One study of a sweep: twenty points, five jobs.
SWEEP = """\
  part-{number}:
    paper: mckenna2020
    artefact: Figure 1
    kind: sample-complexity
    title: A part of a sweep
    grid: {{workload: [prefix], domain_size: [8], epsilon: {epsilons}}}
    mechanisms: [hadamard, subset-selection]
    alpha: 0.01
"""
POINTS_OF_A_STUDY = 20
WORKFLOWS = {"six jobs": "small", "quick": "quick", "sweep": "all", "full": "all"}
# How often each fault comes in the trials on six jobs, and those of the quick run.
SHARES = dict(zip(FAULTS, (16, 16, 2, 6, 10, 6, 10, 2, 9, 10, 7, 10), strict=True))
QUICK = ("kill -9 of Snakemake", "kill -9 of a job", "two runs at once", "full disk", "flipped bit")
# How many results of the quick run are there to be made again when a trial begins.
CUT_OFF = 12
OUTCOMES = ("complete", "told, then complete", "skipped", "failed")


class Bench:
    """Copies of the project, made where trials need them; each workflow has run once undisturbed."""

    def __init__(self, folder: Path, points: int = 200) -> None:
        self.folder, self.points = folder, points
        self.tools = limited_python(folder / "tools")
        self.ready: dict[str, tuple[float, dict[str, bytes]]] = {}

    def trial(self, workflow: str, complete: bool, rng: random.Random) -> Trial:
        """A copy for one trial: fresh or complete, and of the quick run complete but for some results."""
        if workflow not in self.ready:
            self.ready[workflow] = self._kept(workflow) or self._undisturbed(workflow)
        trial = self._copy(workflow, complete or workflow == "quick", rng, *self.ready[workflow])
        if workflow == "quick":
            cut_off(trial, CUT_OFF)
        return trial

    def _copy(
        self, workflow: str, complete: bool, rng: random.Random, seconds: float, expected: dict[str, bytes]
    ) -> Trial:
        place = self.folder / "trial"
        shutil.rmtree(place, ignore_errors=True)
        source = self.folder / f"{workflow} {'complete' if complete else 'fresh'}"
        shutil.copytree(source, place / "project", symlinks=True)
        return Trial(place / "project", WORKFLOWS[workflow], seconds, expected, rng, self.tools)

    def _kept(self, workflow: str) -> tuple[float, dict[str, bytes]] | None:
        """What :meth:`_undisturbed` found before, in the same folder and of the same project."""
        note = self.folder / f"{workflow}.json"
        seconds, project = json.loads(note.read_text()) if note.exists() else (0.0, "")
        return (seconds, made(self.folder / f"{workflow} complete")) if project == self._state() else None

    def _state(self) -> str:
        return f"{_digest()} {self.points}"

    def _undisturbed(self, workflow: str) -> tuple[float, dict[str, bytes]]:
        """The seconds of the run that trials disturb, undisturbed, and the files that it makes."""
        fresh, complete = (self.folder / f"{workflow} {state}" for state in ("fresh", "complete"))
        for folder in (fresh, complete):
            shutil.rmtree(folder, ignore_errors=True)
        _copy_of_project(fresh)
        if text := {"six jobs": SIX_JOBS, "sweep": sweep(self.points)}.get(workflow):
            (fresh / "config.yaml").write_text(text)
        shutil.copytree(fresh, complete, symlinks=True)
        trial = Trial(complete, WORKFLOWS[workflow], 0.0, {}, random.Random(), self.tools)
        start = time.monotonic()
        try:
            if trial.ended(trial.start()):
                raise SystemExit(f"error: an undisturbed run of {workflow} fails: {trial.said}")
        finally:
            trial.end()
        expected = made(complete)
        print(f"{workflow}: {len(expected)} files in {time.monotonic() - start:.0f} s, undisturbed", flush=True)
        if workflow == "quick":
            trial = self._copy(workflow, True, random.Random(0), 0.0, expected)
            cut_off(trial, CUT_OFF)
            start = time.monotonic()
            settle(trial)
        seconds = time.monotonic() - start
        (self.folder / f"{workflow}.json").write_text(json.dumps([seconds, self._state()]))
        return seconds, expected


def _names() -> list[str]:
    """The tracked files that a run needs."""
    needed = {"src", "workflow", "Snakefile", "environment.yml", "profiles", "tools", "config.yaml"}
    names = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    return [name for name in names if name.partition("/")[0] in needed]


def _digest() -> str:
    """What these files are, but for the tools, of which no result depends."""
    digest = hashlib.sha256()
    for name in _names():
        if not name.startswith("tools/") and not (ROOT / name).is_symlink():
            digest.update(f"{name}\0{hashlib.sha256((ROOT / name).read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def _copy_of_project(folder: Path) -> None:
    for name in _names():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)


def sweep(points: int) -> str:
    """The configuration of a sweep of so many points, rounded up to whole studies; no two studies share one."""
    half = POINTS_OF_A_STUDY // 2  # each of two mechanisms
    studies = range(-(-points // POINTS_OF_A_STUDY))
    epsilons = {i: [round(0.5 + 0.001 * (i * half + j), 3) for j in range(half)] for i in studies}
    return "studies:\n" + "".join(SWEEP.format(number=i, epsilons=epsilons[i]) for i in studies)


def planned(trials: int, quick: int, only: str = "") -> list[tuple[int, str, str]]:
    """Every trial: number, workflow, fault; the faults in their shares, mixed, or one alone."""
    deck = [fault for fault, share in SHARES.items() for _ in range(share)]
    random.Random(0).shuffle(deck)
    six = [(i, "six jobs", only or deck[i % len(deck)]) for i in range(trials)]
    return six + [(1000 + i, "quick", only or QUICK[i % len(QUICK)]) for i in range(quick)]


def parts_of(trials: list[tuple[int, str, str]]) -> dict[int, tuple[float, float]]:
    """The part of a run in which the moment of each trial is drawn: those of one fault share the run out."""
    groups: dict[tuple[str, str], list[int]] = {}
    for number, workflow, fault in trials:
        groups.setdefault((workflow, fault), []).append(number)
    return {n: (k / len(same), (k + 1) / len(same)) for same in groups.values() for k, n in enumerate(same)}


def tried(
    bench: Bench,
    number: int,
    workflow: str,
    fault: str,
    seed: int,
    part: tuple[float, float] = (0.0, 1.0),
    every: float = 0.0,
) -> dict[str, Any]:
    """One trial, and what came of it."""
    act, complete = FAULTS[fault]
    trial = bench.trial(workflow, complete, random.Random(f"{seed} {number} {fault}"))
    trial.part, trial.every = part, every
    start, cpu, outcome, note = time.monotonic(), _cpu_seconds(), "", ""
    try:
        act(trial)
        if not trial.settled:
            settle(trial)
        outcome = "told, then complete" if trial.said else "complete"
        note = trial.said[-1] if trial.said else ""
    except Skipped as reason:
        outcome, note = "skipped", str(reason)
    except (Broken, subprocess.TimeoutExpired) as reason:
        outcome, note = "failed", str(reason)
    finally:
        trial.end()
    return {
        "trial": number,
        "workflow": workflow,
        "fault": fault,
        "moment": trial.moment,
        "outcome": outcome,
        "note": note,
        "runs": trial.runs,
        "seconds": round(time.monotonic() - start, 1),
        "cpu": round(_cpu_seconds() - cpu, 1),
    }


def _cpu_seconds() -> float:
    """Of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def table_of(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Counts of outcomes by workflow and fault."""
    counts = Counter((row["workflow"], row["fault"], row["outcome"]) for row in rows)
    groups = [(workflow, fault) for workflow in WORKFLOWS for fault in FAULTS]
    table = []
    for workflow, fault in groups:
        found = {outcome: counts[workflow, fault, outcome] for outcome in OUTCOMES}
        if any(found.values()):
            table.append({"workflow": workflow, "fault": fault, "trials": sum(found.values()), **found})
    return table


def with_others(table: list[dict[str, Any]], kept: Path) -> list[dict[str, Any]]:
    """The table with the kept counts of other workflows and faults, in its order."""
    rows: list[dict[str, Any]] = list(csv.DictReader(kept.read_text(encoding="utf-8").splitlines()))
    found = {(row["workflow"], row["fault"]): row for row in [*rows, *table]}
    return [found[key] for key in ((workflow, fault) for workflow in WORKFLOWS for fault in FAULTS) if key in found]


def as_csv(table: list[dict[str, Any]]) -> str:
    """The counts as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def arguments() -> argparse.Namespace:
    """What is asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--trials", default=f"0-{sum(SHARES.values())}", help="how many on six jobs, or from which to which (50-75)"
    )
    parser.add_argument("--quick-trials", type=int, default=5, help="on the quick run")
    parser.add_argument("--only", choices=list(FAULTS), help="one fault only")
    parser.add_argument("--points", type=int, default=0, help="one trial more: a sweep of so many, killed --every")
    parser.add_argument("--every", type=float, default=60.0, help="seconds between the kills of a sweep (default: 60)")
    parser.add_argument("--full", action="store_true", help="one trial more, on the full run; --only says which")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, help="JSON lines: trials in it are not done again, and new ones are added")
    parser.add_argument("--folder", type=Path, help="keep the undisturbed runs here, for the next piece")
    parser.add_argument(
        "--table",
        action="store_true",
        help="write the counts into docs/trust-faults.csv and its page; those of other faults stay",
    )
    return parser.parse_args()


def in_own_mounts() -> None:
    """Start this program again where its mounts are nobody else's and end with it; only root can."""
    if os.geteuid() == 0 and "FACTORMECH_TRUST_MOUNTS" not in os.environ and shutil.which("unshare"):
        os.environ["FACTORMECH_TRUST_MOUNTS"] = "own"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])


def main() -> None:
    """Make the trials that are asked for, and say what came of them."""
    in_own_mounts()
    start, args = time.monotonic(), arguments()
    first, _, last = args.trials.rpartition("-")
    plan = planned(int(last), args.quick_trials, args.only or "")
    plan += [(2000, "sweep", "kill -9 again and again")] if args.points else []
    plan += [(3000, "full", args.only or "8 GiB of memory")] if args.full else []
    wanted, parts = plan[int(first or 0) :], parts_of(plan)
    rows = [json.loads(line) for line in args.log.read_text().splitlines()] if args.log and args.log.exists() else []
    done = {(row["trial"], row["fault"]) for row in rows}
    wanted = [trial for trial in wanted if (trial[0], trial[2]) not in done]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("error: ended before all was tried"))
    with nullcontext(args.folder) if args.folder else tempfile.TemporaryDirectory(prefix="trust-") as folder:
        bench = Bench(Path(folder).resolve(), args.points)
        for number, workflow, fault in wanted:
            every = args.every if workflow == "sweep" else 0.0
            row = tried(bench, number, workflow, fault, args.seed, parts[number], every)
            rows.append(row)
            print("{trial:>4} {workflow:<9} {fault:<21} {seconds:>6} s  {outcome}: {note}".format(**row), flush=True)
            if args.log:
                with args.log.open("a") as log:
                    log.write(json.dumps(row) + "\n")
    table = table_of(rows)
    minutes, cpu = (sum(row[unit] for row in rows) / 60 for unit in ("seconds", "cpu"))
    print(as_csv(table), end="")
    print(f"{len(rows)} trials in {minutes:.1f} min ({cpu:.1f} min of processors)")
    print(f"this program: {(time.monotonic() - start) / 60:.1f} min")
    if args.table:
        trust_page.TABLE.write_text(as_csv(with_others(table, trust_page.TABLE)), encoding="utf-8")
        trust_page.write()
    if any(row["failed"] for row in table):
        sys.exit("error: some faults were not survived")


if __name__ == "__main__":
    main()
