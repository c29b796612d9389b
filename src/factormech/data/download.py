"""Fetch the public data sets, once: each file is there whole and as published, or not at all."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable
from pathlib import Path

from factormech.data.files import SIZE_LIMIT, parsed, read
from factormech.data.registry import public
from factormech.errors import BadValue
from factormech.store.atomic import write_whole

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
