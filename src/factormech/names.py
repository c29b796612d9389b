"""Families of names, the modules that declare them, and packages that list theirs.

**Families.** A setting of a configuration is a name of a family; modules of a package declare names.

**Callable packages.** ``fm.workloads()`` lists what ``factormech.workloads`` holds.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

# Families.


@dataclass(frozen=True)
class Family:
    """One registry: its names, for the reader of a message, and what raises ``UnknownName`` for any other.

    A name may stand for many (``{k}-way-marginals``), so the list alone cannot tell what is known. ``module_of`` says
    where the code of a name is, so that results are made again when that code changes.
    """

    names: Callable[[], Iterable[str]]
    check: Callable[[str], object]
    module_of: Callable[[str], str] | None = None


def declarations(folder: Path, constant: str) -> Iterator[tuple[str, Any]]:
    """Yield the modules of a folder that assign a literal to ``constant``, each with the literal.

    Nothing is imported. The modules are in the order of their names.
    """
    sign = f"\n{constant} = ".encode()
    for file in sorted(folder.glob("*.py")):
        content = file.read_bytes()
        if sign in content:
            for node in ast.parse(content).body:
                if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [constant]:
                    yield file.stem, ast.literal_eval(node.value)


# Callable packages.


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
