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
    "a study like the judge": ({"studies.judge": GOOD["studies"]["one"]}, "name in studies = 'judge'"),
    "a study like a drawing": ({"studies.draw": GOOD["studies"]["one"]}, "name in studies = 'draw'"),
    "a study like a paper": ({"studies.edmonds2020": GOOD["studies"]["one"]}, "name in studies = 'edmonds2020'"),
    "a study like another's table": (
        {"studies.one-improvement": GOOD["studies"]["one"]},
        "differ from the table one-improvement of the study one",
    ),
    "a study like another's slopes": ({"studies.one-slopes": GOOD["studies"]["one"]}, "the table one-slopes"),
    "a paper like everything": ({ONE + "paper": "all"}, "studies.one.paper = 'all'"),
    "a paper like a drawing": ({ONE + "paper": "draw"}, "studies.one.paper = 'draw'"),
    "a paper like the judge": ({ONE + "paper": "judge"}, "studies.one.paper = 'judge'"),
    "a paper like a rule": ({ONE + "paper": "workload"}, "studies.one.paper = 'workload'"),
    "a paper of no text": ({ONE + "paper": ["all"]}, "studies.one.paper = ['all']"),
    "a paper in capitals": ({ONE + "paper": "McKenna"}, "studies.one.paper = 'McKenna'"),
    "a study of 250 letters": ({"studies." + "x" * 250: GOOD["studies"]["one"]}, "at most 64 in all"),
    "a study of 65 letters": ({"studies." + "x" * 65: GOOD["studies"]["one"]}, "at most 64 in all"),
    "a study that repeats itself": ({"studies." + "abc" * 20: GOOD["studies"]["one"]}, "nothing 20 times in a row"),
    "a study of no letter": ({"studies.": GOOD["studies"]["one"]}, "name in studies = ''"),
    "a study in Greek": ({"studies.μ": GOOD["studies"]["one"]}, "name in studies = 'μ'"),
    "a study that is an option": ({"studies.--all": GOOD["studies"]["one"]}, "name in studies = '--all'"),
    "a workload of 65 letters": ({"workloads." + "x" * 65: {"file": "mine.csv"}}, "at most 64 in all"),
    "a workload of two lines": ({"workloads.a\nb": {"file": "mine.csv"}}, "name in workloads"),
    "a title of half a letter": ({ONE + "title": "\ud800"}, "be a text without control characters"),
    "a title with a zero": ({ONE + "title": "a\0b"}, "be a text without control characters"),
    "a title with an escape": ({ONE + "title": "\x1b[31mred"}, "be a text without control characters"),
    "a title with a separator": ({ONE + "title": "a\u2028b"}, "be a text without control characters"),
    "a title of two lines": ({ONE + "title": "a\nb"}, "studies.one.title = 'a\\nb'"),
    "a title of 200 kB": ({ONE + "title": "x" * 200_000}, "be a text of at most 4096 letters"),
    "a title of 201 letters": ({ONE + "title": "x" * 201}, "of one line and at most 200 letters"),
    "a caption of 200 kB": ({ONE + "caption": "x" * 200_000}, "studies.one.caption"),
    "an artefact with a bell": ({ONE + "artefact": "Figure\a"}, "studies.one.artefact = 'Figure\\x07'"),
    "an empty title": ({ONE + "title": ""}, "studies.one.title = ''"),
    "a path with braces": ({f"{MINE}.file": "mine{x}.csv"}, "which Snakemake takes for wildcards"),
    "data with braces": ({"data": "{data}"}, "which Snakemake takes for wildcards"),
    "a plugin with braces": ({"plugins": ["{x}.py"]}, "which Snakemake takes for wildcards"),
    "a plugin that is not there": ({"plugins": ["none.py"]}, "be the path of a readable Python file"),
    "a plugin without end": ({"plugins": ["/dev/zero"]}, "be a Python file (.py)"),
    "a plugin that is a matrix": ({"plugins": ["mine.csv"]}, "be a Python file (.py)"),
    "a plugin out of the project": ({"plugins": ["../x.py"]}, "stay inside the folder of the project"),
    "one plugin twice": ({"plugins": ["a.py", "a.py"]}, "differ from the entries before it"),
    "plugins without their list": ({"plugins": "a.py"}, "put it into a list: ['a.py']"),
    "a budget too small": ({ONE + "grid.epsilon": [1e-8]}, "studies.one.grid.epsilon[0] = 1e-08"),
    "a budget too large": ({ONE + "grid.epsilon": [50.0]}, "be a number from 0.001 to 40"),
    "a quick budget too small": ({ONE + "quick": {"grid": {"epsilon": [1e-9]}}}, "quick.grid.epsilon[0] = 1e-09"),
    "a dataset of CSV": ({f"{MINE}.dataset": "queries"}, "dataset"),
    "a weight of infinity": ({MINE: {"union": [{"workload": "prefix", "weight": float("inf")}]}}, "weight = inf"),
    "a weight below nothing": ({MINE: {"union": [{"workload": "prefix", "weight": -1.0}]}}, "weight = -1.0"),
    "a union of two unions": (
        {MINE: {"union": [{"workload": "b"}]}, "workloads.b": {"union": [{"workload": "mine"}]}},
        "not be made from itself",
    ),
    "two factors without a size": (
        {MINE: {"kronecker": [{"workload": "prefix"}, {"workload": "prefix"}]}},
        "have a domain_size (an earlier factor has none)",
    ),
    "a factor without end": (
        {MINE: {"kronecker": [{"workload": "prefix", "domain_size": 10**9}]}},
        "domain_size = 1000000000",
    ),
    "forty levels of unions": (
        {
            "workloads": {
                "l0": {"union": [{"workload": "prefix"}] * 2},
                **{f"l{i}": {"union": [{"workload": f"l{i - 1}"}] * 2} for i in range(1, 41)},
            },
            ONE + "grid": {"workload": ["l40"], "domain_size": [8], "epsilon": [1.0]},
        },
        "be made of at most 10000 parts",
    ),
    "three thousand levels of unions": (
        {
            "workloads": {
                "l0": {"union": [{"workload": "prefix"}]},
                **{f"l{i}": {"union": [{"workload": f"l{i - 1}"}]} for i in range(1, 3000)},
            },
            ONE + "grid": {"workload": ["l2999"], "domain_size": [8], "epsilon": [1.0]},
        },
        "be made of at most",
    ),
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
    "a date that is none": (b"seed: 2020-13-45\n", "a date in YAML 1.1 only"),
    "a number without end": (b"seed: " + b"9" * 5000 + b"\n", "config.yaml"),
    "an octal seed": (b"seed: 010\n", "'010' (a whole number in YAML 1.1 only)"),
    "a range": (b"seed: [1:4]\n", "'1:4' (a whole number in YAML 1.1 only)"),
    "a time": (b"seed: 1:30.5\n", "'1:30.5' (a number in YAML 1.1 only)"),
    "a switch": (b"seed: on\n", "'on' (true or false in YAML 1.1 only)"),
    "a switch for a key": (b"off: 1\n", "line 1, column 1"),
    "an answer": (b"seed: yes\n", "'yes' (true or false in YAML 1.1 only)"),
    "a thousand": (b"seed: 1_000\n", "'1_000' (a whole number in YAML 1.1 only)"),
    "a hexadecimal seed": (b"seed: 0x1F\n", "write the number in decimals"),
    "a binary seed": (b"seed: 0b11\n", "write the number in decimals"),
    "a date": (b"seed: 2020-01-01\n", "a date in YAML 1.1 only"),
    "a number of letters": (b"seed: !!int abc\n", "config.yaml, line 1"),
    "a number of lists": (b"seed: !!int [1]\n", "config.yaml, line 1"),
    "a truth of letters": (b"seed: !!bool maybe\n", "config.yaml, line 1"),
    "a float of nothing": (b"seed: !!float ''\n", "config.yaml, line 1"),
    "bytes for a seed": (b"seed: !!binary aGk=\n", "seed"),
    "broken bytes": (b"seed: !!binary '%'\n", "config.yaml"),
    "a set": (b"seed: !!set {1}\n", "seed"),
    "a list for a key": (b"? [1, 2]\n: 3\n", "found unhashable key"),
    "nothing for a key": (b"~: 1\n", "be a text"),
    "a key twice, deep": (b"studies:\n  one: {seed: 1,\n    seed: 2}\n", "the key 'seed' is in line 2 already"),
    "a merge of a number": (b"<<: 1\n", "config.yaml, line 1"),
    "a zero": (b"seed: 0\0\n", "config.yaml"),
    "an escape of nothing": (b'seed: "\\q"\n', "config.yaml, line 1"),
    "an end of a document": (b"...\n...\n", "be valid YAML"),
    "a directive": (b"%YAML 3.0\n---\nseed: 0\n", "config.yaml"),
    "a number beyond floats": (b"seed: 1.0e+999\n", "seed = inf"),
    "an anchor twice": (b"seed: &a &b 1\n", "config.yaml, line 1"),
    "aliases too deep": (b"{a: " * 900 + b"1" + b"}" * 900, "config.yaml"),
    "JSON cut off": (b'{"seed": 0', "be valid YAML"),
    "16 bits": ("seed: 010\n".encode("utf-16"), "a whole number in YAML 1.1 only"),
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


def _broken_npy(header: bytes) -> Callable[[Path], object]:
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64)
    return lambda path: path.write_bytes(content)


def _market(text: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(b"%%MatrixMarket matrix " + text)


def _hdf5(write: Callable[[h5py.File], object]) -> Callable[[Path], object]:
    def written(path: Path) -> None:
        with h5py.File(path, "w") as file:
            write(file)

    return written


def _external(name: str) -> Callable[[Path], object]:
    return _hdf5(lambda file: file.create_dataset("q", shape=(2, 2), dtype="u1", external=[(name, 0, 4)]))


def _virtual(file: h5py.File) -> None:
    layout = h5py.VirtualLayout((2, 8), "f8")
    layout[:] = h5py.VirtualSource("nothing.h5", "q", (2, 8))
    file.create_virtual_dataset("q", layout, fillvalue=7)


def _damaged_hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("q", data=np.eye(64), chunks=(8, 8), compression="gzip")
    content = bytearray(path.read_bytes())
    content[len(content) // 2 :: 3] = b"\xff" * len(content[len(content) // 2 :: 3])
    path.write_bytes(content)


def _objects(path: Path) -> None:
    np.save(path, np.array([[Hostile()]], dtype=object), allow_pickle=True)


# The name of a file, how it is written, and words of the answer.
FILES: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "no bytes": ("q.csv", lambda p: p.write_bytes(b""), "nothing"),
    "blank lines": ("q.csv", lambda p: p.write_text("\n\n"), "q.csv"),
    "a header alone": ("q.csv", lambda p: p.write_text("a,b\n"), "must stand above rows of numbers"),
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
    "a header of less": ("q.npy", _broken_npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2,"), "q.npy"),
    "a header that is a list": ("q.npy", _broken_npy(b"[1, 2]"), "q.npy"),
    "a header of nothing": ("q.npy", _broken_npy(b""), "q.npy"),
    "a header with a list for a key": ("q.npy", _broken_npy(b"{[]: 1}"), "q.npy"),
    "a header of brackets": ("q.npy", _broken_npy(b"(" * 9000 + b")" * 9000), "q.npy"),
    "a header with a zero": ("q.npy", _broken_npy(b"{'descr': '<f8'\0}"), "q.npy"),
    "a header of another type": (
        "q.npy",
        _broken_npy(b"{'descr': ',<f8', 'fortran_order': False, 'shape': (1, 1)}"),
        "q.npy",
    ),
    "a header of a vast number": (
        "q.npy",
        _broken_npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (1" + b"0" * 5000 + b", 1)}"),
        "q.npy",
    ),
    "an array of dates": ("q.npy", lambda p: np.save(p, np.array([["2020-01-01"]], dtype="M8[D]")), "q.npy"),
    "an array of records": ("q.npy", lambda p: np.save(p, np.zeros((2, 2), dtype=[("a", "f8")])), "q.npy"),
    "an array of one number": ("q.npy", lambda p: np.save(p, np.float64(1.0)), "q.npy"),
    "an array of specks": ("q.npy", lambda p: np.save(p, np.full((2, 8), 1e-200)), "largest entry"),
    "an array of giants": ("q.npy", lambda p: np.save(p, np.full((2, 8), 1e200)), "be a finite number"),
    "a pipe": ("q.csv", os.mkfifo, "q.csv"),
    "a pipe for a matrix": ("q.mtx", os.mkfifo, "q.mtx"),
    "a link to nothing": ("q.csv", lambda p: p.symlink_to("nothing"), "q.csv"),
    "a link to itself": ("q.csv", lambda p: p.symlink_to(p), "q.csv"),
    "a form feed": ("q.csv", lambda p: p.write_text("1,2\f3,4\n"), "line 1 = '\\x0c'"),
    "a separator of lines": ("q.csv", lambda p: p.write_text("1,2\u20283,4\n", encoding="utf-8"), "line 1, column 2"),
    "underscores": ("q.csv", lambda p: p.write_text("1_000,2\n"), "line 1, column 1 = '1_000'"),
    "hexadecimal numbers": ("q.csv", lambda p: p.write_text("0x10,2\n"), "line 1, column 1 = '0x10'"),
    "specks": ("q.csv", lambda p: p.write_text("1e-200,0\n"), "largest entry = 1e-200"),
    "giants": ("q.csv", lambda p: p.write_text("1e200,0\n"), "be a finite number"),
    "a zero among numbers": ("q.csv", lambda p: p.write_bytes(b"1,\x002\n"), "line 1 = "),
    "quotes": ("q.csv", lambda p: p.write_text('"1,2\n'), "q.csv"),
    "a comma too many": ("q.csv", lambda p: p.write_text("1,2,\n"), "line 1, column 3"),
    "a zero at the end": ("q.mtx", _market(b"array real general\n2 2\n1\n2\n3\n4\0"), "q.mtx"),
    "a zero in a matrix": ("q.mtx", _market(b"coordinate real general\n2 2 1\n1 1 \0 1\n"), "q.mtx"),
    "imaginary numbers": ("q.mtx", _market(b"array complex general\n1 1\n1 2\n"), "hold real numbers"),
    "an entry outside": ("q.mtx", _market(b"coordinate real general\n2 2 1\n3 3 1\n"), "q.mtx"),
    "an entry before the first": ("q.mtx", _market(b"coordinate real general\n2 2 1\n0 0 1\n"), "q.mtx"),
    "a size below nothing": ("q.mtx", _market(b"array real general\n-2 2\n1\n"), "q.mtx"),
    "a size beyond integers": ("q.mtx", _market(b"array real general\n" + b"9" * 30 + b" 2\n1\n"), "q.mtx"),
    "a graph": ("q.mtx", lambda p: p.write_text("%%MatrixMarket graph array real general\n1 1\n1\n"), "q.mtx"),
    "a secret of the machine": ("q.h5", _external("/etc/passwd"), "external storage"),
    "numbers from a pipe": ("q.h5", _external("/dev/stdin"), "external storage"),
    "numbers of another file": ("q.h5", _hdf5(_virtual), "virtual storage"),
    "a link to another file": (
        "q.h5",
        _hdf5(lambda file: file.__setitem__("q", h5py.ExternalLink("/etc/passwd", "q"))),
        "0 matrices",
    ),
    "a link that leads nowhere": (
        "q.h5",
        _hdf5(lambda file: file.__setitem__("q", h5py.SoftLink("/none"))),
        "0 matrices",
    ),
    "references": ("q.h5", _hdf5(lambda file: file.create_dataset("q", (2, 2), dtype=h5py.ref_dtype)), "0 matrices"),
    "texts in HDF5": ("q.h5", _hdf5(lambda file: file.create_dataset("q", data=[["a"]])), "0 matrices"),
    "HDF5 with two matrices": (
        "q.h5",
        _hdf5(lambda file: [file.create_dataset(name, data=np.eye(8)) for name in "ab"]),
        "2 matrices",
    ),
    "HDF5 without anything": ("q.h5", _hdf5(lambda file: None), "0 matrices"),
    "damaged blocks": ("q.h5", _damaged_hdf5, "q.h5"),
    "another suffix": ("q.xlsx", lambda p: p.write_bytes(b"PK\x03\x04"), ".xlsx"),
    "a pickle by its name": ("q.pkl", lambda p: p.write_bytes(pickle.dumps(Hostile())), ".pkl"),
}
