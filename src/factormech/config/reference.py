"""The pages of all settings, made from the schema and from the kinds of study.

``configuration.md`` has what every configuration may say and a list of the kinds of study; each paper has a page,
``configuration/<paper>.md``, with the settings of its kinds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from factormech.config import schema as schemas
from factormech.config.kinds import study_schema, with_experiments
from factormech.config.yaml_file import read_yaml
from factormech.studies.registry import experiment, names

# What is longer than so many characters is told below its table.
CELL = 110
OTHERS = "others"
_HEAD = """\
# Configuration

What a run computes and draws is in `config.yaml`. This page has the settings of every configuration; the settings of a
kind of study are on the page of its paper ([kinds](#kinds-of-study)). The pages are made from
`workflow/schemas/config.schema.yaml` and from the kinds' modules by `python tools/configuration_reference.py`.

* Settings with a default may be left out.
* A mistake is answered before anything runs: all at once, each with its key, its value, the rule and the remedy.
* Another file takes the place of `config.yaml` by `make CONFIG=mine.yaml` or `snakemake --configfile mine.yaml`; its
  paths are relative to it.
* `<name>` stands for a name of your choice, `[]` for every entry of a list.
* A number such as 1e-3 is text to YAML: write `0.001` or `1.0e-3`.

## Settings of every configuration

"""
_OF_KINDS = """
## Kinds of study

Each kind has a grid and settings of its own. `kind: sample-complexity`, for example, is drawn over `workload`,
`domain_size` and `epsilon`.

| Kind | What is measured | Settings |
| --- | --- | --- |
"""


def pages(schema: str | os.PathLike[str], papers: Mapping[str, str]) -> dict[str, str]:
    """Return the text of every page by its path below ``docs``.

    Parameters
    ----------
    schema
        The path of ``config.schema.yaml``.
    papers
        The paper on whose page a kind of study is; kinds that are not named are on a page of their own.
    """
    rules = with_experiments(read_yaml(schema), {})
    page_of = {kind: papers.get(kind, OTHERS) for kind in names()}
    listed = "".join(
        f"| `{kind}` | {_summary(kind)} | [{page}](configuration/{page}.md#{kind}) |\n"
        for kind, page in sorted(page_of.items(), key=lambda both: (both[1] == OTHERS, *both[::-1]))
    )
    found = {"configuration.md": _HEAD + table(rules) + _OF_KINDS + listed}
    for page in sorted({*page_of.values()}):
        of_page = [kind for kind, other in page_of.items() if other == page]
        found[f"configuration/{page}.md"] = _page(page, of_page, rules["properties"]["studies"]["additionalProperties"])
    return found


def _summary(kind: str) -> str:
    """The first sentence of a kind's description."""
    return _escaped(re.split(r"(?<=\.) ", experiment(kind).description)[0])


def _page(page: str, kinds: list[str], common: schemas.Node) -> str:
    of_paper = "that no study of `config.yaml` has" if page == OTHERS else f"of [{page}](../papers/{page}.md)"
    text = f"# Settings of studies: {page}\n\nThe kinds of study {of_paper}. Keys stand in a study's own block; "
    text += "[the settings of every configuration](../configuration.md) are on another page.\n"
    for kind in kinds:
        rules = study_schema(experiment(kind), common)
        beside = [axis.name for axis in experiment(kind).axes if axis.beside]
        own = {key: rules["properties"][key] for key in ("grid", *beside, *(s.name for s in experiment(kind).settings))}
        text += f"\n## {kind}\n\n{experiment(kind).description}\n\n{table({**rules, 'properties': own})}"
    return text


def table(schema: schemas.Node) -> str:
    """A Markdown table of settings: key, values, default and meaning; long cells are told in a list below it."""
    lines, notes = ["| Setting | Values | Default | Meaning |\n| --- | --- | --- | --- |\n"], []
    for path, node, required in schemas.settings(schema):
        if "description" not in node:
            continue
        cells = {"values": _values(path, node), "default": _default(node, required), "meaning": node["description"]}
        for name, cell in cells.items():
            if len(cell) > CELL:
                notes.append(f"* `{path}`, {name}: {cell}\n")
                cells[name] = "see below"
        lines.append(f"| `{path}` | " + " | ".join(map(_escaped, cells.values())) + " |\n")
    return "".join(lines) + ("\n" + "".join(notes) if notes else "")


def _values(path: str, node: schemas.Node) -> str:
    """Return the values that a setting may have, in a few words."""
    if path == "studies.<name>.kind":
        return "a [kind of study](#kinds-of-study)"
    words = _short(schemas.rule(node))
    entries = node.get("items", {})
    if not entries or "properties" in entries:
        return words
    return ("list; each " if node.get("minItems") else "list, maybe empty; each ") + _short(schemas.rule(entries))


def _short(rule: str) -> str:
    """A rule that continues "must be", without the verb."""
    words = rule.removeprefix("be ").replace("a text, not an empty one", "a text")
    return words.replace(" or ", ", ", words.count(" or ") - 1)


def _default(node: schemas.Node, required: bool) -> str:
    if "default" not in node:
        return "required" if required else "none"
    return f"`{schemas.yaml_words(node['default'])}`"


def _escaped(cell: str) -> str:
    return str(cell).replace("|", "\\|")


def kinds_of(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Kind and paper of every study of a configuration, the first study of a kind last."""
    for study in reversed(list(config["studies"].values())):
        yield study["kind"], study["paper"]
