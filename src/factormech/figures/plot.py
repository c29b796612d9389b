"""The figure of a table in memory, for users of the Python interface."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from factormech.errors import MissingExtra
from factormech.figures.registry import draw
from factormech.figures.style import context
from factormech.tables.kinds import kind_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def plot(table: pd.DataFrame, path: str | os.PathLike[str] | None = None) -> Figure:
    """Return the figure of a table, drawn in the project's style.

    Parameters
    ----------
    table
        Of a study, of :func:`factormech.compare` or :func:`factormech.sweep`; its columns say which kind it is.
    path
        Where to write it too, in the format of the suffix: ``.pdf``, ``.svg``, ``.png``.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    BadValue
        If the columns are those of no kind of table, or the kind has no figure.
    MissingExtra
        If matplotlib is not installed.

    Examples
    --------
    >>> import factormech as fm
    >>> figure = fm.plot(fm.sweep(["prefix"], epsilon=[1.0], n=[4, 8, 16], mechanisms=["rappor", "hadamard"]))
    >>> len(figure.axes) > 0
    True
    """
    try:
        figure = draw(kind_of(table), table)
    except ModuleNotFoundError as error:
        raise MissingExtra.of(error) from None
    if path is not None:
        with context():
            figure.savefig(path)
    return figure
