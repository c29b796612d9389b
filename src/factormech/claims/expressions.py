"""Arithmetic on the columns of a table: ``2 * upper + 1 + alpha``."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue, UnknownName

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
    """The expression on each row of a table of so many rows."""
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
