"""Coarse JL against JL release where a net is small: types in clusters, errors against Nε (Nikolov, SODA 2023).

Random signs of k queries for a few centres; each type has the answers of its centre but for ``flips`` of them, drawn at
random. Types of one cluster are at most 2√(2·flips/k) apart in ‖·‖/√k and centres about √2, so the greedy pass of
Algorithm 2 keeps one type of each cluster where α/2 is between the two, and errs by the size of a cluster for it. Data,
rows and nets are chosen as on marginals (:mod:`factormech.studies.pure_marginals`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.studies import pure, pure_marginals
from factormech.studies.base import Asked, Axis, Experiment, Setting, split
from factormech.studies.pure_skew import DRAWS, MATRICES, QUERIES, TYPES
from factormech.studies.sweeps import swept

FLIPS = Axis("flips", {"type": "integer", "minimum": 0, "maximum": 128}, 2)


def clustered(queries: int, types: int, centres: int, flips: int, rng: Any) -> FloatArray:
    """Q, (k, N): type i belongs to centre i mod ``centres``."""
    import numpy as np

    C = rng.choice(np.array([-1.0, 1.0]), (queries, centres))
    Q = C[:, np.arange(types) % centres]
    for column in Q.T:
        column[rng.choice(queries, flips, replace=False)] *= -1.0
    return np.asarray(Q)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the errors of the mechanisms of the study of marginals, on clustered types."""
    from factormech.bounds.packing.lower import lower_bound, prepare
    from factormech.errors import Unavailable
    from factormech.mechanisms.pure.errors import candidates
    from factormech.seeds import rng_for
    from factormech.studies.measures.pure import users_of

    k, N, epsilon = asked["queries"], asked["types"], asked["epsilon"]
    for flips in asked["flips"]:

        def chance(*stream: str, flips: int = flips) -> Any:
            return rng_for(asked.seed, "coarse-jl", str(flips), *stream)

        Q = clustered(k, N, asked["centres"], flips, chance("queries"))
        ready, tried = prepare(Q), pure_marginals.tried(Q, asked, chance("noise"))
        for product in asked["users_times_epsilon"]:
            n = users_of(product, epsilon)
            bound = lower_bound(ready, n, epsilon)
            here = {
                "flips": flips,
                "queries": k,
                "domain_size": N,
                "centres": asked["centres"],
                "users_times_epsilon": product,
            }
            here |= {"epsilon": epsilon, "users": n, "lower_bound": bound.value, "bound_method": bound.method}
            data = [x for _, x in candidates(Q, n, chance("data", str(n)))] + pure_marginals.worst_of_nets(Q, asked, n)
            for mechanism, releases in tried.items():
                row = here | {"mechanism": mechanism}
                if isinstance(releases, Unavailable):
                    yield row | {"reason": releases.reason}
                else:
                    few = data[:1] if mechanism == pure.LAPLACE else data
                    yield row | pure_marginals.worst_of(releases, Q, few, exchanges=0)


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse products Nε of no whole number of users, more flips than queries, and more centres than types."""
    yield from pure.refuse_products(asked)
    for i, flips in enumerate(asked["flips"]):
        if flips > asked["queries"]:
            yield BadValue(f"grid.flips[{i}]", flips, f"be at most queries = {asked['queries']}", "turn over fewer")
    if asked["centres"] > asked["types"]:
        yield BadValue("centres", asked["centres"], f"be at most types = {asked['types']}", "give fewer centres")


_SHARED = {column.name: column for column in pure_marginals.EXPERIMENT.columns}
_SETTINGS = {setting.name: setting for setting in pure_marginals.EXPERIMENT.settings}

_KIND = Experiment(
    kind="coarse-jl",
    description="Coarse JL against JL release on types in clusters, errors against Nε, above the packing bound.",
    axes=(FLIPS, pure.PRODUCT),
    settings=(
        replace(QUERIES, default=64),
        TYPES,
        Setting("centres", {"type": "integer", "minimum": 2, "maximum": 4096}, "How many clusters.", 8, default=8),
        replace(_SETTINGS["rows"], default=[8, 16, 32]),
        replace(_SETTINGS["nets"], default=[0.6, 0.9]),
        MATRICES,
        DRAWS,
    ),
    columns=(
        FLIPS.column(),
        *(replace(_SHARED[name]) for name in ("domain_size", "queries")),
        replace(_SHARED["queries"], name="centres"),
        *(column for name, column in _SHARED.items() if name not in ("workload", "domain_size", "queries")),
    ),
    keys=("flips", "mechanism", "users_times_epsilon"),
    measure=measure,
    check=pure.check_errors,
    refuse=refuse,
    parts=split("flips"),
    figure=replace(
        pure_marginals.CURVES,
        panel="flips",
        text=(
            f"{pure.MEANING} It is that of the worst data found among vertices, sparse and uniform data; "
            f"{pure.IN_THE_LIMIT}"
        ),
    ),
    seconds=lambda asked: 2.0 + 2e-3 * sum(r**2 for r in asked["rows"]) * asked["matrices"] * asked["types"] / 256,
    memory_mb=lambda asked: 600,
    seeded=True,
)
EXPERIMENT = swept(_KIND, pure.EPSILON)
