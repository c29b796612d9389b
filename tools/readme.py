"""Fill the blocks of numbers of README.md from the gallery's tables, and find numbers that are in no block.

A block begins with ``<!-- numbers: NAME -->`` and ends with ``<!-- end of numbers -->``; ``times`` is what runs took
(``docs/gallery/times.csv``), ``figure-1`` what the certified figure says, ``plan`` the advice of the plan that is shown
on the page of commands. ``--check`` writes nothing: it ends with an error where a block is not what the tables say, and
where the text of a page has a digit outside of blocks, code and links that :data:`ALLOWED` does not explain.
"""

from __future__ import annotations

import argparse
import csv
import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GALLERY = ROOT / "docs" / "gallery"
PAGES = ("README.md", "docs/start.md", "docs/guarantees.md")
BLOCK = re.compile(r"(<!-- numbers: ([\w-]+) -->\n)(.*?)(<!-- end of numbers -->\n)", re.DOTALL)
# Phrases with digits, and why they are no result: a reader of the text may trust them for another reason.
ALLOWED = {
    r"(?:mckenna|edmonds|liu|nikolov)20\d\d|PVLDB 13\(11\), 2020": "names of papers",
    r"Figures? \d(?: and \d)?": "names of their parts",
    r"h5py|L2 matrix mechanism|Python 3\.11 or newer": "names; the last is requires-python of pyproject.toml",
    r"ε = 0\.001 to 40": "the budgets of the tests of closed forms",
    r"10⁷ users|\(10⁶": "the grids of the studies simulated-collection and consistency in config.yaml",
    r"Up to 16 types": "the largest domain for which bounds are proved in whole numbers, proof.CERTIFIED_UP_TO",
}


def main() -> None:
    """Write, or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    for name in PAGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        wanted = filled(text)
        if not args.check:
            (ROOT / name).write_text(wanted, encoding="utf-8")
        elif text != wanted:
            sys.exit(f"{name} is not what docs/gallery says; run: make docs")
        if found := unexplained(wanted):
            sys.exit(f"numbers of {name} that come from no table (tools/readme.py):\n" + "\n".join(found))


def filled(text: str) -> str:
    """The page with all its blocks written again."""
    writers = {"times": times, "figure-1": figure_1, "plan": plan}
    return BLOCK.sub(lambda block: block[1] + writers[block[2]]() + "\n" + block[4], text)


def unexplained(text: str) -> list[str]:
    """The lines that have a digit outside of blocks, code, links and what is allowed."""
    text = BLOCK.sub("", text)
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`]*`", "", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub("|".join(ALLOWED), "", text)
    return [line for line in text.splitlines() if re.search(r"\d", line)]


def rows(name: str) -> list[dict[str, str]]:
    """A table of the gallery."""
    with (GALLERY / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def times() -> str:
    """What the targets took: the last whole run and the last quick one, by the clock if they were measured by it."""
    runs = {run["target"]: run for run in rows("run.csv")}
    sums = {row["study"]: row for row in rows("times.csv")}
    studies = [name for name in sums if name not in ("all", "quick")]
    whole, quick = (took(target, runs, sums) for target in ("all", "quick"))
    if whole is None:
        text = "No full run has been measured as a whole yet; `make` says what it expects before it begins"
    else:
        text = f"The last full run made {len(studies)} studies from nothing in {whole}"
    return text + (f"; `make quick` took\n{quick}" if quick else "") + " ([where the time goes](docs/full-run.md))."


def took(target: str, runs: dict[str, dict[str, str]], sums: dict[str, dict[str, str]]) -> str | None:
    """Minutes by the clock; of a run that was made in pieces, or beside other work, those of its jobs."""
    if run := runs.get(target):
        return f"{duration(float(run['seconds']))} on {run['cores']} cores"
    if target in sums and sums[target]["jobs"] == sums[target]["measured"]:
        return f"{duration(float(sums[target]['cpu_seconds']))} of one core"
    return None


def duration(seconds: float) -> str:
    """Minutes, or hours."""
    return f"{seconds / 3600:.1f} hours" if seconds >= 7200 else f"{max(1, round(seconds / 60))} minutes"


def figure_1() -> str:
    """How near the optimised strategies come to the bound, and how far the published fixed ones are from them."""
    near, gain = [], []
    for mechanisms in points("mckenna2020-figure-1.csv"):
        best = mechanisms["optimised"]
        near.append(float(best["sample_complexity"]) / float(best["lower_bound"]))
        gain.append(over_best(mechanisms, "sample_complexity"))
    known = [over_best(mechanisms, "worst_variance") for mechanisms in points("optimality-gap-epsilon.csv")]
    return (
        f"At the {len(near)} points of this figure our strategies need {statistics.median(near):.3f} times the users "
        f"of the bound in the median and {max(near):.2f} times at most;\nthe best fixed mechanism of the paper needs "
        f"{statistics.median(gain):.1f} times theirs in the median and {max(gain):.0f} times at most, "
        f"the best known variant of any of them\n{statistics.median(known):.1f} and {max(known):.1f} times."
    )


def plan() -> str:
    """The advice of the plan that README asks for, as the page of commands has it."""
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    command = "$ factormech plan histogram --domain-size 16 --epsilon 1 --rmse 1%\n"
    answer = page.partition(command)[2].partition("```")[0]
    advice = next(line for line in answer.splitlines() if line.startswith("Use "))
    return "> " + advice.partition(" Shrunk")[0]


def points(name: str) -> list[dict[str, dict[str, str]]]:
    """The mechanisms that answer, at each workload and ε of a table of the gallery."""
    found: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for row in rows(name):
        if row["status"] == "ok":
            found.setdefault((row["workload"], row["epsilon"]), {})[row["mechanism"]] = row
    return list(found.values())


def over_best(mechanisms: dict[str, dict[str, str]], column: str) -> float:
    """The best mechanism that is not optimised for the workload by descent, over the best strategy."""
    values = {name: float(row[column]) for name, row in mechanisms.items()}
    best = values.pop("optimised")
    return min(value for name, value in values.items() if name != "adaptive-pgd") / best


if __name__ == "__main__":
    main()
