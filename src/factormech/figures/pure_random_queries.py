"""Errors on random queries against nε: a curve for each mechanism, JL release with the best rows of each nε."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from factormech.experiments import pure
from factormech.experiments.base import Experiment
from factormech.experiments.curves import Curves
from factormech.figures import declared
from factormech.figures.captions import sentence

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["caption", "draw"]

CURVES = Curves(
    panel="shape",
    x="product",
    y="error",
    series="mechanism",
    low="low",
    high="high",
    below="lower_bound",
    x_scale="log",
    text=(
        f"{pure.MEANING} With a projection or JL release it is that of the worst data found among vertices, sparse and "
        f"uniform data; {pure.FALL_SHORT}, and so does noise from a Markov chain"
    ),
)


def _kind() -> Experiment:
    from factormech.experiments.pure_random_queries import EXPERIMENT

    return replace(EXPERIMENT, figure=CURVES)


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of errors on random queries."""
    return declared.draw(_shown(frame), experiment=_kind())


def caption(study_title: str, caption_text: str, frame: pd.DataFrame) -> str:
    """The caption of a study's figure, in plain text."""
    told = declared.caption(study_title, caption_text, _shown(frame), experiment=_kind())
    swept = frame[(frame["mechanism"] == "jl") & frame["error"].notna()]
    if not len(swept):
        return told
    rows = ", ".join(str(ell) for ell in sorted(set(swept["rows"])))
    best = ", ".join(str(ell) for ell in sorted(set(swept.loc[swept["best"] == 1, "rows"])))
    said = [told, sentence(f"JL release has ℓ of {rows}, of which {best} are drawn as the best; the table has all")]
    return " ".join([*said, _against_projection(frame)]).strip()


def _against_projection(frame: pd.DataFrame) -> str:
    """In how many places JL release errs less than K-norm noise with the projection, and for certain."""
    at = ["shape", "product"]
    shown = frame[(frame["best"] == 1) & frame["error"].notna()].set_index(at)
    other = shown.loc[shown["mechanism"] == pure.PROJECTED, ["error", "low", "high"]].add_suffix("_other")
    both = shown[shown["mechanism"] == "jl"].join(other, how="inner")
    if not len(both):
        return ""
    less = int((both["error"] < both["error_other"]).sum())
    certain = int((both["high"] < both["low_other"]).sum())
    worse = int((both["low"] > both["high_other"]).sum())
    return (
        f"Of {len(both)} places with both, JL release errs less than K-norm noise with the projection in {less}, and "
        f"by more than the intervals in {certain}; it errs more by more than the intervals in {worse}."
    )


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that are drawn, panels named in words."""
    rows = frame[frame["best"] == 1].copy()
    names = zip(rows["queries"], rows["domain_size"], strict=True)
    rows["shape"] = [f"k = {k}, N = {N}" for k, N in names]
    return rows
