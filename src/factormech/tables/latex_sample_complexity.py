r"""A table of sample complexities as LaTeX, and what all tables share: plain ``tabular`` and ``\hline``, no package.

For every workload one ``tabular``: a row per mechanism and, last, per lower bound; a column per value of the
axis that varies. Numbers have three significant digits, the fewest users of a column are bold, and a cell
without a number has a dagger whose note below the table says why, once.
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING

from factormech import labels
from factormech.tables.panels import Panel, View, number, told, view

if TYPE_CHECKING:
    import pandas as pd

EMPTY = "---"
# Raised digits and minus; a run of them is one exponent.
_RAISED = dict(zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", strict=True))
_RAISED_RUN = re.compile(f"([{''.join(_RAISED)}]+)")
_AXES = {"epsilon": "$\\varepsilon$", "domain_size": "$n$"}
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    **{c: "\\" + c for c in "&%$#_{}"},
    # The letters and signs of this field that LaTeX does not take as they are.
    "ε": r"$\varepsilon$",
    "α": r"$\alpha$",
    "γ": r"$\gamma$",
    "δ": r"$\delta$",
    "σ": r"$\sigma$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "√": r"$\surd$",
    "∞": r"$\infty$",
    "π": r"$\pi$",
    "κ": r"$\kappa$",
    "λ": r"$\lambda$",
    "μ": r"$\mu$",
    "η": r"$\eta$",
    "ℓ": r"$\ell$",
    "‖": r"$\|$",
    "⁺": "$^{+}$",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "“": "``",
    "”": "''",
    "’": "'",
    '"': "''",  # \textquotedbl needs an encoding that a bare document does not have
}


def typeset(frame: pd.DataFrame) -> str:
    """The table of sample complexities, one ``tabular`` with its notes per workload."""
    table = view(frame)
    fixed = f"{_AXES['domain_size' if table.axis == 'epsilon' else 'epsilon']} $=$ {number(table.fixed)}"
    seeds = f", medians over {table.seeds} seeds" if table.seeds > 1 else ""
    what = f"users needed for {escape(labels.accuracy(table.metric, table.alpha))}; {fixed}{seeds}"
    solved = {str(name): _solved(part) for name, part in frame.groupby("workload", sort=False)}
    return "\n".join(_tabular(panel, table, what, solved[panel.workload]) for panel in table.panels)


def escape(text: str) -> str:
    """Text that LaTeX prints as it reads.

    A sign that plain LaTeX cannot print becomes its nearest ASCII, or its number in Unicode.
    """
    plain, raised = (_RAISED_RUN.split(text)[i::2] for i in (0, 1))
    exponents = [f"$^{{{''.join(_RAISED[sign] for sign in run)}}}$" for run in raised]
    words = ["".join(_escaped(character) for character in part) for part in plain]
    return "".join(itertools.chain(*itertools.zip_longest(words, exponents, fillvalue="")))


def significant(value: float) -> str:
    """Three significant digits, as math beyond four places: 0.0123, 1.20, 123, 1230, $1.23\\times10^{4}$."""
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.2e}".split("e")
    power = int(exponent)
    if -3 <= power < 4:
        return f"{round(value, 2 - power):.{max(2 - power, 0)}f}"
    return f"${mantissa}\\times10^{{{power}}}$"


def _tabular(panel: Panel, table: View, what: str, solved: list[str]) -> str:
    notes = _Notes()
    best = _best(panel)
    rows = []
    for curve in panel.curves:
        marks = notes.marks(panel, curve.name)
        cells = [
            _cell(value, least, marks.get(x, EMPTY))
            for value, least, x in zip(curve.middle.tolist(), best, panel.x.tolist(), strict=True)
        ]
        rows.append(row([escape(labels.mechanism_label(curve.name)), *cells]))
    bounds = [row([escape(labels.bound_label(b.name)), *(_bound(v) for v in b.middle.tolist())]) for b in panel.bounds]
    title = escape(labels.workload_label(panel.workload))
    lines = [
        f"\\begin{{tabular}}{{l{'r' * len(panel.x)}}}",
        "\\hline",
        f"\\multicolumn{{{len(panel.x) + 1}}}{{l}}{{\\textbf{{{title}}}}} \\\\",
        row([_AXES[table.axis], *(number(x) for x in panel.x)]),
        "\\hline",
        *rows,
        *(["\\hline", *bounds] if bounds else []),
        "\\hline",
        "\\end{tabular}",
        # Below the tabular, where long reasons can break into lines.
        *map(note, [capital(what) + ".", *solved, *notes.texts]),
    ]
    return "\n".join(lines) + "\n"


def _solved(frame: pd.DataFrame) -> list[str]:
    """What the solvers recorded of their strategies for a workload, a sentence for each mechanism."""
    texts = []
    for name, part in frame[frame["rows"].notna()].groupby("mechanism", sort=False):
        low, high, gap = part["rows"].min(), part["rows"].max(), part["certified_gap"]
        rows = number(low) if low == high else f"{number(low)} to {number(high)}"
        percent = significant(100 * max(gap.max(), 0.0)) if gap.notna().all() else ""
        within = f", certified within {percent} % of optimal" if percent else ""
        texts.append(escape(f"{labels.mechanism_label(str(name))}: {rows} outputs{within}."))
    return texts


class _Notes:
    """Daggers of one tabular, numbered if there are several, and what they mean."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._mark_of: dict[str, str] = {}

    def marks(self, panel: Panel, name: str) -> dict[float, str]:
        """The mark of every place of a mechanism without a number."""
        return {
            x: self._mark(f"{gap.status}: {'; '.join(told(gap.reasons))}")
            for gap in panel.gaps
            if gap.name == name
            for x in gap.where
        }

    def _mark(self, reason: str) -> str:
        if reason not in self._mark_of:
            self._mark_of[reason] = f"$\\dagger_{{{len(self._mark_of) + 1}}}$"
            self.texts.append(f"{self._mark_of[reason]} {escape(reason)}")
        return self._mark_of[reason]


def _best(panel: Panel) -> list[str | None]:
    """The fewest users at each x, as printed: what reads the same is equally bold."""
    best: list[str | None] = []
    for i in range(len(panel.x)):
        values = [float(c.middle[i]) for c in panel.curves if math.isfinite(c.middle[i])]
        best.append(significant(min(values)) if values else None)
    return best


def _cell(value: float, least: str | None, mark: str) -> str:
    if math.isnan(value):
        return mark
    text = significant(value)
    return _bold(text) if text == least else text


def capital(text: str) -> str:
    """The text with its first letter large."""
    return text[:1].upper() + text[1:]


def _bold(text: str) -> str:
    return f"$\\mathbf{{{text[1:-1]}}}$" if text.startswith("$") else f"\\textbf{{{text}}}"


def _bound(value: float) -> str:
    """A bound of 0 or less says no more than 0 does."""
    return EMPTY if math.isnan(value) else significant(max(value, 0.0))


def row(cells: Iterable[str]) -> str:
    """Cells, already LaTeX, as a line of a tabular."""
    return " & ".join(cells) + " \\\\"


def note(text: str) -> str:
    """Text, already LaTeX, as a note below a tabular."""
    return f"\\par\\noindent{{\\footnotesize {text}\\par}}"


def _escaped(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if 32 <= ord(character) < 127 or "À" <= character <= "ÿ":
        return character
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return "".join(_SPECIAL.get(c, c) for c in plain if 32 <= ord(c) < 127) or f"[U+{ord(character):04X}]"
