"""Measure what is not measured yet, print every ratio, and write the tables, the page and the figure.

    python -m benchmarks.race [--only CONTEST …] [--sizes N …] [--rounds N] [--again] [--peers .peers]
    python -m benchmarks.race --print | --check | --list

A run that was stopped goes on where it was: rounds that are complete are kept. ``--again`` measures everything asked
for once more. Without the environment of the peers (``make peers-env``) those of them that need it are left out, with a
line.
``--check`` measures nothing: it fails unless the tables and the page are those of ``benchmarks/race.csv``.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# Threads must be fixed before NumPy loads its BLAS.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks.race import figure, page
from benchmarks.race.contest import Contest
from benchmarks.race.contests import CONTESTS
from benchmarks.race.runner import COLUMNS, ROOT, ROUNDS, Refused, Row, Track, measure, read, sorted_rows
from benchmarks.race.summary import Growth, Ratio, growth, growth_table, ratio_table, ratios

RAW, RATIOS, GROWTH, MACHINE = (ROOT / f"benchmarks/race{part}.csv" for part in ("", "-ratios", "-growth", "-machine"))
PAGE, FIGURE = ROOT / "docs/race.md", ROOT / "docs/gallery/race.svg"
REMEDY = "run `python -m benchmarks.race --print`"


def table(rows: Sequence[Row]) -> str:
    """CSV."""
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue()


def write(path: Path, text: str) -> None:
    """A file, whole or not at all; one that would not change is left alone."""
    from factormech.store.atomic import write_whole

    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_whole(path, text.encode())


def machine(track: Track) -> list[Row]:
    """Facts about where this runs, without its name."""
    import numpy
    import scipy

    from factormech.store.hdf5 import blas_kernels

    blas = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
    facts = {
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} on {platform.machine()}",
        "Python": platform.python_version(),
        "NumPy": numpy.__version__,
        "SciPy": scipy.__version__,
        "BLAS": f"{blas['name']} {blas['version']}, kernels for {blas_kernels()}",
        "threads": "1",
    }
    if track.peers is not None:
        code = "import platform, numpy, scipy; print(platform.python_version(), numpy.__version__, scipy.__version__)"
        said = subprocess.run([str(track.peers), "-c", code], capture_output=True, text=True, check=True).stdout.split()
        facts["of the peers' environment"] = "Python {}, NumPy {}, SciPy {}".format(*said)
    return [{"fact": fact, "value": value} for fact, value in facts.items()]


def made(rows: Sequence[Row]) -> tuple[list[Ratio], list[Growth], dict[Path, str]]:
    """What follows from the rounds: ratios, exponents, and the files that have them."""
    found = [ratio for contest in CONTESTS.values() for ratio in ratios(rows, contest)]
    exponents = [one for contest in CONTESTS.values() for one in growth(rows, contest)]
    files = {
        RATIOS: table(ratio_table(found)),
        GROWTH: table(growth_table(exponents)),
        PAGE: page.page(rows, CONTESTS, found, exponents, read(MACHINE)),
        FIGURE.with_suffix(".txt"): figure.CAPTION,
    }
    return found, exponents, files


def problems(rows: Sequence[Row]) -> list[str]:
    """What is wrong with the stored files."""
    found = []
    for path, text in made(rows)[2].items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            found.append(f"{path.relative_to(ROOT)} is not that of benchmarks/race.csv; {REMEDY}")
    digests: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        digests.setdefault((row["contest"], row["size"]), set()).add(row["work"])
        name = f"{row['contest']}, {row['size']}, round {row['round']}: {row['contestant']}"
        contest = CONTESTS.get(row["contest"])
        if contest is None or row["contestant"] not in {who.name for who in contest.at(int(row["size"]))}:
            found.append(f"{name} is not in the race any more; measure again")
        elif not float(row["disagreement"]) <= contest.tolerance:
            found.append(f"{name} disagrees by {row['disagreement']}")
    found += [f"{contest}, {size}: different works" for (contest, size), works in digests.items() if len(works) > 1]
    return found


def finish(rows: Sequence[Row]) -> None:
    """Write what follows from the rounds and print it."""
    found, exponents, files = made(rows)
    for path, text in files.items():
        write(path, text)
    write(FIGURE, figure.draw(rows, CONTESTS, found, exponents).decode())
    for one in found:
        print(
            f"{one.contest}, {one.size}: {one.peer} / {one.ours}: CPU {page.interval(one.cpu)}, "
            f"wall {page.interval(one.wall)}, memory {page.interval(one.memory)} "
            f"({one.cpu.rounds} rounds, {100 * one.cpu.level:.4g} %) {one.cpu.verdict}"
        )
    for each in exponents:
        print(f"{each.contest}: {each.contestant}: exponent {page.interval(each.exponent)}")


def asked(only: Sequence[str], sizes: Sequence[int]) -> list[tuple[Contest, tuple[int, ...]]]:
    """Contests and sizes that are named, or all."""
    chosen = [contest for name, contest in CONTESTS.items() if not only or name in only]
    if unknown := set(only) - set(CONTESTS):
        sys.exit(f"error: no contest is called {', '.join(sorted(unknown))}; --list shows them")
    return [(contest, tuple(n for n in contest.sizes if not sizes or n in sizes)) for contest in chosen]


def run(arguments: argparse.Namespace) -> None:
    """Measure."""
    peers = arguments.peers / "bin/python"
    track = Track(peers=peers if peers.exists() else None)
    chosen = asked(arguments.only, arguments.sizes)
    if track.peers is None:
        names = sorted({who.name for contest, _ in chosen for who in contest.contestants if who.peers})
        print(f"{arguments.peers} is not there (make peers-env): without {', '.join(names)}", flush=True)
    rows = read(RAW)
    if arguments.again:
        again = {(contest.name, str(size)) for contest, sizes in chosen for size in sizes}
        rows = [row for row in rows if (row["contest"], row["size"]) not in again]
    keep = lambda found: write(RAW, table([{k: row[k] for k in COLUMNS} for row in sorted_rows(found, CONTESTS)]))  # noqa: E731
    try:
        measure(chosen, rows, track, arguments.rounds, keep)
    except Refused as refused:
        sys.exit(f"the race is refused: {refused}")
    write(MACHINE, table(machine(track)))


def main() -> None:
    """Do what is asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.race", description=str(__doc__).splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], metavar="CONTEST")
    parser.add_argument("--sizes", nargs="*", type=int, default=[], metavar="N")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="at most; fewer where somebody takes long")
    parser.add_argument("--again", action="store_true", help="do not keep earlier rounds of what is asked for")
    parser.add_argument("--peers", type=Path, default=ROOT / ".peers", help="the environment of requirements-peers.txt")
    parser.add_argument("--print", action="store_true", help="measure nothing; write and print what follows")
    parser.add_argument("--check", action="store_true", help="measure nothing; fail if a file is not of the rounds")
    parser.add_argument("--list", action="store_true", help="only name the contests and their sizes")
    arguments = parser.parse_args()
    if arguments.list:
        for contest in CONTESTS.values():
            print(contest.name, *contest.sizes)
    elif arguments.check:
        if found := problems(read(RAW)):
            sys.exit("\n".join(found))
    else:
        if not arguments.print:
            run(arguments)
        finish(read(RAW))


if __name__ == "__main__":
    main()
