"""A number that a theorem excludes is refused, wherever it comes from."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.local.errors import evaluated
from factormech.mechanisms.local.registry import build, is_solved, names
from factormech.mechanisms.local.solved import checked_strategy
from factormech.mechanisms.local.strategy import Evaluation
from factormech.privacy.guarantee import Guarantee
from factormech.tables.kinds import read_csv
from factormech.tabular import below_bound
from factormech.workloads.registry import create

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Claims:
    """A strategy of a plugin, which states whatever it likes."""

    variance: tuple[float, ...] = (1e-9,) * 8
    loss: float = 1.0
    guarantee: Guarantee = field(default_factory=lambda: Guarantee(1.0))
    epsilon: float = 1.0
    domain_size: int = 8
    outputs: int = 8

    def evaluate(self, centred_gram: Any) -> Evaluation:
        return Evaluation(np.array(self.variance), 0.0, self.loss, self.outputs)


WORKLOAD = create("prefix", 8)
HONEST = (1e6,) * 8


def asked(strategy: Claims) -> Evaluation:
    return evaluated("mine", strategy, WORKLOAD, WORKLOAD.centred_gram(), 1.0)


@pytest.mark.parametrize(
    ("strategy", "line"),
    [
        (Claims(), r"average variance of mechanism mine on prefix.*= 1e-09: must be at least \d"),
        (Claims((0.0,) * 8), "average variance"),
        (Claims((-1.0, *HONEST[1:])), "finite numbers of at least 0"),
        (Claims((math.nan, *HONEST[1:])), "be 8 finite numbers"),
        (Claims((math.inf, *HONEST[1:])), "be 8 finite numbers"),
        (Claims(HONEST[1:]), "be 8 finite numbers"),
        (Claims(HONEST, loss=1.1), r"privacy loss .*= 1\.1: must be at most the budget"),
        (Claims(HONEST, loss=math.nan), "privacy loss"),
    ],
)
def test_what_no_strategy_can_have_is_refused(strategy: Claims, line: str) -> None:
    with pytest.raises(BadValue, match=line) as refused:
        asked(strategy)
    assert "\n" not in str(refused.value)


def test_what_a_strategy_can_have_is_taken() -> None:
    assert asked(Claims(HONEST)).average == 1e6
    assert asked(Claims(guarantee=Guarantee(1.0, 1e-9))).average == 1e-9  # nothing is proved of (ε, δ)


@pytest.mark.parametrize("workload", ["histogram", "prefix", "all-ranges", "all-marginals"])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 6.0])
def test_no_strategy_of_the_package_is_refused(workload: str, epsilon: float) -> None:
    W = create(workload, 8)
    for name in names():
        if is_solved(name):
            continue
        strategy = build(name, 8, epsilon)
        if not isinstance(strategy, Unavailable):
            evaluated(name, strategy, W, W.centred_gram(), epsilon)


@pytest.mark.parametrize("delta", [0.9, 1e-6])
def test_a_delta_that_no_table_shows_is_refused(delta: float) -> None:
    with pytest.raises(BadValue, match=re.escape(f"mechanism mine: delta of its guarantee = {delta}")):
        checked_strategy("mine", Claims(HONEST, guarantee=Guarantee(1.0, delta)), 8, 1.0)
    checked_strategy("mine", replace(Claims(HONEST), guarantee=Guarantee(1.0, 1e-9)), 8, 1.0)


def test_a_row_below_its_own_bound_has_a_problem() -> None:
    assert below_bound({"users": 2.5e-8, "lower_bound": 135.0}, "users") is not None
    for users, bound in ((135.0, 135.0), (math.nan, 135.0), (1.0, math.nan), (135.0 * (1 - 1e-12), 135.0)):
        assert below_bound({"users": users, "lower_bound": bound}, "users") is None


def test_an_edited_table_below_its_bound_is_refused(tmp_path: Path) -> None:
    text = (ROOT / "docs/gallery/domain-size.csv").read_text()
    head, *lines = text.splitlines()
    column = head.split(",").index("sample_complexity")
    line = next(line for line in lines if ",ok," in line)
    cells = line.split(",")
    cells[column] = "2.5e-08"
    (tmp_path / "edited.csv").write_text(text.replace(line, ",".join(cells)))
    with pytest.raises(BadValue, match="be at least its own lower_bound"):
        read_csv(tmp_path / "edited.csv")
