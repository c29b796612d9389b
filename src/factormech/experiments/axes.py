"""Axes that several kinds of study share: one place for their rules, words and symbols.

A kind that needs another description or default takes ``dataclasses.replace(EPSILON, default=(1.0,))``.
"""

from __future__ import annotations

from collections.abc import Iterable

from factormech.experiments.base import Axis
from factormech.family import Family


def _mechanisms() -> Iterable[str]:
    from factormech.local import registry

    return registry.names()


def _module_of_mechanism(name: str) -> str:
    from factormech.local import registry

    return registry.module_of(name)


def _classes() -> Iterable[str]:
    from factormech.learning import concepts

    return concepts.names()


def _check_class(name: str) -> None:
    from factormech.learning import concepts

    concepts.check_name(name)


def _module_of_class(_: str) -> str:
    return "factormech.learning.concepts"


CONCEPT_CLASSES = Family(_classes, _check_class, _module_of_class)
LOCAL_MECHANISMS = Family(_mechanisms, _module_of_mechanism, _module_of_mechanism)

WORKLOAD = Axis(
    "workload",
    {"type": "string", "minLength": 1},
    "workload",
    "prefix",
    description="Names of workloads, built-in or your own.",
)
DOMAIN_SIZE = Axis(
    "domain_size",
    {"type": "integer", "minimum": 1, "maximum": 1048576},
    "domain size n",
    64,
    symbol="n",
    description="Numbers of user types n.",
)
EPSILON = Axis(
    "epsilon",
    {"type": "number", "exclusiveMinimum": 0, "maximum": 50},
    "privacy budget ε",
    1.0,
    symbol="ε",
    description="Privacy budgets ε.",
)
DELTA = Axis(
    "delta",
    {
        "type": "number",
        "exclusiveMinimum": 0,
        "exclusiveMaximum": 1,
        "rule": "be a number above 0 and below 1",
    },
    "failure probability δ",
    1e-6,
    symbol="δ",
    description="Failure probabilities δ of (ε, δ)-privacy.",
)
ALPHA = Axis(
    "alpha",
    {"type": "number", "minimum": 0, "maximum": 1000000},
    "error α of every entry",
    0.1,
    symbol="α",
    description="Errors α that are allowed.",
)
USERS = Axis(
    "users",
    {"type": "integer", "minimum": 1, "maximum": 1000000000},
    "users N",
    1000,
    symbol="N",
    description="Numbers of users N.",
)
ORDER = Axis(
    "p",
    {"anyOf": [{"type": "number", "minimum": 1}, {"enum": ["inf"]}], "rule": "be a number of at least 1, or inf"},
    "order of error p",
    2.0,
    symbol="p",
    description="Orders p of the error in ℓp; inf is the largest error.",
)
DIMENSION = Axis(
    "dimension",
    {"type": "integer", "minimum": 1, "maximum": 1048576},
    "dimension d",
    16,
    symbol="d",
    description="Dimensions d.",
)
LOCAL_MECHANISM = Axis(
    "mechanism",
    {"type": "string", "minLength": 1},
    "mechanism",
    "hadamard",
    description="Names of local mechanisms.",
    names=LOCAL_MECHANISMS,
)
SEED = Axis(
    "seed",
    {"type": "integer", "minimum": 0, "maximum": 9223372036854775807},
    "seed",
    0,
    description="Seeds of what is random, beside the seed of the whole project.",
    default=(0,),
)
CONCEPT_CLASS = Axis(
    "concept_class",
    {"type": "string", "minLength": 1},
    "concept class",
    "thresholds",
    description="Names of concept classes, or `file:PATH` of a matrix of labels ±1.",
    names=CONCEPT_CLASSES,
)
CLASS_SIZE = Axis(
    "class_size",
    {"type": "integer", "minimum": 1, "maximum": 8192},
    "size of the class",
    4,
    symbol="d",
    description="Sizes of the classes: bits of a point, points of thresholds and of points, side of a grid.",
)
ATTRIBUTES = Axis(
    "attributes",
    {"type": "integer", "minimum": 1, "maximum": 65536},
    "attributes d",
    16,
    symbol="d",
    description="Numbers of binary attributes d.",
)
WIDTH = Axis(
    "width",
    {"type": "integer", "minimum": 1, "maximum": 24},
    "width w",
    3,
    symbol="w",
    description="Widths w of marginals: how many attributes a query reads.",
)
