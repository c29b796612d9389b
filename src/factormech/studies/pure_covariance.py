"""Second moments and covariances under pure privacy: errors in Frobenius norm (Nikolov, SODA 2023, Section 6).

Rows are in the unit ball of R^d. ``trace`` is K-norm noise of the body of moments, ``l2-ball`` noise of the Frobenius
ball around it, each with or without the projection on K = {A ⪰ 0, tr A ≤ 1}; ``jl-balanced`` is the release of
ℓ = Nε measurements. Noise without projection has one error on all data: D·√2/(Nε), D = d(d + 1)/2, for the ball, and
D·E‖Λ‖/(Nε) for the trace body, Λ the direction of the noise on the boundary of the body. A covariance is M̂ − μ̂μ̂ᵀ,
with half of ε for the mean (:mod:`factormech.mechanisms.pure.covariance`), and is asked of projections alone. All of
the noise is invariant under rotations, so data are tried along the axes: s directions with equally many rows, s = 1, 2,
4 … d.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.studies import pure
from factormech.studies.axes import COORDINATES
from factormech.studies.base import REASON, Asked, Axis, Column, Curves, Experiment, Problem, Setting, split
from factormech.studies.sweeps import swept

MOMENT, COVARIANCE = "second-moment", "covariance"
JL = "jl-balanced"
RAW = ("trace", "l2-ball")
NAMES = ("trace", "trace-projection", "l2-ball", "l2-ball-projection", JL)
# The lift through T is an iteration for each release; above, all of them take minutes.
LIFTED = 32
LEVEL = 0.01
SIZE = replace(COORDINATES, entry={"type": "integer", "minimum": 2, "maximum": 128})
STATISTIC = Axis("statistic", {"type": "string", "enum": [MOMENT, COVARIANCE]}, MOMENT, default=(MOMENT, COVARIANCE))
MECHANISM = Axis(
    "mechanism",
    {"type": "string", "enum": list(NAMES)},
    "trace-projection",
    default=NAMES,
    note="A covariance needs a projection.",
)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the error of every mechanism and statistic, on noise that all data and all n share."""
    from factormech.seeds import rng_for
    from factormech.studies.measures.pure import users_of

    epsilon = asked["epsilon"]
    for d, statistic, mechanism in asked.points("coordinates", "statistic", "mechanism"):
        rng = rng_for(asked.seed, "pure-covariance", str(d), statistic, mechanism)
        if statistic == COVARIANCE and not mechanism.endswith("-projection"):
            reason, errors = "covariances are released with the projection alone", None
        else:
            reason, errors = errors_of(mechanism, statistic, d, asked, rng)
        for product in asked["users_times_epsilon"]:
            n = users_of(product, epsilon)
            row = {
                "coordinates": d,
                "statistic": statistic,
                "mechanism": mechanism,
                "users_times_epsilon": product,
                "users": n,
            }
            row["epsilon"] = epsilon
            yield row | ({"reason": reason} if errors is None else errors(n))


def errors_of(mechanism: str, statistic: str, d: int, asked: Asked, rng: Any) -> tuple[str, Any]:
    """Return a function n → error with its interval as columns of a row, or why there is none."""
    return (_of_noise if mechanism in RAW else _of_release)(mechanism, statistic, d, asked, rng)


def _of_noise(mechanism: str, statistic: str, d: int, asked: Asked, rng: Any) -> tuple[str, Any]:
    """A function n → numbers of a row, for noise alone, whose error is E‖Z‖/n on all data; or why there is none."""
    from factormech.errors import Unavailable
    from factormech.mechanisms.pure.covariance import MomentRelease

    found = MomentRelease.of(d, asked["epsilon"], noise=mechanism, projected=False).noise_norm(
        rng, asked["draws"], LEVEL
    )
    if isinstance(found, Unavailable):
        return found.reason, None
    return "", lambda n: {"frobenius_error": found.value / n, "low": found.low / n, "high": found.high / n}


def _of_release(mechanism: str, statistic: str, d: int, asked: Asked, rng: Any) -> tuple[str, Any]:
    """The same on the worst data found."""
    from factormech.errors import Unavailable
    from factormech.mechanisms.pure.covariance import MomentRelease, ball_vectors, frobenius_errors

    if mechanism == JL:
        return _sketched(d, asked, rng)
    share = asked["epsilon"] if statistic == MOMENT else 0.5 * asked["epsilon"]
    drawn = MomentRelease.of(d, share, noise=mechanism.removesuffix("-projection")).draw(rng, asked["draws"])
    if isinstance(drawn, Unavailable):
        return drawn.reason, None
    z = ball_vectors(d, 2.0, share, rng, asked["draws"])

    def errors(moment: Any, mean: Any, n: int) -> Any:
        found = drawn.moments(moment, n)
        if statistic == MOMENT:
            return frobenius_errors(found, moment)
        return frobenius_errors(_covariances(found, mean + z / n), _covariances(moment, mean))

    return "", lambda n: worst_of(errors, along_axes(d, n), n)


def _covariances(moments: Any, means: Any) -> Any:
    """M − μμᵀ, with the means moved into the unit ball."""
    import numpy as np

    inside = means / np.maximum(np.linalg.norm(means, axis=-1, keepdims=True), 1.0)
    return moments - inside[..., :, None] * inside[..., None, :]


def _sketched(d: int, asked: Asked, rng: Any) -> tuple[str, Any]:
    import numpy as np

    from factormech.mechanisms.pure.covariance import SketchRelease, frobenius_errors
    from factormech.mechanisms.pure.jl import balanced_rows

    if d > LIFTED:
        return f"sketches are lifted up to d = {LIFTED} only", None
    epsilon = asked["epsilon"]
    drawn: dict[int, Any] = {}

    def errors(moment: Any, _: Any, n: int) -> Any:
        rows = balanced_rows(n, epsilon, d * (d + 1) // 2)
        if rows not in drawn:
            release = SketchRelease.of(d, epsilon, rows)
            drawn[rows] = [release.draw(rng, 1) for _ in range(asked["matrices"])]
        return frobenius_errors(np.concatenate([one.moments(moment, n) for one in drawn[rows]]), moment)

    return "", lambda n: worst_of(errors, along_axes(d, n), n)


def along_axes(d: int, n: int) -> list[tuple[int, Any, Any]]:
    """Return (s, M, μ) of n rows along s axes, s = 1, 2, 4 … d."""
    import numpy as np

    from factormech.mechanisms.pure.errors import spread

    sizes = sorted({min(2**i, d, n) for i in range(d.bit_length() + 1)})
    means = [spread(n, np.arange(s), d) / n for s in sizes]
    return [(s, np.diag(mean), mean) for s, mean in zip(sizes, means, strict=True)]


def worst_of(errors: Any, data: list[tuple[int, Any, Any]], n: int) -> dict[str, Any]:
    """Return the columns of the worst of the data (s, M, μ), chosen by half of the draws, on the other half.

    ``errors`` takes M, μ and n to errors, one for each draw.
    """
    import numpy as np

    from factormech.studies.measures.pure import chosen

    found = [errors(moment, mean, n) for _, moment, mean in data]
    best = chosen(np.array(found)[None, :, :, None])
    error = best.error
    return {"sparsity": float(data[best.data][0]), "frobenius_error": error.value, "low": error.low, "high": error.high}


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose error is outside its interval."""
    return (
        None if row["low"] <= row["frobenius_error"] <= row["high"] else ("frobenius_error", "be between low and high")
    )


def _seconds(asked: Asked) -> float:
    """Chains and eigenvalues; lifts where there are any."""
    cubes = float(sum(d**3 for d in asked["coordinates"])) * len(asked["users_times_epsilon"]) * asked["draws"]
    lifts = (
        sum(d**2 for d in asked["coordinates"] if d <= LIFTED) * len(asked["users_times_epsilon"]) * asked["matrices"]
    )
    return float(2.0 + 6e-8 * cubes + 3e-4 * lifts * (JL in asked["mechanism"]))


def count(name: str, least: int, value: int, what: str) -> Setting:
    """Return a setting that is a whole number."""
    return Setting(name, {"type": "integer", "minimum": least, "maximum": 10000}, what, value, default=value)


_KIND = Experiment(
    kind="pure-covariance",
    description="Errors of second moments and covariances under pure privacy, against Nε.",
    axes=(SIZE, STATISTIC, MECHANISM, pure.PRODUCT),
    settings=(
        count("draws", 8, 100, "Draws of noise; half choose the worst data, the others measure."),
        count("matrices", 8, 16, "Random matrices of JL release, one draw of noise for each."),
    ),
    columns=(
        SIZE.column(),
        STATISTIC.column(),
        Column("mechanism"),
        pure.PRODUCT.column(),
        pure.SPENT,
        pure.USERS,
        pure.SPARSITY,
        Column("frobenius_error", empty="reason", at_least=0.0),
        Column("low", empty="reason", at_least=0.0),
        Column("high", empty="reason", at_least=0.0),
        REASON,
    ),
    keys=("coordinates", "statistic", "mechanism", "users_times_epsilon"),
    complete=False,
    measure=measure,
    check=check,
    refuse=pure.refuse_products,
    parts=split("coordinates"),
    figure=Curves(
        panel=("statistic", "coordinates"),
        x="users_times_epsilon",
        y="frobenius_error",
        series="mechanism",
        low="low",
        high="high",
        bars="a 99 % interval",
        x_scale="log",
        text=(
            "ε-DP, one of N users replaced, N fixed; the error is E‖·‖_F, exact for the ℓ₂ ball, on the worst data "
            f"found: s directions with equally many rows, s = 1, 2, 4 … d; {pure.IN_THE_LIMIT}"
        ),
    ),
    seconds=_seconds,
    seeded=True,
)
EXPERIMENT = swept(_KIND, pure.EPSILON)
