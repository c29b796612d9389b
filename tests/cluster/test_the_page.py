"""docs/cluster.md followed literally, from an empty home folder to the archive of a finished sweep."""

from __future__ import annotations

import re
import tarfile

from factormech.store import hdf5
from tests.cluster.page import Reader, typed
from tests.cluster.site import PATIENCE

COMMANDS = {"git", "cd", "make", "sinfo", "sacctmgr", "squeue", "ls", ".venv/bin/snakemake", "tar"}


def test_what_the_page_tells_to_type() -> None:
    lines = typed()
    assert len(lines) >= 12
    assert {line.split()[0] for line in lines} == COMMANDS


def test_the_page_leads_to_a_finished_sweep(reader: Reader) -> None:
    assert reader.running.wait(timeout=2 * PATIENCE) == 0, reader.said[-4000:]
    folder = reader.home / "factormech"
    assert len(re.findall(r"from nothing about \S+ core-hours", reader.said)) == 4
    files = list((folder / "results").rglob("*.h5"))
    assert len([path for path in files if "strategies" in path.parts]) == 8
    for path in files:
        hdf5.read(path)
    with tarfile.open(folder / "first-sweep.tar.gz") as archive:
        names = set(archive.getnames())
    assert {"results/tables/first-sweep.csv", "figures/first-sweep.pdf"} <= names
