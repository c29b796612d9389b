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
