"""Compiled inner loops. This module imports numba (half a second): its users import it where they need it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(**options: Any) -> Callable[[_Function], _Function]:
    """``numba.njit``, cached on disk, for a type checker; no flag but a caller's own lets it reorder a rounding."""

    def decorate(function: _Function) -> _Function:
        return cast(_Function, njit(cache=True, nogil=True, **options)(function))

    return decorate
