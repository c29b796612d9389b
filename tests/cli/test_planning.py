"""What a plan says of the queries of a person: their names, the error of each, and workloads of a configuration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import factormech as fm

from .conftest import Ask, Run

pytestmark = pytest.mark.heavy

E1 = ("--epsilon", "1")
CONFIG = """\
workloads:
  ages: {file: ages.csv}
  both: {union: [{workload: ages}, {workload: total, weight: 2.0}]}
  grid: {kronecker: [{workload: ages}, {workload: prefix, domain_size: 2}]}
  open: {kronecker: [{workload: prefix}, {workload: histogram, domain_size: 2}]}
  loop: {union: [{workload: loop}]}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "ages.csv").write_text("query,0-17,18-64,65+\nchildren,1,0,0\nbelow 65,1,1,0\n")
    path = tmp_path / "mine.yaml"
    path.write_text(CONFIG)
    return path


def test_workloads_of_a_configuration_can_be_named(ask: Ask, run: Run, config: Path) -> None:
    sizes = {"ages": (3, 2), "both": (3, 3), "grid": (6, 4)}
    for name, size in sizes.items():
        found = ask("workload", "describe", name, "--config", config)
        assert (found["workload"], (found["domain_size"], found["queries"])) == (name, size)
    assert ask("workload", "describe", "open", "--config", config, "--domain-size", 6)["queries"] == 6
    assert ask("workload", "describe", "prefix", "--config", config, "--domain-size", 6)["queries"] == 6
    wrong = {
        ("open",): "--domain-size = 'nothing': must be given for open",
        ("grids",): "did you mean 'grid'",
        ("ages", "--domain-size", "4"): "has 3 columns",
        ("loop",): "break the cycle",
    }
    for words, said in wrong.items():
        refused = run("workload", "describe", *words, "--config", config)
        assert (refused.code, refused.out) == (1, "")
        assert said in refused.err
    absent = run("workload", "describe", "ages", "--config", config.with_name("none.yaml"))
    assert "--config = " in absent.err


def test_a_plan_lists_the_standard_error_of_each_query(ask: Ask, run: Run, config: Path) -> None:
    words = ("plan", "ages", "--config", config, *E1, "--rmse", "5%")
    found = ask(*words)
    assert found["query_names"] == ["children", "below 65"]
    ranking = fm.plan(fm.workload(config.with_name("ages.csv")), 1.0, rmse=0.05)
    assert ranking.fitted is not None
    errors = ranking.query_errors["standard_error"]
    assert found["query_errors"] == pytest.approx(errors.tolist())
    assert errors.index.tolist() == ["children", "below 65"]
    said = run(*words).out
    assert "standard error of each query" in said
    assert "5 percentage points" in said
    assert "below 65" in said


def test_standard_errors_are_of_the_worst_data_for_each_query() -> None:
    """By Theorem 3.4 for one query, from Q and V; and over all queries they are the variance that is ranked by."""
    W = fm.workload("prefix", 5)
    ranking = fm.plan(W, 1.0, rmse=0.05)
    fitted = ranking.fitted
    assert fitted is not None
    assert ranking.best is not None
    Q, V, M = fitted.matrix, fitted.reconstruction, W.matrix()
    assert Q is not None
    assert V is not None
    variance = (V**2) @ Q - (V @ Q) ** 2
    np.testing.assert_allclose(variance.sum(axis=0), fitted.errors["variance"], rtol=1e-9)
    expected = np.sqrt(variance.max(axis=1) / ranking.best.users)
    np.testing.assert_allclose(ranking.query_errors["standard_error"], expected, rtol=1e-9, atol=1e-8)
    assert ranking.query_errors["standard_error"].iloc[-1] == 0.0  # all users: their number is public
    np.testing.assert_allclose(V @ Q, M, atol=1e-10)
    # The root of the mean square over the queries, for one data set, is at most the target.
    assert np.sqrt((variance.sum(axis=0) / len(M) / ranking.best.users).max()) <= 0.05


def test_a_plan_says_how_to_have_what_it_promises(run: Run) -> None:
    said = run("plan", "prefix", "--domain-size", 4, *E1, "--rmse", "5%").out
    assert "factormech strategy optimise prefix --domain-size 4 --epsilon 1 --objective worst --out Q.h5" in said
    assert "factormech strategy export Q.h5 Q.csv" in said


def test_answers_fit_the_terminal_they_are_shown_in(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from factormech.cli import answer, main

    words = ("plan", "prefix", "--domain-size", 4, *E1, "--rmse", "5%")
    piped = run(*words).out
    assert max(map(len, piped.splitlines())) > 120  # a sentence is a line where programs read
    for width in (60, 80, 120):
        for module in (answer, main):
            monkeypatch.setattr(module, "terminal_width", lambda width=width: width, raising=False)
        shown = run(*words).out
        commands = [line for line in shown.splitlines() if line.startswith("  factormech ")]
        assert len(commands) == 2  # whole, so that they can be copied
        assert max(len(line) for line in shown.splitlines() if line not in commands) <= width
        rows = [line for line in shown.splitlines() if line.startswith(("RAPPOR", "mechanism"))]
        assert len({len(line) for line in rows}) == 1


def test_constant_queries_and_easy_targets_are_told_in_a_comparison(ask: Ask, run: Run) -> None:
    refused = run("strategy", "compare", "total", "--domain-size", 4, *E1)
    assert refused.code == 1
    assert "need no users" in refused.err
    # The best constant answer to the histogram of n types has the mean squared error (1 − 1/n)/n.
    easy = ask("strategy", "compare", "histogram", "--domain-size", 4, *E1, "--rmse", "50%")
    assert "0.1875" in easy["reason"]
    assert "--alpha" in easy["reason"]
    hard = ask("strategy", "compare", "histogram", "--domain-size", 4, *E1)
    assert "reason" not in hard


def test_the_worst_case_of_constant_queries_is_no_error(ask: Ask) -> None:
    found = ask("strategy", "optimise", "total", "--domain-size", 4, *E1, "--objective", "worst")
    assert found["worst_variance"] == 0.0
    table = fm.compare(fm.workload("total", 4), 1.0, ["optimised", "rappor"])
    assert table["worst_variance"].iloc[0] == 0.0
