"""``factormech strategy verify``: check the privacy, error and bound of a stored strategy again."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from factormech.cli.answer import Answer, number, outputs, pairs, percent
from factormech.cli.asked import Stored, restored, stored_strategy, workload_of_stored
from factormech.cli.progress import Progress
from factormech.errors import BadValue

if TYPE_CHECKING:
    from factormech.studies.measures.verification import Verification


def verify(args: argparse.Namespace) -> Answer:
    """Restore the strategy, check privacy, unbiasedness, objective and bound."""
    from factormech.studies.measures import verification

    stored = stored_strategy(args.strategy, args.epsilon)
    workload = workload_of_stored(stored, args.workload)
    known = {
        "workload": workload.name,
        "domain_size": workload.domain_size,
        "queries": workload.queries,
        "epsilon": stored.epsilon,
        "mechanism": stored.mechanism,
        "file": str(stored.path),
    }
    with Progress(f"verifying {stored.path.name}"):
        try:
            strategy = restored(stored)
        except BadValue as error:
            if error.name.startswith(("stored strategy", str(stored.path))):
                raise  # no strategy at all: wrong data
            return _refused(known, str(error))
        found = verification.verify(strategy, workload, stored.epsilon, stored.solution)
    reason = "; ".join(found.problems)
    data = known | _data(stored, found) | {"status": "no-certificate" if reason else "ok", "reason": reason}
    return Answer(data, _lines(data, found), certified=not reason)


def _refused(known: dict[str, Any], reason: str) -> Answer:
    """Return the answer for a strategy that does not have the privacy that its file states."""
    data = known | {"status": "no-certificate", "reason": reason}
    return Answer(data, pairs({"strategy": known["file"], "refused": reason}), certified=False)


def _data(stored: Stored, found: Verification) -> dict[str, Any]:
    from factormech.studies.measures.verification import made_for

    evaluation = found.evaluation
    return {
        "optimised_for": made_for(stored.solution.record),
        "privacy_loss": found.privacy_loss,
        "privacy_by": found.privacy_by,
        "residual": evaluation.residual,
        "objective": found.objective,
        "lower_bound": found.lower_bound,
        "bound_by": found.bound_by,
        "gap": found.gap,
        "worst_variance": evaluation.worst,
        "average_variance": evaluation.average,
        "rows": evaluation.outputs,
        **({"claimed_lower_bound": found.claimed_bound, "claim": found.claim} if found.claimed_bound else {}),
    }


def _lines(data: dict[str, Any], found: Verification) -> list[str]:
    privacy = f"ε = {found.privacy_loss!r} at most, by {found.privacy_by} (requested: {data['epsilon']!r})"
    claimed = f"{number(found.claimed_bound, 10)}, a gap of {percent(found.claimed_gap)}, not proved: {found.claim}"
    claim = {"solver's bound": claimed} if found.claimed_bound else {}
    return pairs(
        {
            "strategy": f"{data['mechanism']}, {outputs(data['rows'])}, for {data['workload']} over "
            f"{data['domain_size']} user types",
            "privacy": privacy,
            "unbiased": f"VQ = W to {data['residual']:.1e}",
            "objective L": f"{number(data['objective'], 10)} (minimised for the {data['optimised_for']} variance)",
            "lower bound": f"{number(data['lower_bound'], 10)}, proved {_proved(data['bound_by'])}",
            "gap": percent(data["gap"]),
            **claim,
            "worst variance": f"{number(data['worst_variance'], 10)} that one user adds, summed over the queries",
            "average variance": number(data["average_variance"], 10),
            "verdict": "everything holds" if not data["reason"] else f"FAILED: {data['reason']}",
        }
    )


def _proved(by: str) -> str:
    return "in whole numbers" if by == "whole numbers" else "with every rounding outward"
