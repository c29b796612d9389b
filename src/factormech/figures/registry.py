"""The kinds of figure.

To add one, write a module with ``draw(frame) -> Figure`` that draws a table (:mod:`factormech.tables`), and
add its line to :data:`KINDS`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from factormech.errors import UnknownName

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

KINDS = {
    "sample-complexity": "factormech.figures.sample_complexity",
}


def names() -> list[str]:
    """The known kinds, sorted."""
    return sorted(KINDS)


def module_of(kind: str) -> str:
    """The module that draws a kind."""
    if kind not in KINDS:
        raise UnknownName("kind of figure", kind, KINDS)
    return KINDS[kind]


def draw(kind: str, frame: pd.DataFrame) -> Figure:
    """The figure of this kind for a table."""
    return cast("Figure", import_module(module_of(kind)).draw(frame))
