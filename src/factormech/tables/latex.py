r"""The table of a study as LaTeX that a paper inputs: floats with booktabs rules and siunitx columns, notes below.

**Text with the symbols of the field.** "γ̂₂(W, α) ≤ 10⁻⁶" becomes ``$\\hat{\\gamma}_{2}$($W$, …``. Greek letters,
relations, hats, raised and lowered signs, roots and single letters become mathematics. What LaTeX would take for a
command is escaped, and a sign that pdflatex cannot print is replaced by its name. No LaTeX package is needed.
(pylatexenc sets every raised sign by itself, drops combining hats and the arguments of roots.)

**The table.** A document needs ``\usepackage{booktabs,siunitx}`` and nothing else. Floats fit a column of
:data:`LINE` points, or of the given width: columns that are wider together are stacked in several tabulars, all with
the labels of their rows.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from factormech import labels
from factormech.studies.base import Column
from factormech.studies.drawn import PaperTable
from factormech.tables.cells import Cell
from factormech.tables.panels import check_one_study
from factormech.tables.pivot import TableFloat, grids, named, value_label

if TYPE_CHECKING:
    import pandas as pd


# Text with the symbols of the field.

# Whether a piece is set in mathematics, and the piece in LaTeX.
Piece: TypeAlias = tuple[bool, str]


def _greek(letter: str) -> str:
    _, size, _, name = unicodedata.name(letter).replace("LAMDA", "LAMBDA").split()
    return rf"\{name.capitalize() if size == 'CAPITAL' else name.lower()} "


_MATH = {letter: _greek(letter) for letter in "αβγδζηθικλμνξπρστυχψωΓΔΘΛΞΠΣΥΦΨΩ"} | {
    "ε": r"\varepsilon ",
    "φ": r"\varphi ",
    "‖": r"\|",
    "∞": r"\infty ",
    "ℓ": r"\ell ",
    "≤": r"\leq ",
    "≥": r"\geq ",
    "≠": r"\neq ",
    "≈": r"\approx ",
    "∈": r"\in ",
    "⊗": r"\otimes ",
    "∑": r"\sum ",
    "→": r"\to ",
    "⟨": r"\langle ",
    "⟩": r"\rangle ",
    "±": r"\pm ",
    "−": "-",
    "·": r"\cdot ",
    "×": r"\times ",
    "÷": r"\div ",
    "√": r"\surd ",
    "½": "1/2",
    "<": "<",
    ">": ">",
    "|": "|",
}
_RAISED = dict(zip("⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹ᵖᵀ", [*"-+0123456789p", r"\top "], strict=True))
_LOWERED = dict(zip("₋₊₀₁₂₃₄₅₆₇₈₉₍₎ₐₑᵢⱼₖₘₙₚ", "-+0123456789()aeijkmnp", strict=True))
_TEXT = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{c: "\\" + c for c in "&%$#_{}"},
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "“": "``",
    "”": "''",
    "’": "'",
    '"': "''",  # \textquotedbl needs an encoding that a bare document does not have
}
_GROUP = r"(?:[^()]|\([^()]*\))*"
_TOKEN = re.compile(
    "|".join(
        (
            rf"√\((?P<root>{_GROUP})\)",
            r"√(?P<root_of_one>\w)",
            "(?P<hat>[A-Za-zα-ωΑ-Ω])\N{COMBINING CIRCUMFLEX ACCENT}",
            f"(?P<raised>[{re.escape(''.join(_RAISED))}]+)",
            f"(?P<lowered>[{re.escape(''.join(_LOWERED))}]+)",
            rf"(?<=[\w)‖])\^(?P<power>\({_GROUP}\)|\{{[^{{}}]*\}}|½|\w+)",
            r"(?<![A-Za-z0-9][A-Za-z0-9])(?<=[A-Za-z‖²α-ωΑ-Ω])_(?P<index>∞|\*|\(\w+\)|[A-Za-z0-9]+)",
            r"(?<=[γΓ])(?P<frobenius>F)",
            r"(?<=[ℓ‖])(?P<largest>∞)",
            # A single letter is a variable; not a word, a unit after a number, an initial or a possessive.
            r"(?<![A-Za-z0-9À-ÿ'’_\\])(?<!\d )(?P<letter>[B-HJ-Zb-z]'?|a(?=[),])|^a$)"
            r"(?![A-Za-z0-9À-ÿ'’\\]|_\w\w+_|\. ?[A-Z])",
            f"(?P<sign>[{re.escape(''.join(_MATH))}])",
        )
    )
)
# Of text inside a formula: blanks, commands, and words.
_UPRIGHT = re.compile(r" |\\(?:[a-z]+\{\}|.)|[A-Za-z]{2,}")


def latex_text(text: str) -> str:
    """Return text, on one line, as LaTeX that prints what it reads."""
    found: list[Piece] = []
    for is_math, piece in _pieces(" ".join(text.split())):
        if found and found[-1][0] == is_math:
            # Two powers of one sign are an error of LaTeX: the second gets an empty base.
            apart = "{}" if piece[:1] in "^_" and re.search(rf"\{piece[0]}{{[^{{}}]*}}$", found[-1][1]) else ""
            found[-1] = (is_math, found[-1][1] + apart + piece)
        else:
            found.append((is_math, piece))
    return "".join(f"${piece.rstrip()}$" if is_math else piece for is_math, piece in found)


def _pieces(text: str) -> Iterator[Piece]:
    end = 0
    for token in _TOKEN.finditer(text):
        yield from _plain(text[end : token.start()])
        yield True, _token(str(token.lastgroup), str(token[str(token.lastgroup)]))
        end = token.end()
    yield from _plain(text[end:])


def _plain(text: str) -> Iterator[Piece]:
    if text:
        yield False, "".join(map(_escaped, text))


def _token(what: str, text: str) -> str:
    if what in ("root", "root_of_one"):
        return rf"\sqrt{{{_math(text)}}}"
    if what == "hat":
        return rf"\hat{{{_MATH.get(text, text).rstrip()}}}"
    if what == "raised":
        return f"^{{{''.join(_RAISED[sign] for sign in text).rstrip()}}}"
    if what == "lowered":
        return f"_{{{''.join(_LOWERED[sign] for sign in text)}}}"
    if what == "power":
        return f"^{{{_math(text[1:-1] if text[0] in '({' else text)}}}"
    if what == "index":
        return f"_{{{_math(text)}}}"
    return {"frobenius": "_F", "largest": r"_{\infty}", "letter": text}.get(what) or _MATH[text]


def _math(text: str) -> str:
    """Text inside a formula: words upright."""
    return "".join(piece if is_math else _UPRIGHT.sub(_upright, piece) for is_math, piece in _pieces(text)).rstrip()


def _upright(word: re.Match[str]) -> str:
    if word[0] == " ":
        return r"\ "
    return rf"\mbox{{{word[0]}}}" if word[0][0] == "\\" else rf"\mathrm{{{word[0]}}}"


def _escaped(character: str) -> str:
    if character in _TEXT:
        return _TEXT[character]
    if 32 <= ord(character) < 127 or ("À" <= character <= "ÿ" and character not in "ÐðÞþ"):
        return character
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    kept = "".join(_TEXT.get(c, c) for c in plain if 32 <= ord(c) < 127)
    return kept or f"({unicodedata.name(character, 'unnamed sign').lower()})"


# The table.

# The width of a column of LaTeX's article, in points, and the lines that a page of it holds below a caption and above
# notes, of which the head of each tabular takes some.
LINE = 345.0
LINES, HEAD = 47, 4
EMPTY = "{---}"
# Widths in points at \footnotesize: a digit, a letter on average, a power of ten without its digits, between columns.
DIGIT, LETTER, POWER, GAP = 4.3, 4.4, 19.0, 7.0
# A head breaks into lines at blanks, but not in a root, in short brackets or around an equals sign.
_WORDS = re.compile(r"(?:√\((?:[^()]|\([^()]*\))*\)|\([^()]{1,9}\)| = |\S)+")
_NUMBER = re.compile(r"(?P<whole>-?\d+)(\.(?P<places>\d+))?(e(?P<power>-?\d+))?")
_SETUP = r"\sisetup{detect-weight=true, tight-spacing=true, group-digits=integer, table-align-text-post=false}"


def typeset(
    frame: pd.DataFrame,
    papers: Iterable[PaperTable],
    columns: Mapping[str, Column],
    *,
    width: float = LINE,
    star: str = "",
) -> str:
    """Return the tables that a paper prints of a study, as floats, one after the other.

    Parameters
    ----------
    frame
        The table of one study.
    papers
        What its tables show.
    columns
        The columns that these name.
    width
        The width of a float in points.
    star
        ``*`` for floats across both columns of a page.
    """
    check_one_study(frame)
    study = str(frame["study"].iloc[0])
    fitting = [(paper, grid) for paper in papers for grid in _fitting(frame, paper, columns, width)]
    # A later table without a number, as of a column that older tables lack, is left out.
    found = [(paper, grid) for i, (paper, grid) in enumerate(fitting) if grid.heads or not i]
    floats = [
        _float(grid, _caption(grid, paper, columns), f"tab:{study}" + f"-{i}" * (i > 1), bool(paper.best), width, star)
        for i, (paper, grid) in enumerate(found, start=1)
    ]
    return "\n".join([f"% The table of {study}. It needs \\usepackage{{booktabs,siunitx}}.", *floats])


def _fitting(frame: pd.DataFrame, paper: PaperTable, columns: Mapping[str, Column], width: float) -> list[TableFloat]:
    """The floats, with fewer rows where columns are stacked."""
    found = grids(frame, paper, columns, LINES - HEAD)
    stacks = max((len(_stacks(grid, width)) for grid in found), default=1)
    return found if stacks == 1 else grids(frame, paper, columns, LINES // stacks - HEAD)


def _caption(grid: TableFloat, paper: PaperTable, columns: Mapping[str, Column]) -> str:
    shown = _listed(dict.fromkeys(one.label or columns[one.column].label for one in paper.shown))
    by = _listed([*(column.label for column in grid.keys), *(columns[name].label for name in paper.columns)])
    text = paper.text or (f"{shown}, by {by}" if by else shown)
    return " ".join(f"{labels.capital(part)}." for part in (text, "; ".join(grid.fixed)) if part)


def _listed(words: Iterable[str]) -> str:
    *first, last = [*words] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _float(grid: TableFloat, caption: str, label: str, best: bool, width: float, star: str) -> str:
    tabulars = [_tabular(grid, stack) for stack in _stacks(grid, width)] if grid.heads else []
    notes = "\n".join(f"\\par {note}" for note in _notes(grid, best))
    return "\n".join(
        [
            f"\\begin{{table{star}}}[tbp]",
            "\\centering\\footnotesize\\setlength{\\tabcolsep}{3.5pt}",
            _SETUP,
            f"\\caption{{{latex_text(caption)}}}\\label{{{label}}}\\smallskip",
            "\n\\par\\medskip\n".join(tabulars),
            *([f"\\par\\smallskip\\raggedright\n{notes}"] if notes else []),
            f"\\end{{table{star}}}",
            "",
        ]
    )


def _notes(grid: TableFloat, best: bool) -> list[str]:
    marks = _marks(grid)
    cells = [cell for column in grid.cells for cell in column]
    said = [
        *(f"{mark} {latex_text(reason)}." for reason, mark in marks.items()),
        "---: no number." if any(not cell.text and not cell.reason for cell in cells) else "",
        "Bold: the best of the row." if best and any(cell.best for cell in cells) else "",
        *(f"{latex_text(labels.capital(note))}." for note in grid.notes),
    ]
    return [text for text in said if text]


def _marks(grid: TableFloat) -> dict[str, str]:
    """The dagger of every reason."""
    reasons = dict.fromkeys(cell.reason for column in grid.cells for cell in column if cell.reason)
    return {reason: f"$\\dagger_{{{i}}}$" if len(reasons) > 1 else "$\\dagger$" for i, reason in enumerate(reasons, 1)}


def _stacks(grid: TableFloat, width: float) -> list[list[int]]:
    """The columns of each tabular: as few tabulars as fit, of about equal widths."""
    widths = [_width(head, cells) + GAP for head, cells in zip(grid.heads, grid.cells, strict=True)]
    room = width - _label_width(grid)
    found = _filled(widths, room)
    while len(found) > 1 and len(_filled(widths, room - 5)) == len(found):
        room -= 5
    return _filled(widths, room)


def _filled(widths: Sequence[float], room: float) -> list[list[int]]:
    found: list[list[int]] = [[]]
    for i, width in enumerate(widths):
        if found[-1] and sum(widths[j] for j in found[-1]) + width > room:
            found.append([])
        found[-1].append(i)
    return found


def _width(head: str, cells: Sequence[Cell]) -> float:
    """The width of a column: of its numbers, or of the longest word of its head."""
    return max(_numbers_width(cells), *(LETTER * len(word) for word in _WORDS.findall(head)))


def _numbers_width(cells: Sequence[Cell]) -> float:
    whole, places, power = _format(cells)
    brackets = max((len(", ".join(cell.text)) + 2 for cell in cells if len(cell.text) > 1), default=0)
    exponent = POWER + DIGIT * power if power else 0.0
    return max(DIGIT * (whole + places + (whole - 1) // 3 / 3 + 0.6) + exponent, DIGIT * brackets)


def _label_width(grid: TableFloat) -> float:
    texts = [value_label(grid.keys[-1].name, place[-1]) for place in grid.places]
    return LETTER * max(map(len, [*texts, grid.keys[-1].short]))


def _format(cells: Sequence[Cell]) -> tuple[int, int, int]:
    """Return how many signs numbers have before and after the point, and in the power of ten."""
    found = [_NUMBER.fullmatch(cell.text[0]) for cell in cells if len(cell.text) == 1]
    numbers = [match for match in found if match]
    parts = ("whole", "places", "power")
    whole, places, power = (max((len(match[part] or "") for match in numbers), default=0) for part in parts)
    return whole, places, power


def _tabular(grid: TableFloat, stack: Sequence[int]) -> str:
    """Some columns of a grid, with the labels of the rows."""
    import pandas as pd

    marks, key = _marks(grid), grid.keys[-1]
    rows = [latex_text(value_label(key.name, place[-1])) for place in grid.places]
    texts = [[_cell(cell, marks) for cell in grid.cells[i]] for i in stack]
    frame = pd.DataFrame(dict(enumerate([rows, *texts])))
    bold = [[False] * len(frame)] + [[cell.best for cell in grid.cells[i]] for i in stack]
    commands = pd.DataFrame(dict(enumerate([["bfseries:;" if best else "" for best in column] for column in bold])))
    heads = [latex_text(labels.capital(key.label) if key.type == "text" else key.short)]
    heads += [_head(grid.heads[i], _width(grid.heads[i], grid.cells[i])) for i in stack]
    specs = ["l" if key.type == "text" else "r"] + [_spec(grid.cells[i]) for i in stack]
    styler = (
        frame.style.apply(lambda _: commands, axis=None)
        .hide(axis="index")
        .format_index(heads.__getitem__, axis="columns")
    )
    text = styler.to_latex(column_format=f"@{{}}{''.join(specs)}@{{}}", hrules=True, siunitx=True)
    return _with_blocks(text, grid, len(specs)).rstrip()


def _with_blocks(text: str, grid: TableFloat, width: int) -> str:
    """A tabular with a line above every block of rows that share all keys but the innermost."""
    lines = text.splitlines()
    start = lines.index("\\midrule") + 1
    body: list[str] = []
    blocks = itertools.groupby(range(len(grid.places)), key=lambda i: grid.places[i][:-1])
    for values, rows in blocks:
        title = ", ".join(
            named(column, value) for column, value in zip(grid.keys[:-1], values, strict=True) if value != ""
        )
        body += ["\\addlinespace"] if title and body else []
        body += [f"\\multicolumn{{{width}}}{{@{{}}l}}{{\\itshape {latex_text(title)}}} \\\\"] if title else []
        body += [lines[start + i] for i in rows]
    return "\n".join([*lines[:start], *body, *lines[start + len(grid.places) :]])


def _cell(cell: Cell, marks: Mapping[str, str]) -> str:
    if not cell.text:
        return f"{{{marks[cell.reason]}}}" if cell.reason else EMPTY
    if len(cell.text) == 1:
        return cell.text[0] if _NUMBER.fullmatch(cell.text[0]) else f"{{{latex_text(cell.text[0])}}}"
    ends = ", ".join(rf"\num{{{end}}}" for end in cell.text)
    return f"{{[{ends}]}}"


def _spec(cells: Sequence[Cell]) -> str:
    whole, places, power = _format(cells)
    if not whole:
        return "c"
    sign = "-" * any("e-" in cell.text[0] for cell in cells if cell.text)
    return f"S[table-format={whole}.{places}{f'e{sign}{power - len(sign)}' if power else ''}]"


def _head(head: str, width: float) -> str:
    """A head broken into lines that are no wider than its column."""
    lines: list[str] = []
    for word in _WORDS.findall(labels.capital(head)):
        if lines and LETTER * len(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    body = r" \\ ".join(map(latex_text, lines))
    return f"\\begin{{tabular}}[b]{{@{{}}c@{{}}}}{body}\\end{{tabular}}"
