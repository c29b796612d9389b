"""Student's interval misses as often as it says, and is the known one."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.errors import BadValue
from factormech.numerics import intervals
from factormech.numerics.intervals import student_half_width


def test_a_known_interval() -> None:
    """Of 1, 2, 3 at 5 %: t of two degrees of freedom, 4.3027, over √3."""
    assert student_half_width(np.array([1.0, 2.0, 3.0]), 0.05) == pytest.approx(4.302652729911275 / np.sqrt(3.0))


@pytest.mark.parametrize("draws", [2, 5, 40])
def test_it_misses_as_often_as_it_says(draws: int) -> None:
    """4000 samples at 10 %: within five standard deviations."""
    samples = np.random.default_rng(draws).standard_normal((4000, draws))
    missed = sum(abs(one.mean()) > student_half_width(one, 0.1) for one in samples)
    assert abs(missed - 400) < 5 * np.sqrt(4000 * 0.1 * 0.9)


def test_the_ends_of_clopper_pearson() -> None:
    """All successes leave 1 possible, and no more; counts and levels that cannot be are refused."""
    assert intervals.clopper_pearson(5, 5, 0.1)[1] == 1.0
    assert intervals.clopper_pearson(0, 5, 0.1)[0] == 0.0
    for k, level in ((6, 0.1), (5, 1.05), (5, 0.0)):
        with pytest.raises(BadValue):
            intervals.clopper_pearson(k, 5, level)
