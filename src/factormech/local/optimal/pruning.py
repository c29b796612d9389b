r"""Fewer rows at little cost: the rows that matter least go, in stages, and the masses are found anew after each.

Without row i the others being scaled up by 1/(1−p_i), f becomes exactly f + p_i²ℓ_i h_i (and a little more),
ℓ_i = u_iᵀM⁻u_i, h_i the row's share of the objective: rows are ranked by p_i²ℓ_ih_i, per row that is saved.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.errors import BadValue
from factormech.local.optimal.columns import Candidate

# Rows lighter than this share of an average row go at once.
NEGLIGIBLE = 1e-9
_TRIES = 40


def prune(candidate: Candidate, rows: int, steps: int, gain: float, stage: float) -> tuple[Candidate, int]:
    """The candidate on at most ``rows`` rows with masses improved, and the steps this took.

    A stage keeps the share ``stage`` of the rows, and is followed by at most ``steps`` steps (see ``reweight.py``).
    """
    candidate = _without_dust(candidate)
    taken = 0
    while candidate.columns.rows > rows:
        aim = max(rows, int(stage * candidate.columns.rows))
        candidate = _cut(candidate, aim, rows)
        candidate, used = candidate.improved(steps, gain)
        taken += used
    return candidate, taken


def costs(candidate: Candidate) -> FloatArray:
    """What it costs to drop each column, about."""
    place = candidate.place
    leverage = np.zeros(len(candidate.columns))
    for U, inverse in zip(candidate.columns.features, place.inverses, strict=True):
        leverage += np.einsum("su,su->s", U @ inverse.astype(U.dtype), U)
    return np.asarray(place.masses**2 * place.gains * np.maximum(leverage, 0.0))


def _without_dust(candidate: Candidate) -> Candidate:
    masses = candidate.place.masses
    light = masses <= NEGLIGIBLE / len(masses)
    if not light.any():
        return candidate
    kept = candidate.kept(np.flatnonzero(~light))
    return candidate if kept is None else kept


def _cut(candidate: Candidate, aim: int, rows: int) -> Candidate:
    """The costliest columns that fit in ``aim`` rows; more of them if these alone are no strategy."""
    multiplicity = candidate.columns.multiplicity
    order = np.argsort(-costs(candidate) / multiplicity, kind="stable")
    total = candidate.columns.rows
    for _ in range(_TRIES):
        kept = candidate.kept(_fitting(order, multiplicity, aim))
        if kept is not None:
            return kept
        if total - aim <= 1:
            break
        aim = (aim + total) // 2
    remedy = f"give at least {total}"
    raise BadValue("rows", rows, "be enough for a strategy that answers the workload", remedy)


def _fitting(order: IntArray, multiplicity: IntArray, rows: int) -> IntArray:
    """The first of ``order`` that fit in this many rows."""
    used = np.cumsum(multiplicity[order])
    chosen = order[used <= rows]
    left = rows - int(multiplicity[chosen].sum())
    for i in order[len(chosen) :]:
        if left and multiplicity[i] <= left:
            chosen = np.append(chosen, i)
            left -= int(multiplicity[i])
            break
    return np.sort(chosen)
