"""``factormech plan``: how many users a target error needs."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from factormech.cli.answer import Answer, number
from factormech.cli.asked import epsilon_of, positive, workload_of
from factormech.cli.progress import Progress
from factormech.errors import BadValue

if TYPE_CHECKING:
    from factormech.measure.ranking import Ranked, Ranking

# A mechanism without a solver is worth a word if it needs no more than this share more users.
NEARLY_AS_GOOD = 0.05
# A relative gap that is the solvers' rounding.
_OPTIMAL = 1e-6


def plan(args: argparse.Namespace) -> Answer:
    """Rank every mechanism, and advise."""
    from factormech.cli import ranked
    from factormech.cli.every_protocol import every_protocol
    from factormech.measure.ranking import by_largest_error, by_mean_squared_error

    epsilon, alpha = epsilon_of(args), positive("--alpha", args.alpha)
    workload = workload_of(args)
    rank = by_mean_squared_error if args.metric == "mse" else by_largest_error
    if args.metric == "linf":
        _check_linf(alpha, workload)
    with Progress(f"planning for {workload.name}") as progress:
        ranking = rank(workload, epsilon, alpha, seed=args.seed, step=progress.step)
    best = ranking.best
    if best is None:
        raise BadValue("workload", workload.name, "be answered by some mechanism", "ask for other queries")
    data: dict[str, Any] = {
        "workload": workload.name,
        "domain_size": workload.domain_size,
        "queries": workload.queries,
        "epsilon": epsilon,
        "metric": args.metric,
        "alpha": alpha,
        "mechanism": best.mechanism,
        "users": best.users,
        "sample_complexity": best.sample_complexity,
        "lower_bound": ranking.lower_bound,
        "gap": ranking.gap(best),
        "advice": advice(args, ranking, best),
        "mechanisms": ranked.entries(ranking, epsilon),
        "seconds": sum(found.seconds for found in ranking.mechanisms),
        "status": "ok",
        "reason": ranking.reason,
    }
    remark = [ranking.reason] if ranking.reason else []
    lines = [_title(workload.name, data), "", *ranked.lines(ranking), *remark, "", data["advice"]]
    lines.append(every_protocol(workload, epsilon, alpha, args.metric))
    return Answer(data, lines)


def _check_linf(alpha: float, workload: Any) -> None:
    from factormech.arrays import check_dense_size
    from factormech.local.factorized.release import half_ranges

    check_dense_size(f"matrix of {workload.name}", 8 * workload.queries, workload.domain_size)
    trivial = float(half_ranges(workload.matrix()).max(initial=0.0))
    if trivial == 0.0:
        raise BadValue("workload", workload.name, "ask something that differs between users", "these need no users")
    if alpha >= trivial:
        rule = f"be below {trivial:.6g}, the largest error of constants, which need no users"
        raise BadValue("--alpha", alpha, rule, f"give for example --alpha {trivial / 10:.2g}")


def _title(name: str, data: dict[str, Any]) -> str:
    what = "a mean squared error per query" if data["metric"] == "mse" else "an expected largest error"
    return (
        f"{name}: {data['queries']} queries over {data['domain_size']} user types, ε = {data['epsilon']:g}; users for "
        f"{what} of {data['alpha']:g}"
    )


def advice(args: argparse.Namespace, ranking: Ranking, best: Ranked) -> str:
    """A sentence on what to use, and how much better anything could be; a second one on how to come by it."""
    from factormech.cli.ranked import label

    use, beside = f"Use {label(best.mechanism)}", _beside_bound(ranking, best)
    users = f"{number(best.users)} user{'' if best.users == 1 else 's'}"
    if ranking.metric == "mse":
        said = f"{use}: with {users} its mean squared error is at most {ranking.alpha:g} whatever their types are"
    else:
        predicted = number(int(best.predicted_users))
        said = f"{use}: {users} are proved to be enough, and the central limit says {predicted}"
    return f"{said}; {beside}. {_how(args, ranking, best)}".rstrip()


def _beside_bound(ranking: Ranking, best: Ranked) -> str:
    """What no mechanism can do, and how far from it the best is."""
    from factormech.cli.ranked import over_bound, whole

    kind = "ε-LDP strategy" if ranking.metric == "mse" else "non-interactive ε-LDP mechanism"
    gap, said = ranking.gap(best), f"no {kind} can do with fewer than {number(whole(ranking.lower_bound))}"
    if not math.isfinite(gap):
        return f"nothing is known of how many fewer another {kind} could need"
    if gap <= _OPTIMAL:
        return f"{said}, so nothing is better"
    return f"{said}, and this is {over_bound(gap)} {'more' if gap < 1.0 else 'as many'}"


def _how(args: argparse.Namespace, ranking: Ranking, best: Ranked) -> str:
    """A mechanism without a solver that is nearly as good, or the command that finds the best."""
    from factormech.cli.ranked import label, over_bound
    from factormech.measure.ranking import simple_rival

    rival = simple_rival(ranking, NEARLY_AS_GOOD)
    if rival is not None:
        more = rival.sample_complexity / best.sample_complexity - 1.0
        needs = "no more" if more <= _OPTIMAL else f"{over_bound(more)} more"
        return f"{label(rival.mechanism)} needs {needs}, and no solver."
    if best.mechanism != "optimised":
        return ""
    size = f" --domain-size {args.domain_size}" if args.domain_size is not None else ""
    goal = " --objective worst" if ranking.metric == "mse" else ""
    return f"To have it: factormech strategy optimise {args.workload}{size} --epsilon {args.epsilon:g}{goal} --out Q.h5"
