"""The studies of the project's configuration, and experiments asked directly: what tests of many kinds share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from factormech.config.studies import Config, Study, load
from factormech.studies import registry
from factormech.studies.asked import Asked
from factormech.studies.run import parts_of
from factormech.tables.rows import part_of, table_of

ROOT = Path(__file__).parents[1]


@cache
def project() -> Config:
    """The configuration at the top of the project."""
    schema = ROOT / "workflow" / "schemas" / "config.schema.yaml"
    return load(yaml.safe_load((ROOT / "config.yaml").read_text()), schema, base=ROOT)


def frame_of(study: Study) -> pd.DataFrame:
    """The table of a study, whose rows keep the rules of the kind."""
    kind = registry.experiment(study.kind)
    parts = parts_of(study.kind, study.asked).items()
    frames = {name: part_of(kind, study.name, kind.measure(part)) for name, part in parts}
    return table_of(kind, study.name, study.asked, frames)


@cache
def quick(name: str) -> pd.DataFrame:
    """The table of a study's quick run."""
    return frame_of(project().quick_studies[f"quick/{name}"])


def asked(kind: str, settings: dict[str, Any] | None = None, *, seed: int = 0, **grid: Any) -> Asked:
    """A question to a kind: the axes given, and the defaults of the others and of its settings."""
    declared = registry.experiment(kind)
    axes = {axis.name: grid.get(axis.name, axis.default) for axis in declared.axes}
    defaults = {setting.name: setting.default for setting in declared.settings}
    return Asked(axes, defaults | (settings or {}), seed)


def frame_from(records: Iterable[Any]) -> pd.DataFrame:
    """A row for each record, a data class or a dictionary."""
    return pd.DataFrame([one if isinstance(one, dict) else asdict(one) for one in records])


def table_from(
    kind: str, parts: Mapping[str, pd.DataFrame], settings: dict[str, Any] | None = None, study: str = "s"
) -> pd.DataFrame:
    """The table that a kind makes of what was measured, given the frames of the parts by name."""
    return table_of(registry.experiment(kind), study, asked(kind, settings), parts)


def rows_of(kind: str, settings: dict[str, Any] | None = None, *, seed: int = 0, **grid: Any) -> list[dict[str, Any]]:
    """What a kind measures."""
    return [dict(row) for row in registry.experiment(kind).measure(asked(kind, settings, seed=seed, **grid))]


def refusals(kind: str, settings: dict[str, Any] | None = None, **grid: Any) -> list[str]:
    """What a kind refuses before anything runs."""
    return [str(error) for error in registry.experiment(kind).refuse(asked(kind, settings, **grid))]
