"""Universes: declared sets of mechanisms and tables, under each of which the same claim is judged.

A paper that compares mechanisms does not always say which version of a rival it means. Its file of claims may then
declare universes, each with words and with what stands for ``$names``:

    universes:
      published: {says: as published, stands: {rivals: [hadamard-table1, fourier], table: mckenna2020-figure-1}}

A claim with ``universes: [published, …]`` has one measure with ``$rivals`` and ``$table`` in it, and becomes a claim
with one reading for each universe. ``page.py`` prints the matrix of verdicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from factormech.errors import BadValue, UnknownName

SIGN = "$"


def problems(content: Mapping[str, Any]) -> Iterator[BadValue]:
    """Everything that is wrong with the universes of a file and with the claims that use them."""
    known = content.get("universes", {})
    for name, entry in content["claims"].items():
        here = f"claims.{name}"
        if "universes" not in entry:
            if unknown := sorted(_names_in({key: entry[key] for key in ("study", "measure") if key in entry})):
                yield BadValue(here, SIGN + unknown[0], "stand only in a claim that has universes", "add universes")
            continue
        if "readings" in entry or "measure" not in entry:
            rule = "have one measure, and no readings beside universes"
            yield BadValue(here, sorted(entry), rule, "make each reading a universe")
        for universe in entry["universes"]:
            if universe not in known:
                yield UnknownName(f"{here}.universes", universe, known)
            elif missing := _names_in(entry.get("measure", {})) - set(known[universe]["stands"]):
                rule = f"stand for something in the universe {universe}"
                yield BadValue(here, SIGN + min(missing), rule, f"add it to universes.{universe}.stands")


def expanded(entry: Mapping[str, Any], universes: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry with a reading for each of its universes; one without universes as it is."""
    if "universes" not in entry:
        return dict(entry)
    chosen = [universes[name] for name in entry["universes"]]
    studies = [_with(study, universe["stands"]) for universe in chosen for study in entry.get("study", ())]
    readings = [
        {"reading": universe["says"], "measure": _with(entry["measure"], universe["stands"])} for universe in chosen
    ]
    kept = {key: value for key, value in entry.items() if key not in ("measure", "universes")}
    return {**kept, "study": list(dict.fromkeys(studies)), "readings": readings}


def _names_in(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        return set().union(*map(_names_in, value.values()))
    if isinstance(value, list):
        return set().union(*map(_names_in, value))
    return {value[1:]} if isinstance(value, str) and value.startswith(SIGN) else set()


def _with(value: Any, stands: Mapping[str, Any]) -> Any:
    """A setting in which names are replaced by what they stand for; in a list, a list takes the place of its name."""
    if isinstance(value, Mapping):
        return {key: _with(inner, stands) for key, inner in value.items()}
    if isinstance(value, list):
        new: list[Any] = []
        for inner in value:
            found = _with(inner, stands)
            new += found if isinstance(found, list) else [found]
        return new
    return stands[value[1:]] if isinstance(value, str) and value.startswith(SIGN) else value
