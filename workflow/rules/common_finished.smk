"""What had finished when a run was killed is not made again.

Snakemake marks the files of a job when it is submitted, and takes the marks away when it sees its end. If it is killed
in between, it distrusts whatever is there. But results are written whole, and sealed: one that is newer than its
mark is what the job made, however the run ended.
"""

import base64

from snakemake.io import IOFile
from snakemake.logging import logger

from factormech import _seal
from factormech.errors import BadValue

MARKS = Path(".snakemake/incomplete")


def keep_finished():
    """Take the marks of finished results away."""
    for mark in filter(Path.is_file, MARKS.rglob("*")):
        name = marked_file(mark)
        if name.endswith(".h5") and is_made_after(mark, Path(name)):
            logger.info(f"finished, and kept: {name}")
            workflow.persistence.cleanup_metadata(IOFile(name))


def marked_file(mark):
    """The file that a mark stands for; a long name is cut into folders, each of which begins with @."""
    parts = [part.removeprefix("@") for part in mark.relative_to(MARKS).parts]
    return base64.urlsafe_b64decode("".join(parts)).decode()


def is_made_after(mark, result):
    """Whether a whole result is there that is no older than the mark of its job."""
    try:
        return result.stat().st_mtime >= mark.stat().st_mtime and _seal.check_place(result) is None
    except (BadValue, OSError):
        return False
