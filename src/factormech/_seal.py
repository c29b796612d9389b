"""The first 512 bytes of a result file: what the rest must be, to the last bit.

HDF5 sets aside such a block for whoever writes the file (its *user block*) and every reader of HDF5 skips it.
It is checked before the HDF5 library sees the file, which is not built to survive damaged bytes.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from factormech.errors import BadValue

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
    """Write the seal into the first 512 bytes of a finished file, whose place will be the one given.

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
    """Whether HDF5's signature is where the format wants it: at 0 or 512 times a power of two."""
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
