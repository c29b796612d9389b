"""What every mechanism of this room promises of data sets that differ in one person."""

from __future__ import annotations

from dataclasses import dataclass

RELATION = "one of n persons replaced, n fixed"


@dataclass(frozen=True)
class Promise:
    """What is promised of neighbours under ``relation``.

    ε-privacy (``delta`` 0), (ε, δ)-privacy, or, with ``rho``, ρ-zCDP (Bun & Steinke, TCC 2016), where ε is infinite.
    """

    epsilon: float
    delta: float = 0.0
    rho: float | None = None
    relation: str = RELATION
