"""Kinds of evidence: what a claim of each kind must bring, and the words of its verdict.

A verdict is worth no more than the evidence behind it. A bound that no measurement violates is not *reproduced*; a
ratio of two formulas of this project says nothing about the paper; an exponent fitted over half a decade is no growth.
So every claim names its kind, this module says what the kind needs, and the words of the verdict follow from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from factormech.claims.selection import names_in
from factormech.config.schema import Missing
from factormech.errors import BadValue

REPRODUCED, GROWTH = "reproduced", "growth reproduced"
UNDER_READING = "reproduced under a stated reading"
NOT_REPRODUCED, OPEN = "not reproduced", "open"
REFUTED, PROVED = "refuted", "proved here"
NOT_VIOLATED, VIOLATED = "not violated", "violated"
PREDICTED, NOT_PREDICTED = "as predicted", "not as predicted"
NOT_TESTED, NOT_TESTABLE, NOT_EVALUATED = "not tested", "not testable", "not evaluated"
VERDICTS = (
    REPRODUCED,
    GROWTH,
    UNDER_READING,
    NOT_REPRODUCED,
    REFUTED,
    OPEN,
    PROVED,
    NOT_VIOLATED,
    VIOLATED,
    PREDICTED,
    NOT_PREDICTED,
    NOT_TESTED,
    NOT_TESTABLE,
    NOT_EVALUATED,
)

# Growth is a statement about sizes that differ by a factor of a hundred, at the least.
DECADES = 2.0
_SLOPES = ("exponent", "slope")
_ONE_SIDED = ("holds", "value", "ratio", "deviation", "exponent", "slope", "steps")
_OPERANDS = ("of", "left", "right")


@dataclass(frozen=True)
class Kind:
    """What a kind of evidence means, and how a claim of it may end.

    ``met`` is the verdict of a measurement within the expectation, ``reading`` that where only a reading is,
    ``contradicted`` that of one outside. ``needs`` are keys of the entry that must be there, ``refuses`` those that
    must not; ``measures`` are the measures that it may use.
    """

    meaning: str
    met: str
    contradicted: str
    reading: str = UNDER_READING
    needs: tuple[str, ...] = ()
    refuses: tuple[str, ...] = ()
    measures: tuple[str, ...] | None = None


_TESTED = ("measure", "readings", "expect", "study", "test", "range")
KINDS: dict[str, Kind] = {
    "measured": Kind(
        "a number or an order that the paper states, compared with what this project computes or simulates",
        REPRODUCED,
        NOT_REPRODUCED,
        refuses=("why", "test"),
    ),
    "growth": Kind(
        "a fitted exponent, over at least two decades, whose interval is within what the paper states",
        GROWTH,
        NOT_REPRODUCED,
        refuses=("why", "test", "range"),
        measures=_SLOPES,
    ),
    "bound": Kind(
        "a sanity check: a proved bound that no measurement may pass, or an inequality that no table may break",
        NOT_VIOLATED,
        VIOLATED,
        reading=NOT_VIOLATED,
        refuses=("why", "test", "range"),
        measures=_ONE_SIDED,
    ),
    "prediction": Kind(
        "this project's own formulas compared with each other: consistent, and no evidence from a run",
        PREDICTED,
        NOT_PREDICTED,
        reading=PREDICTED,
        refuses=("why", "test", "range"),
    ),
    "proved here": Kind(
        "a statement with a proof in this project, and a test that would catch a wrong one",
        PROVED,
        VIOLATED,
        reading=PROVED,
        needs=("test",),
        refuses=("why", "range"),
    ),
    "erratum": Kind(
        "the print is false: a counter-example that holds for every algorithm, run by a test",
        OPEN,
        REFUTED,
        reading=REFUTED,
        needs=("test",),
        refuses=("why", "range"),
    ),
    "not tested": Kind(
        "nothing here tests it yet, for the reason given", NOT_TESTED, NOT_TESTED, needs=("why",), refuses=_TESTED
    ),
    "not testable": Kind(
        "no run could decide it, for the reason given", NOT_TESTABLE, NOT_TESTABLE, needs=("why",), refuses=_TESTED
    ),
}


@dataclass(frozen=True)
class Predictions:
    """Numbers of tables that nobody measured: settings, and this project's own formulas.

    ``columns`` are such columns of every table, ``tables`` those of single ones, and ``rows`` marks rows that have no
    others.
    """

    columns: frozenset[str] = frozenset()
    tables: tuple[tuple[str, frozenset[str]], ...] = ()
    rows: tuple[tuple[str, frozenset[str]], ...] = ()

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> Predictions:
        """Read the key ``predictions`` of a file of claims."""

        def sets(key: str) -> tuple[tuple[str, frozenset[str]], ...]:
            return tuple((name, frozenset(values)) for name, values in entry.get(key, {}).items())

        return cls(frozenset(entry.get("columns", ())), sets("tables"), sets("rows"))

    def has(self, operand: Mapping[str, Any], first: str) -> bool:
        """Return whether an operand takes no number that was measured, simulated or certified."""
        where, table = operand.get("where", {}), operand.get("table", first)
        if any(where.get(column) in values for column, values in self.rows if isinstance(where.get(column), str)):
            return True
        own = self.columns.union(*(columns for name, columns in self.tables if name == table))
        try:
            names = [names_in(str(operand[key])) for key in ("value", "low", "high") if key in operand]
        except BadValue:  # told of elsewhere
            return False
        return set().union(*names) <= own


def problems(place: str, entry: Mapping[str, Any], predictions: Predictions) -> Iterator[BadValue]:
    """Everything in which an entry is not of the kind that it names."""
    name = entry["kind"]
    kind = KINDS[name]
    for key in kind.needs:
        if key not in entry:
            yield BadValue(f"{place}.{key}", Missing(), f"be there for a claim that is {name}", f"add {key}")
    for key in kind.refuses:
        if key in entry:
            yield BadValue(f"{place}.{key}", entry[key], f"be left out for a claim that is {name}", "remove it")
    said = [entry["measure"]] if "measure" in entry else []
    said += [reading["measure"] for reading in entry.get("readings", ()) if "measure" in reading]
    if not said and not kind.needs:
        yield BadValue(
            f"{place}.measure", Missing(), f"be there for a claim that is {name}", "add a measure or readings"
        )
    for measure in said:
        yield from _of_measure(place, entry, measure, predictions)


def _of_measure(
    place: str, entry: Mapping[str, Any], measure: Mapping[str, Any], predictions: Predictions
) -> Iterator[BadValue]:
    name, kind = entry["kind"], KINDS[entry["kind"]]
    if kind.measures is not None and measure["name"] not in kind.measures:
        rule = f"be measured by one of {', '.join(kind.measures)}, as it is of the kind {name}"
        yield BadValue(f"{place}.measure.name", measure["name"], rule, "choose another measure or kind")
    if name == "measured" and measure["name"] in _SLOPES and "range" not in entry:
        rule = "say why fewer than two decades are enough, where a claim with a slope is not of the kind growth"
        yield BadValue(f"{place}.range", Missing(), rule, "add range, or make it kind: growth")
    taken = [operand for key in _OPERANDS if isinstance(operand := measure.get(key), Mapping)]
    taken += [operand["by"] for operand in taken if isinstance(operand.get("by"), Mapping)]
    first = next(iter(entry.get("study", ())), "")
    alone = bool(taken) and all(predictions.has(operand, first) for operand in taken)
    if alone and name in ("measured", "growth", "bound"):
        rule = "not be judged by the project's own predictions alone"
        yield BadValue(f"{place}.kind", name, rule, "compare with a measured or certified column, or: kind: prediction")
    if name == "prediction" and not alone:
        yield BadValue(f"{place}.kind", name, "compare nothing but predictions", "name the kind that it is")
