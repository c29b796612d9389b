"""Workloads as experiments ask for them: built-in ones and the user's own."""

from __future__ import annotations

from pathlib import Path

from factormech.experiments.asked import Asked
from factormech.workloads import definitions
from factormech.workloads.base import Workload


def workload_of(asked: Asked, name: str, domain_size: int, *, seed: int = 0) -> Workload:
    """The workload that the workload jobs make for this name, size and seed of the grid."""
    stream = (str(seed),) if definitions.is_seeded(name, asked.definitions) else ()
    return definitions.create(name, domain_size, asked.definitions, seed=asked.seed, base=Path.cwd(), stream=stream)
