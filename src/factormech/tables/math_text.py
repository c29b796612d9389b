r"""Text with the symbols of the field as LaTeX: "γ̂₂(W, α) ≤ 10⁻⁶" becomes ``$\hat{\gamma}_{2}$($W$, …``.

Greek letters, relations, hats, raised and lowered signs, roots and single letters become mathematics. What LaTeX would
take for a command is escaped, and a sign that pdflatex cannot print is replaced by its name. No LaTeX package is
needed. (pylatexenc sets every raised sign by itself, drops combining hats and the arguments of roots.)
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import TypeAlias

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
_WORDS = re.compile(r" |\\(?:[a-z]+\{\}|.)|[A-Za-z]{2,}")


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
    return "".join(piece if is_math else _WORDS.sub(_upright, piece) for is_math, piece in _pieces(text)).rstrip()


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
