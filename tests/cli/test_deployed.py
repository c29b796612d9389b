"""What is promised can be written to files and verified: Q with its reconstruction, and the proof of the bound."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from factormech.store import hdf5

from .conftest import Ask, Run

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Queries on which the textbook reconstruction is worse than the one of the least worst case."""
    path = tmp_path_factory.mktemp("queries") / "ten.csv"
    np.savetxt(path, np.random.default_rng(5).integers(0, 2, size=(10, 7)), delimiter=",", fmt="%d")
    return path


@pytest.fixture
def solved(ask: Ask, queries: Path, tmp_path: Path) -> Path:
    out = tmp_path / "Q.h5"
    ask("strategy", "optimise", queries, "--epsilon", 1, "--objective", "worst", "--out", out)
    return out


def worst_variance(Q: np.ndarray, V: np.ndarray, W: np.ndarray) -> float:
    """McKenna et al., Theorem 3.4, from the entries: the variance that one user adds, for the worst user type."""
    return float(((V**2).sum(axis=0) @ Q - (W**2).sum(axis=0)).max())


def test_the_exported_reconstruction_has_the_promised_variance(ask: Ask, solved: Path, queries: Path) -> None:
    promised = hdf5.read(solved).attributes["worst_variance"]
    said = ask("strategy", "export", solved, solved.with_name("Q.csv"))
    W = np.loadtxt(queries, delimiter=",")
    Q, V = (np.loadtxt(path, delimiter=",") for path in (said["file"], said["reconstruction"]))
    assert said["reconstruction"] == str(solved.with_name("Q-reconstruction.csv"))
    np.testing.assert_allclose(V @ Q, W, atol=1e-9)
    assert worst_variance(Q, V, W) == pytest.approx(promised, rel=1e-9)
    D = Q.sum(axis=1)
    textbook = W @ np.linalg.pinv(Q.T @ (Q / D[:, None])) @ (Q / D[:, None]).T
    assert said["worst_variance"] == pytest.approx(promised, rel=1e-9)
    assert said["textbook_worst_variance"] == pytest.approx(worst_variance(Q, textbook, W), rel=1e-9)
    assert said["textbook_worst_variance"] > promised * (1 + 1e-4)


def test_the_export_says_what_the_files_are_for(run: Run, solved: Path) -> None:
    said = run("strategy", "export", solved, solved.with_name("Q.csv")).out
    assert "Q-reconstruction.csv" in said
    assert "answers = V · y" in said
    assert "textbook" in said


def test_without_its_queries_the_matrix_is_exported_alone(ask: Ask, queries: Path, solved: Path) -> None:
    record = hdf5.read(solved)
    datasets = {name: value for name, value in record.datasets.items() if name != "queries"}
    path = solved.with_name("bare.h5")
    hdf5.write(path, "strategy", datasets=datasets, attributes=record.attributes)
    said = ask("strategy", "export", path, path.with_name("bare.csv"))
    assert said["reconstruction"] is None
    assert "--workload" in said["reason"]
    assert not path.with_name("bare-reconstruction.csv").exists()
    again = ask("strategy", "export", path, path.with_name("bare.csv"), "--workload", queries)
    assert Path(again["reconstruction"]).is_file()


def test_verify_proves_the_worst_case_that_optimise_printed(ask: Ask, solved: Path) -> None:
    promised = hdf5.read(solved).attributes
    found = ask("strategy", "verify", solved)
    assert (found["status"], found["optimised_for"]) == ("ok", "worst")
    # The weights of the average prove less than the hardest prior: that is what this case is about.
    assert promised["rigorous_lower_bound"] < promised["lower_bound"] * (1 - 1e-4)
    assert found["lower_bound"] == pytest.approx(promised["lower_bound"], rel=2e-6)
    assert found["gap"] < promised["gap"] + 2e-6
    assert found["lower_bound"] <= promised["objective"]


def test_a_forged_prior_proves_less_and_breaks_nothing(ask: Ask, run: Run, solved: Path) -> None:
    record = hdf5.read(solved)
    prior = np.full(7, 1.0 / 7.0)
    path = solved.with_name("forged.h5")
    # The strategy is restored with the prior, too: its worst variance is then not the recorded one.
    hdf5.write(path, "strategy", datasets={**record.datasets, "prior": prior}, attributes=record.attributes)
    found = ask("strategy", "verify", path, code=3)
    assert "its objective is" in found["reason"]
    assert found["lower_bound"] < record.attributes["lower_bound"] * (1 - 1e-4)


def test_a_printed_bound_that_is_not_proved_is_shown_beside_the_proof(ask: Ask, run: Run, solved: Path) -> None:
    record = hdf5.read(solved)
    datasets = {name: value for name, value in record.datasets.items() if not name.startswith("bound_")}
    attributes = {**record.attributes, "options": '{"objective": "average"}'}
    attributes |= {"objective": None, "lower_bound": float(record.attributes["lower_bound"])}
    del attributes["objective"]
    path = solved.with_name("claimed.h5")
    hdf5.write(path, "strategy", datasets=datasets, attributes=attributes)
    found = ask("strategy", "verify", path)
    assert found["claimed_lower_bound"] == attributes["lower_bound"]
    assert found["lower_bound"] < found["claimed_lower_bound"] * (1 - 1e-4)
    said = run("strategy", "verify", path).out
    assert "solver's bound" in said
    assert "keeps no proof" in said


def test_names_of_queries_and_types_are_kept_to_the_estimates(ask: Ask, run: Run, tmp_path: Path) -> None:
    queries, data, out = tmp_path / "ages.csv", tmp_path / "people.csv", tmp_path / "Q.h5"
    queries.write_text("query;0-17;18-64;65+\nchildren;1;0;0\nbelow 65;1;1;0\n", encoding="cp1252")
    data.write_text("age,count\n65+,900\n0-17,1200\n18-64,3400\n")
    ask("strategy", "optimise", queries, "--epsilon", 1, "--out", out)
    found = ask("collect", "simulate", out, "--data", data)
    assert found["query_names"] == ["children", "below 65"]
    assert found["truth"] == [1200.0, 4600.0]
    said = run("collect", "simulate", out, "--data", data).out
    assert "below 65" in said
    data.write_text("age,count\n65+,900\n0-17,1200\n18-65,3400\n")
    refused = run("collect", "simulate", out, "--data", data)
    assert refused.code == 1
    assert "unknown: 18-65" in refused.err
