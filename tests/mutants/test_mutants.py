"""Every planted fault is caught by its check, and no check cries without one."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from factormech.errors import BadValue
from tests.mutants.catalogue import MUTANTS, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_fault_is_caught(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant.check()
    mutant.plant(monkeypatch)
    # ``pytest.fail.Exception``: the verifier took what it should refuse.
    caught = BadValue if mutant.caught_by == "the package" else (AssertionError, pytest.fail.Exception)
    with np.errstate(all="ignore"), pytest.raises(caught):
        mutant.check()


def test_there_are_enough() -> None:
    assert len(MUTANTS) >= 13
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def test_the_page_lists_them() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "trust.md").read_text()
    listed = re.findall(r"^\| (.*) \| (.*) \|$", page.split("| fault | caught by |")[1].split("\n\n")[0], re.MULTILINE)
    assert listed[1:] == [(mutant.name, mutant.caught_by) for mutant in MUTANTS]
