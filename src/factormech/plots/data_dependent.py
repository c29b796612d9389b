"""Users needed on data sets over users needed in the worst case, for each mechanism.

As in McKenna et al., PVLDB 13(11), 2020, Figure 3a: a mechanism whose points are near 1 needs as many users on
data as on the worst ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from factormech import labels
from factormech.plots import captions, declared
from factormech.studies.base import Experiment
from factormech.studies.data_dependent import EXPERIMENT, WORST_CASE
from factormech.studies.drawn import Curves
from factormech.tables import panels as arrange
from factormech.tables.panels import number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["draw", "standin_words", "words"]

PLACE = ["workload", "domain_size", "epsilon", "seed", "alpha", "mechanism"]
CURVES = Curves(
    panel=("workload", "domain_size", "epsilon", "alpha"),
    x="mechanism",
    y="sample_complexity",
    series="data",
    y_scale="linear",
    label="users on data ÷ worst case",
    one="As many users as on the worst data",
)


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of sample complexities on data sets."""
    return declared.draw(shares(frame), experiment=_kind(frame))


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""
    found = shares(frame)
    caption, notes = declared.sentences(title, text, found, experiment=_kind(frame))
    return captions.words([*caption, *_deviation(found)], notes)


def shares(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of data sets, with the users that they need over those needed in the worst case."""
    arrange.check_one_study(frame)
    is_worst = frame["data"] == WORST_CASE
    worst = frame[is_worst].set_index(PLACE)["sample_complexity"].rename("worst_users")
    rows = frame[~is_worst].join(worst, on=PLACE)
    return rows.assign(sample_complexity=rows["sample_complexity"] / rows["worst_users"])


def standin_words(standins: tuple[str, ...]) -> list[str]:
    """A sentence that says which data are synthetic, if any."""
    if not standins:
        return []
    names = ", ".join(map(labels.data_label, standins))
    return [f"{names}: SYNTHETIC data of the same number of users and of non-empty bins, not the data set of that name"]


def _kind(frame: pd.DataFrame) -> Experiment:
    """The kind with what is drawn, and below it what is synthetic and what is missing."""
    told = [*standin_words(labels.standins(dict.fromkeys(frame["data"]))), *arrange.unmeasured(frame, _where)]
    note = " ".join(labels.capital(captions.sentence(text)) for text in told)
    return replace(EXPERIMENT, figure=replace(CURVES, note=note))


def _where(rows: pd.DataFrame) -> str:
    points = rows[["workload", "domain_size", "epsilon"]].drop_duplicates().itertuples(index=False)
    return "; ".join(f"{labels.workload_label(w)}, n = {n}, ε = {number(e)}" for w, n, e in points)


def _deviation(found: pd.DataFrame) -> list[str]:
    """Return a sentence on the mechanism whose number of users differs most between data sets."""
    needs = found.groupby(["workload", "domain_size", "epsilon", "alpha", "mechanism"])["sample_complexity"]
    spread = (needs.max() / needs.min()).dropna()
    if found["data"].nunique() < 2 or spread.empty:
        return []
    who = labels.mechanism_label(str(spread.idxmax()[-1]))
    return [
        f"Between data sets needs differ most for {who}, by a factor of {spread.max():.3g}; the worst case is at most "
        f"{1.0 / needs.min().min():.3g} times the least need on a data set"
    ]
