"""The files that a manuscript takes from a study.

For the study ``s`` they are ``s.pdf`` (and other formats), ``s-figure.tex`` and ``s-table.tex`` with floats,
``s-numbers.tex`` with a macro for every number, and ``references.bib``. All come from the study's finished table;
nothing is solved.

What a study is based on (its paper, its mechanisms, its data sets, and this software) are entries of BibTeX.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factormech.config.studies import QUICK, Study, load_file
from factormech.errors import BadValue, UnknownName
from factormech.manuscript import numbers
from factormech.manuscript.numbers import with_macros
from factormech.plots import form
from factormech.plots.registry import draw, words
from factormech.plots.save import FORMATS, save
from factormech.shipped import SCHEMA
from factormech.store.atomic import write_whole
from factormech.studies.base import Curves, Experiment
from factormech.studies.run import figure_settings
from factormech.studies.sample_complexity import LOWER_BOUND
from factormech.tables import kinds
from factormech.tables.latex import latex_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FORMATS", "Selection", "find_table", "paper", "select"]


SOFTWARE, DATA_SETS = "factormech", "hay2016"
# Who proposed a mechanism, by the beginning of its name; variants and those of the studied papers have no entry here.
SOURCES = {
    "randomized-response": "warner1965",
    "rappor": "erlingsson2014",
    "subset-selection": "ye2018",
    "hadamard": "acharya2019",
    "hierarchical": "cormode2019",
    "fourier": "cormode2018",
    "matrix-l": "li2015",
    "adaptive-pgd": "mckenna2020",
    "analytic": "balle2018",
    "k-norm": "hardt2010",
}
_ENTRY = re.compile(r"^@\w+\{(\w+),.*?^\}$", re.MULTILINE | re.DOTALL)


def entries(keys: Iterable[str], before: str = "") -> str:
    """Return these entries after those of ``before``, each once, as a BibTeX file."""
    from factormech import __version__

    text = (Path(__file__).parent / "references.bib").read_text(encoding="utf-8")
    known = _by_key(text.replace("@VERSION@", __version__))
    return "\n\n".join((_by_key(before) | {key: known[key] for key in keys}).values()) + "\n"


def keys_of(paper: str, frame: pd.DataFrame) -> list[str]:
    """Return the keys of what a table of a study of this paper is based on, the paper first."""
    names = _values(frame, "mechanism") + _values(frame, "calibration")
    used = [key for start, key in SOURCES.items() if any(str(name).startswith(start) for name in names)]
    data = [DATA_SETS] if any(not str(name).endswith("-case") for name in _values(frame, "data")) else []
    papers = [paper] if paper in _known_keys() else []
    return list(dict.fromkeys([*papers, *used, *data, SOFTWARE]))


def _values(frame: pd.DataFrame, column: str) -> list[Any]:
    return [value for value in frame[column].unique().tolist() if value] if column in frame else []


def _known_keys() -> set[str]:
    return set(_by_key((Path(__file__).parent / "references.bib").read_text(encoding="utf-8")))


def _by_key(text: str) -> dict[str, str]:
    return {found[1]: found[0] for found in _ENTRY.finditer(text)}


# Where finished tables are looked for, in this order.
TABLES = ("results/tables", "docs/gallery")
DERIVED = ("improvement", "slopes")
# Points of TeX in an inch, and the width in inches from which a float goes across both columns of a page.
POINTS, ACROSS = 72.27, 4.5


@dataclass(frozen=True)
class Selection:
    """The panels and mechanisms of a study that a figure and a table show; everything, where a tuple is empty."""

    panels: tuple[str, ...] = ()
    mechanisms: tuple[str, ...] = ()


def paper(
    study: str,
    folder: str | os.PathLike[str] = "paper",
    *,
    width: float = 3.33,
    size: float = form.SIZE,
    font: str = "serif",
    monochrome: bool = False,
    panels: Iterable[str] = (),
    mechanisms: Iterable[str] = (),
    formats: Iterable[str] = ("pdf",),
    prefix: str = "",
    table: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] = "config.yaml",
) -> list[Path]:
    r"""Write what a manuscript takes from a study: figure, table, caption, references and numbers.

    Parameters
    ----------
    study
        Its name in the configuration.
    folder
        Where the files are written; ``references.bib`` there keeps the entries of other studies.
    width, size, font, monochrome
        The form of the figure (:class:`factormech.plots.form.Form`): inches, points, a font, greys for colours. The
        width is that of the table, too.
    panels, mechanisms
        The values of the table's columns of panels and of curves that are shown; all, if empty.
    formats
        Of the figure: pdf, svg, png, eps.
    prefix
        How the names of macros begin after ``\fm``; made of the study's name, if empty.
    table
        The study's table; if ``None``, that of the last run, or else of the gallery.
    config
        The configuration that has the study.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    BadValue
        If there is no such study, table, panel, mechanism, font or format.

    Examples
    --------
    >>> import tempfile, factormech as fm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = fm.paper("gaussian-calibration", folder, width=3.33, size=7, monochrome=True)
    >>> [path.name for path in files][:2]
    ['gaussian-calibration.pdf', 'gaussian-calibration-figure.tex']
    """
    declared = _study(study, Path(config))
    source = Path(table) if table is not None else find_table(study, Path(config).absolute().parent)
    printed = form.Form(width, size, font, monochrome)
    frame = select(kinds.read_csv(source), Selection(tuple(panels), tuple(mechanisms)))
    _check_study(frame, study, source)
    written = texts(declared, frame, source, width, prefix)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    files = _drawn(declared, frame, target / _stem(declared), printed, tuple(formats))
    bib = target / "references.bib"
    before = bib.read_text(encoding="utf-8") if bib.is_file() else ""
    written[bib.name] = entries(keys_of(declared.paper, frame), before)
    for name, text in written.items():
        write_whole(target / name, text.encode())
    return [*files, *(target / name for name in written)]


def find_table(study: str, project: Path) -> Path:
    """Return the finished table of a study: that of the last run, else of the gallery."""
    found = [project / folder / f"{study}.csv" for folder in TABLES]
    for path in found:
        if path.is_file():
            return path
    remedy = f"run 'snakemake {study}', or name a table with --table"
    if (project / TABLES[0] / f"{QUICK}{study}.csv").is_file():
        remedy += f"; the table on small grids is made: give the study as {QUICK}{study}"
    raise BadValue("table", os.path.relpath(found[0]), "be the finished table of the study", remedy)


def select(frame: pd.DataFrame, selection: Selection) -> pd.DataFrame:
    """Return the rows of some panels and mechanisms; lower bounds stay with the panels."""
    panel, series = _columns(kinds.declared(kinds.kind_of(frame)), frame)
    for what, column, wanted in (("panel", panel, selection.panels), ("mechanism", series, selection.mechanisms)):
        if not wanted:
            continue
        if not column:
            rule = f"be left out for a table of kind {kinds.kind_of(frame)}, which has no column of that meaning"
            raise BadValue(f"{what}s", ", ".join(wanted), rule, "leave it out")
        texts = frame[column].map(_text)
        known = [text for text in dict.fromkeys(texts) if text != LOWER_BOUND]
        for name in wanted:
            if name not in known:
                raise UnknownName(what, name, known)
        frame = frame[texts.isin([*wanted, LOWER_BOUND])].reset_index(drop=True)
    return frame


def _columns(kind: Any, frame: pd.DataFrame) -> tuple[str, str]:
    """The columns of panels and of curves; nothing where a table has none."""
    if isinstance(kind, Experiment) and isinstance(kind.figure, Curves):
        return (kind.figure.panels or ("",))[0], kind.figure.series
    series = [name for name in ("mechanism", "norm", "factorization") if name in frame]
    return "workload" if "workload" in frame else "", (series or [""])[0]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.12g}"


def _study(name: str, config: Path) -> Study:
    return load_file(config, SCHEMA).study(name)


def _check_study(frame: pd.DataFrame, study: str, source: Path) -> None:
    found = frame["study"].iloc[0]
    if found != study:
        raise BadValue(f"column study of {source}", found, f"be {study}", "give the table of the study")


def texts(study: Study, frame: pd.DataFrame, source: Path, width: float, prefix: str = "") -> dict[str, str]:
    r"""Return the LaTeX of a study, by the names of its files: figure, table and numbers.

    Parameters
    ----------
    study
        What the configuration says of it.
    frame, source
        Its table, or a part of it, and the file that the table is from; tables that were made from it lie beside it.
    width
        In inches.
    prefix
        How the names of macros begin after ``\fm``; made of the study's name, if empty.
    """
    stem, prefix = _stem(study), prefix or numbers.prefix_of(study.name, study.paper)
    said = words(
        study.kind, study.title, study.caption, frame, figure=study.figure, **figure_settings(study.kind, study.asked)
    ).caption
    every = [one for part in (frame, *_derived(source, frame)) for one in numbers.numbers(part)]
    found = list({one.name: one for one in reversed(every)}.values())[::-1]
    caption, own = with_macros(said, (study.title, study.caption), found, prefix)
    star = "*" if width > ACROSS else ""
    macros = numbers.macros([*found, *own], prefix, study=study.name, source=source.read_bytes())
    return {
        f"{stem}-figure.tex": _float(stem, caption, study.title, star),
        f"{stem}-table.tex": kinds.latex(frame, POINTS * width, star=star),
        f"{stem}-numbers.tex": macros,
    }


def _stem(study: Study) -> str:
    return study.name.rpartition("/")[2]


def _drawn(study: Study, frame: pd.DataFrame, stem: Path, printed: form.Form, formats: Sequence[str]) -> list[Path]:
    with form.printed(printed):
        figure = draw(study.kind, frame, figure=study.figure, **figure_settings(study.kind, study.asked))
        if printed.monochrome:
            form.in_grey(figure)
        return save(figure, stem, formats)


def _derived(source: Path, frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """The tables made from the study's table that lie beside it, for the workloads that are shown."""
    for what in DERIVED:
        path = source.with_name(f"{source.stem}-{what}.csv")
        if path.is_file():
            part = kinds.read_csv(path)
            yield part[part["workload"].isin(frame["workload"].unique())].reset_index(drop=True)


def _float(stem: str, caption: str, title: str, star: str) -> str:
    return "\n".join(
        [
            f"% The figure of {stem}. It needs \\usepackage{{graphicx,siunitx}} and, before it, {stem}-numbers.tex.",
            f"\\begin{{figure{star}}}[tbp]",
            "\\centering",
            f"\\includegraphics{{{stem}}}",
            f"\\caption[{latex_text(title)}]{{{caption}}}",
            f"\\label{{fig:{stem}}}",
            f"\\end{{figure{star}}}",
            "",
        ]
    )
