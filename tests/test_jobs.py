"""What jobs refuse, in one line each, and that nothing half-written is left."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from factormech import store
from factormech.errors import BadValue
from factormech.jobs import solve as solve_job
from factormech.jobs.common import run

pytestmark = pytest.mark.workflow


def job(folder: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"factormech.jobs.{name}", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two workloads and a strategy for each of them."""
    here = tmp_path_factory.mktemp("jobs")
    for name in ("prefix", "histogram"):
        args = ["--workload", name, "--domain-size", "8", "--root-seed", "0", "--output", f"{name}.h5"]
        assert job(here, "workload", *args).returncode == 0
        args = ["--mechanism", "adaptive-pgd", "--epsilon", "1.0", "--root-seed", "0", "--seed", "0"]
        assert job(here, "solve", *args, f"{name}.h5", "--output", f"{name}-strategy.h5").returncode == 0
    return here


def test_a_strategy_from_a_file_measures_as_one_solved_on_the_spot(folder: Path) -> None:
    common = ["--mechanism", "adaptive-pgd", "--epsilons", "1.0", "--workloads", "prefix.h5"]
    assert job(folder, "measure", *common, "--output", "spot.h5").returncode == 0
    assert job(folder, "measure", *common, "--output", "file.h5", "--strategies", "prefix-strategy.h5").returncode == 0
    spot, file = (store.read(folder / name)["measurements"] for name in ("spot.h5", "file.h5"))
    assert spot.equals(file)
    assert spot.loc[0, "status"] == "ok"


MEASURE = ["--epsilons", "1.0", "--workloads", "prefix.h5", "--output", "out.h5"]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        (
            "measure",
            ["--mechanism", "adaptive-pgd", *MEASURE, "--strategies", "histogram-strategy.h5"],
            "histogram-strategy.h5 = ('histogram', 8, 0, 1.0): must be of a workload",
        ),
        (
            "measure",
            ["--mechanism", "matrix-l2", *MEASURE, "--strategies", "prefix-strategy.h5"],
            "prefix-strategy.h5 = 'adaptive-pgd': must be a strategy of matrix-l2",
        ),
        (
            "measure",
            ["--mechanism", "hadamard", *MEASURE, "--strategies", "prefix-strategy.h5"],
            "must not be given for hadamard",
        ),
        ("measure", ["--mechanism", "hadamarx", *MEASURE], "did you mean 'hadamard'?"),
        (
            "measure",
            ["--mechanism", "hadamard", "--epsilons", "0", "--workloads", "prefix.h5", "--output", "out.h5"],
            "above 0",
        ),
        (
            "measure",
            ["--mechanism", "hadamard", "--epsilons", "1", "--workloads", "none.h5", "--output", "out.h5"],
            "none.h5",
        ),
        (
            "measure",
            ["--mechanism", "hadamard", "--epsilons", "1", "--workloads", "prefix-strategy.h5", "--output", "out.h5"],
            "prefix-strategy.h5 = 'kind strategy': must be a file of kind 'workload'",
        ),
        (
            "collect",
            [
                *("--mechanism", "hadamard", "--users", "0", "--populations", "zipf", "--trials", "2"),
                *("--level", "1e-6", "--root-seed", "0", "--seeds", "0", *MEASURE),
            ],
            "users = 0: must be a whole number of at least 1",
        ),
        (
            "workload",
            ["--workload", "all-marginals", "--domain-size", "12", "--root-seed", "0", "--output", "out.h5"],
            "domain_size = 12: must suit the workload all-marginals",
        ),
        ("draw", ["--kind", "sample-complexity", "none.csv", "out"], "none.csv"),
        ("draw", ["--kind", "pie", "none.csv", "out"], "pie"),
    ],
)
def test_refusals_are_one_line(
    folder: Path,
    name: str,
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What ``sys.exit`` is given: one line, printed, and 1 as the code (a process of its own: the last test here)."""
    before = sorted(folder.iterdir())
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", [name, *arguments])
    with pytest.raises(SystemExit) as stopped:
        run(import_module(f"factormech.jobs.{name}").main)
    said = stopped.value.code
    assert isinstance(said, str)
    assert message in said
    assert said.startswith("error: ")
    assert len(said.splitlines()) == 1
    assert sorted(folder.iterdir()) == before


BOUND = ["--bounds", "svd", "certified", "--epsilons", "1.0", "2.0"]


def test_a_strategy_that_is_not_private_is_not_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver's answer for a larger budget, as if it were for this one."""
    solve = solve_job.solve
    monkeypatch.setattr(solve_job, "solve", lambda name, W, epsilon, *rest: solve(name, W, 1.1 * epsilon, *rest))
    output = folder / "leaky.h5"
    given = ["--mechanism", "adaptive-pgd", "--epsilon", "1.0", "--root-seed", "0", "--seed", "0"]
    monkeypatch.setattr("sys.argv", ["solve", *given, str(folder / "prefix.h5"), "--output", str(output)])
    with pytest.raises(BadValue, match=r"be at least the privacy loss of the strategy, 1\.0999"):
        solve_job.main()
    assert not output.exists()


def test_a_bound_from_a_file_is_the_one_evaluated_on_the_spot(folder: Path) -> None:
    point = ["--bounds", "certified", "--epsilons", "2.0", "--workloads", "prefix.h5", "--output", "point.h5"]
    assert job(folder, "bound", *point).returncode == 0
    common = [*BOUND, "--workloads", "prefix.h5", "histogram.h5", "--seeds", "0", "7"]
    assert job(folder, "bound", *common, "--output", "spot.h5").returncode == 0
    assert job(folder, "bound", *common, "--output", "file.h5", "--points", "point.h5").returncode == 0
    spot, file = (store.read(folder / name)["bounds"] for name in ("spot.h5", "file.h5"))
    assert spot.equals(file)
    assert len(spot) == 16


def test_a_bound_in_a_file_is_not_evaluated_again(folder: Path) -> None:
    frame = store.read(folder / "point.h5")["bounds"].assign(variance_bound=123.0)
    store.write(folder / "other.h5", "bounds", datasets={"bounds": frame}, attributes={"workload_seed": None})
    arguments = [*BOUND, "--workloads", "prefix.h5", "--points", "other.h5", "--output", "out.h5"]
    assert job(folder, "bound", *arguments).returncode == 0
    found = store.read(folder / "out.h5")["bounds"].set_index(["bound_name", "epsilon"])["variance_bound"]
    assert found["certified", 2.0] == 123.0
    assert 0.0 < found["certified", 1.0] != 123.0


def test_a_bound_of_another_study_is_refused(folder: Path) -> None:
    arguments = ["--bounds", "svd", "--epsilons", "2.0", "--workloads", "prefix.h5", "--points", "point.h5"]
    done = job(folder, "bound", *arguments, "--output", "refused.h5")
    assert done.returncode == 1
    assert "point.h5 = ('certified', 'prefix', 8, 2.0): must be of a bound" in done.stderr
    assert not (folder / "refused.h5").exists()
