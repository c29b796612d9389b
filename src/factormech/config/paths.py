"""Paths in a configuration: relative to its file, and never out of the project by a relative way.

What a run reads and writes is relative to the folder that it runs in. So the paths of a configuration from elsewhere
are rewritten once, when it is read, and everything after that is relative to one folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def seen_from(config: Any, base: Path, here: Path) -> Any:
    """A configuration whose file is in ``base``, with its paths as they are seen from ``here``."""
    if not isinstance(config, Mapping) or base.absolute() == here.absolute():
        return config

    def moved(value: Any) -> Any:
        return _seen_from(value, base.absolute(), here.absolute()) if isinstance(value, str) and value else value

    found = dict(config)
    if "data" in found:
        found["data"] = moved(found["data"])
    if isinstance(found.get("plugins"), list):
        found["plugins"] = [moved(value) for value in found["plugins"]]
    if isinstance(found.get("workloads"), Mapping):
        found["workloads"] = {name: _definition(value, moved) for name, value in found["workloads"].items()}
    return found


def leads_outside(value: str, base: Path) -> bool:
    """Whether a relative path climbs out of the project; an absolute one is where its user says.

    A link inside the project may lead anywhere: whoever made it had the right to, as no text of a configuration has.
    """
    if "\0" in value or ".." not in Path(value).parts or os.path.isabs(value):
        return False
    return not (base / value).resolve().is_relative_to(base.resolve())


def _definition(value: Any, moved: Callable[[Any], Any]) -> Any:
    return {**value, "file": moved(value["file"])} if isinstance(value, Mapping) and "file" in value else value


def _seen_from(value: str, base: Path, here: Path) -> str:
    if "\0" in value or os.path.isabs(value):
        return value
    found = Path(os.path.normpath(base / value))
    if found.is_relative_to(here):
        return str(found.relative_to(here))
    # Beside a configuration outside of the project; anything above both is left to climb, and so is refused.
    return str(found) if found.is_relative_to(base) else os.path.relpath(found, here)
