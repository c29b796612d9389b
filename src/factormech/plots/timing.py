"""Seconds of an iteration of the published optimiser, and seconds until each solver comes near a lower bound.

The first panel is Figure 3c of McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020, with the time that the paper
reports as a cross. In the others there is one line for each solver; a solver that did not come near the bound has an
arrow at the time when it stopped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from factormech import labels
from factormech.plots import captions, declared
from factormech.plots.compared_caption import bound_words
from factormech.studies.base import Column, Experiment
from factormech.studies.drawn import Curves
from factormech.studies.timing import EXPERIMENT, ITERATION, TO_GAP
from factormech.tables.panels import number, told

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["draw", "shown_gap", "times", "words"]

# Section 6.6 of the paper: user types, and seconds of an iteration.
PUBLISHED = (4096, 139.0)
CURVES = Curves(
    panel="panel",
    x="domain_size",
    y="seconds",
    series="mechanism",
    censored="stopped_share",
    stars=("status", "published"),
    apart="Reported in the paper",
    x_scale="log2",
    text="Seconds of the processor, with the search for a step size",
)


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of times."""
    return declared.draw(times(frame), experiment=_kind(frame))


def shown_gap(frame: pd.DataFrame) -> float:
    """The multiple of the lower bound that the figure shows: the middle one."""
    gaps = sorted(set(frame.loc[frame["quantity"] == TO_GAP, "gap"]))
    return float(gaps[len(gaps) // 2])


def times(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that are drawn: iterations, the published one, and times to one gap, or at least so long."""
    single, near = frame[frame["quantity"] == ITERATION], frame[frame["quantity"] == TO_GAP]
    near = near[near["gap"] == shown_gap(frame)]
    missed = near["seconds"].isna() & near["final_seconds"].notna()
    near = near.assign(
        panel=[labels.workload_label(name) for name in near["workload"]],
        seconds=near["seconds"].where(~missed, near["final_seconds"]),
        stopped_share=missed.astype("float64"),
    )
    rows = [single.assign(panel="One iteration", stopped_share=0.0)]
    published = rows[0][rows[0]["domain_size"] == PUBLISHED[0]]
    rows.append(published.assign(seconds=PUBLISHED[1], status="published"))
    return _joined([*rows, near])


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""
    single, near = frame[frame["quantity"] == ITERATION], frame[frame["quantity"] == TO_GAP]
    caption, notes = declared.sentences(title, text, times(frame), experiment=_kind(frame))
    gap, counts = number(shown_gap(frame)), " or ".join(map(number, sorted(set(single["iterations"]), reverse=True)))
    cross = f"Cross: the paper's {PUBLISHED[1]:g} seconds." if PUBLISHED[0] in set(single["domain_size"]) else ""
    gone = near[near["status"] == "unavailable"].groupby("mechanism", sort=False)["reason"]
    return captions.words(
        [
            caption[0],
            f"First panel: one iteration. Others: until the average variance is within {gap} of a lower bound.",
            cross,
            "Arrows: stopped before.",
            *caption[1:],
        ],
        [
            f"An iteration, the mean of {counts}, is of {labels.mechanism_label(str(single['mechanism'].iloc[0]))} on "
            "a random 4n × n strategy and the identity workload.",
            bound_words(list(dict.fromkeys(near["bound_name"]))),
            *(f"not drawn: {labels.mechanism_label(str(name))} — {'; '.join(told(list(why)))}" for name, why in gone),
            *notes,
        ],
    )


def _kind(frame: pd.DataFrame) -> Experiment:
    """The kind with what is drawn."""
    columns = (*EXPERIMENT.columns, Column("panel"), Column("stopped_share"))
    epsilons = ", ".join(map(number, sorted(set(frame["epsilon"]))))
    note = f"ε = {epsilons}. Panels of workloads: within {number(shown_gap(frame))} of the lower bound."
    shown = replace(CURVES, note=note)
    return replace(EXPERIMENT, columns=columns, keys=("panel", "domain_size", "mechanism"), figure=shown)


def _joined(rows: list[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    joined = pd.concat(rows, ignore_index=True)
    return joined.assign(seconds=joined["seconds"].replace(np.inf, np.nan))
