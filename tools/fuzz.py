"""Give every reader and the command line broken input: whatever comes, the answer is a value or one line.

Whole inputs (the seeds) are changed at random: bytes flipped, cut, doubled and moved, and words put in that readers
stumble over. A process reads one after the other; it has 5 s of processor time for each, and a limit of memory. What it
may do with an input is to take it, or to refuse it in one line. Any other error, a crash and a hang are faults. Matrix
Market and HDF5 files are read by libraries that do crash: such an input is given to the package again, which reads it
in a separate process and must answer in one line ("contained"). Results with a forged seal are read in this process:
that HDF5 has not answered is counted ("ended"), and is no fault.

``python tools/fuzz.py --inputs 10000`` takes a couple of minutes; ``--table`` writes the counts to docs/trust-fuzz.csv.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "trust-fuzz.csv"
SCHEMAS = ROOT / "workflow" / "schemas"
OUTCOMES = ("taken", "refused", "contained", "ended", "fault")
SECONDS, MEMORY = 5, 4 * 2**30
# Share of the inputs, by what an input costs.
SHARES = {
    "configuration": 4,
    "yaml": 20,
    "csv": 20,
    "npy": 16,
    "mtx": 8,
    "hdf5": 8,
    "result": 4,
    "sealed result": 4,
    "table": 4,
    "request": 6,
    "ledger": 1,
    "certificate": 4,
    "command line": 1,
}
CRASHING = ("mtx", "hdf5")
# Damaged results under a seal that fits, which only a forger makes: HDF5 may be ended by them (docs/trust.md says so).
FORGED = ("sealed result",)
WORDS = (
    *(
        b"\0",
        b"\n",
        b"\r",
        b"\x0c",
        b"\xe2\x80\xa8",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b",",
        b";",
        b":",
        b"'",
        b'"',
    ),
    *(
        b"nan",
        b"inf",
        b"-1",
        b"0",
        b"010",
        b"1:4",
        b"1e999",
        b"1e-320",
        b"9" * 30,
        b"0x1",
        b"on",
        b"null",
        b"true",
        b"~",
    ),
    *(
        b"[",
        b"]",
        b"{",
        b"}",
        b"[[[[",
        b"(((",
        b"<<: ",
        b"&a ",
        b"*a",
        b"!!int ",
        b"- ",
        b"? ",
        b"%",
        b"#",
        b"../",
        b"/dev/zero",
    ),
    *(b"\x7f\xff\xff\xff\xff\xff\xff\xff", b"\x80\0\0\0", b"--", b" ", b"\t", b"prefix", b"2**63", b"1/0"),
)


def changed(seed: bytes, rng: random.Random) -> bytes:
    """A copy of some bytes, with one to eight changes."""
    new = bytearray(seed)
    for _ in range(rng.choice((1, 1, 2, 3, 5, 8))):
        at = rng.randrange(len(new) + 1)
        end = min(len(new), at + rng.choice((1, 1, 2, 4, 8, 64)))
        match rng.randrange(6):
            case 0:
                new[at:end] = bytes(byte ^ 1 << rng.randrange(8) for byte in new[at:end])
            case 1:
                del new[at:end]
            case 2:
                new[at:at] = new[at:end] * rng.choice((1, 1, 2, 50))
            case 3:
                new[at : rng.choice((at, end))] = rng.choice(WORDS)
            case 4:
                new[at:at] = rng.randbytes(end - at)
            case _:
                there = rng.randrange(len(new) + 1)
                new[there:there] = new[at:end]
    return bytes(new)


# Seeds and readers: name → whole inputs, and what reads a file -------------------------------------------------------


def targets(folder: Path) -> dict[str, tuple[list[bytes], Callable[[Path], object]]]:
    """Every reader; the seeds are written by the package itself where it can."""
    sys.path.insert(0, str(ROOT))
    from factormech import load
    from factormech.claims.ledger import read as read_ledger
    from factormech.config.studies import load_file
    from factormech.config.yaml_file import read_yaml
    from factormech.studies.asked import Asked
    from factormech.studies.solves import Solve
    from factormech.workloads import matrix

    def request(path: Path) -> None:
        text = path.read_bytes().decode("utf-8", "replace")
        Solve.from_json(text) if "family" in text else Asked.from_json(text)

    mine = _matrices(folder)
    config = (ROOT / "config.yaml").read_bytes().split(b"\n  ", 40)
    ledger = b"\n  ".join((ROOT / "studies/liu2024.claims.yaml").read_bytes().split(b"\n  ", 60)[:60])
    return {
        "yaml": ([b"\n  ".join(config[:20]), b"a: &a {x: 1.5, y: [a, 'b']}\nb: {<<: *a}\n"], read_yaml),
        "configuration": ([_small_config()], lambda path: load_file(path, SCHEMAS / "config.schema.yaml")),
        "csv": ([mine["q.csv"], b"1,2\n3,4\n", b"\xef\xbb\xbf1.5,-2e3\r\n0,.5\r\n"], matrix.read_here),
        "npy": ([mine["q.npy"]], matrix.read_here),
        "mtx": ([mine["q.mtx"], mine["sparse.mtx"]], matrix.read_here),
        "hdf5": ([mine["q.h5"]], matrix.read_here),
        "result": ([mine["r.h5"]], load),
        "sealed result": ([mine["r.h5"]], _sealed_again(load)),
        "table": ([_table()], load),
        "request": (_requests(), request),
        "ledger": ([ledger], lambda path: read_ledger([path], SCHEMAS / "claims.schema.yaml")),
        "certificate": ([_certificate()], _verify),
        "command line": (_lines(), _command),
    }


def _matrices(folder: Path) -> dict[str, bytes]:
    import h5py
    import numpy as np
    import scipy.io
    import scipy.sparse

    from factormech.store import hdf5

    W = np.arange(24.0).reshape(3, 8) / 7
    np.savetxt(folder / "q.csv", W, delimiter=",")
    np.save(folder / "q.npy", W)
    scipy.io.mmwrite(folder / "q.mtx", W)
    scipy.io.mmwrite(folder / "sparse.mtx", scipy.sparse.coo_array(np.eye(4)))
    with h5py.File(folder / "q.h5", "w") as file:
        file.create_dataset("deep/q", data=W, chunks=(2, 4), compression="gzip")
        file["text"] = "a text"
        file["q"] = h5py.SoftLink("/deep/q")
    hdf5.write(
        folder / "r.h5", "thing", datasets={"W": W, "names": np.array(["a", "b"])}, attributes={"a": [1, 2.5, None]}
    )
    names = ("q.csv", "q.npy", "q.mtx", "sparse.mtx", "q.h5", "r.h5")
    return {name: (folder / name).read_bytes() for name in names}


def _small_config() -> bytes:
    import yaml
    from tests.bad_input.catalogue import GOOD

    return yaml.safe_dump({**GOOD, "workloads": {"mine": {"union": [{"workload": "prefix", "weight": 2.0}]}}}).encode()


def _table() -> bytes:
    return (ROOT / "docs" / "gallery" / "central-bounds.csv").read_bytes()[:3000].rpartition(b"\n")[0] + b"\n"


def _requests() -> list[bytes]:
    from factormech.studies.asked import Asked

    solve = b'{"family": "strategy", "name": "optimised", "workload": "prefix", "domain_size": 8, "epsilon": 1.0}'
    return [Asked({"workload": ("prefix",), "epsilon": (1.0,)}, {"alpha": 0.01}).to_json().encode(), solve]


def _certificate() -> bytes:
    import numpy as np

    from factormech.bounds.certificates import certify

    return certify(np.eye(3), 1.0, np.eye(3), np.ones(3)).text().encode()


def _lines() -> list[bytes]:
    lines = [
        "workload describe prefix --domain-size 8",
        "workload list --json",
        "strategy compare histogram --domain-size 4 --epsilon 1 --alpha 0.01 --json",
        "norm gamma-2 histogram --domain-size 4",
        "plan histogram --domain-size 4 --epsilon 1 --rmse 1%",
        "strategy verify none.h5 --epsilon 1",
        "study list --config none.yaml",
        "check --config none.yaml",
    ]
    return ["\0".join(line.split()).encode() for line in lines]


def _sealed_again(read: Callable[[Path], object]) -> Callable[[Path], object]:
    def sealed(path: Path) -> object:
        from factormech.store import content

        if path.stat().st_size > content.SEAL_BYTES:
            content.stamp(path, path)
        return read(path)

    return sealed


def _verify(path: Path) -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    import verify_certificate

    code, said = _said(verify_certificate.main, [str(path)])
    if said.count("\n") != 1:
        raise RuntimeError(f"not one line: {said[:300]!r}")
    _refuse(code)


def _command(path: Path) -> None:
    from factormech.cli.main import main

    words = [word.decode("utf-8", "surrogateescape") for word in path.read_bytes().split(b"\0")]
    if any(word.isascii() and word.isdigit() and int(word) > 64 for word in words) or "--out" in words:
        return  # a larger domain is no fault, and no time is spent on it
    code, said = _said(main, words)
    if "Traceback" in said:
        raise RuntimeError(said[:300])
    _refuse(code)


def _said(function: Callable[[list[str]], int], words: list[str]) -> tuple[int, str]:
    """The exit code of a program, and what it wrote."""
    said, code = io.StringIO(), 2
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), contextlib.suppress(SystemExit):
        code = function(words)
    return code, said.getvalue()


def _refuse(code: int) -> None:
    from factormech.errors import BadValue

    if code:
        raise BadValue("exit code", code, "be 0", "see what was written")


# In the process that reads --------------------------------------------------------------------------------------------


def work(name: str, first: int, last: int, seed: int) -> None:
    """Read the inputs with these numbers, and say what came of each on one line: number, then taken or refused."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    folder = Path(tempfile.mkdtemp())
    os.chdir(folder)
    try:
        seeds, read = targets(folder)[name]
        for number in range(first, last):
            print(number, end=" ", file=out, flush=True)
            path = folder / ("input" + _suffix(name))
            path.write_bytes(input_of(name, seeds, number, seed))
            signal.setitimer(signal.ITIMER_PROF, SECONDS)  # SIGPROF ends the process
            print(_outcome(read, path), file=out, flush=True)
            signal.setitimer(signal.ITIMER_PROF, 0)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def input_of(name: str, seeds: list[bytes], number: int, seed: int) -> bytes:
    """The input of this number: the same in every process."""
    rng = random.Random(f"{name} {seed} {number}")
    return changed(rng.choice(seeds), rng)


def _suffix(name: str) -> str:
    own = {
        "hdf5": ".h5",
        "table": ".csv",
        "result": ".h5",
        "sealed result": ".h5",
        "csv": ".csv",
        "npy": ".npy",
        "mtx": ".mtx",
    }
    return own.get(name, ".txt")


def _outcome(read: Callable[[Path], object], path: Path) -> str:
    from factormech.claims.ledger import LedgerErrors
    from factormech.config.studies import ConfigErrors
    from factormech.errors import BadValue

    try:
        read(path)
    except (BadValue, ConfigErrors, LedgerErrors) as error:
        lines = str(error).split("\n")
        if len(lines) > len(getattr(error, "problems", "1")) or not all(map(str.isprintable, lines)):
            return f"fault not one printable line: {str(error)[:300]!r}"
        return "refused"
    except BaseException as error:
        return f"fault {type(error).__name__}: {str(error)[:300]!r}"
    return "taken"


# The process that counts ----------------------------------------------------------------------------------------------


def fuzz(name: str, inputs: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Have so many inputs read; how many were taken, refused and contained, and the faults."""
    counts: Counter[str] = Counter()
    faults: list[str] = []
    first = 0
    while first < inputs:
        command = [sys.executable, __file__, "--work", name, str(first), str(inputs), str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120 + SECONDS * inputs)
        *lines, last = done.stdout.split("\n")
        for line in lines:
            number, outcome, *words = line.split(" ", 2)
            counts[outcome] += 1
            faults += [f"{name} {number}: {words[0]}"] if outcome == "fault" else []
        first += len(lines)
        if first < inputs:  # the process ended at an input
            if not last:
                raise RuntimeError(f"{name}: {done.stderr[-2000:]}")
            contained = name in CRASHING and is_contained(name, first, seed)
            outcome = "contained" if contained else "ended" if name in FORGED else "fault"
            counts[outcome] += 1
            faults += [f"{name} {first}: the process ended with {done.returncode}"] if outcome == "fault" else []
            first += 1
    return counts, faults


def is_contained(name: str, number: int, seed: int) -> bool:
    """Whether the package answers an input that ends the process in one line."""
    from factormech.errors import BadValue
    from factormech.workloads import matrix

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"input{_suffix(name)}"
        path.write_bytes(input_of(name, targets(Path(folder))[name][0], number, seed))
        try:
            matrix.read(path)
        except BadValue as error:
            return str(error).isprintable()
    return True


def main(arguments: list[str] | None = None) -> int:
    """Fuzz all readers, or one; the exit code says whether a fault was seen."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=10_000, help="in all (default: 10000)")
    parser.add_argument("--seed", type=int, default=0, help="of the changes (default: 0)")
    parser.add_argument("--only", choices=SHARES, help="one reader")
    parser.add_argument("--table", action="store_true", help=f"write {TABLE.relative_to(ROOT)}")
    parser.add_argument("--work", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.work:
        name, *numbers = args.work
        work(name, *map(int, numbers))
        return 0
    names = [args.only] if args.only else list(SHARES)
    whole = sum(SHARES[name] for name in names)
    rows, faults = [], []
    for name in names:
        counts, found = fuzz(name, max(1, args.inputs * SHARES[name] // whole), args.seed)
        rows.append([name, *(str(counts[key]) for key in OUTCOMES)])
        print(f"{name}: {counts.total()} inputs, {dict(counts)}", *found[:20], sep="\n  ", flush=True)
        faults += found
    if args.table:
        header = ["reader", *OUTCOMES]
        with TABLE.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])
    print(f"{len(faults)} faults")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
