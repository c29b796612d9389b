r"""The families that the papers state bounds for, with numbers where the papers have constants unknown.

Every entry carries Γ_p = k^{1/p}γ₍ₚ₎ between closed forms, the growth that the paper proves, as a function of the size
alone, and the least width of the sensitivity polytope (``width``).

* Prefix sums over T types: Liu, Upadhyay & Zou (ICLR 2025), Theorem 5: err_p = Θ(T^{1/p} log T) for constant p. Theorem
  17 is its lower half for δ below a threshold that depends on the width κ; threshold and constants are not restated
  here, since the bounds of ``release`` hold for every δ < 1 and need no width.
* Parities of w of d attributes, k = C(d, w): their Theorem 6, Ω(k^{½+1/p}/ε).
* Any W: their Theorem 3, Ω(k^{1/p−½}N^{−½}‖W‖_{S₁}/ε): ``release`` with ``norm="trace"``.
* Thresholds, parities of at most w attributes and marginals: Edmonds, Nikolov & Ullman (STOC 2020), Corollaries 4–6,
  are about *local* sample complexity: log²T, (d/w)^w and (d/w)^{Ω(√w)}. A curator's error shares
  their γ₂ (there approximate, and squared): the entries here are the exact norms of the same queries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from factormech.arrays import check_positive_integer
from factormech.bounds.central.width import hadamard_width, prefix_width
from factormech.errors import BadValue
from factormech.norms import closed_forms
from factormech.norms.weighted import checked_exponent
from factormech.numerics.rounding import above, below

# Roundings of the closed forms, whose sums are correctly rounded: sines, roots, quotients.
_ROUNDINGS = 64


@dataclass(frozen=True)
class PublishedSize:
    """One size of a family.

    Attributes
    ----------
    family, size, width_of_query
        ``prefix`` and T, or ``parities``, ``parities-up-to`` or ``marginals`` and d; w, or 0.
    queries, p
        k, and the exponent of Γ_p.
    norm_lower, norm_upper
        Γ_p between certified ends.
    growth
        The published growth of err_p, or of the sample complexity where ``setting`` is ``local``; no constant.
    setting, source
        Where the growth is proved.
    polytope_width
        κ.
    """

    family: str
    size: int
    width_of_query: int
    queries: int
    p: float
    norm_lower: float
    norm_upper: float
    growth: float
    setting: str
    source: str
    polytope_width: float


def prefix_entries(sizes: Sequence[int], p: float, *, local: bool = False) -> Iterator[PublishedSize]:
    """Prefix sums: Theorem 5 (central), or with ``local`` Corollary 4's log²T.

    The trace bound below and Mathias's norm above (``norms.closed_forms``) hold for every p.
    """
    p = checked_exponent(p)
    for T in sizes:
        lower, upper = closed_forms.prefix_interval(T)
        growth = math.log(T) ** 2 if local else T ** (1.0 / p) * math.log(T)
        source = ("local", "edmonds2020 Corollary 4") if local else ("central", "liu2024 Theorem 5")
        yield PublishedSize("prefix", T, 0, T, p, *_total(lower, upper, T, p), growth, *source, prefix_width(T))


def parity_entries(attributes: Sequence[int], w: int, p: float, *, local: bool = False) -> Iterator[PublishedSize]:
    """Parities of exactly w attributes (Theorem 6), or with ``local`` of at most w (Corollary 5): γ₍ₚ₎ = √k, κ = 2."""
    p = checked_exponent(p)
    for d in attributes:
        _check_width(d, w)
        k = sum(math.comb(d, s) for s in range(w + 1)) if local else math.comb(d, w)
        root = closed_forms.hadamard_lines(k, 2**d)
        growth = (d / w) ** w if local else k ** (0.5 + 1.0 / p)
        source = ("local", "edmonds2020 Corollary 5") if local else ("central", "liu2024 Theorem 6")
        family = "parities-up-to" if local else "parities"
        yield PublishedSize(family, d, w, k, p, *_total(root, root, k, p), growth, *source, hadamard_width())


def marginal_entries(attributes: Sequence[int], w: int, p: float) -> Iterator[PublishedSize]:
    """All marginals of w attributes, 2^w C(d, w) cells (Corollary 6; the constant in its exponent Ω(√w) is set to 1).

    Cells of one marginal sum to the total, as those of any other do, so the rows are dependent and κ = 0, unless there
    is one marginal: then W = I and κ = 2/√N.
    """
    p = checked_exponent(p)
    for d in attributes:
        _check_width(d, w)
        k, value = 2**w * math.comb(d, w), closed_forms.marginals_exactly(d, w)
        width = 0.0 if w < d else 2.0 / math.sqrt(k)
        source = ("local", "edmonds2020 Corollary 6")
        yield PublishedSize(
            "marginals", d, w, k, p, *_total(value, value, k, p), (d / w) ** math.sqrt(w), *source, width
        )


def _total(lower: float, upper: float, k: int, p: float) -> tuple[float, float]:
    """The interval of k^{1/p}γ₍ₚ₎, rounded outward."""
    scale = k ** (1.0 / p)
    return below(lower * scale, _ROUNDINGS), above(upper * scale, _ROUNDINGS)


def _check_width(d: int, w: int) -> None:
    check_positive_integer("attributes", d)
    if not 1 <= check_positive_integer("w", w) <= d:
        raise BadValue("w", w, f"be from 1 to the {d} attributes", "give a smaller w")
