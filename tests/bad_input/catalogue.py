"""Bad configurations and files, each with words that its answer has: what users write by mistake, and what enemies do.

A configuration is the good one with other settings: keys are dotted, and ``...`` leaves one out. A file is the matrix
of a user's own workload, written by a function of its path. The command lines are in :mod:`tests.cli.test_refusals`.
"""

from __future__ import annotations

import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

GOOD: dict[str, Any] = {
    "seed": 0,
    "workloads": {"mine": {"file": "mine.csv"}},
    "studies": {
        "one": {
            "paper": "mckenna2020",
            "artefact": "Figure 1",
            "kind": "sample-complexity",
            "title": "One",
            "grid": {"workload": ["prefix"], "domain_size": [8], "epsilon": [1.0]},
            "mechanisms": ["hadamard"],
        },
        "two": {
            "paper": "edmonds2020",
            "artefact": "Theorem 1",
            "kind": "norms",
            "title": "Two",
            "grid": {"workload": ["histogram"], "domain_size": [8]},
            "norms": ["gamma-2"],
        },
        "three": {
            "paper": "edmonds2023",
            "artefact": "Theorem 54",
            "kind": "pan-private",
            "title": "Three",
            "grid": {"concept_class": ["parities"], "class_size": [2], "epsilon": [0.5]},
        },
    },
}

ONE, TWO, THREE = "studies.one.", "studies.two.", "studies.three."
MINE = "workloads.mine"
# Settings that are changed, and words of the answer: the key and value first.
SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "two axes for one figure": (
        {f"{ONE}grid.domain_size": [8, 16], f"{ONE}grid.epsilon": [0.5, 1.0]},
        "studies.one.grid.epsilon = [0.5, 1.0]: must have one value here, where domain sizes vary",
    ),
    "a path out of the project": ({f"{MINE}.file": "../secret.csv"}, "workloads.mine.file = '../secret.csv'"),
    "a way out and elsewhere in": ({f"{MINE}.file": "x/../../etc/passwd"}, "stay inside the folder of the project"),
    "data out of the project": ({"data": "../elsewhere"}, "data = '../elsewhere'"),
    "data far out": ({"data": "data/../../../.."}, "stay inside the folder of the project"),
    "a path with a zero": ({f"{MINE}.file": "mine\0.csv"}, "workloads.mine.file = 'mine\\x00.csv'"),
    "a path of two lines": ({f"{MINE}.file": "mine\n.csv"}, "workloads.mine.file"),
    "a path of 5000 letters": ({f"{MINE}.file": "m" * 5000}, "workloads.mine.file"),
    "a device for a file": ({f"{MINE}.file": "/dev/zero"}, "workloads.mine.file = '/dev/zero'"),
    "a folder for a file": ({f"{MINE}.file": "."}, "workloads.mine.file = '.'"),
    "an address for a file": ({f"{MINE}.file": "https://example.org/q.csv"}, "workloads.mine.file"),
    "a data source of the disk": ({"data_source": "file:///etc/passwd"}, "data_source = 'file:///etc/passwd'"),
    "a built-in name": ({"workloads.prefix": {"file": "mine.csv"}}, "name in workloads = 'prefix'"),
    "a definition of no shape": ({MINE: {"matrix": "mine.csv"}}, "workloads.mine"),
    "a definition of two shapes": ({MINE: {"file": "mine.csv", "union": [{"workload": "prefix"}]}}, "workloads.mine"),
    "a union of nothing": ({MINE: {"union": []}}, "workloads.mine.union = []"),
    "a union of itself": ({MINE: {"union": [{"workload": "mine"}]}}, "not be made from itself"),
    "a part that is not there": ({MINE: {"kronecker": [{"workload": "prefixx"}]}}, "did you mean 'prefix'"),
    "a weight of nothing": ({MINE: {"union": [{"workload": "prefix", "weight": "x"}]}}, "weight = 'x'"),
    "a study that goes up": ({"studies.../one": GOOD["studies"]["one"]}, "name in studies"),
    "a study with a blank": ({"studies.a b": GOOD["studies"]["one"]}, "name in studies = 'a b'"),
    "a study like a target": ({"studies.figures": GOOD["studies"]["one"]}, "name in studies = 'figures'"),
    "a study like a rule": ({"studies.workload": GOOD["studies"]["one"]}, "name in studies = 'workload'"),
    "an unknown kind": ({ONE + "kind": "histogram"}, "studies.one.kind = 'histogram'"),
    "an unknown workload": ({ONE + "grid.workload": ["prefx"]}, "studies.one.grid.workload[0] = 'prefx'"),
    "marginals of nothing": ({ONE + "grid.workload": ["few-way-marginals"]}, "did you mean"),
    "marginals without end": ({ONE + "grid.workload": ["9" * 400 + "-way-marginals"]}, "studies.one.grid.workload[0]"),
    "an unknown mechanism": ({ONE + "mechanisms": ["hadamart"]}, "did you mean 'hadamard'"),
    "no mechanism": ({ONE + "mechanisms": []}, "studies.one.mechanisms = []"),
    "one mechanism twice": ({ONE + "mechanisms": ["hadamard", "hadamard"]}, "differ from the entries before it"),
    "a mechanism without its list": ({ONE + "mechanisms": "hadamard"}, "put it into a list: ['hadamard']"),
    "options of nobody": ({ONE + "options": {"hadamart": {}}}, "studies.one.options.hadamart"),
    "options that it has not": ({ONE + "options": {"hadamard": {"iterations": 3}}}, "studies.one.options.hadamard"),
    "an unknown bound": ({ONE + "bounds": ["svt"]}, "studies.one.bounds[0] = 'svt'"),
    "no budget": ({ONE + "grid.epsilon": [0.0]}, "studies.one.grid.epsilon[0] = 0.0"),
    "a negative budget": ({ONE + "grid.epsilon": [-1.0]}, "studies.one.grid.epsilon[0] = -1.0"),
    "an infinite budget": ({ONE + "grid.epsilon": [float("inf")]}, "studies.one.grid.epsilon[0] = inf"),
    "a budget that is no number": ({ONE + "grid.epsilon": [float("nan")]}, "studies.one.grid.epsilon[0] = nan"),
    "a budget beyond floats": ({ONE + "grid.epsilon": [1e4]}, "studies.one.grid.epsilon[0] = 10000.0"),
    "a budget as text": ({ONE + "grid.epsilon": ["1e-3"]}, "without quotes"),
    "a budget as a question": ({ONE + "grid.epsilon": [True]}, "studies.one.grid.epsilon[0] = True"),
    "no domain": ({ONE + "grid.domain_size": [0]}, "studies.one.grid.domain_size[0] = 0"),
    "half a domain": ({ONE + "grid.domain_size": [8.5]}, "studies.one.grid.domain_size[0] = 8.5"),
    "a domain beyond integers": ({ONE + "grid.domain_size": [10**30]}, "studies.one.grid.domain_size[0]"),
    "a domain that does not suit": (
        {ONE + "grid": {"workload": ["all-marginals"], "domain_size": [12], "epsilon": [1.0]}},
        "studies.one.grid.domain_size[0] = 12",
    ),
    "a domain that the file has not": (
        {ONE + "grid": {"workload": ["mine"], "domain_size": [9], "epsilon": [1.0]}},
        "give domain_size 8",
    ),
    "the same seed twice": ({ONE + "grid.seed": [1, 1]}, "studies.one.grid.seed"),
    "a negative seed": ({"seed": -1}, "seed = -1"),
    "a seed beyond 64 bits": ({"seed": 2**70}, "seed = 1180591620717411303424"),
    "no threads": ({"threads": 0}, "threads = 0"),
    "a thousand thousand threads": ({"threads": 10**6}, "threads = 1000000"),
    "no error": ({ONE + "alpha": 0}, "studies.one.alpha = 0"),
    "an unknown setting": ({"sede": 1}, "did you mean 'seed'"),
    "an unknown setting of a study": ({ONE + "mechansims": []}, "did you mean 'mechanisms'"),
    "a setting of another kind": ({TWO + "mechanisms": ["hadamard"]}, "studies.two.mechanisms"),
    "an unknown norm": ({TWO + "norms": ["gama-2"]}, "studies.two.norms[0] = 'gama-2'"),
    "an error of an exact norm": ({TWO + "grid.alpha": [0.1]}, "studies.two.grid.alpha = [0.1]"),
    "no norms": ({TWO + "norms": ...}, "studies.two.norms = (missing)"),
    "an unknown class": ({THREE + "grid.concept_class": ["parity"]}, "studies.three.grid.concept_class[0] = 'parity'"),
    "a class of nothing": ({THREE + "grid.class_size": [0]}, "studies.three.grid.class_size[0] = 0"),
    "an axis that it has not": ({THREE + "grid.users": [10]}, "studies.three.grid.users"),
    "no axis": ({THREE + "grid.epsilon": ...}, "studies.three.grid.epsilon"),
    "quick settings of another kind": ({THREE + "quick": {"mechanisms": []}}, "studies.three.quick.mechanisms"),
    "no grid": ({ONE + "grid": ...}, "studies.one.grid = (missing)"),
    "a list for a study": ({"studies.one": []}, "studies.one = []"),
    "no studies": ({"studies": {}}, "studies = {}"),
    "a command for a paper": ({ONE + "paper": "$(reboot)"}, "studies.one.paper = '$(reboot)'"),
    "a path for a paper": ({ONE + "paper": "../../x"}, "studies.one.paper = '../../x'"),
    "a number for a title": ({ONE + "title": 1}, "studies.one.title = 1"),
    "a number for a key": ({"studies.one": {**GOOD["studies"]["one"], 3: 4}}, "be a text; put the key in quotes"),
}

BOMB = "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcdefghi", "bcdefghij", strict=True)
)
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{new}: &{new} {{<<: [{','.join([f'*{old}'] * 10)}]}}\n" for old, new in zip("abcdefghi", "bcdefghij", strict=True)
)
# The bytes of a whole configuration, and words of the answer.
TEXTS: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "be a mapping"),
    "a list": (b"- 1\n- 2\n", "be a mapping"),
    "a word": (b"seed\n", "be a mapping"),
    "two documents": (b"seed: 0\n---\nseed: 1\n", "be valid YAML"),
    "a tab": (b"studies:\n\tone: 1\n", "line 2"),
    "a bracket": (b"studies: {one: [1, 2\n", "be valid YAML"),
    "a key twice": (b"seed: 0\nseed: 1\n", "the key 'seed' is in line 1 already"),
    "bytes of no text": (b"\xff\xfe\x00\x01\x02", "be valid YAML"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "be valid YAML"),
    "an object of Python": (b"seed: !!python/object/apply:os.system ['touch hacked']\n", "be valid YAML"),
    "an unknown tag": (b"seed: !secret 1\n", "be valid YAML"),
    "an alias of nothing": (b"seed: *none\n", "be valid YAML"),
    "itself": (b"studies: &all\n  one: *all\n", "not be inside itself"),
    "aliases of aliases": (BOMB.encode(), "have at most 100000 entries"),
    "merges of merges": (MERGES.encode(), "merges (<<) make more than"),
    "too deep": (b"[" * 3000, "be valid YAML"),
    "a date that is none": (b"seed: 2020-13-45\n", "be valid YAML"),
    "a number without end": (b"seed: " + b"9" * 5000 + b"\n", "config.yaml"),
    "too long": (b"# much ado\n" * 400_000, "have at most 4194304 bytes"),
}


class Hostile:
    """What runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch hacked",)


def _npy_header(path: Path, shape: str) -> None:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\0" * 64)


def _vast_hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("queries", shape=(2**20, 2**20), dtype="f8", chunks=(1024, 1024), compression="gzip")


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**33)


def _archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", b"\0" * 2**24)


def _objects(path: Path) -> None:
    np.save(path, np.array([[Hostile()]], dtype=object), allow_pickle=True)


# The name of a file, how it is written, and words of the answer.
FILES: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "no bytes": ("q.csv", lambda p: p.write_bytes(b""), "nothing"),
    "blank lines": ("q.csv", lambda p: p.write_text("\n\n"), "q.csv"),
    "a header alone": ("q.csv", lambda p: p.write_text("a,b\n"), "line 1, column 1 = 'a'"),
    "a hole": ("q.csv", lambda p: p.write_text("1,,2\n"), "line 1, column 2"),
    "a short line": ("q.csv", lambda p: p.write_text("1,2\n3\n"), "line 2"),
    "a word in it": ("q.csv", lambda p: p.write_text("1,2\n3,four\n"), "line 2, column 2 = 'four'"),
    "no number in it": ("q.csv", lambda p: p.write_text("1,nan\n"), "nan"),
    "infinity in it": ("q.csv", lambda p: p.write_text("1,inf\n"), "inf"),
    "bars": ("q.csv", lambda p: p.write_text("1|2\n3|4\n"), "q.csv"),
    "bytes of no text": ("q.csv", lambda p: p.write_bytes(bytes(range(128, 256))), "q.csv"),
    "more than memory": ("q.csv", _sparse, "8.0 GiB"),
    "an array cut off": ("q.npy", lambda p: p.write_bytes(b"\x93NUMPY\x01\x00"), "q.npy"),
    "a false array": ("q.npy", lambda p: p.write_bytes(b"not an array at all"), "q.npy"),
    "an array of promises": ("q.npy", lambda p: _npy_header(p, "(1000000, 1000000)"), "q.npy"),
    "an array of less than nothing": ("q.npy", lambda p: _npy_header(p, "(-1, 8)"), "q.npy"),
    "an array of letters": ("q.npy", lambda p: np.save(p, np.array([["a", "b"]])), "q.npy"),
    "an array of imaginary numbers": ("q.npy", lambda p: np.save(p, np.array([[1j, 2]])), "q.npy"),
    "an array of three axes": ("q.npy", lambda p: np.save(p, np.ones((2, 2, 2))), "q.npy"),
    "an array of no rows": ("q.npy", lambda p: np.save(p, np.ones((0, 8))), "q.npy"),
    "an array of objects": ("q.npy", _objects, "q.npy"),
    "a pickle": ("q.npy", lambda p: p.write_bytes(pickle.dumps(Hostile())), "q.npy"),
    "an archive": ("q.npy", _archive, "q.npy"),
    "a matrix cut off": (
        "q.mtx",
        lambda p: p.write_text("%%MatrixMarket matrix array real general\n2 2\n1\n"),
        "q.mtx",
    ),
    "a matrix of promises": (
        "q.mtx",
        lambda p: p.write_text("%%MatrixMarket matrix coordinate real general\n1000000 1000000 1\n1 1 1\n"),
        "fit in 4 GiB",
    ),
    "a false matrix": ("q.mtx", lambda p: p.write_text("hello\n"), "q.mtx"),
    "a false HDF5 file": ("q.h5", lambda p: p.write_bytes(b"\x89HDF\r\n\x1a\n" + b"\0" * 500), "q.h5"),
    "a vast HDF5 file of few bytes": ("q.h5", _vast_hdf5, "fit in 4 GiB"),
    "another suffix": ("q.xlsx", lambda p: p.write_bytes(b"PK\x03\x04"), ".xlsx"),
    "a pickle by its name": ("q.pkl", lambda p: p.write_bytes(pickle.dumps(Hostile())), ".pkl"),
}
