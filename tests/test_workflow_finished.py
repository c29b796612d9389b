"""What a killed run of the workflow had finished, as its marks and the files say."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from tests.test_workflow import copy_of_project, made, snakemake

pytestmark = pytest.mark.workflow

FILES = tuple(f"results/workloads/{name}/n8.h5" for name in ("prefix", "histogram", "all-ranges", "all-marginals"))


def mark(folder: Path, name: str, seconds: float) -> None:
    """A mark as Snakemake leaves it for a job, so many seconds younger than its file."""
    path = folder / ".snakemake/incomplete" / base64.urlsafe_b64encode(name.encode()).decode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"external_jobid": null}')
    at = (folder / name).stat().st_mtime + seconds
    os.utime(path, (at, at))


@pytest.mark.slow
def test_a_whole_result_that_is_newer_than_its_mark_is_kept(tmp_path: Path) -> None:
    """Not made again: what was made after its mark. Made again: a file that is older than its mark, or damaged."""
    folder = copy_of_project(tmp_path)
    made(folder, *FILES)
    kept, _, older, damaged = FILES
    with (folder / damaged).open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"!")
    for name, seconds in ((kept, -1.0), (older, 1.0), (damaged, -1.0)):
        mark(folder, name, seconds)
    before = {name: (folder / name).stat().st_mtime_ns for name in FILES}
    assert f"finished, and kept: {kept}" not in snakemake(folder, *FILES, "--dry-run").stderr
    done = snakemake(folder, *FILES, "--rerun-incomplete")
    assert done.returncode == 0, done.stderr[-2000:]
    assert [line for line in done.stderr.splitlines() if "finished, and kept" in line] == [
        f"finished, and kept: {kept}"
    ]
    again = {name for name in FILES if (folder / name).stat().st_mtime_ns != before[name]}
    assert again == {older, damaged}
    assert not any(path.is_file() for path in (folder / ".snakemake/incomplete").rglob("*"))
