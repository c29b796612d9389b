"""Families that papers state bounds for: a curator's error between bounds, or γ₂², which local users grow with.

Liu, Upadhyay & Zou (ICLR 2025) bound a trusted curator's error. The corollaries of Edmonds, Nikolov & Ullman (STOC
2020) are about local sample complexity, which is γ₂(W, α)² up to logarithms and powers of ε and of the target error:
beside their growth stands the square of the norm, and no error of a curator.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from factormech.plots import captions, declared
from factormech.studies import central_bounds
from factormech.studies.base import Experiment
from factormech.studies.drawn import Curves
from factormech.studies.published_bounds import EXPERIMENT

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["draw", "squares", "words"]

CENTRAL = replace(
    central_bounds.CURVES, panel=("family", "p", "epsilon", "delta"), x="size", references=("growth_scaled",)
)
LOCAL = Curves(
    panel="family",
    x="size",
    y="scaled_norm_upper",
    references=("growth_scaled",),
    far_references=True,
    x_scale="log2",
    label="γ₂(W)²",
    name="γ₂(W)²",
    text="γ₂(W)² is what local users grow with, up to logarithms.",
)
# What is said of families whose names end so.
TOLD = {
    "prefix": " For thresholds as signs ±1, γ₂(W, α) = (1 − α)γ₂(W): at α = ½ half the norm, a quarter of the users.",
    "parities": " For parities γ₂(W, α) = (1 − α)γ₂(W).",
    "marginals": " The exponent of Corollary 6 has an unknown constant, and no line.",
}


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of families, all central or all local."""
    return declared.draw(squares(frame), experiment=_kind(frame))


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""
    return declared.words(title, text, squares(frame), experiment=_kind(frame))


def squares(frame: pd.DataFrame) -> pd.DataFrame:
    """Central rows as they are; of local ones those of γ₂, its square, and the growth scaled to the last square."""
    if not _is_local(frame):
        return frame
    rows = frame[np.isinf(frame["p"])].drop_duplicates(["family", "size"])
    rows = rows.assign(scaled_norm_upper=rows["scaled_norm_upper"] ** 2)
    last = rows.loc[rows.groupby("family")["size"].idxmax()].set_index("family")
    scale = rows["family"].map(last["scaled_norm_upper"] / last["growth"])
    # The print leaves the constant in the exponent of marginals open.
    known = ~rows["family"].str.endswith("marginals")
    return rows.assign(growth_scaled=(rows["growth"] * scale).where(known))


def _is_local(frame: pd.DataFrame) -> bool:
    return bool((frame["setting"] == "local").all())


def _kind(frame: pd.DataFrame) -> Experiment:
    if not _is_local(frame):
        return replace(EXPERIMENT, figure=CENTRAL)
    told = "".join(text for end, text in TOLD.items() if frame["family"].str.endswith(end).any())
    return replace(EXPERIMENT, keys=("family", "size"), figure=replace(LOCAL, text=LOCAL.text + told))
