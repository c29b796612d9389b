"""What made a file: the package, the libraries, the kernels of BLAS and how many threads it had."""

from __future__ import annotations

import ctypes
import os
import platform
import re
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

import factormech

# OpenBLAS asks its own variable first, then the one of OpenMP.
_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
THREADS_NOT_SET = "not set (every core of the machine)"
# Where NumPy's wheels have their OpenBLAS, and what it calls the function that names its kernels.
_LIBRARIES, _ASKED = "numpy.libs", "scipy_openblas_get_corename64_"
KERNELS_NOT_TOLD = "not told (no OpenBLAS of NumPy's own)"


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
        "blas_kernels": blas_kernels(),
        "blas_threads": blas_threads(),
    }


@cache
def blas_kernels() -> str:
    """The kind of processor that the products of matrices are made for: one processor has other last bits by others.

    OpenBLAS chooses by the processor, unless ``OPENBLAS_CORETYPE`` names another kind.
    """
    for path in sorted((Path(np.__file__).parents[1] / _LIBRARIES).glob("*openblas*")):
        ask = getattr(ctypes.CDLL(str(path)), _ASKED, None)
        if ask is not None:
            ask.restype = ctypes.c_char_p
            return str(ask().decode())
    return KERNELS_NOT_TOLD


def blas_threads() -> int | str:
    """Threads that BLAS was told to use; if it was not told, the text that says so."""
    for variable in _THREAD_VARIABLES:
        # OpenMP allows one number a nesting level, "4,2": the first is the outermost.
        found = re.match(r"\s*([1-9]\d*)\s*(,|$)", os.environ.get(variable, ""))
        if found:
            return int(found[1])
    return THREADS_NOT_SET
