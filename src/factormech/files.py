"""Files appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path``, or leave what was there.

    The bytes go to a hidden temporary name in the same folder, reach the disk, and are renamed: a reader
    never sees half a file, and an interrupted writer leaves no trace.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not tempfile.mkstemp: its files are closed to the group, and a rename would keep that.
    part = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
