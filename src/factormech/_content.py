"""What a result file may hold, in one canonical form, and the digest of it.

An array stays an array (texts become an ``object`` array of ``str``); a table becomes a ``dict`` of columns;
an attribute becomes what JSON can say. Equal canonical forms have equal digests, in every process.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from factormech.errors import BadValue

Array: TypeAlias = npt.NDArray[Any]
Table: TypeAlias = dict[str, Array]
Content: TypeAlias = dict[str, Array | Table]

_INT64 = np.iinfo(np.int64)


def canonical_datasets(datasets: Mapping[str, Any]) -> Content:
    """Every dataset in canonical form, by sorted name."""
    for name in datasets:
        _check_name("dataset", name)
    return {name: _canonical(name, datasets[name]) for name in sorted(datasets)}


def canonical_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Every attribute as plain ``None``, ``bool``, ``int``, ``float``, ``str``, ``list`` or ``dict``."""
    for name in attributes:
        _check_name("attribute", name)
    return {name: _plain(f"attribute {name!r}", attributes[name]) for name in sorted(attributes)}


def digest(kind: str, content: Content, attributes: Mapping[str, Any]) -> str:
    """SHA-256 over kind, attributes and every dataset's name, type, shape and bytes, in sorted order.

    Versions of libraries are left out: it answers whether two files say the same, whoever made them.
    """
    total = hashlib.sha256()
    _feed(total, {"kind": kind, "attributes": attributes})
    for name in sorted(content):
        value = content[name]
        if isinstance(value, dict):
            _feed(total, {"table": name, "columns": list(value)})
            for column in value:
                _feed_array(total, column, value[column])
        else:
            _feed_array(total, name, value)
    return total.hexdigest()


def _feed(total: Any, value: Any) -> None:
    # A line of JSON holds no raw line break, so no two different sequences of lines read the same.
    total.update(json.dumps(value, sort_keys=True).encode() + b"\n")


def _feed_array(total: Any, name: str, array: Array) -> None:
    texts = array.ravel().tolist() if array.dtype == object else None
    _feed(total, {"array": name, "type": array.dtype.str, "shape": array.shape, "texts": texts})
    if texts is None and array.size:
        # "Bytes" of the array itself where it is contiguous: no copy of a large strategy.
        total.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _canonical(name: str, value: Any) -> Array | Table:
    pandas = sys.modules.get("pandas")  # a DataFrame cannot exist before pandas is imported
    if pandas is not None and isinstance(value, pandas.DataFrame):
        return _canonical_table(name, value)
    try:
        array = np.asarray(value, order="C")
    except ValueError:  # rows of unequal length
        raise BadValue(f"dataset {name!r}", value, "be a rectangular array", "pad it or split it") from None
    if array.dtype.kind == "U":
        array = array.astype(object)
        _check_texts(f"dataset {name!r}", array)
        return array
    good = array.dtype.kind in "biufc" and array.dtype.itemsize <= (16 if array.dtype.kind == "c" else 8)
    if not good:
        remedy = "convert it with astype, or give a DataFrame"
        raise BadValue(f"dataset {name!r}", str(array.dtype), "hold numbers, booleans or texts", remedy)
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _canonical_table(name: str, frame: Any) -> Table:
    """The columns of a DataFrame as float64, int64, bool or texts, in the order of the frame."""
    for column in frame.columns:
        _check_name(f"column of table {name!r}", column)
    if not frame.columns.is_unique or not len(frame.columns):
        rule = "have at least one column and no two of one name"
        raise BadValue(f"columns of table {name!r}", list(frame.columns), rule, "rename or add columns")
    if list(frame.index) != list(range(len(frame))):
        rule, remedy = "be 0, 1, 2, … (it is not stored)", "call reset_index() first"
        raise BadValue(f"index of table {name!r}", list(frame.index), rule, remedy)
    return {column: _canonical_column(f"column {column!r} of {name!r}", frame[column]) for column in frame}


def _canonical_column(name: str, series: Any) -> Array:
    from pandas.api import types

    if types.is_float_dtype(series.dtype):
        return np.asarray(series.to_numpy(np.float64, na_value=np.nan), order="C")
    if types.is_bool_dtype(series.dtype) or types.is_integer_dtype(series.dtype):
        if series.isna().any():
            raise BadValue(name, "a missing value", "be complete (no empty whole numbers)", "use a float column")
        whole = not types.is_bool_dtype(series.dtype)
        if whole and len(series) and not _INT64.min <= int(series.max()) <= _INT64.max:
            raise BadValue(name, int(series.max()), "fit in 64 bits with a sign", "store it as text")
        return np.asarray(series.to_numpy(np.int64 if whole else np.bool_), order="C")
    texts = series.astype(object).where(series.notna(), "").to_numpy(dtype=object)
    _check_texts(name, texts)
    return np.asarray(texts, order="C")


def _check_texts(name: str, texts: Array) -> None:
    """Refuse what UTF-8 in HDF5 cannot hold; its texts end at the first zero character."""
    for text in texts.ravel().tolist():
        if not isinstance(text, str):
            raise BadValue(name, text, "hold texts only (or numbers only)", "convert it with astype")
        if not _storable(text):
            raise BadValue(name, text, "hold UTF-8 texts without zero characters", "remove such characters")


def _storable(text: str) -> bool:
    return "\0" not in text and text.encode(errors="replace").decode() == text


def _check_name(what: str, name: Any) -> None:
    good = isinstance(name, str) and name not in ("", ".", "..") and "/" not in name and _storable(name)
    if not good:
        raise BadValue(f"name of {what}", name, "be a text without '/'", "rename it, for example 'value'")


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, (list, tuple)):
        return [_plain(name, entry) for entry in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(name, value[key]) for key in sorted(value)}
    rule = "be None, a boolean, a number, a text, a list or a mapping with texts as keys"
    raise BadValue(name, value, rule, "convert it first")
