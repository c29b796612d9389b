"""Settings of the solvers of mechanisms."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.errors import BadValue
from factormech.mechanisms.local import registry
from factormech.workloads.registry import create


def test_an_option_reaches_the_solver() -> None:
    prefix = create("prefix", 6)
    few = registry.solve("adaptive-pgd", prefix, 1.0, np.random.default_rng(0), {"rows": 12})
    many = registry.solve("adaptive-pgd", prefix, 1.0, np.random.default_rng(0))
    assert len(few.datasets["strategy"]) <= 12 < len(many.datasets["strategy"]) <= 24


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("adaptive-pgd", {"rows": 0}, "options.rows = 0: must be a positive whole number; give for example 256"),
        ("adaptive-pgd", {"rows": True}, "options.rows = True: must be a positive whole number"),
        ("adaptive-pgd", {"row": 9}, r"options.row = 9: must be an option of adaptive-pgd \(rows\); leave the key out"),
        ("matrix-l1", {"rows": 9}, r"options.rows = 9: must be an option of matrix-l1 \(it has none\)"),
    ],
)
def test_wrong_options_are_answered(name: str, options: dict[str, int], said: str) -> None:
    with pytest.raises(BadValue, match=said):
        registry.solve(name, create("prefix", 6), 1.0, np.random.default_rng(0), options)
