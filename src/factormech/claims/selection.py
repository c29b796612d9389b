"""Numbers taken from tables of studies, and arithmetic on their columns.

**Arithmetic on columns.** An expression is, for example, ``2 * upper + 1 + alpha``.

**Operands.** They say which rows and which column are meant, and give one number for each point of a grid. An
*operand* is a number or a mapping:

* ``table`` – a study; left out, the claim's first.
* ``where`` – column → a value, a list of values, ``{from: a, to: b}`` or ``{other_than: [...]}``. Every value that is
  named must be in the table: a claim about points that a run left out is refused, not judged on the others.
* ``value`` – an expression of the columns, with ``low`` and ``high`` where the
  table has an interval.
* ``per`` – the columns that tell points apart; left out, those of the measure.
* ``pick`` – of several rows at one point the ``least``, ``largest``, ``median`` or ``mean``; left out, there must be
  one.
* ``by`` – an operand to divide by.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray
from factormech.errors import BadValue, UnknownName

if TYPE_CHECKING:
    import pandas as pd


# Arithmetic on columns.

_Operator = Callable[[Any, Any], Any]
_BINARY: dict[type[ast.operator], _Operator] = {
    ast.Add: lambda x, y: x + y,
    ast.Sub: lambda x, y: x - y,
    ast.Mult: lambda x, y: x * y,
    ast.Div: lambda x, y: x / y,
    ast.Pow: lambda x, y: x**y,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "comb": np.vectorize(lambda n, k: float(math.comb(int(n), int(k))), otypes=[np.float64]),
    "exp": np.exp,
    "log": np.log,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "sqrt": np.sqrt,
}
_RULE = "be numbers, columns, + - * / ** and calls of " + ", ".join(FUNCTIONS)


def names_in(text: str) -> set[str]:
    """The columns that an expression speaks of; an expression that is none is refused."""
    tree = _parsed(text)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}
    with np.errstate(all="ignore"):
        _value(tree.body, dict.fromkeys(found, np.ones(1)), text)
    return found


def evaluate(text: str, columns: Mapping[str, FloatArray], length: int) -> FloatArray:
    """Return the value of the expression on each row of a table with this many rows."""
    with np.errstate(all="ignore"):  # a row without a number stays without one
        found = _value(_parsed(text).body, columns, text)
    return np.broadcast_to(np.asarray(found, dtype=np.float64), (length,)).copy()


def _parsed(text: str) -> ast.Expression:
    try:
        return ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        raise BadValue("expression", text, _RULE, "correct it") from None


def _value(node: ast.expr, columns: Mapping[str, FloatArray], text: str) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name):
            if name not in columns:
                raise UnknownName(f"column in {text!r}", name, columns)
            return columns[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, columns, text)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left, columns, text), _value(right, columns, text))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_value(arg, columns, text) for arg in args))
        case _:
            raise BadValue("expression", text, _RULE, "correct it")


# Operands.

LOW, VALUE, HIGH = ENDS = ("(low)", "(value)", "(high)")
PICKS = {"least": "min", "largest": "max", "median": "median", "mean": "mean"}
STANDIN = "-standin"
Operand: TypeAlias = "float | Mapping[str, Any]"


class NotEvaluated(ValueError):
    """A claim cannot be judged on these tables: why."""


@dataclass(frozen=True)
class Tables:
    """The tables that a claim speaks of: the reader of a study's table, and the study where none is named."""

    read: Callable[[str], pd.DataFrame]
    first: str

    def frame(self, operand: Mapping[str, Any]) -> tuple[str, pd.DataFrame]:
        """The table of an operand, and its name."""
        name = str(operand.get("table", self.first))
        return name, self.read(name)


def points(tables: Tables, operand: Operand, per: Sequence[str]) -> pd.DataFrame:
    """One row a point: the columns of ``per``, and a number between its ends. Rows without a number are left out."""
    import pandas as pd

    if not isinstance(operand, Mapping):
        return pd.DataFrame([dict.fromkeys(ENDS, float(operand))])
    name, frame = tables.frame(operand)
    keys = list(operand.get("per", per))
    chosen = _chosen(frame, operand.get("where", {}), name)
    _refuse_missing(frame, keys, name)
    found = chosen[keys].copy()
    for end, key in ((LOW, "low"), (VALUE, "value"), (HIGH, "high")):
        found[end] = _numbers(chosen, str(operand.get(key, operand["value"])), name)
    found = _one_each(found[found[list(ENDS)].notna().all(axis=1)], keys, operand.get("pick"), name)
    return divided(found, points(tables, operand["by"], keys)) if "by" in operand else found


def divided(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    """left / right at the points of both, of positive numbers: its ends are those of the worst and the best case."""
    both = joined(left, right)
    if (both[f"{LOW} right"] <= 0).any() or (both[LOW] < 0).any():
        raise NotEvaluated("a ratio of numbers that are not positive")
    with np.errstate(invalid="ignore"):  # ∞/∞ is no number
        for end, other in ((LOW, HIGH), (VALUE, VALUE), (HIGH, LOW)):
            both[end] = both[end] / both[f"{other} right"]
    return both.drop(columns=[f"{end} right" for end in ENDS])


def joined(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    """The rows of both at the same points; one of them may be coarser, and the right one's numbers are called so."""
    renamed = right.rename(columns={end: f"{end} right" for end in ENDS})
    shared = [c for c in left.columns if c in right.columns and c not in ENDS]
    if not shared:
        return left.merge(renamed, how="cross")
    return left.merge(renamed, on=shared, how="inner")


def kept(frame: pd.DataFrame, where: Mapping[str, Any], name: str) -> npt.NDArray[np.bool_]:
    """Return which rows of a table an operand's ``where`` takes; refused if it names what the table lacks."""
    _refuse_missing(frame, where, name)
    found = np.ones(len(frame), dtype=bool)
    for column, wanted in where.items():
        found &= _matches(frame, column, wanted, name)
    return found


def _chosen(frame: pd.DataFrame, where: Mapping[str, Any], name: str) -> pd.DataFrame:
    found = frame[kept(frame, where, name)]
    if found.empty:
        raise NotEvaluated(f"the table {name} has no row for {_told(where)}")
    return found


def _matches(frame: pd.DataFrame, column: str, wanted: Any, name: str) -> Any:
    cells = frame[column]
    if isinstance(wanted, Mapping):
        if "other_than" in wanted:
            return ~cells.isin(_typed(cells, wanted["other_than"])).to_numpy()
        return ((cells >= wanted.get("from", -np.inf)) & (cells <= wanted.get("to", np.inf))).to_numpy()
    values = _typed(cells, wanted if isinstance(wanted, list) else [wanted])
    there = set(cells.unique().tolist())
    if missing := [value for value in values if value not in there]:
        if any(f"{value}{STANDIN}" in there for value in missing):
            raise NotEvaluated(f"stand-ins: the table {name} is not of the data sets that the paper speaks of")
        raise NotEvaluated(f"the table {name} lacks {column} = {', '.join(map(str, missing))}")
    return cells.isin(values).to_numpy()


def _typed(cells: pd.Series[Any], values: Sequence[Any]) -> list[Any]:
    """The values as the column has them: YAML's ``inf`` is a text."""
    return [float(value) if value == "inf" and cells.dtype.kind == "f" else value for value in values]


def _numbers(frame: pd.DataFrame, text: str, name: str) -> Any:
    numeric = {c: frame[c].to_numpy(dtype=np.float64) for c in frame.columns if frame[c].dtype.kind in "if"}
    try:
        return evaluate(text, numeric, len(frame))
    except BadValue as error:
        raise NotEvaluated(f"the table {name} is of another kind: {error}") from None


def _one_each(found: pd.DataFrame, keys: list[str], pick: str | None, name: str) -> pd.DataFrame:
    if pick is None:
        if len(found) > 1 and (not keys or found.duplicated(keys).any()):
            raise NotEvaluated(f"the table {name} has several rows where the claim is about one")
        return found.reset_index(drop=True)
    if not keys:
        return found[list(ENDS)].agg(PICKS[pick]).to_frame().T
    return found.groupby(keys, sort=False, as_index=False)[list(ENDS)].agg(PICKS[pick])


def _refuse_missing(frame: pd.DataFrame, columns: Any, name: str) -> None:
    if missing := [column for column in columns if column not in frame.columns]:
        raise NotEvaluated(f"the table {name} is of another kind: it has no column {', '.join(missing)}")


def _told(where: Mapping[str, Any]) -> str:
    return ", ".join(f"{column} = {value}" for column, value in where.items()) or "anything"
