"""Users that second moments, covariances and 2-way marginals take under pure privacy, above their lower bounds.

Theorems 1.3 and 6.2 of Nikolov (*Private query release via the Johnson–Lindenstrauss transform*, SODA 2023) are about
these numbers. Second moments and covariances are those of rows in the unit ball of R^d, with errors E‖·‖_F and the
mechanisms of :mod:`factormech.studies.pure_covariance`. 2-way marginals are those of d attributes, with errors
E‖·‖₂/√k over the k = d(d − 1)/2 pairs (:mod:`factormech.mechanisms.pure.pairs`); their data are words drawn at random,
s of them with equally many users, s = 1, 4, 16 … 4d.

Errors are computed at n = 1, 2, 4 …, with noise that all n share, and inverted as in
:mod:`factormech.studies.measures.pure_users`. The bounds are those of :mod:`factormech.bounds.packing.moments`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from factormech.studies import pure, pure_covariance
from factormech.studies.base import (
    REASON,
    Asked,
    Axis,
    Column,
    Curves,
    Experiment,
    PaperTable,
    Problem,
    Shown,
    split,
)
from factormech.studies.full_parity_users import ACCURACY
from factormech.studies.pure_covariance import COVARIANCE, MOMENT
from factormech.studies.sweeps import swept

PAIRS = "2-way-marginals"
MECHANISMS = {
    MOMENT: pure_covariance.NAMES,
    COVARIANCE: ("trace-projection", "l2-ball-projection"),
    PAIRS: (pure.LAPLACE, "l2-ball", "trace", "trace-projection"),
}
STATISTIC = Axis("statistic", {"type": "string", "enum": list(MECHANISMS)}, MOMENT, default=(MOMENT, COVARIANCE))
# Doublings of n after which an error that has not been reached is given up.
_DOUBLINGS = 26


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the users of every mechanism for every statistic, number of coordinates and accuracy."""
    from factormech.seeds import rng_for
    from factormech.studies.measures.pure_users import inverted, told

    x = sorted(asked["accuracy"])
    for statistic, d in asked.points("statistic", "coordinates"):
        below = [_needed(statistic, d, 1.0 / value, asked["epsilon"]) for value in x]
        curves = _of_pairs if statistic == PAIRS else partial(_of_moments, statistic)

        def chance(*stream: str, statistic: str = statistic, d: int = d) -> Any:
            return rng_for(asked.seed, "pure-covariance-users", statistic, str(d), *stream)

        for mechanism, errors in curves(d, asked, chance):
            found = _curve(errors, 1.0 / x[-1])
            for accuracy, bound in zip(x, below, strict=True):
                needed = inverted(found, 1.0 / accuracy) if isinstance(found, list) else found
                yield {
                    "statistic": statistic,
                    "coordinates": d,
                    "epsilon": asked["epsilon"],
                    "mechanism": mechanism,
                    "accuracy": accuracy,
                    "alpha": 1.0 / accuracy,
                    "certified_users": bound.users,
                    "bound_method": bound.last.method if bound.last is not None else "none",
                    **told(needed, ()),
                }


def _needed(statistic: str, d: int, alpha: float, epsilon: float) -> Any:
    """Users that every mechanism needs, from two on for covariances: one user has none."""
    from factormech.bounds.packing import moments
    from factormech.bounds.packing.lower import users_needed

    bounds = {MOMENT: moments.second_moments, COVARIANCE: moments.covariances, PAIRS: moments.two_way_marginals}
    bound, first = bounds[statistic], 2 if statistic == COVARIANCE else 1
    return users_needed(lambda n: bound(d, n, epsilon), alpha, first=first)


def _curve(errors: Any, alpha: float) -> Any:
    """The errors at 1, 2, 4 … users as far as α; or why there are none."""
    from factormech.errors import Unavailable
    from factormech.mechanisms.central.moments import Estimate
    from factormech.studies.measures.pure_users import Point

    if isinstance(errors, Unavailable):
        return errors
    curve: list[Point] = []
    for i in range(_DOUBLINGS):
        row = errors(2**i)
        error = Estimate(row["frobenius_error"], max(0.0, row["low"]), row["high"])
        curve.append(Point(2**i, error, 0, int(row.get("sparsity", 0))))
        if error.high <= alpha:
            break
    return curve


def _of_moments(statistic: str, d: int, asked: Asked, chance: Any) -> Iterator[tuple[str, Any]]:
    """Pairs of a mechanism and a function n → error with its interval, or the reason why there is none."""
    from factormech.errors import Unavailable

    for mechanism in MECHANISMS[statistic]:
        reason, errors = pure_covariance.errors_of(mechanism, statistic, d, asked, chance(mechanism))
        yield mechanism, Unavailable(reason) if errors is None else errors


def _of_pairs(d: int, asked: Asked, chance: Any) -> Iterator[tuple[str, Any]]:
    """The same of 2-way marginals; noise with and without the projection is the same."""
    import math

    from factormech.errors import Unavailable
    from factormech.mechanisms.pure import pairs
    from factormech.studies.measures.pure import laplace_norm

    k, epsilon = d * (d - 1) // 2, asked["epsilon"]
    yield pure.LAPLACE, _falling(math.sqrt(k) * laplace_norm(k) / epsilon)
    yield "l2-ball", _falling(k / epsilon)
    drawn = pairs.release(d, epsilon).draw(chance("noise"), asked["draws"])
    if isinstance(drawn, Unavailable):
        yield from [("trace", drawn), ("trace-projection", drawn)]
        return
    words = chance("words").integers(0, 2, (4 * d, d))

    def errors(moment: Any, _: Any, n: int) -> Any:
        return pairs.errors(drawn.moments(moment, n), moment)

    def data(n: int) -> list[Any]:
        sizes = sorted({min(4**i, len(words), n) for i in range(len(words).bit_length())})
        return [(s, *_moments(pairs.sign_rows(words[:s]), n)) for s in sizes]

    yield "trace", _raw_pairs(drawn.noise)
    yield "trace-projection", lambda n: pure_covariance.worst_of(errors, data(n), n)


def _falling(one: float, low: float | None = None, high: float | None = None) -> Any:
    """The error of noise alone, 1/n of that of one user on all data."""
    ends = {"frobenius_error": one, "low": one if low is None else low, "high": one if high is None else high}
    return lambda n: {name: value / n for name, value in ends.items()}


def _raw_pairs(noise: Any) -> Any:
    import numpy as np

    from factormech.mechanisms.central.moments import student
    from factormech.mechanisms.pure import pairs

    one = student(pairs.errors(noise, np.zeros(noise.shape[1:])), pure_covariance.LEVEL)
    return _falling(one.value, one.low, one.high)


def _moments(rows: Any, n: int) -> tuple[Any, Any]:
    """(M, μ) of n users spread evenly over these rows."""
    import numpy as np

    from factormech.mechanisms.pure.errors import spread

    shares = spread(n, np.arange(len(rows)), len(rows)) / n
    return (rows.T * shares) @ rows, shares @ rows


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose users are outside their interval, or surely fewer than are needed."""
    if not row["low"] <= row["measured_users"] <= row["high"] + 1.0:
        return "measured_users", "be between low and high, rounded up"
    if row["high"] + 1.0 < row["certified_users"]:
        return "high", "be at least certified_users: no ε-private mechanism needs fewer"
    return None


def _seconds(asked: Asked) -> float:
    """Eigenvalues at some twenty n, and lifts where there are any."""
    cubes = sum(d**3 for d in asked["coordinates"]) * asked["draws"] * len(asked["statistic"])
    lifts = sum(d**2 for d in asked["coordinates"] if d <= pure_covariance.LIFTED) * asked["matrices"]
    return float(2.0 + 2e-7 * cubes + 4e-3 * lifts * (MOMENT in asked["statistic"]))


_KIND = Experiment(
    kind="pure-covariance-users",
    description="Users that second moments, covariances and 2-way marginals take under pure privacy.",
    axes=(STATISTIC, pure_covariance.SIZE, ACCURACY),
    settings=(
        pure_covariance.count("draws", 8, 40, "Draws of noise; half choose the worst data, the others measure."),
        pure_covariance.count("matrices", 8, 12, "Random matrices of JL release, one draw of noise for each."),
    ),
    columns=(
        STATISTIC.column(),
        pure_covariance.SIZE.column(),
        pure.SPENT,
        Column("mechanism"),
        ACCURACY.column(),
        Column("alpha", at_least=0.0),
        Column("measured_users", empty="reason", at_least=1),
        Column("low", empty="reason", at_least=0.0),
        Column("high", empty="reason", at_least=0.0),
        pure.SPARSITY,
        Column("certified_users", at_least=1),
        replace(pure.METHOD, empty="never"),
        REASON,
    ),
    keys=("statistic", "coordinates", "mechanism", "accuracy"),
    complete=False,
    measure=measure,
    check=check,
    parts=split("statistic", "coordinates"),
    figure=Curves(
        panel=("statistic", "coordinates"),
        x="accuracy",
        y="measured_users",
        series="mechanism",
        low="low",
        high="high",
        bars="a 99 % interval",
        below="certified_users",
        floor="bound for ε-private mechanisms",
        x_scale="log",
        text=(
            "Users for an error α, on the worst data found; α is E‖·‖_F of second moments and covariances, and "
            f"E‖·‖₂/√k of the k 2-way marginals; {pure.IN_THE_LIMIT}"
        ),
    ),
    tables=(
        PaperTable(
            rows=("statistic", "coordinates", "accuracy"),
            columns=("mechanism",),
            shown=(Shown("measured_users"),),
            best="min",
            bound="certified_users",
            ends=("low", "high"),
        ),
    ),
    seconds=_seconds,
    memory_mb=lambda _: 600,
    seeded=True,
)
EXPERIMENT = swept(_KIND, pure.EPSILON)
