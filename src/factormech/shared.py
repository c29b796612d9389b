"""Solutions that are in files: within :func:`shared`, what a job was given is read and not solved again.

A solution is found by the text of its :class:`~factormech.spec.Spec`, which is an attribute of its file. Reading it and
computing it give the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from factormech.spec import Spec
    from factormech.store import Record

_FILES: ContextVar[Mapping[str, Path] | None] = ContextVar("files of solutions", default=None)


@contextmanager
def shared(paths: Iterable[Path]) -> Iterator[None]:
    """Within the context, :func:`find` looks among these files."""
    from factormech import store

    token = _FILES.set({store.read_attributes(path)["spec"]: path for path in paths})
    try:
        yield
    finally:
        _FILES.reset(token)


def find(spec: Spec) -> Record | None:
    """Return the file of a solution, or ``None`` where there is none."""
    from factormech import store

    path = (_FILES.get() or {}).get(spec.text)
    return None if path is None else store.read(path, spec.family)
