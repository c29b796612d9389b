"""A few of the faults of ``make trust``: the run survives them, and a check that survives nothing is no check."""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from factormech.pipeline import recovery

TOOLS = Path(__file__).resolve().parents[1] / "tools"
sys.path.insert(0, str(TOOLS))
import faults  # type: ignore[import-not-found]  # noqa: E402
import trust  # type: ignore[import-not-found]  # noqa: E402

sys.path.remove(str(TOOLS))
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return trust.Bench(tmp_path_factory.mktemp("bench").resolve())


FEW = (
    "kill -9 of Snakemake",
    "kill -9 of a job",
    "kill -9 again and again",
    "two runs at once",
    "too little memory",
    "8 GiB of memory",
    "foreign result",
)


@pytest.mark.parametrize("fault", FEW)
def test_faults_are_survived(bench: Any, fault: str) -> None:
    row = trust.tried(bench, 0, "six jobs", fault, seed=1)
    assert row["outcome"] in ("complete", "told, then complete"), row["note"]


def test_a_limit_on_every_job_is_felt(bench: Any) -> None:
    """The trial in which 8 GiB are enough means something: in 30 MB no job ends."""
    trial = bench.trial("six jobs", False, random.Random(0))
    assert trial.ended(trial.start(limit="every 30000")) == 1
    assert not trial.results(".h5")


def test_a_sweep_is_complete_though_each_run_is_killed(bench: Any) -> None:
    """Twenty points, killed again and again: equal to an undisturbed sweep, file by file."""
    small = trust.Bench(bench.folder.with_name("sweep"), points=20)
    row = trust.tried(small, 0, "sweep", "kill -9 again and again", seed=1)
    assert row["outcome"] in ("complete", "told, then complete"), row["note"]
    assert row["runs"] > 2


def test_jobs_of_a_dead_run_are_found_and_its_lock_is_not_in_the_way(bench: Any) -> None:
    """Killed while a job is at work: the next run says so; after the job's end, it just runs."""
    trial = bench.trial("six jobs", False, random.Random(0))
    module = trial.folder / "src/factormech/pipeline/evaluate.py"
    whole, stamp = module.read_text(), module.stat().st_mtime_ns
    module.write_text(whole.replace("    run(main)", "    import time\n\n    run(lambda: time.sleep(600))"))
    run = trial.start()
    lock = trial.folder / ".snakemake/factormech/jobs.lock"
    while not (jobs := sorted(set(recovery.holders(lock)) - {run.pid})):
        assert run.poll() is None
        time.sleep(0.02)
    run.kill()
    try:
        assert trial.ended(run) < 0
        assert list((trial.folder / ".snakemake/locks").iterdir())
        assert trial.ended(trial.start()) == 1
        assert "jobs of a run that was killed (" in trial.said[-1]
        assert str(jobs[0]) in trial.said[-1]
    finally:
        trial.end()
    module.write_text(whole)
    os.utime(module, ns=(stamp, stamp))
    trial.check_sound()
    assert faults.settle(trial) == 1


def test_a_job_of_a_dead_run_does_not_begin_beside_the_next_run(bench: Any) -> None:
    """Held before it can lock anything, and let go when another run has been there."""
    trial = bench.trial("six jobs", False, random.Random(0))
    hold, release = bench.tools / "hold", bench.tools / "release"
    hold.touch()
    run = trial.start()
    while not faults.jobs_of(trial.folder):
        assert run.poll() is None
        time.sleep(0.02)
    run.kill()
    try:
        assert trial.ended(run) < 0
        hold.unlink()
        assert trial.ended(trial.start()) == 0
        stamps = {path: path.stat().st_mtime_ns for path in trial.results(".h5")}
        release.touch()
        while faults.jobs_of(trial.folder):
            time.sleep(0.05)
    finally:
        trial.end()
        release.unlink(missing_ok=True)
    assert {path: path.stat().st_mtime_ns for path in trial.results(".h5")} == stamps
    assert faults.settle(trial) == 1


def test_a_result_that_could_not_be_made_again_is_not_forgotten(bench: Any) -> None:
    """Code changed under an old time stamp; the one job that it concerns fails; the next run makes it."""
    trial = bench.trial("six jobs", True, random.Random(0))
    module = trial.folder / "src/factormech/mechanisms/local/hadamard.py"
    old = module.stat().st_mtime - 10**6
    module.write_text(module.read_text() + "\nOTHER = 1\n")
    os.utime(module, (old, old))
    assert trial.ended(trial.start(limit="evaluate 30000")) == 1
    assert not (trial.folder / "results/parts/small/hadamard.h5").exists()
    assert trial.ended(trial.start()) == 0
    assert (trial.folder / "results/parts/small/hadamard.h5").exists()


def test_what_is_not_right_is_seen(bench: Any) -> None:
    """A changed table, a temporary file and a traceback are no survival."""
    trial = bench.trial("six jobs", True, random.Random(0))
    table = trial.folder / "results/tables/small.csv"
    whole = table.read_bytes()
    table.write_bytes(whole.replace(b"2322.", b"2323.", 1))
    with pytest.raises(faults.Broken, match=r"small\.csv is there"):
        trial.check_sound()
    faults.settle(trial)  # a run makes an edited table again
    assert table.read_bytes() == whole
    trial.expected["results/tables/small.csv"] = whole.replace(b"2322.", b"2323.", 1)
    with pytest.raises(faults.Broken, match="different from an undisturbed run"):
        faults.settle(trial)
    trial.expected["results/tables/small.csv"] = whole
    (trial.folder / "results" / ".x.tmp").touch()
    with pytest.raises(faults.Broken, match="left behind"):
        faults.settle(trial)
