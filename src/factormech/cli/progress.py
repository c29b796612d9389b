"""What those who wait see on standard error: after two seconds a bar on a terminal, else a line now and then.

A thread of its own draws, so that a solver that tells nothing is shown with the time it takes. The clock decides what
is drawn and never what is computed. Nothing of it goes to standard output.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from factormech.local.optimal.problem import Step

# Seconds until anything is shown, between two drawings of a bar, and between two lines.
FIRST, REDRAW, EVERY = 2.0, 0.2, 10.0
_BAR, _WIDTH = 16, 80


class Progress:
    """A context that shows where a long command stands; ``told`` is the report of a solver."""

    def __init__(self, task: str, stream: TextIO | None = None, *, first: float = FIRST) -> None:
        self._task, self._first = task, first
        self._stream = sys.stderr if stream is None else stream
        self._terminal = self._stream.isatty()
        self._done, self._total, self._note = 0, 0, ""
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
        """So many of so many steps are done."""
        self._done, self._total, self._note = done, total, note

    def told(self, step: Step) -> None:
        """Take what a solver reports."""
        note = step.stage
        if step.lower_bound > 0.0:
            note += f", gap {100.0 * (step.objective / step.lower_bound - 1.0):.3g} %"
        self.step(step.iteration, step.limit, note)

    def line(self) -> str:
        """Where it stands."""
        bar = ""
        if self._total > 0:
            filled = min(_BAR, _BAR * self._done // self._total)
            bar = f"[{'#' * filled}{'.' * (_BAR - filled)}] {self._done} of {self._total}, "
        note = f", {self._note}" if self._note else ""
        return f"{self._task}: {bar}{time.monotonic() - self._start:.0f} s{note}"

    def _width(self) -> int:
        """Of the terminal that is written to; standard output may be elsewhere."""
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
