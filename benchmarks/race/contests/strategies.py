"""Strategy optimisation: prefix sums at ε = 1, beside the published algorithm.

The peer is McKenna, Maity, Mazumdar & Miklau's (PVLDB 13(11), 2020), which has no package: it is re-implemented here as
published (``mechanisms/local/adaptive_pgd.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from benchmarks.race.contest import OURS, Contest, Contestant, Prepare, Work

EPSILON, PEER = 1.0, "published algorithm"
SIZES = (64, 128, 256, 512)


class Passed(Exception):
    """Ours found a strategy at least as good as the peer's."""


def workload(n: int) -> Any:
    from factormech.workloads.registry import create

    return create("prefix", n)


def published(n: int, lent: float | None) -> Work:
    """To its own end; its answer is the objective L of the strategy that it returns."""
    from factormech.mechanisms.local import adaptive_pgd

    W = workload(n)
    mechanism = adaptive_pgd.MECHANISM

    def answer(found: Any) -> list[float]:
        strategy = mechanism.restore(found, EPSILON)
        return [strategy.objective(W.centred_gram(), W.total_squared())]

    run = lambda: mechanism.solve(W, EPSILON, np.random.default_rng(0))  # noqa: E731
    return Work((W.centred_gram(),), run, answer)


def ours(*, to_its_end: bool) -> Prepare:
    """The mechanism ``optimised``: to its own end, or until it passes what the peer ended with."""

    def prepare(n: int, lent: float | None) -> Work:
        from factormech.mechanisms.local.optimal import mechanism

        W = workload(n)
        constant = W.total_squared() / n
        goal = None if to_its_end else lent

        def report(step: Any) -> None:
            if goal is not None and step.objective + constant <= goal:
                raise Passed(step.objective + constant)

        def run() -> list[float]:
            try:
                found = mechanism.MECHANISM.solve(W, EPSILON, np.random.default_rng(0), report=report)
            except Passed as passed:
                return [float(passed.args[0])]
            return [float(found.record["objective"]), float(found.record["lower_bound"])]

        return Work((W.centred_gram(),), run, list)

    return prepare


def below_bound(answer: Sequence[float], reference: Sequence[float]) -> float:
    """How far, relatively, an objective is below the certified bound on every strategy; no right one is."""
    return max(0.0, 1.0 - answer[0] / reference[1])


def warm() -> None:
    """Load or compile the kernels of all solvers; larger domains are searched, and descended, in single precision."""
    from factormech.mechanisms.local import adaptive_pgd
    from factormech.mechanisms.local.optimal import mechanism

    rng = np.random.default_rng(0)
    for n in (24, 160):
        mechanism.MECHANISM.solve(workload(n), EPSILON, rng)
    adaptive_pgd.optimise(workload(192).gram(), EPSILON, iterations=1, rng=rng)


CONTESTS = (
    Contest(
        "strategy-prefix",
        "A strategy for prefix sums",
        "n",
        (
            Contestant(
                f"{OURS}, to its end",
                OURS,
                ours(to_its_end=True),
                SIZES,
                warm=warm,
                unlike="ends with a better strategy and a certified bound",
            ),
            Contestant(
                OURS,
                OURS,
                ours(to_its_end=False),
                SIZES,
                lender=PEER,
                warm=warm,
                unlike="until it passes the peer's objective, with the bound that it computes first",
            ),
            Contestant(PEER, OURS, published, SIZES, unlike="re-implemented; no bound"),
        ),
        1e-9,
        "no objective is below the certified bound on every strategy",
        24,
        "objective L",
        below_bound,
    ),
)
