"""The kinds of study: every module of this package that has an ``EXPERIMENT``, named like its kind.

A module ``local_release.py`` has the kind ``local-release``. To add a kind, write such a module
(:mod:`factormech.studies.base`); nothing else names it.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from factormech.errors import BadValue, UnknownName
from factormech.studies.base import Experiment

_DECLARATION = b"\nEXPERIMENT = "


@cache
def modules() -> dict[str, str]:
    """Kind → module, found without importing."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    kinds = [file.stem for file in files if _DECLARATION in file.read_bytes()]
    return {stem.replace("_", "-"): f"{__package__}.{stem}" for stem in kinds}


def names() -> list[str]:
    """The known kinds, sorted."""
    return sorted(modules())


def is_experiment(kind: object) -> bool:
    """Return whether there is a kind of study of this name."""
    return isinstance(kind, str) and kind in modules()


def module_of(kind: str) -> str:
    """The module that has a kind."""
    if kind not in modules():
        raise UnknownName("kind of study", kind, names())
    return modules()[kind]


def experiment(kind: str) -> Experiment:
    """The experiment of a kind."""
    module = module_of(kind)
    found = getattr(import_module(module), "EXPERIMENT", None)
    if not isinstance(found, Experiment) or found.kind != kind:
        rule = f"have an Experiment of kind {kind!r} as EXPERIMENT"
        raise BadValue(f"module {module}", found, rule, "correct the module, or its name")
    return found
