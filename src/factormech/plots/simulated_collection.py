"""Measured over exact errors of simulated collections, pooled for each mechanism, workload and ε.

Pools have the intervals that the caption states; the verdict on all single points and pools is in the caption
(:mod:`factormech.tables.collected`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from factormech import labels
from factormech.plots import captions, declared
from factormech.studies.base import Column, Experiment
from factormech.studies.drawn import Curves
from factormech.studies.simulated_collection import EXPERIMENT
from factormech.tables import collected
from factormech.tables.panels import check_one_study, number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["draw", "pooled", "words"]

# Half of an interval of a pool, in standard errors.
STANDARD_ERRORS = 4.0
POOL = ["workload", "epsilon", "mechanism"]
CURVES = Curves(
    panel="workload",
    x="mechanism",
    y="ratio_to_exact",
    series="epsilon",
    low="ratio_low",
    high="ratio_high",
    bars=f"{STANDARD_ERRORS:g} standard errors to either side",
    one="Exact",
    y_scale="linear",
    label="measured over exact error",
    text="A mark is the mean over all domain sizes, numbers of users, populations and seeds",
)


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of simulated collections."""
    return declared.draw(pooled(frame), experiment=_kind(frame))


def pooled(frame: pd.DataFrame) -> pd.DataFrame:
    """A row for each workload, ε and mechanism: the mean ratio and its interval."""
    check_one_study(frame)
    live = frame[(frame["status"] == "ok") & (frame["exact_error"] > 0)]
    errors = (live["standard_error"] / live["exact_error"]).rename("square") ** 2
    groups = live.assign(square=errors).groupby(POOL, sort=False)
    mean = groups["ratio_to_exact"].mean()
    half = STANDARD_ERRORS * np.sqrt(groups["square"].sum()) / groups.size()
    rows = mean.to_frame().assign(ratio_low=mean - half, ratio_high=mean + half)
    return rows.reset_index()


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""
    caption, notes = declared.sentences(title, text, pooled(frame), experiment=_kind(frame))
    verdict = collected.verdict_of(frame)
    agrees, _, level = collected.verdict_text(verdict).partition(" at the simultaneous")
    tails = (
        "The p-values bound the skewed tails of squared errors, which makes them larger than those of a normal error"
    )
    return captions.words(
        [caption[0], agrees, *caption[1:]],
        [
            _run(frame),
            f"The verdict is at the simultaneous{level}" if level else "",
            tails if verdict else "",
            *collected.missed(frame),
            *notes,
        ],
    )


def _kind(frame: pd.DataFrame) -> Experiment:
    """The kind with what is drawn, and below it what is missing."""
    told = [*collected.gaps(frame), *collected.free(frame)]
    note = " ".join(labels.capital(captions.sentence(text)) for text in told)
    columns = (*EXPERIMENT.columns, Column("ratio_low"), Column("ratio_high"))
    return replace(EXPERIMENT, columns=columns, keys=tuple(POOL), figure=replace(CURVES, note=note))


def _run(frame: pd.DataFrame) -> str:
    """Return a sentence on the collections that were run."""
    named = {name: ", ".join(map(number, sorted(set(frame[name])))) for name in ("domain_size", "users", "seed")}
    return (
        f"Each collection was run {number(frame['trials'].iloc[0])} times: n = {named['domain_size']}; "
        f"N = {named['users']}; populations: {', '.join(dict.fromkeys(frame['population']))}; seeds: {named['seed']}"
    )
