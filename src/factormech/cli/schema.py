"""The keys of every JSON answer, what each means, and where it may stand: one table for users, tests and docs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Key:
    """A key of an answer. ``null``: whether null may stand there, its object's ``reason`` saying why."""

    type: str
    meaning: str
    null: bool = False
    items: str = ""

    def schema(self) -> dict[str, Any]:
        """As JSON schema."""
        found: dict[str, Any] = {"type": [self.type, "null"] if self.null else self.type}
        if self.items in ("mechanism", "study"):
            found["items"] = _object(_ITEMS[self.items])
        elif self.items:
            found["items"] = {"type": self.items}
        return found


KEYS: dict[str, Key] = {
    "workload": Key("string", "name of the workload; of a file, the file's name without its suffix"),
    "domain_size": Key("integer", "number of user types n"),
    "queries": Key("integer", "number of queries p"),
    "epsilon": Key("number", "privacy budget"),
    "metric": Key("string", "what alpha bounds: `mse` or `linf`"),
    "alpha": Key("number", "target error, or the entrywise error of a norm"),
    "rmse": Key("number", "root mean square error per query, as a share of the users: the root of `alpha` (`mse`)"),
    "users": Key("integer", "whole users that are needed, or that reported", null=True),
    "mechanism": Key("string", "name of the mechanism; the best one of a plan"),
    "objective": Key("number", "L = ‖W1‖²/n + tr(X_c⁺C), for the worst case if `optimised_for` says so"),
    "lower_bound": Key(
        "number",
        "what none is below: of L (`strategy optimise`, `verify`), of users (`compare`, `plan`), of the norm (`norm`)",
    ),
    "bound_class": Key("string", "the class of mechanisms that `lower_bound` holds for (`compare`, `plan`)"),
    "constant_error": Key("number", "mean squared error of the best constant answer, which needs no users"),
    "shrunk_mechanism": Key("string", "the mechanism that needs the fewest users when it is shrunk"),
    "shrunk_users": Key("integer", "whole users it needs, shrunk towards the best constant answer: biased"),
    "shrinkage": Key("number", "the factor of the shrinkage; 0 where the constant is enough"),
    "upper_bound": Key("number", "upper end of a norm"),
    "gap": Key("number", "value ÷ lower bound − 1", null=True),
    "worst_variance": Key("number", "largest variance that one user adds to the answers, summed over the queries"),
    "average_variance": Key("number", "the same averaged over the user types"),
    "sample_complexity": Key("number", "users that the target error needs, not rounded up", null=True),
    "rows": Key("integer", "number of outputs m of the strategy"),
    "seconds": Key("number", "of solving"),
    "status": Key("string", "`ok`; `no-certificate` (exit code 3); `unavailable`, `refused` (a mechanism); `error`"),
    "reason": Key("string", "why a status is not `ok`, or a number is null"),
    "mechanisms": Key(
        "array", "one object for each mechanism, best first, those that cannot run last", items="mechanism"
    ),
    "advice": Key("string", "a sentence or two"),
    "traced": Key(
        "array", "one object for each row: the row, table, part, what was asked, solutions, code", items="object"
    ),
    "optimised_for": Key("string", "`average` or `worst`"),
    "effort": Key("string", "`standard` or `best`"),
    "solver": Key("string", "which solver, or fixed mechanism, found the strategy"),
    "file": Key("string", "the file that was read or written; null if none was asked for", null=True),
    "privacy_loss": Key("number", "an upper bound of the ε that the strategy really has"),
    "privacy_by": Key("string", "`rational arithmetic` on the matrix, or `outward rounding`"),
    "bound_by": Key("string", "`whole numbers`, or `outward rounding`"),
    "residual": Key("number", "‖VQ − W‖_F relative to the centred workload"),
    "delta": Key("number", "δ of a mechanism that is not purely ε-private; it has no `lower_bound`"),
    "predicted_users": Key("number", "users by the central limit (`linf`); `sample_complexity` is what is proved"),
    "norm": Key("string", "which norm"),
    "p": Key("number", "its order of error"),
    "estimates": Key("array", "the answers that the reports give, on counts of users", items="number"),
    "standard_errors": Key("array", "exact standard deviation of each on these users", null=True, items="number"),
    "consistent_estimates": Key("array", "answers of the nearest data ≥ 0 with this total", items="number"),
    "truth": Key("array", "the true answers", items="number"),
    "workloads": Key("array", "the registered families", items="string"),
    "frobenius_norm": Key("number", "‖W‖_F"),
    "least_column_sum": Key("number", "least entry of 1ᵀW"),
    "largest_column_sum": Key("number", "largest entry of 1ᵀW"),
    "rank": Key("integer", "of W"),
    "largest_singular_value": Key("number", "of W"),
    "least_singular_value": Key("number", "of W, the n-th"),
    "nuclear_norm": Key("number", "sum of the singular values of W"),
    "centred_nuclear_norm": Key("number", "the same of W − W11ᵀ/n"),
    "symmetric": Key("boolean", "whether translations of the bits of the types leave the centred Gram matrix alone"),
    "studies": Key("array", "one object for each study (`study list`)", items="study"),
    "names": Key("array", "names of the studies (`check`)", items="string"),
    "study": Key("string", "name of the study"),
    "kind": Key("string", "its kind"),
    "paper": Key("string", "short name of its paper"),
    "artefact": Key("string", "what of the paper"),
    "title": Key("string", "its title"),
    "grid": Key("object", "what it ranges over"),
    "figure": Key("string", "where its figure is made"),
    "table": Key("string", "where its table is made"),
    "measurements": Key("integer", "points of all grids"),
    "data": Key("array", "data sets that are used", items="string"),
    "with_standins": Key("array", "studies that use synthetic stand-ins for data sets", items="string"),
    "unjudged_claims": Key("array", "claims that stand-ins leave without a verdict", items="string"),
    "files": Key("array", "files that were written", items="string"),
    "macros": Key("integer", "numbers that have a macro"),
    "expected_seconds": Key("number", "what a run takes from nothing"),
    "cores": Key("integer", "on so many cores"),
}

_WORKLOAD = ("workload", "domain_size", "queries")
_STUDY = ("study", "kind", "paper", "artefact", "title", "grid", "figure", "table")
_VARIANCES = ("worst_variance", "average_variance")
_BIASED = ("constant_error", "shrunk_mechanism", "shrunk_users", "shrinkage")
_L = ("objective", "lower_bound", "gap")

# For each command the keys that are always there, and those that are where they apply.
COMMANDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "workload list": (("workloads", "status"), ()),
    "workload describe": (
        (
            *_WORKLOAD,
            "frobenius_norm",
            "least_column_sum",
            "largest_column_sum",
            "rank",
            "largest_singular_value",
            "least_singular_value",
            "nuclear_norm",
            "centred_nuclear_norm",
            "symmetric",
            "status",
        ),
        (),
    ),
    "strategy optimise": (
        (
            *(*_WORKLOAD, "epsilon", "mechanism", "optimised_for", "effort", "solver", *_L, *_VARIANCES),
            *("rows", "file", "seconds", "status", "reason"),
        ),
        (),
    ),
    "strategy verify": (
        (*_WORKLOAD, "epsilon", "mechanism", "file", "status", "reason"),
        ("optimised_for", "privacy_loss", "privacy_by", "residual", *_L, "bound_by", *_VARIANCES, "rows"),
    ),
    "strategy export": (
        ("workload", "domain_size", "epsilon", "mechanism", "rows", "privacy_loss", "file", "status"),
        (),
    ),
    "strategy compare": (
        (
            *(*_WORKLOAD, "epsilon", "metric", "alpha", "rmse", "lower_bound", "bound_class", "mechanisms", "seconds"),
            "status",
        ),
        _BIASED,
    ),
    "norm": (
        (*_WORKLOAD, "norm", "lower_bound", "upper_bound", "gap", "seconds", "status", "reason"),
        ("alpha", "p"),
    ),
    "plan": (
        (
            *(*_WORKLOAD, "epsilon", "metric", "alpha", "mechanism", "users", "sample_complexity", "lower_bound"),
            *("bound_class", "gap", "advice", "mechanisms", "seconds", "status", "reason"),
        ),
        ("rmse", *_BIASED),
    ),
    "collect simulate": (
        (
            *(*_WORKLOAD, "epsilon", "mechanism", "file", "users", "estimates", "standard_errors", "truth"),
            *(*_VARIANCES, "status", "reason"),
        ),
        ("consistent_estimates",),
    ),
    "study list": (("file", "studies", "status"), ()),
    "study show": ((*_STUDY, "expected_seconds", "status"), ()),
    "trace": (("figure", "traced", "status"), ()),
    "paper": (("study", "table", "files", "macros", "status"), ()),
    "check": (
        (
            *("file", "names", "measurements", "data", "with_standins", "unjudged_claims"),
            *("expected_seconds", "cores", "status"),
        ),
        (),
    ),
    "error": (("status", "reason"), ()),
}
_ITEMS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "mechanism": (
        ("mechanism", "epsilon", "status", "sample_complexity", "users", "reason"),
        (
            *("lower_bound", "gap", "delta", *_VARIANCES, "rows", "predicted_users", "privacy_loss", "seconds"),
            *("shrunk_users", "shrinkage"),
        ),
    ),
    "study": (_STUDY, ()),
}


def schema(command: str) -> dict[str, Any]:
    """The JSON schema of a command's answer; ``error`` is that of any refusal."""
    return _object(COMMANDS[command])


def _object(keys: tuple[tuple[str, ...], tuple[str, ...]]) -> dict[str, Any]:
    always, sometimes = keys
    return {
        "type": "object",
        "properties": {name: KEYS[name].schema() for name in (*always, *sometimes)},
        "required": list(always),
        "additionalProperties": False,
    }
