"""Archive the strategies behind figures, with digests and certificates: a reader checks a number without a run.

``--studies`` are those of Figures 1 and 2 of mckenna2020 by default. The folder ``--out`` then has ``strategies.tar``,
``SHA256SUMS`` of the files in it, and ``certificates.csv``: for each file the workload, domain size and ε, the
objective, the certified lower bound and the gap, and what figures show: variances, and the bound on the average one.
After unpacking, ``sha256sum --check SHA256SUMS`` compares the bytes, and ``factormech strategy verify FILE`` computes
privacy, error and bound again. Equal files give equal archives.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import sys
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from factormech.config.studies import load_file
from factormech.pipeline.planning import Plan
from factormech.shipped import SCHEMA
from factormech.store import hdf5
from factormech.store.atomic import write_whole
from factormech.studies.cost import VERIFIED

ROOT = Path(__file__).parents[1]
STUDIES = ("mckenna2020-figure-1", "mckenna2020-figure-2")
COLUMNS = (
    "file",
    "workload",
    "domain_size",
    "epsilon",
    "options",
    "objective",
    "lower_bound",
    "gap",
    "average_variance",
    "worst_variance",
    "variance_bound",
    "bytes",
    "sha256",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the archive, and say how large it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder of the run")
    parser.add_argument("--studies", nargs="+", default=STUDIES, metavar="STUDY")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "published")
    args = parser.parse_args(arguments)
    files = strategies(args.root, args.studies)
    if missing := [file for file in files if not (args.root / file).is_file()]:
        print(f"{len(missing)} of {len(files)} strategies are missing, such as {missing[0]}")
        print(f"make them: snakemake {' '.join(args.studies)}")
        return 1
    contents = {file: (args.root / file).read_bytes() for file in files}
    rows = [certificate(file, content, args.root) for file, content in contents.items()]
    sums = "".join(f"{row['sha256']}  {row['file']}\n" for row in rows)
    args.out.mkdir(parents=True, exist_ok=True)
    write_whole(args.out / "strategies.tar", archive(contents | {"SHA256SUMS": sums.encode()}))
    write_whole(args.out / "SHA256SUMS", sums.encode())
    write_whole(args.out / "certificates.csv", table(rows).encode())
    total = sum(map(len, contents.values()))
    gap = max(row["gap"] for row in rows)
    print(f"{args.out}: {len(files)} strategies, {total / 1e6:.1f} MB; largest gap {gap:.2%}")
    return 0


def strategies(root: Path, studies: Iterable[str]) -> list[str]:
    """The files of the optimised strategies that studies need."""
    config = load_file(root / "config.yaml", SCHEMA)
    found = Plan(config).solved_for([config.study(name).name for name in studies])
    return sorted(file for file, asked in found.items() if asked.family == "strategy" and asked.name in VERIFIED)


def certificate(file: str, content: bytes, root: Path) -> dict[str, Any]:
    """What a file says of its strategy, and its digest."""
    said = hdf5.read_attributes(root / file)
    own = {"file": file, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    return {name: said.get(name, "") for name in COLUMNS} | own


def archive(contents: dict[str, bytes]) -> bytes:
    """A tar file without times and owners."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def table(rows: Iterable[dict[str, Any]]) -> str:
    """Certificates as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


if __name__ == "__main__":
    sys.exit(main())
