"""Sweeps on a real SLURM: what they make, and what they survive."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cluster.page import Reader
from tests.cluster.project import AFTER, TABLE, Project, new_project
from tests.cluster.site import PATIENCE, Cluster, kill_group, queue, wait_until


def running(project: Project, file: str) -> str:
    """The SLURM job that is at work on a file; waits for it."""
    wait_until(lambda: any(line.startswith(f"{file} ") for line in project.lines("began")))
    return next(line.split()[1] for line in project.lines("began") if line.startswith(f"{file} "))


def node_of(project: Project, file: str) -> str:
    """Where the last attempt at a file runs."""
    return [line.split()[-1] for line in project.lines("began") if line.startswith(f"{file} ")][-1]


def test_the_sweep_makes_what_the_local_run_makes(
    local: Project, cluster: Cluster, overdue: Project, reader: Reader, tmp_path: Path
) -> None:
    """Twenty-one jobs in batches and alone: the same files, byte for byte; the cost is said first."""
    project = new_project(tmp_path)
    project.target = TABLE
    said = project.sweep()
    assert re.search(r"config.yaml: 1 study, 36 measurements; from nothing about \S+ core-hours", said)
    project.check(local.datasets())
    jobs = {line.split()[1] for line in project.lines("began")}
    solves = {line.split()[1] for line in project.lines("began") if line.startswith("results/strategies")}
    assert "local" not in jobs
    assert len(project.strategies()) == 12
    assert len(solves) == 3  # four a batch


def test_solves_that_are_worth_a_job_are_one_array(local: Project, project: Project) -> None:
    """With batches of none: the predictor is told that a second is long."""
    cost = project.folder / "src/factormech/studies/cost.py"
    cost.write_text(cost.read_text().replace("BATCH_SECONDS = (2, 8, 30)", "BATCH_SECONDS = (0,)"))
    asked = project.strategies()[:4]
    project.forget(*asked, AFTER)
    project.sweep()
    project.check(local.datasets())
    began = [line.split() for line in project.lines("began") if line.startswith("results/strategies")]
    assert len({job for _, job, *_ in began}) == 4  # four tasks, each a job with an id of its own
    (array,) = {array for _, _, array, *_ in began}
    assert array != "alone"


def test_a_job_over_its_memory_is_tried_again_with_more(local: Project, project: Project) -> None:
    """It asks for twice as much the second time, and is done; without a second time it is killed."""
    victim = project.strategies()[0]
    project.forget(victim, AFTER)
    project.disturb(victim, mb=900)
    said = project.sweep("--set-resources", "solve:mem_mb=700*2**(attempt-1)")
    assert len([line for line in project.lines("began") if line.startswith(f"{victim} ")]) == 2
    assert re.search(r"OUT_OF_MEMORY|FAILED|CANCELLED", said)
    project.check(local.datasets())


def test_after_scancel_a_rerun_makes_what_is_missing(local: Project, project: Project) -> None:
    """One solve is cancelled while it runs; the others finish; the rerun makes that one and what hangs on it."""
    victim, *others = project.strategies()[:3]
    project.forget(victim, *others, AFTER)
    project.disturb(victim, seconds=300)
    sweep = project.begin("--retries", "0", "--group-components", "solves-of-2-seconds=1")
    try:
        job = running(project, victim)
        wait_until(lambda: len(project.lines("finished")) == len(others))
        queue("scancel", job)
        assert sweep.wait(timeout=PATIENCE) != 0
    finally:
        kill_group(sweep)
    assert not (project.folder / victim).exists()
    project.calm()
    project.sweep()
    made = project.lines("finished")
    assert sorted(made[: len(others)]) == sorted(others)
    assert made[len(others)] == victim
    project.check(local.datasets())


def test_after_kill_9_of_snakemake_a_rerun_makes_what_is_missing(
    local: Project, project: Project, cluster: Cluster
) -> None:
    """What was finished stays, also where Snakemake was not told any more; the folder is unlocked; the rest is made."""
    victim, *others = project.strategies()[:3]
    project.forget(victim, *others, AFTER)
    project.disturb(victim, seconds=300)
    sweep = project.begin("--group-components", "solves-of-2-seconds=1")
    running(project, victim)
    wait_until(lambda: sorted(project.lines("finished")) == sorted(others))
    kill_group(sweep)
    assert "jobs of an earlier sweep in this folder are in the queue" in project.sweep(fails=True)
    cluster.finish(project.folder, "--signal=KILL", "--full")
    project.calm()
    assert project.plain("--unlock", AFTER).returncode == 0
    project.sweep()
    project.check(local.datasets())


def test_a_job_over_its_time_is_reported(local: Project, overdue: Project, cluster: Cluster) -> None:
    """With the words of SLURM; the rest is there, and a rerun without the delay completes it."""
    victim = local.strategies()[0]
    assert overdue.running is not None
    assert overdue.running.wait(timeout=PATIENCE) != 0
    said = overdue.said
    assert re.search(r"JOB \d+ ON n\d CANCELLED AT \S+ DUE TO TIME LIMIT", said)
    assert victim in said
    assert "JobState=TIMEOUT" in (cluster.folder / "log/jobcomp.txt").read_text()
    assert not (overdue.folder / victim).exists()
    overdue.calm()
    overdue.sweep()
    overdue.check(local.datasets())


def test_a_job_whose_node_dies_runs_on_the_other(local: Project, project: Project, cluster: Cluster) -> None:
    """SLURM queues it again, under the same number; Snakemake only waits."""
    victim = project.strategies()[0]
    project.forget(victim, AFTER)
    project.disturb(victim, seconds=10)
    sweep = project.begin("--retries", "0")
    try:
        job = running(project, victim)
        dead = node_of(project, victim)
        cluster.kill(dead)
        wait_until(lambda: node_of(project, victim) != dead)
        assert [line.split()[1] for line in project.lines("began") if line.startswith(f"{victim} ")] == [job, job]
        assert sweep.wait(timeout=PATIENCE) == 0, project.said[-3000:]
    finally:
        kill_group(sweep)
        cluster.revive(dead)
    project.check(local.datasets())
