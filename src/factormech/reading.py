"""Numbers for a reader: any result file as a table or arrays, and the studies of a configuration."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from factormech.errors import BadValue, UnknownName
from factormech.mechanisms import base
from factormech.shipped import SCHEMA
from factormech.store import hdf5, seals
from factormech.tables import kinds as tables
from factormech.tabular import SIZE_LIMIT


def load(path: str | os.PathLike[str]) -> Any:
    """Return the numbers of any result file of the project.

    Parameters
    ----------
    path
        Of a file in ``results`` or ``figures``, or of one that ``save`` or the command line wrote.

    Returns
    -------
    pandas.DataFrame or dict
        A table, for a ``.csv`` file or an HDF5 file that holds just one table; otherwise a ``dict`` from
        names to arrays and tables.

    Raises
    ------
    ValueError
        If there is no such file, or it is not one of the project, whole.

    Examples
    --------
    >>> import factormech as fm, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "table.csv"
    >>> fm.compare(fm.workload("prefix", 4), 1.0, ["rappor"]).to_csv(path, index=False)
    >>> fm.load(path)["mechanism"].tolist()
    ['rappor', 'lower-bound']
    """
    if Path(path).suffix.lower() == ".csv":
        return _load_csv(Path(path))
    datasets = hdf5.read(path).datasets
    if len(datasets) == 1:
        (only,) = datasets.values()
        if not isinstance(only, np.ndarray):
            return only
    return datasets


@dataclass(frozen=True)
class StudyView:
    """A study of a configuration: what it asks, and the table and figure that a run has made of it.

    Attributes
    ----------
    name, paper, item, title, kind
        Its name, the paper and the item of it, the title and the kind of study.
    grid
        Axes and settings.
    folder
        Of the run.
    """

    name: str
    paper: str
    item: str
    title: str
    kind: str
    grid: Mapping[str, Any]
    folder: Path

    @property
    def table_path(self) -> Path:
        """The path of the table that a run makes."""
        return self.folder / "results" / "tables" / f"{self.name}.csv"

    @property
    def figure_path(self) -> Path:
        """The path of the figure that a run makes."""
        return self.folder / "figures" / f"{self.name}.pdf"

    @property
    def table(self) -> Any:
        """The table, a data frame; refused where it is not made yet."""
        if not self.table_path.is_file():
            remedy = f"make it with: snakemake {self.figure_path if '/' in self.name else self.name}"
            raise BadValue(str(self.table_path), "no such file", "be made by a run", remedy)
        return load(self.table_path)

    def plot(self, path: Any = None) -> Any:
        """Return the figure of the table; see ``fm.plot``. Refused where the table is not made yet."""
        from factormech.plots.plot import plot

        return plot(self.table, path)

    def _facts(self) -> dict[str, str]:
        made = {path: "" if path.is_file() else " (not made yet)" for path in (self.table_path, self.figure_path)}
        facts = {"item": f"{self.paper}, {self.item}", "title": self.title, "kind": self.kind}
        facts |= {name.replace("_", " "): base.in_words(value) for name, value in self.grid.items()}
        facts |= {"table": f"{self.table_path}{made[self.table_path]}"}
        return facts | {"figure": f"{self.figure_path}{made[self.figure_path]}"}

    def __repr__(self) -> str:
        return base.text(f"Study {self.name}", self._facts())

    def _repr_html_(self) -> str:
        return base.html({"study": self.name, **self._facts()})


def study(
    name: str,
    config: str | os.PathLike[str] = "config.yaml",
    *,
    schema: str | os.PathLike[str] | None = None,
    quick: bool = False,
) -> StudyView:
    """Return a study of a configuration, with the table that a run has made of it.

    Parameters
    ----------
    name
        Of the study, as ``factormech study list`` has it.
    config
        The configuration, in the folder of the run.
    schema
        The rules of configurations; those of the installed package if left out.
    quick
        Whether to take the small grid of the quick run.

    Returns
    -------
    StudyView
        ``table`` is a data frame for :func:`factormech.plot`; ``grid`` says what is asked.

    Raises
    ------
    BadValue
        If there is no such configuration or study.

    Examples
    --------
    In the folder of a run, ``fm.study("mckenna2020-figure-1").table`` is the table behind Figure 1. Elsewhere:

    >>> import factormech as fm, tempfile
    >>> try:
    ...     fm.study("mckenna2020-figure-1", tempfile.mkdtemp() + "/config.yaml")
    ... except ValueError as error:
    ...     print("be the path of a configuration" in str(error))
    True
    """
    from factormech.config.studies import load_file

    path = Path(config)
    rules = SCHEMA if schema is None else Path(schema)
    for key, file in (("config", path), ("schema", rules)):
        if not file.is_file():
            rule = f"be the path of a {'configuration' if key == 'config' else 'schema'}"
            raise BadValue(key, str(file), rule, "run in the project's folder, or give the path")
    found = load_file(path, rules)
    studies = found.quick_studies if quick else found.studies
    asked = studies.get(f"quick/{name}" if quick else name)
    if asked is None:
        raise UnknownName("study", name, [each.removeprefix("quick/") for each in studies])
    axes = {**asked.asked.grid, **asked.asked.settings}
    grid = {key: value for key, value in axes.items() if value not in ((), [], {}, None)}
    return StudyView(asked.name, asked.paper, asked.artefact, asked.title, asked.kind, grid, path.parent)


def _load_csv(path: Path) -> Any:
    """A table of results; an empty cell is NaN among numbers and ``""`` among texts, as in HDF5."""
    import pandas as pd

    if path.is_file() and path.stat().st_size > SIZE_LIMIT:
        rule, remedy = f"have at most {SIZE_LIMIT >> 20} MiB", "give a table of results"
        raise hdf5.DamagedFile(path, f"{path.stat().st_size} bytes", rule, remedy)
    if tables.has_header(path):
        return tables.read_csv(path)
    seals.check_table(path)
    try:
        # Exact reading of floats is the default since pandas 3, and had to be asked for before.
        exact = {} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
        frame = pd.read_csv(path, keep_default_na=False, na_values=["", "nan"], **exact)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise hdf5.DamagedFile(path, reason, "be a readable CSV file", "check the path, or run the workflow") from None
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError) as error:
        found = str(error).strip().splitlines()[-1]
        raise hdf5.DamagedFile(path, found, "be a CSV file with a header") from None
    texts = frame.select_dtypes(exclude=["number", "bool"]).columns
    frame[texts] = frame[texts].fillna("")
    return frame
