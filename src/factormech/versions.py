"""What made a file: the package, the libraries and the number of BLAS threads."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import version

import factormech

# OpenBLAS asks its own variable first, then the one of OpenMP.
_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
THREADS_NOT_SET = "not set (every core of the machine)"


def provenance() -> dict[str, str | int]:
    """Versions of all that can change the bits of a result; no time and no name of a machine.

    Versions come from the installed packages' metadata: scipy need not be imported to be named.
    """
    libraries = {f"{name}_version": version(name) for name in ("numpy", "scipy", "h5py")}
    return {
        "package": "factormech",
        "package_version": factormech.__version__,
        "python_version": platform.python_version(),
        **libraries,
        "blas_threads": blas_threads(),
    }


def blas_threads() -> int | str:
    """Threads that BLAS was told to use; if it was not told, the text that says so."""
    for variable in _THREAD_VARIABLES:
        # OpenMP allows one number a nesting level, "4,2": the first is the outermost.
        found = re.match(r"\s*([1-9]\d*)\s*(,|$)", os.environ.get(variable, ""))
        if found:
            return int(found[1])
    return THREADS_NOT_SET
