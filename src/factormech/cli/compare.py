"""``factormech strategy compare``: every mechanism's exact variance on one workload, best first."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from factormech.cli.answer import Answer, both_errors, number, titled
from factormech.cli.asked import epsilon_of, target_of, workload_of
from factormech.cli.parser import ALPHA
from factormech.cli.progress import Progress, expected_seconds

if TYPE_CHECKING:
    from factormech.mechanisms.ranking import Ranking


def compare(args: argparse.Namespace) -> Answer:
    """Rank the mechanisms by worst-case variance; the users that a target needs are proportional to it."""
    from factormech.cli import ranked
    from factormech.mechanisms.local import registry
    from factormech.mechanisms.ranking import by_mean_squared_error
    from factormech.questions import check_not_constant

    epsilon, alpha = epsilon_of(args), target_of(args, ALPHA)
    workload = workload_of(args)
    check_not_constant(workload)
    expected = expected_seconds(workload.domain_size, registry.names())
    with Progress(f"comparing on {workload.name}", expected=expected) as progress:
        given = {"seed": args.seed, "root_seed": args.root_seed, "step": progress.step, "report": progress.told_within}
        ranking = by_mean_squared_error(workload, epsilon, alpha, **given)
    data = {
        "workload": workload.name,
        "domain_size": workload.domain_size,
        "queries": workload.queries,
        "epsilon": epsilon,
        "metric": "mse",
        "alpha": alpha,
        "rmse": alpha**0.5,
        "lower_bound": ranking.lower_bound,
        "bound_class": ranking.bound_class,
        **ranked.shrunk(ranking),
        "mechanisms": ranked.entries(ranking, epsilon),
        "seconds": sum(found.seconds for found in ranking.mechanisms),
        "status": "ok",
        **_easy(ranking),
    }
    title = (
        f"{titled(workload.name, workload.queries, workload.domain_size)}, ε = {epsilon:g}; "
        f"users for {both_errors(alpha)}, variances of one user"
    )
    last = f"no {ranking.bound_class} has a worst variance below {number(ranking.variance_bound, 5)}"
    if not ranking.variance_bound > 0.0:
        last = f"nothing is proved of the worst variance of an {ranking.bound_class}"
    easy = [data["reason"]] if "reason" in data else []
    return Answer(data, [title, "", *ranked.lines(ranking), "", last, *easy])


def _easy(ranking: Ranking) -> dict[str, str]:
    """A warning where a constant answer, which needs no users, reaches the target."""
    if not ranking.constant_error <= ranking.alpha:
        return {}
    error = f"{ranking.constant_error:.4g}"
    said = f"the best constant answer has a mean squared error of {error} without any users, which reaches the target"
    return {"reason": f"{said} {ranking.alpha:g}; try --alpha {ranking.constant_error / 10:.2g}"}
