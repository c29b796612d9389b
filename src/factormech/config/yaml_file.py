"""Configuration files: YAML read strictly, and the paths in it.

**Strict YAML.** A file is one document, a mapping without repeated keys or numbers that only YAML 1.1 would see.
PyYAML reads YAML 1.1, to which ``010`` is 8, ``1:4`` is 64, ``1_0`` is 10 and ``on`` is true; to YAML 1.2, and to
most people, they are something else. Such a value is refused, with what to write instead. What is wrong with a file
is said in one line.

**Paths.** They are relative to the file, and never leave the project by a relative path. What a run reads and writes
is relative to the folder that it runs in. So the paths of a configuration from elsewhere are rewritten once, when it
is read, and everything after that is relative to one folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any

import yaml

from factormech.errors import BadValue, shorten

# Strict YAML.

# The project's own configuration has 40 kB.
SIZE_LIMIT = 2**22
MERGED_LIMIT = 10**4
_YAML = "tag:yaml.org,2002:"
# What every reader of YAML takes for the same number or truth value.
_CLEAR = {
    f"{_YAML}int": re.compile(r"[-+]?(0|[1-9][0-9]*)"),
    f"{_YAML}float": re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|(?i:[-+]?\.inf|\.nan)"),
    f"{_YAML}bool": re.compile(r"true|True|TRUE|false|False|FALSE"),
}

_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false"}


class _Unclear(yaml.constructor.ConstructorError):  # type: ignore[misc]  # yaml has no types
    """A value that is one thing to YAML 1.1 and another one to YAML 1.2 or to a reader."""

    remedy = "write the number in decimals, true or false; put a text in quotes"


class _StrictLoader(yaml.SafeLoader):  # type: ignore[misc]  # yaml has no types
    """The safe loader, which by itself lets the last of two equal keys win in silence."""

    def flatten_mapping(self, node: Any) -> None:
        """Write out what ``<<`` merges: merges of merges could be more than any memory holds."""
        super().flatten_mapping(node)
        if len(node.value) > MERGED_LIMIT:
            problem = f"merges (<<) make more than {MERGED_LIMIT} keys"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """Refuse what PyYAML reads in its own way; read the rest as it does."""
        clear = _CLEAR.get(node.tag)
        if clear is not None and not clear.fullmatch(str(node.value)):
            problem = f"{shorten(node.value)} ({_KINDS[node.tag.removeprefix(_YAML)]} in YAML 1.1 only)"
            raise _Unclear(None, None, problem, node.start_mark)
        if node.tag == f"{_YAML}timestamp":
            raise _Unclear(None, None, f"{shorten(node.value)} (a date in YAML 1.1 only)", node.start_mark)
        return super().construct_object(node, deep)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        seen: dict[Hashable, int] = {}
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                continue  # refused below
            if key in seen:
                problem = f"the key {key!r} is in line {seen[key]} already"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            seen[key] = key_node.start_mark.line + 1
        return dict(super().construct_mapping(node, deep))


def read_yaml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The mapping in a YAML file.

    Raises
    ------
    BadValue
        If the file is missing, is not YAML, has a key twice or is not a mapping: file, line and column.
    """
    name = os.fspath(path)
    try:
        content = yaml.load(_bounded(name), Loader=_StrictLoader)
    except OSError as error:
        found = error.strerror or type(error).__name__
        raise BadValue(name, found, "be a readable file", "check the path") from None
    except BadValue:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{name}, line {mark.line + 1}, column {mark.column + 1}" if mark else name
        unclear = isinstance(error, _Unclear)
        rule = "be written as all readers of YAML take it" if unclear else "be valid YAML"
        remedy = _Unclear.remedy if unclear else "correct this line (indentation, quotes, colons, keys given twice)"
        raise BadValue(place, error.problem or error.context, rule, remedy) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # bytes, dates or numbers that cannot be
        raise BadValue(name, " ".join(str(error).split()), "be valid YAML", "correct it") from None
    if not isinstance(content, dict):
        raise BadValue(name, content, "be a mapping from keys to values", "write lines such as 'seed: 0'")
    return content


def _bounded(name: str) -> bytes:
    """Return the bytes of a file; at most the limit is read, because not all files have an end."""
    with open(name, "rb") as file:
        content = file.read(SIZE_LIMIT + 1)
    if len(content) > SIZE_LIMIT:
        remedy = "give a configuration, or split it up"
        raise BadValue(name, f"more than {SIZE_LIMIT} bytes", f"have at most {SIZE_LIMIT} bytes", remedy)
    return content


def typed(value: Any) -> Any:
    """Texts inside lists and mappings as YAML reads them: ``"0.5"`` is a number, ``"prefix"`` a text.

    Snakemake leaves everything inside ``--config 'studies={…}'`` as text.
    """
    if isinstance(value, Mapping):
        return {key: typed(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [typed(entry) for entry in value]
    if isinstance(value, str):
        try:
            read = yaml.load(value, Loader=_StrictLoader)
        except (yaml.YAMLError, ValueError, RecursionError):
            return value
        return read if read is None or isinstance(read, (bool, int, float)) else value
    return value


# Paths.


def seen_from(config: Any, base: Path, here: Path) -> Any:
    """Return a configuration whose file is in ``base``, with its paths relative to ``here``."""
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
    """Return whether a relative path climbs out of the project; an absolute one is where its user says.

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
