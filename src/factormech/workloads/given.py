"""Workloads and data as users have them: names, matrices, data frames, files; and the names of queries and types."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue, UnknownName
from factormech.workloads import registry
from factormech.workloads.base import Workload
from factormech.workloads.counts import as_frame, counts_of, named_by_text

if TYPE_CHECKING:
    import pandas as pd


def workload(
    queries: Any,
    n: int | None = None,
    *,
    name: str | None = None,
    seed: int = 0,
    root_seed: int = 0,
    **parameters: int,
) -> Workload:
    """Return a workload: linear queries over ``n`` user types.

    Parameters
    ----------
    queries
        A registered name; a matrix with a row for each query and a column for each user type; a data frame of that
        shape, whose names of rows and columns are kept; the path of a CSV, NPY, MTX or HDF5 file; or a workload.
    n
        The number of user types, for a registered name; anything else brings its own.
    name
        What a matrix is called in tables; of a file, its name without the suffix.
    seed, root_seed
        Of workloads that are drawn at random, as in a study.
    **parameters
        Numbers in the name: ``k=2`` for ``{k}-way-marginals``.

    Returns
    -------
    Workload

    Raises
    ------
    BadValue
        If there is no such workload or file, or an entry is not a finite number.

    Examples
    --------
    >>> import factormech as fm
    >>> fm.workload("prefix", 64)
    <Prefix prefix: 64 queries over 64 types>
    >>> fm.workload("{k}-way-marginals", 16, k=2).queries
    24
    >>> fm.workload([[1, 1, 0], [0, 1, 1]], name="windows").queries
    2
    """
    if isinstance(queries, Workload):
        return _agreeing(queries, n)
    if isinstance(queries, (str, os.PathLike)):
        return _named(queries, n, name, (root_seed, seed), parameters)
    frame = as_frame(queries)
    if frame is not None:
        return _agreeing(_from_frame(frame, name), n)
    from factormech.workloads.matrix import MatrixWorkload

    values = queries.toarray() if hasattr(queries, "toarray") else queries
    return _agreeing(MatrixWorkload(name or "matrix", values), n)


def union(*parts: Workload, weights: Sequence[float] | None = None, name: str | None = None) -> Workload:
    """Return the queries of several workloads over the same user types, one part after the other.

    Parameters
    ----------
    *parts
        Workloads over one domain.
    weights
        A factor for the rows of each part; 1 if left out.
    name
        What it is called; the names of the parts with plus signs if left out.

    Returns
    -------
    Workload

    Raises
    ------
    BadValue
        If there is no part, a part is not a workload, or the parts have different domain sizes.

    Examples
    --------
    >>> import factormech as fm
    >>> fm.union(fm.workload("prefix", 8), fm.workload("total", 8)).queries
    9
    """
    from factormech.workloads.combinators import Union

    _check_workloads("union", parts)
    return Union(name or "+".join(part.name for part in parts), parts, weights)


def product(*factors: Workload, name: str | None = None) -> Workload:
    """Return all products of one query of each factor, over the combinations of the factors' user types.

    Parameters
    ----------
    *factors
        Workloads, one for each attribute; the last attribute varies fastest.
    name
        What it is called; the names of the factors with crosses if left out.

    Returns
    -------
    Workload

    Raises
    ------
    BadValue
        If there is no factor, or a factor is not a workload.

    Examples
    --------
    >>> import factormech as fm
    >>> fm.product(fm.workload("prefix", 4), fm.workload("histogram", 3))
    <Kronecker prefix×histogram: 12 queries over 12 types>
    """
    from factormech.workloads.combinators import Kronecker

    _check_workloads("product", factors)
    return Kronecker(name or "×".join(factor.name for factor in factors), factors)


def answer(queries: Workload, data: Any) -> pd.Series:
    """Return the exact answers of a workload, under the names of its queries.

    Parameters
    ----------
    queries
        A workload.
    data
        The number of users of each type: a list, an array, a ``dict`` or Series from types to numbers, a data frame
        with a column of types and one of counts, or the path of such a CSV file.

    Returns
    -------
    pandas.Series

    Raises
    ------
    BadValue
        If the data are not one number of at least 0 for each user type.

    Examples
    --------
    >>> import factormech as fm
    >>> fm.answer(fm.workload("prefix", 3), [5, 1, 2]).tolist()
    [5.0, 6.0, 8.0]
    """
    import pandas as pd

    found = queries.answer(counts_of(queries, data, whole=False))
    return pd.Series(found, index=query_index(queries), name=queries.name)


def query_index(queries: Workload) -> pd.Index:
    """Return the names of the queries, or their numbers from 0."""
    import pandas as pd

    names = queries.query_names
    if names is None:
        return pd.RangeIndex(queries.queries, name="query")
    return pd.Index(names, name="query", tupleize_cols=False)


def type_index(queries: Workload) -> pd.Index:
    """Return the names of the user types, or their numbers from 0."""
    import pandas as pd

    names = queries.type_names
    if names is None:
        return pd.RangeIndex(queries.domain_size, name="type")
    return pd.Index(names, name="type", tupleize_cols=False)


def _check_workloads(function: str, given: Sequence[Any]) -> None:
    """Refuse arguments that are not workloads, such as one list of workloads."""
    for each in given:
        if not isinstance(each, Workload):
            rule = "be workloads, one argument for each"
            remedy = f"make each with workload(…); of a list of workloads, write {function}(*parts)"
            raise BadValue(function, f"a {type(each).__name__}", rule, remedy)


def _agreeing(made: Workload, n: int | None) -> Workload:
    if n is not None and n != made.domain_size:
        rule = f"be {made.domain_size}, the number of columns of {made.name}"
        raise BadValue("n", n, rule, "leave it out: a matrix brings its own")
    return made


def _named(
    queries: str | os.PathLike[str],
    n: int | None,
    name: str | None,
    seeds: tuple[int, int],
    parameters: Mapping[str, int],
) -> Workload:
    text = os.fspath(queries)
    text = text.format_map(parameters) if parameters and "{" in text else text
    if not registry.is_known(text):
        if not is_file(text):
            raise unknown(text)
        from factormech.workloads.matrix import from_file

        return _agreeing(from_file(Path(text), name=name), n)
    if n is None:
        raise BadValue("n", None, f"be given for {text}", f"give for example workload({text!r}, 64)")
    return created(text, n, *seeds)


def created(name: str, n: int, root_seed: int = 0, seed: int = 0) -> Workload:
    """Return a registered workload, drawn as in a study where it is drawn at random."""
    return registry.create(name, n, seed=root_seed, stream=(str(seed),) if registry.is_seeded(name) else ())


def is_file(text: str) -> bool:
    """Return whether a text that is no registered name is meant as a path."""
    return bool(Path(text).suffix) or os.sep in text or Path(text).exists()


def unknown(name: str) -> UnknownName:
    """Return the error for a name that is neither registered nor a file's."""
    error = UnknownName("workload", name, registry.names())
    said = str(error).replace("did you mean '{k}-", "did you mean '2-")
    error.args = (f"{said}; or give a CSV, NPY, MTX or HDF5 file",)
    return error


def _from_frame(frame: pd.DataFrame, name: str | None) -> Workload:
    """The workload of a data frame: its index, or its column of texts, names the queries, its columns the types."""
    from factormech.workloads.matrix import MatrixWorkload

    frame = named_by_text(frame)
    texts = [column for column, kind in frame.dtypes.items() if kind.kind not in "biuf"]
    if texts:
        rule, remedy = "hold numbers", "put the names of the queries into the index: frame.set_index(...)"
        raise BadValue(f"column {texts[0]!r} of the data frame", str(frame[texts[0]].dtype), rule, remedy)
    for axis, index in (("index", frame.index), ("columns", frame.columns)):
        if not index.is_unique:
            twice = str(index[index.duplicated()][0])
            raise BadValue(f"{axis} of the data frame", twice, "name each row and column once", "rename one of them")
    made = MatrixWorkload(name or "matrix", frame.to_numpy())
    made.query_names, made.type_names = tuple(frame.index), tuple(frame.columns)
    return made
