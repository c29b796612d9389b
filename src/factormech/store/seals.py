"""Seals of finished jobs: what a job was asked, and the digests of the files that it read and wrote.

The seal of the outputs of a job is ``results/seals/<first output>.json``. The workflow compares all of it before it
plans (:mod:`factormech.pipeline.freshness`). A reader of one table compares the table's digest (:func:`check_table`):
a number that was typed into a table of a run gets into no manuscript.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from factormech.store.atomic import write_whole
from factormech.store.content import DamagedFile

SEALS = Path("results/seals")


def seal_of(name: str) -> Path:
    """Return the path of the seal of a job's first output, both relative to the folder of the work."""
    return SEALS / f"{name}.json"


def digest_of(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file's content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write(path: Path, request: str, inputs: Sequence[str], outputs: Mapping[str, str]) -> None:
    """Write a seal: the digest of a request, and those of the contents of inputs and outputs."""
    said = {"request": request, "inputs": list(inputs), "outputs": dict(outputs)}
    write_whole(path, _json(said | {"sha256": hashlib.sha256(_json(said)).hexdigest()}))


def read(path: Path) -> dict[str, Any] | None:
    """Return what a seal says; ``None`` where there is none that is whole."""
    try:
        said = json.loads(path.read_bytes())
        own = said.pop("sha256")
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return None
    whole = own == hashlib.sha256(_json(said)).hexdigest() and {"request", "inputs", "outputs"} <= said.keys()
    return said if whole and isinstance(said["inputs"], list) and isinstance(said["outputs"], dict) else None


def check_table(path: Path) -> None:
    """Refuse a table of a run that is not as its job wrote it.

    Parameters
    ----------
    path
        Of a CSV file. Where no seal stands for it, as outside of the folder of a run, there is nothing to compare.

    Raises
    ------
    DamagedFile
        If the digest of the file is not the one of its seal.
    """
    parts = path.absolute().parts
    if "results" not in parts:
        return
    below = len(parts) - 1 - parts[::-1].index("results")
    name = "/".join(parts[below:])
    seal = read(Path(*parts[:below]) / seal_of(name))
    if seal is not None and path.is_file() and seal["outputs"].get(name) != digest_of(path):
        raise DamagedFile(
            path,
            "other bytes than its job has sealed",
            "be as the run has written it",
            "run the workflow again, or edit a copy elsewhere",
        )


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, default=str).encode()
