"""A job without enough memory to load its libraries says so in one line; nothing can be imported then to say it."""

from __future__ import annotations

import sys
from types import TracebackType

# MiB of address space that the libraries of a small job take, with some to work in.
NEED = 320


def check_limit() -> None:
    """Refuse a limit of address space in which the libraries cannot be loaded, before they are.

    Some of them do not fail for want of memory: OpenBLAS, loaded with 160 to 190 MiB, tries again for ever.
    """
    try:
        import resource
    except ImportError:  # a system without such limits
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < NEED << 20:
        rule = f"have at least {NEED} MiB of address space; raise the limit (ulimit -v), and run the same command again"
        sys.exit(f"error: memory = {limit >> 20} MiB: must {rule}")


def in_one_line(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """An exception hook; any error but a lack of memory is a developer's, and shown as ever."""
    if kind is MemoryError or "failed to map segment" in str(error):
        rule = "be enough for this job; free memory or raise its limit, and run the same command again"
        sys.stderr.write(f"error: memory = too little to load the libraries: must {rule}\n")
    else:
        sys.__excepthook__(kind, error, trace)
