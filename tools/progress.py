"""Show what Snakemake does: ``[12/49]  24 %  0:00:31, about 0:01:20 left  measure``.

Reads Snakemake's own report on standard input. Only lines known to be of no interest are dropped: a warning, an error
or the log of a failed job passes unchanged. On a terminal the line is rewritten for each job, elsewhere printed for
each tenth of the work.
"""

from __future__ import annotations

import re
import sys
import time
from datetime import timedelta

NOISE = re.compile(
    r"Select jobs to execute|Execute \d+ jobs|\[\w{3} \w{3} +\d+ [\d:]+ \d{4}\]$|Using shell:|Building DAG of jobs"
    r"|Assuming unrestricted shared|Using workflow specific profile|Provided cores:|Rules claiming more threads"
    r"|Elapsed time:|Complete log|Job stats:|Nothing to be done|Config file|All of requested|host: |localrule |$"
)
RULE = re.compile(r"Finished jobid: \d+ \(Rule: (.+)\)")
STEPS = re.compile(r"(\d+) of (\d+) steps \(([\d.]+)%\) done")


def main() -> None:
    """Filter standard input."""
    start, rule, terminal, open_line = time.monotonic(), "", sys.stdout.isatty(), False
    for line in map(str.rstrip, sys.stdin):
        if found := RULE.match(line):
            rule = found[1]
        elif found := STEPS.match(line):
            done, total = int(found[1]), int(found[2])
            spent = time.monotonic() - start
            left = timedelta(seconds=round(spent * (total - done) / done))
            share, so_far = 100 * done // total, timedelta(seconds=round(spent))
            text = f"[{done}/{total}]  {share:>3} %  {so_far}, about {left} left  {rule}"
            if terminal:
                print(f"\r\x1b[K{text}", end="", flush=True)
            elif 10 * done // total > 10 * (done - 1) // total:
                print(text, flush=True)
            open_line = terminal
        elif not NOISE.match(line):
            print(("\n" if open_line else "") + line, flush=True)
            open_line = False
    if open_line:
        print()


if __name__ == "__main__":
    main()
