"""What the page "Adding things" says, done: a study is a block, a workload and a mechanism are a file and a line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

import factormech
from tests.test_workflow import copy_of_project, edited, made, planned

pytestmark = pytest.mark.workflow

STUDY = {
    "paper": "mckenna2020",
    "artefact": "beyond Figure 1",
    "kind": "sample-complexity",
    "title": "Sample complexity at high privacy",
    "caption": "What Section 6.2 says of small budgets.",
    "grid": {"workload": ["prefix", "windows", "mine", "cdf-and-total"], "domain_size": [8], "epsilon": [0.1, 0.2]},
    "mechanisms": ["randomized-response", "coins"],
    "quick": {"grid": {"epsilon": [0.1]}},
}
WORKLOADS = {
    "mine": {"file": "grades.csv"},
    "cdf-and-total": {"union": [{"workload": "prefix"}, {"workload": "total", "weight": 2.0}]},
}
WINDOWS = '''"""Windows of an ordered domain."""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray
from factormech.workloads.base import Workload


class Windows(Workload):
    """Every window of three consecutive user types."""

    @property
    def queries(self) -> int:
        return self.domain_size - 2

    def answer(self, x: FloatArray) -> FloatArray:
        return np.lib.stride_tricks.sliding_window_view(x, 3, axis=0).sum(axis=-1)


WORKLOADS = {"windows": "Windows"}
'''
COINS = '''"""Randomized response with a budget of half: a poor mechanism, but one's own."""

from __future__ import annotations

import numpy as np

from factormech.mechanisms.local.strategy import Strategy, StrategyMatrix
from factormech.errors import Unavailable
from factormech.mechanisms.local.two_valued import two_valued


def strategy(domain_size: int, epsilon: float) -> Strategy | Unavailable:
    """Refuses budgets above 0.15, to show a reason."""
    if epsilon > 0.15:
        return Unavailable("coins are for small budgets")
    return StrategyMatrix(two_valued(np.eye(domain_size, dtype=bool), epsilon / 2), epsilon)


MECHANISMS = {"coins": "strategy"}
'''


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy with a study, a workload family, two workloads as data and a mechanism more: one file or block each."""
    folder = copy_of_project(tmp_path_factory.mktemp("adding"))
    package = folder / "src/factormech"
    (folder / "config.yaml").write_text(yaml.safe_dump({"workloads": WORKLOADS, "studies": {"small-epsilon": STUDY}}))
    np.savetxt(folder / "grades.csv", np.eye(8)[:3], delimiter=",")
    (package / "workloads/windows.py").write_text(WINDOWS)
    (package / "mechanisms/local/coins.py").write_text(COINS)
    made(folder, "small-epsilon")
    return folder


@pytest.mark.slow
def test_what_was_added_is_in_the_table(project: Path) -> None:
    table = factormech.load(project / "results/tables/small-epsilon.csv")
    assert list(dict.fromkeys(table["workload"])) == ["prefix", "windows", "mine", "cdf-and-total"]
    at = table.set_index(["workload", "epsilon", "mechanism"]).sort_index()
    assert set(at.loc[("windows", 0.1), "status"]) == {"ok", "bound"}
    assert at.loc[("windows", 0.2, "coins"), "reason"] == "coins are for small budgets"
    # Half the budget: the variance of randomized response on Histogram's first three queries.
    a = np.expm1(0.05)
    mine = at.loc[("mine", 0.1, "coins"), "average_variance"]
    assert mine == pytest.approx(3 / 8 * 7 * (8 / a**2 + 2 / a), rel=1e-6)
    # The total is known exactly: it costs nothing, whatever its weight.
    union = at.loc[("cdf-and-total", 0.1, "randomized-response"), "worst_variance"]
    assert union == pytest.approx(at.loc[("prefix", 0.1, "randomized-response"), "worst_variance"], rel=1e-9)


@pytest.mark.slow
def test_what_was_added_is_in_the_figure_and_its_caption(project: Path) -> None:
    caption, notes = ((project / f"figures/small-epsilon.{kind}").read_text() for kind in ("txt", "notes.txt"))
    assert "coins" in notes
    assert "coins are for small budgets" in notes
    assert "Windows" in caption
    assert (project / "figures/small-epsilon.svg").stat().st_size > 0


@pytest.mark.slow
def test_a_new_matrix_makes_only_its_own_study_stale(project: Path) -> None:
    file = project / "grades.csv"
    with edited(file, file.read_text().replace("1.0", "2.0", 1)):
        jobs = {job.partition(" ")[0] for job in planned(project)}
        assert jobs == {"evaluate", "tabulate", "draw"}
