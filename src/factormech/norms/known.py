"""What is known of a quantity without solving: a value, or an interval, by the workload and by who found it.

Where a group acts transitively on the rows and on the columns, uniform weights are optimal in the dual and
γ₍ₚ₎ = ‖W‖_*/√(kN) for every p: so for marginals of one width, with ‖W‖_* from their spectrum, and for the concept class
of points (2I − J: n − 1 singular values 2 and one |n − 2|).

**Approximate norms** that are known exactly, 0 ≤ α ≤ 1 (they are 0 beyond). For ±1 matrices whose γ₂ has a dual
matrix U of their own signs, (1 − α)W is the best W̃, as the numerator of U is ⟨W, U⟩ − α‖U‖₁ = (1 − α)⟨W, U⟩: this
holds for parities and for sign thresholds, and makes mc = γ₂. Over both labels (−U, U) of mc's U sums to 0 in each
row, its numerator is (1 − α)⟨W, U⟩, and its γ₂* is 2γ₂*(U), as y_j⁻ − y_j⁺ is at most 2 long; W̃ = ((1 − α)/2)(−W, W)
is feasible with c = −(1 + α)/2. So (1 − α)mc/2 ≤ η ≤ (1 − α)γ₂/2. The identity: averaged over the permutations W̃ is
xI + y11ᵀ. Without shift y = 0 and x = 1 − α are best; with it x = 1 − 2α suffices, and y = −x/n is best: x(I −
11ᵀ/n), whose diagonal is constant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from factormech.arrays import check_positive_integer
from factormech.norms import closed_forms
from factormech.norms.boxes import checked_alpha
from factormech.norms.registry import quantity
from factormech.workloads.base import Workload
from factormech.workloads.histogram import Histogram, Total
from factormech.workloads.marginals import Marginals
from factormech.workloads.parities import BooleanParities, Parities
from factormech.workloads.ranges import Prefix


def approximate_identity(size: int, alpha: float, *, shifted: bool = False) -> float:
    """γ₂(I, α) = 1 − α; γ̂₂(I, α) = (1 − 2α)(n − 1)/n, 0 from α = ½ on."""
    n, alpha = check_positive_integer("size", size), checked_alpha(alpha)
    return max(1.0 - 2.0 * alpha, 0.0) * (n - 1) / n if shifted else max(1.0 - alpha, 0.0)


def approximate_parities(queries: int, alpha: float, *, shifted: bool = False, constant: bool = True) -> float:
    """γ₂(W, α) or γ̂₂(W, α) of k rows of a ±1 Hadamard matrix, of which the ``constant`` parity is one or not."""
    k = check_positive_integer("queries", queries)
    return max(1.0 - checked_alpha(alpha), 0.0) * math.sqrt(k - 1 if shifted and constant else k)


def approximate_sign_thresholds(size: int, alpha: float) -> float:
    """γ₂(W, α) of the n sign thresholds, the all-ones row included; their mc is the one at α = 0."""
    return max(1.0 - checked_alpha(alpha), 0.0) * closed_forms.sign_thresholds(size)


@dataclass(frozen=True)
class KnownEnds:
    """Both ends, equal for a closed form up to rounding, and what it is called."""

    lower: float
    upper: float
    name: str


def known(name: str, workload: Workload, *, alpha: float | None = None, concepts: bool = False) -> KnownEnds | None:
    """Return what is known of a quantity of a workload or its concept class; ``None`` where nothing is."""
    asked = quantity(name)
    if asked.exponent is not None:
        return _of_concepts(workload, 0.0) if concepts else _exact(workload, asked.exponent)
    tolerance = 0.0 if alpha is None else alpha
    if asked.name == "margin-complexity" or (asked.name == "gamma-2-approximate" and concepts):
        return _of_concepts(workload, tolerance, points=tolerance == 0.0 and asked.name != "margin-complexity")
    if asked.name == "eta":
        found = _of_concepts(workload, tolerance, points=False)
        return None if found is None else KnownEnds(0.5 * found.lower, 0.5 * found.upper, found.name)
    if asked.name in ("gamma-2-approximate", "gamma-2-shifted"):
        return _approximate(workload, tolerance, shifted=asked.name == "gamma-2-shifted", concepts=concepts)
    return None


def _closed(value: float) -> KnownEnds:
    return KnownEnds(value, value, "closed form")


def _exact(workload: Workload, p: float) -> KnownEnds | None:
    match workload:
        case Histogram() | Total():
            return _closed(1.0)
        case Prefix():
            # γ₍ₚ₎ does not fall as p grows, and the trace bound is below all of them.
            return KnownEnds(*closed_forms.prefix_interval(workload.domain_size), "Mathias")
        case BooleanParities():
            return None
        case Parities():
            return _closed(closed_forms.hadamard_lines(workload.queries, workload.domain_size))
        case Marginals():
            return _marginals(workload.d, workload.widths, p)
    return None


def _marginals(d: int, widths: tuple[int, ...], p: float) -> KnownEnds | None:
    if len(widths) == 1:
        return _closed(closed_forms.marginals_exactly(d, widths[0]))
    if widths != tuple(range(len(widths))) or 2.0 < p < math.inf:
        return None
    of_p = closed_forms.marginals_up_to_f if p == 2.0 else closed_forms.marginals_up_to_gamma2
    return _closed(of_p(d, widths[-1]))


def _of_concepts(workload: Workload, alpha: float, *, points: bool = True) -> KnownEnds | None:
    """γ₂(W, α) of the ±1 matrix of a concept class; with ``points=False`` only where mc is γ₂."""
    n = workload.domain_size
    match workload:
        case Prefix():
            return _closed(approximate_sign_thresholds(n, alpha))
        case BooleanParities() | Parities():
            return _closed(approximate_parities(min(workload.queries, n), alpha))
        case Histogram() if points and n >= 2:
            return _closed(3.0 - 4.0 / n)
    return None


def _approximate(workload: Workload, alpha: float, *, shifted: bool, concepts: bool) -> KnownEnds | None:
    plain_parities = isinstance(workload, Parities) and (concepts or not isinstance(workload, BooleanParities))
    if plain_parities and isinstance(workload, Parities):
        return _closed(approximate_parities(workload.queries, alpha, shifted=shifted, constant=0 in workload.sizes))
    if isinstance(workload, Histogram) and not concepts and workload.domain_size >= 2:
        return _closed(approximate_identity(workload.domain_size, alpha, shifted=shifted))
    return None
