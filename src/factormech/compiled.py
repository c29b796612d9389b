"""Compiled inner loops. This module imports numba (half a second): its users import it where they need it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

from factormech import machine_code

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(**options: Any) -> Callable[[_Function], _Function]:
    """``numba.njit``, its machine code kept on disk; no flag but a caller's own lets it reorder a rounding.

    The machine code is of the code that there is now, in whatever file: see :mod:`factormech.machine_code`.
    """

    def decorate(function: _Function) -> _Function:
        return cast(_Function, machine_code.kept(function, njit(cache=True, nogil=True, **options)))

    return decorate
