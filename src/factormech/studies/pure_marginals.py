"""Marginals under pure privacy: errors against Nε on the worst data found, above the packing bound.

Laplace noise errs alike on all data. Projection, JL release and Coarse JL (Nikolov, SODA 2023, Algorithms 1 and 2) are
tried on vertices, sparse and uniform data, on the type that each net moves farthest, and on what exchanges of users
from the worst of these lead to; rows and nets are chosen on made-up data and noise of their own. On a net Coarse JL has
the better of JL release and K-norm noise with projection (which has no rows in the table). A net pays where it is
small: its size is in the table. Below is the best bound of :mod:`factormech.bounds.packing.lower`, the Hadamard packing
among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue
from factormech.studies import pure
from factormech.studies.axes import DOMAIN_SIZE, WORKLOAD
from factormech.studies.base import REASON, Asked, Column, Curves, Experiment, Setting, split
from factormech.studies.pure_skew import DRAWS, EXCHANGES, MATRICES
from factormech.studies.sweeps import swept

BALL, JL, COARSE = "l2-ball-projection", "jl", "coarse-jl"
MECHANISMS = (pure.LAPLACE, BALL, JL, COARSE)
SIZE = replace(DOMAIN_SIZE, default=(64,))


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the error of every mechanism on every workload, on noise that all Nε share."""
    from factormech.bounds.packing.lower import lower_bound, prepare
    from factormech.errors import Unavailable
    from factormech.mechanisms.pure.errors import candidates
    from factormech.seeds import rng_for
    from factormech.studies.asked import workload_of
    from factormech.studies.measures.pure import users_of

    epsilon = asked["epsilon"]
    for name, N in asked.points("workload", "domain_size"):
        workload = workload_of(asked, name, N)
        Q, ready = workload.matrix(), prepare(workload)
        releases_of = tried(Q, asked, rng_for(asked.seed, "pure-marginals", name, str(N), "noise"))
        for product in asked["users_times_epsilon"]:
            n = users_of(product, epsilon)
            bound = lower_bound(ready, n, epsilon)
            here = {
                "workload": name,
                "domain_size": N,
                "queries": len(Q),
                "users_times_epsilon": product,
                "epsilon": epsilon,
            }
            here |= {"users": n, "lower_bound": bound.value, "bound_method": bound.method}
            data = [x for _, x in candidates(Q, n, rng_for(asked.seed, "pure-marginals", name, str(N), str(n)))]
            data += worst_of_nets(Q, asked, n)
            for mechanism, releases in releases_of.items():
                row = here | {"mechanism": mechanism}
                if isinstance(releases, Unavailable):
                    yield row | {"reason": releases.reason}
                else:
                    yield row | worst_of(
                        releases, Q, data[:1] if mechanism == pure.LAPLACE else data, asked["exchanges"]
                    )


def worst_of(releases: Any, Q: Any, data: Any, exchanges: int) -> dict[str, Any]:
    """Of the release that is best on its own worst data: its parameters, and the error there on other noise."""
    import numpy as np

    from factormech.mechanisms.pure.worst import best_of_worst

    best = best_of_worst([drawn for _, drawn in releases], Q, data, exchanges)
    error = best.error
    sparsity = float(np.count_nonzero(best.data)) if len(data) > 1 else None
    ends = {"l2_error": error.value, "low": error.low, "high": error.high, "sparsity": sparsity}
    return {**releases[best.release][0], **ends}


def tried(Q: Any, asked: Asked, rng: Any) -> dict[str, Any]:
    """Releases of every mechanism with their noise, or why there is none."""
    from factormech.mechanisms.pure.bodies import body_of
    from factormech.mechanisms.pure.jl import CoarseJLRelease, JLRelease
    from factormech.mechanisms.pure.mechanism import NoisyRelease, pure_law

    laplace, ball, law = (pure_law(name, asked["epsilon"]) for name in ("laplace", "l2-ball", "k-norm"))
    rows = sorted({min(rows, len(Q)) for rows in asked["rows"]})
    diameter = body_of(Q).diameters[1] / len(Q) ** 0.5
    nets = [CoarseJLRelease.of(Q, law, share * diameter, ell) for share in asked["nets"] for ell in (*rows, None)]
    releases = {
        pure.LAPLACE: [({}, NoisyRelease.of(Q, laplace, projected=False))],
        BALL: [({}, NoisyRelease.of(Q, ball))],
        JL: [({"jl_rows": float(ell)}, JLRelease.of(Q, law, ell)) for ell in rows],
        COARSE: [(_of_net(net), net) for net in nets],
    }
    return {name: _drawn(found, asked, rng) for name, found in releases.items()}


def _of_net(release: Any) -> dict[str, float]:
    """The size of a net, and the rows of the JL release on it, if it is one."""
    from factormech.mechanisms.pure.jl import JLRelease

    inner = {"jl_rows": float(release.inner.rows)} if isinstance(release.inner, JLRelease) else {}
    return {**inner, "net_size": float(len(release.net.kept))}


def worst_of_nets(Q: Any, asked: Asked, users: int) -> list[Any]:
    """Data of all users at the type that a net moves farthest, for every net."""
    from factormech.mechanisms.pure.bodies import body_of
    from factormech.mechanisms.pure.errors import spread
    from factormech.mechanisms.pure.jl import greedy_net

    diameter = body_of(Q).diameters[1] / len(Q) ** 0.5
    farthest = {greedy_net(Q, share * diameter).farthest(Q) for share in asked["nets"]}
    return [spread(users, [at], Q.shape[1]) for at in sorted(farthest)]


def _drawn(releases: Any, asked: Asked, rng: Any) -> Any:
    """Pairs of parameters and blocks of noise, of the releases that have noise; a reason if none has."""
    from factormech.errors import Unavailable

    found, reason = [], None
    for parameters, release in releases:
        blocks = [release.draw(rng, asked["draws"]) for _ in range(asked["matrices"])]
        bad = [block for block in blocks if isinstance(block, Unavailable)]
        reason = bad[0] if bad else reason
        if not bad:
            found.append((parameters, blocks))
    return found or reason


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse products Nε of no whole number of users, and several sizes."""
    yield from pure.refuse_products(asked)
    if len(asked["domain_size"]) > 1:
        yield BadValue("grid.domain_size", list(asked["domain_size"]), "be one number", "make a study for each")


def numbers(name: str, entry: dict[str, Any], what: str, default: list[float]) -> Setting:
    schema = {"type": "array", "minItems": 1, "uniqueItems": True, "items": entry}
    return Setting(name, schema, what, default, default=default)


AT_REASON = [replace(column, empty="reason") for column in (pure.ERROR, pure.LOW, pure.HIGH)]

CURVES = Curves(
    panel="workload",
    x="users_times_epsilon",
    y="l2_error",
    series="mechanism",
    low="low",
    high="high",
    bars="a 99 % interval",
    below="lower_bound",
    floor="bound for ε-private mechanisms",
    x_scale="log",
    text=(
        f"{pure.MEANING} It is that of the worst data found, by exchanges from vertices, sparse and uniform data; "
        f"{pure.IN_THE_LIMIT}"
    ),
)

_KIND = Experiment(
    kind="pure-marginals",
    description="Errors of pure mechanisms on marginals against Nε, above the packing bound.",
    axes=(WORKLOAD, SIZE, pure.PRODUCT),
    settings=(
        numbers("rows", {"type": "integer", "minimum": 1, "maximum": 64}, "Rows ℓ to choose among.", [4, 8, 16]),
        numbers(
            "nets",
            {"type": "number", "exclusiveMinimum": 0, "maximum": 4},
            "Errors that nets of Coarse JL are made for, over diam K/√k.",
            [0.5, 1.0],
        ),
        MATRICES,
        DRAWS,
        replace(EXCHANGES, example=20, default=8),
    ),
    columns=(
        WORKLOAD.column(),
        SIZE.column(),
        Column("queries", at_least=1),
        Column("mechanism"),
        pure.PRODUCT.column(),
        pure.SPENT,
        pure.USERS,
        AT_REASON[0],
        AT_REASON[1],
        AT_REASON[2],
        pure.SPARSITY,
        Column("jl_rows", empty="free", at_least=1.0),
        Column("net_size", empty="free", at_least=1.0),
        pure.LOWER,
        pure.METHOD,
        REASON,
    ),
    keys=("workload", "mechanism", "users_times_epsilon"),
    measure=measure,
    check=pure.check_errors,
    refuse=refuse,
    parts=split("workload"),
    figure=CURVES,
    seconds=lambda asked: 1.0 + 0.08 * len(asked["rows"]) * (1 + len(asked["nets"])) * asked["matrices"],
    memory_mb=lambda asked: 600,
    seeded=True,
)
EXPERIMENT = swept(_KIND, pure.EPSILON)
