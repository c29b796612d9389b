"""What was found, as a page of Markdown, and as a few lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factormech.claims.verdicts import (
    CONTRADICTED,
    MET,
    NOT_REPRODUCED,
    OPEN,
    REFUSED,
    REPRODUCED,
    VERDICTS,
    Judged,
    Outcome,
)

HEAD = """\
# The ledger of claims

What the five papers say, and what the tables of this project say of it. `studies/<paper>.claims.yaml` has for each claim
where it stands, the study that tests it, how it is measured, and what is expected and why; the verdicts are computed from the
tables by `factormech.claims` and by nothing else. A claim is *reproduced* when the whole measured interval is within
what is expected; *reproduced under a stated reading* when only a reading does so, told below the claim; *not
reproduced* else (and *open* where a part of the interval is within); *not testable* with the reason; *not evaluated*
where the tables do not have what the claim is about. The slope of growth is between two standard errors of its fit.
"""
TABLE = "| claim | where | measured | expected | verdict |\n| --- | --- | --- | --- | --- |\n"
SIGNS = {MET: "✓", OPEN: "open", CONTRADICTED: "✗", REFUSED: "–"}


def page(judged: Sequence[Judged], made: str = "") -> str:
    """The whole page; ``made`` says from which tables."""
    parts = [HEAD, made and f"\n{made}\n", "\n", *_summary(judged)]
    for paper in _papers(judged):
        parts += [
            f"\n## {paper}\n\n",
            "| claim | where | measured | expected | verdict |\n| --- | --- | --- | --- | --- |\n",
        ]
        parts += [_line(found) for found in judged if found.claim.paper == paper and found.outcomes]
        untested = [found for found in judged if found.claim.paper == paper and not found.outcomes]
        if untested:
            parts.append("\nNot testable:\n\n")
            parts += [f"* {f.claim.text} ({f.claim.where}; `{f.claim.id}`). *{f.claim.why}*\n" for f in untested]
    return "".join(parts)


def summary(judged: Sequence[Judged]) -> str:
    """A line for each verdict."""
    counts = [(verdict, sum(found.verdict == verdict for found in judged)) for verdict in VERDICTS]
    width = max(map(len, VERDICTS))
    return (
        "\n".join(f"{verdict:{width}}  {count}" for verdict, count in counts) + f"\n{'claims':{width}}  {len(judged)}\n"
    )


def _papers(judged: Sequence[Judged]) -> list[str]:
    return list(dict.fromkeys(found.claim.paper for found in judged))


def _summary(judged: Sequence[Judged]) -> Iterator[str]:
    yield f"| paper | {' | '.join(VERDICTS)} | all |\n|{' --- |' * (len(VERDICTS) + 2)}\n"
    for paper in [*_papers(judged), "all"]:
        here = [found for found in judged if paper in (found.claim.paper, "all")]
        counts = [sum(found.verdict == verdict for found in here) for verdict in VERDICTS]
        yield f"| {paper} | {' | '.join(map(str, counts))} | {len(here)} |\n"


def _line(found: Judged) -> str:
    """A claim: as printed, and below each reading."""
    claim = found.claim
    note = f" *{claim.note}*" if claim.note else ""
    studies = ", ".join(f"`{study}`" for study in claim.studies)
    cells = [f"{claim.text}{note} (`{claim.id}`; {studies})", claim.where]
    # A claim that holds as it is printed needs no reading.
    shown = found.outcomes[:1] if found.verdict == REPRODUCED else found.outcomes
    cells.append("<br>".join(map(_told, shown)))
    cells.append("<br>".join(_expected(shown)))
    cells.append(f"**{found.verdict}**{_left_open(found)}")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _left_open(found: Judged) -> str:
    """What is said of a claim that nothing contradicts, and that the intervals are too wide for."""
    states = {outcome.state for outcome in found.outcomes}
    return ", left open" if found.verdict == NOT_REPRODUCED and states == {OPEN} else ""


def _told(outcome: Outcome) -> str:
    words = outcome.measured.words if outcome.measured is not None else outcome.reason
    reading = f"*{outcome.check.reading}:* " if outcome.check.reading else ""
    return f"{SIGNS[outcome.state]} {reading}{words}"


def _expected(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Each expectation with its reason, equal ones once."""
    yield from dict.fromkeys(f"{o.check.expect.words()} ({o.check.expect.because})" for o in outcomes)
