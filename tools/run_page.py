"""Write docs/full-run.md: where the time of the last full run went, from what the gallery keeps of it.

``docs/gallery/run.csv`` has the times of the last whole run from nothing (``all``) and of the last whole quick run, as
the logger of the workflow noted them; ``docs/gallery/jobs.csv`` the sums of benchmark files and logs by rule and
by what jobs are about, as the reporter of the workflow wrote them. ``--check`` writes nothing: it ends with an error
where the page is not what these say.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GALLERY = ROOT / "docs" / "gallery"
PAGE = ROOT / "docs" / "full-run.md"
RUN_HEADER = ("target", "began", "seconds", "jobs", "cores")
# The dearest jobs are told one by one, as far as they are so many minutes of one core.
LEAST_MINUTES = 0.5
HEAD = """\
# Where the time goes

The last run of everything from nothing, `make` in an empty clone: what the clock said
([run.csv](gallery/run.csv)), and what its jobs took, added up ([jobs.csv](gallery/jobs.csv), for each study
[times.csv](gallery/times.csv)): memory from Snakemake's benchmark files, seconds of the processor from the jobs'
logs, since Snakemake looks at a long job only every half minute. `make gallery` writes this page, `make lint` checks
that it says what these files say.

"""
NOT_BY_CLOCK = """\
It was made in pieces, or beside other work, so that the clock says nothing of it.

"""


@dataclass(frozen=True)
class Spent:
    """Where the seconds of all cores went."""

    total: float
    work: float
    starts: float

    @property
    def rest(self) -> float:
        """Planning, submitting, and cores that had nothing to do."""
        return self.total - self.work - self.starts


def main() -> None:
    """Write, or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    wanted = page(GALLERY)
    if not args.check:
        PAGE.write_text(wanted, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != wanted:
        sys.exit("docs/full-run.md is not what docs/gallery says; run: make docs")


def rows(path: Path) -> list[dict[str, str]]:
    """A table as it is; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def whole_run(folder: Path) -> dict[str, str] | None:
    """What the clock said of the last run that made everything in this folder; none if it was made in pieces."""
    measured = sum(int(row["jobs"]) for row in rows(folder / "jobs.csv"))
    runs = [run for run in rows(folder / "runs.csv") if run["jobs"] == run["of"] and int(run["of"]) >= measured > 0]
    return runs[-1] if runs else None


def runs_of(results: Path, known: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The whole run and the whole quick run of these results, in the place of what was known of others."""
    found = {run["target"]: run for run in known}
    for target, folder in (("all", results), ("quick", results / "quick")):
        if (folder / "jobs.csv").exists():
            found.pop(target, None)  # of other jobs than those that are told now
        if run := whole_run(folder):
            found[target] = {"target": target} | {name: run[name] for name in RUN_HEADER[1:]}
    return [found[target] for target in ("all", "quick") if target in found]


def spent(run: dict[str, str], kinds: Sequence[dict[str, str]]) -> Spent:
    """The seconds of all cores during a run."""
    cpu, starts = (math.fsum(float(kind[name]) for kind in kinds) for name in ("cpu_seconds", "start_seconds"))
    return Spent(float(run["seconds"]) * int(run["cores"]), cpu - starts, starts)


def page(gallery: Path) -> str:
    """The page."""
    run = next((run for run in rows(gallery / "run.csv") if run["target"] == "all"), None)
    kinds = rows(gallery / "jobs.csv")
    if not kinds:
        return HEAD + "No whole run has been measured yet.\n"
    return HEAD + (by_clock(run, kinds) if run else NOT_BY_CLOCK) + by_jobs(kinds)


def by_clock(run: dict[str, str], kinds: Sequence[dict[str, str]]) -> str:
    """Where the time of all cores went, from the beginning of the run to its end."""
    spend, minutes = spent(run, kinds), float(run["seconds"]) / 60
    return (
        f"**{minutes:.0f} minutes on {run['cores']} cores** for {run['jobs']} jobs, begun {run['began'][:10]}. "
        f"Of the {spend.total / 60:.0f} minutes of all cores\n\n"
        + table(
            ("", "min", "share"),
            [
                ("computing", *told(spend.work, spend.total)),
                ("starting jobs: Python and the imports of their modules", *told(spend.starts, spend.total)),
                ("everything else: planning, submitting, cores with nothing to do", *told(spend.rest, spend.total)),
            ],
        )
        + f"\nOutside computations: {percent(spend.starts + spend.rest, spend.total)}.\n\n"
    )


def by_jobs(kinds: Sequence[dict[str, str]]) -> str:
    """What jobs took of the processor, by rule and by what they are about."""
    every = math.fsum(float(kind["cpu_seconds"]) for kind in kinds)
    starts = math.fsum(float(kind["start_seconds"]) for kind in kinds)
    dear = [kind for kind in kinds if float(kind["cpu_seconds"]) >= 60 * LEAST_MINUTES]
    shown = math.fsum(float(kind["cpu_seconds"]) for kind in dear)
    most = max(kinds, key=lambda kind: float(kind["peak_mebibytes"]))
    return (
        f"Its {sum(int(kind['jobs']) for kind in kinds)} jobs took {minutes_of(every)} minutes of one core, "
        f"{percent(starts, every)} of it to start. The one with the most memory held {most['peak_mebibytes']} MiB "
        f"({most['rule']}{' ' + most['name'] if most['name'] else ''}).\n\n## By rule\n\n"
        + table(
            ("rule", "jobs", "min of one core", "of it starts"),
            [(rule, str(n), minutes_of(cpu), minutes_of(start)) for rule, (n, cpu, start) in summed(kinds).items()],
        )
        + f"\n## The dearest\n\nRules and what their jobs are about, from {LEAST_MINUTES} minutes of one core on: "
        f"{percent(shown, every)} of all.\n\n"
        + table(
            ("rule", "about", "jobs", "min of one core", "most memory, MiB"),
            [(k["rule"], k["name"], k["jobs"], minutes_of(float(k["cpu_seconds"])), k["peak_mebibytes"]) for k in dear],
        )
    )


def summed(kinds: Sequence[dict[str, str]]) -> dict[str, tuple[int, float, float]]:
    """Jobs, processor seconds and seconds of starts by rule, the dearest first."""
    found: dict[str, tuple[int, float, float]] = {}
    for kind in kinds:
        n, cpu, start = found.get(kind["rule"], (0, 0.0, 0.0))
        more = (n + int(kind["jobs"]), cpu + float(kind["cpu_seconds"]), start + float(kind["start_seconds"]))
        found[kind["rule"]] = more
    return dict(sorted(found.items(), key=lambda item: -item[1][1]))


def told(part: float, total: float) -> tuple[str, str]:
    """Minutes and share."""
    return minutes_of(part), percent(part, total)


def minutes_of(seconds: float) -> str:
    """Minutes with a decimal."""
    return f"{seconds / 60:.1f}"


def percent(part: float, total: float) -> str:
    """A share."""
    return f"{100 * part / total:.1f} %"


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    every = [header, ["---"] * len(header), *lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in every)


def csv_of(runs: Sequence[dict[str, str]]) -> str:
    """``run.csv``."""
    return "\n".join([",".join(RUN_HEADER), *(",".join(run[name] for name in RUN_HEADER) for run in runs)]) + "\n"


if __name__ == "__main__":
    main()
