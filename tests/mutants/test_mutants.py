"""Every planted fault is caught by its check, and no check cries without one."""

from __future__ import annotations

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
