"""Snakemake's own scheduler: what of it costs too much in a run of many jobs."""

from snakemake.settings.types import MaxJobsPerTimespan

# Snakemake 9.27 with a limit on jobs per time span looks at all jobs that are ready once more for every job that has ended.
# The limit that it has by default restrains nothing here; one that the user gives stays.
UNASKED = MaxJobsPerTimespan.parse_choice("100/1s")


def unlimited(settings):
    """Take Snakemake's default limit away."""
    limit = settings.max_jobs_per_timespan
    if limit and (limit.max_jobs, limit.timespan) == (UNASKED.max_jobs, UNASKED.timespan):
        settings.max_jobs_per_timespan = None
