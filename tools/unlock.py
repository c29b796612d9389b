"""Take away the lock that a run which died has left: ``make`` does so before it starts Snakemake.

Nothing is done while a run or a job is at work in the folder, or where the last run was on another machine.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from factormech.errors import BadValue
from factormech.pipeline import recovery

NOTES = Path(".snakemake/factormech")


def main() -> None:
    """Unlock the working folder, if it is locked by nobody."""
    if not any(Path(".snakemake/locks").glob("*.lock")) or not NOTES.is_dir():
        return
    try:
        run = recovery.claim(Path.cwd(), NOTES)
    except BadValue as problem:
        sys.exit(f"error: {problem}")
    if run is not None and recovery.was_here(run):
        done = subprocess.run([sys.executable, "-m", "snakemake", "--unlock", "--quiet", "all"], check=False)
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
