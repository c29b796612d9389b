"""The line of ``factormech plan`` on every ε-LDP protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factormech.cli.answer import number
from factormech.cli.ranked import over_bound, whole
from factormech.errors import BadValue
from factormech.workloads.base import Workload

if TYPE_CHECKING:
    from factormech.mechanisms.ranking import Ranked

_PAGE = "docs/lower-bounds-every-protocol.md"


def every_protocol(
    workload: Workload, epsilon: float, alpha: float, metric: str, beside: tuple[float, Ranked] | None = None
) -> str:
    """Return the sentence on the users that every ε-LDP protocol needs: ``mse`` for given data, ``linf`` for drawn.

    ``beside`` has the lower bound of a table and its best mechanism. Where the table's bound is weaker, a second
    sentence compares the mechanism with the bound of the first.
    """
    from factormech.bounds.protocols.largest import users_for_largest_error
    from factormech.bounds.protocols.mean_squared import users_for_mean_squared_error

    solve = users_for_mean_squared_error if metric == "mse" else users_for_largest_error
    try:
        found = solve(workload, epsilon, alpha)
    except BadValue as error:
        return f"No bound for every ε-LDP protocol: {error}."
    theorem = found.theorem if found.theorem == "one query" else f"Theorem {found.theorem}"
    said = f"needs at least {number(found.users)} user{'' if found.users == 1 else 's'}"
    said += f"{', drawn from a population' if metric == 'linf' else ''} ({theorem}, {_PAGE})"
    fewer = "" if found.fewest == 1 else f", or fewer than {number(found.fewest)}"
    line = f"Every ε-LDP protocol, interactive or not, with any estimator, {said}{fewer}."
    if beside is None or beside[1].delta or found.fewest > 1 or found.users <= whole(beside[0]):
        return line
    best = beside[1]
    times = over_bound(best.users / found.users - 1.0)
    needs = f"{best.label} needs {times} {'as many' if best.users >= 2 * found.users else 'more'}"
    return f"{line} This is above the bound of the table: {needs}."
