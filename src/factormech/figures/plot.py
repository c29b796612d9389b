"""The figure of a table in memory, for users of the Python interface."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from factormech.experiments.drawing import problems
from factormech.experiments.registry import experiment, is_experiment
from factormech.figures.registry import draw
from factormech.figures.style import context
from factormech.tables.kinds import kind_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def plot(
    table: pd.DataFrame, path: str | os.PathLike[str] | None = None, *, figure: Mapping[str, Any] | None = None
) -> Figure:
    """Return the figure of a table, drawn in the project's style.

    Parameters
    ----------
    table
        Of a study, of :func:`factormech.compare` or :func:`factormech.sweep`; its columns say which kind it is.
    figure
        How it is drawn, as the block ``figure`` of a study says it: ``{"x": "epsilon", "panels": ["domain_size"]}``.
    path
        Where to write it too, in the format of the suffix: ``.pdf``, ``.svg``, ``.png``.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    BadValue
        If the columns are those of no kind of table, the kind has no figure, or ``figure`` names columns that it
        lacks.

    Examples
    --------
    >>> import factormech as fm
    >>> figure = fm.plot(fm.sweep(["prefix"], epsilon=[1.0], n=[4, 8, 16], mechanisms=["rappor", "hadamard"]))
    >>> len(figure.axes) > 0
    True
    """
    kind = kind_of(table)
    columns = experiment(kind).drawable if is_experiment(kind) else ()
    numbers = [column.name for column in columns if column.type != "text"]
    for problem in problems(figure or {}, numbers, [column.name for column in columns], kind):
        raise problem
    drawn = draw(kind, table, figure=figure)
    if path is not None:
        with context():
            drawn.savefig(path)
    return drawn
