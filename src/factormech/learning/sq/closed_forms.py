r"""Statistical query dimensions in closed form: parities at uniform points, and two sides for every class.

**Parities of d bits at uniform points with coin labels**, N = 2^d. Adding a mask to all concepts (and turning labels by
its parity) and adding a point to all points are automorphisms, transitive on pairs of a concept and a point with its
label; as V is convex in y, all y_c may be uniform on the points with the labels of c, and with g(x) = ½(F(x, +) −
F(x, −))

.. math:: V = \frac1{N^2}\max_{s, g \in \{\pm1\}^N} s^\top H g = \frac{\lVert H\rVert_{\infty\to1}}{N^2},

H the matrix of characters. As ‖H‖ = √N the maximum is at most N^{3/2}, with equality for the bent functions g of an
even d (Rothaus, J. Combin. Theory A 20, 1976): **V = 2^{−d/2}**. For odd d ≥ 3 the product of the best pair of 3 bits,
of value 20, and a bent function of the others has 20·(N/8)^{3/2}: 2^{d/2} ≤ 1/V ≤ 2^{d/2}·8^{3/2}/20. One bit: V = ½.

**Every class.** ζ uniform on the k functions F_c = b·c(x) sees at least 2α/k of every μ and λ, as F_c(λ) − F_c(μ) ≥ 2α
for the concept that loses at most θ on λ: **SQD ≤ k/(2α)**. One point whose label is wrong with probability α has
V ≤ 2α: **SQD ≥ 1/(2α)**. Two concepts that agree at x and differ at x′ have the law with masses 1 − 3α/2, α/2 on the
right and the wrong label of x, and α/2 on both of x′, and

.. math:: λ_c = (1-α)δ_{(x, c(x))} + αδ_{(x', c(x'))}, \qquad π = (½, ½), \qquad V \le α,

as Σπ_cλ_c − μ has the mass α/2 on either label of x alone, and ½(λ_c − λ_{c′}) on either label of x′: **SQD ≥ 1/α**.
Every hypothesis loses α on these laws, so that both hold for all kinds of the dimension.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import check_positive_integer
from factormech.learning.concepts import ConceptClass
from factormech.learning.reports import checked_loss_gap

# max sᵀHg of 3 bits, and of 1 bit.
_THREE, _ONE = 20.0, 2.0


def parities_at_uniform_points(bits: int) -> tuple[float, float]:
    """Return 1/V of parities at uniform points with coin labels between two ends, which are equal for even ``bits``.

    Examples
    --------
    >>> parities_at_uniform_points(16)
    (256.0, 256.0)
    """
    d = check_positive_integer("bits", bits)
    least = 2.0 ** (0.5 * d)
    if d % 2 == 0:
        return least, least
    if d in (1, 3):
        value = 4.0**d / (_ONE if d == 1 else _THREE)
        return value, value
    return math.nextafter(least, 0.0), math.nextafter(least * 8.0**1.5 / _THREE, math.inf)


def simple_ends(concepts: ConceptClass, alpha: float) -> tuple[float, float]:
    """Return 1/α or 1/(2α), and k/(2α): SQD is between them, realizable or agnostic, for every class."""
    a = checked_loss_gap(alpha)
    products = concepts.labels @ concepts.labels.T
    agree = bool((products[~np.eye(len(products), dtype=bool)] > -concepts.domain_size).any())
    return 1.0 / a if agree else 0.5 / a, max(0.5 * concepts.size / a, 0.5 / a)
