from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import factormech
from factormech.errors import BadValue, UnknownName
from factormech.store import atomic, content, hdf5

pytestmark = pytest.mark.heavy

FRAME = pd.DataFrame(
    {
        "mechanism": ["hadamard", None, "ε"],
        "users": [1, -2, 3],
        "error": [0.1, np.nan, -0.0],
        "ok": [True, False, True],
    }
)


def write_example(path: Path, **attributes: object) -> None:
    datasets = {
        "strategy": np.arange(6.0).reshape(2, 3),
        "labels": np.array(["a", "über", ""]),
        "points": FRAME,
    }
    hdf5.write(path, "measurement", datasets=datasets, attributes={"epsilon": 1.0, **attributes})


def equal(left: object, right: object) -> bool:
    """Equality to the bit: NaN is itself, and −0.0 is not 0.0."""
    if isinstance(left, dict):
        return isinstance(right, dict) and left.keys() == right.keys() and all(equal(left[k], right[k]) for k in left)
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, pd.DataFrame):
        same = isinstance(right, pd.DataFrame) and list(left) == list(right)
        return same and all(equal(left[c].to_numpy(), right[c].to_numpy()) for c in left)
    if isinstance(left, np.ndarray):
        same = isinstance(right, np.ndarray) and (left.dtype, left.shape) == (right.dtype, right.shape)
        return same and (
            left.tolist() == right.tolist() if left.dtype.kind in "OUT" else left.tobytes() == right.tobytes()
        )
    return type(left) is type(right) and repr(left) == repr(right)


# --- round trip

NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
    lambda name: name not in (".", "..")
)
NUMBERS = st.sampled_from(["<f8", "<f4", "<f2", "<i8", "<u8", "<i2", "|u1", "|b1", "<c16"])
ARRAYS = arrays.arrays(NUMBERS, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)
TEXT_ARRAYS = st.lists(TEXTS, max_size=4).map(lambda texts: np.array(texts, dtype=str))
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
ATTRIBUTES = st.recursive(
    PLAIN, lambda x: st.lists(x, max_size=4) | st.dictionaries(st.text(max_size=4), x, max_size=3)
)


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    rows = draw(st.integers(0, 4))
    kinds = (TEXTS, st.integers(-(2**63), 2**63 - 1), st.floats(), st.booleans())
    types = ("str", "int64", "float64", "bool")
    columns = draw(st.dictionaries(NAMES, st.integers(0, 3), min_size=1, max_size=4))
    return pd.DataFrame(
        {
            name: pd.Series(draw(st.lists(kinds[k], min_size=rows, max_size=rows)), dtype=types[k])
            for name, k in columns.items()
        }
    )


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    datasets=st.dictionaries(NAMES, ARRAYS | TEXT_ARRAYS | frames(), max_size=4),
    attributes=st.dictionaries(NAMES.filter(lambda n: n not in hdf5._OWN), ATTRIBUTES, max_size=5),
)
def test_round_trip(tmp_path: Path, datasets: dict, attributes: dict) -> None:
    hdf5.write(tmp_path / "x.h5", "anything", datasets=datasets, attributes=attributes)
    record = hdf5.read(tmp_path / "x.h5", "anything")
    assert record.datasets.keys() == datasets.keys()
    for name, value in datasets.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "U":
            assert record[name].dtype.kind == "U"  # the width is that of the longest text
            assert record[name].tolist() == value.tolist()
        else:
            assert equal(record[name], value), name
    assert equal(record.attributes, attributes)


def test_table_normal_forms(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "b": pd.Series(["x", None, pd.NA], dtype=object),
            "a": np.array([1, 2, 3], dtype=np.uint8),
            "c": np.array([1, 2, 3], dtype=np.float32),
            "d": pd.Series([1.5, None, 2.0], dtype="Float64"),
            "e": pd.Categorical(["u", "v", "u"]),
        }
    )
    hdf5.write(tmp_path / "t.h5", "table", datasets={"t": frame}, attributes={})
    back = factormech.load(tmp_path / "t.h5")
    assert list(back) == ["b", "a", "c", "d", "e"]
    assert back["b"].tolist() == ["x", "", ""]
    assert [str(back[c].dtype) for c in "acd"] == ["int64", "float64", "float64"]
    assert np.isnan(back["d"][1])
    assert back["e"].tolist() == ["u", "v", "u"]


def test_tuples_and_numpy_values_become_plain(tmp_path: Path) -> None:
    given = {"shape": (2, 3), "gap": np.float64(1e-9), "sizes": np.array([8, 16]), "ok": np.bool_(True)}
    hdf5.write(tmp_path / "x.h5", "k", datasets={}, attributes=given)
    want = {"shape": [2, 3], "gap": 1e-9, "sizes": [8, 16], "ok": True}
    assert equal(hdf5.read(tmp_path / "x.h5").attributes, dict(sorted(want.items())))


def test_large_arrays_are_compressed_with_a_checksum(tmp_path: Path) -> None:
    large = np.random.default_rng(0).integers(0, 9, size=(512, 512)).astype(float)
    hdf5.write(tmp_path / "x.h5", "k", datasets={"large": large, "small": large[:2, :2]}, attributes={})
    with h5py.File(tmp_path / "x.h5") as file:
        found = file["large"]
        assert (found.compression, found.compression_opts, found.shuffle, found.fletcher32) == (
            "gzip",
            1,
            True,
            True,
        )
        assert file["small"].chunks is None
    assert equal(hdf5.read(tmp_path / "x.h5")["large"], large)
    assert os.path.getsize(tmp_path / "x.h5") < large.nbytes / 4


def test_plain_h5py_understands_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    write_example(tmp_path / "x.h5", solver={"gap": 1e-9, "stopped": "gap"}, sizes=[8, 16], note=None)
    with h5py.File(tmp_path / "x.h5") as file:
        assert file["strategy"][1, 2] == 5.0
        assert file["points"]["mechanism"].asstr()[...].tolist() == ["hadamard", "", "ε"]
        assert list(file["points"].attrs["columns"]) == ["mechanism", "users", "error", "ok"]
        assert file.attrs["kind"] == "measurement"
        assert file.attrs["format_version"] == hdf5.FORMAT_VERSION
        assert file.attrs["package_version"] == factormech.__version__
        assert file.attrs["numpy_version"] == np.__version__
        assert file.attrs["h5py_version"] == h5py.__version__
        assert file.attrs["blas_threads"] == 3
        assert file.attrs["blas_kernels"]
        assert file.attrs["sizes"].tolist() == [8, 16]
        assert file.attrs["solver"] == '{"gap": 1e-09, "stopped": "gap"}'
        assert file.attrs["note"] == "null"
        assert list(file.attrs["json_attributes"]) == ["note", "solver"]


@pytest.mark.parametrize(
    ("openblas", "openmp", "want"),
    [
        ("2", "4", 2),
        (None, "4", 4),
        (None, "4,2", 4),
        ("0", None, None),
        (None, "many", None),
        (None, None, None),
    ],
)
def test_blas_threads(
    monkeypatch: pytest.MonkeyPatch, openblas: str | None, openmp: str | None, want: int | None
) -> None:
    from factormech.store import hdf5

    for name, value in (("OPENBLAS_NUM_THREADS", openblas), ("OMP_NUM_THREADS", openmp)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    assert hdf5.blas_threads() == (want or hdf5.THREADS_NOT_SET)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the two kinds are of x86-64")
@pytest.mark.parametrize("kind", ["Haswell", "Nehalem"])
def test_blas_kernels(kind: str) -> None:
    """Of the processor that the library was told to make its products for."""
    from factormech.store import hdf5

    if hdf5.blas_kernels() == hdf5.KERNELS_NOT_TOLD:
        pytest.skip("NumPy has another BLAS here")
    code = "from factormech.store.hdf5 import blas_kernels; print(blas_kernels())"
    told = os.environ | {"OPENBLAS_CORETYPE": kind}
    said = subprocess.run([sys.executable, "-c", code], env=told, capture_output=True, text=True, check=True).stdout
    assert said.strip() == kind


# --- equal inputs, equal files


def test_equal_inputs_give_equal_bytes_in_every_process(tmp_path: Path) -> None:
    code = """
        import sys
        sys.path[:0] = sys.argv[2:]
        import numpy as np, pandas as pd
        from factormech.store import hdf5 as store
        table = pd.DataFrame({"s": ["x", "y"], "f": [1.5, float("nan")]})
        big = np.random.default_rng(0).normal(size=(400, 500))
        store.write(sys.argv[1], "k", datasets={"big": big, "t": table}, attributes={"a": {"z": [None]}})
    """
    source = str(Path(factormech.__file__).parents[1])
    for seed in ("1", "2"):
        target = str(tmp_path / f"{seed}.h5")
        command = [sys.executable, "-c", textwrap.dedent(code), target, source]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": seed})
    assert (tmp_path / "1.h5").read_bytes() == (tmp_path / "2.h5").read_bytes()


def test_digest_is_of_the_content_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def content_digest(datasets: dict, attributes: dict, kind: str = "k") -> str:
        hdf5.write(tmp_path / "x.h5", kind, datasets=datasets, attributes=attributes)
        return hdf5.read(tmp_path / "x.h5").provenance["content_digest"]

    a, b = np.arange(6.0), np.arange(3)
    base = content_digest({"a": a, "b": b}, {"x": 1, "y": 2})
    assert content_digest({"b": b, "a": a}, {"y": 2, "x": 1}) == base
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    assert content_digest({"b": b, "a": a}, {"y": 2, "x": 1}) == base
    others = [
        content_digest({"a": a, "b": b}, {"x": 1.0, "y": 2}),
        content_digest({"a": a, "b": b}, {"x": True, "y": 2}),
        content_digest({"a": a, "b": b}, {"x": "1", "y": 2}),
        content_digest({"a": a.reshape(2, 3), "b": b}, {"x": 1, "y": 2}),
        content_digest({"a": a, "b": b.astype(np.int32)}, {"x": 1, "y": 2}),
        content_digest({"b": a, "a": b}, {"x": 1, "y": 2}),
        content_digest({"a": -a, "b": b}, {"x": 1, "y": 2}),  # differs in the sign of a zero as well
        content_digest({"a": a, "b": b}, {"x": 1, "y": 2}, kind="l"),
    ]
    assert len({base, *others}) == 1 + len(others)


# --- whole or not at all


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: type[BaseException]
) -> None:
    path = tmp_path / "x.h5"
    write_example(path)
    old = path.read_bytes()

    def fail(*_: object) -> None:
        raise failure

    for place, name in ((content, "stamp"), (os, "fsync")):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, fail)
            with pytest.raises(failure):
                write_example(path, changed=True)
        assert [p.name for p in tmp_path.iterdir()] == ["x.h5"]
        assert path.read_bytes() == old


def test_killed_while_writing(tmp_path: Path) -> None:
    """SIGKILL after the HDF5 file is complete but before the rename, and in the middle of the datasets."""
    path = tmp_path / "x.h5"
    code = """
        import sys, time
        sys.path[:0] = sys.argv[3:]
        import numpy as np
        from factormech.store import content as _seal, atomic, hdf5 as store
        def wait(*_):
            print("ready", flush=True)
            time.sleep(60)
        if sys.argv[2] == "middle":
            put, calls = store._put, []
            store._put = lambda *a: wait() if len(calls) else (calls.append(1), put(*a))
        else:
            atomic.os.fsync = wait
        store.write(sys.argv[1], "k", datasets={"a": np.ones(300_000), "b": np.ones(9)}, attributes={})
    """
    source = str(Path(factormech.__file__).parents[1])
    for old in (None, b"old content"):
        for moment in ("middle", "end"):
            if old is not None:
                path.write_bytes(old)
            command = [sys.executable, "-c", textwrap.dedent(code), str(path), moment, source]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
                assert child.stdout is not None
                assert child.stdout.readline() == b"ready\n"
                os.kill(child.pid, signal.SIGKILL)
            assert (path.read_bytes() if path.exists() else None) == old
            left = [p for p in tmp_path.iterdir() if p != path]
            assert left  # the kill came in time: the unfinished file is there …
            assert all(p.name.startswith(".") and p.suffix == ".tmp" for p in left)  # … under no name of ours
            for p in left:
                p.unlink()


def test_replacing_refuses_a_folder(tmp_path: Path) -> None:
    with pytest.raises(BadValue, match="not a folder"), atomic.replacing(tmp_path):
        pass


def test_parent_folders_are_made(tmp_path: Path) -> None:
    write_example(tmp_path / "a" / "b" / "x.h5")
    assert hdf5.read(tmp_path / "a" / "b" / "x.h5").kind == "measurement"


# --- damage


def unsaid(path: Path, *words: str, **arguments: object) -> list[str]:
    """Which words are not in the one line with which the file is refused, after its path."""
    with pytest.raises(hdf5.DamagedFile) as caught:
        hdf5.read(path, **arguments)  # type: ignore[arg-type]
    message = str(caught.value)
    path_first, one_line = message.startswith(str(path)), "\n" not in message
    return [word for word in (*words, "must") if word not in message or not (path_first and one_line)]


def test_attributes_alone_are_those_of_the_whole(tmp_path: Path) -> None:
    """They are of a file of the right kind and of the bytes that were sealed."""
    path = tmp_path / "x.h5"
    write_example(path, options={"rows": [1, 2]}, seed=None)
    assert equal(hdf5.read_attributes(path), hdf5.read(path).attributes)
    assert equal(hdf5.read_attributes(path, "measurement"), hdf5.read(path, "measurement").attributes)
    with pytest.raises(BadValue, match="must be a file of kind 'strategy'"):
        hdf5.read_attributes(path, "strategy")
    whole = path.read_bytes()
    for place in range(0, len(whole), 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(BadValue):
            hdf5.read_attributes(path)


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    path, short = tmp_path / "x.h5", tmp_path / "short.h5"
    write_example(path)
    whole = path.read_bytes()
    short.write_bytes(whole)
    for length in range(len(whole) - 1, -1, -1):
        os.truncate(short, length)
        with pytest.raises(hdf5.DamagedFile):
            hdf5.read(short)
    short.write_bytes(whole + b"\0")
    assert unsaid(short, "checksum") == []
    short.write_bytes(whole[: len(whole) // 2])
    assert unsaid(short, "truncated", f"of {len(whole)} bytes", "delete it and run the workflow again") == []


def test_bit_flips_are_refused(tmp_path: Path) -> None:
    path, flipped = tmp_path / "x.h5", tmp_path / "flipped.h5"
    write_example(path, solver={"gap": 1e-9})
    whole = path.read_bytes()
    rng = np.random.default_rng(20)
    # 200 anywhere, and one in every byte of the seal's text, whose own damage must not pass either.
    text_bits = 8 * len(whole[: content.SEAL_BYTES].rstrip(b"\0"))
    for bit in [*rng.integers(0, 8 * len(whole), size=200), *range(0, text_bits, 9)]:
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << (bit % 8)
        flipped.write_bytes(damaged)
        with pytest.raises(hdf5.DamagedFile):
            hdf5.read(flipped)


def test_the_content_digest_is_a_second_check(tmp_path: Path) -> None:
    """Whoever edits a file and even renews the seal is found out."""
    path = tmp_path / "x.h5"
    edits = [
        lambda file: file["strategy"].__setitem__((0, 0), 7.0),
        lambda file: file.attrs.__setitem__("epsilon", 2.0),
        lambda file: file.__delitem__("labels"),
        lambda file: file.__setitem__("extra", [1.0]),
        lambda file: file["points"].__delitem__("users"),
        lambda file: file.attrs.__setitem__("json_attributes", np.array(["epsilon"], dtype=object)),
        lambda file: file.attrs.__delitem__("json_attributes"),
    ]
    for edit in edits:
        write_example(path)
        with h5py.File(path, "r+") as file:
            edit(file)
        assert unsaid(path, "checksum") == []
        content.stamp(path)
        assert unsaid(path, "must") == []


def test_foreign_files(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    assert unsaid(path, "no such file", "run the workflow") == []
    assert unsaid(tmp_path, "folder") == []
    path.write_bytes(b"")
    assert unsaid(path, "empty file", "delete it and run the workflow again") == []
    path.write_text("study,error\na,1\n")
    assert unsaid(path, "text, not HDF5", "delete it and run the workflow again") == []
    path.write_bytes(bytes(range(128, 256)) * 9)
    assert unsaid(path, "binary data, not HDF5") == []
    with h5py.File(path, "w") as file:
        file["a"] = [1.0]
    assert unsaid(path, "someone else", "factormech") == []
    with h5py.File(path, "w", userblock_size=512) as file:
        file["a"] = [1.0]
    assert unsaid(path, "someone else", "factormech") == []
    content.stamp(path)
    assert unsaid(path, "no factormech attributes") == []


def test_other_kind_version_and_missing_datasets(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    write_example(path)
    assert unsaid(path, "kind measurement", "'strategy'", "delete it and run the workflow again", kind="strategy") == []
    assert unsaid(path, "labels, points, strategy", "'gram'", "delete it", needs=["strategy", "gram"]) == []
    with pytest.raises(hdf5.DamagedFile, match="have a dataset 'gram'"):
        hdf5.read(path)["gram"]
    with h5py.File(path, "r+") as file:
        file.attrs["format_version"] = hdf5.FORMAT_VERSION + 1
    content.stamp(path)
    assert unsaid(path, "format version 2", "update factormech") == []


def test_no_right_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_example(tmp_path / "x.h5")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # root, who may run this, is denied nothing
    assert unsaid(tmp_path / "x.h5", "Permission denied", "be readable") == []


# --- what may not be written


@pytest.mark.parametrize(
    ("datasets", "attributes", "words"),
    [
        ({"a/b": [1.0]}, {}, "'a/b': must be a text without '/'"),
        ({"": [1.0]}, {}, "without '/'"),
        ({"a": [object()]}, {}, "'object': must hold numbers"),
        ({"a": [[1.0], [2.0, 3.0]]}, {}, "rectangular"),
        ({"a": np.array(["x\ud800"])}, {}, "UTF-8"),
        ({"a": np.zeros(2, dtype=np.longdouble)}, {}, "astype"),
        ({"a": np.array(["2020"], dtype="datetime64[Y]")}, {}, "astype"),
        ({"t": pd.DataFrame()}, {}, "at least one column"),
        ({"t": pd.DataFrame([[1, 2]], columns=["a", "a"])}, {}, "two of one name"),
        ({"t": pd.DataFrame({"a": [1, 2]})[1:]}, {}, "reset_index"),
        ({"t": pd.DataFrame({"a": ["x", 1]})}, {}, "texts only"),
        ({"t": pd.DataFrame({"a": ["x\0y"]})}, {}, "zero characters"),
        ({"t": pd.DataFrame({"a": pd.Series([1, None], dtype="Int64")})}, {}, "float column"),
        ({"t": pd.DataFrame({"a": np.array([2**64 - 1], dtype=np.uint64)})}, {}, "64 bits"),
        ({"t": pd.DataFrame({1: [1]})}, {}, "column of table 't'"),
        ({}, {"kind": "x"}, "leave these names to the store"),
        ({}, {"a": {1: 2}}, "texts as keys"),
        ({}, {"a": 1j}, "convert it"),
        ({}, {"a": Path("x")}, "convert it"),
    ],
)
def test_what_may_not_be_written(tmp_path: Path, datasets: dict, attributes: dict, words: str) -> None:
    with pytest.raises(BadValue) as caught:
        hdf5.write(tmp_path / "x.h5", "k", datasets=datasets, attributes=attributes)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


# --- load and read_matrix


def test_load(tmp_path: Path) -> None:
    write_example(tmp_path / "x.h5")
    assert set(factormech.load(tmp_path / "x.h5")) == {"labels", "points", "strategy"}
    hdf5.write(tmp_path / "t.h5", "table", datasets={"points": FRAME}, attributes={})
    assert equal(factormech.load(tmp_path / "t.h5"), FRAME.fillna({"mechanism": ""}))
    hdf5.write(tmp_path / "a.h5", "k", datasets={"a": [1.0]}, attributes={})
    assert factormech.load(str(tmp_path / "a.h5"))["a"].tolist() == [1.0]


def test_load_csv(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("mechanism,error,reason\nNA,0.1,\nx,,too large\n")
    frame = factormech.load(path)
    assert frame["mechanism"].tolist() == ["NA", "x"]
    assert frame["reason"].tolist() == ["", "too large"]
    assert frame["error"][0] == 0.1
    assert np.isnan(frame["error"][1])
    for text in (b"", b"a,b\n1,2,3\n1,2,3,4\n", b"\xff\xfe\x00x"):
        path.write_bytes(text)
        with pytest.raises(hdf5.DamagedFile, match="delete it and run the workflow again"):
            factormech.load(path)
    with pytest.raises(hdf5.DamagedFile, match="No such file"):
        factormech.load(tmp_path / "none.csv")


def test_reading_arrays_does_not_import_pandas(tmp_path: Path) -> None:
    hdf5.write(tmp_path / "x.h5", "k", datasets={"a": [1.0]}, attributes={})
    code = "import sys; sys.path[:0] = sys.argv[2:]\n"
    code += "import factormech; factormech.load(sys.argv[1])\n"
    code += "sys.exit(bool({'pandas', 'scipy', 'matplotlib'} & set(sys.modules)))"
    source = str(Path(factormech.__file__).parents[1])
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path / "x.h5"), source]).returncode == 0


def test_read_matrix(tmp_path: Path) -> None:
    path = tmp_path / "mine.h5"
    with h5py.File(path, "w") as file:
        file["queries"] = np.array([[1, 0], [0, 2]], dtype=np.int32)
        file["notes"] = "hello"
        file["vector"] = [1.0, 2.0]
    W = hdf5.read_matrix(path)
    assert W.dtype == np.float64
    assert W.tolist() == [[1.0, 0.0], [0.0, 2.0]]
    assert hdf5.read_matrix(path, "/queries").tolist() == W.tolist()
    with pytest.raises(BadValue, match=r"be a matrix .2-D. of numbers; .*queries int32 \(2, 2\)"):
        hdf5.read_matrix(path, "vector")
    with pytest.raises(BadValue, match="be a matrix"):
        hdf5.read_matrix(path, "notes")
    with pytest.raises(UnknownName, match=r"did you mean 'queries'.*known: notes, queries, vector"):
        hdf5.read_matrix(path, "querie")
    with h5py.File(path, "a") as file:
        file["group/other"] = np.eye(2)
    with pytest.raises(BadValue, match=r"2 matrices.*name one as 'dataset'.*group/other float64"):
        hdf5.read_matrix(path)
    assert hdf5.read_matrix(path, "group/other").tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_read_matrix_of_a_result_file(tmp_path: Path) -> None:
    write_example(tmp_path / "x.h5")
    assert hdf5.read_matrix(tmp_path / "x.h5").shape == (2, 3)


def test_read_matrix_refuses_what_is_no_matrix(tmp_path: Path) -> None:
    path = tmp_path / "mine.h5"
    with pytest.raises(BadValue, match=r"No such file.*check the path"):
        hdf5.read_matrix(path)
    path.write_text("1,2\n3,4\n")
    with pytest.raises(BadValue, match=r"not HDF5.*CSV"):
        hdf5.read_matrix(path)
    with pytest.raises(BadValue, match="directory"):
        hdf5.read_matrix(tmp_path)
    with h5py.File(path, "w") as file:
        file["a"] = np.eye(200)
    os.truncate(path, 3000)
    with pytest.raises(BadValue, match=r"damaged HDF5.*write it again"):
        hdf5.read_matrix(path)
    with h5py.File(path, "w") as file:
        file.create_dataset("a", shape=(2**20, 2**20), dtype="f8", chunks=(1024, 1024))
    with pytest.raises(BadValue, match="fit in"):
        hdf5.read_matrix(path)
    with h5py.File(path, "w"):
        pass
    with pytest.raises(BadValue, match=r"0 matrices.*none"):
        hdf5.read_matrix(path)
