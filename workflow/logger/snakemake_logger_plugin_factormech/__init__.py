"""A logger of Snakemake that shows how much of the work is done: ``[12/49]  24 %  0:00:31, about 0:01:20 left  solve``.

``make`` uses it by ``--logger factormech``. On a terminal the line is rewritten for each job, elsewhere printed for
each tenth of the work. Warnings, errors and logs of failed jobs are shown as Snakemake words them. The share and the
time left are of the seconds that jobs are expected to take, which the workflow writes before it begins; without that
file, of their number. ``--logger-factormech-note FILE`` adds a line to a CSV for each run that did something.
"""

import csv
import json
import logging
import re
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Optional

from snakemake.logging import DefaultFormatter
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

# Messages without an event that a person who waits does not need.
NOISE = re.compile(
    r"Select jobs to execute|Execute \d+ jobs|Building DAG of jobs|Assuming unrestricted shared|Using workflow specific"
    r"|Provided cores:|Rules claiming more threads|Elapsed time:|Complete log|Nothing to be done|Config file"
    r"|All of requested|Using shell|Conda environments"
    r"|host: |Shutting down|Exiting because a job|Command exited|$"
)
EXPECTED = Path(".snakemake/factormech/expected.json")
# For so many seconds the expectation counts more than the pace of this run.
PRIOR_SECONDS = 60.0
HEADER = ("began", "seconds", "jobs", "of", "cores")
SHOWN = frozenset({LogEvent.JOB_ERROR, LogEvent.GROUP_ERROR, LogEvent.ERROR})


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):  # type: ignore[misc]
    """The option of this logger."""

    note: Optional[str] = field(default=None, metadata={"help": "CSV file that gets a line for each run"})  # noqa: UP045


class Pace:
    """How much of the work is done, and what the rest will take.

    Parameters
    ----------
    clock
        The time of the start, in seconds.
    expected
        Seconds of the jobs by their first output, those of other jobs by the name of their rule, and the cores.
    """

    def __init__(self, clock: float, expected: dict[str, Any]) -> None:
        self.clock, self.began = clock, datetime.now(UTC)
        self.files: dict[str, float] = expected.get("files", {})
        self.rules: dict[str, float] = expected.get("rules", {})
        self.cores = max(1, expected.get("cores") or 1)
        self.waiting: Counter[str] = Counter()
        self.running: dict[int, tuple[str, float]] = {}
        self.spent, self.jobs, self.of, self.rule = 0.0, 0, 0, ""

    def planned(self, counts: dict[str, int]) -> None:
        """Note how many jobs of each rule there are to run."""
        self.waiting = Counter({rule: count for rule, count in counts.items() if rule != "total"})

    def started(self, job: int, rule: str, outputs: list[str]) -> None:
        """A job begins."""
        seconds = self.files.get(outputs[0]) if outputs else None
        self.running[job] = rule, self.rules.get(rule, 0.0) if seconds is None else seconds

    def finished(self, job: int) -> None:
        """A job has ended."""
        rule, seconds = self.running.pop(job, ("", 0.0))
        self.spent += seconds
        self.waiting[rule] -= 1
        self.rule = rule or self.rule

    def rest(self) -> float:
        """The seconds of one core that the jobs not yet done are expected to take: the mean of their rule, each."""
        return sum(count * self.rules.get(rule, 0.0) for rule, count in self.waiting.items() if count > 0)

    def share(self) -> float:
        """Between 0 and 1: whole jobs where nothing was expected of them."""
        if self.jobs == self.of:
            return 1.0
        total = self.spent + self.rest()
        return min(1.0, self.spent / total) if total > 0 else self.jobs / self.of

    def left(self, now: float) -> float:
        """Seconds, by the pace so far and, at first, by what was expected."""
        share, passed = self.share(), now - self.clock
        if self.spent + self.rest() <= 0:
            return passed * (1 - share) / share if share > 0 else 0.0
        slower = (passed + PRIOR_SECONDS) / (self.spent / self.cores + PRIOR_SECONDS)
        return slower * self.rest() / self.cores if share < 1 else 0.0

    def line(self, now: float) -> str:
        """What is shown."""
        so_far, left = (timedelta(seconds=round(seconds)) for seconds in (now - self.clock, self.left(now)))
        return f"[{self.jobs}/{self.of}]  {int(100 * self.share()):>3} %  {so_far}, about {left} left  {self.rule}"


def expected() -> dict[str, Any]:
    """What the workflow wrote before it began; nothing where it could not."""
    with suppress(OSError, ValueError):
        found = json.loads(EXPECTED.read_bytes())
        return found if isinstance(found, dict) else {}
    return {}


class LogHandler(LogHandlerBase):  # type: ignore[misc]
    """The handler that Snakemake calls."""

    def __post_init__(self) -> None:
        """Begin the clock."""
        self.pace: Pace | None = None
        self.began, self.tenth, self.open_line = time.monotonic(), 0, False
        self.words = DefaultFormatter(quiet=set(), show_failed_logs=self.common_settings.show_failed_logs)

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record, or note what it says of the work."""
        event = getattr(record, "event", None)
        told = record.__dict__
        if event == LogEvent.RUN_INFO:
            self.pace = self.pace or Pace(self.began, expected())
            self.pace.planned(told.get("stats") or {})
        elif self.pace is not None and event == LogEvent.JOB_INFO:
            self.pace.started(int(told["jobid"]), str(told["rule_name"]), list(map(str, told["output"])))
        elif self.pace is not None and event == LogEvent.JOB_FINISHED:
            self.pace.finished(int(told["job_id"]))
        elif self.pace is not None and event == LogEvent.PROGRESS:
            self.pace.jobs, self.pace.of = int(told["done"]), int(told["total"])
            self._progress(self.pace)
        elif event in SHOWN or (event is None and not NOISE.match(str(record.msg or ""))):
            self._say(self.words.format(record))

    def close(self) -> None:
        """End the line, and note the run; a full disk is told by the jobs."""
        if self.open_line:
            print(flush=True)
            self.open_line = False
        note = getattr(self.settings, "note", None)
        if note and self.pace is not None and self.pace.of:
            self._note(Path(note), self.pace)
            self.pace = None
        super().close()

    def _progress(self, pace: Pace) -> None:
        text = pace.line(time.monotonic())
        if sys.stdout.isatty():
            print(f"\r\x1b[K{text}", end="", flush=True)
            self.open_line = True
        elif int(10 * pace.share()) > self.tenth:
            self.tenth = int(10 * pace.share())
            print(text, flush=True)

    def _say(self, text: str) -> None:
        print(("\n" if self.open_line else "") + text, flush=True)
        self.open_line = False

    def _note(self, path: Path, pace: Pace) -> None:
        seconds = round(time.monotonic() - pace.clock, 1)
        row = (pace.began.isoformat(timespec="seconds"), seconds, pace.jobs, pace.of, pace.cores)
        with suppress(OSError):
            new = not path.exists()
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([*([HEADER] if new else []), row])
