"""A job without enough memory to load its libraries says so in one line; nothing can be imported then to say it."""

from __future__ import annotations

import sys
from types import TracebackType


def in_one_line(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """An exception hook; any error but a lack of memory is a developer's, and shown as ever."""
    if kind is MemoryError or "failed to map segment" in str(error):
        rule = "be enough for this job; free memory or raise its limit, and run the same command again"
        sys.stderr.write(f"error: memory = too little to load the libraries: must {rule}\n")
    else:
        sys.__excepthook__(kind, error, trace)
