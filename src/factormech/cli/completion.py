"""``factormech completion SHELL``: a script that completes commands, options and names when Tab is pressed.

The script asks ``factormech completion words …`` for the words that may stand next, so it is right for every version.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from factormech.cli.answer import Answer, WrappedLine

if TYPE_CHECKING:
    from factormech.cli.parser import Parser

BASH = """\
_factormech() {
    local IFS=$'\\n'
    COMPREPLY=($(factormech completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _factormech factormech"""
ZSH = (
    """\
autoload -U +X bashcompinit && bashcompinit
"""
    + BASH
)
FISH = """\
complete -c factormech -a '(factormech completion words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
HOW = {
    "bash": '# Add to ~/.bashrc: eval "$(factormech completion bash)"',
    "zsh": '# Add to ~/.zshrc: eval "$(factormech completion zsh)"',
    "fish": "# Run once: factormech completion fish > ~/.config/fish/completions/factormech.fish",
}


def completion(args: argparse.Namespace) -> Answer:
    """Print the script of a shell, or the words that may stand in the place of the last one."""
    if args.shell == "words":
        found = words(args.words or [""])
        return Answer({"words": found, "status": "ok"}, [WrappedLine.of(word) for word in found])
    text = f"{HOW[args.shell]}\n{SCRIPTS[args.shell]}"
    return Answer(
        {"shell": args.shell, "script": text, "status": "ok"}, [WrappedLine.of(line) for line in text.split("\n")]
    )


def words(given: Sequence[str]) -> list[str]:
    """Return what may complete the last of these words, given those before it; nothing where a path is meant."""
    from factormech.cli.parser import build

    *before, last = given
    level, rest = build(), list(before)
    while level.groups is not None and rest and rest[0] in level.groups.choices:
        level = level.groups.choices[rest.pop(0)]
    return sorted(word for word in _candidates(level, rest, last) if word.startswith(last))


def _candidates(level: Parser, before: Sequence[str], last: str) -> Iterable[str]:
    if level.groups is not None:
        return [] if before else [*level.groups.choices, *level.flags]
    if before and before[-1] in level.flags and before[-1] not in level.switches:
        return level.flags[before[-1]]
    if last.startswith("-"):
        return level.flags
    place = _position(level, before)
    return _names(level.places[place]) if place < len(level.places) else []


def _position(level: Parser, before: Sequence[str]) -> int:
    """Return how many words of these are no options, and no values of options."""
    count, skipped = 0, False
    for word in before:
        if not skipped and not word.startswith("-"):
            count += 1
        skipped = not skipped and word in level.flags and word not in level.switches
    return count


def _names(kind: str) -> Iterable[str]:
    """The names that a word may have, by what help calls it."""
    if kind == "KIND":
        from factormech.cli.parser import NORMS

        return NORMS
    if kind == "NAME|FILE":
        from factormech.workloads.registry import names

        return [name for name in names() if "{" not in name]
    return _studies() if kind in ("STUDY", "STUDY|FILE") else []


def _studies() -> list[str]:
    """The names of the studies of ``config.yaml``, unchecked, because the shell waits for them."""
    import re

    path = Path("config.yaml")
    if not path.is_file():
        return []
    _, _, below = path.read_text(encoding="utf-8", errors="replace").partition("\nstudies:\n")
    return re.findall(r"^  ([a-z0-9][\w-]*):", below, re.MULTILINE)
