"""What jobs refuse, in one line each, and that nothing half-written is left."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from factormech.errors import BadValue
from factormech.mechanisms.local import registry
from factormech.pipeline import solve as solve_job
from factormech.pipeline.common import run
from factormech.spec import find, shared
from factormech.store import hdf5
from factormech.studies import solves
from factormech.studies.asked import Asked
from factormech.studies.grids import bound_request
from factormech.studies.solves import Solve

pytestmark = pytest.mark.workflow


def job(folder: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"factormech.pipeline.{name}", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def request(workload: str) -> Solve:
    return solves.strategy("adaptive-pgd", workload, 8, 1.0)


GRID = {"workload": ("prefix",), "domain_size": (8,), "epsilon": (1.0, 2.0), "seed": (0, 7)}


def asked(mechanisms: list[str], bounds: list[str]) -> Asked:
    return Asked(GRID, {"mechanisms": mechanisms, "options": {}, "bounds": bounds})


def evaluate(question: Asked, *more: str) -> list[str]:
    return ["--kind", "optimality-gap", "--study", "one", "--part", "all", "--asked", question.to_json(), *more]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two strategies and a bound."""
    here = tmp_path_factory.mktemp("jobs")
    for name in ("prefix", "histogram"):
        done = job(here, "solve", "--solve", request(name).to_json(), "--output", f"{name}.h5")
        assert done.returncode == 0, done.stderr
    point = bound_request(asked([], ["certified"]), "certified", "prefix", 8, 2.0, 0)
    assert job(here, "solve", "--solve", point.to_json(), "--output", "bound.h5").returncode == 0
    return here


@pytest.mark.slow
def test_a_strategy_from_a_file_measures_as_one_solved_on_the_spot(folder: Path) -> None:
    question = asked(["adaptive-pgd"], [])
    assert job(folder, "evaluate", *evaluate(question), "--output", "spot.h5").returncode == 0
    given = ["--solved", "prefix.h5", "histogram.h5", "--output", "file.h5"]
    assert job(folder, "evaluate", *evaluate(question), *given).returncode == 0
    spot, file = (hdf5.read(folder / name)["rows"] for name in ("spot.h5", "file.h5"))
    assert spot.equals(file)
    assert set(spot["status"]) == {"ok"}


@pytest.mark.slow
def test_a_bound_in_a_file_is_not_evaluated_again(folder: Path) -> None:
    """That of the file is taken, at its point and for every seed; the others are evaluated."""
    record = hdf5.read(folder / "bound.h5", "bound")
    hdf5.write(folder / "other.h5", "bound", datasets={"value": np.array([123.0])}, attributes=record.attributes)
    question = asked([], ["svd", "certified"])
    for files, wanted in ((["bound.h5"], float(record["value"][0])), (["other.h5"], 123.0)):
        done = job(folder, "evaluate", *evaluate(question), "--solved", *files, "--output", "out.h5")
        assert done.returncode == 0, done.stderr
        rows = hdf5.read(folder / "out.h5")["rows"]
        at = rows[(rows["bound_name"] == "certified") & (rows["epsilon"] == 2.0)]
        assert at["variance_bound"].tolist() == [wanted] * 2
    assert len(rows) == 8
    others = rows.drop(index=at.index)
    assert (others["variance_bound"] >= 0).all()
    assert 123.0 not in set(others["variance_bound"])


@pytest.mark.slow
def test_files_are_found_by_what_they_answer(folder: Path) -> None:
    """Another budget, seed, setting or workload is another request."""
    W = request("prefix").made()
    with shared([folder / "prefix.h5"]):
        assert find(request("prefix").spec(W)) is not None
        for other in (
            dataclasses.replace(request("prefix"), epsilon=2.0),
            dataclasses.replace(request("prefix"), seed=1),
            dataclasses.replace(request("prefix"), root_seed=1),
            dataclasses.replace(request("prefix"), options={"rows": 16}),
        ):
            assert find(other.spec(W)) is None
        assert find(request("histogram").spec(request("histogram").made())) is None
    assert find(request("prefix").spec(W)) is None


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("evaluate", [*evaluate(asked(["hadamarx"], [])), "--output", "out.h5"], "did you mean 'hadamard'?"),
        (
            "evaluate",
            [*evaluate(asked(["hadamard"], [])), "--solved", "none.h5", "--output", "out.h5"],
            "none.h5",
        ),
        (
            "evaluate",
            ["--kind", "pie", "--study", "one", "--part", "all", "--asked", "{}", "--output", "out.h5"],
            "kind of study = 'pie'",
        ),
        (
            "solve",
            ["--solve", request("prefix").to_json(), "--start", "histogram.h5", "--output", "out.h5"],
            "be the solution that this solve begins with",
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
        run(import_module(f"factormech.pipeline.{name}").main)
    said = stopped.value.code
    assert isinstance(said, str)
    assert message in said
    assert said.startswith("error: ")
    assert len(said.splitlines()) == 1
    assert sorted(folder.iterdir()) == before


def test_a_request_that_cannot_be_read_is_refused(folder: Path) -> None:
    done = job(folder, "solve", "--solve", json.dumps({"family": "strategy"}), "--output", "out.h5")
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


def test_a_strategy_that_is_not_private_is_not_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver's answer for a larger budget, as if it were for this one."""
    solve = registry.solution_for
    leaky = lambda spec, *rest: solve(dataclasses.replace(spec, epsilon=1.1 * spec.epsilon), *rest)  # noqa: E731
    monkeypatch.setattr(registry, "solution_for", leaky)
    output = folder / "leaky.h5"
    monkeypatch.setattr("sys.argv", ["solve", "--solve", request("prefix").to_json(), "--output", str(output)])
    with pytest.raises(BadValue, match=r"be at least the privacy loss of the strategy, 1\.0999"):
        solve_job.main()
    assert not output.exists()
