"""What was found, as a CSV file: a row for each check of each claim, and one for each claim that has none."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from factormech.claims.verdicts import Judged, Outcome

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
