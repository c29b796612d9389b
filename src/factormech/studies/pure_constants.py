"""Constants of K-norm noise on random ±1 queries, over queries k and types n: error·Nε next to 2w(K).

The K-norm mechanism errs by O(w(K)/(Nε)) where the body is isotropic (Nikolov, SODA 2023, Lemma 4.3); ‖·‖/√k is the
paper's error and w(K) = E max ⟨G, y⟩ the Gaussian width, so the constant is E‖Z‖ε/√k over 2w(K), 2w(K) being the width
of B = K − K. With the projection the error depends on Nε and on the data: Nε·error on the worst data found, over the
same. Every matrix is drawn once, its noise once for all n.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from factormech.studies import pure
from factormech.studies.axes import DOMAIN_SIZE
from factormech.studies.base import REASON, Asked, Axis, Column, Experiment, PaperTable, Setting, Shown, split
from factormech.studies.sweeps import swept

MECHANISMS = (pure.RAW, pure.PROJECTED)
QUERIES = Axis("queries", {"type": "integer", "minimum": 2, "maximum": 128}, 16)
TYPES = replace(DOMAIN_SIZE, entry={"type": "integer", "minimum": 2, "maximum": 4096})


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield both constants of every shape at every Nε."""
    from factormech.studies.pure_constants_points import measured

    for k, N in asked.points("queries", "domain_size"):
        yield from measured(k, N, asked)


def _seconds(asked: Asked) -> float:
    """Chains: walls crossed, about k per deviation travelled, of kN multiplications each."""
    draws = asked["directions"] / 1000
    shapes = list(asked.points("queries", "domain_size"))
    return float(sum(0.2 + draws * (2.5e-6 * k**2 * N + 1e-4 * k * k) for k, N in shapes))


_KIND = Experiment(
    kind="pure-constants",
    description="Constants of K-norm noise, raw and projected, on random ±1 queries: error times Nε over 2w(K).",
    axes=(QUERIES, TYPES, pure.PRODUCT),
    settings=(
        Setting(
            "directions",
            {"type": "integer", "minimum": 500, "maximum": 100000},
            "Directions of noise drawn for each shape.",
            2000,
            default=2000,
        ),
        Setting(
            "draws",
            {"type": "integer", "minimum": 8, "maximum": 10000},
            "How many draws of noise the projected errors are measured on.",
            96,
            default=96,
        ),
    ),
    columns=(
        QUERIES.column(),
        TYPES.column(),
        pure.PRODUCT.column(),
        Column("mechanism"),
        pure.SPENT,
        pure.USERS,
        Column("width", at_least=0.0),
        replace(pure.ERROR, empty="reason"),
        replace(pure.LOW, empty="reason"),
        replace(pure.HIGH, empty="reason"),
        Column("error_constant", empty="reason", at_least=0.0),
        pure.SPARSITY,
        pure.LOWER,
        pure.METHOD,
        REASON,
    ),
    keys=("queries", "domain_size", "users_times_epsilon", "mechanism"),
    measure=measure,
    check=pure.check_errors,
    refuse=pure.refuse_products,
    parts=split("queries", "domain_size"),
    figure="factormech.plots.pure_constants",
    tables=(
        PaperTable(
            rows=("users_times_epsilon", "queries", "domain_size"),
            columns=("mechanism",),
            shown=(Shown("error_constant"),),
        ),
    ),
    seconds=_seconds,
    memory_mb=lambda _: 700,
    seeded=True,
)
EXPERIMENT = swept(_KIND, pure.EPSILON)
