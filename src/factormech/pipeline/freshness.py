"""Whether a result is the one that is asked for: by content alone, without time stamps and the workflow's memory.

A *request* says all that a job's outputs depend on: parameters, the digest of the code, the versions of libraries, and
which files are read. A job that has succeeded leaves a *seal*, ``results/seals/<first output>.json``: the digest of its
request and those of the contents of all files that it read and wrote. It takes the seal away when it begins. So outputs
are believed exactly if there is a whole seal, of this request, whose digests are those of the files
(:func:`why_stale`); a table in CSV, a figure and a page are sealed like a result in HDF5.

The workflow is told by an input of the rule: the file of the request (:func:`note`). Its time stamp is older than the
outputs where they are fresh and newer where they are not, whatever the clock said when they were made.

The job compares the code on disk with the code that was planned when it begins and before it seals (:func:`job`).
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

from factormech.code import Code
from factormech.errors import BadValue
from factormech.store.atomic import write_whole

SEALS = Path("results/seals")
AGAIN = "run the same command again"
_SOURCE = Path(__file__).resolve().parents[1]
# The time stamp of the file of a request whose outputs are fresh, in seconds since 1970: before any result (2001).
_BEFORE = 1_000_000_000
# Whose version decides on the bits of numbers; those of a figure are the plotting library's, too.
_LIBRARIES, _PLOTTING = ("numpy", "scipy", "numba"), ("matplotlib",)


@dataclass(frozen=True)
class Request:
    """The inputs that the outputs of one job depend on.

    Parameters
    ----------
    outputs, inputs
        Paths, relative to the folder of the work where they are below it.
    parameters
        What the job is told, as JSON can write it.
    code
        The digest of the code behind the job (:class:`factormech.code.Code`).
    """

    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    parameters: Mapping[str, Any]
    code: str

    def digest(self) -> str:
        """Return the SHA-256 of all this, and of the versions of the libraries that compute."""
        drawn = any(name.startswith("figures/") for name in self.outputs)
        said = {
            "outputs": self.outputs,
            "inputs": [_portable(name) for name in self.inputs],
            "parameters": self.parameters,
            "code": self.code,
            "versions": versions(_LIBRARIES + (_PLOTTING if drawn else ())),
        }
        return hashlib.sha256(_json(said)).hexdigest()

    def seal(self) -> Path:
        """Return the path of the seal of the outputs."""
        return SEALS / f"{self.outputs[0]}.json"


@cache
def versions(libraries: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of Python, without its last part, and of some libraries."""
    found = {name: version(name) for name in libraries}
    return {"python": ".".join(platform.python_version_tuple()[:2]), **found}


def _portable(name: str) -> str:
    """A path below the folder of the work, else a name alone: elsewhere, each machine has folders of its own."""
    return os.path.basename(name) if os.path.isabs(name) else name


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, default=str).encode()


def digest_of(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file's content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Before a run plans -------------------------------------------------------------------------------------------------


def why_stale(request: Request, read: Callable[[str], str] = digest_of) -> str | None:
    """Return why the outputs of a request are not, or may not be, those that it would make now.

    Parameters
    ----------
    request
        What is asked for now.
    read
        The digest of a file's content: :func:`digest_of`, or one that remembers.

    Returns
    -------
    str or None
        A few words on one line; ``None`` where the outputs are fresh, or were fresh when somebody deleted them.
    """
    seal = _read_seal(request.seal())
    if seal is None:
        return "no seal of a finished job"
    if seal["request"] != request.digest():
        return "made for other parameters, by other code or with other libraries"
    for name in request.outputs:
        if os.path.exists(name) and _problem(name, read, seal["outputs"].get(name)):
            return f"{name} is not as it was written"
    for name, known in zip_longest(request.inputs, seal["inputs"], fillvalue=""):
        if os.path.exists(name) and _problem(name, read, known):
            return f"{name} is not as it was read"
    return None


def _problem(name: str, read: Callable[[str], str], known: str | None) -> bool:
    try:
        return read(name) != known
    except OSError:  # a folder, or a file that may not be read
        return True


def bring_back(names: Iterable[str]) -> None:
    """Give files that are stamped in the future the time of now: Snakemake ends a run that reads them."""
    now = time.time()
    for name in names:
        with suppress(OSError):
            if os.stat(name).st_mtime > now:
                os.utime(name, (now, now))


def note(request: Request, path: Path, code_list: Path, stale: str | None) -> None:
    """Write the file of a request, an input of its rule that is newer than the outputs exactly if these are stale.

    Parameters
    ----------
    request
        What is asked for now.
    path
        Where; best in a folder of its own, for workflow systems list folders once.
    code_list
        The file of :func:`note_code`, for the job.
    stale
        The answer of :func:`why_stale`.
    """
    said = {
        "digest": request.digest(),
        "seal": str(request.seal()) if request.outputs else "",
        "outputs": request.outputs,
        "inputs": request.inputs,
        "code": request.code,
        "code_list": str(code_list),
        # Other words each time: equal content would be taken for an input that has not changed.
        "stale": f"{stale} ({time.time_ns()})" if stale else "",
    }
    stamp = _stamp(request.outputs, stale=bool(stale))
    content = _json(said)
    if stale or not path.is_file() or path.read_bytes() != content or path.stat().st_mtime != stamp:
        write_whole(path, content)
        os.utime(path, (stamp, stamp))


def _stamp(outputs: tuple[str, ...], *, stale: bool) -> float:
    """A time before that of every output where they are fresh; else after theirs, or after what was made from them."""
    times = [os.stat(name).st_mtime for name in outputs if os.path.exists(name)]
    if not stale:
        return min([float(_BEFORE), *(moment - 1 for moment in times)])
    made_from_missing = [time.time()] if len(times) < len(outputs) else []
    return max([*made_from_missing, *(moment + 1 for moment in times)])


def note_code(code: Code, path: Path) -> None:
    """Write which files some code is in, with their contents' digests and the times at which they changed last."""
    files = [
        (_relative(file), content, file.stat().st_ctime_ns)
        for file, content in zip(code.files, code.contents, strict=True)
    ]
    write_whole(path, _json({"root": str(_SOURCE), "digest": code.digest, "files": files}))


def _relative(file: Path) -> str:
    """The path below the folder of the package, if it is there; a plugin's is as it was given."""
    with suppress(ValueError):
        return str(file.resolve().relative_to(_SOURCE))
    return str(file.absolute())


# In a job -----------------------------------------------------------------------------------------------------------


class Job:
    """A job at work on a request, from the file of the request."""

    def __init__(self, path: Path) -> None:
        self._path, self._said = path, json.loads(path.read_bytes())
        self._code = json.loads(Path(self._said["code_list"]).read_bytes())
        self.code = str(self._said["code"])
        check_code(self._code)
        if self._said["seal"]:
            Path(self._said["seal"]).unlink(missing_ok=True)
        self._read = self._inputs()

    def finish(self) -> None:
        """Seal the outputs, if the code and the inputs are those that the job began with.

        Raises
        ------
        BadValue
            If they are not; the outputs stay without a seal, and are not believed.
        """
        check_code(self._code)
        for name, before, now in zip(self._said["inputs"], self._read, self._inputs(), strict=True):
            if before != now:
                raise BadValue(name, "other content than when the job began", "stay as it is during a run", AGAIN)
        if self._said["seal"]:
            outputs = {name: digest_of(name) for name in self._said["outputs"]}
            _write_seal(Path(self._said["seal"]), self._said["digest"], self._read, outputs)
        os.utime(self._path, (_BEFORE, _BEFORE))  # the outputs are fresh now

    def _inputs(self) -> list[str]:
        return [digest_of(name) for name in self._said["inputs"]]


@contextmanager
def job(arguments: Iterable[str]) -> Iterator[None]:
    """The time in which a job works on the request that its command line names, if it names one (``--request``)."""
    words = list(arguments)
    named = [value for option, value in pairwise(words) if option == "--request"]
    at_work = Job(Path(named[-1])) if named else None
    yield
    if at_work is not None:
        at_work.finish()


def check_code(planned: Mapping[str, Any]) -> None:
    """Refuse code that is not, or was not all the time since it was planned, the code that was planned.

    Parameters
    ----------
    planned
        What :func:`note_code` wrote. A file that was edited and restored has its content again, but not the time of
        its last change, which no program can set; on another machine with a copy of the package, contents alone count.
    """
    here = planned["root"] == str(_SOURCE)
    for name, content, changed in planned["files"]:
        path = _SOURCE / name
        try:
            same = (not here or path.stat().st_ctime_ns == changed) and digest_of(path) == content
        except OSError:
            same = False
        if not same:
            raise BadValue(str(path), "edited since the run was planned", "stay as it is during a run", AGAIN)


# Seals --------------------------------------------------------------------------------------------------------------


def _write_seal(path: Path, request: str, inputs: list[str], outputs: Mapping[str, str]) -> None:
    said = {"request": request, "inputs": inputs, "outputs": dict(outputs)}
    write_whole(path, _json(said | {"sha256": hashlib.sha256(_json(said)).hexdigest()}))


def _read_seal(path: Path) -> dict[str, Any] | None:
    """Return the content of a seal; nothing where no whole seal is there."""
    try:
        said = json.loads(path.read_bytes())
        own = said.pop("sha256")
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return None
    whole = own == hashlib.sha256(_json(said)).hexdigest() and {"request", "inputs", "outputs"} <= said.keys()
    return said if whole else None
