"""The way back from a number: row, part, solutions and code, with the file of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue, UnknownName

if TYPE_CHECKING:
    import pandas as pd

    from factormech.store.hdf5 import Record

# What is said of a solution, where its file has it.
SAID = (
    "workload",
    "domain_size",
    "epsilon",
    "alpha",
    "options",
    "seed",
    "root_seed",
    "objective",
    "lower_bound",
    "gap",
)


@dataclass(frozen=True)
class Traced:
    """One row, and where it comes from.

    Attributes
    ----------
    row
        The row of the table, column → value.
    table, part
        The files of the table and of the part that the row was computed in.
    asked
        What the part was asked: grid, settings, seed and user-defined workloads.
    solved
        File → what it holds, for the strategies, bounds and factorizations of this row's workload and domain size.
    code
        The digest of the code of the part.
    provenance
        Versions of the libraries, and threads.
    """

    row: Mapping[str, Any]
    table: str
    part: str
    asked: Mapping[str, Any]
    solved: Mapping[str, Mapping[str, Any]]
    code: str
    provenance: Mapping[str, Any]

    def as_data(self) -> dict[str, Any]:
        """Return the trace as plain dictionaries."""
        return asdict(self)


def trace(figure: str | Path, point: Mapping[str, Any] | None = None, *, folder: Path | str = ".") -> list[Traced]:
    """Return where the rows behind points of a figure or table come from.

    Parameters
    ----------
    figure
        A study's name, or the path of its figure or table: ``mckenna2020-figure-1``, ``figures/epsilon.svg``.
    point
        Column → value; the rows that have all these values are traced.
    folder
        The folder of the run, which has ``results``.

    Returns
    -------
    list of Traced
        For each row: the part that measured it, the solutions that the part was given, and the file of each.

    Raises
    ------
    BadValue
        If there is no such table, no such row, or the part that a row names is not there any more.

    Examples
    --------
    After a run, ``fm.trace("mckenna2020-figure-1", {"mechanism": "optimised", "epsilon": 1.0})`` has the way back from
    the points of Figure 1. Without a run there is nothing to trace:

    >>> import factormech as fm, tempfile
    >>> try:
    ...     fm.trace("mckenna2020-figure-1", folder=tempfile.mkdtemp())
    ... except ValueError as error:
    ...     print("no such table" if "mckenna2020-figure-1.csv" in str(error) else error)
    no such table
    """
    from factormech.tables.kinds import read_csv

    root, study = Path(folder), study_of(figure)
    path = root / "results" / "tables" / f"{study}.csv"
    rows = matching(read_csv(path), point or {}, str(path))
    parts = parts_of(study, root)
    return [_traced(row, path, parts, root) for row in rows.to_dict("records")]


def study_of(figure: str | Path) -> str:
    """The study of a figure's or table's path, or the name itself."""
    path = Path(figure)
    known = [folder for folder in ("figures", "results/tables", "results/parts") if f"{folder}/" in path.as_posix()]
    name = path.as_posix().rpartition(f"{known[0]}/")[2] if known else path.as_posix()
    return name[: -len(path.suffix)] if path.suffix in {".pdf", ".svg", ".png", ".txt", ".csv", ".tex", ".h5"} else name


def matching(frame: pd.DataFrame, point: Mapping[str, Any], where: str) -> pd.DataFrame:
    """The rows that have these values; a value may be given as text."""
    for column, value in point.items():
        if column not in frame:
            raise UnknownName(f"column of {where}", column, list(frame.columns))
        cells = frame[column]
        try:
            wanted = type(cells.iloc[0].item() if hasattr(cells.iloc[0], "item") else cells.iloc[0])(value)
        except (TypeError, ValueError):
            raise BadValue(column, value, f"be a value of the column, such as {cells.iloc[0]}", "correct it") from None
        frame = frame[cells == wanted]
        if frame.empty:
            known = ", ".join(map(str, dict.fromkeys(cells.tolist())))
            raise BadValue(column, value, f"be a value of {where} at this point", f"give one of {known[:200]}")
    return frame


def parts_of(study: str, folder: Path) -> dict[str, Record]:
    """Return the parts of a study in the folder of a run, by the digest that the rows of its table name as origin."""
    from factormech.store import hdf5
    from factormech.tables.rows import DIGITS

    records = (hdf5.read(path, "part") for path in sorted((folder / "results" / "parts" / study).glob("*.h5")))
    return {record.provenance["content_digest"][:DIGITS]: record for record in records}


def _traced(row: dict[str, Any], table: Path, parts: Mapping[str, Record], root: Path) -> Traced:
    part = parts.get(row["origin"])
    if part is None:
        rule = "be the digest of a part that is there"
        raise BadValue(f"origin of a row of {table}", row["origin"], rule, "run the workflow again")
    attributes, files = part.attributes, part.attributes["solved"]
    solved = {file: found for file in files if (found := _solution(root / file, row))}
    provenance = {key: value for key, value in part.provenance.items() if key != "content_digest"}
    return Traced(row, str(table), str(part.path), attributes["asked"], solved, attributes["code"], provenance)


def _solution(path: Path, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record in a file of a solution, if the file is of the row's point."""
    found = solution(path)
    for key in ("workload", "domain_size", "epsilon"):
        if found.get(key) is not None and key in row and found[key] != row[key]:
            return {}
    return found


def solution(path: Path) -> dict[str, Any]:
    """Return what the file of a strategy, bound or factorization says of itself."""
    from factormech.store import hdf5

    if not path.exists():
        return {"missing": "deleted since"}
    found = hdf5.read_attributes(path)
    names = {key: found[key] for key in ("mechanism", "bound", "norm") if key in found}
    return names | {key: found[key] for key in SAID if found.get(key) not in (None, {}, "{}")} | {"code": found["code"]}
