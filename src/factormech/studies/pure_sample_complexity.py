"""Users that every pure mechanism needs for a root mean square error α, against 1/α, above the packing bound.

Nikolov (*Private query release via the Johnson–Lindenstrauss transform*, SODA 2023) is about these numbers: O(log
N/(εα²)) with JL release, O(√(k log N)/(εα)) with noise, and a rule that chooses between the two (Theorems 1.1 and 1.2).
How the numbers are found is in :mod:`factormech.studies.measures.pure_users`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import UnknownName
from factormech.studies import pure
from factormech.studies.base import (
    REASON,
    Asked,
    Axis,
    Column,
    Curves,
    Experiment,
    Family,
    PaperTable,
    Problem,
    Setting,
    Shown,
    split,
)
from factormech.studies.full_parity_users import ACCURACY
from factormech.studies.pure_skew import DRAWS, EXCHANGES, MATRICES
from factormech.studies.sweeps import swept

FAMILIES = ("random-queries", "skewed-queries", "parities", "2-way-marginals")
MECHANISMS = (
    *("laplace", "k-norm", "recursive", "split"),
    *("laplace-projection", "l2-ball-projection", "k-norm-projection", "recursive-projection", "split-projection"),
    *("jl", "jl-or-k-norm"),
)
GAUSSIAN = ("shaped-gaussian", "shaped-zcdp", "shaped-gaussian-projection", "shaped-zcdp-projection")
FAMILY = Axis("family", {"type": "string", "enum": list(FAMILIES)}, "random-queries")
TYPES = replace(pure.TYPES, entry={"type": "integer", "minimum": 2, "maximum": 4096}, note="A power of two.")


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the users of every mechanism for every family, number of types and accuracy."""
    from factormech.bounds.packing.lower import lower_bound, prepare, users_needed
    from factormech.seeds import rng_for
    from factormech.studies.measures.pure_users import Setup, queries_of, told, tried_rows, users_for

    epsilon, x = asked["epsilon"], sorted(asked["accuracy"])
    alphas = [1.0 / value for value in x]
    for family, N in asked.points("family", "domain_size"):

        def chance(*stream: str, family: str = family, N: int = N) -> Any:
            return rng_for(asked.seed, "pure-sample-complexity", family, str(N), *stream)

        Q = queries_of(family, N, asked["queries"], asked["skew"], chance("queries"))
        ready, rows = prepare(Q), tried_rows(len(Q), asked["largest_rows"])
        below = [users_needed(lambda n, ready=ready: lower_bound(ready, n, epsilon), alpha) for alpha in alphas]  # type: ignore[misc]
        setup = Setup(Q, epsilon, asked["matrices"], asked["draws"], rows, chance, asked["exchanges"], asked["delta"])
        for mechanism in asked["mechanisms"]:
            found = users_for(setup, mechanism, alphas)
            for accuracy, alpha, bound, needed in zip(x, alphas, below, found, strict=True):
                yield {
                    "family": family,
                    "domain_size": N,
                    "queries": len(Q),
                    "epsilon": epsilon,
                    "mechanism": mechanism,
                    "delta": asked["delta"] if mechanism.startswith("shaped-gaussian") else 0.0,
                    "accuracy": accuracy,
                    "alpha": alpha,
                    "certified_users": bound.users,
                    "bound_method": bound.last.method if bound.last is not None else "none",
                    **told(needed, rows),
                }


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose users are outside their interval, or surely fewer than are needed."""
    if not row["low"] <= row["measured_users"] <= row["high"] + 1.0:
        return "measured_users", "be between low and high, rounded up"
    if row["mechanism"] not in GAUSSIAN and row["high"] + 1.0 < row["certified_users"]:
        return "high", "be at least certified_users: no ε-private mechanism needs fewer"
    return None


def _check_mechanism(name: str) -> None:
    if name not in MECHANISMS + GAUSSIAN:
        raise UnknownName("pure mechanism", name, MECHANISMS + GAUSSIAN)


def _seconds(asked: Asked) -> float:
    """Chains of JL release and of the laws, and projections."""
    rows = min(asked["largest_rows"], asked["queries"])
    one = 5.0 + asked["matrices"] * 1e-3 * rows**1.5 * max(asked["domain_size"]) / 64 + 1.5 * len(asked["mechanisms"])
    return float(one * len(asked["family"]) * len(asked["domain_size"]))


_KIND = Experiment(
    kind="pure-sample-complexity",
    description="Users that pure mechanisms need for a root mean square error α, above the packing bound.",
    axes=(FAMILY, TYPES, ACCURACY),
    settings=(
        Setting(
            "mechanisms",
            {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string"}},
            f"Names of pure mechanisms: {', '.join(MECHANISMS)}; Gaussian ones: {', '.join(GAUSSIAN)}.",
            ["laplace", "jl"],
            default=list(MECHANISMS),
            names=Family(lambda: MECHANISMS + GAUSSIAN, _check_mechanism),
        ),
        Setting("queries", {"type": "integer", "minimum": 2, "maximum": 128}, "k of random queries.", 32, default=32),
        Setting("skew", {"type": "number", "minimum": 1}, "Length of one long query in eight.", 16.0, default=16.0),
        Setting(
            "largest_rows",
            {"type": "integer", "minimum": 1, "maximum": 128},
            "JL release tries ℓ = 1, 2, 4 … up to this or k.",
            128,
            default=128,
        ),
        replace(MATRICES, example=20, default=20),
        replace(DRAWS, example=4, default=4),
        Setting(
            "delta",
            {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "δ of the Gaussian mechanisms that are no zCDP; these have ρ = ε²/2.",
            1e-6,
            default=1e-6,
        ),
        replace(EXCHANGES, example=20, default=10),
    ),
    columns=(
        FAMILY.column(),
        TYPES.column(),
        Column("queries", at_least=1),
        pure.SPENT,
        Column("mechanism"),
        Column("delta", added=0.0, at_least=0.0),
        ACCURACY.column(),
        Column("alpha", at_least=0.0),
        Column("measured_users", empty="reason", at_least=1),
        Column("low", empty="reason", at_least=0.0),
        Column("high", empty="reason", at_least=0.0),
        Column("jl_rows", empty="free", at_least=1.0),
        Column("best_rows", empty="free"),
        pure.SPARSITY,
        Column("certified_users", at_least=1),
        pure.METHOD,
        REASON,
    ),
    keys=("family", "domain_size", "mechanism", "accuracy"),
    measure=measure,
    check=check,
    refuse=pure.refuse_sizes,
    parts=split("family", "domain_size"),
    figure=Curves(
        panel=("family", "domain_size", "accuracy"),
        x="accuracy",
        y="measured_users",
        series="mechanism",
        low="low",
        high="high",
        bars="a 99 % interval",
        below="certified_users",
        floor="bound for ε-private mechanisms",
        stars=("best_rows", "last"),
        x_scale="log",
        text=(
            "Users for a root mean square error α per query, on the worst data found by exchanges that "
            "start from vertices, sparse and uniform data; stars: the best ℓ is the last that was tried. "
            f"{pure.IN_THE_LIMIT[0].upper()}{pure.IN_THE_LIMIT[1:]}"
        ),
    ),
    tables=(
        PaperTable(
            rows=("family", "domain_size", "accuracy"),
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
