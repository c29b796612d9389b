"""What the jobs of a run are expected to take, for those who wait: ``tools/progress.py`` reads it."""

from contextlib import suppress

from factormech import atomic

EXPECTED = Path(".snakemake/factormech/expected.json")
# Jobs of which the benchmark says nothing, such as targets and downloads: a start of Python.
UNKNOWN_SECONDS = 0.3


def expected_seconds(job):
    """The seconds of one job on one core."""
    name = "solve" if job.rule.name in SOLVES else job.rule.name
    if name in REQUESTS.works:
        return cost.seconds(REQUESTS.work(name, dict(job.wildcards_dict)))
    return UNKNOWN_SECONDS


def note_expected(jobs):
    """Write the seconds of every job of the plan by its number; a full disk is told by the jobs themselves."""
    seconds = {str(workflow.dag.jobid(job)): round(expected_seconds(job), 2) for job in jobs}
    with suppress(OSError):
        EXPECTED.unlink(missing_ok=True)
        atomic.write_whole(EXPECTED, json.dumps({"cores": workflow.cores, "seconds": seconds}).encode())
