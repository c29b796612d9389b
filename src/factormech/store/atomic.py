"""A file is there whole or not at all: write beside it, then rename."""

from __future__ import annotations

import os
import platform
import re
import secrets
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from factormech.errors import BadValue


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside ``path``; on leaving, what was written there takes its place.

    The temporary name is hidden and unique, in the same folder (a rename is atomic only inside one file
    system), and removed if the body fails in any way, an interrupt included; the old file is then untouched.
    The content is on the disk before the rename: a crash of the machine cannot leave an empty file under
    the final name. Only a process killed outright leaves its temporary file behind, never a half result;
    :func:`sweep` removes it.
    """
    path = Path(path)
    if path.is_dir():
        raise BadValue("output", str(path), "be the path of a file, not a folder", "give a file name inside it")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{_here()}-{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write ``content`` to ``path``, or leave what was there."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


_TEMPORARY = re.compile(r"\..+\.([0-9a-f]{8})-(\d+)-[0-9a-f]{8}\.tmp")


def sweep(folder: str | os.PathLike[str]) -> list[Path]:
    """Remove the temporary files below a folder whose processes are dead, and say which they were.

    A process is known to be dead only on the machine that it ran on: temporary files of other machines stay.
    """
    removed = []
    for path in sorted(Path(folder).rglob(".*.tmp")):
        found = _TEMPORARY.fullmatch(path.name)
        if found and found[1] == _here() and not _is_alive(int(found[2])):
            with suppress(OSError):
                path.unlink()
                removed.append(path)
    return removed


def _here() -> str:
    """Eight digits for this machine."""
    return f"{zlib.crc32(platform.node().encode()):08x}"


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # somebody else's
        return True
    return True
