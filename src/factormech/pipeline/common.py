"""What every job shares: its arguments, and one line instead of a traceback for a value that breaks a rule."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from factormech import plugins
from factormech.pipeline import freshness, recovery


class LoadPlugins(argparse.Action):
    """Load the files as they are read from the command line, so that their names are known to what comes after."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        """One file or several."""
        paths = values if isinstance(values, list) else [values]
        for path in paths:
            plugins.load(path)
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), *paths])


class ReadRequest(argparse.Action):
    """Take the digest of the code from the file of the request; :func:`run` does the rest."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        """The file that the workflow wrote."""
        setattr(namespace, self.dest, json.loads(values.read_bytes())["code"])


def job_parser(description: str | None) -> argparse.ArgumentParser:
    """An argument parser with what all jobs take."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    words = "files of the user's own code that this job needs"
    parser.add_argument("--plugins", nargs="*", type=Path, action=LoadPlugins, default=[], help=words)
    parser.add_argument("--code", default="", help="digest of the code that the result depends on")
    words = "file in which the workflow says what the job is asked: its digest of the code, and what to seal"
    parser.add_argument("--request", type=Path, action=ReadRequest, dest="code", metavar="FILE", help=words)
    return parser


def run(main: Callable[[], None]) -> None:
    """Call a job's main; a broken rule, a full disk or memory ends it with one line and exit code 1.

    One that succeeds says what it took of the processor, and how much of that before its work began: the interpreter
    and the imports of its module.
    """
    start = time.process_time()
    with recovery.refusing(), recovery.job(), freshness.job(sys.argv):
        main()
    sys.stderr.write(f"processor: {start:.2f} s to start, {time.process_time() - start:.2f} s of work\n")
