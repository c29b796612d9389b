"""The second line of ``plan``: what every protocol needs."""

from __future__ import annotations

import pytest

from factormech.bounds.protocols.largest import users_for_largest_error
from factormech.bounds.protocols.mean_squared import users_for_mean_squared_error
from factormech.cli.every_protocol import every_protocol
from factormech.mechanisms.ranking import Ranked
from factormech.workloads.registry import create


def test_the_line_names_the_class_the_users_and_the_theorem() -> None:
    workload = create("prefix", 8)
    users = users_for_mean_squared_error(workload, 1.0, 1e-4).users
    line = every_protocol(workload, 1.0, 1e-4, "mse")
    assert line.startswith("Every ε-LDP protocol, interactive or not, with any estimator, needs at least")
    assert f"{users:,} users (Theorem A, docs/lower-bounds-every-protocol.md)" in line
    assert "users, drawn from a population (Theorem C, " in every_protocol(workload, 1.0, 0.01, "linf")


def test_a_stronger_bound_than_the_tables_is_compared_with_the_best_mechanism() -> None:
    """Both are on one screen: a reader who divides the users by the table's bound would be misled by ten."""
    workload, best = create("prefix", 8), Ranked("optimised", "ok", sample_complexity=9546.0)
    users = users_for_largest_error(workload, 1.0, 0.05).users
    line = every_protocol(workload, 1.0, 0.05, "linf", (99.4, best))
    assert line.endswith(f"above the bound of the table: Optimised needs {9546 / users:.3g} times as many.")
    assert "table" not in every_protocol(workload, 1.0, 0.05, "linf", (float(users), best))


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "alpha"), [(1.0, 0.3), (12.0, 1e-2)])
def test_where_there_is_no_bound_the_line_says_why_and_has_no_number_of_users(epsilon: float, alpha: float) -> None:
    line = every_protocol(create("prefix", 8), epsilon, alpha, "mse")
    assert line.startswith("No bound for every ε-LDP protocol: alpha")
    assert "at least" not in line
    assert "\n" not in line
