"""The lines that a long solve writes."""

from __future__ import annotations

import io

from factormech.mechanisms.local.optimal.problem import Step
from factormech.pipeline.progress import progress


def test_lines_come_now_and_then_with_gap_and_time_left() -> None:
    out, now = io.StringIO(), 0.0
    tell = progress(out, lambda: now, every=5.0)
    for i in range(7):
        tell(Step("pricing", i, 20, 110.0, 100.0))
        now += 2.0
    # The first of the seven comes at 0 s and the fourth at 6 s, after 3 of 20 steps of 2 s each.
    assert out.getvalue().splitlines() == [
        "pricing: step 3 of 20, objective 110, lower bound 100 (gap 10 %), at most 34 s left",
        "pricing: step 6 of 20, objective 110, lower bound 100 (gap 10 %), at most 28 s left",
    ]


def test_a_solver_without_a_bound_tells_its_objective_and_minutes() -> None:
    out, now = io.StringIO(), 0.0
    tell = progress(out, lambda: now, every=0.0)
    tell(Step("descent", 0, 10, 3.5, 0.0))
    now = 60.0
    tell(Step("descent", 1, 10, 3.25, 0.0))
    assert out.getvalue() == (
        "descent: step 0 of 10, objective 3.5\ndescent: step 1 of 10, objective 3.25, at most 9 min left\n"
    )
