"""Write the table of every paper's numbered statements: the functions, studies, claims and figures that have them.

    python tools/statements.py [--check]

The statements are those of ``docs/papers/statements.yaml``. A docstring has a statement if it names it beside the
paper, a study if its artefact or caption does, a claim if its ``where`` does. What nothing names is listed as such.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from factormech.config.yaml_file import read_yaml

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- statements: make docs -->\n", "<!-- end of statements -->\n"
KINDS = "Theorem|Lemma|Corollary|Proposition|Definition|Algorithm|Problem|Example|Remark|Fact|Table|Figure"
_PLURALS = {"Theorems": "Theorem", "Lemmas": "Lemma", "Corollaries": "Corollary", "Definitions": "Definition"}
_NUMBER = r"\d+(?:\.\d+)?"
MENTION = re.compile(
    rf"\b({KINDS}|{'|'.join(_PLURALS)}|Figures|Algorithms|Propositions)\s+({_NUMBER}(?:[a-z]\b)?"
    rf"(?:(?:,\s+|\s+and\s+|,\s+and\s+|\s+to\s+|–)(?:{_NUMBER}))*)"
)
# How docstrings cite the papers; the longer pattern of two at one place is the right one.
CITED = {
    "mckenna2020": r"McKenna|mckenna2020",
    "edmonds2020": r"Edmonds, Nikolov|Edmonds et al|edmonds2020",
    "edmonds2023": r"Edmonds(?!, Nikolov| et al)|edmonds2023",
    "liu2024": r"Liu, Upadhyay|Liu et al|liu2024",
    "nikolov2023": r"(?<!Edmonds, )Nikolov(?! &)|nikolov2023",
}
# Other work: a statement that stands beside it is not one of the papers'.
ELSEWHERE = re.compile(r"\b(?!2020|2023|2024|2025)(?:19|20)\d\d\b|Feldman|Linial|Vadhan|Hardt|Balle")


@dataclass
class Row:
    """Where one statement is found."""

    functions: set[str] = field(default_factory=set)
    studies: list[str] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)


def mentions(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The statements that a text names, each with its position: lists and ranges are told one by one."""
    for found in MENTION.finditer(text):
        kind = _PLURALS.get(found[1], found[1].removesuffix("s") if found[1] not in KINDS else found[1])
        numbers = re.findall(rf"(to\s+|–)?({_NUMBER})", found[2])
        for i, (to, number) in enumerate(numbers):
            if to and "." not in number and i:
                for between in range(int(numbers[i - 1][1]) + 1, int(number)):
                    yield f"{kind} {between}", found.span()
            yield f"{kind} {number}", found.span()


def papers_of(text: str) -> list[tuple[int, str]]:
    """The citations of a text: position and paper; other work has an empty name."""
    found = [(m.start(), paper) for paper, pattern in CITED.items() for m in re.finditer(pattern, text)]
    return sorted([*found, *((m.start(), "") for m in ELSEWHERE.finditer(text))])


def attributed(text: str, known: Mapping[str, Any], fallback: list[str]) -> Iterator[tuple[str, str]]:
    """Paper and statement for everything that a docstring names: of the citation beside it, else the module's."""
    cited = papers_of(text)
    for statement, (begin, end) in mentions(text):
        if cited:
            candidates = [_cited_beside(text, cited, begin, end)]
        else:
            candidates = [paper for paper in fallback if statement in known[paper]][:1]
        for paper in candidates:
            if paper and statement in known[paper]:
                yield paper, statement


def _cited_beside(text: str, cited: list[tuple[int, str]], begin: int, end: int) -> str:
    """The paper of "Theorem 1 of Nikolov", else the last paper before the statement, else the first one after it."""
    after = [(at, paper) for at, paper in cited if at >= end]
    before = [paper for at, paper in cited if at < begin]
    if after and re.fullmatch(r"\s+(of|in|by)\s+(\w+,\s+)*", text[end : after[0][0]]):
        return after[0][1]
    return before[-1] if before else after[0][1] if after else ""


def docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """Name and docstring of a module and of all that it defines."""
    module = ".".join(path.relative_to(ROOT / "src" / "factormech").with_suffix("").parts).removesuffix(".__init__")

    def below(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                yield f"{name}.{child.name}", ast.get_docstring(child) or ""
                yield from below(child, f"{name}.{child.name}")

    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield module, ast.get_docstring(tree) or ""
    yield from below(tree, module)


def rows(known: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, str], Row]:
    """Everything that is known of each statement, by paper and statement."""
    found: dict[tuple[str, str], Row] = defaultdict(Row)
    for path in sorted((ROOT / "src" / "factormech").rglob("*.py")):
        own: list[str] = []
        for i, (name, text) in enumerate(docstrings(path)):
            if i == 0:
                own = list(dict.fromkeys(paper for _, paper in papers_of(text) if paper))
            for key in attributed(text, known, own):
                found[key].functions.add(name)
    for name, study in read_yaml(ROOT / "config.yaml")["studies"].items():
        for key in _named(study["paper"], f"{study['artefact']}; {study.get('caption', '')}", known):
            found[key].studies.append(name)
    for file in sorted((ROOT / "studies").glob("*.claims.yaml")):
        ledger = read_yaml(file)
        for name, claim in ledger["claims"].items():
            asked = [study for study in claim.get("study", []) if not study.startswith("$")]
            for key in _named(ledger["paper"], claim["where"], known):
                found[key].claims.append(name)
                found[key].studies += [study for study in asked if study not in found[key].studies]
    return found


def _named(paper: str, text: str, known: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The statements of a paper that a text about it names."""
    return [(paper, s) for s in dict.fromkeys(s for s, _ in mentions(text)) if s in known.get(paper, {})]


def table(paper: str, known: Mapping[str, Any], found: Mapping[tuple[str, str], Row]) -> str:
    """The table of one paper, and the statements that nothing names."""
    lines = ["| statement | what it is about | function | study | claim | figure |\n", "| --- " * 6 + "|\n"]
    missing = []
    for statement, words in known[paper].items():
        row = found.get((paper, statement))
        if row is None:
            missing.append(statement)
            continue
        cells = [statement, words or "–", _several(_outermost(row.functions), "`{}`"), _several(row.studies, "`{}`")]
        claims = [name.removeprefix(f"{paper}-") for name in row.claims]
        cells += [_several(claims, "[{0}](../claims.md)"), _figures(row.studies)]
        lines.append("| " + " | ".join(cells) + " |\n")
    text = "".join(lines)
    if missing:
        text += f"\nNamed by no docstring, no study and no claim: {', '.join(missing)}.\n"
    return text


def _outermost(names: set[str]) -> list[str]:
    """The names, a module in the place of its members where it is named itself."""
    return sorted(name for name in names if not any(name.startswith(f"{other}.") for other in names))


def _several(names: list[str], form: str, most: int = 3) -> str:
    """The first names, and how many more there are."""
    if not names:
        return "–"
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(form.format(name) for name in names[:most]) + more


def _figures(studies: list[str]) -> str:
    """Links to the figures of the studies that are told, by their places among them."""
    there = [name for name in studies if (ROOT / "docs" / "gallery" / f"{name}.svg").is_file()]
    return ", ".join(f"[{i}](../gallery/{name}.svg)" for i, name in enumerate(there[:3], start=1)) or "–"


def page(text: str, made: str) -> str:
    """A paper's page with its table written again; at its end, where it has none yet."""
    head, begin, rest = text.partition(BEGIN)
    tail = rest.partition(END)[2]
    if not begin:
        head = f"{text.rstrip()}\n\n## Statements\n\nMade by `tools/statements.py`, up to three names each.\n\n"
    return head + BEGIN + made + END + tail


def main() -> None:
    """Write, or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say which page is not current")
    args = parser.parse_args()
    known = read_yaml(ROOT / "docs" / "papers" / "statements.yaml")
    found = rows(known)
    for paper in known:
        path = ROOT / "docs" / "papers" / f"{paper}.md"
        text = path.read_text(encoding="utf-8")
        wanted = page(text, table(paper, known, found))
        if not args.check:
            path.write_text(wanted, encoding="utf-8")
        elif text != wanted:
            sys.exit(f"{path.relative_to(ROOT)} is not what docstrings, config.yaml and studies/ say; run: make docs")


if __name__ == "__main__":
    main()
