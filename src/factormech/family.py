"""A family of names: what a word in a configuration may be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """One registry: its names, for the reader of a message, and what raises ``UnknownName`` for any other.

    A name may stand for many (``{k}-way-marginals``), so the list alone cannot tell what is known. ``module_of`` says
    where the code of a name is, so that results are made again when that code changes.
    """

    names: Callable[[], Iterable[str]]
    check: Callable[[str], object]
    module_of: Callable[[str], str] | None = None
