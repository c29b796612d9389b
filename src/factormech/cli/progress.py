"""Progress on standard error: after two seconds a bar on a terminal, elsewhere a line every ten seconds.

Where the benchmark of costs predicts the time of a task, the bar shows the share of it and the time left. A thread of
its own draws, so that a solver that reports nothing is shown, too. The clock decides what is drawn, and never what is
computed. Nothing is written to standard output.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from factormech.mechanisms.local.optimal.problem import Step

# Seconds until anything is shown, between two drawings of a bar, and between two lines.
FIRST, REDRAW, EVERY = 2.0, 0.2, 10.0
_BAR, _WIDTH = 16, 80


class Progress:
    """A context that shows the progress of a long command; solvers report to ``told`` and ``told_within``."""

    def __init__(self, task: str, stream: TextIO | None = None, *, first: float = FIRST, expected: float = 0.0) -> None:
        """``expected`` are the seconds that the benchmark predicts for the whole task; 0 if it says nothing."""
        self._task, self._first, self._expected = task, first, expected
        self._stream = sys.stderr if stream is None else stream
        self._terminal = self._stream.isatty()
        self._done, self._total, self._note, self._within = 0, 0, "", ""
        self._stop, self._thread = threading.Event(), threading.Thread(target=self._run, daemon=True)
        self._start = time.monotonic()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def step(self, done: int, total: int, note: str = "") -> None:
        """Note that ``done`` of ``total`` steps are done."""
        self._done, self._total, self._note, self._within = done, total, note, ""

    def told(self, step: Step) -> None:
        """Note what a solver reports."""
        self.step(step.iteration, step.limit, step.stage + _gap(step))

    def told_within(self, step: Step) -> None:
        """Note the gap that the solver of this one of several steps has reached; a terminal shows it."""
        self._within = _gap(step) if self._terminal else ""

    def line(self) -> str:
        """Return the line: the share that is done, the time so far and the time left, the step and the gap."""
        elapsed = time.monotonic() - self._start
        steps = f"{self._done} of {self._total}" if self._total > 0 else ""
        if self._expected > FIRST:
            share = min(elapsed / self._expected, 0.99)
            said = [f"{_bar(share)} {100.0 * share:.0f} %", duration(elapsed), self._left(elapsed), steps]
        else:
            said = [f"{_bar(self._done / self._total)} {steps}" if steps else "", duration(elapsed)]
        return f"{self._task}: {', '.join(text for text in (*said, self._note) if text)}{self._within}"

    def _left(self, elapsed: float) -> str:
        if elapsed < self._expected:
            return f"about {duration(self._expected - elapsed)} left"
        return f"longer than the expected {duration(self._expected)}"

    def _width(self) -> int:
        """Return the columns of the terminal that is written to; standard output may be elsewhere."""
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or _WIDTH
        except OSError:
            return _WIDTH

    def _run(self) -> None:
        wait, drawn = self._first, False
        while not self._stop.wait(wait):
            line, drawn = self.line(), True
            if self._terminal:
                self._stream.write(f"\r\x1b[K{line[: self._width() - 1]}")
            else:
                self._stream.write(f"{line}\n")
            self._stream.flush()
            wait = REDRAW if self._terminal else EVERY
        if drawn and self._terminal:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def _gap(step: Step) -> str:
    """Return the gap with a comma before it, or nothing where the solver has no lower bound yet."""
    if not step.lower_bound > 0.0:
        return ""
    return f", gap {100.0 * (step.objective / step.lower_bound - 1.0):.3g} %"


def _bar(share: float) -> str:
    filled = min(_BAR, int(_BAR * share))
    return f"[{'#' * filled}{'.' * (_BAR - filled)}]"


def duration(seconds: float) -> str:
    """Return a time as people say it: 45 s, 12 min, 3.5 h."""
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"


def expected_seconds(n: int, mechanisms: Iterable[str]) -> float:
    """Return the seconds that the benchmark predicts for solving these mechanisms over ``n`` user types."""
    from factormech.mechanisms.local import registry
    from factormech.studies import cost

    return sum(cost.solve_seconds(name, n) for name in mechanisms if registry.is_solved(name))
