"""``factormech plan``: how many users a target error needs."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from factormech.cli.answer import Answer, WrappedLine, both_errors, in_points, number, short, table, titled
from factormech.cli.asked import epsilon_of, target_of, workload_of
from factormech.cli.progress import Progress, expected_seconds
from factormech.errors import BadValue

if TYPE_CHECKING:
    from factormech.mechanisms.ranking import Ranked, Ranking

# A mechanism without a solver is mentioned if it needs at most this share more users.
NEARLY_AS_GOOD = 0.05
# Queries that are listed for a reader.
SHOWN = 12
# A shrunk answer is worth a sentence if it needs at most this share of the users.
WORTH_SHRINKING = 0.999
# A relative gap that is explained by rounding in the solvers.
_OPTIMAL = 1e-6


def plan(args: argparse.Namespace) -> Answer:
    """Rank all mechanisms by the users they need, and advise which to use."""
    from factormech import questions
    from factormech.cli import ranked
    from factormech.cli.class_plan import check_subject, class_plan
    from factormech.cli.every_protocol import every_protocol
    from factormech.mechanisms.local import registry

    check_subject(args)
    if args.concept_class is not None:
        return class_plan(args)
    args.metric = args.metric or "mse"
    epsilon, alpha = epsilon_of(args), target_of(args)
    workload = workload_of(args)
    names = registry.names() if args.metric == "mse" else []
    expected = expected_seconds(workload.domain_size, names)
    with Progress(f"planning for {workload.name}", expected=expected) as progress:
        given = {"rmse": args.rmse, "alpha": args.alpha, "seed": args.seed, "root_seed": args.root_seed}
        told: dict[str, Any] = {"step": progress.step, "report": progress.told_within}
        ranking = questions.plan(workload, epsilon, metric=args.metric, **given, **told)
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
        **({"rmse": alpha**0.5} if args.metric == "mse" else {}),
        "mechanism": best.mechanism,
        "users": best.users,
        "sample_complexity": best.sample_complexity,
        "lower_bound": ranking.lower_bound,
        "bound_class": ranking.bound_class,
        "gap": ranking.gap(best),
        **ranked.shrunk(ranking),
        "advice": advice(ranking, best),
        "mechanisms": ranked.entries(ranking, epsilon),
        "seconds": sum(found.seconds for found in ranking.mechanisms),
        "status": "ok",
        "reason": ranking.reason,
        **_query_errors(ranking),
    }
    remark = [ranking.reason] if ranking.reason else []
    lines = [_title(workload.name, data), "", *ranked.lines(ranking), *remark]
    lines += ["", *_query_lines(data), data["advice"], "", *_commands(args, ranking, best)]
    lines.append(every_protocol(workload, epsilon, alpha, args.metric, (ranking.lower_bound, best)))
    return Answer(data, lines)


def _query_errors(ranking: Ranking) -> dict[str, Any]:
    """The standard error of each query, and the names of the queries, where they are known."""
    errors = ranking.query_errors["standard_error"]
    if ranking.fitted is None or errors.empty:
        return {}
    names = ranking.fitted.workload.query_names
    named = {} if names is None else {"query_names": list(map(str, names))}
    return {"query_errors": errors.tolist(), **named}


def _query_lines(data: dict[str, Any]) -> list[str]:
    """The standard errors, in percent of the number of users; the largest ones of many."""
    errors = data.get("query_errors", [])
    if not errors:
        return []
    users = number(data["users"])
    head = f"With {users} users, the standard error of each query in percent of their number, for its worst data"
    names = data.get("query_names") or [str(q + 1) for q in range(len(errors))]
    order = sorted(range(len(errors)), key=lambda q: (-float(f"{errors[q]:.6g}"), q))
    shown = order if len(order) > SHOWN else range(len(errors))
    rows = [[short(names[q]), f"{100.0 * errors[q]:.3g}"] for q in shown][:SHOWN]
    more = len(errors) - len(rows)
    rest = [f"… and {more} more, none with a larger error: --json lists all"] if more else []
    return [f"{head}:", *(f"  {line}" for line in table(["query", "standard error"], rows)), *rest, ""]


def _commands(args: argparse.Namespace, ranking: Ranking, best: Ranked) -> list[str]:
    """The commands that find the best mechanism and write what a collection needs."""
    if best.mechanism != "optimised":
        return []
    given = {"--domain-size": args.domain_size, "--config": args.config}
    given |= {"--seed": args.seed or None, "--root-seed": args.root_seed or None}
    said = "".join(f" {flag} {value}" for flag, value in given.items() if value is not None)
    goal = " --objective worst" if ranking.metric == "mse" else ""
    return [
        "To have it:",
        WrappedLine.of(
            f"  factormech strategy optimise {args.workload}{said} --epsilon {args.epsilon:g}{goal} --out Q.h5"
        ),
        WrappedLine.of("  factormech strategy export Q.h5 Q.csv"),
        "",
    ]


def _title(name: str, data: dict[str, Any]) -> str:
    linf = f"an expected largest error of {data['alpha']:g}"
    what = both_errors(data["alpha"]) if data["metric"] == "mse" else linf
    workload = titled(name, data["queries"], data["domain_size"])
    return f"{workload}, ε = {data['epsilon']:g}; users for {what}"


def advice(ranking: Ranking, best: Ranked) -> str:
    """Return which mechanism to use, how near it is to the bound, and which simpler one is nearly as good."""
    use, beside = f"Use {best.label}", _beside_bound(ranking, best)
    users = f"{number(best.users)} user{'' if best.users == 1 else 's'}"
    if ranking.metric == "mse":
        error = f"its mean squared error is at most {ranking.alpha:g}, {in_points(ranking.alpha)}"
        said = f"{use}: with {users} {error}, whatever their types are"
    else:
        predicted = number(int(best.predicted_users))
        said = f"{use}: {users} are proved to be enough, and the central limit says {predicted}"
    return f"{said}; {beside}. {_biased(ranking)}{_how(ranking, best)}".rstrip()


def _biased(ranking: Ranking) -> str:
    """Return a sentence on constant and shrunk answers, which are biased, so that the bound does not cover them."""
    best = ranking.best_shrunk
    if not math.isfinite(ranking.constant_error) or best is None:
        return ""
    if ranking.constant_error <= ranking.alpha:
        error = number(ranking.constant_error, 3)
        return f"The best constant answer has a mean squared error of at most {error} with no users at all. "
    if not best.shrunk_users < WORTH_SHRINKING * ranking.best.users:  # type: ignore[union-attr]
        return ""
    return (
        f"Shrunk towards the best constant answer (by the factor {best.shrinkage:.4g}), which is biased, "
        f"{best.label} needs {number(best.shrunk_users)}. "
    )


def _beside_bound(ranking: Ranking, best: Ranked) -> str:
    """Return what is below the lower bound, and how far above it the best mechanism is."""
    from factormech.cli.ranked import over_bound, whole

    kind = ranking.bound_class
    gap, said = ranking.gap(best), f"no {kind} can do with fewer than {number(whole(ranking.lower_bound))}"
    if not math.isfinite(gap):
        return f"nothing is known of how many fewer another {kind} could need"
    if gap <= _OPTIMAL or best.users == whole(ranking.lower_bound):
        return f"{said}, so none is better"
    return f"{said}, and this is {over_bound(gap)} {'more' if gap < 1.0 else 'as many'}"


def _how(ranking: Ranking, best: Ranked) -> str:
    """Return a sentence on a mechanism without a solver that is nearly as good, if there is one."""
    from factormech.cli.ranked import over_bound
    from factormech.mechanisms.ranking import simple_rival

    rival = simple_rival(ranking, NEARLY_AS_GOOD)
    if rival is not None:
        more = rival.sample_complexity / best.sample_complexity - 1.0
        needs = "no more" if more <= _OPTIMAL else f"{over_bound(more)} more"
        return f"{rival.label} needs {needs}, and no solver."
    return ""
