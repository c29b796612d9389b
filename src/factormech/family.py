"""Names: a family of them, which a word in a configuration may be; and those that modules of a package declare."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


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
