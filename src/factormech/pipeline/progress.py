"""What a long solve tells those who wait: a line now and then, with the gap reached and the time left.

The clock decides when a line is written and never what is computed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

from factormech.mechanisms.local.optimal.problem import Report, Step

# Seconds between two lines.
EVERY = 5.0


def progress(stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic, every: float = EVERY) -> Report:
    """A report that writes a line at most once in ``every`` seconds, the first after as many."""
    out = sys.stderr if stream is None else stream
    last = clock()
    began: dict[str, tuple[int, float]] = {}

    def tell(step: Step) -> None:
        nonlocal last
        now = clock()
        first, start = began.setdefault(step.stage, (step.iteration, now))
        if now - last < every:
            return
        last = now
        done, left = step.iteration - first, step.limit - step.iteration
        wait = f", at most {duration(left * (now - start) / done)} left" if done > 0 else ""
        out.write(f"{step.stage}: step {step.iteration} of {step.limit}, {standing(step)}{wait}\n")
        out.flush()

    return tell


def standing(step: Step) -> str:
    """Return a text with objective, lower bound and gap."""
    if step.lower_bound <= 0.0:
        return f"objective {step.objective:.6g}"
    gap = 100.0 * (step.objective / step.lower_bound - 1.0)
    return f"objective {step.objective:.6g}, lower bound {step.lower_bound:.6g} (gap {gap:.3g} %)"


def duration(seconds: float) -> str:
    """Seconds, or minutes from two on."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
