"""A ranking of mechanisms as JSON objects and as a table; ``strategy compare`` and ``plan`` share it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from factormech.cli.answer import number, percent, table

if TYPE_CHECKING:
    from factormech.mechanisms.ranking import Ranked, Ranking


def entries(ranking: Ranking, epsilon: float) -> list[dict[str, Any]]:
    """Return one JSON object for each mechanism."""
    return [_entry(ranking, found, epsilon) for found in ranking.mechanisms]


def _entry(ranking: Ranking, found: Ranked, epsilon: float) -> dict[str, Any]:
    entry: dict[str, Any] = {"mechanism": found.mechanism, "epsilon": epsilon, "status": found.status}
    if found.status != "ok":
        return entry | {"sample_complexity": None, "users": None, "reason": found.reason}
    entry |= {"sample_complexity": found.sample_complexity, "users": found.users}
    # The bound holds for purely private mechanisms only.
    pure = found.delta == 0.0
    entry |= {"lower_bound": ranking.lower_bound, "gap": ranking.gap(found)} if pure else {"delta": found.delta}
    if ranking.metric == "mse":
        entry |= {"worst_variance": found.worst_variance, "average_variance": found.average_variance}
        entry |= {"shrunk_users": found.shrunk_users, "shrinkage": found.shrinkage}
        entry |= {"rows": found.rows} if found.rows else {}
    else:
        entry["predicted_users"] = found.predicted_users
    reason = "" if pure else f"(ε, δ)-private with δ = {found.delta:g}"
    return entry | {"privacy_loss": found.privacy_loss, "seconds": found.seconds, "reason": reason}


def lines(ranking: Ranking) -> list[str]:
    """Return the table; mechanisms that cannot run are listed below it with the reason."""
    mse = ranking.metric == "mse"
    head = ["mechanism", "users", "over bound", *(["worst variance", "average"] if mse else ["predicted"])]
    rows: list[list[str]] = []
    absent: dict[str, list[str]] = {}
    for found in ranking.mechanisms:
        if found.status != "ok":
            absent.setdefault(found.reason, []).append(found.label)
            continue
        gap = ranking.gap(found)
        over = f"δ = {found.delta:g}" if found.delta else over_bound(gap) if math.isfinite(gap) else "–"
        numbers = [number(found.worst_variance, 5), number(found.average_variance, 5)]
        numbers = numbers if mse else [number(int(found.predicted_users))]
        rows.append([found.label, number(found.users), over, *numbers])
    least = number(whole(ranking.lower_bound)) if ranking.lower_bound > 0.0 else "vacuous"
    bound = [CLASSES[ranking.metric], least, "", *([""] * (2 if mse else 1))]
    reasons = [f"  {'; '.join(names)}: {reason}" for reason, names in absent.items()]
    found_lines = [*table(head, [*rows, bound]), *(["cannot run here:", *reasons] if reasons else [])]
    return [*found_lines, *biased(ranking)]


# The row of the lower bound names the mechanisms that it holds for.
CLASSES = {"mse": "lower bound, unbiased linear", "linf": "lower bound, non-interactive"}


# A factor that reads as 1.
_NO_SHRINKAGE = 0.99995


def biased(ranking: Ranking) -> list[str]:
    """Return lines on the best constant and the best shrunk strategy: biased, and not covered by the bound."""
    if not math.isfinite(ranking.constant_error):
        return []
    found = ["biased answers, which the bound does not cover:"]
    found.append(f"  best constant: mean squared error {number(ranking.constant_error, 3)} with no users")
    best = ranking.best_shrunk
    if best is not None and best.shrunk_complexity > 0.0 and best.shrinkage < _NO_SHRINKAGE:
        towards = f"{best.label}, shrunk towards it by the factor {best.shrinkage:.4g}"
        found.append(f"  {towards}: {number(best.shrunk_users)} users")
    return found


def shrunk(ranking: Ranking) -> dict[str, Any]:
    """Return the best shrunk strategy for JSON."""
    best = ranking.best_shrunk
    if not math.isfinite(ranking.constant_error) or best is None:
        return {}
    return {
        "constant_error": ranking.constant_error,
        "shrunk_mechanism": best.mechanism,
        "shrunk_users": best.shrunk_users,
        "shrinkage": best.shrinkage,
    }


def over_bound(gap: float) -> str:
    """Return a gap as a reader wants it: a percentage, or a factor where it is large."""
    if gap < 1.0:
        return percent(gap).replace("below", "<")
    return f"{1.0 + gap:.3g} times" if gap < 999.0 else f"{1.0 + gap:,.0f} times"


def whole(users: float) -> int:
    """Return a lower bound on users as a whole number."""
    return max(math.ceil(users * (1.0 - 1e-12)), 1)
