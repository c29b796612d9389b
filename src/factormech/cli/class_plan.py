"""``factormech plan --class``: how many users learn or refute a class of concepts."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from factormech.cli.answer import Answer, WrappedLine, counted, number, table
from factormech.cli.asked import epsilon_of
from factormech.cli.progress import Progress
from factormech.errors import BadValue

if TYPE_CHECKING:
    from factormech.learning.plans import Bound, ClassPlan, PlannedProtocol

# The symbols of a prediction's constants, in the order in which they are printed.
_SYMBOLS = {
    "gamma": "‖R‖‖A‖ = γ =",
    "distance": "a =",
    "margin": "margin m =",
    "variance": "largest variance of one user s² =",
    "spread": "spread of one user σ =",
    "coth": "c = coth(ε/2) =",
    "groups": "groups of users",
    "accuracy": "loss of the first round α₁ =",
    "first_round": "users of the first round",
    "second_round": "of the second",
}
_PAGE = "docs/class-plans.md"


def class_plan(args: argparse.Namespace) -> Answer:
    """Plan for a class: protocols by predicted users, and lower bounds with their classes of protocols."""
    from factormech import questions

    start = time.perf_counter()
    with Progress(f"planning for {args.concept_class}"):
        found = questions.plan(
            concept_class=args.concept_class,
            epsilon=epsilon_of(args),
            alpha=_alpha(args),
            attributes=args.attributes,
            domain_size=args.domain_size,
            realizable=args.realizable,
            refute=args.refute,
            failure=args.failure,
        )
    return Answer(_data(found, time.perf_counter() - start), _lines(found))


def check_subject(args: argparse.Namespace) -> None:
    """Refuse options of a plan for a class with a workload, and the reverse, and neither."""
    if args.concept_class is None:
        if args.workload is None:
            raise BadValue("NAME|FILE", "nothing", "be given, or --class", "try prefix, or --class conjunctions")
        for flag in ("attributes", "realizable", "refute", "failure"):
            if getattr(args, flag) not in (None, False):
                rule = "be given with --class alone"
                value = "given" if getattr(args, flag) is True else getattr(args, flag)
                raise BadValue(f"--{flag}", value, rule, "leave it out, or give --class conjunctions")
        return
    if args.workload is not None:
        raise BadValue("NAME|FILE", args.workload, "not be given with --class", "leave one of them out")
    for flag, remedy in (
        ("rmse", "give --alpha, the excess loss"),
        ("metric", "leave it out"),
        ("config", "leave it out"),
    ):
        if getattr(args, flag) is not None:
            raise BadValue(f"--{flag}", getattr(args, flag), "not be given with --class", remedy)


def _alpha(args: argparse.Namespace) -> float:
    from factormech.learning.reports import checked_loss_gap

    return checked_loss_gap(args.alpha)


def _data(found: ClassPlan, seconds: float) -> dict[str, Any]:
    """The JSON object."""
    best, bound = found.best, found.bound
    return {
        "concept_class": found.concept_class,
        "concepts": found.concepts,
        "domain_size": found.domain_size,
        "task": "refute" if found.refute else "learn",
        "realizable": found.realizable,
        "epsilon": found.epsilon,
        "alpha": found.alpha,
        "failure": found.failure,
        "engine": found.engine,
        "protocol": best.name,
        "users": best.users,
        "lower_bound": bound.users,
        "bound_class": bound.protocol,
        "ratio": found.ratio,
        "protocols": [_entry(one) for one in found.candidates],
        "bounds": [_bound(one) for one in found.bounds],
        "advice": _advice(found),
        "seconds": seconds,
        "status": "ok",
        "reason": "",
    }


def _entry(one: PlannedProtocol) -> dict[str, Any]:
    return {
        "protocol": one.name, "users": one.users, "proved_users": one.proved_users, "interaction": one.protocol,
        "theorem": one.theorem, "constants": dict(one.constants),
    }  # fmt: skip


def _bound(one: Bound) -> dict[str, Any]:
    return {"lower_bound": one.users, "bound_class": one.protocol, "proper": one.proper, "theorem": one.theorem}


def _lines(found: ClassPlan) -> list[str]:
    from factormech.learning.plans import ENGINES

    size = f"{counted(found.concepts, 'concept')} on {counted(found.domain_size, 'point')}"
    title = f"{found.concept_class}: {size}, ε = {found.epsilon:g}; users that {found.task}"
    rows = [
        [one.label, number(one.users), number(one.proved_users), one.protocol, one.theorem] for one in found.candidates
    ]
    above = table(["protocol", "predicted", "proved", "interaction", "stated in"], rows)
    rows = [[_whom(one), number(one.whole_users), one.theorem] for one in found.bounds]
    below = table(["no protocol does it with fewer", "users", "proved by"], rows)
    return [
        title,
        "",
        *above,
        "",
        *below,
        "",
        _advice(found),
        *_predicted(found.best),
        WrappedLine.of(f"Norms: {ENGINES[found.engine]}."),
    ]


def _whom(one: Bound) -> str:
    said = {"every": "every ε-LDP protocol", "sequential": "sequential", "non-interactive": "without interaction"}
    return said[one.protocol] + (", output in the class" if one.proper else "")


def _advice(found: ClassPlan) -> str:
    """Return a sentence on which protocol to use, and how far it is above its bound."""
    best, bound = found.best, found.bound
    said = f"Use {best.label}: {number(best.users)} users are predicted to {found.task}, {number(best.proved_users)}"
    whom = {"every": "protocol", "sequential": "sequential protocol", "non-interactive": "protocol without interaction"}
    fewest = f"No {whom[bound.protocol]}{' with an output in the class' if bound.proper else ''}"
    least = f"{number(bound.whole_users)}, {found.ratio:.3g} times fewer"
    return f"{said} are proved to. {fewest} does it with fewer than {least} ({_PAGE})."


def _predicted(best: PlannedProtocol) -> list[str]:
    """The constants of the prediction."""
    said = [f"{symbol} {best.constants[name]:.5g}" for name, symbol in _SYMBOLS.items() if name in best.constants]
    return [f"Its prediction has {', '.join(said)}."] if said else []
