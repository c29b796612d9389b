"""Show what Snakemake does: ``[12/49]  24 %  0:00:31, about 0:01:20 left  measure``.

Reads Snakemake's own report on standard input. Only lines known to be of no interest are dropped: a warning, an error
or the log of a failed job passes unchanged. On a terminal the line is rewritten for each job, elsewhere printed for
each tenth of the work. The share and the time left are of the seconds that the jobs are expected to take, which the
workflow notes when it begins; without such a note, of their number.

``--note FILE`` adds a line to a CSV for each run that did something: when it began, what it took by the clock, how
many jobs it did of how many, and on how many cores.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

NOISE = re.compile(
    r"Select jobs to execute|Execute \d+ jobs|\[\w{3} \w{3} +\d+ [\d:]+ \d{4}\]$|Using shell:|Building DAG of jobs"
    r"|Assuming unrestricted shared|Using workflow specific profile|Provided cores:|Rules claiming more threads"
    r"|Elapsed time:|Complete log|Job stats:|Nothing to be done|Config file|All of requested|host: |localrule |$"
)
RULE = re.compile(r"Finished jobid: (\d+) \(Rule: (.+)\)")
STEPS = re.compile(r"(\d+) of (\d+) steps \(([\d.]+)%\) done")
EXPECTED = Path(".snakemake/factormech/expected.json")
# For so many seconds the expectation counts more than the pace of this run.
PRIOR_SECONDS = 60.0
HEADER = ("began", "seconds", "jobs", "of", "cores")


class Pace:
    """How much of the work is done, and what the rest will take."""

    def __init__(self, clock: float) -> None:
        self.clock, self.began = clock, datetime.now(UTC)
        self.expected: dict[str, float] | None = None
        self.cores, self.total, self.spent, self.jobs, self.of = 1, 0.0, 0.0, 0, 0

    def finished(self, job: str) -> None:
        """A job has ended; before the first one the workflow has noted what it expects."""
        if self.expected is None:
            self.expected = {}
            with suppress(OSError, ValueError, KeyError):
                noted = json.loads(EXPECTED.read_bytes())
                self.expected, self.cores = noted["seconds"], max(1, noted["cores"] or 1)
            self.total = sum(self.expected.values())
        self.spent += self.expected.get(job, 0.0)

    def steps(self, done: int, of: int) -> None:
        """Snakemake has counted."""
        self.jobs, self.of = done, of

    def share(self) -> float:
        """Between 0 and 1: whole jobs where nothing was expected of them."""
        if self.jobs == self.of:
            return 1.0
        return min(1.0, self.spent / self.total) if self.total > 0 else self.jobs / self.of

    def left(self, now: float) -> float:
        """Seconds, by the pace so far and, at first, by what was expected."""
        share, spent = self.share(), now - self.clock
        if self.total <= 0:
            return spent * (1 - share) / share
        slower = (spent + PRIOR_SECONDS) / (self.spent / self.cores + PRIOR_SECONDS)
        return slower * (self.total - self.spent) / self.cores if share < 1 else 0.0


def main() -> None:
    """Filter standard input."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--note", type=Path, default=None)
    args = parser.parse_args()
    pace, rule, tenth, terminal, open_line = Pace(time.monotonic()), "", 0, sys.stdout.isatty(), False
    for line in map(str.rstrip, sys.stdin):
        if found := RULE.match(line):
            rule = found[2]
            pace.finished(found[1])
        elif found := STEPS.match(line):
            pace.steps(int(found[1]), int(found[2]))
            text = line_of(pace, rule)
            if terminal:
                print(f"\r\x1b[K{text}", end="", flush=True)
            elif int(10 * pace.share()) > tenth:
                tenth = int(10 * pace.share())
                print(text, flush=True)
            open_line = terminal
        elif not NOISE.match(line):
            print(("\n" if open_line else "") + line, flush=True)
            open_line = False
    if open_line:
        print()
    if args.note and pace.of:
        note(args.note, pace)


def line_of(pace: Pace, rule: str) -> str:
    """What is shown."""
    now = time.monotonic()
    so_far, left = (timedelta(seconds=round(seconds)) for seconds in (now - pace.clock, pace.left(now)))
    return f"[{pace.jobs}/{pace.of}]  {int(100 * pace.share()):>3} %  {so_far}, about {left} left  {rule}"


def note(path: Path, pace: Pace) -> None:
    """Add the run to the list; a disk that is full has been told already."""
    seconds = round(time.monotonic() - pace.clock, 1)
    row = (pace.began.isoformat(timespec="seconds"), seconds, pace.jobs, pace.of, pace.cores)
    with suppress(OSError):
        new = not path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([*([HEADER] if new else []), row])


if __name__ == "__main__":
    main()
