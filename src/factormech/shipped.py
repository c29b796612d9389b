"""The workflow that the package carries: its rules, its schemas, its configuration; and a new project that uses them.

In a checkout these files are links into ``workflow/`` and to ``config.yaml``; a wheel has copies of them.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from factormech.errors import BadValue, MissingExtra, UnknownName

FOLDER = Path(__file__).parent / "workflow"
SNAKEFILE = FOLDER / "Snakefile"
SCHEMA = FOLDER / "schemas" / "config.schema.yaml"
CLAIMS_SCHEMA = FOLDER / "schemas" / "claims.schema.yaml"
# The studies of the papers.
CONFIG = FOLDER / "config.yaml"
_START = FOLDER / "start"
# What a new project has: the file there, and the file here.
_FILES = {
    "Snakefile": _START / "Snakefile",
    "config.yaml": _START / "config.yaml",
    "profiles/default/config.yaml": FOLDER / "profiles" / "default" / "config.yaml",
    "profiles/slurm/config.yaml": FOLDER / "profiles" / "slurm" / "config.yaml",
}


def start_project(folder: Path, studies: Sequence[str] = ()) -> list[Path]:
    """Write a Snakefile, a configuration and profiles that use the installed package.

    Parameters
    ----------
    folder
        Where; made if it is not there. A file that exists already is never replaced.
    studies
        Names of studies of the papers to begin with; without any, one small study.

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    BadValue
        If one of the files exists already; nothing is written then.
    UnknownName
        If a study is not one of the papers'.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(*[path.name for path in start_project(Path(folder) / "mine")])
    Snakefile config.yaml config.yaml config.yaml
    """
    for name in _FILES:
        if (folder / name).exists():
            rule = "be a folder without the files of a project"
            raise BadValue(str(folder / name), "a file that exists", rule, "give another folder")
    chosen = _chosen(studies) if studies else None
    for name, source in _FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / name)
    if chosen is not None:
        (folder / "config.yaml").write_text(chosen, encoding="utf-8")
    return [folder / name for name in _FILES]


def _chosen(studies: Sequence[str]) -> str:
    """The configuration of the papers, with these studies only."""
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise MissingExtra.of(error) from None
    config: dict[str, Any] = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    for name in studies:
        if name not in config["studies"]:
            raise UnknownName("--study", name, config["studies"])
    config["studies"] = {name: config["studies"][name] for name in studies}
    # Every list is written out: an alias (*six) would need the study that has its anchor.
    plain: Any = type("Plain", (yaml.SafeDumper,), {"ignore_aliases": lambda self, data: True})
    text: str = yaml.dump(config, Dumper=plain, default_flow_style=None, sort_keys=False, allow_unicode=True, width=110)
    return "# What is computed and drawn: studies of the papers, as factormech init wrote them.\n" + text
