"""A JSON Schema as plain words: problems, defaults and the reference of settings, all from one file.

The schema is of draft 2020-12 with four keys more: ``remedy`` (what to do about a bad value), ``rule`` (what
holds of a good one, where the other keys cannot tell), ``partial`` (settings that replace others, so that
no defaults are filled in) and ``renamed`` (older names of keys, with those that they have now). No word of a
validator reaches the user.
"""

from __future__ import annotations

import copy
import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from factormech.errors import BadValue, shorten

Node: TypeAlias = Mapping[str, Any]


# Values in a configuration, how deep they may be inside each other, and letters in a text.
ENTRIES_LIMIT, DEPTH_LIMIT, TEXT_LIMIT = 10**5, 100, 4096
# Control characters, half characters and separators of lines: nothing that a path, a table or a figure could show.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


class Missing:
    """Stands for the value of a key that is not there."""

    def __repr__(self) -> str:
        return "(missing)"


def place(path: Iterable[str | int]) -> str:
    """A key as it is said: ``studies.epsilon.grid.epsilon[2]``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += "." + (part if part and part.isprintable() else repr(part))
    return text.removeprefix(".") or "(top level)"


def mapping(value: Any) -> Node:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def plain(value: Any) -> tuple[Any, list[BadValue]]:
    """A copy in ``dict`` and ``list``, without loops and keys that are not texts, and what was wrong.

    Every text in it is short and can be printed.
    """
    if _entries(value) > ENTRIES_LIMIT:
        remedy = "write out less: an alias (*name) stands for all that it names"
        found = f"more than {ENTRIES_LIMIT} entries"
        return {}, [BadValue("(top level)", found, f"have at most {ENTRIES_LIMIT} entries", remedy)]
    return _plain(value, (), ())


def _entries(value: Any) -> int:
    """Return how many values a configuration has, aliases written out; one more than the limit if there are more.

    A few lines of aliases of aliases stand for more values than any memory holds. Below the deepest level nothing is
    counted: only a configuration inside itself gets there, which is refused in words of its own.
    """
    count, waiting = 0, [iter([value])]
    while waiting and count <= ENTRIES_LIMIT:
        for entry in waiting[-1]:
            count += 1
            if isinstance(entry, (Mapping, list, tuple)) and len(waiting) < DEPTH_LIMIT:
                waiting.append(iter(list(entry.values()) if isinstance(entry, Mapping) else entry))
            break
        else:
            waiting.pop()
    return count


def _plain(value: Any, path: tuple[str | int, ...], above: tuple[int, ...]) -> tuple[Any, list[BadValue]]:
    if id(value) in above:
        return None, [BadValue(place(path), "itself", "not be inside itself", "write it out instead of an alias")]
    problems: list[BadValue] = []
    if isinstance(value, Mapping):
        entries: dict[str, Any] = {}
        for key, entry in value.items():
            if isinstance(key, str):
                entries[key], more = _plain(entry, (*path, key), (*above, id(value)))
                problems += more
            else:
                remedy = "put the key in quotes" if isinstance(key, (bool, int, float)) else "use a text as key"
                problems.append(BadValue(f"key of {place(path)}", key, "be a text", remedy))
        return entries, problems
    if isinstance(value, (list, tuple)):
        pairs = [_plain(entry, (*path, i), (*above, id(value))) for i, entry in enumerate(value)]
        return [entry for entry, _ in pairs], [problem for _, more in pairs for problem in more]
    return value, [*_text_problems(value, path)] if isinstance(value, str) else []


def _text_problems(text: str, path: tuple[str | int, ...]) -> Iterator[BadValue]:
    if len(text) > TEXT_LIMIT:
        yield BadValue(place(path), text, f"be a text of at most {TEXT_LIMIT} letters", "shorten it")
    elif _UNPRINTABLE.search(text):
        yield BadValue(place(path), text, "be a text without control characters", "remove them")


def problems_of(schema: Node, value: Any) -> list[BadValue]:
    """Everything in a plain value that breaks the schema, each place and rule once."""
    found: dict[tuple[str, str], BadValue] = {}
    for error in _validator(schema).iter_errors(value):
        for problem in _translate(error):
            found.setdefault((problem.name, problem.rule), problem)
    return list(found.values())


def with_defaults(node: Node, value: Any) -> Any:
    """A copy of a good value in which every setting that was left out has its default."""
    if isinstance(value, list):
        return [with_defaults(node.get("items", {}), entry) for entry in value]
    if not isinstance(value, dict) or node.get("partial"):
        return copy.deepcopy(value)
    properties, others = node.get("properties", {}), node.get("additionalProperties") or {}
    filled = {key: with_defaults(properties.get(key, others), entry) for key, entry in value.items()}
    for key, child in properties.items():
        if key not in value and "default" in child:
            filled[key] = with_defaults(child, child["default"])
    return filled


def rule(node: Node) -> str:
    """Return the rule for a good value, continuing "must …"."""
    if "rule" in node:
        return str(node["rule"])
    if "enum" in node:
        return "be " + " or ".join(map(str, node["enum"]))
    match node.get("type"):
        case "number" | "integer" as kind:
            return "be " + _number_words(node, kind)
        case "string":
            return "be a text" + (", not an empty one" if node.get("minLength") else "")
        case "array":
            fewest = f" with at least {node['minItems']} entry" if node.get("minItems") else ""
            return "be a list" + fewest + (", all different" if node.get("uniqueItems") else "")
        case "boolean":
            return "be true or false"
        case _:
            return "be a mapping"


def defaults(schema: Node) -> dict[str, Any]:
    """Return every default by key, as the pages of settings show them."""
    return {path: copy.deepcopy(node["default"]) for path, node, _ in settings(schema) if "default" in node}


def settings(node: Node, path: str = "", required: bool = True) -> Iterator[tuple[str, Node, bool]]:
    """Yield every setting below a node: key, rules, and whether it has to be given."""
    if path:
        yield path, node, required
    if node.get("partial"):
        return
    for key, child in node.get("properties", {}).items():
        yield from settings(child, f"{path}.{key}".removeprefix("."), key in node.get("required", ()))
    if isinstance(node.get("additionalProperties"), Mapping):
        yield from settings(node["additionalProperties"], f"{path}.<name>", False)
    if node.get("items", {}).get("properties"):
        yield from settings(node["items"], f"{path}[]", False)


def _validator(schema: Node) -> Any:
    from jsonschema import Draft202012Validator, validators

    # JSON knows no NaN, calls 1.0 a whole number, and has no tuples: say what we mean by each word.
    types = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "number": lambda _, value: type(value) is int or (type(value) is float and math.isfinite(value)),
            "integer": lambda _, value: type(value) is int,
        }
    )
    return validators.extend(Draft202012Validator, type_checker=types)(schema)


def _translate(error: Any) -> Iterator[BadValue]:
    """The lines for one error of the validator."""
    path, node, value = tuple(error.absolute_path), error.schema, error.instance
    if list(error.absolute_schema_path)[-2:-1] == ["propertyNames"]:
        yield BadValue(f"name in {place(path)}", value, rule(node), _remedy(node, value))
    elif error.validator == "required":
        for key in (key for key in error.validator_value if key not in value):
            child = node["properties"][key]
            yield BadValue(place((*path, key)), Missing(), rule(child), _remedy(child, None))
    elif error.validator == "additionalProperties":
        known = list(node["properties"])
        for key in (key for key in value if key not in known):
            yield _unknown_key((*path, key), value[key], known, mapping(node.get("renamed")).get(key))
    elif error.validator == "uniqueItems":
        for i, entry in enumerate(value):
            if any(entry == other and isinstance(entry, bool) == isinstance(other, bool) for other in value[:i]):
                yield BadValue(place((*path, i)), entry, "differ from the entries before it", "remove it")
    else:
        yield BadValue(place(path), value, rule(node), _remedy(node, value))


def _unknown_key(path: tuple[str | int, ...], value: Any, known: list[str], now: str | None) -> BadValue:
    if now is not None:
        return BadValue(place(path), value, f"be called {now}", f"write {now} in the place of {path[-1]}")
    near = difflib.get_close_matches(str(path[-1]), known, n=1)
    remedy = (f"did you mean {near[0]!r}? " if near else "") + f"known here: {', '.join(known)}"
    return BadValue(place(path), value, "be a known setting", remedy)


def _remedy(node: Node, value: Any) -> str:
    """Return the remedy, which is specific for the most common slips of YAML and the command line."""
    if node.get("type") in ("number", "integer") and isinstance(value, str) and _is_number(value):
        return f"write it without quotes (YAML takes 1e-3 for text: write 1.0e-3); {node['remedy']}"
    if node.get("type") == "array" and isinstance(value, (int, float, str)) and value != "":
        return f"put it into a list: {shorten([value])}"
    return str(node["remedy"])


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _number_words(node: Node, kind: str) -> str:
    noun = "a whole number" if kind == "integer" else "a number" if "maximum" in node else "a finite number"
    if "minimum" in node and "maximum" in node:
        return f"{noun} from {node['minimum']} to {node['maximum']}"
    limits = []
    if "exclusiveMinimum" in node:
        limits.append(f"above {node['exclusiveMinimum']}")
    if "minimum" in node:
        limits.append(f"of at least {node['minimum']}")
    if "maximum" in node:
        limits.append(f"at most {node['maximum']}")
    return " ".join([noun, " and ".join(limits)]).strip()


def yaml_words(value: Any) -> str:
    """A value as YAML on one line."""
    import yaml

    text: str = yaml.safe_dump(value, default_flow_style=True, width=10**6)
    return text.removesuffix("\n").removesuffix("\n...")
