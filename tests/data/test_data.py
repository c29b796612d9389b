"""Data sets: pinned bytes, safe reading, stand-ins of the same scale, and downloads that leave nothing half-written."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import io
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from factormech.data import files, registry
from factormech.data.files import PUBLIC_SOURCE, download, standin
from factormech.data.registry import PUBLIC, binned, shares
from factormech.errors import BadValue, UnknownName

REAL = os.environ.get(files.VARIABLE)


def npy(array: np.ndarray, **options: bool) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Files of the data sets' names, their digests pinned in place of the real ones."""
    contents = {}
    for i, (name, data) in enumerate(list(PUBLIC.items())):
        content = npy(np.arange(4096, dtype=np.int64) % (i + 2))
        contents[data.file] = content
        monkeypatch.setitem(PUBLIC, name, replace(data, sha256=hashlib.sha256(content).hexdigest()))
    return contents


@pytest.fixture
def folder(published: dict[str, bytes], tmp_path: Path) -> Path:
    for file, content in published.items():
        (tmp_path / file).write_bytes(content)
    return tmp_path


# --- names and bins


def test_names() -> None:
    assert registry.names() == ["hepth", "medcost", "nettrace", "hepth-standin", "medcost-standin", "nettrace-standin"]
    assert registry.standin_of("hepth") == registry.standin_of("hepth-standin") == "hepth-standin"
    with pytest.raises(UnknownName, match="did you mean 'hepth'"):
        registry.check_name("heph")


def test_adjacent_bins_are_summed() -> None:
    x = np.arange(4096)
    assert binned(x, 512)[:2].tolist() == [sum(range(8)), sum(range(8, 16))]
    np.testing.assert_array_equal(binned(x, 4096), x)
    assert binned(x, 1).tolist() == [4095 * 2048]
    assert shares(x, 64).sum() == pytest.approx(1.0, rel=1e-15)
    for n in (3, 0, 8192):
        with pytest.raises(BadValue, match="domain_size"):
            binned(x, n)


@pytest.mark.parametrize("name", list(PUBLIC))
def test_standins_have_the_scale_and_the_sparsity(name: str) -> None:
    x = standin(name + "-standin")
    assert (x.sum(), (x > 0).sum(), x.shape, x.min()) == (PUBLIC[name].users, PUBLIC[name].occupied, (4096,), 0)
    np.testing.assert_array_equal(x, standin(name + "-standin"))
    with pytest.raises(BadValue, match="be a stand-in here"):
        standin(name)


def test_standins_have_the_shape() -> None:
    rising, tail, few = (standin(name + "-standin") for name in PUBLIC)
    assert rising[3700:].sum() == 0
    assert 0.6 < rising[2048:].sum() / rising.sum() < 0.9
    assert 0.8 < tail[:256].sum() / tail.sum() < 0.95
    assert tail[2048:].sum() > 0
    assert few[139:].sum() == 0
    assert np.all(np.diff(few) <= 0)


@pytest.mark.skipif(not REAL, reason=f"{files.VARIABLE} names no folder")
@pytest.mark.parametrize("name", list(PUBLIC))
def test_the_real_files_are_what_the_registry_says(name: str) -> None:
    x = files.read(Path(str(REAL)) / PUBLIC[name].file)
    assert (x.sum(), (x > 0).sum()) == (PUBLIC[name].users, PUBLIC[name].occupied)


# --- where the files are


def test_the_folder_is_the_settings_the_environments_or_the_default(tmp_path: Path) -> None:
    variable = {files.VARIABLE: "there"}
    assert files.named_folder(None, tmp_path, {}) is None
    assert files.named_folder(None, tmp_path, variable) == tmp_path / "there"
    assert files.named_folder("here", tmp_path, variable) == tmp_path / "here"
    assert files.named_folder("/abs", tmp_path, {}) == Path("/abs")
    (tmp_path / "data").mkdir()
    assert files.named_folder(None, tmp_path, {}) == tmp_path / "data"


def test_without_a_folder_standins_are_used() -> None:
    assert files.resolved(["hepth", "hepth-standin", "nettrace"], None) == ["hepth-standin", "nettrace-standin"]
    assert files.paths(["hepth"], None) == []
    assert list(files.problems(["hepth"], None)) == []
    np.testing.assert_array_equal(
        files.read_all(["medcost-standin"], [])["medcost-standin"], standin("medcost-standin")
    )


def test_with_a_folder_files_are_read(folder: Path) -> None:
    assert files.resolved(["hepth", "nettrace-standin"], folder) == ["hepth", "nettrace-standin"]
    names = ["nettrace", "hepth-standin", "hepth"]
    wanted = files.paths(names, folder)
    assert [path.name for path in wanted] == ["NETTRACE.n4096.npy", "HEPTH.n4096.npy"]
    found = files.read_all(names, wanted)
    assert list(found) == names
    np.testing.assert_array_equal(found["hepth"], np.arange(4096) % 2)
    with pytest.raises(BadValue, match=r"file of data set medcost = '\(missing\)'.*snakemake data"):
        files.read_all(["medcost"], wanted)


def test_missing_and_wrong_files_are_told(folder: Path) -> None:
    (folder / "HEPTH.n4096.npy").unlink()
    wrong = folder / "MEDCOST.n4096.npy"
    wrong.write_bytes(wrong.read_bytes()[:-1] + b"\1")
    found = [str(problem) for problem in files.problems(["hepth", "medcost", "nettrace"], folder)]
    assert len(found) == 2
    assert "HEPTH.n4096.npy = 'No such file or directory'" in found[0]
    assert "MEDCOST.n4096.npy = 'SHA-256 " in found[1]
    assert all("run 'snakemake data'" in line for line in found)


def test_a_pickle_is_never_loaded(published: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Not even one whose digest is pinned."""

    class Trap:
        def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
            return os.mkdir, (str(tmp_path / "ran"),)

    content = npy(np.array([Trap()], dtype=object), allow_pickle=True)
    data = replace(PUBLIC["hepth"], sha256=hashlib.sha256(content).hexdigest())
    with pytest.raises(ValueError, match="allow_pickle"):
        files.parsed(content, data, "trap")
    assert not (tmp_path / "ran").exists()


def test_a_file_that_is_too_large_is_not_read(folder: Path) -> None:
    path = folder / "HEPTH.n4096.npy"
    path.write_bytes(b"0" * (files.SIZE_LIMIT + 1))
    with pytest.raises(BadValue, match="more than 1048576 bytes"):
        files.read(path)


# --- downloads, from a server on loopback


class Server(http.server.ThreadingHTTPServer):
    """Serves ``answers``: path → (status, announced length or None, bytes, seconds between two halves)."""

    daemon_threads = True

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, int | None, bytes, float]] = {}
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        self.server.asked.append(name)
        status, length, content, pause = self.server.answers.get(name, (404, None, b"no", 0.0))
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the client may have given up
            self.wfile.write(content[: len(content) // 2])
            self.wfile.flush()
            time.sleep(pause)
            self.wfile.write(content[len(content) // 2 :])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(published: dict[str, bytes]) -> Iterator[Server]:
    with Server() as found:
        found.answers = {file: (200, len(content), content, 0.0) for file, content in published.items()}
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def source_of(server: Server) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}/1D/"


def test_files_are_fetched_once(server: Server, published: dict[str, bytes], tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    assert [path.name for path in download(PUBLIC, folder, source_of(server))] == list(published)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == published
    assert server.asked == list(published)
    assert download(PUBLIC, folder, source_of(server)) == []
    assert len(server.asked) == 3
    # A wrong file is replaced.
    (folder / "HEPTH.n4096.npy").write_bytes(b"old")
    assert [path.name for path in download(PUBLIC, folder, source_of(server).rstrip("/"))] == ["HEPTH.n4096.npy"]
    assert (folder / "HEPTH.n4096.npy").read_bytes() == published["HEPTH.n4096.npy"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda good: (200, len(good), good[:-1] + b"\1", 0.0), "SHA-256"),
        (lambda good: (200, len(good), good[: len(good) // 3], 0.0), "HEPTH"),
        (lambda good: (200, None, good[: len(good) // 3], 0.0), "SHA-256"),
        (lambda _: (404, 2, b"no", 0.0), "HTTP 404"),
        (lambda _: (500, 2, b"no", 0.0), "HTTP 500"),
        (lambda good: (200, None, good * 40, 0.0), "more than 1048576 bytes"),
        (lambda good: (200, len(good), good, 1.0), "timed out"),
        (lambda _: (200, 0, b"", 0.0), "0 bytes"),
    ],
    ids=["wrong", "truncated", "truncated, no length", "404", "500", "too large", "stalls", "empty"],
)
def test_what_cannot_be_fetched_leaves_nothing(
    server: Server,
    published: dict[str, bytes],
    tmp_path: Path,
    answer: Callable[[bytes], tuple[int, int | None, bytes, float]],
    message: str,
) -> None:
    server.answers["HEPTH.n4096.npy"] = answer(published["HEPTH.n4096.npy"])
    with pytest.raises(BadValue, match=message):
        download(["hepth"], tmp_path / "data", source_of(server), timeout=0.3)
    assert list(tmp_path.rglob("*")) == []
    # An older file is left as it was.
    old = tmp_path / "data" / "HEPTH.n4096.npy"
    old.parent.mkdir()
    old.write_bytes(b"old")
    with pytest.raises(BadValue, match=message):
        download(["hepth"], tmp_path / "data", source_of(server), timeout=0.3)
    assert [path.read_bytes() for path in old.parent.iterdir()] == [b"old"]


def test_slow_drips_end_at_the_deadline(server: Server, published: dict[str, bytes], tmp_path: Path) -> None:
    content = published["HEPTH.n4096.npy"]
    server.answers["HEPTH.n4096.npy"] = (200, len(content), content, 0.2)
    with pytest.raises(BadValue, match=r"bytes in 0\.1 s"):
        download(["hepth"], tmp_path, source_of(server), deadline=0.1)
    assert list(tmp_path.iterdir()) == []


def test_nobody_there_and_other_schemes(published: dict[str, bytes], tmp_path: Path) -> None:
    with Server() as closed:
        port = closed.server_address[1]
    with pytest.raises(BadValue, match="Connection refused"):
        download(["hepth"], tmp_path, f"http://127.0.0.1:{port}/")
    for source in (tmp_path.as_uri(), "ftp://127.0.0.1/"):
        with pytest.raises(BadValue, match="be an http or https address"):
            download(["hepth"], tmp_path, source)


def test_the_public_source_is_pinned_to_a_commit() -> None:
    assert PUBLIC_SOURCE.startswith("https://")
    assert re.search("/[0-9a-f]{40}/", PUBLIC_SOURCE), "a branch or a tag may change"
    assert PUBLIC_SOURCE.endswith("/dpcomp_core/datafiles/1D/")
