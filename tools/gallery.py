"""Copy the figures (SVG), captions and tables (CSV) of a full run into docs/gallery, with what made them.

Files that would not change are not written again. ``--root`` is the folder of the run, ``--studies`` limits the copy.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from factormech import store
from factormech.atomic import write_whole
from factormech.config.studies import Config, Study, load, read_yaml

# The tables that are made from a study's own.
COMPARISONS = ("improvement", "slopes")
ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "docs" / "gallery"
HEAD = """\
# Gallery

Of every study the figure and the tables of its last run on the full grid, copied by `make gallery`; `snakemake NAME`
makes one again. `config.yaml` here has the grids; digests of the code and all versions are in the attributes of the
result files that a run makes.

"""


def main() -> None:
    """Copy what is complete, list it, and say what is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder of the run")
    parser.add_argument("--studies", nargs="*", default=None)
    args = parser.parse_args()
    config = configuration(args.root)
    wanted = list(config.studies) if args.studies is None else args.studies
    made = [config.study(name) for name in wanted if copy_study(args.root, config.study(name))]
    for name in wanted:
        if name not in {study.name for study in made}:
            print(f"{name}: not made in {args.root}; left as it was")
    update(GALLERY / "config.yaml", (args.root / "config.yaml").read_bytes())
    update(GALLERY / "README.md", page(config, args.root).encode())


def configuration(root: Path) -> Config:
    """The configuration of the run."""
    return load(read_yaml(root / "config.yaml"), root / "workflow/schemas/config.schema.yaml", base=root)


def copy_study(root: Path, study: Study) -> bool:
    """Copy one study's files; whether they were there."""
    figure, caption = (root / f"figures/{study.name}.{kind}" for kind in ("svg", "txt"))
    tables = tables_of(study, root / "results/tables")
    if not (figure.exists() and caption.exists() and tables):
        return False
    for path in (figure, caption, *tables):
        update(GALLERY / path.name, path.read_bytes())
    return True


def tables_of(study: Study, folder: Path) -> list[Path]:
    """The tables of a study that a folder has, comparisons included; names may begin alike."""
    names = [study.name, *(f"{study.name}-{what}" for what in COMPARISONS)]
    return [folder / f"{name}.csv" for name in names if (folder / f"{name}.csv").exists()]


def update(path: Path, content: bytes) -> None:
    """Write a file whose content is new."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)


def page(config: Config, root: Path) -> str:
    """The list of what the gallery has, in the order of the configuration."""
    parts = [HEAD]
    before = (GALLERY / "README.md").read_text(encoding="utf-8") if (GALLERY / "README.md").exists() else ""
    for study in config.studies.values():
        if not (GALLERY / f"{study.name}.svg").exists():
            continue
        caption = (GALLERY / f"{study.name}.txt").read_text().strip()
        tables = [f"[{path.name}]({path.name})" for path in tables_of(study, GALLERY)]
        parts.append(
            f"## {study.artefact}: {study.title}\n\n![{study.title}]({study.name}.svg)\n\n{caption}\n\n"
            f"`snakemake {study.name}` · {' · '.join(tables)}{versions(root, study, before)}\n\n"
        )
    return "".join(parts)


def versions(root: Path, study: Study, before: str) -> str:
    """The versions that the study's result file names, or, if the run does not have it, those that the page had."""
    path = root / f"results/{study.name}.h5"
    if not path.exists():
        found = re.search(rf"^`snakemake {re.escape(study.name)}` .*( · factormech .*)$", before, re.MULTILINE)
        return found[1] if found else ""
    made = store.read(path).provenance
    named = ("factormech", "package_version"), ("numpy", "numpy_version"), ("scipy", "scipy_version")
    return " · " + ", ".join(f"{name} {made[key]}" for name, key in named)


if __name__ == "__main__":
    main()
