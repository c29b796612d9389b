"""What a result file may hold in one canonical form, its digest and its seal.

**Content and digest.** An array stays an array (texts become an ``object`` array of ``str``); a table becomes a
``dict`` of columns; an attribute becomes what JSON can say. Equal canonical forms have equal digests, in every
process.

**The seal.** The first 512 bytes of a result file say what the rest must be, to the last bit. HDF5 sets aside such a
block for whoever writes the file (its *user block*) and every reader of HDF5 skips it. It is checked before the HDF5
library sees the file, which is not built to survive damaged bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from factormech.errors import BadValue

# Content and digest.

Array: TypeAlias = npt.NDArray[Any]
Table: TypeAlias = dict[str, Array]
Content: TypeAlias = dict[str, Array | Table]

_INT64 = np.iinfo(np.int64)


def canonical_datasets(datasets: Mapping[str, Any]) -> Content:
    """Return every dataset in canonical form, by sorted name."""
    for name in datasets:
        _check_name("dataset", name)
    return {name: _canonical(name, datasets[name]) for name in sorted(datasets)}


def canonical_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return every attribute as plain ``None``, ``bool``, ``int``, ``float``, ``str``, ``list`` or ``dict``."""
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


# The seal.

SEAL_BYTES = 512
_MAGIC = b"factormech result file"
_HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
AGAIN = "delete it and run the workflow again"


class DamagedFile(BadValue):
    """A file that is not a whole, unchanged result of this package."""

    def __init__(self, path: str | os.PathLike[str], found: str, rule: str, remedy: str = AGAIN) -> None:
        # The path takes the place of the name: a name is never cut short, a value may be.
        super().__init__(os.fspath(path).replace("\n", " "), found, rule, remedy)


def stamp(path: Path, place: str | os.PathLike[str] = "") -> None:
    """Write the seal into the first 512 bytes of a finished file that will be moved to the given path.

    A place relative to the folder of the work is in the seal, as a digest: a whole file in the place of another one is
    found out (:func:`check_place`). An absolute one is not, for it says where somebody's folders are.
    """
    seal = _seal_of(path, _mark(place))
    with path.open("rb+") as file:
        file.write(seal)


def check(path: Path) -> None:
    """Refuse a file whose bytes are not those that were sealed."""
    try:
        with path.open("rb") as file:
            head = file.read(SEAL_BYTES)
        if not head.startswith(_MAGIC):
            raise _foreign(path, head)
        size = os.path.getsize(path)
        claimed = re.search(rb"the (\d+) bytes", head)
        if claimed and size < SEAL_BYTES + int(claimed[1]):
            whole = SEAL_BYTES + int(claimed[1])
            raise DamagedFile(path, f"{size} of {whole} bytes", "be a whole result file (it is truncated)")
        if head != _seal_of(path, _marked(head)):
            raise DamagedFile(path, "bytes that changed", "be as it was written: its checksum does not fit")
    except OSError as error:
        raise _unreadable(path, error) from None


def check_place(path: Path) -> None:
    """Refuse a file that :func:`check` refuses, or that was not written under this very relative path."""
    check(path)
    with path.open("rb") as file:
        found = _marked(file.read(SEAL_BYTES))
    if found != _mark(path):
        raise DamagedFile(path, "a result from elsewhere", "be the result that was made in this place")


def _mark(place: str | os.PathLike[str]) -> str:
    """Sixteen digits for a relative path, none for another."""
    name = os.fspath(place)
    if not name or os.path.isabs(name):
        return ""
    return hashlib.sha256(Path(name).as_posix().encode(errors="surrogateescape")).hexdigest()[:16]


def _marked(head: bytes) -> str:
    """The digits of the place that a seal names."""
    found = re.search(rb"; place: ([0-9a-f]{16})\n", head)
    return found[1].decode() if found else ""


def _seal_of(path: Path, mark: str) -> bytes:
    """The seal that belongs to what a file has after its first 512 bytes, and to its place."""
    with path.open("rb") as file:
        file.seek(SEAL_BYTES)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = file.tell() - SEAL_BYTES
    place = f"; place: {mark}" if mark else ""
    text = _MAGIC + f" (HDF5 after this block); SHA-256 of the {size} bytes after it: {digest}{place}\n".encode()
    return text.ljust(SEAL_BYTES, b"\0")


def _foreign(path: Path, head: bytes) -> DamagedFile:
    """The refusal of a file without the seal's first words."""
    if not head:
        return DamagedFile(path, "an empty file", "be a whole result file")
    if is_hdf5(path):
        remedy = "give a file that this workflow made, or " + AGAIN
        return DamagedFile(path, "an HDF5 file of someone else", "be a result file of factormech", remedy)
    kind = "text" if head.decode("latin-1").isprintable() or head.isascii() else "binary data"
    return DamagedFile(path, f"{kind}, not HDF5", "be a result file of factormech")


def is_hdf5(path: Path) -> bool:
    """Return whether HDF5's signature is where the format wants it: at 0 or 512 times a power of two."""
    size = os.path.getsize(path)
    with path.open("rb") as file:
        offset = 0
        while offset + len(_HDF5_SIGNATURE) <= size:
            file.seek(offset)
            if file.read(len(_HDF5_SIGNATURE)) == _HDF5_SIGNATURE:
                return True
            offset = max(512, 2 * offset)
    return False


def _unreadable(path: Path, error: OSError) -> DamagedFile:
    if isinstance(error, FileNotFoundError):
        return DamagedFile(path, "no such file", "exist", "run the workflow, which makes it")
    if isinstance(error, IsADirectoryError):
        return DamagedFile(path, "a folder", "be a file", "give the path of a file in it")
    return DamagedFile(path, error.strerror or type(error).__name__, "be readable", "check the path and its rights")
