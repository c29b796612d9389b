"""Copy the figures (SVG), captions and tables (CSV) of a full run into docs/gallery, with what made them.

Each paper has a page, in which a thumbnail leads to each figure; ``README.md`` lists them.

The claims are judged on what the gallery then has: docs/claims.md, docs/gallery/claims.csv.
Files that would not change are not written again. ``--root`` is the folder of the run, ``--studies`` limits the copy.
``times.csv`` of the gallery has a row for each study that a run measured, and the sums of the last whole run (``all``)
and of the last quick one (``quick``), as ``make report`` writes them; ``run.csv`` and ``jobs.csv`` are what
docs/full-run.md is written from.
"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import re
from pathlib import Path

import claims_page
import run_page

from factormech.config.studies import Config, Study, load, read_yaml
from factormech.store import hdf5
from factormech.store.atomic import write_whole

# The tables that are made from a study's own.
COMPARISONS = ("improvement", "slopes")
ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "docs" / "gallery"
THUMBNAILS = "thumbnails"
# Pixels of a thumbnail's width, and its quality; PNG would be larger by half.
WIDTH, QUALITY = 480, 80
HEAD = """\
# Gallery

Of every study the figure and the tables of its last run on the full grid, copied by `make gallery`; `snakemake NAME`
makes one again. [config.yaml](config.yaml) has the grids, [times.csv](times.csv) what studies took; digests of the
code and all versions are in the attributes of the result files that a run makes. The strategies of Figures 1 and 2
have a table of [certificates](strategies/certificates.csv) and [digests](strategies/SHA256SUMS); the files are
attached to each release, and `make archive` makes them. What other packages take for the same work is no study: it is
in [race.svg](race.svg), explained on [its page](../race.md).
"""
PAPER = """\
# {title}

The studies of [{paper}](../papers/{paper}.md). A picture leads to its figure. [All papers](README.md).

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
    for name, text in pages(config, args.root).items():
        update(GALLERY / name, text.encode())
    update(GALLERY / "times.csv", times(config, args.root, {study.name for study in made}).encode())
    keep_run(args.root / "results")
    for path, text in claims_page.files(claims_page.judged(GALLERY), GALLERY).items():
        update(path, text.encode())


def configuration(root: Path) -> Config:
    """The configuration of the run."""
    return load(read_yaml(root / "config.yaml"), root / "workflow/schemas/config.schema.yaml", base=root)


def copy_study(root: Path, study: Study) -> bool:
    """Copy one study's files; whether they were there."""
    figure, caption, notes = (root / f"figures/{study.name}.{kind}" for kind in ("svg", "txt", "notes.txt"))
    tables = tables_of(study, root / "results/tables")
    if not (figure.exists() and caption.exists() and notes.exists() and tables):
        return False
    for path in (figure, caption, notes, *tables):
        update(GALLERY / path.name, path.read_bytes())
    picture = figure.with_suffix(".png")
    if picture.exists():
        update(GALLERY / THUMBNAILS / f"{study.name}.webp", thumbnail(picture.read_bytes()))
    return True


def thumbnail(picture: bytes) -> bytes:
    """A small WebP of a large PNG."""
    from PIL import Image  # a dependency of matplotlib

    with Image.open(io.BytesIO(picture)) as image:
        size = WIDTH, round(WIDTH * image.height / image.width)
        small = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    small.save(stream, "webp", quality=QUALITY, method=6)
    return stream.getvalue()


def tables_of(study: Study, folder: Path) -> list[Path]:
    """The tables of a study that a folder has, comparisons included; names may begin alike."""
    names = [study.name, *(f"{study.name}-{what}" for what in COMPARISONS)]
    return [folder / f"{name}.csv" for name in names if (folder / f"{name}.csv").exists()]


def update(path: Path, content: bytes) -> None:
    """Write a file whose content is new."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)


def pages(config: Config, root: Path) -> dict[str, str]:
    """The list of all papers, and a page for each, in the order of the configuration."""
    before = "".join(path.read_text(encoding="utf-8") for path in sorted(GALLERY.glob("*.md")))
    shown = [study for study in config.studies.values() if (GALLERY / f"{study.name}.svg").exists()]
    order = list(dict.fromkeys(study.paper for study in shown))
    shown.sort(key=lambda study: order.index(study.paper))
    papers = {paper: list(studies) for paper, studies in itertools.groupby(shown, key=lambda study: study.paper)}
    contents = "".join(
        f"\n## [{heading(paper)}]({paper}.md)\n\n"
        + "".join(f"* [{study.title}]({paper}.md#{anchor(study.title)}) ({study.artefact})\n" for study in studies)
        for paper, studies in papers.items()
    )
    return {"README.md": HEAD + contents} | {
        f"{paper}.md": PAPER.format(title=heading(paper), paper=paper)
        + "\n".join(entry(study, root, before) for study in studies)
        for paper, studies in papers.items()
    }


def heading(paper: str) -> str:
    """What a paper is called: the title of its page."""
    path = ROOT / f"docs/papers/{paper}.md"
    return path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") if path.exists() else paper


def anchor(title: str) -> str:
    """The anchor of a heading, as the forges and the site make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def entry(study: Study, root: Path, before: str) -> str:
    """A study: a picture that leads to its figure, its caption, its tables and what made them."""
    caption = (GALLERY / f"{study.name}.txt").read_text(encoding="utf-8").strip()
    path = GALLERY / f"{study.name}.notes.txt"
    said = path.read_text(encoding="utf-8").strip() if path.exists() else ""
    notes = f"<details><summary>Notes</summary>\n\n{said}\n\n</details>\n\n" if said else ""
    tables = [f"[{path.name}]({path.name})" for path in tables_of(study, GALLERY)]
    picture = f"{THUMBNAILS}/{study.name}.webp"
    shown = f'<img src="{picture}" width="{WIDTH}" alt="{study.title}">'
    link = f'<a href="{study.name}.svg">{shown if (GALLERY / picture).exists() else "The figure"}</a>'
    return (
        f"## {study.title}\n\n*{study.artefact}*\n\n{link}\n\n"
        f"{caption}\n\n{notes}`snakemake {study.name}` · {' · '.join(tables)}{versions(root, study, before)}\n"
    )


def times(config: Config, root: Path, made: set[str]) -> str:
    """What is known of the times, with those of this run in the place of older ones."""
    known = rows(GALLERY / "times.csv")
    run = rows(root / "results/times.csv")
    whole = {"all"} if set(config.studies) <= set(run) else set()
    known |= {name: row for name, row in run.items() if name in made | whole}
    known |= {name: row for name, row in rows(root / "results/quick/times.csv").items() if name == "quick"}
    names = [name for name in (*config.studies, "all", "quick") if name in known]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([["study", "jobs", "measured", "wall_seconds", "cpu_seconds"], *(known[name] for name in names)])
    return text.getvalue()


def keep_run(results: Path) -> None:
    """What the clock and the benchmark files said of a run that made everything, and the page of it."""
    if all(row["jobs"] == row["measured"] for row in run_page.rows(results / "jobs.csv")) and "all" in rows(
        results / "times.csv"
    ):
        update(GALLERY / "jobs.csv", (results / "jobs.csv").read_bytes())
    runs = run_page.runs_of(results, run_page.rows(GALLERY / "run.csv"))
    update(GALLERY / "run.csv", run_page.csv_of(runs).encode())
    update(GALLERY.parent / "full-run.md", run_page.page(GALLERY).encode())


def rows(path: Path) -> dict[str, list[str]]:
    """A table of times by the names in its first column; nothing where there is no such file."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row[0]: row for row in list(csv.reader(file))[1:]}


def versions(root: Path, study: Study, before: str) -> str:
    """The versions that the study's result file names, or, if the run does not have it, those that the page had."""
    path = root / f"results/{study.name}.h5"
    if not path.exists():
        found = re.search(rf"^`snakemake {re.escape(study.name)}` .*( · factormech .*)$", before, re.MULTILINE)
        return found[1] if found else ""
    made = hdf5.read(path).provenance
    named = ("factormech", "package_version"), ("numpy", "numpy_version"), ("scipy", "scipy_version")
    return " · " + ", ".join(f"{name} {made[key]}" for name, key in named)


if __name__ == "__main__":
    main()
