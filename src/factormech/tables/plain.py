"""Tables of experiments as LaTeX: one ``tabular`` a panel, its columns those of the table.

A key or text that has one value is said below the table, a key that repeats the row above is left blank, and a row
without numbers has daggers, with a note that says why, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from factormech import labels
from factormech.experiments.base import Column, Curves, Experiment, TableKind
from factormech.tables.experiments import is_empty
from factormech.tables.latex_sample_complexity import EMPTY, escape, note, row, significant
from factormech.tables.panels import told

if TYPE_CHECKING:
    import pandas as pd


def typeset(frame: pd.DataFrame, kind: Experiment | TableKind) -> str:
    """The table of a study, a ``tabular`` with its notes for every panel of its figure."""
    panels = list(kind.figure.panels) if isinstance(kind.figure, Curves) else []
    parts = [part for _, part in frame.groupby(panels, sort=False)] if panels else [frame]
    return "\n".join(_tabular(part.drop(columns=["study", "kind", "origin"]), kind) for part in parts)


def _tabular(frame: pd.DataFrame, kind: Experiment | TableKind) -> str:
    said = [c.name for c in kind.columns if c.name in kind.keys or (c.type == "text" and c.name != "reason")]
    fixed = [name for name in said if len(frame) > 1 and len(set(frame[name])) == 1]
    shown = [c for c in kind.columns if c.name not in (*fixed, "reason") and not all(map(is_empty, frame[c.name]))]
    reasons = list(told([reason for reason in frame.get("reason", []) if reason]))
    keys = [column.name for column in shown if column.name in kind.keys]
    lines, above = [], [""] * len(keys)
    for values in frame.to_dict("records"):
        cells = [_cell(column, values, keys) for column in shown]
        lines.append(row(_blanked(cells, above)))
        above = cells[: len(keys)]
    head = "; ".join(_at(kind.column(key), frame[key].iloc[0]) for key in fixed)
    notes = ([note(escape(head))] if head else []) + [note(rf"$\dagger$ {escape(reason)}") for reason in reasons]
    body = [
        f"\\begin{{tabular}}{{{''.join('l' if column.type == 'text' else 'r' for column in shown)}}}",
        "\\hline",
        row(escape(column.short) for column in shown),
        "\\hline",
        *lines,
        "\\hline",
        "\\end{tabular}",
        *notes,
    ]
    return "\n".join(body) + "\n"


def _blanked(cells: list[str], above: list[str]) -> list[str]:
    """Cells without the leading keys that the row above has said."""
    same = 0
    while same < len(above) and cells[same] == above[same]:
        same += 1
    return ["" if i < same else cell for i, cell in enumerate(cells)]


def _cell(column: Column, values: dict[str, Any], keys: list[str]) -> str:
    value = values[column.name]
    if is_empty(value):
        return r"$\dagger$" if column.empty == "reason" and values.get("reason") else EMPTY
    if column.type == "text":
        return escape(labels.value_label(column.name, value))
    if column.type == "integer" or column.name in keys:
        return escape(labels.value_label(column.name, value))
    return significant(value) if abs(value) != float("inf") else r"$\infty$" if value > 0 else r"$-\infty$"


def _at(column: Column, value: Any) -> str:
    sign = " " if column.type == "text" else " = "
    return column.short + sign + labels.value_label(column.name, value)
