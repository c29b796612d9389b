"""The array types of the package, and the checks every public door shares."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from factormech.errors import BadValue

FloatArray: TypeAlias = npt.NDArray[np.float64]
SingleArray: TypeAlias = npt.NDArray[np.float32]
# Of either precision, where the same lines are run in both.
RealArray: TypeAlias = npt.NDArray[Any]
IntArray: TypeAlias = npt.NDArray[np.int64]

# A dense array above this many bytes is refused with the reason instead of filling the machine.
DENSE_BYTES_LIMIT = 4 * 2**30
# The privacy budgets that configurations, the command line and the Python interface take: tests hold errors and bounds
# to references over this range.
EPSILON_RANGE = (0.001, 40.0)
BUDGET_RULE = "be a number from 0.001 to 40, where errors are computed without loss of digits"


def check_positive_integer(name: str, value: Any, *, minimum: int = 1) -> int:
    """Return ``value`` as an ``int`` at least ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < minimum:
        example = max(minimum, 64)
        raise BadValue(name, value, f"be a whole number of at least {minimum}", f"give for example {example}")
    return int(value)


def check_epsilon(value: Any, name: str = "epsilon") -> float:
    """Return the privacy budget as a ``float``: finite and above zero."""
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not good or not math.isfinite(value) or value <= 0:
        raise BadValue(name, value, "be a finite number above 0", "give for example 1.0")
    return float(value)


def check_budget(value: Any, name: str = "epsilon") -> float:
    """Return a user's privacy budget as a ``float``, in the one range that all doors of the package have.

    Far below it e^ε − 1 loses its digits (at 1e-8 a strategy seems to answer no workload); far above it, e^-ε is lost
    beside 1.
    """
    low, high = EPSILON_RANGE
    epsilon = check_epsilon(value, name)
    if not low <= epsilon <= high:
        raise BadValue(name, value, BUDGET_RULE, "give for example 1.0")
    return epsilon


def check_dense_size(what: str, *shape: int) -> None:
    """Refuse a dense float64 array of this shape if it would not fit (see ``DENSE_BYTES_LIMIT``)."""
    size = 8 * math.prod(shape)
    if size > DENSE_BYTES_LIMIT:
        raise BadValue(
            what,
            " x ".join(map(str, shape)),
            f"fit in {DENSE_BYTES_LIMIT / 2**30:.0f} GiB as a dense matrix (this needs {size / 2**30:.1f})",
            "use its products, spectrum or a smaller domain size instead",
        )
