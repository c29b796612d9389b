"""What a claim is measured by: small functions from the tables of studies to one number between two ends.

All of them take ``per``, the columns that tell the points apart, and ``points``, how many the claim needs at least: on
fewer there is no verdict. What they compare are operands (:mod:`factormech.claims.selection`). A new measure is a
function here and a line in ``MEASURES``.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.claims.selection import (
    ENDS,
    HIGH,
    LOW,
    VALUE,
    NotEvaluated,
    Operand,
    Tables,
    divided,
    evaluate,
    joined,
    names_in,
    points,
)
from factormech.errors import BadValue, UnknownName

if TYPE_CHECKING:
    import pandas as pd

# Half the width of the interval of a fitted slope, in standard errors.
STANDARD_ERRORS = 2.0
# Half the width of the interval of a pooled mean, in standard errors.
POOLED_ERRORS = 4.0


@dataclass(frozen=True)
class Measured:
    """A number of a claim: between which ends it is for certain, at how many points it was taken, and in words."""

    value: float
    low: float
    high: float
    points: int
    words: str
    decades: float = math.inf  # that the sizes of a fitted slope span; for other measures there is no such thing


def value(tables: Tables, of: Operand, points_needed: int, per: Sequence[str] = (), over: str = "one") -> Measured:
    """A number of a table: at one point, or the least, largest, median or mean over points, or largest over least."""
    found = _enough(points(tables, of, per), points_needed)
    return _reduced(found, over)


def ratio(
    tables: Tables, left: Operand, right: Operand, points_needed: int, per: Sequence[str] = (), over: str = "one"
) -> Measured:
    """One number over another, at one point or reduced over points as in ``value``."""
    found = divided(points(tables, left, per), points(tables, right, per))
    return _reduced(_enough(found, points_needed), over)


def deviation(tables: Tables, left: Operand, right: Operand, points_needed: int, per: Sequence[str] = ()) -> Measured:
    """The largest |left/right − 1| over points: for claims that two numbers are equal."""
    found = _enough(divided(points(tables, left, per), points(tables, right, per)), points_needed)
    low, middle, high = (found[end].to_numpy() - 1 for end in ENDS)
    found[LOW] = np.where(low * high < 0, 0.0, np.minimum(np.abs(low), np.abs(high)))
    found[VALUE], found[HIGH] = np.abs(middle), np.maximum(np.abs(low), np.abs(high))
    return _reduced(found, "largest")


def holds(
    tables: Tables,
    left: Operand,
    relation: str,
    right: Operand,
    points_needed: int,
    per: Sequence[str] = (),
    slack: float = 0.0,
) -> Measured:
    """The share of points at which left ≤ right (or ≥, <, >), up to ``slack``, relative to numbers above one.

    The lower end counts the points where the whole intervals agree, the upper one those where they may.
    """
    both = _enough(joined(points(tables, left, per), points(tables, right, per)), points_needed)
    sign = 1.0 if relation in ("<=", "<") else -1.0
    small, large = ("", " right") if sign > 0 else (" right", "")
    ahead = {end: both[f"{end}{large}"].to_numpy() for end in ENDS}
    behind = {end: both[f"{end}{small}"].to_numpy() for end in ENDS}

    def share(below: FloatArray, above: FloatArray) -> float:
        room = slack * np.maximum(1.0, np.maximum(np.abs(above), np.abs(below))) if slack else 0.0
        return float(np.mean(below < above + room if relation in ("<", ">") else below <= above + room))

    sure, middle, possible = (share(behind[a], ahead[b]) for a, b in ((HIGH, LOW), (VALUE, VALUE), (LOW, HIGH)))
    with np.errstate(all="ignore"):
        margin = behind[VALUE] / ahead[VALUE]
    worst = int(np.argmax(np.where(np.isfinite(margin), margin, -np.inf)))
    count = len(both)
    surely, maybe = round(sure * count), round(possible * count)
    open_ = f", {maybe - surely} open" if maybe != surely else ""
    numbers = f"{_told(both[VALUE].iloc[worst])} {relation} {_told(both[f'{VALUE} right'].iloc[worst])}"
    which = "closest" if surely == count else "furthest"
    words = f"at {surely} of {count} points{open_}; {which}: {numbers}{_place(both, worst)}"
    return Measured(middle, sure, possible, count, words)


def exponent(
    tables: Tables,
    of: Operand,
    x: str,
    points_needed: int,
    per: Sequence[str],
    within: Sequence[str] = (),
    over: str = "one",
) -> Measured:
    """The slope of the logarithm of a number against that of ``x``, an expression of the columns of ``per``."""
    return _fitted(tables, of, x, points_needed, per, within, over, np.log)


def slope(
    tables: Tables,
    of: Operand,
    x: str,
    points_needed: int,
    per: Sequence[str],
    within: Sequence[str] = (),
    over: str = "one",
) -> Measured:
    """The slope of a number against ``x``, an expression of the columns of ``per``."""
    return _fitted(tables, of, x, points_needed, per, within, over, np.asarray)


def leads(
    tables: Tables, of: Operand, among: str, entry: str, points_needed: int, per: Sequence[str], which: str = "least"
) -> Measured:
    """The share of points at which ``entry`` of the column ``among`` has the least (or the largest) number of all."""
    found = points(tables, of, [*per, among])
    sides = found.groupby(list(per), sort=False)[VALUE]
    first = found.loc[(sides.idxmin() if which == "least" else sides.idxmax()).to_numpy()]
    _enough(first, points_needed)
    if entry not in set(found[among]):
        raise NotEvaluated(f"no number for {among} = {entry}")
    share = float((first[among] == entry).mean())
    counts = ", ".join(f"{rival} {count}" for rival, count in first[among].value_counts().items())
    return Measured(
        share, share, share, len(first), f"{which} at {round(share * len(first))} of {len(first)} ({counts})"
    )


def steps(
    tables: Tables,
    of: Operand,
    x: str,
    direction: str,
    points_needed: int,
    per: Sequence[str],
    within: Sequence[str] = (),
) -> Measured:
    """The share of neighbouring points, in the order of the column ``x``, between which a number goes up (or down)."""
    found = _enough(points(tables, of, per), points_needed)
    sure, middle, possible, count = 0, 0, 0, 0
    for _, part in _groups(found, within):
        ordered = part.sort_values(x, kind="stable")
        before, after = (ordered.iloc[:-1], ordered.iloc[1:])[:: 1 if direction == "up" else -1]
        sure += int((before[HIGH].to_numpy() <= after[LOW].to_numpy()).sum())
        middle += int((before[VALUE].to_numpy() <= after[VALUE].to_numpy()).sum())
        possible += int((before[LOW].to_numpy() <= after[HIGH].to_numpy()).sum())
        count += len(part) - 1
    if count < 1:
        raise NotEvaluated("no two points to compare")
    open_ = f", {possible - sure} open" if possible != sure else ""
    return Measured(
        middle / count, sure / count, possible / count, len(found), f"{direction} at {sure} of {count} steps{open_}"
    )


def pooled(tables: Tables, of: Operand, points_needed: int, per: Sequence[str], within: Sequence[str] = ()) -> Measured:
    """The largest distance from 1 of a mean over points, of those of every group ``within``.

    The ends of each number are one standard error from it; those of a mean are four of its own.
    """
    import pandas as pd

    rows = []
    for group, part in _groups(_enough(points(tables, of, per), points_needed), within):
        half = POOLED_ERRORS * float(np.sqrt(np.sum(((part[HIGH] - part[LOW]) / 2) ** 2))) / len(part)
        off = abs(float(part[VALUE].mean()) - 1)
        place = dict(zip(within, group, strict=True))
        rows.append({**place, LOW: max(0.0, off - half), VALUE: off, HIGH: off + half})
    return _reduced(pd.DataFrame(rows), "largest")


MEASURES: dict[str, Callable[..., Measured]] = {
    "value": value,
    "ratio": ratio,
    "deviation": deviation,
    "holds": holds,
    "exponent": exponent,
    "slope": slope,
    "leads": leads,
    "pooled": pooled,
    "steps": steps,
}


def check(name: str) -> None:
    """Refuse a measure that is not registered."""
    if name not in MEASURES:
        raise UnknownName("measure", name, MEASURES)


def parameters(name: str) -> tuple[set[str], set[str]]:
    """Return the settings that a measure takes in the ledger, and those among them that it needs."""
    check(name)
    taken = [p for p in inspect.signature(MEASURES[name]).parameters.values() if p.name != "tables"]
    said = {p.name: "points" if p.name == "points_needed" else p.name for p in taken}
    return set(said.values()), {said[p.name] for p in taken if p.default is inspect.Parameter.empty}


def measure(tables: Tables, name: str, settings: Mapping[str, Any]) -> Measured:
    """Apply a measure of the ledger to tables."""
    check(name)
    renamed = {"points_needed" if key == "points" else key: entry for key, entry in settings.items()}
    return MEASURES[name](tables, **renamed)


def _enough(found: pd.DataFrame, needed: int) -> pd.DataFrame:
    if len(found) < needed:
        raise NotEvaluated(f"{len(found)} points with numbers, and the claim is about {needed}")
    return found


def _reduced(found: pd.DataFrame, over: str) -> Measured:
    count = len(found)
    low, middle, high = (found[end].to_numpy(dtype=np.float64) for end in ENDS)
    match over:
        case "one" if count == 1:
            return _between(middle[0], low[0], high[0], 1, "")
        case "one":
            raise NotEvaluated(f"{count} points where the claim is about one")
        case "least" | "largest":
            chosen = np.min if over == "least" else np.max
            at = int(np.argmin(middle) if over == "least" else np.argmax(middle))
            more = f"{_place(found, at)}, the {over} of {count}" if count > 1 else ""
            return _between(chosen(middle), chosen(low), chosen(high), count, more)
        case "median" | "mean":
            averaged = np.median if over == "median" else np.mean
            spread = f", {over} of {count} from {_told(middle.min())} to {_told(middle.max())}"
            return _between(averaged(middle), averaged(low), averaged(high), count, spread)
        case "spread":
            if low.min() <= 0 or not np.isfinite(high).all():
                raise NotEvaluated("a ratio of numbers that are not positive and finite")
            least = max(1.0, low.max() / high.min())
            told = f", largest over least of {count}"
            return _between(middle.max() / middle.min(), least, high.max() / low.min(), count, told)
        case _:
            raise BadValue("over", over, "be one, least, largest, median, mean or spread", "correct the ledger")


def _fitted(
    tables: Tables,
    of: Operand,
    x: str,
    points_needed: int,
    per: Sequence[str],
    within: Sequence[str],
    over: str,
    scale: Callable[[Any], FloatArray],
) -> Measured:
    """Slopes by least squares, one for each group, between ends of so many standard errors."""
    import pandas as pd

    found = _enough(points(tables, of, per), points_needed)
    rows = []
    for group, part in _groups(found, within):
        numeric = {c: part[c].to_numpy(dtype=np.float64) for c in per if part[c].dtype.kind in "if"}
        scale_x = scale(evaluate(x, numeric, len(part)))
        with np.errstate(divide="ignore", invalid="ignore"):  # what has no logarithm is refused by the fit
            y = scale(part[VALUE].to_numpy(dtype=np.float64))
        middle, error = _line(scale_x, y)
        half = STANDARD_ERRORS * error
        rows.append({**dict(zip(within, group, strict=True)), LOW: middle - half, VALUE: middle, HIGH: middle + half})
    fitted = _reduced(pd.DataFrame(rows), over)
    spanned = min(_decades(part, x) for _, part in _groups(found, within))
    told = f"slope {fitted.words}; {len(found)} points over {spanned:.1f} decades"
    return Measured(fitted.value, fitted.low, fitted.high, len(found), told, spanned)


def _decades(part: pd.DataFrame, x: str) -> float:
    """Return how many decades the columns of an expression span."""
    ends = [(part[column].min(), part[column].max()) for column in names_in(x)]
    return min(math.log10(high / low) if low > 0 else math.inf for low, high in ends)


def _line(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    """The slope of a line, and its standard error."""
    if len(x) < 3 or not (np.isfinite(x).all() and np.isfinite(y).all()) or np.ptp(x) == 0:
        raise NotEvaluated(f"a slope needs three finite points, and there are {len(x)}")
    x, y = x - x.mean(), y - y.mean()
    size = float(x @ x)
    found = float(x @ y) / size
    return found, math.sqrt(float(np.sum((y - found * x) ** 2)) / (len(x) - 2) / size)


def _groups(found: pd.DataFrame, within: Sequence[str]) -> list[tuple[tuple[Any, ...], pd.DataFrame]]:
    if not within:
        return [((), found)]
    return [
        (group if isinstance(group, tuple) else (group,), part)
        for group, part in found.groupby(list(within), sort=False)
    ]


def _place(found: pd.DataFrame, at: int) -> str:
    """The point in words: what tells it from the others."""
    shown = [c for c in found.columns if not str(c).startswith("(") and len(set(found[c])) > 1]
    row = found.iloc[at]
    words = ", ".join(f"{c} {_told(row[c])}" for c in shown)
    return f" ({words})" if words else ""


def _between(middle: Any, low: Any, high: Any, count: int, more: str) -> Measured:
    """Return a measured number with its text and its remark."""
    ends = float(middle), float(low), float(high)
    return Measured(value=ends[0], low=ends[1], high=ends[2], points=count, words=_interval(*ends) + more)


def _interval(middle: float, low: float, high: float) -> str:
    """A number, with its ends where they are not its own digits."""
    if _told(low) == _told(middle) == _told(high):
        return _told(middle)
    return f"{_told(middle)} [{_told(low)}, {_told(high)}]"


def _told(number: Any) -> str:
    return f"{number:.4g}" if isinstance(number, (float, np.floating)) else str(number)
