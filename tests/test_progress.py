"""The filter of Snakemake's report drops noise and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FILTER = Path(__file__).resolve().parent.parent / "tools" / "progress.py"
REPORT = """\
Using workflow specific profile profiles/default for setting default command line arguments.
Building DAG of jobs...
Select jobs to execute...
[Wed Nov 18 10:33:08 2026]
Finished jobid: 46 (Rule: bound)
1 of 250 steps (0.4%) done
Error in rule measure:
    message: None
error: epsilon = -1: must be a finite number above 0; give for example 1.0
Finished jobid: 0 (Rule: quick)
250 of 250 steps (100%) done
"""


def test_progress_is_shown_and_errors_pass() -> None:
    done = subprocess.run([sys.executable, FILTER], input=REPORT, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[:-1] == [
        "Error in rule measure:",
        "    message: None",
        "error: epsilon = -1: must be a finite number above 0; give for example 1.0",
    ]
    assert lines[-1].startswith("[250/250]  100 %")
    assert lines[-1].endswith("quick")
