r"""The caption of a figure as LaTeX in which every number of the table is a macro.

Numbers that a caption cites ("Theorem 3.4", "PVLDB 13(11), 2020") and those that the author of a study typed stay as
they are, unless a setting of the table stands there: "ε = 1".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from factormech.manuscript.numbers import Number, exact
from factormech.tables.latex import latex_text

# A number on its own: not a part of a name ("3-way"), of a formula ("2w(K)", "1/p") or of a list of indices.
_NUMBER = re.compile(
    r"(?<![\w.,(/^√·−±-])(?<!≤ )(?:10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?![\w(/√^]|[-–]\w|\.\d| 1/)"
)
# What a number after it cites.
_CITED = re.compile(
    r"(?:Theorems?|Figures?|Sections?|Chapters?|Lemmas?|Corollar(?:y|ies)|Definitions?|Algorithms?|Propositions?"
    r"|Remarks?|Tables?|Theorem \d+(?:\.\d+)? and|PVLDB|STOC|COLT|SODA|ICLR|§|[A-Z]\w+ \d+(?:\.\d+)? and)\s?$"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_MARK = "FMNUMBER"


def with_macros(caption: str, typed: Iterable[str], found: Sequence[Number], prefix: str) -> tuple[str, list[Number]]:
    """Return a caption as LaTeX, and the numbers that it alone has.

    Parameters
    ----------
    caption
        The caption as text.
    typed
        The pieces of it that the author of the study typed.
    found
        The numbers of the table.
    prefix
        How the names of macros begin, after ``fm``.
    """
    spans = [span for text in typed for span in _places(caption, text)]
    names: list[str] = []
    own: list[Number] = []
    pieces, end = [], 0
    for token in _NUMBER.finditer(caption):
        before = caption[: token.start()]
        if _CITED.search(before) or (_YEAR.fullmatch(token[0]) and before.endswith((", ", "("))):
            continue
        value = _value(token[0])
        is_typed = any(start <= token.start() < stop for start, stop in spans)
        one = _in_context(before, value, found)
        if one is None and is_typed:
            continue
        if one is None:
            one = Number(f"Caption{chr(ord('A') + len(own))}", value, exact(value), "a number of the caption")
            own.append(one)
        pieces += [caption[end : token.start()], f"{_MARK}{_letters(len(names))}"]
        names.append(one.name)
        end = token.end()
    text = latex_text("".join([*pieces, caption[end:]]))
    for i, name in reversed([*enumerate(names)]):
        text = text.replace(f"{_MARK}{_letters(i)}", f"\\fm{prefix}{name}{{}}")
    return text, own


def _places(caption: str, text: str) -> list[tuple[int, int]]:
    """Where a text stands in a caption, sentence by sentence."""
    sentences = [part.strip() for part in re.split(r"(?<=[.!?])\s", " ".join(text.split())) if part.strip()]
    starts = [(caption.find(part[1:].rstrip(".")), len(part)) for part in sentences]
    return [(start, start + length) for start, length in starts if start >= 0]


def _in_context(before: str, value: float, found: Iterable[Number]) -> Number | None:
    """The setting whose symbol or label a number follows: "ε = 1", "domain size n from 8 to 64"."""
    for one in found:
        if one.symbol and math.isclose(one.value, value, rel_tol=1e-5) and re.search(_follows(one), before):
            return one
    return None


def _follows(one: Number) -> str:
    """What stands before a setting in a caption."""
    label = re.escape(one.meaning.removesuffix(", minimum").removesuffix(", maximum"))
    if one.name.endswith("Min"):
        return rf"{label} from $"
    if one.name.endswith("Max"):
        return rf"{label} from \S+ to $"
    target = "|error $" if one.symbol == "α" else ""
    return rf"(?:^|[\s(]){re.escape(one.symbol)} = $|{label} = ${target}"


def _value(text: str) -> float:
    if re.fullmatch("10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", text):
        return float(10.0 ** int(text[2:].translate(_RAISED)))
    return float(text)


def _letters(i: int) -> str:
    """A word of letters for a whole number, of four letters, so that no word begins another."""
    return "".join(chr(ord("a") + i // 26**k % 26) for k in (3, 2, 1, 0))
