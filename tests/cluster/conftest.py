"""One SLURM, one set of finished solves, and two sweeps that wait beside the tests."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.page import Reader
from tests.cluster.project import AFTER, TABLE, Project, copy_of, new_project
from tests.cluster.site import Cluster, kill_group

# Where Debian keeps daemons; not every shell of root looks there.
os.environ["PATH"] += os.pathsep + os.pathsep.join(["/usr/sbin", "/sbin"])


def what_is_missing() -> str | None:
    """Why these tests cannot run here."""
    if os.geteuid() != 0:
        return "a SLURM of one's own needs root"
    if missing := [c for c in ("slurmctld", "slurmd", "munged", "unshare") if shutil.which(c) is None]:
        return f"no {', '.join(missing)} on the path: tests/cluster/slurm.sh install"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this folder are marked; where there is no SLURM, those that ask for one are skipped, in CI never."""
    reason = None if "CI" in os.environ else what_is_missing()
    for item in items:
        if Path(__file__).parent in item.path.parents and "cluster" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.cluster)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """In a folder that others may enter, which munge's own user must: those of pytest are closed."""
    with tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True) as folder:
        made = Cluster(Path(folder))
        made.folder.chmod(0o755)
        try:
            made.start()
            yield made
        finally:
            made.stop()


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project in which everything has been made on this machine."""
    made = new_project(tmp_path_factory.mktemp("local"))
    done = made.plain(TABLE, "--quiet", "rules")
    assert done.returncode == 0, done.stderr[-3000:]
    return made


@pytest.fixture
def project(local: Project, cluster: Cluster, tmp_path: Path) -> Iterator[Project]:
    """A copy of what has been made; when its test ends, none of its jobs is left on the cluster."""
    made = copy_of(local, tmp_path / "project")
    try:
        yield made
    finally:
        cluster.finish(made.folder)


@pytest.fixture(scope="session")
def overdue(local: Project, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A sweep with a solve that outlasts its minute, SLURM's least, begun at once: it waits beside other tests."""
    made = copy_of(local, tmp_path_factory.mktemp("overdue") / "project")
    made.forget(made.strategies()[0], AFTER)
    made.disturb(local.strategies()[0], seconds=300)
    sweep = made.begin("--set-resources", "solve:runtime=1", "--retries", "0")
    made.running = sweep
    try:
        yield made
    finally:
        kill_group(sweep)
        cluster.finish(made.folder)


@pytest.fixture(scope="session")
def reader(cluster: Cluster) -> Iterator[Reader]:
    """Someone who follows the page while other tests run."""
    with tempfile.TemporaryDirectory(prefix="home-", ignore_cleanup_errors=True) as home:
        made = Reader(Path(home))
        try:
            yield made
        finally:
            kill_group(made.running)
            cluster.finish(made.home / "factormech")
