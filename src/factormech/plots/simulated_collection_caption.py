"""The caption of a figure of simulated collections: what was run, whether it agrees, what is missing and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factormech import labels
from factormech.plots import captions
from factormech.tables.collected import Collected, level_text, verdict_text, view
from factormech.tables.panels import number

if TYPE_CHECKING:
    import pandas as pd


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of a study's figure."""
    table = view(frame)
    agrees, _, level = verdict_text(table.verdict).partition(" at the simultaneous")
    return captions.words(
        [
            captions.lead(
                title,
                "N × mean squared error per query, the variance per user and query, against the number of users N = "
                f"{_numbers(table.users.tolist())}, of collections that were really run",
            ),
            agrees,
            text,
            _shown(table),
        ],
        [
            _run(table),
            _copies(table),
            table.left_out,
            f"The verdict is at the simultaneous{level}" if level else "",
            "The p-values bound the skewed tails of squared errors, so that they are larger than z would give for a "
            "Gaussian error"
            if table.verdict
            else "",
            *table.misses,
            *table.missing,
        ],
    )


def _run(table: Collected) -> str:
    return (
        f"Simulated with {_count('seed', _numbers(table.seeds))}, each run {table.trials} times, on "
        f"{_count('population', ', '.join(table.populations))}; workloads: "
        f"{'; '.join(map(labels.workload_label, table.workloads))}; n = {_numbers(table.sizes)}; "
        f"ε = {_numbers(table.epsilons)}"
    )


def _shown(table: Collected) -> str:
    return (
        f"Lines are exact expectations, markers means of the {table.trials} trials, bars intervals for the exact error "
        f"at the two-sided level {level_text(table.level)} each; the strips show measured over exact (intervals that "
        "leave a strip end in an arrow)"
    )


def _copies(table: Collected) -> str:
    if table.copies == 1:
        return ""
    return (
        f"At each number of users, {table.copies_text} stand together: lines and markers are their means, shades and "
        "bars reach over all of them, and in the strips every one has its dash"
    )


def _count(what: str, values: str) -> str:
    return f"{what}{'s' if ',' in values else ''} {values}"


def _numbers(values: tuple[float, ...] | list[float]) -> str:
    return ", ".join(number(value) for value in values)
