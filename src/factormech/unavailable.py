"""What a registry answers where a mechanism cannot run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unavailable:
    """Why there is no such mechanism at a grid point, in words that tables, legends and captions repeat."""

    reason: str
