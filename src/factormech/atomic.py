"""A file is there whole or not at all: write beside it, then rename."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from factormech.errors import BadValue


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside ``path``; on leaving, what was written there takes its place.

    The temporary name is hidden and unique, in the same folder (a rename is atomic only inside one file
    system), and removed if the body fails in any way, an interrupt included; the old file is then untouched.
    The content is on the disk before the rename: a crash of the machine cannot leave an empty file under
    the final name. Only a process killed outright leaves its temporary file behind, never a half result.
    """
    path = Path(path)
    if path.is_dir():
        raise BadValue("output", str(path), "be the path of a file, not a folder", "give a file name inside it")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
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
