"""The one reader and writer of HDF5 files. It computes nothing.

A result file has a *kind*, datasets (arrays and tables) and attributes. It is written whole or not at all,
and read only if every bit is as it was written: the first 512 bytes hold a checksum of the rest. Everything
in it can be seen with ``h5py``, ``h5ls`` or ``h5dump``:

- an array is a dataset of the root group; a table is a group with a dataset for every column, whose order is
  the group's attribute ``columns``; texts are UTF-8 of variable length;
- an attribute that HDF5 can hold (a boolean, a number, a text, a flat list of numbers) is an attribute of the
  root; any other is JSON in an attribute, and ``json_attributes`` lists the names of those;
- ``format_version``, ``kind``, ``content_digest`` and what :func:`provenance` says are
  attributes of the root, too.

No time and no name of a machine is in a file: equal inputs give equal bytes with equal libraries.

:func:`provenance` says what made a file: the package, the libraries, the kernels of BLAS and how many threads it had.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import h5py
import numpy as np

import factormech
from factormech.arrays import FloatArray, check_dense_size
from factormech.errors import BadValue, UnknownName
from factormech.store import content as _seal
from factormech.store.atomic import replacing
from factormech.store.content import (
    AGAIN,
    SEAL_BYTES,
    Array,
    Content,
    DamagedFile,
    Table,
    canonical_attributes,
    canonical_datasets,
    digest,
)

__all__ = ["FORMAT_VERSION", "DamagedFile", "Record", "read", "read_matrix", "write"]


# What made a file: the package, the libraries, the kernels of BLAS and how many threads it had.

# OpenBLAS asks its own variable first, then the one of OpenMP.
_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
THREADS_NOT_SET = "not set (every core of the machine)"
# Where NumPy's wheels have their OpenBLAS, and what it calls the function that names its kernels.
_LIBRARIES, _ASKED = "numpy.libs", "scipy_openblas_get_corename64_"
KERNELS_NOT_TOLD = "not told (no OpenBLAS of NumPy's own)"


def provenance() -> dict[str, str | int]:
    """Versions of all that can change the bits of a result; no time and no name of a machine.

    Versions come from the installed packages' metadata: scipy need not be imported to be named.
    """
    libraries = {f"{name}_version": version(name) for name in ("numpy", "scipy", "h5py")}
    return {
        "package": "factormech",
        "package_version": factormech.__version__,
        "python_version": platform.python_version(),
        **libraries,
        "blas_kernels": blas_kernels(),
        "blas_threads": blas_threads(),
    }


@cache
def blas_kernels() -> str:
    """The kind of processor that the products of matrices are made for: one processor has other last bits by others.

    OpenBLAS chooses by the processor, unless ``OPENBLAS_CORETYPE`` names another kind.
    """
    for path in sorted((Path(np.__file__).parents[1] / _LIBRARIES).glob("*openblas*")):
        ask = getattr(ctypes.CDLL(str(path)), _ASKED, None)
        if ask is not None:
            ask.restype = ctypes.c_char_p
            return str(ask().decode())
    return KERNELS_NOT_TOLD


def blas_threads() -> int | str:
    """Threads that BLAS was told to use; if it was not told, the text that says so."""
    for variable in _THREAD_VARIABLES:
        # OpenMP allows one number a nesting level, "4,2": the first is the outermost.
        found = re.match(r"\s*([1-9]\d*)\s*(,|$)", os.environ.get(variable, ""))
        if found:
            return int(found[1])
    return THREADS_NOT_SET


FORMAT_VERSION = 1
FilePath: TypeAlias = str | os.PathLike[str]

_TEXT = h5py.string_dtype()
_COMPRESS_ABOVE = 2**20  # bytes
_COMPRESSION = {
    "chunks": True,
    "shuffle": True,
    "compression": "gzip",
    "compression_opts": 1,
    "fletcher32": True,
}
_LONGEST_NATIVE_LIST = 1024  # HDF5 keeps attributes in a header of 64 KiB
_OWN = frozenset({"format_version", "kind", "content_digest", "json_attributes", *provenance()})


@dataclass(frozen=True, eq=False)
class Record:
    """The content of a result file.

    Parameters
    ----------
    path, kind
        Which file, and what it holds.
    datasets
        Arrays and tables (``pandas.DataFrame``) by name.
    attributes
        What the writer gave.
    provenance
        What the store added: versions, BLAS threads, ``format_version``, ``content_digest``.
    """

    path: Path
    kind: str
    datasets: dict[str, Any]
    attributes: dict[str, Any]
    provenance: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        """The dataset of this name; a file without it is refused."""
        if name not in self.datasets:
            found = ", ".join(self.datasets) or "no datasets"
            raise DamagedFile(self.path, found, f"have a dataset {name!r}")
        return self.datasets[name]


def write(path: FilePath, kind: str, *, datasets: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
    """Write a result file, whole or not at all; folders on the way are made.

    Parameters
    ----------
    path
        Where. A file that is there is replaced in one step.
    kind
        What the file holds, for :func:`read` to check.
    datasets
        Arrays (numbers, booleans, texts) or tables. In a table, numbers become float64 or int64, and a
        missing text becomes ``""``; its index must be 0, 1, 2, …
    attributes
        ``None``, booleans, numbers, texts, lists and mappings of those.
    """
    taken = sorted(_OWN.intersection(attributes))
    if taken:
        raise BadValue("attributes", taken, "leave these names to the store", "rename them")
    content, plain = canonical_datasets(datasets), canonical_attributes(attributes)
    own = provenance() | {"format_version": FORMAT_VERSION, "kind": str(kind)}
    own["content_digest"] = digest(str(kind), content, plain)
    with replacing(path) as temporary:
        # The name is unique to this process: no lock is needed, and many network file systems have none.
        with h5py.File(temporary, "x", userblock_size=SEAL_BYTES, locking=False) as file:
            _put_attributes(file, plain | own)
            for name, value in content.items():
                _put(file, name, value)
        _seal.stamp(temporary, path)


def read(path: FilePath, kind: str | None = None, *, needs: Iterable[str] = ()) -> Record:
    """Read a result file; refuse anything that is not one, whole and unchanged.

    Parameters
    ----------
    path
        Which file.
    kind
        The kind it must have; any, if ``None``.
    needs
        Names of datasets that it must have.

    Raises
    ------
    DamagedFile
        With the path, what was found and what to do.
    """
    path = Path(path)
    with _sealed(path) as file:
        own, attributes = _get_attributes(path, file)
        content = {name: _get(file[name]) for name in sorted(file)}
    if own["content_digest"] != digest(own["kind"], content, attributes):
        raise DamagedFile(path, "content that changed", "be as it was written: its digest does not fit")
    _check_kind(path, own["kind"], kind)
    record = Record(path, own.pop("kind"), _delivered(content), attributes, own)
    for name in needs:
        record[name]
    return record


def read_attributes(path: FilePath, kind: str | None = None) -> dict[str, Any]:
    """Return the attributes of a result file, whose bytes must be those that were sealed.

    The datasets are neither unpacked nor compared with the digest: :func:`read` does both, as they are used.
    """
    path = Path(path)
    with _sealed(path) as file:
        own, attributes = _get_attributes(path, file)
    _check_kind(path, own["kind"], kind)
    return attributes


@contextmanager
def _sealed(path: Path) -> Iterator[h5py.File]:
    """Open a result file whose bytes are those that were sealed; errors of HDF5 are raised as a damaged file."""
    _seal.check(path)
    try:
        with h5py.File(path, "r", locking=False) as file:
            yield file
    except (OSError, KeyError, TypeError, RuntimeError, json.JSONDecodeError) as error:
        raise DamagedFile(path, f"{type(error).__name__} in HDF5", "be a result file of factormech") from error


def _check_kind(path: Path, found: str, wanted: str | None) -> None:
    if wanted is not None and found != wanted:
        remedy = "give a file of that kind, or " + AGAIN
        raise DamagedFile(path, f"kind {found}", f"be a file of kind {wanted!r}", remedy)


def read_matrix(path: FilePath, dataset: str | None = None) -> FloatArray:
    """A 2-D numeric dataset of a user's own HDF5 file, as float64.

    ``dataset`` may be left out if there is exactly one such dataset. Values are not judged here: NaN and
    infinity are returned as they are.
    """
    path = Path(path)
    try:
        if not _seal.is_hdf5(path):
            remedy = "write it with h5py, or give a CSV, NPY or MTX file under its own suffix"
            raise DamagedFile(path, "not HDF5", "be an HDF5 file", remedy)
        with h5py.File(path, "r", locking=False) as file:
            chosen = _choose_matrix(path, file, dataset)
            _check_storage(path, chosen)
            check_dense_size(f"dataset {chosen.name} of {path}", *chosen.shape)
            return np.asarray(chosen[...], dtype=np.float64)
    except (OSError, RuntimeError) as error:
        if isinstance(error, (FileNotFoundError, IsADirectoryError, PermissionError)):
            remedy = "check the path"
            raise DamagedFile(path, error.strerror or "unreadable", "be a readable file", remedy) from None
        raise DamagedFile(path, "damaged HDF5", "be a whole HDF5 file", "write it again") from error


def _choose_matrix(path: Path, file: h5py.File, dataset: str | None) -> h5py.Dataset:
    """The dataset that was named, or the only matrix there is."""
    found: dict[str, h5py.Dataset] = {}
    file.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
    matrices = {name: item for name, item in found.items() if _is_matrix(item)}
    listed = ", ".join(f"{name} {item.dtype} {item.shape}" for name, item in found.items()) or "none"
    if dataset is None and len(matrices) == 1:
        (only,) = matrices.values()
        return only
    if dataset is None:
        remedy = f"name one as 'dataset'; datasets in the file: {listed}"
        raise BadValue(str(path), f"{len(matrices)} matrices", "hold exactly one matrix of numbers", remedy)
    name = dataset.strip("/")
    if name not in found:
        raise UnknownName(f"dataset of {path}", dataset, found)
    if name not in matrices:
        remedy = f"name another one; datasets in the file: {listed}"
        value = f"{found[name].dtype} {found[name].shape}"
        raise BadValue(f"dataset {dataset!r} of {path}", value, "be a matrix (2-D) of numbers", remedy)
    return matrices[name]


def _check_storage(path: Path, item: h5py.Dataset) -> None:
    """Refuse numbers that HDF5 would read from other files, of any name on this machine."""
    if item.external or item.is_virtual:
        found = f"dataset {item.name} with {'external' if item.external else 'virtual'} storage"
        raise DamagedFile(path, found, "hold its numbers itself", "copy the numbers into one plain dataset")


def _is_matrix(item: h5py.Dataset) -> bool:
    return len(item.shape or ()) == 2 and item.dtype.kind in "biuf"


def _put_attributes(file: h5py.File, attributes: Mapping[str, Any]) -> None:
    as_json = [name for name in sorted(attributes) if not _is_native(attributes[name])]
    for name in sorted(attributes):
        value = attributes[name]
        file.attrs[name] = json.dumps(value) if name in as_json else value
    file.attrs.create("json_attributes", as_json, dtype=_TEXT, shape=(len(as_json),))


def _is_native(value: Any) -> bool:
    """Return whether HDF5 gives back this very value and type."""
    if isinstance(value, str):
        return "\0" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, list):
        types = {type(entry) for entry in value}
        numbers = types in ({int}, {float}) and len(value) <= _LONGEST_NATIVE_LIST
        return numbers and all(_is_native(entry) for entry in value)
    return isinstance(value, (bool, float)) or (isinstance(value, int) and -(2**63) <= value < 2**63)


def _get_attributes(path: Path, file: h5py.File) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the attributes that the store added, and those that the writer gave."""
    version = file.attrs.get("format_version")
    if version is None or "kind" not in file.attrs or "content_digest" not in file.attrs:
        raise DamagedFile(path, "no factormech attributes", "be a result file of factormech")
    if version != FORMAT_VERSION:
        remedy = f"update factormech, or {AGAIN}"
        raise DamagedFile(path, f"format version {version}", f"have format version {FORMAT_VERSION}", remedy)
    as_json = set(file.attrs["json_attributes"])
    values = {
        name: json.loads(value) if name in as_json else value.tolist() if hasattr(value, "tolist") else value
        for name, value in file.attrs.items()
        if name != "json_attributes"
    }
    own = {name: value for name, value in values.items() if name in _OWN}
    return own, {name: value for name, value in values.items() if name not in _OWN}


def _put(group: h5py.Group, name: str, value: Array | Table) -> None:
    if isinstance(value, dict):
        table = group.create_group(name)
        table.attrs.create("columns", list(value), dtype=_TEXT)
        for column, entries in value.items():
            _put(table, column, entries)
    elif value.dtype == object:
        group.create_dataset(name, data=value, dtype=_TEXT)
    else:
        options = _COMPRESSION if value.nbytes > _COMPRESS_ABOVE else {}
        group.create_dataset(name, data=value, **options)


def _get(item: h5py.Dataset | h5py.Group) -> Array | Table:
    if isinstance(item, h5py.Group):
        table: Table = {column: _get_array(item[column]) for column in item.attrs["columns"]}
        return table
    return _get_array(item)


def _get_array(item: h5py.Dataset) -> Array:
    _check_storage(item.file.filename, item)
    check_dense_size(f"dataset {item.name} of {item.file.filename}", *(item.shape or ()))  # compressed, it may be vast
    if h5py.check_string_dtype(item.dtype):
        return np.array(item.asstr()[...], dtype=object)
    return np.asarray(item[...])


def _delivered(content: Content) -> dict[str, Any]:
    """Tables as DataFrames and texts as text arrays; pandas is imported only if there is a table."""
    return {name: _frame(value) if isinstance(value, dict) else _array(value) for name, value in content.items()}


def _array(value: Array) -> Array:
    return value.astype(str) if value.dtype == object else value


def _frame(table: Table) -> Any:
    import pandas as pd

    columns = {name: pd.Series(v, dtype="str") if v.dtype == object else v for name, v in table.items()}
    return pd.DataFrame(columns, columns=list(table))
