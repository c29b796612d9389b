"""Kinds of evidence: what each needs, which words follow, and that every statement of the papers has one."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from factormech.claims import evidence
from factormech.claims.evidence import DECADES, KINDS, VERDICTS, Predictions
from factormech.claims.ledger import Check, Claim, Expectation, Ledger, LedgerErrors, files_in, read
from factormech.claims.selection import Tables
from factormech.claims.verdicts import CONTRADICTED, MET, REFUSED, UNDECIDED, Folder, Outcome, judged, outcome

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "workflow/schemas/claims.schema.yaml"

# The numbered theorems, lemmas, propositions, corollaries, facts and remarks of each paper, and examples with a number
# that can be tested. Numbers that are missing are definitions, problems and algorithms.
NUMBERED = {
    "mckenna2020": "2.6 2.7 3.3 3.4 3.5 3.6 3.7 3.9 3.10 3.11 4.2 5.1 5.3 5.4 5.5 5.6 5.7 5.8",
    "edmonds2020": "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31",
    "edmonds2023": (
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 29 30 31 32 34 35 36 38 39 40 41 42 "
        "43 45 46 47 48 50 51 52 53 54 56 57 58 60 61 62 63 64 65 66 67 68"
    ),
    "liu2024": ("2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 25 31 32 33 34 35 36 39 40 41 42 43 44 45 46"),
    "nikolov2023": (
        "1.1 1.2 1.3 1.4 2.1 2.2 2.3 2.5 2.6 2.7 2.8 3.1 4.1 4.2 4.3 4.4 4.5 4.6 5.1 6.1 6.2 7.1 7.2 7.3 8.1 8.2"
    ),
}
WORDS = r"(?:Theorem|Lemma|Corollar(?:y|ie)|Proposition|Fact|Remark|Example)s?"
LIST = re.compile(WORDS + r" ((?:\d+(?:\.\d+)?)(?:(?:, | and | to |, and )\d+(?:\.\d+)?)*)")


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    return read(files_in(ROOT / "studies"), SCHEMA)


def numbers(where: str) -> set[str]:
    """The numbers of statements that a place names, ranges written out."""
    found: set[str] = set()
    for text in LIST.findall(where):
        for part in re.split(r", and |, | and ", text):
            first, _, last = part.partition(" to ")
            head, dot, tail = first.rpartition(".")
            end = int(last.rpartition(".")[2] or tail) if last else int(tail)
            found |= {f"{head}{dot}{number}" for number in range(int(tail), end + 1)}
    return found


def test_ranges_of_statements_are_written_out() -> None:
    assert numbers("Lemmas 4.3 to 4.5, §2; Theorem 1 (Lemma 7, 8 and 10)") == {"4.3", "4.4", "4.5", "1", "7", "8", "10"}


def test_every_numbered_statement_is_in_the_ledger(ledger: Ledger) -> None:
    named: dict[str, set[str]] = defaultdict(set)
    for claim in ledger.claims:
        named[claim.paper] |= numbers(claim.where)
    for paper, text in NUMBERED.items():
        assert set(text.split()) - named[paper] == set(), paper
        assert named[paper] - set(text.split()) == set(), f"{paper}: no such statement"


def test_the_tests_that_claims_name_exist(ledger: Ledger) -> None:
    files: dict[str, set[str]] = {}
    for test in {claim.test for claim in ledger.claims if claim.test}:
        path, _, name = test.partition("::")
        if path not in files:
            tree = ast.parse((ROOT / path).read_text())
            files[path] = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert name in files[path], test


def claim_of(kind: str) -> Claim:
    return Claim("liu2024-c", "liu2024", kind, "here", "so", ("s",))


@pytest.mark.parametrize("kind", KINDS)
def test_words_follow_from_the_kind(kind: str) -> None:
    check = Check("", "value", {}, Expectation(0, 1, "."))

    def verdict(*states: str) -> str:
        return judged(claim_of(kind), [Outcome(check, state, None, "") for state in states]).verdict

    words = {
        "measured": ("reproduced", "not reproduced", "open"),
        "growth": ("growth reproduced", "not reproduced", "open"),
        "bound": ("not violated", "violated", "not violated"),
        "prediction": ("as predicted", "not as predicted", "open"),
        "proved here": ("proved here", "violated", "open"),
        "erratum": ("open", "refuted", "open"),
    }
    if kind in words:
        assert tuple(verdict(state) for state in (MET, CONTRADICTED, UNDECIDED)) == words[kind]
        assert verdict(REFUSED) == "not evaluated"
    alone = {"proved here": "proved here", "erratum": "refuted", "not tested": kind, "not testable": kind}
    if kind in alone:
        assert verdict() == alone[kind]
    assert {KINDS[kind].met, KINDS[kind].contradicted, KINDS[kind].reading} <= set(VERDICTS)
    if kind not in ("measured", "growth"):
        assert not any("reproduced" in words for words in (KINDS[kind].met, KINDS[kind].contradicted))


def test_growth_needs_two_decades(ledger: Ledger) -> None:
    """The same fit is growth over a range of 100, and open over one of 99."""
    import pandas as pd

    check = Check(
        "", "exponent", {"points": 3, "per": ["n"], "x": "n", "of": {"value": "y"}}, Expectation(0.9, 1.1, ".")
    )
    for largest, state in ((100.0, MET), (99.0, UNDECIDED)):
        table = pd.DataFrame({"n": [1.0, 10.0, largest], "y": [2.0, 20.0, 2 * largest]})
        folder = Folder(ROOT)
        folder.frame = lambda _, frame=table: frame  # type: ignore[assignment,misc]
        found = outcome(check, claim_of("growth"), folder)
        assert found.state == state
        assert (found.reason == "") == (state == MET)
        assert outcome(check, claim_of("measured"), folder).state == MET
    assert DECADES == 2.0


def test_predictions_are_known_by_column_table_and_row() -> None:
    known = Predictions.from_entry(
        {"columns": ["alpha", "bound"], "tables": {"t": ["users"]}, "rows": {"shown": ["p"]}}
    )
    assert known.has({"value": "bound / alpha ** 2"}, "s")
    assert known.has({"value": 3}, "s")
    assert not known.has({"value": "error / bound"}, "s")
    assert not known.has({"value": "bound", "low": "low"}, "s")
    assert not known.has({"value": "users"}, "s")
    assert known.has({"value": "users"}, "t")
    assert known.has({"value": "users", "table": "t"}, "s")
    assert known.has({"value": "users", "where": {"shown": "p"}}, "s")
    assert not known.has({"value": "users", "where": {"shown": ["p", "q"]}}, "s")


UNIVERSES = """\
paper: liu2024
universes:
  small: {says: few, stands: {who: [a], n: 4}}
  large: {says: many, stands: {who: [a, b], n: 16}}
claims:
  liu2024-c:
    kind: measured
    where: here
    claim: it is so
    universes: [small, large]
    study: [t]
    measure: {name: leads, points: 1, per: [size], among: who, entry: a,
      of: {where: {who: $who, size: $n}, value: error}}
    expect: {at_least: 1, because: so}
"""


def test_a_claim_is_judged_in_every_universe(tmp_path: Path) -> None:
    import pandas as pd

    path = tmp_path / "liu2024.claims.yaml"
    path.write_text(UNIVERSES)
    (claim,) = read([path], SCHEMA).claims
    assert [check.reading for check in claim.checks] == ["few", "many"]
    table = pd.DataFrame({"size": [4, 16, 16], "who": ["a", "a", "b"], "error": [1.0, 2.0, 3.0]})
    folder = Folder(ROOT)
    for errors, verdict in (([1.0, 2.0, 3.0], "reproduced"), ([1.0, 3.0, 2.0], evidence.UNDER_READING)):
        with_errors = table.assign(error=errors)
        folder.frame = lambda _, frame=with_errors: frame  # type: ignore[assignment,misc]
        assert judged(claim, [outcome(check, claim, folder) for check in claim.checks]).verdict == verdict
    for old, new, words in (
        ("[small, large]", "[small, larger]", "did you mean 'large'"),
        ("{who: [a], n: 4}", "{who: [a]}", "must stand for something in the universe small"),
        ("    expect:", "    readings: [{reading: r}]\n    expect:", "no readings beside universes"),
    ):
        path.write_text(UNIVERSES.replace(old, new, 1))
        with pytest.raises(LedgerErrors, match=re.escape(words)):
            read([path], SCHEMA)


def test_a_pooled_mean_finds_what_single_intervals_hide() -> None:
    import numpy as np
    import pandas as pd

    from factormech.claims.measures import measure

    noise = np.random.default_rng(3).normal(0.0, 0.3, 900)
    settings = {"points": 900, "per": ["point"], "of": {"value": "ratio", "low": "ratio - 0.3", "high": "ratio + 0.3"}}
    for wrong, least in ((1.0, 0.0), (1.2, 0.1)):
        frame = pd.DataFrame({"point": range(900), "ratio": wrong + noise})
        found = measure(Tables(lambda _, f=frame: f, "t"), "pooled", settings)
        assert found.low >= least
        assert found.high - found.low <= 0.081
        assert (found.low > 0) == (wrong != 1.0)
