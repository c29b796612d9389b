"""The code of docs/learning.md runs, and the studies of this room refuse rows that contradict their bounds."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from factormech.numerics.intervals import clopper_pearson
from factormech.studies import agnostic_learning, class_norms, learning_users, realizable_learning, refutation
from factormech.studies.asked import Asked
from factormech.tables.rows import part_of, table_of
from tests.studies import quick, refusals
from tests.studies import rows_of as rows_of_kind

pytestmark = pytest.mark.heavy

PAGE = Path(__file__).resolve().parents[2] / "docs" / "learning.md"


def rows_of(experiment, asked: Asked):
    """Through the checks of a table, as a run does."""
    parts = {"all": part_of(experiment, "study", list(experiment.measure(asked)))}
    return table_of(experiment, "study", asked, parts)


def test_the_code_of_the_page_runs() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 5
    exec(compile("\n".join(blocks), str(PAGE), "exec"), {})  # noqa: S102


def test_rows_of_learning() -> None:
    grid = {"concept_class": ("parities",), "class_size": (2,), "epsilon": (1.0,), "users": (300, 3000)}
    settings = {"learners": ["learner/half-sphere"], "excess": 0.1, "trials": 60}
    frame = rows_of(agnostic_learning.EXPERIMENT, Asked(grid, settings, seed=1))
    assert len(frame) == 2
    assert (frame.excess.diff().dropna() < 0).all()
    assert (frame.lower_bound > 0).all()
    row = dict(frame.iloc[0])
    assert agnostic_learning.check(row) is None
    for column, value in (("predicted", 0.0), ("high", 0.0), ("low", 0.9)):
        assert agnostic_learning.check(row | {column: value})[0] == column


def test_rows_of_refutation() -> None:
    grid = {"concept_class": ("parities",), "class_size": (2,), "epsilon": (1.0,), "users": (300, 3000)}
    settings = {"refuters": ["refuter/half-sphere"], "loss_gap": 0.15, "error": 0.05, "trials": 60}
    frame = rows_of(refutation.EXPERIMENT, Asked(grid, settings, seed=1))
    assert (frame[["miss", "false_alarm"]].max(axis=1) == frame.error_probability).all()
    assert dict(zip(frame.users, frame.trials, strict=True)) == {300: 190, 3000: 60}  # √10 times as many
    row = dict(frame.iloc[0])
    assert refutation.check(row) is None
    for column, value in (("predicted_users", 1), ("predicted", 0.0), ("high", 0.0)):
        assert refutation.check(row | {column: value})[0] == column


def test_rows_of_norms_agree_with_closed_forms() -> None:
    """γ₂ of parities is (1 − α)√N, γ̂₂ is (1 − α)√(N − 1), mc is √N, η half of γ₂."""
    asked = Asked({"concept_class": ("parities",), "class_size": (2,), "entry_error": (0.1,)}, {})
    frame = rows_of(class_norms.EXPERIMENT, asked).set_index("quantity")
    for name, value in (
        ("class-gamma-2", 0.9 * 2.0),
        ("class-gamma-2-shifted", 0.9 * np.sqrt(3.0)),
        ("class-margin", 2.0),
        ("class-eta", 0.9),
    ):
        assert frame.lower[name] * (1 - 1e-9) <= value <= frame.upper[name] * (1 + 1e-9)


def test_classes_that_are_no_good_are_refused() -> None:
    grid = {"concept_class": ("3-way-parities", "parities"), "class_size": (2, 12), "epsilon": (1.0,), "users": (9,)}
    problems = list(agnostic_learning.refuse_sizes(Asked(grid, {})))
    assert [problem.name for problem in problems] == ["grid.concept_class[0]"] * 2 + ["grid.concept_class[1]"]
    asked = Asked({"concept_class": ("points",), "class_size": (1,), "entry_error": (0.1, 1.0)}, {})
    assert len(list(class_norms.refuse(asked))) == 2


def test_intervals_hold_their_level() -> None:
    rng = np.random.default_rng(0)
    values = rng.binomial(1, 0.1, size=(2000, 100)) * 0.5
    missed = 0
    for sample in values:
        low, high = agnostic_learning.interval_of_mean(sample, 0.0, 0.5)
        missed += not low <= 0.05 <= high
    assert missed <= 20
    assert clopper_pearson(0, 10, 0.05)[1] == pytest.approx(1 - 0.025 ** (1 / 10))


def test_rows_of_realizable_learning() -> None:
    frame = quick("realizable-learning")
    assert len(frame) == 12
    assert (frame.lower_bound > 0).all()
    row = dict(frame.iloc[0])
    for column, value in (("predicted", 0.0), ("high", 0.0), ("low", 0.9)):
        assert realizable_learning.check(row | {column: value})[0] == column


@pytest.mark.slow
def test_promises_of_every_task() -> None:
    """The share at the predicted users is not below the promise, and no number of users below its bound."""
    frame = quick("conjunction-gap")
    assert set(frame.shown) == {"predicted", "lower bound"}
    assert (frame.success_high >= frame.target_share).all()
    row = dict(frame.iloc[0])
    assert learning_users.check(row) is None
    wrong = {"success": 0.2, "predicted_users": 1, "measured_users": 1, "guaranteed_users": 10}
    for column, value in wrong.items():
        assert learning_users.check(row | {column: value})[0] == column
    kearns = frame[frame.task == "users/kearns-learner"]
    assert (kearns.predicted_users == kearns.guaranteed_users).all()


def test_tasks_that_are_not_for_a_class_say_so() -> None:
    (row,) = rows_of_kind(
        "learning-users",
        {"tasks": ["users/kearns-learner"]},
        concept_class=("points",),
        class_size=(4,),
        epsilon=(1.0,),
        alpha=(0.1,),
    )
    assert row["reason"] == "it learns conjunctions only"
    assert "alpha" in refusals("learning-users", concept_class=("points",), class_size=(4,), alpha=(0.5,))[0]
