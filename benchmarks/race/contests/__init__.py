"""All contests. Nothing but NumPy is loaded here: the environment of the peers does not have this project."""

from __future__ import annotations

from benchmarks.race.contest import Contest
from benchmarks.race.contests import calibration, collection, consistency, norms, strategies

CONTESTS: dict[str, Contest] = {
    contest.name: contest
    for module in (calibration, consistency, norms, collection, strategies)
    for contest in module.CONTESTS
}
