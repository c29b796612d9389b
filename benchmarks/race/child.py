"""One contestant, once, in this process: what is asked comes on standard input, what is found is the last line printed.

Seconds are of the work alone. Memory is resident memory: before the work, with all libraries loaded and a tiny work
done, and at its peak during the work, which Linux counts anew when asked to.
"""

from __future__ import annotations

import gc
import importlib.metadata
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.race.contests import CONTESTS

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak() -> float:
    """Peak resident mebibytes: since the last reset on Linux, else of the whole process."""
    if STATUS.exists():
        return _status("VmHWM")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def resident() -> float:
    """Resident mebibytes now; where that cannot be read, the peak so far."""
    return _status("VmRSS") if STATUS.exists() else peak()


def reset_peak() -> None:
    """Forget the peak, where the system can."""
    if CLEAR.exists():
        CLEAR.write_text("5")


def _status(key: str) -> float:
    [line] = [line for line in STATUS.read_text().splitlines() if line.startswith(f"{key}:")]
    return float(line.split()[1]) / 2**10


def measure(contest: str, contestant: str, size: int, lent: float | None) -> dict[str, Any]:
    """Warm up, work once, and say what it took and what came out."""
    asked = CONTESTS[contest]
    who = asked.contestant(contestant)
    if who.warm is not None:
        who.warm()
    else:
        small = who.prepare(asked.tiny, None)
        small.answer(small.run())
    work = who.prepare(size, lent)
    gc.collect()
    reset_peak()
    base = resident()
    wall, cpu = time.perf_counter(), time.process_time()
    found = work.run()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    highest = peak()
    return {
        "version": importlib.metadata.version(who.package),
        "cpu_seconds": cpu - work.excluded[0],
        "wall_seconds": wall - work.excluded[1],
        "base_mebibytes": base,
        "peak_mebibytes": highest,
        "work": work.digest,
        "answer": [float(number) for number in work.answer(found)],
    }


def main() -> None:
    """Answer what standard input asks."""
    print(f"\n{json.dumps(measure(**json.load(sys.stdin)))}", flush=True)


if __name__ == "__main__":
    main()
