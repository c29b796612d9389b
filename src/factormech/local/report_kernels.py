"""A compiled loop over the counts of a level of a tree of reports, for :mod:`factormech.local.reports`.

Importing this module imports numba (half a second), so its users import it where they need it.
"""

from __future__ import annotations

from factormech.arrays import IntArray
from factormech.compiled import compiled


@compiled()
def join(
    cells: IntArray, number: IntArray, left: IntArray, left_joins: IntArray, right_joins: IntArray, below: IntArray
) -> None:
    """Add the two parts of every count to the classes that they join, in ``below``, (classes below, trials).

    Count k is that of class ``cells[k]`` // trials in trial ``cells[k]`` % trials; ``left[k]`` of its ``number[k]``
    reports go left.
    """
    trials = below.shape[1]
    for k in range(cells.size):
        place, trial = cells[k] // trials, cells[k] % trials
        below[left_joins[place], trial] += left[k]
        below[right_joins[place], trial] += number[k] - left[k]
