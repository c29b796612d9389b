"""Numbers for a reader: any result file of the project as a table or arrays."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from factormech import store
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
    datasets = store.read(path).datasets
    if len(datasets) == 1:
        (only,) = datasets.values()
        if not isinstance(only, np.ndarray):
            return only
    return datasets


def _load_csv(path: Path) -> Any:
    """A table of results; an empty cell is NaN among numbers and ``""`` among texts, as in HDF5."""
    import pandas as pd

    if path.is_file() and path.stat().st_size > SIZE_LIMIT:
        rule, remedy = f"have at most {SIZE_LIMIT >> 20} MiB", "give a table of results"
        raise store.DamagedFile(path, f"{path.stat().st_size} bytes", rule, remedy)
    if tables.has_header(path):
        return tables.read_csv(path)
    try:
        # Exact reading of floats is the default since pandas 3, and had to be asked for before.
        exact = {} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
        frame = pd.read_csv(path, keep_default_na=False, na_values=["", "nan"], **exact)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise store.DamagedFile(path, reason, "be a readable CSV file", "check the path, or run the workflow") from None
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError) as error:
        found = str(error).strip().splitlines()[-1]
        raise store.DamagedFile(path, found, "be a CSV file with a header") from None
    texts = frame.select_dtypes(exclude=["number", "bool"]).columns
    frame[texts] = frame[texts].fillna("")
    return frame
