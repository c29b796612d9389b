"""Run a command that is no job of the package, and seal what it made."""

from __future__ import annotations

import argparse
import subprocess
import sys

from factormech.pipeline.common import job_parser, run


def main() -> None:
    """Run the command; its exit code, if it is not 0, is that of the job."""
    parser = job_parser(__doc__)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    done = subprocess.run(args.command, check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    run(main)
