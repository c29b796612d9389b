"""The figure of a table or an answer in memory, for users of the Python interface."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from factormech.errors import MissingExtra
from factormech.plots.registry import draw
from factormech.plots.style import context
from factormech.studies.drawing import problems
from factormech.studies.registry import experiment, is_experiment
from factormech.tables.kinds import kind_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def plot(answer: Any, path: str | os.PathLike[str] | None = None, *, figure: Mapping[str, Any] | None = None) -> Figure:
    """Return the figure of a table or an answer, drawn in the project's style.

    Parameters
    ----------
    answer
        The table of a study, of :func:`factormech.compare` or :func:`factormech.sweep`, whose columns say which kind
        it is; a plan, for the users of each mechanism; or a fitted mechanism, for its variances.
    figure
        How a table is drawn, as the block ``figure`` of a study says it:
        ``{"x": "epsilon", "panels": ["domain_size"]}``.
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
    MissingExtra
        If matplotlib is not installed.

    Examples
    --------
    >>> import factormech as fm
    >>> figure = fm.plot(fm.sweep(["prefix"], epsilon=[1.0], n=[4, 8, 16], mechanisms=["rappor", "hadamard"]))
    >>> len(figure.axes) > 0
    True
    >>> figure = fm.plot(fm.plan(fm.workload("prefix", 4), epsilon=1.0, rmse=0.05))
    >>> figure.axes[0].get_xlabel()
    'users'
    """
    try:
        from factormech.plots.answers import draw_errors, draw_ranking

        if hasattr(answer, "mechanisms") and hasattr(answer, "best"):
            drawn = draw_ranking(answer)
        elif hasattr(answer, "errors") and hasattr(answer, "guarantee"):
            drawn = draw_errors(answer)
        else:
            drawn = _table(answer, figure)
    except ModuleNotFoundError as error:
        raise MissingExtra.of(error) from None
    if path is not None:
        with context():
            drawn.savefig(path)
    return drawn


def _table(table: pd.DataFrame, figure: Mapping[str, Any] | None) -> Figure:
    kind = kind_of(table)
    columns = experiment(kind).drawable if is_experiment(kind) else ()
    numbers = [column.name for column in columns if column.type != "text"]
    for problem in problems(figure or {}, numbers, [column.name for column in columns], kind):
        raise problem
    return draw(kind, table, figure=figure)
