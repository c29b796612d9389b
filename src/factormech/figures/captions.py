"""Captions of figures, in plain text, from the same tables as the figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def caption(study_title: str, caption_text: str, frame: pd.DataFrame) -> str:
    """The caption of a study's figure, of the kind that its table says: see ``registry.caption``."""
    from factormech.figures import registry
    from factormech.tables.kinds import kind_of

    return registry.caption(kind_of(frame), study_title, caption_text, frame)


def sentence(text: str) -> str:
    """A text on one line, ending as a sentence does."""
    text = " ".join(text.split())
    return text if not text or text[-1] in ".!?" else text + "."
