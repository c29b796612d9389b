"""Explicit matrices, and the files that they are read from; one clear line for each bad one."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from factormech.errors import BadValue
from factormech.workloads.matrix import MatrixWorkload, from_file, read, read_here

from .oracles import check_against

W = np.array([[1.0, 0.0, -2.5], [0.1, 1e-30, 3.0]])


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (9, 4), (4, 4)])
def test_matrix_workload(shape):
    M = np.random.default_rng(0).normal(size=shape)
    workload = MatrixWorkload("mine", M)
    check_against(workload, M)
    assert np.array_equal(workload.matrix(), M)


def test_matrix_is_copied():
    M = W.copy()
    workload = MatrixWorkload("mine", M)
    M[0, 0] = 77
    workload.matrix()[0, 0] = 78
    assert np.array_equal(workload.matrix(), W)


def test_small_singular_values_keep_their_digits():
    M = np.vander(np.arange(1.0, 9.0), 8)
    np.testing.assert_allclose(MatrixWorkload("mine", M).singular_values(), np.linalg.svd(M)[1], rtol=1e-12)


def test_a_constant_row_is_gone_after_centring():
    assert np.array_equal(MatrixWorkload("mine", 0.1 * np.ones((1, 7))).centred_singular_values(), np.zeros(7))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.zeros(3), r"matrix = \(3,\): must have two dimensions"),
        (np.zeros((2, 2, 2)), r"matrix = \(2, 2, 2\): must have two dimensions"),
        (np.zeros((0, 3)), r"matrix = \(0, 3\): must have two dimensions, both above 0"),
        (np.zeros((3, 0)), r"matrix = \(3, 0\)"),
        (np.array([[1.0, np.nan]]), "matrix, row 1, column 2 = nan: must be a finite number"),
        (np.array([[1.0], [-np.inf]]), "matrix, row 2, column 1 = -inf: must be a finite number"),
        (np.array([[1e200, 1e101]]), r"column 1 = 1e\+200: .* \(2 such in all\)"),
        (np.array([[1j]]), "complex128.*must hold real numbers"),
        (np.array([["a"]]), "matrix = 'str32': must hold numbers"),
        (np.array([[None]]), "matrix = 'object'"),
        ([[1, 2], [3]], "matrix = .*must be a table of numbers; give every row the same length"),
    ],
)
def test_bad_matrices(bad, message):
    with pytest.raises(BadValue, match=message):
        MatrixWorkload("mine", bad)


def save_csv(path):
    path.write_text("\n".join(",".join(map(repr, row.tolist())) for row in W) + "\n")


def save_csv_of_a_spreadsheet(path):
    path.write_bytes(b"\xef\xbb\xbf" + b"1, 0, -2.5\r\n0.1,1e-30 ,3\r\n\r\n")


SAVERS = {
    "a.csv": save_csv,
    "b.CSV": save_csv_of_a_spreadsheet,
    "c.npy": lambda path: np.save(path, W),
    "d.npy": lambda path: np.save(path, np.asfortranarray(W)),
    "e.mtx": lambda path: scipy.io.mmwrite(path, W),
    "f.mtx": lambda path: scipy.io.mmwrite(path, scipy.sparse.coo_array(W)),
}


@pytest.mark.parametrize("name", SAVERS)
def test_reads_every_type_to_the_last_bit(tmp_path, name):
    SAVERS[name](tmp_path / name)
    workload = from_file(tmp_path / name)
    assert workload.name == name[0]
    assert np.array_equal(workload.matrix(), W)
    assert from_file(str(tmp_path / name), name="mine").name == "mine"


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, bool, np.float16, np.float32, ">f8"])
def test_reads_every_real_type(tmp_path, dtype):
    np.save(tmp_path / "w.npy", np.array([[1, 0], [1, 1]], dtype=dtype))
    found = read(tmp_path / "w.npy")
    assert found.dtype == np.float64
    assert found.tolist() == [[1, 0], [1, 1]]


def test_a_single_number_and_a_single_row(tmp_path):
    (tmp_path / "w.csv").write_text("3")
    assert read(tmp_path / "w.csv").tolist() == [[3.0]]
    (tmp_path / "w.csv").write_text("3,4")
    assert read(tmp_path / "w.csv").tolist() == [[3.0, 4.0]]


def test_hdf5_is_the_stores_business(tmp_path, monkeypatch):
    asked = []

    def read_matrix(path, dataset):
        asked.append((path, dataset))
        return W

    store = types.ModuleType("factormech.store.hdf5")
    store.read_matrix = read_matrix
    monkeypatch.setitem(sys.modules, "factormech.store.hdf5", store)
    for name in ("w.h5", "w.HDF5"):
        (tmp_path / name).write_bytes(b"not looked at here")
        assert np.array_equal(read_here(tmp_path / name, "queries").values, W)
    assert asked == [(tmp_path / "w.h5", "queries"), (tmp_path / "w.HDF5", "queries")]


def as_npy(array, **options):
    return lambda path: np.save(path, array, **options)


def text(content):
    return lambda path: path.write_bytes(content)


def truncated(path):
    np.save(path, np.ones((40, 40)))
    path.write_bytes(path.read_bytes()[:-1000])


def huge_header(path):
    np.save(path, np.ones((40, 40)))
    path.write_bytes(path.read_bytes().replace(b"(40, 40), }      ", b"(40, 400000000)} "))


def npz(path):
    with path.open("wb") as file:
        np.savez(file, a=W)


MTX = b"%%MatrixMarket matrix array "
BAD = {
    "missing": ("w.csv", None, r"w.csv = 'no such file': must be a file; correct the path"),
    "folder": ("w.csv", lambda path: path.mkdir(), r"w.csv = 'a folder': must be a file; correct the path"),
    "suffix": ("w.txt", text(b"1"), r"w.txt: suffix = '.txt': must be one of .csv, .h5, .hdf5, .mtx, .npy, .tsv"),
    "no suffix": ("w", text(b"1"), "suffix = ''"),
    "empty csv": ("w.csv", text(b""), "w.csv = 'nothing': must hold a matrix; write the file again"),
    "blank csv": ("w.csv", text(b"\n \n"), "w.csv = 'no rows': must hold a matrix"),
    "ragged": (
        "w.csv",
        text(b"1,2\n3,4\n5\n"),
        r"w.csv, line 3: cells = 1: must have as many .* line 1, 2;",
    ),
    "ragged long": ("w.csv", text(b"1,2\n3,4,5\n"), "line 2: cells = 3: .* line 1, 2;"),
    "blank line": ("w.csv", text(b"1,2\n\n3,4\n"), "line 2 = 'an empty line': must hold a row"),
    "text cell": ("w.csv", text(b"1,2\n3, four\n"), "w.csv, line 2, column 2 = 'four': must be a number"),
    "header alone": ("w.csv", text(b"age,sex\n"), "line 1 = 'age, sex': must stand above rows"),
    "empty cell": ("w.csv", text(b"1,\n3,4\n"), "line 1, column 2 = '': must be a number"),
    "comment": ("w.csv", text(b"1,2#\n"), "line 1, column 2 = '2#'"),
    "complex cell": ("w.csv", text(b"1,2+1j\n"), r"line 1, column 2 = '2\+1j'"),
    "nan cell": ("w.csv", text(b"1,2\n3,nan\n"), "line 2, column 2 = nan: must be a finite number"),
    "inf cell": ("w.csv", text(b"1,-inf\n"), "line 1, column 2 = -inf: must be a finite number"),
    "overflow": ("w.csv", text(b"1,1e999\n"), "line 1, column 2 = inf"),
    "bars": ("w.csv", text(b"1|2\n3|4\n"), r"line 1, column 1 = '1\|2': must be a number"),
    "binary csv": ("w.csv", text(b"\xff\xfe\x00"), "must be text .a whole CSV file"),
    "nul csv": ("w.csv", text(b"1,\x002\n"), "line 1 = .*must be text"),
    "empty npy": ("w.npy", text(b""), "'nothing': must hold a matrix"),
    "foreign npy": ("w.npy", text(b"1,2\n3,4"), "must be a whole NumPy .npy file"),
    "truncated npy": ("w.npy", truncated, "must be a whole NumPy .npy file; write the file again"),
    "half a header": ("w.npy", text(b"\x93NUMPY\x01\x00v\x00{'descr"), "must be a whole NumPy .npy file"),
    "promising header": ("w.npy", huge_header, "must be a whole NumPy .npy file"),
    "pickle": ("w.npy", as_npy(np.array([[print]]), allow_pickle=True), "must be a whole NumPy .npy file"),
    "npz": ("w.npy", npz, "must hold one array; save it with numpy.save"),
    "complex npy": ("w.npy", as_npy(W * 1j), "complex128.*must hold real numbers"),
    "text npy": ("w.npy", as_npy(np.array([["a"]])), "must hold numbers"),
    "1-d": ("w.npy", as_npy(np.ones(3)), r"w.npy = \(3,\): must have two dimensions"),
    "3-d": ("w.npy", as_npy(np.ones((1, 2, 3))), r"\(1, 2, 3\): must have two dimensions"),
    "no rows": ("w.npy", as_npy(np.ones((0, 3))), r"\(0, 3\)"),
    "no columns": ("w.npy", as_npy(np.ones((3, 0))), r"\(3, 0\)"),
    "nan npy": ("w.npy", as_npy(np.array([[0, np.nan]])), "w.npy, row 1, column 2 = nan"),
    "empty mtx": ("w.mtx", text(b""), "'nothing': must hold a matrix"),
    "foreign mtx": ("w.mtx", text(b"1 2\n3 4\n"), "must be a whole Matrix Market file"),
    "truncated mtx": (
        "w.mtx",
        text(MTX + b"real general\n2 2\n1\n2\n3\n"),
        "must be a whole Matrix Market file",
    ),
    "words in mtx": ("w.mtx", text(MTX + b"real general\n1 1\none\n"), "must be a whole Matrix Market file"),
    "complex mtx": ("w.mtx", text(MTX + b"complex general\n1 1\n1 2\n"), "'complex': must hold real numbers"),
    "nan mtx": ("w.mtx", text(MTX + b"real general\n1 1\nnan\n"), "row 1, column 1 = nan"),
    "no rows mtx": ("w.mtx", text(MTX + b"real general\n0 3\n"), r"w.mtx = \(0, 3\)"),
    "huge mtx": (
        "w.mtx",
        text(b"%%MatrixMarket matrix coordinate real general\n9999999 9999999 1\n1 1 1\n"),
        "must fit in 4 GiB",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_get_one_clear_line(tmp_path, case):
    name, make, message = BAD[case]
    if make is not None:
        make(tmp_path / name)
    with pytest.raises(BadValue, match=message) as caught:
        from_file(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize("length", range(0, 208, 3))
def test_every_truncation_of_an_npy_is_refused(tmp_path, length):
    np.save(tmp_path / "w.npy", np.ones((3, 4)))
    whole = (tmp_path / "w.npy").read_bytes()
    assert len(whole) == 224
    (tmp_path / "w.npy").write_bytes(whole[:length])
    with pytest.raises(BadValue):
        read(tmp_path / "w.npy")


def test_dataset_is_for_hdf5_only(tmp_path):
    save_csv(tmp_path / "w.csv")
    with pytest.raises(BadValue, match="dataset = 'queries': must be left out for a file that is not HDF5"):
        from_file(tmp_path / "w.csv", "queries")


def test_unreadable_file(tmp_path, monkeypatch):
    save_csv(tmp_path / "w.csv")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    with pytest.raises(BadValue, match=r"w.csv = .*Permission denied.*: must be readable"):
        read(tmp_path / "w.csv")
