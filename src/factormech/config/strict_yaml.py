"""YAML, read strictly: one document, a mapping, no key twice; what is wrong is said in one line."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from typing import Any

import yaml

from factormech.errors import BadValue

# The project's own configuration has 40 kB.
SIZE_LIMIT = 2**22
MERGED_LIMIT = 10**4


class _StrictLoader(yaml.SafeLoader):  # type: ignore[misc]  # yaml has no types
    """The safe loader, which by itself lets the last of two equal keys win in silence."""

    def flatten_mapping(self, node: Any) -> None:
        """Write out what ``<<`` merges: merges of merges could be more than any memory holds."""
        super().flatten_mapping(node)
        if len(node.value) > MERGED_LIMIT:
            problem = f"merges (<<) make more than {MERGED_LIMIT} keys"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)

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
        remedy = "correct this line (indentation, quotes, colons, keys given twice)"
        raise BadValue(place, error.problem or error.context, "be valid YAML", remedy) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # bytes, dates or numbers that cannot be
        raise BadValue(name, " ".join(str(error).split()), "be valid YAML", "correct it") from None
    if not isinstance(content, dict):
        raise BadValue(name, content, "be a mapping from keys to values", "write lines such as 'seed: 0'")
    return content


def _bounded(name: str) -> bytes:
    """The bytes of a file, of which no more than the limit are ever read: not all files have an end."""
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
            read = yaml.safe_load(value)
        except yaml.YAMLError:
            return value
        return read if read is None or isinstance(read, (bool, int, float)) else value
    return value
