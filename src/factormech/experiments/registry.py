"""The kinds of study of this room: a name, and the module that has its ``EXPERIMENT``.

To add one, write such a module (:mod:`factormech.experiments.base`) and add its line here.
"""

from __future__ import annotations

from importlib import import_module

from factormech.errors import BadValue, UnknownName
from factormech.experiments.base import Experiment

_HERE = "factormech.experiments."
EXPERIMENTS: dict[str, str] = {
    "central-errors": _HERE + "central_errors",
    "central-prefix": _HERE + "central_prefix",
    "few-users": _HERE + "few_users",
    "every-protocol": _HERE + "every_protocol",
    "gaussian-calibration": _HERE + "gaussian_calibration",
    "noise-floor": _HERE + "noise_floor",
    "central-bounds": _HERE + "central_bounds",
    "published-bounds": _HERE + "published_bounds",
    "polytope-width": _HERE + "polytope_width",
    "sensitivity-polytope": _HERE + "sensitivity_polytope",
    "hard-pairs": _HERE + "hard_pairs",
    "distinguishing-advantage": _HERE + "distinguishing_advantage",
    "pure-skew": _HERE + "pure_skew",
    "jl-distortion": _HERE + "jl_distortion",
    "recursion-depths": _HERE + "recursion_depths",
    "pure-covariance": _HERE + "pure_covariance",
    "pure-marginals": _HERE + "pure_marginals",
    "local-release": _HERE + "local_release",
    "local-error": _HERE + "local_error",
    "local-approximation": _HERE + "local_approximation",
    "correlational-queries": _HERE + "correlational_queries",
    "correlational-success": _HERE + "correlational_success",
    "sq-dimension": _HERE + "sq_dimension",
    "query-complexity": _HERE + "query_complexity",
    "pan-private": _HERE + "pan_private",
    "full-parity": _HERE + "full_parity",
    "full-parity-users": _HERE + "full_parity_users",
    "pure-random-queries": _HERE + "pure_random_queries",
    "channel-information": _HERE + "channel_information",
    "selection": _HERE + "selection",
    "selection-success": _HERE + "selection_success",
    "disjointness": _HERE + "disjointness",
    "agnostic-learning": _HERE + "agnostic_learning",
    "refutation": _HERE + "refutation",
    "realizable-learning": _HERE + "realizable_learning",
    "learning-users": _HERE + "learning_users",
    "class-norms": _HERE + "class_norms",
    "coarse-jl": _HERE + "coarse_jl",
    "pure-constants": _HERE + "pure_constants",
}


def names() -> list[str]:
    """The known kinds, sorted."""
    return sorted(EXPERIMENTS)


def is_experiment(kind: object) -> bool:
    """Whether a kind of study is one of this room."""
    return isinstance(kind, str) and kind in EXPERIMENTS


def module_of(kind: str) -> str:
    """The module that has a kind."""
    if kind not in EXPERIMENTS:
        raise UnknownName("kind of experiment", kind, EXPERIMENTS)
    return EXPERIMENTS[kind]


def experiment(kind: str) -> Experiment:
    """The experiment of a kind."""
    module = module_of(kind)
    found = getattr(import_module(module), "EXPERIMENT", None)
    if not isinstance(found, Experiment) or found.kind != kind:
        rule = f"have an Experiment of kind {kind!r} as EXPERIMENT"
        raise BadValue(f"module {module}", found, rule, "correct the module, or its line in experiments/registry.py")
    return found
