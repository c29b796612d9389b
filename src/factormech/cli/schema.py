"""The keys of every JSON answer, their meanings, and which commands have them; for users, tests and docs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Key:
    """A key of an answer; where ``null`` is true its value may be null, and the object's ``reason`` says why."""

    type: str
    meaning: str
    null: bool = False
    items: str = ""

    def schema(self) -> dict[str, Any]:
        """As JSON schema."""
        found: dict[str, Any] = {"type": [self.type, "null"] if self.null else self.type}
        if self.items in ITEMS:
            found["items"] = _object(ITEMS[self.items])
        elif self.items:
            found["items"] = {"type": self.items}
        return found


KEYS: dict[str, Key] = {
    "workload": Key("string", "name of the workload; of a file, the file's name without its suffix"),
    "domain_size": Key("integer", "number of user types n"),
    "queries": Key("integer", "number of queries p"),
    "concept_class": Key("string", "name of the class of concepts"),
    "concepts": Key("integer", "number of concepts (of a class on sets of many attributes: of sets)"),
    "task": Key("string", "`learn` or `refute`"),
    "realizable": Key("boolean", "whether some concept loses nothing"),
    "failure": Key("number", "probability of a failure β"),
    "engine": Key("string", "which programs computed the norms: `dense`, or `blocks` of sets of attributes"),
    "protocol": Key("string", "name of a protocol; the best one of a plan for a class"),
    "proved_users": Key("integer", "users that are proved to be enough"),
    "interaction": Key("string", "`non-interactive` or `sequential`"),
    "theorem": Key("string", "what states or proves the number"),
    "constants": Key("object", "the numbers that a prediction is made of"),
    "proper": Key("boolean", "whether a bound is for outputs in the class alone"),
    "ratio": Key("number", "predicted users of the best protocol ÷ the bound that holds for it"),
    "protocols": Key("array", "one object for each protocol, best first", items="protocol"),
    "bounds": Key("array", "one object for each lower bound that no other implies", items="bound"),
    "attributes": Key("integer", "number of attributes d, where `--attributes` was given"),
    "epsilon": Key("number", "privacy budget"),
    "metric": Key("string", "the error that `alpha` is a target for: `mse` or `linf`"),
    "alpha": Key("number", "target error, or the entrywise error of a norm"),
    "rmse": Key("number", "root mean square error per query, as a share of the users: the root of `alpha` (`mse`)"),
    "users": Key("integer", "whole number of users that are needed, or that reported", null=True),
    "mechanism": Key("string", "name of the mechanism; the best one of a plan"),
    "objective": Key("number", "L = ‖W1‖²/n + tr(X_c⁺C), for the worst case if `optimised_for` says so"),
    "lower_bound": Key(
        "number",
        "lower bound: on L (`strategy optimise`, `verify`), on users (`compare`, `plan`), on the norm (`norm`)",
    ),
    "claimed_lower_bound": Key("number", "the lower bound in a strategy file, where `verify` proves less"),
    "claim": Key("string", "why `verify` proves less than the file claims"),
    "bound_class": Key(
        "string", "the class of mechanisms, or of protocols, that `lower_bound` holds for (`compare`, `plan`)"
    ),
    "constant_error": Key("number", "mean squared error of the best constant answer, which needs no users"),
    "shrunk_mechanism": Key("string", "the mechanism that needs the fewest users when it is shrunk"),
    "shrunk_users": Key(
        "integer", "whole number of users that it needs when it is shrunk towards the best constant answer (biased)"
    ),
    "shrinkage": Key("number", "the factor of the shrinkage; 0 where the constant is enough"),
    "upper_bound": Key("number", "upper end of a norm"),
    "gap": Key("number", "value ÷ lower bound − 1", null=True),
    "worst_variance": Key("number", "largest variance that one user adds to the answers, summed over the queries"),
    "average_variance": Key("number", "the same averaged over the user types"),
    "sample_complexity": Key("number", "users that the target error needs, not rounded up", null=True),
    "rows": Key("integer", "number of outputs m of the strategy"),
    "seconds": Key("number", "seconds that solving took"),
    "status": Key("string", "`ok`; `no-certificate` (exit code 3); `unavailable`, `refused` (a mechanism); `error`"),
    "reason": Key("string", "why a status is not `ok`, or a number is null"),
    "mechanisms": Key(
        "array", "one object for each mechanism, best first, those that cannot run last", items="mechanism"
    ),
    "advice": Key("string", "which mechanism to use, in a few sentences"),
    "traced": Key(
        "array", "one object for each row: the row, table, part, what was asked, solutions, code", items="object"
    ),
    "optimised_for": Key("string", "`average` or `worst`"),
    "effort": Key("string", "`standard` or `best`"),
    "solver": Key("string", "which solver, or fixed mechanism, found the strategy"),
    "file": Key("string", "the file that was read or written; null if none was asked for", null=True),
    "reconstruction": Key(
        "string", "the file of V, a row for each query: answers are V times the counts of the reports", null=True
    ),
    "textbook_worst_variance": Key(
        "number", "worst variance of the exported Q with the textbook reconstruction W X⁺QᵀD⁻¹"
    ),
    "privacy_loss": Key("number", "an upper bound on the privacy loss ε of the strategy as it is stored"),
    "privacy_by": Key("string", "`rational arithmetic` on the matrix, or `outward rounding`"),
    "bound_by": Key("string", "`whole numbers`, or `outward rounding`"),
    "residual": Key("number", "‖VQ − W‖_F relative to the centred workload"),
    "delta": Key("number", "δ of a mechanism that is not purely ε-private; it has no `lower_bound`"),
    "predicted_users": Key("number", "users by the central limit (`linf`); `sample_complexity` is proved"),
    "norm": Key("string", "name of the norm"),
    "p": Key("number", "order of error of the norm"),
    "query_errors": Key(
        "array", "standard error of each query with these users, as a share of them, for its worst data", items="number"
    ),
    "query_names": Key("array", "names of the queries, where the file or data frame has them", items="string"),
    "estimates": Key("array", "the answers that the reports give, on counts of users", items="number"),
    "standard_errors": Key("array", "exact standard deviation of each on these users", null=True, items="number"),
    "consistent_estimates": Key(
        "array", "answers of the nearest data without negative counts and with this total", items="number"
    ),
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
    "progress": Key("array", "one object for each study: its files, and how many of them are made", items="object"),
    "used_by": Key("array", "names of the studies that a file is for", items="string"),
    "made": Key("boolean", "whether any file of the study is made, or this file"),
    "missing": Key("array", "which of `figure` and `table` are not made yet", items="string"),
    "parts": Key("array", "how many parts are made, and of how many", items="integer"),
    "solutions": Key("array", "how many solved files are made, and of how many", items="integer"),
    "files": Key("array", "one object for each solution: `file`, `made`, `description`", items="object"),
    "description": Key("string", "what a file is of: mechanism with its settings, workload, n, ε, seed"),
    "holds": Key("object", "the attributes that a result file has"),
    "names": Key("array", "names of the studies (`check`, `init`)", items="string"),
    "study": Key("string", "name of the study"),
    "kind": Key("string", "its kind"),
    "paper": Key("string", "short name of its paper"),
    "artefact": Key("string", "the item of the paper: a figure, table or theorem"),
    "title": Key("string", "its title"),
    "grid": Key("object", "its axes and settings"),
    "figure": Key("string", "path of its figure"),
    "table": Key("string", "path of its table"),
    "shell": Key("string", "which shell"),
    "script": Key("string", "what the shell reads"),
    "words": Key("array", "what may complete the last word", items="string"),
    "measurements": Key("integer", "number of points of all grids"),
    "data": Key("array", "data sets that are used", items="string"),
    "with_standins": Key("array", "studies that use synthetic stand-ins for data sets", items="string"),
    "unjudged_claims": Key("array", "claims that stand-ins leave without a verdict", items="string"),
    "macros": Key("integer", "number of macros, one for each number"),
    "expected_seconds": Key("number", "seconds that a run takes when no result exists yet"),
    "cores": Key("integer", "number of cores that `expected_seconds` is for"),
}

_WORKLOAD = ("workload", "domain_size", "queries")
_STUDY = ("study", "kind", "paper", "artefact", "title", "grid", "figure", "table")
_PROGRESS = ("study", "paper", "artefact", "figure", "table", "made", "missing", "parts", "solutions")
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
        (
            "optimised_for",
            "privacy_loss",
            "privacy_by",
            "residual",
            *_L,
            "bound_by",
            *_VARIANCES,
            "rows",
            "claimed_lower_bound",
            "claim",
        ),
    ),
    "strategy export": (
        (
            *("workload", "domain_size", "epsilon", "mechanism", "rows", "privacy_loss", "file", "reconstruction"),
            *("status", "reason"),
        ),
        ("worst_variance", "textbook_worst_variance"),
    ),
    "strategy compare": (
        (
            *(*_WORKLOAD, "epsilon", "metric", "alpha", "rmse", "lower_bound", "bound_class", "mechanisms", "seconds"),
            "status",
        ),
        (*_BIASED, "reason"),
    ),
    "norm": (
        (*_WORKLOAD, "norm", "lower_bound", "upper_bound", "gap", "seconds", "status", "reason"),
        ("alpha", "p", "attributes"),
    ),
    "plan": (
        (
            *(*_WORKLOAD, "epsilon", "metric", "alpha", "mechanism", "users", "sample_complexity", "lower_bound"),
            *("bound_class", "gap", "advice", "mechanisms", "seconds", "status", "reason"),
        ),
        ("rmse", *_BIASED, "query_errors", "query_names"),
    ),
    "plan --class": (
        (
            *("concept_class", "concepts", "domain_size", "task", "realizable", "epsilon", "alpha", "failure"),
            *("engine", "protocol", "users", "lower_bound", "bound_class", "ratio", "protocols", "bounds", "advice"),
            *("seconds", "status", "reason"),
        ),
        (),
    ),
    "collect simulate": (
        (
            *(*_WORKLOAD, "epsilon", "mechanism", "file", "users", "estimates", "standard_errors", "truth"),
            *(*_VARIANCES, "status", "reason"),
        ),
        ("consistent_estimates", "query_names"),
    ),
    "study list": (("file", "studies", "status"), ()),
    "results list": (("progress", "status"), ()),
    "results show": (("status",), (*_PROGRESS, "files", "file", "description", "used_by", "holds")),
    "study show": ((*_STUDY, "expected_seconds", "status"), ()),
    "completion": (("status",), ("shell", "script", "words")),
    "trace": (("figure", "traced", "status"), ()),
    "paper": (("study", "table", "files", "macros", "status"), ()),
    "check": (
        (
            *("file", "names", "measurements", "data", "with_standins", "unjudged_claims"),
            *("expected_seconds", "cores", "status"),
        ),
        (),
    ),
    "init": (("file", "names", "status"), ()),
    "error": (("status", "reason"), ()),
}
ITEMS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "mechanism": (
        ("mechanism", "epsilon", "status", "sample_complexity", "users", "reason"),
        (
            *("lower_bound", "gap", "delta", *_VARIANCES, "rows", "predicted_users", "privacy_loss", "seconds"),
            *("shrunk_users", "shrinkage"),
        ),
    ),
    "study": (_STUDY, ()),
    "protocol": (("protocol", "users", "proved_users", "interaction", "theorem", "constants"), ()),
    "bound": (("lower_bound", "bound_class", "proper", "theorem"), ()),
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
