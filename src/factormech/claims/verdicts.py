"""Verdicts: what is measured against what is expected. Nothing here, and nothing in the ledger, says how it ends.

An expectation is met when the **whole** measured interval lies within it, and contradicted when the whole interval lies
outside. Where only a part does, the claim is open. The words follow from the kind of evidence (``evidence.py``).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from factormech.claims.evidence import DECADES, KINDS, NOT_EVALUATED, OPEN
from factormech.claims.ledger import Check, Claim, Expectation, Ledger, operands
from factormech.claims.measures import Measured, measure
from factormech.claims.selection import NotEvaluated, Tables, kept

if TYPE_CHECKING:
    import pandas as pd

# How one check ends.
MET, UNDECIDED, CONTRADICTED, REFUSED = "met", "open", "contradicted", "not evaluated"


@dataclass(frozen=True)
class Outcome:
    """How one check of a claim ended: with a measured number, or with the reason why there is none."""

    check: Check
    state: str
    measured: Measured | None
    reason: str


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict, and the outcomes that it follows from."""

    claim: Claim
    verdict: str
    outcomes: tuple[Outcome, ...]


class Folder:
    """The tables of studies in a folder, each read once; one that is not there is a study that was not made."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.frame = functools.cache(self._read)

    def _read(self, study: str) -> pd.DataFrame:
        from factormech.tables.kinds import read_csv

        path = self.folder / f"{study}.csv"
        if not path.exists():
            raise NotEvaluated(f"the study {study} was not made")
        return read_csv(path)


def judge(ledger: Ledger, folder: Folder) -> list[Judged]:
    """Judge every claim of a ledger on the tables of a folder."""
    return [judged(claim, [outcome(check, claim, folder) for check in claim.checks]) for claim in ledger.claims]


def outcome(check: Check, claim: Claim, folder: Folder) -> Outcome:
    """Measure once and compare."""
    try:
        measured = measure(Tables(folder.frame, claim.studies[0]), check.measure, check.settings)
    except NotEvaluated as reason:
        return Outcome(check, REFUSED, None, str(reason))
    state = compared(measured, check.expect)
    if claim.kind == "growth" and measured.decades < DECADES - 1e-9:
        return Outcome(check, UNDECIDED, measured, f"growth needs {DECADES:g} decades")
    return Outcome(check, state, measured, "")


def rows_of(claim: Claim, study: str, frame: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Return which rows of a study's table some check of a claim takes numbers from."""
    found = np.zeros(len(frame), dtype=bool)
    for check in claim.checks:
        for operand in operands(check.settings):
            if operand.get("table", claim.studies[0]) != study:
                continue
            with suppress(NotEvaluated):
                found |= kept(frame, operand.get("where", {}), study)
    return found


def compared(measured: Measured, expect: Expectation) -> str:
    """Return whether an interval is within the expectation, outside it, or neither."""
    least = -float("inf") if expect.least is None else expect.least
    most = float("inf") if expect.most is None else expect.most
    if least <= measured.low and measured.high <= most:
        return MET
    return CONTRADICTED if measured.high < least or measured.low > most else UNDECIDED


def judged(claim: Claim, outcomes: Iterable[Outcome]) -> Judged:
    """The verdict that outcomes imply: no check that could not be made is taken for one that failed."""
    found, kind = tuple(outcomes), KINDS[claim.kind]
    states = {outcome.check.reading: outcome.state for outcome in found}
    printed = states.pop("", None)
    if not found:  # a test or a reason stands for the tables
        verdict = kind.contradicted if claim.kind == "erratum" else kind.met
    elif claim.kind == "bound" and REFUSED not in (printed, *states.values()):
        # Only an interval that lies beyond a bound as a whole violates it.
        verdict = kind.met if {printed, *states.values()} & {MET, UNDECIDED} else kind.contradicted
    elif claim.kind == "erratum":  # what the readings say is how the print can be mended
        verdict = {CONTRADICTED: kind.contradicted, REFUSED: NOT_EVALUATED}.get(printed or "", OPEN)
    elif printed == MET or (claim.universes and set(states.values()) == {MET}):
        verdict = kind.met
    elif printed != REFUSED and MET in states.values():
        verdict = kind.reading
    elif REFUSED in (printed, *states.values()):
        verdict = NOT_EVALUATED
    else:
        verdict = OPEN if UNDECIDED in (printed, *states.values()) else kind.contradicted
    return Judged(claim, verdict, found)
