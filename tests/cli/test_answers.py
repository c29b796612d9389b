"""Answers beside closed forms, and what holds between the answers of different commands."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from factormech.mechanisms.local import registry as mechanisms
from factormech.store import hdf5
from factormech.workloads import registry as workloads
from factormech.workloads.stored import to_datasets

from .conftest import Ask, Run

pytestmark = pytest.mark.heavy

EPSILON = 1.0


def randomized_response(n: int, epsilon: float = EPSILON) -> float:
    """Variance of one user on the histogram: every centred direction is seen with x = ((a−1)/(a+n−1))²."""
    a = math.exp(epsilon)
    return (n - 1) / n * (((a + n - 1) / (a - 1)) ** 2 - 1.0)


def close(found: dict[str, Any]) -> dict[str, Any]:
    """The same object, its fractional numbers but for rounding."""
    return {key: pytest.approx(value, rel=1e-9) if isinstance(value, float) else value for key, value in found.items()}


# Workloads and norms -----------------------------------------------------------------------------------------


def test_every_family_is_listed(ask: Ask, run: Run) -> None:
    assert ask("workload", "list")["workloads"] == workloads.names()
    assert run("workload", "list").out.split() == workloads.names()


def test_prefix_sums_are_described_by_their_closed_form(ask: Ask) -> None:
    n = 40
    found = ask("workload", "describe", "prefix", "--domain-size", n)
    values = 0.5 / np.sin((2 * np.arange(1, n + 1) - 1) * np.pi / (4 * n + 2))
    assert found["nuclear_norm"] == pytest.approx(values.sum(), rel=1e-12)
    assert found["frobenius_norm"] ** 2 == pytest.approx(n * (n + 1) / 2, rel=1e-12)
    assert (found["queries"], found["rank"], found["least_column_sum"], found["largest_column_sum"]) == (n, n, 1, n)


def test_a_file_is_described_as_its_matrix_is(ask: Ask, prefix_file: Path) -> None:
    file, name = ask("workload", "describe", prefix_file), ask("workload", "describe", "prefix", "--domain-size", 8)
    assert file.pop("workload") == "mine"
    assert name.pop("workload") == "prefix"
    assert file == close(name)
    assert ask("workload", "describe", prefix_file, "--domain-size", 8)["domain_size"] == 8


def test_norm_of_thresholds_is_the_sum_of_cosecants(ask: Ask, tmp_path: Path) -> None:
    """γ₂ of the T × T matrix of signs of thresholds is (1/T)Σ csc((2j−1)π/(2T))."""
    T = 12
    path = tmp_path / "thresholds.csv"
    np.savetxt(path, 2 * np.tri(T) - 1, delimiter=",", fmt="%g")
    exact = float(np.mean(1.0 / np.sin((2 * np.arange(1, T + 1) - 1) * np.pi / (2 * T))))
    for kind in ("gamma2", "margin"):
        found = ask("norm", kind, path)
        assert found["lower_bound"] <= exact * (1 + 1e-12)
        assert exact * (1 - 1e-12) <= found["upper_bound"]
        assert found["gap"] == pytest.approx(found["upper_bound"] / found["lower_bound"] - 1, abs=1e-12)
        assert found["gap"] < 2e-3


def test_norms_of_the_histogram(ask: Ask) -> None:
    """γ₍ₚ₎(I) = 1, γ₂(I, α) = 1 − α."""
    one = [("gamma2",), ("gammaF",), ("gammap", "--p", 5)]
    for kind, *options in one:
        found = ask("norm", kind, "histogram", "--domain-size", 8, *options)
        assert (found["lower_bound"], found["upper_bound"]) == pytest.approx((1.0, 1.0), rel=1e-5)
    found = ask("norm", "gamma2", "histogram", "--domain-size", 8, "--alpha", 0.25)
    assert (found["lower_bound"], found["upper_bound"]) == pytest.approx((0.75, 0.75), rel=1e-3)


def test_norms_of_sets_of_attributes_are_those_of_their_matrices(ask: Ask) -> None:
    dense = ask("norm", "gamma2", "2-way-marginals", "--domain-size", 8, "--alpha", 0.1)
    found = ask("norm", "gamma2", "2-way-marginals", "--attributes", 3, "--alpha", 0.1)
    assert dense["lower_bound"] <= found["upper_bound"]
    assert found["lower_bound"] <= dense["upper_bound"]
    assert (found["queries"], found["domain_size"], found["attributes"]) == (12, 8, 3)
    conjunctions = ask("norm", "gamma2", "conjunctions-4", "--attributes", 4)
    assert conjunctions["lower_bound"] <= (4 / 3) ** 2 <= conjunctions["upper_bound"] * (1 + 1e-15)
    assert conjunctions["queries"] == 16


def test_norms_fall_with_error_and_with_shifts(ask: Ask) -> None:
    base = ("--domain-size", 8)
    exact = ask("norm", "gamma2", "prefix", *base)["lower_bound"]
    near = ask("norm", "gamma2", "prefix", *base, "--alpha", 0.1)
    shifted = ask("norm", "gamma2-shifted", "prefix", *base, "--alpha", 0.1)
    assert near["upper_bound"] < exact
    assert shifted["upper_bound"] < near["lower_bound"]
    eta = ask("norm", "eta", "prefix", *base, "--alpha", 0.1)
    assert (eta["norm"], eta["alpha"]) == ("eta", 0.1)
    assert 0 < eta["lower_bound"] <= eta["upper_bound"]


# Strategies --------------------------------------------------------------------------------------------------


def test_two_types_are_best_asked_by_randomized_response(ask: Ask) -> None:
    """On two types randomized response is optimal: L = 1 + 1/tanh²(ε/2), proved in whole numbers."""
    found = ask("strategy", "optimise", "histogram", "--domain-size", 2, "--epsilon", EPSILON)
    L = 1.0 + 1.0 / math.tanh(EPSILON / 2) ** 2
    assert found["objective"] == pytest.approx(L, rel=1e-9)
    assert found["lower_bound"] == pytest.approx(L, rel=1e-6)
    assert 0 <= found["gap"] < 1e-6
    assert found["worst_variance"] == pytest.approx(randomized_response(2), rel=1e-9)


@pytest.mark.parametrize("objective", ["average", "worst"])
def test_a_strategy_is_written_verified_and_exported(
    ask: Ask, tmp_path: Path, prefix_file: Path, objective: str
) -> None:
    out, text = tmp_path / "made" / "Q.h5", tmp_path / "Q.csv"
    solved = ask(*("strategy", "optimise", prefix_file, "--epsilon", EPSILON, "--objective", objective, "--out", out))
    checked = ask("strategy", "verify", out)
    same = ("workload", "queries", "epsilon", "objective", "rows", "worst_variance", "average_variance")
    assert {key: checked[key] for key in same} == close({key: solved[key] for key in same})
    assert checked["optimised_for"] == objective
    assert checked["bound_by"] == {"average": "whole numbers", "worst": "outward rounding"}[objective]
    assert checked["privacy_loss"] <= EPSILON
    exported = ask("strategy", "export", out, text)
    Q = np.loadtxt(text, delimiter=",")
    assert Q.shape == (exported["rows"], 8)
    _is_private(Q, checked["privacy_loss"])
    _has_variances(Q, np.tri(8), solved["average_variance"] if objective == "average" else None)


def _is_private(Q: np.ndarray, loss: float) -> None:
    """Every ratio of these floats, after exact normalisation, is at most e^loss, and the loss is not overstated."""
    sums = [sum(map(Fraction, column)) for column in Q.T.tolist()]
    P = [[Fraction(x) / s for x, s in zip(row, sums, strict=True)] for row in Q.tolist()]
    worst = max(max(row) / min(row) for row in P)
    assert math.log(worst) <= loss <= math.log(worst) + 1e-12


def _has_variances(Q: np.ndarray, W: np.ndarray, average: float | None) -> None:
    """VQ = W for the V of McKenna et al., Theorem 3.10, and its average variance from first principles."""
    D = Q.sum(axis=1)
    X = Q.T @ (Q / D[:, None])
    V = W @ np.linalg.pinv(X) @ (Q / D[:, None]).T
    np.testing.assert_allclose(V @ Q, W, atol=1e-9)
    variance = (V**2).sum(axis=0) @ Q - (W**2).sum(axis=0)
    if average is not None:
        assert variance.mean() == pytest.approx(average, rel=1e-8)


def test_a_random_workload_is_drawn_again_for_its_file(ask: Ask, tmp_path: Path) -> None:
    words = ("strategy", "optimise", "random-signs", "--domain-size", 4, "--epsilon", EPSILON)
    solved = ask(*words, "--seed", 3, "--out", tmp_path / "Q.h5")
    assert ask("strategy", "verify", tmp_path / "Q.h5")["objective"] == pytest.approx(solved["objective"], rel=1e-12)
    assert ask(*words, "--seed", 4)["objective"] != pytest.approx(solved["objective"], rel=1e-6)


def test_files_of_the_workflow_are_verified(ask: Ask, run: Run, tmp_path: Path) -> None:
    """Beside the workflow's description of the workload; and a strategy that serves every budget, at one."""
    workload = workloads.create("prefix", 4)
    datasets, attributes = to_datasets(workload)
    attributes["workload"] = "of-my-own"
    hdf5.write(tmp_path / "workloads/of-my-own/n4.h5", "workload", datasets=datasets, attributes=attributes)
    for name, epsilon in (("optimised", EPSILON), ("matrix-l2", None)):
        solution = mechanisms.solution_for(mechanisms.strategy_spec(name, workload, epsilon), workload)
        about = {"mechanism": name, "workload": "of-my-own", "domain_size": 4, "epsilon": epsilon, "seed": None}
        path = tmp_path / "strategies" / name / "of-my-own" / "n4" / "eps.h5"
        hdf5.write(path, "strategy", datasets=solution.datasets, attributes={**about, **solution.record})
        given = () if epsilon else ("--epsilon", 2)
        found = ask("strategy", "verify", path, *given)
        assert (found["status"], found["epsilon"]) == ("ok", epsilon or 2)
        assert found["privacy_loss"] <= found["epsilon"]
        assert found["lower_bound"] <= found["objective"] * (1 + 1e-9)
    said = run("collect", "simulate", path, "--epsilon", 2, "--data", path)
    assert said.code == 1
    assert "--workload" in said.err  # a description cannot answer queries


def test_rows_are_a_budget(ask: Ask) -> None:
    base = ("strategy", "optimise", "prefix", "--domain-size", 8, "--epsilon", EPSILON)
    few = ask(*base, "--rows", 10, "--gap-limit", 1)
    free = ask(*base)
    assert few["rows"] <= 10 < free["rows"]
    assert few["objective"] > free["objective"]
    assert few["lower_bound"] <= free["objective"] * (1 + 1e-9)


@pytest.mark.parametrize("command", ["compare", "plan"])
def test_mechanisms_are_ranked_beside_the_bound(ask: Ask, command: str) -> None:
    n, alpha = 8, 0.02
    words = ("plan",) if command == "plan" else ("strategy", "compare")
    found = ask(*words, "histogram", "--domain-size", n, "--epsilon", EPSILON, "--alpha", alpha)
    ranked = [one for one in found["mechanisms"] if one["status"] == "ok"]
    needed = [one["sample_complexity"] for one in ranked]
    assert needed == sorted(needed)
    for one in ranked:
        assert one["sample_complexity"] == pytest.approx(one["worst_variance"] / (n * alpha), rel=1e-12)
        assert one["users"] == math.ceil(one["sample_complexity"])
        if "delta" not in one:
            assert one["lower_bound"] == found["lower_bound"] <= one["sample_complexity"] * (1 + 1e-9)
            assert one["privacy_loss"] <= EPSILON
    by_name = {one["mechanism"]: one for one in ranked}
    assert by_name["randomized-response"]["worst_variance"] == pytest.approx(randomized_response(n), rel=1e-9)
    assert by_name["matrix-l2-gaussian"]["delta"] > 0
    # Shrunk towards 1/n it needs the share ατ/D = nα/(1 − 1/n) fewer.
    saved = 1.0 - n * alpha / (1.0 - 1.0 / n)
    assert found["bound_class"] == "unbiased linear ε-LDP strategy"
    assert found["constant_error"] == pytest.approx((1.0 - 1.0 / n) / n, rel=1e-9)
    assert found["shrunk_users"] == math.ceil(saved * ranked[0]["sample_complexity"]) < ranked[0]["users"]
    # Subset selection is optimal for the histogram: the bound is reached, and the advice says so.
    assert ranked[0]["gap"] < 1e-6
    if command == "plan":
        assert found["users"] == ranked[0]["users"]
        assert "no unbiased linear ε-LDP strategy can do with fewer than" in found["advice"]
        assert "none is better" in found["advice"]
        assert "towards the best constant answer" in found["advice"]
        assert "Subset selection" in found["advice"]


def test_a_plan_for_the_largest_error_is_proved(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    from factormech.mechanisms import ranking

    some = ["polynomial", "shifted", "one-query", "randomized-response", "optimised", "matrix-l2-gaussian"]
    monkeypatch.setattr(ranking.releases, "names", lambda: some)
    arguments = ("plan", "prefix", "--domain-size", 4, "--epsilon", EPSILON, "--alpha", 0.1, "--metric", "linf")
    found = ask(*arguments)
    ranked = [one for one in found["mechanisms"] if one["status"] == "ok"]
    assert [one["users"] for one in ranked] == sorted(one["users"] for one in ranked)
    assert found["mechanism"] == ranked[0]["mechanism"]
    assert all(found["lower_bound"] <= one["sample_complexity"] for one in ranked)
    assert all(one["predicted_users"] <= one["sample_complexity"] for one in ranked)
    assert {"shifted/half-sphere", "shifted/priv-unit", "optimised", "one-query"} <= {
        one["mechanism"] for one in ranked
    }
    absent = {one["mechanism"]: one["reason"] for one in found["mechanisms"] if one["status"] != "ok"}
    assert "marginals" in absent["polynomial/half-sphere"]
    assert found["lower_bound"] > 1


def test_large_semidefinite_programs_are_not_started(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    from factormech.mechanisms import ranking

    monkeypatch.setattr(ranking, "SEMIDEFINITE_LIMIT", 7)
    monkeypatch.setattr(ranking.releases, "names", lambda: ["shifted", "one-query"])
    found = ask(*("plan", "prefix", "--domain-size", 4, "--epsilon", 1, "--alpha", 0.1, "--metric", "linf"))
    reasons = {one["mechanism"]: one["reason"] for one in found["mechanisms"]}
    assert "8 rows" in reasons["shifted/half-sphere"]
    assert "single query" in found["reason"]
    assert found["lower_bound"] > 0


def test_a_reason_that_several_mechanisms_share_stands_once() -> None:
    from factormech.cli.ranked import lines
    from factormech.mechanisms.ranking import Ranked, Ranking

    reasons = {"polynomial/half-sphere": "no", "polynomial/priv-unit": "no", "shifted/half-sphere": "too large"}
    absent = [Ranked(name, "unavailable", reason) for name, reason in reasons.items()]
    ranked = Ranked("one-query", "ok", sample_complexity=9.0, predicted_users=7.0)
    said = lines(Ranking("linf", 0.1, 4.5, [ranked, *absent]))
    labels = [one.label for one in absent]
    assert said[-3:] == ["cannot run here:", f"  {labels[0]}; {labels[1]}: no", f"  {labels[2]}: too large"]


@pytest.mark.slow
def test_every_mechanism_has_a_place_in_a_plan_for_the_largest_error(ask: Ask) -> None:
    from factormech.mechanisms.local.factorized import registry

    found = ask("plan", "prefix", "--domain-size", 4, "--epsilon", 1, "--alpha", 0.1, "--metric", "linf")
    assert {one["mechanism"].partition("/")[0] for one in found["mechanisms"]} == set(registry.names())


# Collections -------------------------------------------------------------------------------------------------


@pytest.fixture
def collected(tmp_path: Path, ask: Ask) -> tuple[Path, Path]:
    """A strategy for the histogram of two types, and data."""
    strategy, data = tmp_path / "Q.h5", tmp_path / "data.csv"
    ask("strategy", "optimise", "histogram", "--domain-size", 2, "--epsilon", EPSILON, "--out", strategy)
    data.write_text("3000,1000\n")
    return strategy, data


def test_estimates_are_as_far_off_as_their_standard_errors_say(ask: Ask, collected: tuple[Path, Path]) -> None:
    strategy, data = collected
    N, x = 4000, math.tanh(EPSILON / 2) ** 2
    found = [ask("collect", "simulate", strategy, "--data", data, "--seed", seed) for seed in range(40)]
    for one in found:
        assert one["truth"] == [3000, 1000]
        assert sum(one["estimates"]) == pytest.approx(N)
        assert one["standard_errors"] == pytest.approx([math.sqrt(N * (1 / x - 1) / 4)] * 2, rel=1e-9)
    z = np.array([(one["estimates"][0] - 3000) / one["standard_errors"][0] for one in found])
    # The mean is normal of deviation 1/√40, the sum of squares χ² of 40: both at about one in a million.
    assert abs(z.mean()) < 4.9 / math.sqrt(40)
    assert 8.0 < (z**2).sum() < 108.0
    assert found[0] == ask("collect", "simulate", strategy, "--data", data)


def test_users_are_drawn_and_estimates_made_consistent(ask: Ask, collected: tuple[Path, Path], tmp_path: Path) -> None:
    strategy, _ = collected
    data = tmp_path / "shares.csv"
    data.write_text("0.999\n0.001\n")
    words = ("collect", "simulate", strategy, "--data", data, "--users", 50, "--consistent")
    found = [ask(*words, "--seed", seed) for seed in range(8)]
    assert {one["users"] for one in found} == {50}
    for one in found:
        consistent = one["consistent_estimates"]
        assert min(consistent) >= 0
        assert sum(consistent) == pytest.approx(50)
        expected = np.clip(one["estimates"][0], 0, 50)  # two types: the nearest point of a segment
        assert consistent == pytest.approx([expected, 50 - expected], abs=1e-6)
    assert any(min(one["estimates"]) < 0 for one in found)
