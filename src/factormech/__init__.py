"""Factorization mechanisms for linear queries under differential privacy.

``factormech.load(path)`` reads any result file of the project. Everything else lives in the rooms:
``workloads``, ``local``, ``bounds``, ``measure``, ``figures``; see ``docs/concepts.md``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from factormech.reading import load as load

__all__ = ["__version__", "load"]

if sys.argv[:1] == ["-m"]:  # as long as ``python -m factormech.…`` loads the package: a job, or the command line
    from factormech.starved import check_limit, in_one_line

    sys.excepthook = in_one_line
    check_limit()


def __getattr__(name: str) -> Any:
    # Imported on demand: h5py is not loaded by a process that only wants the mathematics.
    if name == "load":
        from factormech.reading import load

        return load
    raise AttributeError(f"module 'factormech' has no attribute {name!r}")
