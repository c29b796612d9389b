"""The families that the papers prove growth for, with numbers: upper and lower error, their ratio, and the growth.

Of Liu, Upadhyay & Zou (ICLR 2025): prefix sums of T (Theorem 5) and w-way parities of d attributes (Theorem 6),
errors of a trusted curator. Of Edmonds, Nikolov & Ullman (STOC 2020): thresholds, parities of at most w attributes
and w-way marginals (Corollaries 4–6), whose growth is of the local sample complexity, that is of γ₂², so that its
root is beside the curator's error. Norms are closed forms (:mod:`factormech.bounds.central.published`): sizes have no
limit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue, UnknownName
from factormech.studies.axes import DOMAIN_SIZE
from factormech.studies.base import Asked, Axis, Column, Experiment, Family, PaperTable, Problem, Setting, Shown, split
from factormech.studies.central_bounds import BUDGET, COLUMNS, COPIED, check
from factormech.studies.central_bounds import refuse as orders

if TYPE_CHECKING:
    from factormech.bounds.central.published import PublishedSize

LIU, EDMONDS = STATEMENTS = ("liu2024", "edmonds2020")
_FORMS = {
    LIU: (r"prefix", r"(\d+)-way-parities"),
    EDMONDS: (r"prefix", r"at-most-(\d+)-way-parities", r"(\d+)-way-marginals"),
}
# What stands for a whole number in the names that an error tells.
_KNOWN = ("prefix", "{w}-way-parities", "at-most-{w}-way-parities", "{w}-way-marginals")
# A closed form of prefix sums is a sum of T terms, to this size.
SIZE_LIMIT = 1048576
ATTRIBUTES_LIMIT = 1000


def family_of(name: str, statements: str) -> tuple[str, int] | None:
    """The family of a name and its w (0 without one), or ``None`` where these statements have none."""
    for form in _FORMS[statements]:
        found = re.fullmatch(form, name)
        if found:
            return form, int(found[1]) if found.groups() else 0
    return None


def entries_of(name: str, statements: str, sizes: tuple[int, ...], p: float) -> Iterator[PublishedSize]:
    """Closed forms of a family at these sizes."""
    from factormech.bounds.central import published

    found = family_of(name, statements)
    if found is None:
        raise UnknownName("family", name, _KNOWN)
    w, local = found[1], statements == EDMONDS
    if name == "prefix":
        return published.prefix_entries(sizes, p, local=local)
    if name.endswith("marginals"):
        return published.marginal_entries(sizes, w, p)
    return published.parity_entries(sizes, w, p, local=local)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield rows by size: the published growth, scaled to meet the lower bound at the largest size of the study."""
    from factormech.studies.measures.central import published_rows

    statements = asked["statements"]
    for family, p, epsilon, delta in asked.points("family", "p", "epsilon", "delta"):
        rows = list(published_rows(entries_of(family, statements, asked["size"], p), [(epsilon, delta)]))
        # Numbers of users are squares of norms.
        growth = [math.sqrt(row["growth"]) if row["setting"] == "local" else row["growth"] for row in rows]
        last = max(range(len(rows)), key=lambda i: asked["size"][i])
        scale = rows[last]["lower_bound"] / growth[last]
        for row, value in zip(rows, growth, strict=True):
            yield {
                "family": family,
                "growth": row["growth"],
                "growth_scaled": value * scale,
                **{key: row[key] for key in ("size", "p", "epsilon", "delta", "setting", "source", "polytope_width")},
                **{key: row[key] for key in COPIED},
            }


def refused(asked: Asked) -> Iterable[BadValue]:
    """Families that the statements are not about, and sizes that a family does not have."""
    yield from orders(asked)
    for i, name in enumerate(asked["family"]):
        found = family_of(name, asked["statements"])
        if found is None:
            known = ", ".join(form.replace(r"(\d+)", "{w}") for form in _FORMS[asked["statements"]])
            yield BadValue(f"grid.family[{i}]", name, f"be a family of {asked['statements']}: {known}", "change one")
            continue
        least, most = (2, SIZE_LIMIT) if name == "prefix" else (max(found[1], 1), ATTRIBUTES_LIMIT)
        for j, size in enumerate(asked["size"]):
            if not least <= size <= most or (name != "prefix" and found[1] < 1):
                rule = f"be from {least} to {most} for {name}"
                yield BadValue(f"grid.size[{j}]", size, rule, "give other sizes, or the family a study of its own")


def _check_family(name: str) -> None:
    if not any(family_of(name, statements) for statements in STATEMENTS):
        raise UnknownName("family", name, _KNOWN)


def _rules(row: Mapping[str, Any]) -> Problem:
    return check(row)


SIZE = Axis("size", DOMAIN_SIZE.entry, 64)
FAMILY = Axis(
    "family",
    {"type": "string", "minLength": 1},
    "prefix",
    names=Family(lambda: _KNOWN, _check_family),
    note=f"One of {', '.join(_KNOWN)}.",
)

EXPERIMENT = Experiment(
    kind="published-bounds",
    description="Upper and lower central errors of the papers' families, by closed forms, beside the proved growth.",
    axes=(FAMILY, SIZE, *(replace(axis) for axis in BUDGET)),
    settings=(
        Setting(
            "statements",
            {"enum": list(STATEMENTS)},
            "Whose statements: liu2024 (Theorems 5 and 6) or edmonds2020 (Corollaries 4–6).",
            LIU,
            default=LIU,
        ),
    ),
    columns=(
        FAMILY.column(),
        SIZE.column(),
        *(axis.column() for axis in BUDGET),
        *COLUMNS,
        Column("growth", at_least=0.0),
        Column("growth_scaled", at_least=0.0),
        Column("setting"),
        Column("source"),
        Column("polytope_width", at_least=0.0),
    ),
    keys=("family", "size", "epsilon", "delta", "p"),
    measure=measure,
    check=_rules,
    refuse=refused,
    parts=split("family"),
    figure="factormech.plots.published_bounds",
    tables=(
        PaperTable(
            rows=("family", "p", "epsilon", "delta", "size"),
            shown=(
                Shown("scaled_norm_upper", label="norm Γ", low="scaled_norm_lower"),
                Shown("total_error"),
                Shown("lower_bound"),
                Shown("ratio_to_bound"),
                Shown("growth"),
            ),
        ),
    ),
    seconds=lambda asked: 1e-3 * len(list(asked.points())),
)
