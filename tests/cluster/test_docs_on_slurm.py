"""docs/cluster.md followed literally, from an empty home folder to the archive of a finished sweep."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from factormech import store
from tests.cluster.conftest import PATIENCE, ROOT, Cluster, kill_group

# Where a site keeps no accounts, as here, the page says that this has no answer.
MAY_FAIL = ("sacctmgr",)
COMMANDS = ("git", "cd", "make", "sinfo", "sacctmgr", "squeue", "ls", ".venv/bin/snakemake", "tar")


def typed() -> list[str]:
    """What the page tells the reader to type, in its order."""
    page = (ROOT / "docs/cluster.md").read_text()
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    lines = "".join(text for language, text in blocks if not language).splitlines()
    return [line.partition(" #")[0].strip() for line in lines]


def script() -> str:
    """The same, with the address of the project and the name of this Python."""
    lines = ["set -euo pipefail"]
    for line in typed():
        said = line.replace("ADDRESS-OF-THIS-PROJECT", str(ROOT))
        said = said.replace("make setup", f"make setup PYTHON={sys.executable}")
        lines += [f"echo '$ {line}'", f"{said} || true" if line.startswith(MAY_FAIL) else said]
    return "\n".join(lines)


def test_the_page_says_nothing_that_is_not_followed() -> None:
    lines = typed()
    assert len(lines) >= 12
    assert {line.split()[0] for line in lines} == set(COMMANDS)


class Reader:
    """Someone who follows the page, while other tests run."""

    def __init__(self, home: Path) -> None:
        self.home = home
        # Of the session's environment only what this machine tells pip, of which a part is in the other home folder.
        kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        if (told := Path.home() / ".config/pip/pip.conf").exists():
            kept.setdefault("PIP_CONFIG_FILE", str(told))
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        with (home / "said").open("w") as said:
            self.running = subprocess.Popen(
                ["bash", "-c", script()],
                cwd=home,
                env=kept | {"HOME": str(home), "USER": "root", "PATH": path},
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        return (self.home / "said").read_text()


@pytest.fixture(scope="session")
def reader(cluster: Cluster) -> Iterator[Reader]:
    with tempfile.TemporaryDirectory(prefix="home-", ignore_cleanup_errors=True) as home:
        made = Reader(Path(home))
        try:
            yield made
        finally:
            kill_group(made.running)
            cluster.finish(made.home / "factormech")


def test_the_page_leads_to_a_finished_sweep(reader: Reader) -> None:
    assert reader.running.wait(timeout=2 * PATIENCE) == 0, reader.said[-4000:]
    folder = reader.home / "factormech"
    assert len(re.findall(r"from nothing about \S+ core-hours", reader.said)) == 4
    files = list((folder / "results").rglob("*.h5"))
    assert len([path for path in files if "strategies" in path.parts]) == 8
    for path in files:
        store.read(path)
    with tarfile.open(folder / "first-sweep.tar.gz") as archive:
        names = set(archive.getnames())
    assert {"results/tables/first-sweep.csv", "figures/first-sweep.pdf"} <= names
