"""Packages that can be called: ``fm.workloads()`` lists what ``factormech.workloads`` holds."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class Listing(ModuleType):
    """A package that answers a call with the function of its name in :mod:`factormech.questions`.

    A function ``workloads`` in the package ``factormech`` would be replaced by the subpackage of the same name as soon
    as anything imports that; so the subpackage is what is called.
    """

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return getattr(import_module("factormech.questions"), self.__name__.rpartition(".")[2])(*arguments, **named)


def make_callable(package: str) -> None:
    """Let a package, by its ``__name__``, be called."""
    sys.modules[package].__class__ = Listing
