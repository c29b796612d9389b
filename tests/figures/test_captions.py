"""Captions: short, each sentence once, what is plotted against what first; the rest in the notes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.studies import project
from tests.tiers import every

from factormech.plots import captions, registry
from factormech.studies.run import figure_settings
from factormech.tables import kinds

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
STUDIES = [name for name in project().studies if (GALLERY / f"{name}.csv").exists()]


def test_long_captions_leave_sentences_to_the_notes() -> None:
    long = " ".join(["word"] * 60)
    found = captions.words(["first of all.", long, f"{long} and more", "the last."], ["the rest", "first of all"])
    assert found.caption == f"First of all. {long.capitalize()}. The last."
    assert found.notes == f"{long.capitalize()} and more. The rest."


def test_symbols_keep_their_case_and_titles_lead() -> None:
    found = captions.words(
        [captions.lead("A title.", "error against n"), "ε = 1", "n is the number", "", "mc(C)", "error"]
    )
    assert found == captions.Words("A title: error against n. ε = 1. n is the number. mc(C). Error.", "")
    assert captions.lead("", "error against n") == "error against n"


@pytest.mark.parametrize("name", every(3, STUDIES))
def test_captions_of_the_gallery_are_short(name: str) -> None:
    study = project().studies[name]
    frame = kinds.read_csv(GALLERY / f"{name}.csv")
    found = registry.words(
        kinds.kind_of(frame), study.title, study.caption, frame, **figure_settings(study.kind, study.asked)
    )
    assert found.caption.startswith(f"{study.title.rstrip('.')}: ")
    assert 15 <= len(found.caption.split()) <= captions.MOST_WORDS
    said = [text for text in f"{found.caption} {found.notes}".split(". ") if len(text.split()) > 3]
    assert len(said) == len(set(said))
