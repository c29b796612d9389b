"""A crash, a hang or a bomb of a reader is one line, and the process that asked goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io

from factormech.errors import BadValue
from factormech.workloads import apart, matrix

pytestmark = pytest.mark.heavy

W = np.array([[1.0, 0.0, -2.5], [0.1, 1e-30, 3.0]])


def stand_in(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Have another program run in the place of Python: it gets the arguments of Python."""
    monkeypatch.setattr(apart.sys, "executable", program)


def program(folder: Path, text: str) -> str:
    path = folder / "program"
    path.write_text(f"#!{sys.executable}\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("name", ["w.mtx", "w.h5"])
def test_the_numbers_are_those_that_are_read_here(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("h5"):
        with h5py.File(path, "w") as file:
            file["q"], file["other"] = W, np.ones((2, 2))
    else:
        scipy.io.mmwrite(path, W)
    dataset = "q" if name.endswith("h5") else None
    assert matrix.read(path, dataset).tobytes() == matrix.read_here(path, dataset).values.tobytes() == W.tobytes()


def test_a_csv_file_is_worth_a_process_if_it_is_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "w.csv"
    np.savetxt(path, W, delimiter=",")
    assert not apart.needs_a_process(path, path.stat().st_size)
    assert apart.needs_a_process(path, 2**25 + 1)
    monkeypatch.setattr(matrix, "needs_a_process", lambda *_: True)
    assert matrix.read(path).tobytes() == W.tobytes()


def test_words_are_those_that_are_said_here(tmp_path: Path) -> None:
    path = tmp_path / "w.mtx"
    path.write_text("%%MatrixMarket matrix array real general\n2 2\n1\n2\nx\n4\n")
    with pytest.raises(BadValue) as here:
        matrix.read_here(path)
    with pytest.raises(BadValue) as there:
        matrix.read(path)
    assert str(here.value) == str(there.value)


def test_a_crash_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The C++ reader of SciPy ends the process on a NUL after the last number; and any other reader that crashes."""
    path = tmp_path / "w.mtx"
    path.write_bytes(b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\0")
    with pytest.raises(BadValue, match=r"w\.mtx"):
        matrix.read(path)
    stand_in(monkeypatch, program(tmp_path, f"import os; os.kill(os.getpid(), {signal.SIGSEGV:d})"))
    with pytest.raises(BadValue, match=r"a crash of its reader \(SIGSEGV\)"):
        matrix.read(path)


@pytest.mark.parametrize("answer", ["", "no json", '{"shape": [2, 2]}\\nabc', "[" * 5000])
def test_half_an_answer_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    path = tmp_path / "w.mtx"
    path.write_text("anything")
    stand_in(monkeypatch, program(tmp_path, f"print('{answer}')"))
    with pytest.raises(BadValue, match="no answer of its reader"):
        matrix.read(path)


@pytest.mark.slow
def test_a_hang_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "w.mtx"
    path.write_text("anything")
    monkeypatch.setattr(apart, "_SECONDS", 1)
    monkeypatch.setattr(apart, "_WAITING", 1)
    stand_in(monkeypatch, program(tmp_path, "import time; time.sleep(60)"))
    start, threads = time.monotonic(), threading.active_count()
    with pytest.raises(BadValue, match="no end"):
        matrix.read(path)
    assert time.monotonic() - start < 30
    assert threading.active_count() <= threads + 1  # the timer may still be ending


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        ("open('x', 'wb').write(bytes(10**6)); print('written')", "File too large"),
        ("bytearray(2**40); print('taken')", "MemoryError"),
        ("while True: pass", ""),
    ],
)
def test_limits_hold(tmp_path: Path, attempt: str, words: str) -> None:
    """In a process with the limits of a reader, no file grows, and memory and time end."""
    code = f"from factormech.workloads.apart import _limit; _limit(1)\n{attempt}"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == (-signal.SIGXCPU if "while" in attempt else 1)
    assert done.stdout == ""
    assert words in done.stderr


def test_hdf5_reads_no_other_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"\1\2\3\4")
    with h5py.File(tmp_path / "external.h5", "w") as file:
        file.create_dataset("q", shape=(2, 2), dtype="u1", external=[(str(secret), 0, 4)])
    layout = h5py.VirtualLayout((2, 2), "f8")
    layout[:] = h5py.VirtualSource("nothing.h5", "q", (2, 2))
    with h5py.File(tmp_path / "virtual.h5", "w") as file:
        file.create_virtual_dataset("q", layout, fillvalue=7)
    with h5py.File(tmp_path / "link.h5", "w") as file:
        file["q"] = h5py.ExternalLink("external.h5", "q")
    for name, words in {"external": "external storage", "virtual": "virtual storage", "link": "0 matrices"}.items():
        with pytest.raises(BadValue, match=words):
            matrix.read(tmp_path / f"{name}.h5")


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "w.csv")
    with pytest.raises(BadValue, match="no regular file"):
        matrix.read(tmp_path / "w.csv")


@pytest.mark.parametrize("letter", ["\f", "\v", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_ends_of_lines_end_a_line(tmp_path: Path, letter: str) -> None:
    (tmp_path / "w.csv").write_text(f"1,2{letter}3,4\n", encoding="utf-8")
    with pytest.raises(BadValue, match="line 1"):
        matrix.read(tmp_path / "w.csv")


def test_numbers_whose_squares_are_nothing(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("1e-200,0\n0,1e-200\n")
    with pytest.raises(BadValue, match="largest entry = 1e-200"):
        matrix.read(tmp_path / "w.csv")
    (tmp_path / "w.csv").write_text("0,0\n")
    assert not matrix.read(tmp_path / "w.csv").any()
