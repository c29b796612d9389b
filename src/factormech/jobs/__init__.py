"""One module a stage: read files, call a room, write a file; the only code that the rules call."""

import sys
from types import TracebackType


def _in_one_line(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A job without enough memory to load its libraries says so; any other error that gets here is a developer's.

    It needs no module itself, for there is no memory to load one.
    """
    if kind is MemoryError or (kind is ImportError and "failed to map segment" in str(error)):
        rule = "be enough for this job; free memory or raise its limit, and run the same command again"
        sys.stderr.write(f"error: memory = too little to load the libraries: must {rule}\n")
    else:
        sys.__excepthook__(kind, error, trace)


if sys.argv[:1] == ["-m"]:  # so it is while ``python -m factormech.jobs.…`` loads this package
    sys.excepthook = _in_one_line
