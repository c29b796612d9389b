"""Forged certificates: each a change to an honest one, or a text in its place, and none of them may hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

Record = dict[str, Any]
NUMBERS = ("epsilon", "ratio", "objective_bound", "average_variance_bound")
DENOMINATORS = ("gram_denominator", "dual_denominator", "multiplier_denominator")
LISTS = ("multiplier", "gram", "dual")
# In the place of any value: of other types, or out of bounds.
ODD: dict[str, Any] = {
    "null": None,
    "true": True,
    "text": "abc",
    "float": 1.5,
    "nan": float("nan"),
    "infinity": float("inf"),
    "list": [],
    "object": {},
    "huge": 10**700,
}
NO_NUMBERS = {
    "empty": "",
    "over zero": "1/0",
    "zero over zero": "0/000",
    "exponent": "1e999999999",
    "decimal": "1.5",
    "underscores": "1_0",
    "two slashes": "1/2/3",
    "spaces": " 1",
    "newline": "1\n",
    "other digits": "\u0661",
    "million digits": "9" * 10**5,
    "nan": "nan",
}
TEXTS = {
    "empty": b"",
    "no JSON": b"hello",
    "null": b"null",
    "list": b"[]",
    "number": b"1",
    "text": b'"a"',
    "empty object": b"{}",
    "deep": b"[" * 100_000,
    "deep object": b'{"a":' * 100_000,
    "long number": b'{"kind": ' + b"9" * 10_000 + b"}",
    "zeros": bytes(1000),
    "not UTF-8": b'{"kind": "\xff"}',
    "UTF-16": '{"kind": 1}'.encode("utf-16"),
    "surrogate": b'{"kind": "\\ud800"}',
    "two megabytes": b" " * 2**21,
    "a key twice": b'{"kind": 1, "kind": 2}',
}


def texts() -> Iterator[tuple[str, bytes]]:
    """Files that are no certificates."""
    yield from TEXTS.items()


def forgeries(good: Record) -> Iterator[tuple[str, Record]]:
    """Records near an honest one."""
    for key in good:
        yield f"without {key}", {k: v for k, v in good.items() if k != key}
        for what, value in ODD.items():
            yield f"{key}: {what}", good | {key: value}
    for key in NUMBERS:
        for what, value in NO_NUMBERS.items():
            yield f"{key}: {what}", good | {key: value}
    for key in LISTS:
        yield from _lists(good, key)
    yield from _claims(good)


def _lists(good: Record, key: str) -> Iterator[tuple[str, Record]]:
    """Entries of other types, missing ones, and one too many."""
    value = good[key]
    yield f"{key}: one less", good | {key: value[1:]}
    yield f"{key}: one more", good | {key: [*value, value[-1]]}
    yield f"{key}: forty", good | {key: (value * 40)[:40]}
    for what, odd in ODD.items():
        yield f"{key}: an entry is {what}", good | {key: [odd, *value[1:]]}
        if key != "multiplier":
            yield f"{key}: a number is {what}", good | {key: [[odd, *value[0][1:]], *value[1:]]}


def _changed(good: Record, key: str, change: Callable[[Fraction], Fraction]) -> Record:
    return good | {key: str(change(Fraction(good[key])))}


def _claims(good: Record) -> Iterator[tuple[str, Record]]:
    """Claims that do not follow, and proofs of something else."""
    yield "another claim", good | {"claim": good["claim"] + " And epsilon is 0."}
    yield "a claim of less", good | {"claim": good["claim"].replace("of any number of outputs, ", "")}
    yield "another kind", good | {"kind": "a certificate"}
    yield "another version", good | {"version": 2}
    yield "version as float", good | {"version": 1.0}
    yield "one key more", good | {"note": "it holds"}
    tiny = Fraction(1, 10**40)
    for key in ("objective_bound", "average_variance_bound"):
        yield f"{key} a little larger", _changed(good, key, lambda x: x + tiny)
        yield f"{key} twice", _changed(good, key, lambda x: 2 * x)
    for what, epsilon in {"zero": "0", "negative": "-1", "huge": "1000000", "larger": "2", "long": "9" * 1000}.items():
        yield f"epsilon {what}", good | {"epsilon": epsilon}
    for what, ratio in {"one": "1", "zero": "0", "negative": "-3", "small": "271828182845/100000000000"}.items():
        yield f"ratio {what}", good | {"ratio": ratio}
    yield "another ratio", _changed(good, "ratio", lambda x: 3 * x)
    for key in DENOMINATORS:
        for what, value in {"zero": 0, "negative": -good[key], "third": 3 * good[key], "less": good[key] // 2}.items():
            # A smaller multiplier's denominator, or a larger one of the dual's, only weakens the claim or breaks it.
            yield f"{key} {what}", good | {key: value}
    yield "multiplier negative", good | {"multiplier": [-x for x in good["multiplier"]]}
    yield "multiplier of zeros", good | {"multiplier": [0 for _ in good["multiplier"]]}
    yield "multiplier smaller", good | {"multiplier": [x - abs(x) // 10**5 - 1 for x in good["multiplier"]]}
    for key in ("gram", "dual"):
        rows = [list(row) for row in good[key]]
        rows[0][0] += 1
        yield f"{key} off by one", good | {key: rows}
        skew = [[x + i - j for j, x in enumerate(row)] for i, row in enumerate(good[key])]
        yield f"{key} not symmetric", good | {key: skew}
    # Of a dual, the square of tr TG counts: its sign does not matter.
    yield "gram negative", good | {"gram": [[-x for x in row] for row in good["gram"]]}


def written(record: Record) -> bytes:
    """A record as a file."""
    return json.dumps(record).encode()
