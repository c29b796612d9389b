"""A simulated collection: N users report through a frequency oracle, and the histogram is estimated.

ε = 1 and 64 types. Contestants must agree with the exact law of their own error: ‖estimate − truth‖² over its
expectation is compared with χ² of k − 1 degrees, two-sided; one-sided where a package clips its estimates at zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from benchmarks.race.contest import OURS, SAME_LAW, Contest, Contestant, Prepare, Work, own_surprise

EPSILON, TYPES = 1.0, 64
# Users that take no time, and so many that drawing the sums of their reports is what takes less.
TINY, MANY = 200, 20_000
GROWING, ONE = (10_000, 100_000, 1_000_000), (100_000,)
REPORTS = "makes every report, one call each; ours draws the sums of the reports"


def counts(users: int) -> np.ndarray:
    """Users by type, nearly as the harmonic series."""
    share = 1.0 / np.arange(1, TYPES + 1)
    found = np.floor(users * share / share.sum()).astype(np.int64)
    found[0] += users - found.sum()
    return found


def surprise(estimate: np.ndarray, truth: np.ndarray, expected: float, *, clipped: bool = False) -> list[float]:
    """−log₁₀ p of a squared error, under χ²."""
    from scipy.stats import chi2

    degrees = len(truth) - 1
    error = float(np.sum((np.asarray(estimate, dtype=float) - truth) ** 2)) / expected * degrees
    above = float(chi2.sf(error, degrees))
    p = above if clipped else min(1.0, 2.0 * min(above, float(chi2.cdf(error, degrees))))
    return [-math.log10(max(p, 1e-300))]


def bitwise(p: float, q: float, x: np.ndarray) -> float:
    """The expected squared error of (count − Nq)/(p − q), added over the types."""
    users = float(x.sum())
    return float(np.sum(x * p * (1 - p) + (users - x) * q * (1 - q))) / (p - q) ** 2


def own_law(strategy: Any, estimate: np.ndarray, x: np.ndarray) -> list[float]:
    """The surprise of our estimate under the exact law of its strategy."""
    from factormech.workloads.registry import create

    variance = strategy.evaluate(create("histogram", TYPES).centred_gram()).on(x.astype(float))
    return surprise(estimate, x, variance)


def ours(mechanism: str) -> Prepare:
    """The strategy is made and verified, its reports are summed and its estimates computed."""

    def prepare(users: int, lent: float | None) -> Work:
        from factormech.mechanisms.local.registry import strategy_for
        from factormech.workloads.registry import create

        x = counts(users)

        def run() -> tuple[Any, np.ndarray]:
            strategy: Any = strategy_for(mechanism, create("histogram", TYPES), EPSILON)
            estimates = strategy.simulate_estimates(x, 1, np.random.default_rng(3))
            return strategy, estimates[:, 0] + users / TYPES

        return Work((x,), run, lambda found: own_law(*found, x))

    return prepare


def warm(mechanism: str) -> Callable[[], None]:
    """Load the kernels of both ways: of few users reports are drawn, of many the sums."""

    def run() -> None:
        for users in (TINY, MANY):
            ours(mechanism)(users, None).run()

    return run


def ours_by_report(mechanism: str) -> Prepare:
    """The same with a report drawn for every user, in blocks: the way that the package takes where it is cheaper."""

    def prepare(users: int, lent: float | None) -> Work:
        from factormech.mechanisms.local.registry import strategy_for
        from factormech.workloads.registry import create

        x = counts(users)

        def run() -> tuple[Any, np.ndarray]:
            strategy: Any = strategy_for(mechanism, create("histogram", TYPES), EPSILON)
            sums = strategy.mixture.sample_by_users(x, 1, np.random.default_rng(3))[:, 0]
            return strategy, sums - sums.mean() + users / TYPES

        return Work((x,), run, lambda found: own_law(*found, x))

    return prepare


def by_report(
    collect: Callable[[], Callable[[Sequence[int]], Any]],
    expected: Callable[[np.ndarray], float],
    *,
    clipped: bool = False,
) -> Prepare:
    """A package that makes one report at a time, for the types of all users (0 to k − 1), and returns the histogram."""

    def prepare(users: int, lent: float | None) -> Work:
        x = counts(users)
        types = np.repeat(np.arange(TYPES), x).tolist()
        estimate = collect()
        return Work((x,), lambda: estimate(types), lambda found: surprise(found, x, expected(x), clipped=clipped))

    return prepare


def pure_ldp(kind: str) -> Callable[[], Callable[[Sequence[int]], Any]]:
    """Client and server of pure-ldp; its types begin with 1."""

    def collect() -> Callable[[Sequence[int]], Any]:
        import random

        from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
        from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
        from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

        def estimate(types: Sequence[int]) -> np.ndarray:
            random.seed(3)
            np.random.seed(3)  # noqa: NPY002 (it draws from global state)
            if kind == "hadamard":
                server: Any = HadamardResponseServer(EPSILON, TYPES)
                client: Any = HadamardResponseClient(EPSILON, TYPES, server.get_hash_funcs())
            else:
                make = {"direct": (DEServer, DEClient), "unary": (UEServer, UEClient)}[kind]
                server, client = (side(EPSILON, TYPES) for side in make)
            for u in types:
                server.aggregate(client.privatise(u + 1))
            return np.array([server.estimate(u + 1, suppress_warnings=True) for u in range(TYPES)])

        return estimate

    return collect


def multi_freq(kind: str) -> Callable[[], Callable[[Sequence[int]], Any]]:
    """Client and aggregator of multi-freq-ldpy, whose shares are made counts."""

    def collect() -> Callable[[Sequence[int]], Any]:
        from multi_freq_ldpy.pure_frequency_oracles import GRR, SS, UE

        def estimate(types: Sequence[int]) -> np.ndarray:
            if kind == "direct":
                shares = GRR.GRR_Aggregator_MI([GRR.GRR_Client(u, TYPES, EPSILON) for u in types], TYPES, EPSILON)
            elif kind == "subset":
                shares = SS.SS_Aggregator_MI([SS.SS_Client(u, TYPES, EPSILON) for u in types], TYPES, EPSILON)
            else:
                reports = [UE.UE_Client(u, TYPES, EPSILON, False) for u in types]
                shares = UE.UE_Aggregator_MI(reports, EPSILON, False)
            return np.asarray(shares) * len(types)

        return estimate

    return collect


def direct_law(x: np.ndarray) -> float:
    e = math.exp(EPSILON)
    return bitwise(e / (e + TYPES - 1), 1 / (e + TYPES - 1), x)


def unary_law(x: np.ndarray) -> float:
    p = 1.0 / (1.0 + math.exp(-EPSILON / 2))
    return bitwise(p, 1.0 - p, x)


def subset_law(x: np.ndarray) -> float:
    e, k = math.exp(EPSILON), TYPES
    s = int(max(1, np.rint(k / (e + 1))))
    total = s * e + k - s
    return bitwise(s * e / total, ((s - 1) * s * e + (k - s) * s) / ((k - 1) * total), x)


def hadamard_law(x: np.ndarray) -> float:
    """Of coth(ε/2)·Σ ±1: each type is estimated from a sign of every report."""
    return TYPES * float(x.sum()) / math.tanh(EPSILON / 2) ** 2 - float(x.sum())


def peer(package: str, kind: str, law: Callable[[np.ndarray], float], sizes: tuple[int, ...]) -> Contestant:
    """A package that makes every report."""
    if package == "pure-ldp":
        return Contestant(package, package, by_report(pure_ldp(kind), law), sizes, peers=True, unlike=REPORTS)
    how = f"{REPORTS}; clips at zero"
    prepare = by_report(multi_freq(kind), law, clipped=True)
    return Contestant(package, package, prepare, sizes, peers=True, unlike=how)


def by_users(mechanism: str) -> Contestant:
    """Ours with a report for every user, which unary encoding and subset selection have a door for."""
    how = "draws a report for every user, in blocks"
    return Contestant(f"{OURS}, report by report", OURS, ours_by_report(mechanism), ONE, unlike=how)


def contest(name: str, title: str, mechanism: str, peers: tuple[Contestant, ...], sizes: tuple[int, ...]) -> Contest:
    return Contest(
        f"collection-{name}",
        f"Collection by {title}",
        "N",
        (
            Contestant(
                OURS, OURS, ours(mechanism), sizes, unlike="draws the sums of the reports", warm=warm(mechanism)
            ),
            *peers,
        ),
        SAME_LAW,
        "each squared error follows its own exact law at a level of one in a million",
        TINY,
        "−log₁₀ p of the error",
        own_surprise,
    )


PURE, MULTI = "pure-ldp", "multi-freq-ldpy"
CONTESTS = (
    contest(
        "direct",
        "randomized response",
        "randomized-response",
        (peer(PURE, "direct", direct_law, GROWING), peer(MULTI, "direct", direct_law, GROWING)),
        GROWING,
    ),
    contest(
        "unary",
        "unary encoding",
        "rappor",
        (by_users("rappor"), peer(PURE, "unary", unary_law, ONE), peer(MULTI, "unary", unary_law, ONE)),
        ONE,
    ),
    contest(
        "subset",
        "subset selection",
        "subset-selection",
        (by_users("subset-selection"), peer(MULTI, "subset", subset_law, ONE)),
        ONE,
    ),
    contest("hadamard", "Hadamard response", "hadamard-table1", (peer(PURE, "hadamard", hadamard_law, ONE),), ONE),
)
