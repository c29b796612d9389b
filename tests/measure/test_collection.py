"""Grids of collections: every point has its row, its reason, its reproducible numbers, and agrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from factormech.errors import BadValue
from factormech.mechanisms.local import populations, registry
from factormech.mechanisms.local.errors import Question, built, questions_of
from factormech.studies.measures import collection as room
from factormech.studies.measures.collection import (
    CollectionGrid,
    CollectionRun,
    collect,
    collection_agreement,
    row_of,
)
from factormech.workloads.registry import create
from tests import solutions

GRID = CollectionGrid(users=[10**3, 10**7], populations=["uniform", "spiky"], trials=10)


def asked(*names: str, n: int = 16, seed: int = 0) -> list[Question]:
    return [questions_of([(create(name, n, seed=seed), seed)])[0] for name in names]


def rows_of(mechanism: str, questions: Sequence[Question], epsilon: float = 1.0) -> list[CollectionRun]:
    return list(collect(mechanism, built(mechanism), questions, [epsilon], GRID))


def test_all_mechanisms_agree_over_a_grid() -> None:
    questions = asked("histogram", "prefix") + asked("3-way-marginals", n=32)
    rows = [
        r
        for m in registry.names()
        if not registry.is_solved(m)
        for r in collect(m, built(m), questions, [0.5, 3.0], GRID)
    ]
    fixed = [m for m in registry.names() if not registry.is_solved(m)]
    assert len(rows) == len(fixed) * 3 * 2 * 2 * 2
    found = collection_agreement(rows)
    assert found.passed, found
    assert found.points == sum(row.status == "ok" for row in rows) >= len(rows) - 2 * 2 * 2 * 2
    for row in rows:
        if row.status == "ok":
            assert row.interval_low <= row.measured_error <= row.interval_high
            assert row.ratio == pytest.approx(row.measured_error / row.exact_error)


def test_all_solved_mechanisms_agree_over_a_grid() -> None:
    """Each question has a strategy of its own, and its own reports."""
    questions = asked("histogram", "prefix", "3-way-marginals", n=8)
    grid = replace(GRID, users=[10**3, 10**5])
    for name in solutions.SOLVED:
        rows = list(collect(name, partial(solutions.asked, name), questions, [0.5, 4.0], grid))
        assert [row.status for row in rows] == ["ok"] * 3 * 2 * 2 * 2
        found = collection_agreement(rows)
        assert found.passed, found
        assert len({row.ratio for row in rows}) == len(rows)


def test_errors_are_mean_squared_errors_of_normalised_queries() -> None:
    [ask] = asked("prefix")
    strategy = registry.build("hadamard", ask.workload.domain_size, 1.0)
    for row in rows_of("hadamard", [ask]):
        x = populations.population(row.population, 16, row.users, 0, "0")
        variance = strategy.evaluate(ask.centred_gram).on(x.astype(float))  # type: ignore[union-attr]
        assert row.exact_error == pytest.approx(variance / (row.queries * row.users**2))
        assert (row.mechanism, row.epsilon, row.seed, row.trials, row.queries) == ("hadamard", 1.0, 0, 10, 16)


def test_a_grid_a_tenth_off_is_rejected() -> None:
    """What a wrong variance formula would look like: all measured errors a tenth above the exact ones."""
    grid = CollectionGrid(users=[10**3, 10**5, 10**7], populations=populations.names(), trials=50)
    rows = list(collect("hadamard", built("hadamard"), asked("histogram", n=32), [1.0], grid))
    assert collection_agreement(rows).passed
    off = [replace(row, ratio=row.ratio * 1.1, measured_error=row.measured_error * 1.1) for row in rows]
    found = collection_agreement(off)
    assert not found.passed
    assert found.worst == ("hadamard", "histogram")


def test_rows_are_reproducible_and_differ_by_seed() -> None:
    first = rows_of("randomized-response", asked("prefix"))
    assert first == rows_of("randomized-response", asked("prefix"))
    other = rows_of("randomized-response", asked("prefix", seed=1))
    assert all(a.measured_error != b.measured_error for a, b in zip(first, other, strict=True))
    seeded = list(
        collect(
            "randomized-response", built("randomized-response"), asked("prefix"), [1.0], replace(GRID, seeds=(0, 1))
        )
    )
    assert {row.seed for row in seeded} == {0, 1}
    assert [row for row in seeded if row.seed == 0] == first


def test_all_mechanisms_collect_from_the_same_users(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: dict[tuple[str, int], set[bytes]] = {}
    original = populations.population

    def watched(name: str, domain_size: int, users: int, seed: int, *stream: str) -> np.ndarray:
        x = original(name, domain_size, users, seed, *stream)
        drawn.setdefault((name, users), set()).add(x.tobytes())
        return x

    monkeypatch.setattr(room, "population", watched)
    one, two = (rows_of(m, asked("prefix")) for m in ("randomized-response", "hadamard"))
    assert len(drawn) == 4
    assert all(len(users) == 1 for users in drawn.values())
    assert one[0].measured_error != two[0].measured_error


def test_reports_do_not_know_the_workload() -> None:
    """A question measures the same whether it is asked alone or with others."""
    alone = rows_of("hadamard", asked("prefix"))
    together = [row for row in rows_of("hadamard", asked("histogram", "prefix")) if row.workload == "prefix"]
    assert alone == together


def test_reasons_take_the_place_of_points() -> None:
    refused = rows_of("fourier-3", asked("prefix", n=32))
    assert {row.status for row in refused} == {"refused"}
    assert all("row space" in row.reason and np.isnan(row.measured_error) for row in refused)
    none = rows_of("fourier", asked("histogram", n=1))
    assert {(row.status, row.reason) for row in none} == {
        ("unavailable", "a domain of one user type has no non-empty parity")
    }
    with pytest.raises(BadValue, match="results"):
        collection_agreement(refused + none)


def test_what_is_too_much_work_is_unavailable_with_its_prediction() -> None:
    n = 1024
    ask = Question(create("histogram", n), 0, np.eye(n) - 1.0 / n)
    grid = CollectionGrid(users=[10**7], populations=["uniform"], trials=2)
    [row] = collect("rappor", built("rappor"), [ask], [1.0], grid)
    assert row.status == "unavailable"
    assert "fewer users or a smaller domain" in row.reason
    assert row.exact_error > 0
    assert np.isnan(row.measured_error)


def test_a_table_has_a_column_for_everything() -> None:
    frame = pd.DataFrame(map(row_of, rows_of("hadamard", asked("prefix"))))
    assert len(frame) == 4
    assert {"workload", "domain_size", "epsilon", "seed", "population", "users", "mechanism", "trials"} <= set(frame)
    assert {
        "exact_error",
        "measured_error",
        "interval_low",
        "interval_high",
        "ratio_to_exact",
        "z_score",
        "status",
    } <= set(frame)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"users": []}, r"users = \[\]: must hold at least one value"),
        ({"users": [0]}, "users = 0"),
        ({"users": [10, 10]}, "each once"),
        ({"populations": []}, "populations = "),
        ({"trials": 0}, "trials = 0"),
        ({"level": 1.0}, r"level = 1\.0"),
    ],
)
def test_the_grid_is_checked(changes: dict[str, object], message: str) -> None:
    with pytest.raises(BadValue, match=message):
        replace(GRID, **changes)  # type: ignore[arg-type]


def test_a_question_with_several_seeds_keeps_its_own() -> None:
    questions = asked("random-signs") + asked("random-signs", seed=1)
    rows = rows_of("hadamard", questions)
    assert [row.seed for row in rows] == [0] * 4 + [1] * 4
    with pytest.raises(BadValue, match="be asked once where the grid has seeds"):
        list(collect("hadamard", built("hadamard"), questions, [1.0], replace(GRID, seeds=(0, 1))))


def test_unknown_populations_are_refused() -> None:
    with pytest.raises(BadValue, match="population = 'flat'"):
        list(collect("hadamard", built("hadamard"), asked("prefix"), [1.0], replace(GRID, populations=["flat"])))
