"""Interrupts, progress, start-up, and how numbers become JSON."""

from __future__ import annotations

import io
import json
import math
import os
import re
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from factormech.cli.answer import plain
from factormech.cli.parser import build
from factormech.cli.progress import Progress, expected_seconds
from factormech.cli.schema import COMMANDS, ITEMS, KEYS
from factormech.mechanisms.local.errors import estimate_covariance, standard_errors
from factormech.mechanisms.local.optimal.problem import Step
from factormech.shipped import start_project
from factormech.store import hdf5
from factormech.studies.measures.verification import exact_loss, exponential_below

from .conftest import Ask, Run

pytestmark = pytest.mark.heavy

OPTIMISE = ("strategy", "optimise", "prefix", "--domain-size", 4, "--epsilon", 1)


def interrupt(*_: object, **__: object) -> NoReturn:
    raise KeyboardInterrupt


@pytest.mark.parametrize("where", ["factormech.mechanisms.local.registry.solve", "factormech.store.content.stamp"])
def test_an_interrupt_leaves_no_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    monkeypatch.setattr(where, interrupt)
    said = run(*OPTIMISE, "--out", tmp_path / "Q.h5")
    assert (said.code, said.out, said.err) == (130, "", "interrupted: nothing was written\n")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_the_file_that_was_there(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "Q.csv"
    assert run(*OPTIMISE, "--out", tmp_path / "Q.h5").code == 0
    out.write_text("mine")
    monkeypatch.setattr(Progress, "step", interrupt)
    assert run("strategy", "export", tmp_path / "Q.h5", out).code == 130
    assert out.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Q.csv", "Q.h5"]


def test_memory_that_is_not_there_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhaust(*_: object, **__: object) -> NoReturn:
        raise MemoryError

    monkeypatch.setattr("factormech.mechanisms.local.registry.solve", exhaust)
    said = run(*OPTIMISE)
    assert said.code == 1
    assert "memory" in said.err
    assert said.err.count("\n") == 1


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere(kind: type[io.StringIO]) -> None:
    stream = kind()
    with Progress("solving", stream, first=0.01) as progress:
        progress.told(Step("pricing", 3, 12, 1.1, 1.0))
        while not stream.getvalue():
            time.sleep(0.005)
    text = stream.getvalue()
    assert "solving: [####............] 3 of 12, 0 s, pricing, gap 10 %" in text
    if kind is Terminal:
        assert text.startswith("\r")
        assert text.endswith("\r\x1b[K")  # cleared: the answer stands alone
        assert "\n" not in text
    else:
        assert "\r" not in text
        assert text.endswith("\n")


def test_progress_shows_the_share_the_gap_and_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 60.0, 300.0])
    monkeypatch.setattr("factormech.cli.progress.time.monotonic", lambda: next(clock))
    progress = Progress("solving", io.StringIO(), expected=240.0)
    progress.told(Step("pricing", 3, 12, 1.1, 1.0))
    said = "solving: [####............] 25 %, 60 s, about 3 min left, 3 of 12, pricing, gap 10 %"
    assert progress.line() == said
    assert "99 %, 5 min, longer than the expected 4 min" in progress.line()


@pytest.mark.parametrize(("kind", "shown"), [(Terminal, "hadamard, gap 10 %"), (io.StringIO, "hadamard")])
def test_a_terminal_shows_the_gap_of_the_solve_that_runs(kind: type[io.StringIO], shown: str) -> None:
    progress = Progress("planning", kind())
    progress.step(3, 12, "hadamard")
    progress.told_within(Step("pricing", 30, 60, 1.1, 1.0))
    assert progress.line() == f"planning: [####............] 3 of 12, 0 s, {shown}"
    progress.step(4, 12, "rappor")  # the next mechanism has no gap yet
    assert progress.line().endswith("4 of 12, 0 s, rappor")
    progress.told_within(Step("pricing", 30, 60, 1.1, 0.0))
    assert progress.line().endswith("rappor")


@pytest.mark.parametrize("command", [("plan", "--alpha", 0.01), ("strategy", "compare")])
def test_a_plan_passes_on_what_its_solver_reports(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str | float, ...]
) -> None:
    told: list[Step] = []
    monkeypatch.setattr(Progress, "told_within", lambda _, step: told.append(step))
    assert run(*command, "prefix", "--domain-size", 4, "--epsilon", 1).code == 0
    assert told
    gaps = [step.objective / step.lower_bound - 1.0 for step in told if step.lower_bound > 0.0]
    assert gaps
    assert min(gaps) < 1e-3


def test_the_time_of_a_large_solve_is_predicted_by_the_benchmark() -> None:
    small, large = (expected_seconds(n, ["optimised"]) for n in (64, 4096))
    assert small < 2.0 < large
    assert expected_seconds(4096, ["optimised", "hadamard"]) == large  # it needs no solver


def test_what_is_quick_shows_no_progress(run: Run) -> None:
    stream = Terminal()
    with Progress("solving", stream):
        pass
    assert stream.getvalue() == ""
    assert run("workload", "list").err == ""


def test_progress_never_mixes_with_the_answer(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Progress.__init__, "__kwdefaults__", {"first": 0.0})
    said = run(*OPTIMISE, "--json")
    assert "optimising for prefix" in said.err
    assert json.loads(said.out)["status"] == "ok"


def test_no_number_that_json_lacks() -> None:
    value: dict[str, Any] = {"gap": math.inf, "x": [np.float64(1.5), math.nan], "inner": {"y": math.nan, "reason": "r"}}
    assert plain(value) == {
        "gap": None,
        "x": [1.5, None],
        "inner": {"y": None, "reason": "r"},
        "reason": "gap is infinite",
    }
    assert plain(np.arange(3)) == [0, 1, 2]


def test_every_key_is_explained_and_used() -> None:
    used = {key for always, sometimes in (*COMMANDS.values(), *ITEMS.values()) for key in (*always, *sometimes)}
    assert set(KEYS) == used


def commands(parser: Any, words: str = "") -> list[str]:
    """Every command of the parser."""
    groups = [action for action in parser._actions if hasattr(action, "choices") and isinstance(action.choices, dict)]
    if not groups:
        return [words]
    return [leaf for name, child in groups[0].choices.items() for leaf in commands(child, f"{words} {name}".strip())]


def test_every_command_has_a_schema_and_json() -> None:
    """``plan --class`` is ``plan`` with another answer."""
    assert set(commands(build())) == set(COMMANDS) - {"error", "plan --class"}


ROOT = Path(__file__).resolve().parents[2]
FEW = ("mckenna2020-figure-1", "mckenna2020-figure-3a", "consistency", "selection")
SCHEMA = ("--schema", ROOT / "workflow" / "schemas" / "config.schema.yaml")
EVERY = ("--config", ROOT / "config.yaml", *SCHEMA)
Config = tuple[object, ...]


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory, schema_read_once: None) -> Config:
    """Words that name a configuration with few studies of the project's."""
    folder = tmp_path_factory.mktemp("few")
    start_project(folder, FEW)
    return ("--config", folder / "config.yaml", *SCHEMA)


def test_studies_are_listed_shown_and_checked(ask: Ask, run: Run, config: Config) -> None:
    listed = ask("study", "list", *config, "--quick")["studies"]
    names = [study["study"] for study in listed]
    shown = ask("study", "show", "mckenna2020-figure-1", *config, "--quick")
    assert shown["study"] in names
    assert shown["grid"]["mechanisms"] == next(s for s in listed if s["study"] == shown["study"])["grid"]["mechanisms"]
    assert "mckenna2020-figure-1" in run("study", "show", "mckenna2020-figure-1", *config, "--quick").out
    checked = ask("check", *config, "--quick")
    assert checked["names"] == names
    assert checked["measurements"] > len(names)
    made = run("study", "list", "--made", *config, "--quick").out.splitlines()
    assert len(made) == len(names)
    unknown = run("study", "show", "mckenna2020-figure-9", *config, "--quick")
    assert unknown.code == 1
    assert "did you mean" in unknown.err


@pytest.mark.slow
def test_a_list_of_studies_is_a_line_each_and_can_be_searched(run: Run, ask: Ask) -> None:
    lines = run("study", "list", *EVERY).out.splitlines()
    names = [study["study"] for study in ask("study", "list", *EVERY)["studies"]]
    assert [line.split()[0] for line in lines if line.startswith("  ")].count("mckenna2020-figure-1") == 1
    assert len([line for line in lines if line.startswith("  ")]) == len(names)
    assert max(map(len, lines)) <= 120
    found = ask("study", "list", "Figure 1", *EVERY)["studies"]
    assert "mckenna2020-figure-1" in [study["study"] for study in found]
    assert len(found) < len(names)
    assert "TEXT = 'no such'" in run("study", "list", "no such", *EVERY).err


def test_no_answer_shows_python(run: Run, config: Config) -> None:
    shown = run("study", "show", "mckenna2020-figure-1", *config, "--quick").out
    assert "optimised: objective: worst" in shown
    assert not re.search(r"[{}\[\]]|\bTrue\b|\bNone\b", shown)


def test_one_study_is_one_study(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    path.write_text(
        "studies:\n  mine:\n    paper: me\n    artefact: it\n    kind: sample-complexity\n    title: Mine\n"
        "    grid: {workload: [prefix], domain_size: [4], epsilon: [1.0]}\n    mechanisms: [rappor]\n"
    )
    said = run("check", "--config", path, *SCHEMA).out
    assert "1 study, 2 measurements" in said


def test_results_are_found_by_study_and_by_file(
    run: Run, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: Config
) -> None:
    monkeypatch.chdir(tmp_path)
    found = ask("results", "show", "mckenna2020-figure-1", *config, "--quick")
    worst = [one for one in found["files"] if "Optimised (worst case): prefix, n = 64, ε = 1" in one["description"]]
    assert len(worst) == 1  # its name alone does not say which of two it is
    assert (found["made"], worst[0]["made"], found["parts"][0]) == (False, False, 0)
    file = worst[0]["file"]
    before = ask("results", "show", file, *config, "--quick")
    assert "quick/mckenna2020-figure-1" in before["used_by"]
    assert before["description"] == worst[0]["description"]
    hdf5.write(
        file, "strategy", datasets={}, attributes={"mechanism": "optimised", "options": '{"objective": "worst"}'}
    )
    after = ask("results", "show", file, *config, "--quick")
    assert (after["made"], after["holds"]["mechanism"]) == (True, "optimised")
    assert "objective: worst" in run("results", "show", file, *config, "--quick").out
    again = ask("results", "show", "figures/quick/mckenna2020-figure-1.svg", *config, "--quick")
    assert again["solutions"] == [1, len(found["files"])]
    listed = {one["study"]: one for one in ask("results", "list", *config, "--quick")["progress"]}
    assert listed["quick/mckenna2020-figure-1"]["made"]
    assert "quick/mckenna2020-figure-1" in run("results", "list", *config, "--quick").out
    said = run("results", "show", "results/strategies/none.h5", *config, "--quick")
    assert said.code == 1
    assert "factormech results show STUDY" in said.err


@pytest.mark.slow
@pytest.mark.parametrize("with_data", [True, False])
def test_standins_are_announced(
    ask: Ask, run: Run, monkeypatch: pytest.MonkeyPatch, config: Config, with_data: bool
) -> None:
    files = ROOT / "tests/cli"  # any folder: whether the files are right is not asked here
    monkeypatch.setattr("factormech.data.files.named_folder", lambda *_: files if with_data else None)
    monkeypatch.setattr("factormech.data.files.problems", lambda *_: [])
    monkeypatch.chdir(ROOT)
    checked, said = ask("check", *config, "--quick"), run("check", *config, "--quick").out
    if with_data:
        assert checked["with_standins"] == checked["unjudged_claims"] == []
        assert "stand-in" not in said
        return
    assert checked["with_standins"] == ["quick/mckenna2020-figure-3a", "quick/consistency"]
    assert all(name in said for name in ("quick/mckenna2020-figure-3a", "quick/consistency", "snakemake data"))
    assert f"{len(checked['unjudged_claims'])} claims" in said


def test_a_bad_configuration_is_told_line_by_line(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("seed: -1\nthreads: many\n")
    said = run("check", "--config", path, *SCHEMA)
    assert said.code == 1
    assert all(line.startswith("config: ") for line in said.err.splitlines())


@pytest.mark.parametrize(
    ("arguments", "seconds", "absent"),
    [
        (["--help"], 0.3, ["numpy", "scipy", "h5py"]),
        (["workload", "list"], 0.5, ["scipy", "h5py", "pandas", "numba"]),
    ],
)
def test_it_starts_fast(arguments: list[str], seconds: float, absent: list[str]) -> None:
    code = (
        "import sys; from factormech.cli.main import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "import time; print(time.process_time(), [m for m in sys.modules], file=sys.stderr)"
    )
    path = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=path, check=True
    )
    used, _, modules = done.stderr.partition(" ")
    assert float(used) < seconds
    assert [name for name in absent if f"'{name}'" in modules] == []
    assert "usage" in done.stdout or "prefix" in done.stdout


def test_a_reader_who_has_seen_enough_is_no_error() -> None:
    path = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "factormech.cli", "workload", "list"], stdout=out, stderr=subprocess.PIPE, env=path
        )
    assert (done.returncode, done.stderr) == (0, b"")


# What stands behind the answers ------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [1e-9, 0.001, 1.0, 4.5, 40.0])
def test_the_exponential_is_bounded_from_below_and_closely(x: float) -> None:
    term, total, k = Fraction(1), Fraction(0), 0
    while term > Fraction(1, 2**220):
        total, k = total + term, k + 1
        term = term * Fraction(x) / k
    below = exponential_below(x)
    assert below <= total
    assert total - below < total * Fraction(1, 2**140)


def test_the_loss_of_a_matrix_is_that_of_its_floats() -> None:
    Q = np.array([[0.75, 0.25], [0.25, 0.75]])
    assert math.log(3) <= exact_loss(Q) <= math.log(3) + 1e-14
    assert exact_loss(np.array([[1.0, 0.5], [0.0, 0.5]])) == math.inf
    for a in np.exp(np.random.default_rng(1).uniform(0.1, 35.0, 40)).tolist():
        Q = np.array([[a, 1.0], [1.0, a]]) / (1.0 + a)
        loss, ratio = exact_loss(Q), Fraction(float(Q.max())) / Fraction(float(Q.min()))
        assert exponential_below(loss) >= ratio  # the float's own exponential, not a rounded logarithm
        assert math.exp(loss) <= float(ratio) * (1 + 1e-13)
    # A ratio that is e^ε but for one unit in the last place is seen.
    a = math.exp(1.0)
    Q = np.array([[a, 1.0], [1.0, a]]) / (1 + a)
    assert exact_loss(np.nextafter(Q, [[1.0, 0.0], [1.0, 1.0]])) > 1.0


@pytest.mark.parametrize("off", [0.0, 2.0**-53, 2.0**-52, 3.0**-30, 1e-12])
def test_the_loss_of_a_nearly_constant_matrix_is_found_at_once(off: float) -> None:
    Q = np.array([[0.5 - off, 0.5], [0.5 + off, 0.5]])
    ratio = max(Fraction(row.max()) / Fraction(row.min()) for row in Q)
    loss = exact_loss(Q)
    assert exponential_below(loss) >= ratio
    assert loss <= float(ratio - 1) + 1e-15


def test_standard_errors_are_those_of_every_query() -> None:
    from factormech.mechanisms.local.registry import build as strategy_of
    from factormech.mechanisms.local.strategy import StrategyMatrix
    from factormech.workloads.registry import create

    workload, x = create("all-ranges", 6), np.array([5.0, 0.0, 3.0, 2.0, 9.0, 1.0])
    strategy = strategy_of("randomized-response", 6, 0.7)
    assert isinstance(strategy, StrategyMatrix)
    C = workload.centred_gram()
    covariance = estimate_covariance(strategy, C, x)
    assert isinstance(covariance, np.ndarray)
    found = standard_errors(workload, covariance)
    W, Q = workload.matrix(), strategy.matrix
    V = W @ strategy.reconstruction + W.mean(axis=1, keepdims=True)
    expected = np.sqrt(((V**2) @ Q - (V @ Q) ** 2) @ x)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-6)
    assert found[np.ptp(W, axis=1) == 0].tolist() == [0.0]  # all users: public
    law = strategy.error_law(C).covariance(x)
    np.testing.assert_allclose(covariance, law, atol=1e-9)
