"""What a registry answers where a mechanism cannot run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unavailable:
    """Why there is no such mechanism at a grid point, in words that tables, legends and captions repeat.

    Examples
    --------
    >>> import factormech as fm
    >>> fm.mechanism("binary-tree", epsilon=1.0, delta=1e-9).fit(fm.workload("histogram", 4)).strategy
    Unavailable(reason='it is for prefix sums and ranges only')
    """

    reason: str
