"""The studies of statistical queries: what is refused, what the tables say, figures without overlaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from factormech.learning.concepts import concept_class
from factormech.learning.sq.bounds import correlational_success, hard_correlations
from factormech.plots import registry as figures
from factormech.studies import registry
from tests.figure_checks import assert_no_overlaps, said
from tests.studies import project, quick, refusals, rows_of
from tests.tiers import every

pytestmark = pytest.mark.heavy

LEARNERS = ("query-complexity-bits", "query-complexity-ordered")
STUDIES = ("correlational-queries", "correlational-success", "sq-dimension", *LEARNERS, "pan-private")


@pytest.mark.parametrize("name", every(3, STUDIES))
def test_the_figure_has_no_overlaps_and_a_caption(name: str) -> None:
    frame, kind = quick(name), project().study(name).kind
    assert_no_overlaps(figures.draw(kind, frame))
    assert "Words." in said("Title", "Words.", frame)


def test_the_printed_constant_stays_wrong_and_the_right_one_does_not() -> None:
    rows = (
        quick("correlational-queries")
        .query("oracle == 'exact'")
        .set_index(["scaling", "queries_asked"])["correlation_error"]
    )
    assert rows["as-printed", 1000] == pytest.approx(1.0 - 0.5**0.5, abs=0.05)
    assert rows["unbiased", 1000] < 0.4 * rows["unbiased", 30]


def test_the_needed_tolerance_learns_and_the_printed_one_stalls() -> None:
    for name in LEARNERS:
        rows = quick(name)
        share = rows.groupby(rows["learner"].str.startswith("learner/"))["success"].mean()
        assert share[True] == 1.0
        assert share[False] < 0.1
        assert np.all(rows["learner_dimension"] >= rows["estimate"])


@pytest.mark.slow
def test_a_stream_needs_fewer_users_and_no_model_too_few() -> None:
    rows = quick("pan-private").set_index(["epsilon", "model"])
    for epsilon in (0.1, 1.0):
        stream, local = (rows.loc[(epsilon, model)] for model in ("pan-private-stream", "sequential-reports"))
        assert stream["mean_users"] < local["mean_users"]
        assert stream["pan_private_bound"] <= stream["fewest_users"]
        assert local["sequential_bound"] <= local["fewest_users"]


BAD: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("correlational-queries", {"low": 0.3, "guaranteed_error": 0.2}, "correlation_error"),
    ("correlational-success", {"low": 0.3, "limit": 0.2}, "low"),
    ("sq-dimension", {"upper": 1.0, "sq_dimension": 1.1, "floor": 0.0}, "upper"),
    ("sq-dimension", {"upper": 2.0, "sq_dimension": 1.1, "floor": 1.2}, "sq_dimension"),
    (
        "query-complexity",
        {
            "learner": "learner/exact",
            "most_queries": 9,
            "guaranteed_queries": 8,
            "success_high": 1,
            "target_share": 0.9,
        },
        "most_queries",
    ),
    (
        "query-complexity",
        {
            "learner": "learner/exact",
            "most_queries": 7,
            "guaranteed_queries": 8,
            "success_high": 0.8,
            "target_share": 0.9,
        },
        "success_high",
    ),
    (
        "pan-private",
        {"model": "pan-private-stream", "fewest_users": 5, "pan_private_bound": 6.0, "sequential_bound": 1.0},
        "fewest_users",
    ),
    (
        "pan-private",
        {"model": "sequential-reports", "fewest_users": 5, "pan_private_bound": 1.0, "sequential_bound": 6.0},
        "fewest_users",
    ),
)


@pytest.mark.parametrize(("kind", "row", "column"), BAD)
def test_a_row_that_contradicts_its_bound_is_refused(kind: str, row: dict[str, Any], column: str) -> None:
    problem = registry.experiment(kind).check(row)
    assert problem is not None
    assert problem[0] == column


def test_a_class_that_does_not_exist_is_refused() -> None:
    for kind in ("pan-private", "correlational-success"):
        assert "at least 3 bits" in refusals(kind, concept_class=["3-way-parities"], class_size=[2])[0]


def test_runs_are_not_counted_with_the_chance_that_settled_their_dimension(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pilot run comes before every counted one, their chances differ, and d moves in the pilot runs alone."""
    from factormech.learning.sq import multiplicative

    met: list[tuple[float, float]] = []
    run = multiplicative._run

    def watched(asked: Any, promise: Any, make_oracle: Any, rng: np.random.Generator, limit: int | None) -> Any:
        met.append((promise.dimension, float(rng.bit_generator.state["state"]["state"])))
        return run(asked, promise, make_oracle, rng, limit)

    monkeypatch.setattr(multiplicative, "_run", watched)
    asked = {"trials": 6, "pilots": 4, "learners": ["learner/exact"]}
    (row,) = rows_of("query-complexity", asked, concept_class=["parities"], class_size=[2])
    pilots, counted = met[:-6], met[-6:]
    assert {d for d, _ in counted} == {row["learner_dimension"]} == {d for d, _ in pilots[-8:]}
    assert not {chance for _, chance in pilots} & {chance for _, chance in counted}
    assert len({chance for _, chance in counted}) == 6


def test_a_run_beyond_the_dimension_is_a_failure() -> None:
    from factormech.learning.sq import multiplicative
    from factormech.learning.sq.oracles import ExactOracle

    concepts = concept_class("parities", 2)
    task = multiplicative.question(concepts, 0.1, 0.05, np.random.default_rng(0))
    runs = multiplicative.counted_runs(task, 2.2, lambda _, law, __: ExactOracle(law), 5, np.random.default_rng)
    assert runs.beyond == 5
    assert runs.learned == 0


def test_the_limit_on_hard_laws_is_the_formula_and_is_nearly_reached() -> None:
    hard = hard_correlations(concept_class("parities", 3), 0.1)
    # The rows of a Hadamard matrix are orthogonal; γ₂(W, α) = (1 − α)√N, which proves no more than 1/(1 − α)² of it.
    variance = 0.1**2 / 8
    assert hard.variance == pytest.approx(variance, rel=1e-6)
    assert correlational_success(hard, 0.09, 4) == pytest.approx(variance * (4 / 0.09**2 + 100), rel=1e-6)
    assert correlational_success(hard, 0.09, 4, 0.05) == 1.0
    rows = quick("correlational-success").query("tolerance == 0.09 and queries_asked == 4").set_index("algorithm")
    assert rows.loc["every-concept", "success"] > 0.6 * rows.loc["every-concept", "limit"]
    assert rows.loc["random-signs", "success"] < 0.5 * rows.loc["every-concept", "success"]


def test_the_dimension_of_parities_is_the_known_one_and_a_large_class_has_a_reason() -> None:
    frame = quick("sq-dimension").set_index(["quantity", "class_size", "form"])
    row = frame.loc[("sqd-uniform", 2, "one query")]
    assert row["certainty"] == "certified"
    assert row["sq_dimension"] == pytest.approx(2.0, abs=1e-5)
    assert row["upper"] == pytest.approx(2.0, abs=1e-5)
    assert frame.loc[("sqd-realizable", 2, "one query"), "certainty"] == "certified"
    assert frame.loc[("sqd-realizable", 1, "one query"), "sq_dimension"] == pytest.approx(10.0, rel=1e-6)
    for name, size in (("parities", 6), ("conjunctions", 5)):
        for row in rows_of("sq-dimension", concept_class=[name], class_size=[size]):
            if (name, row["quantity"], row["form"]) == ("parities", "sqd-uniform", "one query"):
                assert row["sq_dimension"] == row["upper"] == 8.0
            else:
                assert "exact up to 16" in row["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["parities", "conjunctions", "decision-stumps", "thresholds"])
def test_the_promised_share_is_met_on_runs_that_settled_nothing(name: str) -> None:
    """In every row, counted: queries answered exactly and by an adversary, and both models of privacy."""
    grid = {"concept_class": [name], "class_size": [2]}
    learners = {"trials": 100, "learners": ["learner/exact", "learner/adversarial"]}
    rows = rows_of("query-complexity", learners, seed=1, **grid)
    rows += rows_of("pan-private", {"trials": 100, "pilots": 40}, seed=1, epsilon=[1.0], **grid)
    assert len(rows) == 4
    for row in rows:
        assert row["target_share"] == 0.95
        assert row["success"] >= 0.95
