"""Random ±1 queries under pure privacy: every mechanism's error against Nε, JL release with its rows swept.

Q has k rows and N columns of independent uniform signs, drawn once for each shape. The error is E‖·‖₂/√k on the worst
data found among vertices, sparse and uniform data (:mod:`factormech.mechanisms.pure.errors`), chosen on some draws and
measured on others; below is the certified bound for the matrix drawn (:mod:`factormech.bounds.packing.lower`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue, UnknownName
from factormech.studies import pure
from factormech.studies.base import (
    REASON,
    Asked,
    Axis,
    Column,
    Experiment,
    Family,
    PaperTable,
    Setting,
    Shown,
    split,
)
from factormech.studies.sweeps import swept

MECHANISMS = ("laplace", "l2-ball-projection", "k-norm", "k-norm-projection", "recursive-full", "jl")
_SHAPE = r"([1-9][0-9]{0,3})x([1-9][0-9]{0,4})"
SHAPE = Axis("shape", {"type": "string", "pattern": f"^{_SHAPE}$", "rule": "be queries x types, as 16x256"}, "16x256")


def shape_of(name: str) -> tuple[int, int]:
    """(k, N)."""
    found = re.fullmatch(_SHAPE, name)
    if found is None:
        raise BadValue("shape", name, "be queries x types", "give for example 16x256")
    return int(found[1]), int(found[2])


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the error of every mechanism on the matrix of each shape, of JL release for each number of rows."""
    from factormech.studies.pure_random_points import measured

    for name in asked["shape"]:
        yield from measured(name, *shape_of(name), asked)


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse shapes without queries or without two types, and products Nε of no whole number of users."""
    for i, name in enumerate(asked["shape"]):
        if shape_of(name)[1] < 2 or shape_of(name)[0] > 1024 or shape_of(name)[1] > 2048:
            rule = "have at most 1024 queries, and 2 to 2048 types"
            yield BadValue(f"grid.shape[{i}]", name, rule, "the noise of larger ones is not to be had in minutes")
    yield from pure.refuse_products(asked)


def _check_mechanism(name: str) -> None:
    if name not in MECHANISMS:
        raise UnknownName("pure mechanism", name, MECHANISMS)


def _seconds(asked: Asked) -> float:
    """Chains and projections, where no chain runs projections alone."""
    return sum(3.0 + 2e-3 * min(k, 128) * N for k, N in map(shape_of, asked["shape"]))


def _count(name: str, least: int, most: int, description: str, value: int) -> Setting:
    return Setting(name, {"type": "integer", "minimum": least, "maximum": most}, description, value, default=value)


_KIND = Experiment(
    kind="pure-random-queries",
    description="Errors of every pure mechanism on random ±1 queries against Nε, with the rows ℓ of JL release swept.",
    axes=(SHAPE, pure.PRODUCT),
    settings=(
        Setting(
            "mechanisms",
            {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string"}},
            f"Names of pure mechanisms: {', '.join(MECHANISMS)}.",
            ["laplace", "jl"],
            default=list(MECHANISMS),
            names=Family(lambda: MECHANISMS, _check_mechanism),
        ),
        Setting(
            "rows",
            {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "integer", "minimum": 1}},
            "Rows ℓ of JL release; those above k are left out.",
            [4, 16],
            default=[2, 4, 8, 16, 32],
        ),
        _count("matrices", 2, 100, "How many JL matrices the errors are measured on.", 6),
        _count("draws", 8, 10000, "How many draws of noise the errors are measured on.", 96),
    ),
    columns=(
        SHAPE.column(),
        Column("queries", at_least=1),
        Column("domain_size", at_least=1),
        pure.SPENT,
        Column("mechanism"),
        Column("jl_rows", at_least=0),
        pure.PRODUCT.column(),
        pure.USERS,
        replace(pure.ERROR, empty="reason"),
        replace(pure.LOW, empty="reason"),
        replace(pure.HIGH, empty="reason"),
        Column("is_best", at_least=0),
        Column("data_family", empty="free"),
        pure.SPARSITY,
        pure.LOWER,
        pure.METHOD,
        REASON,
    ),
    keys=("shape", "mechanism", "jl_rows", "users_times_epsilon"),
    complete=False,
    measure=measure,
    check=pure.check_errors,
    refuse=refuse,
    parts=split("shape"),
    figure="factormech.plots.pure_random_queries",
    tables=(
        PaperTable(
            rows=("shape", "users_times_epsilon"),
            columns=("mechanism",),
            shown=(Shown("l2_error"),),
            best="min",
            bound="lower_bound",
            where=(("is_best", 1),),
            ends=("low", "high"),
        ),
    ),
    seconds=_seconds,
    memory_mb=lambda _: 700,
    seeded=True,
)
EXPERIMENT = swept(_KIND, pure.EPSILON)
