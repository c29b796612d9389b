"""The ledger's file, and the verdicts: computed, and able to be otherwise."""

from __future__ import annotations

import csv
import io
import itertools
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from factormech.claims import evidence, verdicts
from factormech.claims import page as listing
from factormech.claims.evidence import KINDS
from factormech.claims.ledger import Check, Claim, Expectation, Ledger, LedgerErrors, files_in, read
from factormech.claims.measures import Measured, measure
from factormech.claims.page import page, summary
from factormech.claims.selection import NotEvaluated, Tables, names_in
from factormech.claims.verdicts import Folder, Judged, Outcome, compared, judge, judged
from factormech.config.yaml_file import read_yaml
from factormech.errors import BadValue
from factormech.pipeline import claims as job

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "workflow/schemas/claims.schema.yaml"
ONE = """\
paper: liu2024
claims:
  liu2024-small:
    kind: measured
    where: Theorem 5
    claim: the error is small
    study: [liu2024-theorem-5]
    measure:
      name: value
      points: 1
      of: {where: {factorization: optimal, p: 2.0, domain_size: 4}, value: order_p_error}
    expect: {at_most: 2, because: it is}
"""


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    return read(files_in(ROOT / "studies"), SCHEMA)


@pytest.fixture(scope="module")
def gallery() -> Folder:
    return Folder(ROOT / "docs/gallery")


@pytest.fixture(scope="module")
def everything(ledger: Ledger, gallery: Folder) -> list[Judged]:
    return judge(ledger, gallery)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "liu2024.claims.yaml"
    path.write_text(text)
    return path


def test_the_ledger_speaks_of_all_papers_and_of_studies_that_exist(ledger: Ledger) -> None:
    config = read_yaml(ROOT / "config.yaml")
    assert set(ledger.studies()) <= set(config["studies"])
    assert {claim.paper for claim in ledger.claims} == {study["paper"] for study in config["studies"].values()}
    assert sum(bool(claim.checks) for claim in ledger.claims) >= 75
    assert {claim.kind for claim in ledger.claims} == set(KINDS)


@pytest.mark.slow
def test_claims_that_need_data_have_no_verdict_on_standins(ledger: Ledger, gallery: Folder) -> None:
    """The prediction, beside the verdicts on the gallery's tables with its data sets renamed as stand-ins."""
    names = ["hepth", "medcost", "nettrace"]
    renamed = {name: f"{name}-standin" for name in names}
    standins = Folder(ROOT)
    studies = {"mckenna2020-figure-3a", "consistency"}
    for study in studies:
        assert set(gallery.frame(study)["data"]) & set(names)

    def frame(study: str) -> pd.DataFrame:
        found = gallery.frame(study)
        return found.assign(data=found["data"].replace(renamed)) if study in studies else found

    standins.frame = frame  # type: ignore[assignment]
    found = {one.claim.id for one in judge(ledger, standins) if one.verdict == verdicts.NOT_EVALUATED}
    assert found == {claim.id for claim in ledger.need_data(names)}
    assert len(found) > 3
    assert ledger.need_data([]) == []


def test_the_page_is_what_the_tables_say(everything: list[Judged]) -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import claims_page
    finally:
        sys.path.remove(str(ROOT / "tools"))
    for path, text in claims_page.files(everything, ROOT / "docs/gallery").items():
        written = path.read_text()
        assert claims_page.agree(written, text), "run: make docs"
    for wrong in ("a reproduced 1.69 b", "a open 1.688 b", "a reproduced -1.688 b", "a reproduced 1.688"):
        assert not claims_page.agree(wrong, "a reproduced 1.688 b")
    assert claims_page.agree("slope 0.47840949075 [2e-16, 1.688]", "slope 0.47840949076 [-1e-15, 1.689]")


def columns_of(settings: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """The columns that choose and tell points apart, and those that numbers are taken from."""
    chosen, numbers = set(settings.get("per", ())) | set(settings.get("within", ())) | {settings.get("among")}, set()
    operands = [settings[key] for key in ("of", "left", "right") if isinstance(settings.get(key), Mapping)]
    while operands:
        operand = operands.pop()
        chosen |= {*operand.get("where", {}), *operand.get("per", ())}
        numbers |= set().union(*(names_in(str(operand[key])) for key in ("value", "low", "high") if key in operand))
        operands += [operand["by"]] if isinstance(operand.get("by"), Mapping) else []
    return chosen, numbers - chosen


def disturbed(frame: pd.DataFrame, columns: set[str], seed: int) -> pd.DataFrame:
    """Numbers that are wrong: each by a factor of its own, all of a column by one, by noise, or in another order."""
    rng, kind = np.random.default_rng(seed), seed % 4
    new = frame.copy()
    for column in sorted(columns & set(frame.columns)):
        numbers = frame[column].astype(float).to_numpy()
        factors = np.exp(rng.normal(0.0, 3.0, 1 if kind == 1 else len(numbers)))
        if kind == 2:
            new[column] = numbers * factors + rng.exponential(1.0, len(numbers))
        else:
            new[column] = numbers[rng.permutation(len(numbers))] if kind == 3 else numbers * factors
        if rng.random() < 0.2:
            new[column] = 0.0
    return new


def states(check: Check, first: str, gallery: Folder, seeds: Iterator[int]) -> Iterator[str]:
    """How a check ends on disturbed tables."""
    _, numbers = columns_of(check.settings)
    for seed in seeds:
        try:
            found = measure(
                Tables(lambda s, k=seed: disturbed(gallery.frame(s), numbers, k), first), check.measure, check.settings
            )
        except NotEvaluated:
            continue
        yield compared(found, check.expect)


@pytest.mark.slow
def test_every_claim_that_holds_can_fail(everything: list[Judged], gallery: Folder) -> None:
    stuck = [
        f"{found.claim.id} {outcome.check.reading}"
        for found in everything
        for outcome in found.outcomes
        if outcome.state == verdicts.MET
        and all(
            state == verdicts.MET for state in states(outcome.check, found.claim.studies[0], gallery, iter(range(40)))
        )
    ]
    assert stuck == []


def test_one_number_of_a_table_turns_a_verdict(ledger: Ledger, gallery: Folder) -> None:
    claim = next(c for c in ledger.claims if c.id == "mckenna2020-factor-1-69")
    table = gallery.frame(claim.studies[0])

    def verdict(frame: pd.DataFrame) -> str:
        folder = Folder(ROOT)
        folder.frame = lambda _: frame  # type: ignore[assignment]
        return judge(Ledger((claim,)), folder)[0].verdict

    row = (table["mechanism"].isin(["hadamard", "hadamard-table1"])) & (table["data"] == "nettrace")
    assert verdict(table) == evidence.REPRODUCED
    wrong = table.assign(sample_complexity=table["sample_complexity"].where(~row, table["sample_complexity"] * 1.02))
    assert verdict(wrong) == evidence.NOT_REPRODUCED
    only = row & (table["mechanism"] == "hadamard-table1")
    other = table.assign(sample_complexity=table["sample_complexity"].where(~only, table["sample_complexity"] * 1.02))
    assert verdict(other) == evidence.UNDER_READING
    assert verdict(table[~only]) == evidence.NOT_EVALUATED
    standin = table.assign(data=table["data"].where(table["data"] == "worst-case", table["data"] + "-standin"))
    assert verdict(standin) == evidence.NOT_EVALUATED


def as_in_the_quick_run(gallery: Folder, studies: Mapping[str, Any], name: str) -> pd.DataFrame:
    """A table of the gallery on the grid of the quick run; values that only the latter has take the place of others."""
    frame, full = gallery.frame(name), studies[name]["grid"]
    for axis, quick in studies[name].get("quick", {}).get("grid", {}).items():
        if axis in frame.columns and axis in full:
            wanted = [float(value) if value == "inf" else value for value in quick]
            had = [float(value) if value == "inf" else value for value in full[axis]]
            spare = [value for value in had if value not in wanted]
            names = {v: v for v in wanted if v in had} | dict(
                zip(spare, [v for v in wanted if v not in had], strict=False)
            )
            frame = frame[frame[axis].isin(list(names))].assign(**{axis: lambda d, a=axis, n=names: d[a].map(n)})
    return frame


@pytest.mark.slow
def test_the_quick_run_judges_no_claim_on_a_grid_that_it_is_not_about(ledger: Ledger, gallery: Folder) -> None:
    studies = read_yaml(ROOT / "config.yaml")["studies"]
    quick = Folder(ROOT)
    quick.frame = lambda name: as_in_the_quick_run(gallery, studies, name)  # type: ignore[assignment]
    asked = [found for found in judge(ledger, quick) if found.outcomes]
    assert [found.claim.id for found in asked if found.verdict != evidence.NOT_EVALUATED] == []


def test_what_is_within() -> None:
    at_least, between = Expectation(1.0, None, "."), Expectation(1.0, 2.0, ".")
    for low, high, expect, state in (
        (1.0, 1.5, at_least, "met"),
        (0.9, 1.5, at_least, "open"),
        (0.1, 0.9, at_least, "contradicted"),
        (1.0, 2.0, between, "met"),
        (1.5, 2.1, between, "open"),
        (0.5, 2.5, between, "open"),
        (2.1, 3.0, between, "contradicted"),
        (float("nan"), 1.5, at_least, "open"),
    ):
        assert compared(Measured(low, low, high, 1, ""), expect) == state, (low, high)


def test_verdicts_follow_from_outcomes() -> None:
    claim = Claim("c", "liu2024", "measured", "here", "so", ("s",))

    def verdict(**states: str) -> str:
        tests = {name: Check(name.replace("printed", ""), "value", {}, Expectation(0, 1, ".")) for name in states}
        return judged(claim, [Outcome(tests[name], state, None, "") for name, state in states.items()]).verdict

    met, open_, no, refused = verdicts.MET, verdicts.UNDECIDED, verdicts.CONTRADICTED, verdicts.REFUSED
    for reading in (met, open_, no, refused):
        assert verdict(printed=met, other=reading) == evidence.REPRODUCED
    for printed, alone in ((open_, evidence.OPEN), (no, evidence.NOT_REPRODUCED)):
        assert verdict(printed=printed) == alone
        assert verdict(printed=printed, other=met) == evidence.UNDER_READING
        assert verdict(printed=printed, other=open_) == evidence.OPEN
        assert verdict(printed=printed, other=no, third=met) == evidence.UNDER_READING
        # What could not be tried might have been met.
        assert verdict(printed=printed, other=refused) == evidence.NOT_EVALUATED
    for reading in (met, no, refused):
        assert verdict(printed=refused, other=reading) == evidence.NOT_EVALUATED
    assert verdict(other=met) == evidence.UNDER_READING


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("paper: liu2024", "paper: liu", "paper = 'liu': must be mckenna2020 or"),
        ("where: Theorem 5", "where: ''", "where = ''"),
        ("    study:", "    studies:", "did you mean 'study'"),
        ("name: value", "name: values", "did you mean 'value'"),
        ("points: 1", "points: 0", "a whole number of at least 1"),
        ("points: 1", "points: 1\n      slack: 1.0e-3", "must be a setting of value"),
        ("name: value", "name: ratio", "left = (missing): must be given for ratio"),
        ("value: order_p_error}", "value: order_p_error +}", "measure.value = 'order_p_error +'"),
        ("value: order_p_error}", "table: other, value: order_p_error}", "must be among the claim's studies"),
        ("study: [liu2024-theorem-5]", "study: [liu2024-theorem-5, b]", "must be a study that a measure reads"),
        ("    expect: {at_most: 2, because: it is}\n", "", "expect = (missing)"),
        ("at_most: 2, because: it is", "at_most: 2", "because = (missing)"),
        ("at_most: 2, because", "near: 2, because", "must be a mapping with because and either"),
        ("    expect:", "    why: never\n    expect:", "must be left out for a claim that is measured"),
        ("kind: measured", "kind: proved here", "test = (missing): must be there"),
        ("kind: measured", "kind: not tested", "must be left out for a claim that is not tested"),
        ("kind: measured", "kind: growth", "must be measured by one of exponent, slope"),
        ("kind: measured", "kind: prediction", "must compare nothing but predictions"),
        (
            "claims:\n",
            "predictions: {columns: [order_p_error]}\nclaims:\n",
            "must not be judged by the project's own predictions alone",
        ),
        ("name: value", "name: exponent", "say why fewer than two decades are enough"),
        ("order_p_error}", "$order_p_error}", "must stand only in a claim that has universes"),
        ("  liu2024-small:", "  Small:", "lower-case letters"),
        ("  liu2024-small:", "  small:", "must begin with 'liu2024-'"),
        ("paper: liu2024", "paper: nikolov2023", "the one that the file liu2024.claims.yaml is named after"),
        ("    where:", "    where: x\n    where:", "the key 'where' is in line 5 already"),
        (
            "domain_size: 4}, value: order_p_error}",
            "domain_size: 4}, by: {where: {}}, value: order_p_error}",
            "that has a value",
        ),
    ],
)
def test_a_bad_ledger_is_answered_in_lines(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in ONE
    with pytest.raises((LedgerErrors, BadValue)) as error:
        read([written(tmp_path, ONE.replace(old, new, 1))], SCHEMA)
    assert words in str(error.value)


def test_readings_inherit_what_they_do_not_say(tmp_path: Path) -> None:
    more = ONE + "    readings:\n    - reading: larger\n      expect: {near: 3, within: 0.5, because: so}\n"
    (claim,) = read([written(tmp_path, more)], SCHEMA).claims
    printed, reading = claim.checks
    assert reading == replace(printed, reading="larger", expect=Expectation(2.5, 3.5, "so"))
    entry = "{kind: measured, where: x, claim: y, study: [a], readings: [{reading: r}]}"
    bare = f"paper: liu2024\nclaims:\n  liu2024-c: {entry}\n"
    path = written(tmp_path, bare)
    with pytest.raises(LedgerErrors, match=r"readings\[0\].measure = \(missing\)"):
        read([path], SCHEMA)


def test_the_job_writes_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    untested = (
        "  liu2024-opinion:\n    kind: not testable\n    where: §1\n    claim: it is natural\n    why: an opinion\n"
    )
    files = {"--ledger": written(tmp_path, ONE + untested), "--schema": SCHEMA, "--tables": ROOT / "docs/gallery"}
    files |= {"--csv": tmp_path / "claims.csv", "--page": tmp_path / "claims.md"}
    monkeypatch.setattr(sys, "argv", ["claims", *map(str, itertools.chain(*files.items()))])
    job.main()
    assert "reproduced                         1\n" in capsys.readouterr().out
    small, opinion = csv.DictReader(io.StringIO((tmp_path / "claims.csv").read_text()))
    assert (small["verdict"], small["outcome"], small["most"], small["least"]) == ("reproduced", "met", "2.0", "")
    assert float(small["value"]) == pytest.approx(1.3109, abs=1e-4)
    assert (opinion["verdict"], opinion["reason"], opinion["value"]) == ("not testable", "an opinion", "")
    text = (tmp_path / "claims.md").read_text()
    assert "| paper | reproduced | not testable | all |" in text
    assert "| liu2024 | 1 | 1 | 2 |" in text
    assert "| measured | ✓ 1.311 | at most 2 (it is) | **reproduced** |" in text
    assert "*an opinion*" in text
    assert "1 are **reproduced**: 1 as printed" in text


def test_the_summary_and_the_list_count_the_same(everything: list[Judged]) -> None:
    rows = list(csv.DictReader(io.StringIO(listing.text(everything))))
    assert set(rows[0]) == set(listing.COLUMNS)
    counted = {row["claim"]: row["verdict"] for row in rows}
    assert len(counted) == len(everything)
    width = max(map(len, evidence.VERDICTS))
    for verdict in evidence.VERDICTS:
        assert f"{verdict:{width}}  {list(counted.values()).count(verdict)}\n" in summary(everything)
    text = page(everything)
    assert all(f"`{name}`" in text for name in counted)
