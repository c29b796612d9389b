"""Axes that several kinds of study share: one place for their rules.

A kind that needs another rule or default takes ``dataclasses.replace(EPSILON, default=(1.0,))``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from factormech.arrays import BUDGET_RULE, EPSILON_RANGE
from factormech.names import Family
from factormech.studies.base import Axis


def _mechanisms() -> Iterable[str]:
    from factormech.mechanisms.local import registry

    return registry.names()


def _module_of_mechanism(name: str) -> str:
    from factormech.mechanisms.local import registry

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

WORKLOAD = Axis("workload", {"type": "string", "minLength": 1}, "prefix")
DOMAIN_SIZE = Axis("domain_size", {"type": "integer", "minimum": 1, "maximum": 1048576}, 64)
BUDGET_ENTRY = {"type": "number", "minimum": EPSILON_RANGE[0], "maximum": EPSILON_RANGE[1], "rule": BUDGET_RULE}
EPSILON = Axis("epsilon", BUDGET_ENTRY, 1.0)
DELTA = Axis(
    "delta",
    {
        "type": "number",
        "exclusiveMinimum": 0,
        "exclusiveMaximum": 1,
        "rule": "be a number above 0 and below 1",
    },
    1e-6,
)
ALPHA = Axis("alpha", {"type": "number", "minimum": 0, "maximum": 1000000}, 0.1)
ENTRY_ERROR = replace(ALPHA, name="entry_error")
USERS = Axis("users", {"type": "integer", "minimum": 1, "maximum": 1000000000}, 1000)
ORDER = Axis(
    "p",
    {"anyOf": [{"type": "number", "minimum": 1}, {"enum": ["inf"]}], "rule": "be a number of at least 1, or inf"},
    2.0,
)
COORDINATES = Axis("coordinates", {"type": "integer", "minimum": 1, "maximum": 1048576}, 16)
SEED = Axis("seed", {"type": "integer", "minimum": 0, "maximum": 9223372036854775807}, 0, default=(0,))
CONCEPT_CLASS = Axis("concept_class", {"type": "string", "minLength": 1}, "thresholds", names=CONCEPT_CLASSES)
CLASS_SIZE = Axis("class_size", {"type": "integer", "minimum": 1, "maximum": 8192}, 4)
ATTRIBUTES = Axis("attributes", {"type": "integer", "minimum": 1, "maximum": 65536}, 16)
WIDTH = Axis("marginal_width", {"type": "integer", "minimum": 1, "maximum": 24}, 3)
