"""Before a run plans: it is alone in its folder, and leftovers of a dead run go.

Targets ask for every file of theirs, not for the last ones alone (``everything``), so that what is missing is made, and
what depends on it is made again.
"""

import atexit
import logging
import time

from snakemake.logging import logger

from factormech.store import atomic
from factormech.pipeline import recovery

NOTES = Path(".snakemake/factormech")
BEGAN = time.time()
# From here on: a log file on a full disk would fill the screen with tracebacks.
logging.raiseExceptions = False


@cache
def prepared():
    """Once a run, when its plan is begun. A dry run changes nothing; a command that plans no run asks for nothing."""
    if workflow.executor_plugin is None or not workflow.is_main_process or workflow.touch or workflow.dryrun:
        return
    unlimited(workflow.scheduling_settings)
    with recovery.refusing():
        begin()


def begin():
    """Lock the folder, remove what nobody can be using, and write what jobs are expected to take."""
    recovery.check_writable(Path(".snakemake"), Path("results"), Path("figures"))
    run = recovery.claim(Path.cwd(), NOTES)
    if run is not None:
        globals()["RUN_LOCK"] = run  # open until this process ends
        recovery.was_here(run)  # the next run reads which machine this one was on
        if workflow.local_exec:
            os.environ[recovery.VARIABLE] = recovery.ticket(NOTES)
        for folder in ("results", "figures"):
            for path in atomic.sweep(folder):
                logger.info(f"removed what a killed job left: {path}")
    expected = PLAN.expected() | {"cores": workflow.cores}
    atomic.write_whole(NOTES / "expected.json", json.dumps(expected).encode())


def failed():
    """Say what to do; also where Snakemake itself cannot go on, as on a full disk."""
    atexit.unregister(failed)
    if workflow.output_settings.quiet:  # with --quiet rules, Snakemake does not show what failed jobs say
        print(*recovery.errors_in(Path("results/logs"), BEGAN), sep="\n", file=sys.stderr)
    print(f"error: {recovery.after_failure(Path('results'))}", file=sys.stderr, flush=True)


onstart:
    atexit.register(failed)


onsuccess:
    atexit.unregister(failed)


onerror:
    failed()
