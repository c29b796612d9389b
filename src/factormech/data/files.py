"""The files of the data sets: where they are, how they are fetched, and synthetic stand-ins for them.

**Stand-ins.** They are data vectors with the users, the non-empty bins and the rough shape of a public data set. No
chance is in them. Bin b of 4096 has a weight w_b = (envelope of the data set)·(roughness), the roughness being −log
of the fractional part of (b + 1)·(√5 − 1)/2, which is spread like an exponential variable. The non-empty bins are
those of the largest weights; each has one user, and the others are shared out in proportion to the weights by largest
remainders.

**Files.** This part finds the files of the data sets and reads them. A file is read once; its bytes are compared with
the pinned digest before anything parses them, and nothing that could run code (a pickle) is ever loaded.

**Fetching.** Public data sets are fetched once: each file is there whole and as published, or not at all.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.data.registry import BINS, PUBLIC, STANDIN, DataSet, check_name, is_standin, public, standin_of
from factormech.errors import BadValue
from factormech.mechanisms.local.reports import check_counts
from factormech.store.atomic import write_whole

# Stand ins.


def _rising(b: FloatArray) -> FloatArray:
    """Return the shape of HEPTH: rising nearly to the end, then zeros."""
    t = b / (0.9 * BINS)
    return np.asarray(np.where(t < 1, t**1.7, 0.0) * _roughness(b))


def _long_tail(b: FloatArray) -> FloatArray:
    """MEDCOST: most at the beginning, a long sparse tail."""
    return np.asarray((b + 1) ** -1.35 * np.where(b == 0, 1.0, _roughness(b)))


def _few(b: FloatArray) -> FloatArray:
    """NETTRACE: bins in order of size, all of them at the beginning."""
    return np.asarray((b + 1) ** -1.3)


def _roughness(b: FloatArray) -> FloatArray:
    return np.asarray(-np.log((b + 1) * (np.sqrt(5.0) - 1) / 2 % 1.0))


_ENVELOPES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "hepth": _rising,
    "medcost": _long_tail,
    "nettrace": _few,
}


def standin(name: str) -> IntArray:
    """The counts of a stand-in, (4096,), by its own name (``hepth-standin``)."""
    if not check_name(name).endswith(STANDIN):
        raise BadValue("data set", name, "be a stand-in here", f"ask for {name + STANDIN}, or read the file")
    like = public(name)
    weights = _ENVELOPES[name.removesuffix(STANDIN)](np.arange(BINS, dtype=float))
    occupied = np.sort(np.argsort(-weights, kind="stable")[: like.occupied])
    counts = np.zeros(BINS, dtype=np.int64)
    counts[occupied] = 1 + _apportioned(weights[occupied], like.users - like.occupied)
    return counts


def _apportioned(weights: FloatArray, total: int) -> IntArray:
    """Whole numbers of this sum in proportion to the weights, by largest remainders."""
    exact = weights / weights.sum() * total
    whole: IntArray = np.floor(exact).astype(np.int64)
    first = np.argsort(-(exact - whole), kind="stable")[: total - int(whole.sum())]
    whole[first] += 1
    return whole


# Files.

VARIABLE = "FACTORMECH_DATA"
DEFAULT_FOLDER = "data"
# The largest file that is looked at; the data sets have 33 kB.
SIZE_LIMIT = 2**20
REMEDY = "run 'snakemake data', name another folder, or name none, and synthetic stand-ins are drawn"


_GIVEN: ContextVar[tuple[Path | None] | None] = ContextVar("the folder of a job", default=None)


@contextmanager
def given(folder: Path | None) -> Iterator[None]:
    """Within the context, the data sets are those of this folder; stand-ins, if ``None``."""
    token = _GIVEN.set((folder,))
    try:
        yield
    finally:
        _GIVEN.reset(token)


def current_folder() -> Path | None:
    """The folder of :func:`given`, else the one of the environment or the working folder."""
    found = _GIVEN.get()
    return named_folder(None, Path()) if found is None else found[0]


def named_folder(setting: str | None, base: Path, environment: Mapping[str, str] | None = None) -> Path | None:
    """The folder of the data sets: the configuration's, the environment's, or ``data`` if there is one; else none.

    Parameters
    ----------
    setting
        The key ``data`` of the configuration, relative to ``base``.
    base
        The folder of the project.
    environment
        Where ``FACTORMECH_DATA`` is looked for; the process's own, if ``None``.
    """
    found = setting or (os.environ if environment is None else environment).get(VARIABLE)
    if found:
        return base / found
    default = base / DEFAULT_FOLDER
    return default if default.is_dir() else None


def resolved(names: Iterable[str], folder: Path | None) -> list[str]:
    """The data sets that are really used: where no folder is named, the stand-in of each."""
    found = [check_name(name) if folder is not None else standin_of(check_name(name)) for name in names]
    return list(dict.fromkeys(found))


def paths(names: Iterable[str], folder: Path | None) -> list[Path]:
    """The files that these data sets are read from; none for stand-ins."""
    used = [name for name in resolved(names, folder) if not is_standin(name)]
    return [] if folder is None else [folder / public(name).file for name in used]


def problems(names: Iterable[str], folder: Path | None) -> Iterator[BadValue]:
    """Yield a line for each mistake in the files that these data sets need."""
    for path in paths(names, folder):
        try:
            read(path)
        except BadValue as problem:
            yield problem


def read(path: Path) -> IntArray:
    """The counts in a file of one of the data sets, (4096,), which its name says."""
    known = {data.file: data for data in PUBLIC.values()}
    if path.name not in known:
        raise BadValue(f"name of {path}", path.name, f"be one of {', '.join(known)}", "give a data set's own file")
    return parsed(_content(path), known[path.name], str(path))


def read_all(names: Sequence[str], files: Sequence[Path]) -> dict[str, IntArray]:
    """The counts of data sets, by name: from the file that has them, or a stand-in's."""
    by_name = {path.name: path for path in files}
    found: dict[str, IntArray] = {}
    for name in names:
        if is_standin(name):
            found[name] = standin(name)
            continue
        file = public(name).file
        if file not in by_name:
            raise BadValue(f"file of data set {name}", "(missing)", f"be given: {file}", REMEDY)
        found[name] = read(by_name[file])
    return found


def parsed(content: bytes, data: DataSet, where: str) -> IntArray:
    """The counts in the bytes of a file, if these are the pinned ones."""
    digest = hashlib.sha256(content).hexdigest()
    if digest != data.sha256:
        rule = f"be the published file, of SHA-256 {data.sha256[:12]}…"
        raise BadValue(where, f"SHA-256 {digest[:12]}…, {len(content)} bytes", rule, REMEDY)
    counts = np.load(io.BytesIO(content), allow_pickle=False)
    return check_counts(counts, BINS)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        found = error.strerror or type(error).__name__
        raise BadValue(str(path), found, "be a readable file of a data set", REMEDY) from None
    if len(content) > SIZE_LIMIT:
        raise BadValue(str(path), f"more than {SIZE_LIMIT} bytes", "be a file of a data set", REMEDY)
    return content


# The folder of the files in the public repository of the DPBench study, at one commit: it is named here alone.
PUBLIC_SOURCE = (
    "https://raw.githubusercontent.com/dpcomp-org/dpcomp_core/"
    "233cfcc380320860ab957003b7b6271e0c2027c1/dpcomp_core/datafiles/1D/"
)
# Seconds without an answer, and for a whole file.
TIMEOUT, DEADLINE = 30.0, 120.0
_CHUNK = 2**14


def download(
    names: Iterable[str],
    folder: Path,
    source: str = PUBLIC_SOURCE,
    *,
    timeout: float = TIMEOUT,
    deadline: float = DEADLINE,
) -> list[Path]:
    """Fetch what a folder lacks; files that are there and right are kept, wrong ones replaced.

    Parameters
    ----------
    names
        Public data sets.
    folder
        Where their files go; made if missing.
    source
        The address of the folder that has them.
    timeout, deadline
        Seconds without an answer, and for a whole file, after which a transfer is given up.

    Returns
    -------
    list of Path
        The files that were fetched.
    """
    fetched = []
    for name in names:
        data = public(name)
        path = folder / data.file
        if _is_right(path):
            continue
        address = source.rstrip("/") + "/" + data.file
        content = _fetch(address, timeout, deadline)
        parsed(content, data, address)
        write_whole(path, content)
        fetched.append(path)
    return fetched


def _is_right(path: Path) -> bool:
    try:
        read(path)
    except BadValue:
        return False
    return True


def _fetch(address: str, timeout: float, deadline: float) -> bytes:
    if urllib.parse.urlsplit(address).scheme not in ("http", "https"):
        raise BadValue("data_source", address, "be an http or https address", "leave it out for the public one")
    end, content = time.monotonic() + deadline, b""
    try:
        with urllib.request.urlopen(address, timeout=timeout) as answer:
            while chunk := answer.read(_CHUNK):
                content += chunk
                if len(content) > SIZE_LIMIT:
                    raise _refused(address, f"more than {SIZE_LIMIT} bytes")
                if time.monotonic() > end:
                    raise _refused(address, f"{len(content)} bytes in {deadline:g} s")
    except urllib.error.HTTPError as error:
        with error:
            raise _refused(address, f"HTTP {error.code} {error.reason}") from None
    except urllib.error.URLError as error:
        raise _refused(address, str(error.reason)) from None
    except (OSError, http.client.HTTPException) as error:
        raise _refused(address, str(error) or type(error).__name__) from None
    return content


def _refused(address: str, found: str) -> BadValue:
    remedy = "try again, or put the file into the folder yourself; without a folder, stand-ins are drawn"
    return BadValue(address, found, "be a file that can be fetched", remedy)
