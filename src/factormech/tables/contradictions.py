"""Rows of tables whose value is below their own lower bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from factormech.tables.format import Problem

# A mechanism that attains its bound may be this far below it by rounding, relatively.
ROUNDING = 1e-9


def below_bound(row: Mapping[str, Any], column: str, bound: str = "lower_bound") -> Problem:
    """Return what is wrong with a row whose value is below the lower bound that it states itself; else nothing.

    A value or a bound that is not there (NaN) contradicts nothing.
    """
    if row[column] < row[bound] * (1.0 - ROUNDING):
        return column, f"be at least its own {bound}, {row[bound]:.6g}: a theorem excludes less"
    return None
