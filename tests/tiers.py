"""Parameters of which the fast tests take some and the slow tests the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def every(step: int, values: Iterable[Any]) -> list[Any]:
    """Return all values; those between every ``step``-th, from the first on, are left to the slow tests."""
    return [pytest.param(value, marks=pytest.mark.slow) if i % step else value for i, value in enumerate(values)]


def every_pair(step: int, values: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Return the same for values that are several parameters at once."""
    return [pytest.param(*value, marks=pytest.mark.slow if i % step else ()) for i, value in enumerate(values)]
