"""Sensitivity polytopes of two or three queries, with the ellipsoid of γ₂ and the narrowest slab.

They are seen in parallel light. A facet is shaded by its angle to the light; edges between facets of one plane are
left out; facets of the back are seen through those of the front. The shadow of an ellipsoid {Ry: ‖y‖ ≤ 1} under a
projection P is the ellipse {PRy: ‖y‖ ≤ 1}.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.plots import axes as scales
from factormech.plots import captions, curves, form, style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "words"]

# Where three dimensions are seen from: degrees around the third axis, and above the plane of the others.
AZIMUTH, ELEVATION = 24.0, 20.0
LIGHT = np.array([0.75, -0.25, 0.65])
FLAT = 1e-9
# Room around the shadow, and how far axes go beyond it: their names are past its edge.
MARGIN, AXIS = 1.12, 1.12
AXES = ("first query", "second query", "third query")


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of polytopes."""
    bodies = list(dict.fromkeys(frame["body"]))
    with style.context():
        figure, panels = curves.canvas(len(bodies))
        for ax, body in zip(panels, bodies, strict=True):
            _draw_body(ax, frame[frame["body"] == body])
        curves.finish(
            figure,
            panels,
            [_title(frame[frame["body"] == body]) for body in bodies],
            _entries(),
            x_label="",
            y_label="",
            notes=[[] for _ in bodies],
        )
    return figure


def _title(rows: pd.DataFrame) -> str:
    first = rows.iloc[0]
    return f"{_name(first['body'])}: γ₂={first['gamma_2']:.4g}, κ={first['width_upper']:.4g}"


def _name(body: str) -> str:
    name, _, n = body.partition("/")
    return f"{labels.workload_label(name)}, n={n}"


def _points(rows: pd.DataFrame, element: str) -> FloatArray:
    """Points of an element, one per row, in two or three dimensions."""
    found = rows[rows["element"] == element].sort_values("number")
    columns = ["x", "y"] if found["z"].isna().all() else ["x", "y", "z"]
    return np.asarray(found[columns].to_numpy(dtype=np.float64))


def _view(dimension: int) -> FloatArray:
    """Rows: the directions of the page (and, in three dimensions, towards the eye)."""
    if dimension == 2:
        return np.eye(2)
    a, e = math.radians(AZIMUTH), math.radians(ELEVATION)
    right = [-math.sin(a), math.cos(a), 0.0]
    up = [-math.sin(e) * math.cos(a), -math.sin(e) * math.sin(a), math.cos(e)]
    return np.array([right, up, [math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)]])


def _draw_body(ax: Axes, rows: pd.DataFrame) -> None:
    corners, facets = _points(rows, "corner"), _points(rows, "facet")
    R = _points(rows, "ellipsoid").T
    k = corners.shape[1]
    view = _view(k)
    flat = view[:2]
    outline = _ellipse(flat @ R)
    ax.fill(*outline, color=style.SKY, alpha=0.16, linewidth=0, zorder=1)
    ax.plot(*outline, color=style.BLUE, linewidth=1.1, zorder=5)
    _draw_axes(ax, flat, R)
    if k == 2:
        _draw_polygon(ax, corners)
    else:
        _draw_facets(ax, facets.reshape(-1, 3, 3), view)
    ax.plot(*(flat @ corners.T), linestyle="", marker="o", markersize=3.0, color=style.BLACK, zorder=6)
    _draw_slab(ax, flat, _points(rows, "direction")[0], float(rows["width_upper"].iloc[0]), R)
    reach = (MARGIN if k == 2 else 1.35) * max(
        float(np.abs(np.array(outline)).max()), float(np.abs(flat @ corners.T).max())
    )
    if k == 2:
        scales.set_linear(ax, -reach, reach)
        ticks = ax.get_yticks()
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks(ticks, [f"{tick:.6g}".replace("-", "−") for tick in ticks])
        ax.set(xlabel=AXES[0], ylabel=AXES[1])
    else:
        ax.set(xticks=[], yticks=[], frame_on=False)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")


def _ellipse(B: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The boundary of {By: ‖y‖ ≤ 1} in the plane: UDu over the circle, B = UDVᵀ."""
    U, values, _ = np.linalg.svd(B, full_matrices=False)
    t = np.linspace(0.0, 2.0 * math.pi, 241)
    x, y = (U * values) @ np.array([np.cos(t), np.sin(t)])
    return x, y


def _draw_axes(ax: Axes, flat: FloatArray, R: FloatArray) -> None:
    """The axes of the answers; in the plane the box of half side γ₂ too, which the ellipsoid touches."""
    if flat.shape[1] == 2:
        gamma = float(np.linalg.norm(R, axis=1).max())
        side = gamma * np.array([-1.0, 1.0, 1.0, -1.0, -1.0]), gamma * np.array([-1.0, -1.0, 1.0, 1.0, -1.0])
        ax.plot(*side, color=style.GREY, linestyle=style.DOTTED, linewidth=0.9, zorder=1)
        return
    B = flat @ R
    for i, e in enumerate(flat.T):
        # Where the axis leaves the shadow of the ellipsoid.
        edge = e / math.sqrt(float(e @ np.linalg.solve(B @ B.T, e)))
        end, (right, up) = AXIS * edge, (AXIS + 0.1) * edge
        ax.plot([-end[0], end[0]], [-end[1], end[1]], color=style.GREY, linestyle=style.DOTTED, linewidth=0.9, zorder=1)
        align = "center" if abs(e[0]) < 0.1 else "left" if e[0] > 0.0 else "right"
        name = AXES[i].split()[0]
        ax.annotate(name, (right, up), fontsize=form.small_size(), color=style.INK, ha=align, va="center")


def _draw_polygon(ax: Axes, corners: FloatArray) -> None:
    from scipy.spatial import ConvexHull

    around = corners[ConvexHull(corners).vertices]
    ax.fill(*around.T, facecolor=_shade(0.75), edgecolor=style.BLACK, linewidth=0.9, alpha=0.85, zorder=3)


def _draw_facets(ax: Axes, facets: FloatArray, view: FloatArray) -> None:
    normals = np.cross(facets[:, 1] - facets[:, 0], facets[:, 2] - facets[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    normals *= np.where(np.einsum("ij,ij->i", normals, facets.mean(axis=1)) < 0.0, -1.0, 1.0)[:, None]
    front = normals @ view[2] > FLAT
    light = LIGHT / np.linalg.norm(LIGHT)
    for facet, normal, seen in zip(facets, normals, front, strict=True):
        if seen:
            shade = 0.55 + 0.4 * max(float(normal @ light), 0.0)
            ax.fill(*(view[:2] @ facet.T), facecolor=_shade(shade), linewidth=0, alpha=0.85, zorder=3)
    for a, b, visible in _edges(facets, normals, front):
        line, width, zorder = (style.SOLID, 0.9, 4.0) if visible else (style.DASHED, 0.5, 3.5)
        (x0, y0), (x1, y1) = view[:2] @ a, view[:2] @ b
        ax.plot([x0, x1], [y0, y1], color=style.BLACK, linestyle=line, linewidth=width, zorder=zorder)


def _shade(value: float) -> tuple[float, float, float]:
    """A warm grey of this brightness."""
    return (value, 0.97 * value, 0.9 * value)


def _edges(facets: FloatArray, normals: FloatArray, front: FloatArray) -> list[tuple[FloatArray, FloatArray, bool]]:
    """Edges between facets of different planes, and whether one of these is in front."""
    beside: dict[tuple[tuple[float, ...], ...], list[int]] = {}
    for i, facet in enumerate(np.round(facets, 9)):
        for j in range(3):
            ends = sorted(tuple((facet[(j + s) % 3] + 0.0).tolist()) for s in (0, 1))
            beside.setdefault(tuple(ends), []).append(i)
    return [
        (np.array(a), np.array(b), bool(front[faces].any()))
        for (a, b), faces in beside.items()
        if np.abs(normals[faces] @ normals[faces[0]] - 1.0).max() > 1e-6
    ]


def _draw_slab(ax: Axes, flat: FloatArray, theta: FloatArray, width: float, R: FloatArray) -> None:
    """The width along its direction; in the plane also the two lines of the slab."""
    a, b = (flat @ (sign * 0.5 * width * theta) for sign in (-1.0, 1.0))
    arrow = {"arrowstyle": "<->", "color": style.VERMILLION, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (a[0], a[1]), (b[0], b[1]), arrowprops=arrow, zorder=7)
    if flat.shape[1] == 2:
        along = 2.0 * float(np.abs(R).sum()) * np.array([-theta[1], theta[0]])
        for end in (a, b):
            xs, ys = np.array([end - along, end + along]).T
            ax.plot(xs, ys, color=style.VERMILLION, linestyle=style.DASHED, linewidth=0.9, zorder=2)


def _entries() -> list[curves.Entry]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return [
        (Patch(facecolor=_shade(0.75), edgecolor=style.BLACK, linewidth=0.9), "Sensitivity polytope conv(±columns)"),
        (
            Patch(facecolor=style.PALE_SKY, edgecolor=style.BLUE, linewidth=1.1),
            "Ellipsoid of a factorization that attains γ₂",
        ),
        (
            Line2D([], [], color=style.GREY, linestyle=style.DOTTED),
            "Box of half side γ₂, which the ellipsoid touches; or axes",
        ),
        (Line2D([], [], color=style.VERMILLION, linestyle=style.DASHED), "Narrowest slab, of width κ"),
    ]


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""

    titles = [_title(frame[frame["body"] == body]) for body in dict.fromkeys(frame["body"])]
    what = "the polytope of the differences of neighbours' answers, whose corners are ± the columns of the workload"
    return captions.words(
        [
            captions.lead(title, what),
            text,
            "The ellipsoid {Ry: ‖y‖ ≤ 1} of factors W = RA holds the polytope; its largest coordinate is γ₂(W).",
            "The arrow is the least width κ over directions of Euclidean length 1.",
        ],
        ["; ".join(titles)],
    )
