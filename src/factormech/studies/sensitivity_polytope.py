"""The geometry behind γ₂, as numbers to draw: the sensitivity polytope of two or three queries and its ellipsoid.

Two neighbours' answers differ by a point of K = conv(±W_j). For W = RA with columns of A in the unit ball, K lies in
the ellipsoid {Ry: ‖y‖ ≤ 1}, which the ±γ box holds, γ the largest row norm of R: the least is γ₂(W). The narrowest
slab around K has width κ (Liu, Upadhyay & Zou, ICLR 2025, Figure 1). Rows are points: corners ±W_j, the corners of
facets (k of each), the columns of R, and the unit direction of the slab.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from factormech.errors import BadValue, UnknownName
from factormech.studies.base import Asked, Axis, Column, Experiment, Family, PaperTable, Problem, Shown

ELEMENTS = ("corner", "facet", "ellipsoid", "direction")
_SHOWN = ("prefix/2", "prefix/3", "histogram/3", "1-way-parities/8")
_FORM = re.compile(r"(.+)/([1-9][0-9]{0,3})")


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the points of each body."""
    # What the registry of norms solves with: the results depend on its code.
    import factormech.norms.exact  # noqa: F401
    from factormech.bounds.central.width import polytope_picture
    from factormech.workloads.registry import create

    for (body,) in asked.points("body"):
        name, n = _parsed(body)
        picture = polytope_picture(create(name, n))
        whole = {
            "body": body,
            "gamma_2": float((picture.ellipsoid**2).sum(axis=1).max() ** 0.5),
            "width_lower": picture.width.lower,
            "width_upper": picture.width.upper,
        }
        facets = [point for facet in picture.facets for point in picture.points[facet]]
        sets: tuple[Iterable[Any], ...] = (picture.points, facets, picture.ellipsoid.T, [picture.width.direction])
        for element, points in zip(ELEMENTS, sets, strict=True):
            for i, point in enumerate(points):
                # Adding 0 turns −0 into 0.
                yield {
                    **whole,
                    "element": element,
                    "number": i,
                    **dict(zip("xyz", (point + 0.0).tolist(), strict=False)),
                }


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row where κ is above 2γ₂: the polytope must be inside the box of its ellipsoid."""
    if row["width_lower"] > row["width_upper"]:
        return "width_upper", "be at least width_lower"
    return ("width_lower", "be at most 2γ₂") if row["width_lower"] > 2.0 * row["gamma_2"] * (1.0 + 1e-9) else None


def refuse(asked: Asked) -> Iterable[BadValue]:
    """Refuse bodies that do not have two or three independent queries."""
    from factormech.norms.certified import checked_matrix
    from factormech.workloads.registry import create

    for i, body in enumerate(asked["body"]):
        W = create(*_parsed(body))
        if not (W.queries in (2, 3) and np.linalg.matrix_rank(checked_matrix("workload", W)) == W.queries):
            rule = f"have two or three linearly independent queries (it has {W.queries})"
            yield BadValue(f"grid.body[{i}]", body, rule, f"give for example {_SHOWN[0]}")


def _parsed(body: str) -> tuple[str, int]:
    found = _FORM.fullmatch(body)
    if found is None:
        raise BadValue("body", body, "be a workload and a domain size, as in prefix/3", "give for example prefix/3")
    return found[1], int(found[2])


def _check_body(body: str) -> None:
    from factormech.workloads import registry

    if not _FORM.fullmatch(body):
        raise UnknownName("body", body, _SHOWN)
    name, n = _parsed(body)
    registry.module_of(name)
    reason = registry.reason_against(name, n)
    if reason is not None:
        raise BadValue("domain size of body", body, f"suit the workload {name}", reason)


def _module_of(body: str) -> str:
    from factormech.workloads import registry

    return registry.module_of(_parsed(body)[0])


BODY = Axis(
    "body", {"type": "string", "minLength": 3}, "prefix/3", names=Family(lambda: _SHOWN, _check_body, _module_of)
)

EXPERIMENT = Experiment(
    kind="sensitivity-polytope",
    description="The sensitivity polytope of two or three queries, its ellipsoid of γ₂ and its narrowest slab.",
    axes=(BODY,),
    columns=(
        BODY.column(),
        Column("element"),
        Column("number", at_least=0),
        Column("x"),
        Column("y"),
        Column("z", empty="free"),
        Column("gamma_2", at_least=0.0),
        Column("width_lower", at_least=0.0),
        Column("width_upper", at_least=0.0),
    ),
    keys=("body", "element", "number"),
    complete=False,
    measure=measure,
    check=check,
    refuse=refuse,
    figure="factormech.plots.sensitivity_polytope",
    tables=(
        PaperTable(
            rows=("body",), shown=(Shown("gamma_2", "max"), Shown("width_upper", label="width κ", low="width_lower"))
        ),
    ),
    seconds=lambda asked: 0.5 + 0.2 * len(asked["body"]),
)
