"""Before a run plans: it is alone in its folder, and a dead run's leftovers go."""

import atexit
import logging

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from factormech import atomic, recovery

NOTES = Path(".snakemake/factormech")
# From here on: a log file on a full disk would fill the screen with tracebacks.
logging.raiseExceptions = False


@cache
def prepared():
    """Once a run, when its plan is begun. A dry run changes nothing; a command that plans no run asks for nothing."""
    if workflow.executor_plugin is None or not workflow.is_main_process or workflow.touch:
        return
    unlimited(workflow.scheduling_settings)
    # Snakemake's own work on the files of a job fails as the job does where nothing can be written.
    workflow.async_run = recovery.in_one_line(workflow.async_run, WorkflowError)
    if not workflow.dryrun:
        with recovery.refusing():
            begin()
        keep_finished()


def begin():
    """Lock the folder and remove what nobody can be using."""
    recovery.check_writable(Path(".snakemake"), Path("results"), Path("figures"))
    run = recovery.claim(Path.cwd(), NOTES)
    if run is None:
        return
    globals()["RUN_LOCK"] = run  # open until this process ends
    if workflow.local_exec:
        os.environ[recovery.VARIABLE] = recovery.ticket(NOTES)
    if recovery.was_here(run):
        for path in Path(".snakemake/locks").glob("*.lock"):
            path.unlink(missing_ok=True)
    for folder in ("results", "figures"):
        for path in atomic.sweep(folder):
            logger.info(f"removed what a killed job left: {path}")


def failed():
    """Say what to do; also where Snakemake itself cannot go on, as on a full disk."""
    atexit.unregister(failed)
    print(f"error: {recovery.after_failure(Path('results'))}", file=sys.stderr, flush=True)


onstart:
    atexit.register(failed)
    planned = [*workflow.dag.needrun_jobs()]
    with recovery.refusing():
        note_expected(planned)


onsuccess:
    atexit.unregister(failed)


onerror:
    failed()
