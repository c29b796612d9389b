"""Compiled inner loops, and their machine code kept between processes. This module imports numba (half a second).

**Machine code in files.** There is one sealed file for each state of a module's code. Numba keeps machine code by the
content of the *one* file that has the function, so it would run the old code of a function that a kernel calls in
another file; two processes that compile one function for two signatures at once can leave code of one under the name
of the other; and a cut of power leaves files that end every later process. Here

- the file's name is the digest of the contents of all modules that the kernel's module imports from the package, of the
  versions of Numba and Python, and of the processor;
- each process works in a folder of its own, below the system's temporary folder, into which it unpacks that file, and
  which it packs again at its end if it has compiled anything: no two processes write the same file of Numba's;
- a file whose checksum does not fit is left aside, and replaced by the next process that compiles.

The files are in ``$NUMBA_CACHE_DIR/factormech`` if that variable is set, else in the user's folder of caches. They can
be deleted at any time.

**The decorator.** ``compiled()`` compiles an inner loop; modules import it inside functions.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import io
import os
import platform
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite import binding
from numba import njit

from factormech.code import Code, Sources
from factormech.errors import BadValue
from factormech.store.atomic import write_whole

# Machine code in files.

# At most so many files are kept: some ten states of every module of the package.
KEPT_FILES = 300
_HEAD = b"factormech machine code; SHA-256 of the bytes after this line: "
_PREFIX = "factormech-kernels-"
_ABANDONED_SECONDS = 86400.0
# The files of the package are read once a process, so that a digest is of the code that the process has imported.
_SOURCES = Sources()


@dataclass
class _Module:
    """The kernels of one module: where their machine code is kept, and where this process has it."""

    kept: Path
    root: Path
    folder: Path | None = None
    unpacked: dict[str, bytes] = field(default_factory=dict)

    def begin(self, folder: Path) -> None:
        """Unpack what is kept into the folder that Numba reads and writes; once a process."""
        if self.folder is None:
            self.folder, self.unpacked = folder, _read(self.kept)
            for name, content in self.unpacked.items():
                (folder / name).write_bytes(content)

    def keep(self) -> None:
        """Pack the folder again if it has changed; what another process has packed meanwhile stays if it is more."""
        if self.folder is None:
            return
        paths = sorted(path for path in self.folder.iterdir() if path.suffix in (".nbi", ".nbc"))
        now = {path.name: path.read_bytes() for path in paths}
        there = _read(self.kept) if now != self.unpacked else {}
        if now != self.unpacked and (there == self.unpacked or len(now) >= len(there)):
            _write(self.kept, now)


_MODULES: dict[tuple[str, str], _Module] = {}


def kept(function: Callable[..., Any], compiler: Callable[[Callable[..., Any]], Any]) -> Any:
    """Return what Numba's decorator makes of a function, with its machine code kept where this module keeps it.

    Parameters
    ----------
    function
        The function in Python.
    compiler
        ``numba.njit`` with ``cache=True``, or a decorator like it.
    """
    if numba.config.DISABLE_JIT:
        return compiler(function)
    module = _module_of(function.__module__, function.__code__.co_filename)
    with numba_folder(module.root):
        dispatcher = compiler(function)
    module.begin(Path(dispatcher.stats.cache_path))
    return dispatcher


@contextmanager
def numba_folder(folder: Path | None = None) -> Iterator[None]:
    """The time in which Numba keeps what is decorated in this folder; by default, in one that ends with the process."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder or _workplace() / "unkept")
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def _module_of(name: str, file: str) -> _Module:
    if (name, file) not in _MODULES:
        digest = _digest(name, Path(file))
        mark = f"{name.rpartition('.')[2]}-{digest}"
        _MODULES[name, file] = _Module(store() / f"{mark}.kernels", _workplace() / f"{len(_MODULES)}-{mark}")
    return _MODULES[name, file]


def _digest(name: str, file: Path) -> str:
    """Sixteen digits for the code of a module of kernels and of all that it imports from the package."""
    code = _code(name, file)
    if code is None:
        return f"{os.getpid()}-{time.time_ns()}"  # code without a file serves this process alone
    versions = (numba.__version__, platform.python_version(), platform.machine(), binding.get_host_cpu_name())
    contents = sorted(zip((path.name for path in code.files), code.contents, strict=True))
    return hashlib.sha256(repr((versions, contents)).encode()).hexdigest()[:16]


def _code(name: str, file: Path) -> Code | None:
    if not file.is_file():
        return None
    try:
        code = _SOURCES.code_of(name)
    except BadValue:  # a plugin, a notebook, a test: no module of the package
        code = None
    if code is not None and any(os.path.samefile(file, path) for path in code.files):
        return code
    alias = "factormech.own.kernels"
    return Sources(elsewhere={alias: file}).code_of(alias)


# Where --------------------------------------------------------------------------------------------------------------


@cache
def store() -> Path:
    """Return the folder of the kept files: the user's alone, since machine code from it is run."""
    named = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    with suppress(OSError, RuntimeError):  # RuntimeError: a user without a home
        return _own(Path(named or Path.home() / ".cache") / "factormech" / "machine-code")
    with suppress(OSError):
        return _own(Path(tempfile.gettempdir()) / f"factormech-{os.getuid()}")
    return _workplace() / "kept"


def _own(folder: Path) -> Path:
    """The folder, made if need be; another user's, or one that cannot be written to, is an error of the system's."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.getuid() or status.st_mode & 0o022 or not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"{folder} is not this user's alone")
    return folder


@cache
def _workplace() -> Path:
    """The folder of this process, removed at its end; those that killed processes left go after a day."""
    _sweep(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    _in_use(folder)
    atexit.register(_end, folder, os.getpid())
    return folder


def _in_use(folder: Path) -> int:
    """Lock a folder until this process and its forks end, however they end; refused where another one has it."""
    lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


def _sweep(place: Path) -> None:
    """Remove the folders of dead processes: a process may be at work for days, and compile again at its end."""
    for left in place.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if left.stat().st_uid == os.getuid() and time.time() - left.stat().st_mtime > _ABANDONED_SECONDS:
                lock = _in_use(left)
                shutil.rmtree(left)
                os.close(lock)


def _end(folder: Path, process: int) -> None:
    """Keep what was compiled; a child that was forked leaves that to its parent."""
    if os.getpid() != process:
        return
    for module in _MODULES.values():
        with suppress(OSError):  # a full disk: the next process compiles again
            module.keep()
    shutil.rmtree(folder, ignore_errors=True)


# The sealed files ---------------------------------------------------------------------------------------------------


def _read(path: Path) -> dict[str, bytes]:
    """The files of Numba's in a kept file; none where there is no file, or its checksum does not fit."""
    try:
        head, _, body = path.read_bytes().partition(b"\n")
    except OSError:
        return {}
    if head != _HEAD + hashlib.sha256(body).hexdigest().encode():
        return {}
    with suppress(OSError):
        os.utime(path)  # those that are used are the last to be pruned
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return {Path(name).name: archive.read(name) for name in archive.namelist()}


def _write(path: Path, files: dict[str, bytes]) -> None:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    packed = body.getvalue()
    write_whole(path, _HEAD + hashlib.sha256(packed).hexdigest().encode() + b"\n" + packed)
    prune(path.parent)


def prune(folder: Path, most: int = KEPT_FILES) -> None:
    """Delete the files that have not been used for the longest time, until at most ``most`` are left."""
    dated = []
    for path in folder.glob("*.kernels"):
        with suppress(OSError):  # pruned by another process
            dated.append((path.stat().st_mtime, path))
    for _, path in sorted(dated, reverse=True)[most:]:
        path.unlink(missing_ok=True)


# The decorator.

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(**options: Any) -> Callable[[_Function], _Function]:
    """``numba.njit``, its machine code kept on disk; no flag but a caller's own lets it reorder a rounding.

    The machine code is of the code that there is now, in whatever file: see :mod:`factormech.compiled`.
    """

    def decorate(function: _Function) -> _Function:
        return cast(_Function, kept(function, njit(cache=True, nogil=True, **options)))

    return decorate
