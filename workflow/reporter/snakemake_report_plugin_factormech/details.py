"""What stands behind the rows of a study's table: the files they were computed in, certificates, and claims."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from factormech.claims.ledger import Claim, Ledger, files_in, read
from factormech.claims.verdicts import rows_of
from factormech.pipeline import provenance

ROOT = Path(__file__).resolve().parents[3]
UNJUDGED = "not evaluated"


@dataclass(frozen=True)
class Entry:
    """A claim of the ledger, its verdict, and the outcome of its first check."""

    claim: Claim
    verdict: str
    value: str
    reading: str
    expected: str
    reason: str

    @property
    def anchor(self) -> str:
        """The claim as a place of the page."""
        return f"claim-{self.claim.id}"


def ledger(project: Path = ROOT) -> Ledger:
    """Return the project's ledger; an empty one, where there is none."""
    files, schema = files_in(project / "studies"), project / "workflow/schemas/claims.schema.yaml"
    return read(files, schema) if files and schema.is_file() else Ledger(())


def entries(claims: Iterable[Claim], verdicts: Path) -> list[Entry]:
    """Return the claims with the verdicts of a run's file; without the file no claim has one."""
    rows: dict[str, list[dict[str, str]]] = {}
    if verdicts.is_file():
        with verdicts.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                rows.setdefault(row["claim"], []).append(row)
    return [_entry(claim, rows.get(claim.id, [])) for claim in claims]


def _entry(claim: Claim, rows: list[dict[str, str]]) -> Entry:
    verdict = rows[0]["verdict"] if rows else UNJUDGED
    # What decided: the check that is met, else the first.
    row: dict[str, str] = next((r for r in rows if r["outcome"] == "met"), rows[0] if rows else {})
    ends = (row.get("least", ""), row.get("most", ""))
    checks = {check.reading: check.expect.words() for check in claim.checks}
    expected = checks.get(row.get("reading", ""), "") if any(ends) else ""
    why = row.get("reason", "") or ("" if rows else "the claims of this run were not judged")
    return Entry(claim, verdict, _short(row.get("value", "")), row.get("reading", ""), expected, why)


def _short(text: str) -> str:
    return f"{float(text):.6g}" if text else ""


def behind(study: str, frame: pd.DataFrame, found: Iterable[Entry], folder: Path = Path()) -> dict[str, Any]:
    """Return what the page says of the rows of a study's table.

    Parts are by the digest that a row has as its origin; solutions by their file; and for each claim the spans of rows
    that it takes numbers from.
    """
    parts = provenance.parts_of(study, folder)
    files = list(dict.fromkeys(file for part in parts.values() for file in part.attributes["solved"]))
    name = study.removeprefix("quick/")
    claims = [(entry, rows_of(entry.claim, name, frame)) for entry in found if name in entry.claim.studies]
    return {
        "study": study,
        "parts": {
            digest: {
                "file": str(part.path),
                "code": part.attributes["code"],
                "solved": [files.index(file) for file in part.attributes["solved"]],
            }
            for digest, part in parts.items()
        },
        "solutions": [{"file": file, **provenance.solution(folder / file)} for file in files],
        "claims": [
            {"anchor": entry.anchor, "text": entry.claim.text, "verdict": entry.verdict, "rows": spans(rows)}
            for entry, rows in claims
        ],
    }


def spans(rows: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Return the runs of rows that are taken, each by its first and last."""
    found = []
    for _, run in itertools.groupby(enumerate(np.flatnonzero(rows).tolist()), lambda pair: pair[1] - pair[0]):
        group = [row for _, row in run]
        found.append([group[0], group[-1]])
    return found
