"""What the figures of local releases share: declared curves, and a caption that says what holds in all panels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from factormech import labels
from factormech.experiments.base import Curves, Experiment
from factormech.experiments.columns import meaning
from factormech.figures import captions, declared

if TYPE_CHECKING:
    import pandas as pd

SHARED = ("domain_size", "epsilon", "alpha")


def shown(kind: Experiment, curves: Curves) -> Experiment:
    """The kind with these curves as its figure."""
    return replace(kind, figure=curves)


def words(title: str, text: str, frame: pd.DataFrame, kind: Experiment, *more: str) -> captions.Words:
    """Caption and notes of declared curves, with what all panels share and ``more``."""
    caption, notes = declared.sentences(title, text, frame, experiment=kind)
    columns = [name for name in SHARED if name in frame.columns and name != kind.figure.x]  # type: ignore[union-attr]
    single = [(name, frame[name].iloc[0]) for name in columns if len(set(frame[name])) == 1]
    values = ", ".join(f"{meaning(name).symbol} = {labels.value_label(name, value)}" for name, value in single)
    return captions.words([*caption, f"In all panels {values}" if values else "", *more], notes)
