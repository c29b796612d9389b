"""The verdicts on claims as a page of Markdown, as a few lines for a terminal, and as a CSV file.

**The CSV file.** It has a row for each check of each claim, and one for each claim without a check.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from factormech.claims.evidence import (
    GROWTH,
    KINDS,
    NOT_EVALUATED,
    NOT_PREDICTED,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    NOT_TESTED,
    NOT_VIOLATED,
    OPEN,
    PREDICTED,
    PROVED,
    REFUTED,
    REPRODUCED,
    UNDER_READING,
    VERDICTS,
    VIOLATED,
)
from factormech.claims.verdicts import CONTRADICTED, MET, REFUSED, UNDECIDED, Judged, Outcome

# Markdown and terminal.

TITLE = "# The ledger of claims\n\n"
HEAD = """
`studies/<paper>.claims.yaml` has for each claim where it stands, what kind of evidence there is, the study that tests
it, how it is measured, and what is expected and why. Verdicts on tables are computed by `factormech.claims` and by
nothing else: an expectation is met when the whole measured interval is within it, and the words follow from the kind of
evidence. What was simulated or fitted has an interval; the slope of growth is between two standard errors of its fit.
Claims without a table name the test of the package that stands for one, or the reason why there is none.
*Not evaluated* are claims about points that the tables do not have.
"""
TABLE = "| claim | where | evidence | measured | expected | verdict |\n| --- | --- | --- | --- | --- | --- |\n"
SIGNS = {MET: "✓", UNDECIDED: "open", CONTRADICTED: "✗", REFUSED: "–"}


def page(judged: Sequence[Judged], made: str = "") -> str:
    """Return the whole page; ``made`` says from which tables."""
    parts = [TITLE, _first(judged), HEAD, "\n", *_kinds(), made and f"\n{made}\n", "\n", *_summary(judged)]
    for paper in _papers(judged):
        here = [found for found in judged if found.claim.paper == paper]
        parts += [f"\n## {paper}\n", *_matrix([found for found in here if found.claim.universes]), "\n", TABLE]
        parts += [_line(found) for found in here if found.outcomes and not found.claim.universes]
        for verdict in VERDICTS:
            rest = [found for found in here if not found.outcomes and found.verdict == verdict]
            if rest:
                parts.append(f"\n{verdict.capitalize()}:\n\n")
                parts += [_item(found) for found in rest]
    return "".join(parts)


def summary(judged: Sequence[Judged]) -> str:
    """A line for each verdict."""
    counts, width = Counter(found.verdict for found in judged), max(map(len, VERDICTS))
    lines = [f"{verdict:{width}}  {counts[verdict]}\n" for verdict in VERDICTS]
    return "".join(lines) + f"{'claims':{width}}  {len(judged)}\n"


def _first(judged: Sequence[Judged]) -> str:
    """Return a paragraph that counts the claims that are reproduced, refuted and left open."""
    n = Counter(found.verdict for found in judged)
    as_printed = n[REPRODUCED] + n[GROWTH]
    sentences = [
        f"Of {len(judged)} claims, on every numbered statement of the five papers and on what they say beside, "
        f"{as_printed + n[UNDER_READING]} are **reproduced**: "
        f"{as_printed} as printed ({n[GROWTH]} of them growth over two decades or more) and {n[UNDER_READING]} under a "
        "reading that is stated.",
        f"{n[REFUTED]} are **refuted**: the print is false whatever the algorithm, and a test runs the "
        f"counter-example. {n[NOT_REPRODUCED]} are **not reproduced** by the tables.",
        f"What is **left**: {n[PROVED]} have a proof here and a test that would catch a wrong one, {n[NOT_VIOLATED]} "
        f"are bounds and inequalities that no number passes{_but(n[VIOLATED], 'one does', 'do')}, and "
        f"{n[PREDICTED] + n[NOT_PREDICTED]} compare this project's formulas with each other ({n[PREDICTED]} agree), "
        "which is no evidence for the paper.",
        f"{n[OPEN]} are open, as an interval or a range of sizes is too small to decide; {n[NOT_TESTED]} are not "
        f"tested and {n[NOT_TESTABLE]} cannot be, each with the reason"
        + (f"; {n[NOT_EVALUATED]} are about points that these tables lack." if n[NOT_EVALUATED] else "."),
    ]
    return "\n".join(sentences) + "\n"


def _but(count: int, one: str, more: str) -> str:
    return "" if not count else f" ({one})" if count == 1 else f" ({count} {more})"


def _kinds() -> Iterator[str]:
    yield "| evidence | what it is | verdict if it holds | if not |\n| --- | --- | --- | --- |\n"
    for name, kind in KINDS.items():
        held, failed = (kind.contradicted, kind.met) if name == "erratum" else (kind.met, kind.contradicted)
        yield f"| {name} | {kind.meaning} | {held} | {'–' if failed == held else failed} |\n"


def _papers(judged: Sequence[Judged]) -> list[str]:
    return list(dict.fromkeys(found.claim.paper for found in judged))


def _summary(judged: Sequence[Judged]) -> Iterator[str]:
    there = Counter(found.verdict for found in judged)
    shown = [verdict for verdict in VERDICTS if there[verdict]]
    yield f"| paper | {' | '.join(shown)} | all |\n|{' --- |' * (len(shown) + 2)}\n"
    for paper in [*_papers(judged), "all"]:
        counts = Counter(found.verdict for found in judged if paper in (found.claim.paper, "all"))
        yield f"| {paper} | {' | '.join(str(counts[verdict]) for verdict in shown)} | {counts.total()} |\n"


def _matrix(judged: Sequence[Judged]) -> Iterator[str]:
    """Claims that are judged under several universes: a row each, a column for each universe."""
    if not judged:
        return
    says = list(dict.fromkeys(outcome.check.reading for found in judged for outcome in found.outcomes))
    yield "\nUnder which versions of the mechanisms a claim holds:\n\n"
    yield "".join(f"* **{chr(65 + i)}**: {words}.\n" for i, words in enumerate(says))
    header = [chr(65 + i) for i in range(len(says))]
    yield f"\n| claim | where | expected | {' | '.join(header)} | verdict |\n|{' --- |' * (len(says) + 4)}\n"
    for found in judged:
        cells = {outcome.check.reading: _short(outcome) for outcome in found.outcomes}
        claim, expect = found.claim, found.outcomes[0].check.expect
        note = f" *{claim.note}*" if claim.note else ""
        row = [f"{claim.text}{note} (`{claim.id}`)", claim.where, f"{expect.words()} ({expect.because})"]
        row += [cells.get(words, "") for words in says]
        yield "| " + " | ".join([*row, f"**{found.verdict}**"]) + " |\n"


def _short(outcome: Outcome) -> str:
    """A sign and a number; of a share of points, how many."""
    if (measured := outcome.measured) is None:
        return f"{SIGNS[outcome.state]} {outcome.reason}"
    if outcome.check.measure in ("holds", "leads"):
        return f"{SIGNS[outcome.state]} {round(measured.value * measured.points)} of {measured.points}"
    return f"{SIGNS[outcome.state]} {measured.value:.4g}"


def _line(found: Judged) -> str:
    """A claim: as printed, and below each reading."""
    claim = found.claim
    # A claim that holds as it is printed needs no reading.
    shown = found.outcomes[:1] if found.verdict in (REPRODUCED, GROWTH) else found.outcomes
    cells = [f"{claim.text}{_notes(found)} ({', '.join(f'`{name}`' for name in (claim.id, *claim.studies))})"]
    cells += [claim.where, claim.kind, "<br>".join(map(_told, shown)), "<br>".join(_expected(shown))]
    cells.append(f"**{found.verdict}**")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _item(found: Judged) -> str:
    """A claim that no table tests."""
    claim = found.claim
    return f"* {claim.text} ({claim.where}; `{claim.id}`).{_notes(found)}\n"


def _notes(found: Judged) -> str:
    """Return the notes that the reader needs, in italics, and the test."""
    claim = found.claim
    words = [words for words in (claim.note, claim.why) if words]
    words += [f"Range: {claim.range}."] if claim.range else []
    told = "".join(f" *{text}*" for text in words)
    return told + (f" Test: `{claim.test}`." if claim.test else "")


def _told(outcome: Outcome) -> str:
    words = outcome.measured.words if outcome.measured is not None else outcome.reason
    more = f" ({outcome.reason})" if outcome.measured is not None and outcome.reason else ""
    reading = f"*{outcome.check.reading}:* " if outcome.check.reading else ""
    return f"{SIGNS[outcome.state]} {reading}{words}{more}"


def _expected(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Each expectation with its reason, equal ones once."""
    yield from dict.fromkeys(f"{o.check.expect.words()} ({o.check.expect.because})" for o in outcomes)


# The CSV file.

COLUMNS = (
    "claim",
    "paper",
    "where",
    "kind",
    "verdict",
    "reading",
    "outcome",
    "value",
    "low",
    "high",
    "points",
    "least",
    "most",
    "reason",
)


def rows(judged: Iterable[Judged]) -> Iterator[dict[str, str]]:
    """The rows, numbers as their shortest exact texts."""
    for found in judged:
        claim = found.claim
        head = {
            "claim": claim.id,
            "paper": claim.paper,
            "where": claim.where,
            "kind": claim.kind,
            "verdict": found.verdict,
        }
        if not found.outcomes:
            yield {**head, "reason": claim.why}
        for outcome in found.outcomes:
            yield {**head, **_tested(outcome)}


def text(judged: Iterable[Judged]) -> str:
    """The whole file."""
    written = io.StringIO()
    writer = csv.DictWriter(written, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(judged))
    return written.getvalue()


def _tested(outcome: Outcome) -> dict[str, str]:
    check = outcome.check
    ends = {"least": _text(check.expect.least), "most": _text(check.expect.most)}
    told = {"reading": check.reading, "outcome": outcome.state, **ends, "reason": outcome.reason}
    if (measured := outcome.measured) is None:
        return told
    numbers = {name: repr(float(getattr(measured, name))) for name in ("value", "low", "high")}
    return {**told, **numbers, "points": str(measured.points)}


def _text(number: float | None) -> str:
    return "" if number is None else repr(float(number))
