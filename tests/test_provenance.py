"""From a figure's point back to its row, part and solutions: on a run of two parts, made by the jobs themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import factormech as fm
from factormech.cli.main import main
from factormech.errors import BadValue, UnknownName
from factormech.pipeline import evaluate, solve, tabulate
from factormech.pipeline.planning import Plan
from factormech.studies.asked import Asked
from tests.studies import ROOT

CONFIG = """
studies:
  gap:
    paper: mckenna2020
    artefact: beyond Figure 1
    kind: optimality-gap
    title: Gap
    grid: {workload: [prefix, histogram], domain_size: [4], epsilon: [1.0, 2.0]}
    mechanisms: [hadamard, optimised]
    bounds: [svd]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of a study, as the workflow makes them."""
    from factormech.config.studies import load_file

    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text(CONFIG)
    plan = Plan(load_file("config.yaml", ROOT / "workflow/schemas/config.schema.yaml"))

    def job(module: object, *words: str) -> None:
        monkeypatch.setattr("sys.argv", ["job", "--code", "0123456789ab", *words])
        module.main()  # type: ignore[attr-defined]

    for file, request in plan.solved_for(["gap"]).items():
        job(solve, "--solve", request.to_json(), "--output", file)
    files = []
    for part, asked in plan.parts["gap"].items():
        files.append(f"results/parts/gap/{part}.h5")
        words = ["--kind", "optimality-gap", "--study", "gap", "--part", part, "--asked", asked.to_json()]
        job(evaluate, *words, "--solved", *plan.needs["gap"][part], "--output", files[-1])
    forms = ["--csv", "results/tables/gap.csv", "--latex", "results/tables/gap.tex", "--hdf5", "results/gap.h5"]
    asked_text = plan.text("gap", "table")
    assert Asked.from_json(asked_text)["bounds"] == ["svd"]
    job(tabulate, "--kind", "optimality-gap", "--study", "gap", "--asked", asked_text, "--parts", *files, *forms)
    return tmp_path


@pytest.mark.slow
def test_a_point_is_traced_to_its_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    point = {"mechanism": "optimised", "workload": "prefix", "epsilon": "2.0"}
    [found] = fm.trace("figures/gap.svg", point, folder=folder)
    assert found.row["average_variance"] > 0
    assert Path(found.part).name == "optimised.h5"
    [(file, holds)] = found.solved.items()
    assert file.startswith("results/strategies/optimised/prefix/n4/eps2.0-")
    assert (holds["mechanism"], holds["workload"], holds["epsilon"]) == ("optimised", "prefix", 2.0)
    assert (found.code, holds["code"]) == ("0123456789ab", "0123456789ab")
    assert found.asked["grid"]["epsilon"] == [1.0, 2.0]
    [fixed] = fm.trace("gap", {**point, "mechanism": "hadamard"})
    assert (Path(fixed.part).name, fixed.solved) == ("hadamard.h5", {})
    assert len(fm.trace("results/tables/gap.csv")) == 8
    words = [word for key, value in point.items() for word in ("--point", f"{key}={value}")]
    assert main(["trace", "figures/gap.png", *words]) == 0
    said = capsys.readouterr().out
    assert file in said
    assert "results/parts/gap/optimised.h5" in said
    assert main(["trace", "gap", *words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["traced"][0]["part"].endswith("optimised.h5")


def test_what_is_not_there_is_said_in_a_line(folder: Path) -> None:
    with pytest.raises(UnknownName, match="workload"):
        fm.trace("gap", {"worklod": "prefix"})
    with pytest.raises(BadValue, match=r"epsilon = '3.0': must be a value of .*give one of 1.0, 2.0"):
        fm.trace("gap", {"epsilon": "3.0"})
    with pytest.raises(BadValue, match=r"none\.csv"):
        fm.trace("none")
    (folder / "results/parts/gap/hadamard.h5").unlink()
    with pytest.raises(BadValue, match=r"be the digest of a part that is there; run the workflow again"):
        fm.trace("gap", {"mechanism": "hadamard"})
