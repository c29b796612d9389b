"""JL release against projection where some queries are longer than the others: who errs less, over skew and Nε.

Random signs of k queries and n types, the first few queries scaled by the skew, all of them so that a fixed answer of 0
errs by 1. Bodies with few long directions are where mapping to few dimensions can pay (Nikolov, SODA 2023, Theorem
1.2); whether noise and projection alone does as well under pure privacy is left open there.

A linear map of the queries maps their K-norm noise with them: ‖Az‖_{AB} = ‖z‖_B. So one chain serves every skew, and
its noise every n. Split noise (:mod:`factormech.mechanisms.pure.split`) has chains of its own for each skew. The number
of rows ℓ is chosen on noise of its own. The data of each mechanism are searched by exchanging users between types
(:mod:`factormech.mechanisms.pure.worst`), on the noise that does not measure. Below is the certified bound of each
skewed matrix (:mod:`factormech.bounds.packing.lower`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from factormech.errors import BadValue
from factormech.studies import pure
from factormech.studies.base import REASON, Asked, Axis, Column, Experiment, PaperTable, Setting, Shown
from factormech.studies.sweeps import swept

BALL, SPLIT, JL = "l2-ball-projection", "split-projection", "jl"
MECHANISMS = (BALL, pure.PROJECTED, SPLIT, JL)
SKEW = Axis("skew", {"type": "number", "minimum": 1, "maximum": 1000}, 4.0)
QUERIES = Setting("queries", {"type": "integer", "minimum": 2, "maximum": 128}, "Queries k.", 96, default=96)
TYPES = Setting("types", {"type": "integer", "minimum": 2, "maximum": 4096}, "Types N.", 256, default=256)
LONG = Setting("long", {"type": "integer", "minimum": 1, "maximum": 128}, "How many queries are long.", 4, default=4)
MATRICES = Setting(
    "matrices",
    {"type": "integer", "minimum": 6, "maximum": 1000},
    "Random matrices, or blocks of noise; half of them choose rows and data, the others measure.",
    12,
    default=12,
)
EXCHANGES = Setting(
    "exchanges",
    {"type": "integer", "minimum": 0, "maximum": 1000},
    "Exchanges of users between types that the search for worst data tries, for each mechanism.",
    40,
    default=30,
)
DRAWS = Setting(
    "draws", {"type": "integer", "minimum": 2, "maximum": 10000}, "Draws of noise for each.", 20, default=20
)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the error of every mechanism at every skew and Nε, on the worst data found."""
    from factormech.bounds.packing.lower import lower_bound, prepare
    from factormech.errors import Unavailable
    from factormech.mechanisms.pure.errors import candidates
    from factormech.mechanisms.pure.worst import best_of_worst
    from factormech.seeds import rng_for
    from factormech.studies.measures.pure import lengths, signs, users_of

    epsilon, k, N = asked["epsilon"], asked["queries"], asked["types"]
    R = signs(k, N, rng_for(asked.seed, "pure-skew", "queries"))
    raw = _knorm_blocks(R, asked)
    for skew in asked["skew"]:
        scales = lengths(k, asked["long"], skew)
        Q = scales[:, None] * R
        releases = _releases(Q, skew, scales, raw, asked)
        ready = prepare(Q)
        for product in asked["users_times_epsilon"]:
            n = users_of(product, epsilon)
            bound = lower_bound(ready, n, epsilon)
            data = [counts for _, counts in candidates(Q, n, rng_for(asked.seed, "pure-skew", "data", str(n)))]
            for mechanism in MECHANISMS:
                row = {
                    "skew": skew,
                    "users_times_epsilon": product,
                    "mechanism": mechanism,
                    "epsilon": epsilon,
                    "users": n,
                }
                row |= {"queries": k, "domain_size": N, "long": asked["long"]}
                row |= {"lower_bound": bound.value, "bound_method": bound.method}
                tried = releases[mechanism]
                if isinstance(tried, Unavailable):
                    yield row | {"reason": tried.reason}
                    continue
                best = best_of_worst([drawn for _, drawn in tried], Q, data, asked["exchanges"])
                error = best.error
                yield row | {
                    "jl_rows": float(tried[best.release][0]) if mechanism == JL else None,
                    "sparsity": float((best.data > 0).sum()),
                    "l2_error": error.value,
                    "low": error.low,
                    "high": error.high,
                }


def _knorm_blocks(R: Any, asked: Asked) -> Any:
    """K-norm noise of the signs, (matrices, draws, k), or why there is none."""
    from factormech.errors import Unavailable
    from factormech.mechanisms.pure.knorm import knorm_noise
    from factormech.seeds import rng_for

    m, draws = asked["matrices"], asked["draws"]
    Z = knorm_noise(R, asked["epsilon"]).draw(rng_for(asked.seed, "pure-skew", "k-norm"), m * draws)
    return Z if isinstance(Z, Unavailable) else Z.reshape(m, draws, len(R))


def _releases(Q: Any, skew: float, scales: Any, raw: Any, asked: Asked) -> dict[str, Any]:
    """Noise of every mechanism: pairs of ℓ and blocks of draws, or why there is none."""
    from factormech.errors import Unavailable
    from factormech.mechanisms.pure.jl import JLRelease
    from factormech.mechanisms.pure.mechanism import NoisyDraws, NoisyRelease, pure_law
    from factormech.seeds import rng_for

    rng = rng_for(asked.seed, "pure-skew", "noise", str(skew))
    m, draws, law = asked["matrices"], asked["draws"], pure_law("k-norm", asked["epsilon"])
    ball = NoisyRelease.of(Q, pure_law("l2-ball", asked["epsilon"]))
    found: dict[str, Any] = {BALL: [(len(Q), [ball.draw(rng, draws) for _ in range(m)])], pure.PROJECTED: raw}
    chance = rng_for(asked.seed, "pure-skew", "split", str(skew))
    Z = pure_law("split-for-projection", asked["epsilon"], chance).draw(Q, chance, m * draws)
    found[SPLIT] = Z
    if not isinstance(Z, Unavailable):
        found[SPLIT] = [(len(Q), [NoisyDraws(Q, part, ball.hull) for part in Z.reshape(m, draws, len(Q))])]
    if not isinstance(raw, Unavailable):
        found[pure.PROJECTED] = [(len(Q), [NoisyDraws(Q, Z * scales, ball.hull) for Z in raw])]
    sketches, reason = [], None
    for rows in asked["rows"]:
        drawn = [JLRelease.of(Q, law, rows).draw(rng, draws) for _ in range(m)]
        bad = [one for one in drawn if isinstance(one, Unavailable)]
        reason = bad[0] if bad else reason
        if not bad:
            sketches.append((rows, drawn))
    found[JL] = sketches or reason
    return found


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse products Nε of no whole number of users, and more rows or long queries than queries."""
    yield from pure.refuse_products(asked)
    k = asked["queries"]
    if asked["long"] > k:
        yield BadValue("long", asked["long"], f"be at most queries = {k}", "give fewer long queries")
    for i, rows in enumerate(asked["rows"]):
        if rows > k:
            yield BadValue(f"rows[{i}]", rows, f"be at most queries = {k}", "drop it: no projection is needed")


def _seconds(asked: Asked) -> float:
    """Chains, of the queries and of every matrix."""
    chains = sum(0.1 + 1e-3 * rows**2 for rows in asked["rows"]) * len(asked["skew"]) * asked["matrices"]
    split = 1.5e-3 * asked["queries"] ** 2 * len(asked["skew"])
    return float(2.0 + 2e-3 * asked["queries"] ** 2 + split + (0.1 + asked["types"] / 256) * chains)


_KIND = Experiment(
    kind="pure-skew",
    description="JL release against projections under pure privacy, over the skew of the queries and Nε.",
    axes=(SKEW, pure.PRODUCT),
    settings=(
        QUERIES,
        TYPES,
        LONG,
        Setting(
            "rows",
            {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "integer", "minimum": 1}},
            "Numbers of rows ℓ that JL release chooses among.",
            [8, 16, 32],
            default=[4, 8, 16, 32],
        ),
        MATRICES,
        DRAWS,
        EXCHANGES,
    ),
    columns=(
        SKEW.column(),
        pure.PRODUCT.column(),
        Column("mechanism"),
        pure.SPENT,
        Column("queries", at_least=1),
        Column("domain_size", at_least=1),
        Column("long", at_least=1),
        pure.USERS,
        Column("jl_rows", empty="free", at_least=1.0),
        pure.SPARSITY,
        Column("l2_error", empty="reason", at_least=0.0),
        Column("low", empty="reason", at_least=0.0),
        Column("high", empty="reason", at_least=0.0),
        pure.LOWER,
        pure.METHOD,
        REASON,
    ),
    keys=("skew", "users_times_epsilon", "mechanism"),
    measure=measure,
    check=pure.check_errors,
    refuse=refuse,
    figure="factormech.plots.pure_skew",
    tables=(
        PaperTable(
            rows=("skew", "users_times_epsilon"),
            columns=("mechanism",),
            shown=(Shown("l2_error"),),
            best="min",
            bound="lower_bound",
            ends=("low", "high"),
        ),
    ),
    seconds=_seconds,
    memory_mb=lambda asked: 600,
    seeded=True,
)
EXPERIMENT = swept(_KIND, pure.EPSILON)
