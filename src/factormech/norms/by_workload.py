"""Which workloads have a method of their own, and that method: the exact norms without W.

**Products of attributes.** γ₍ₚ₎(W₁ ⊗ W₂) = γ₍ₚ₎(W₁)γ₍ₚ₎(W₂), with the products of the factors.

*At most*: (R₁ ⊗ R₂)(A₁ ⊗ A₂) = W₁ ⊗ W₂, whose row norms and column norms are products; so are the mean of r^{p/2} and
the largest column norm. *At least*: the dual value ‖D_√w W D_√q‖_* of the products of both duals' weights is the
product of both values, as nuclear norms multiply, and the weights obey their constraints. So the products of certified
ends are certified ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_dense_size
from factormech.errors import BadValue
from factormech.norms.certified import CertifiedNorm, Factor
from factormech.norms.exact import factorization_norm
from factormech.norms.structured import prefix_norm, ranges_norm
from factormech.numerics.rounding import above, below
from factormech.workloads.base import Workload
from factormech.workloads.combinators import Kronecker, along_axes
from factormech.workloads.ranges import AllRanges, Prefix


@dataclass(frozen=True)
class KroneckerFactor:
    """The Kronecker product of factors, in the order of ``np.kron``."""

    parts: tuple[Factor, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Products of the parts' shapes."""
        return math.prod(part.shape[0] for part in self.parts), math.prod(part.shape[1] for part in self.parts)

    def apply(self, vectors: FloatArray) -> FloatArray:
        """The factor times each column of ``vectors``."""
        sizes = [(part.shape[1], part.shape[0]) for part in self.parts]
        return along_axes([part.apply for part in self.parts], sizes, np.asarray(vectors))

    def apply_transposed(self, vectors: FloatArray) -> FloatArray:
        """The factor's transpose times each column of ``vectors``."""
        return along_axes([part.apply_transposed for part in self.parts], [p.shape for p in self.parts], vectors)

    def dense(self) -> FloatArray:
        """The factor as a matrix; refused where it would not fit in memory."""
        check_dense_size("factor", *self.shape)
        whole = np.ones((1, 1))
        for part in self.parts:
            whole = np.asarray(np.kron(whole, part.dense()), dtype=np.float64)
        return whole


def kronecker_norm(
    workload: Kronecker, p: float = math.inf, *, gap: float = 1e-6, iterations: int | None = None
) -> CertifiedNorm:
    """Return γ₍ₚ₎ of a product of workloads from those of its factors.

    Parameters
    ----------
    workload
        The product.
    p
        The order, at least 2.
    gap
        The relative width asked of the product; each factor gets its part.
    iterations
        Steps of each factor's solver at most; its own default if left out.

    Returns
    -------
    CertifiedNorm
        ``residual`` bounds |W − RA| entrywise, from those of the factors.
    """
    each = gap / len(workload.factors)
    found = [_part(factor, p, each, iterations) for factor in workload.factors]
    roundings = len(found) + 1
    lower = below(math.prod(norm.lower for norm in found), roundings)
    upper = above(math.prod(norm.upper for norm in found), roundings)
    record: dict[str, object] = {"method": "kronecker", "factors": len(found), "iterations": 0, "stopped": "gap"}
    left, right = (KroneckerFactor(tuple(getattr(norm, side) for norm in found)) for side in ("left", "right"))
    return CertifiedNorm(lower, upper, left, right, _residual(workload, found), {}, record)


def _part(factor: object, p: float, gap: float, iterations: int | None) -> CertifiedNorm:
    solve: Callable[..., CertifiedNorm] = factorization_norm
    subject = factor
    if isinstance(factor, Kronecker):
        solve = kronecker_norm
    elif isinstance(factor, Prefix):
        solve, subject = prefix_norm, factor.domain_size
    return solve(subject, p, gap=gap, **({} if iterations is None else {"iterations": iterations}))


def _residual(workload: Kronecker, found: list[CertifiedNorm]) -> float:
    """At least |⊗W_i − ⊗(W_i − E_i)| entrywise: Π(w_i + e_i) − Πw_i, w_i at least the largest entries of W_i."""
    # An entry of W_i is a row of R times a column of A, and so at most γ₂ ≤ √k·γ₍ₚ₎ in size.
    sizes = [
        above(norm.upper * math.sqrt(factor.queries), 2) for factor, norm in zip(workload.factors, found, strict=True)
    ]
    total = 0.0
    for i, norm in enumerate(found):  # Π(w+e) − Πw = Σ_i e_i Π_{j<i}w_j Π_{j>i}(w_j + e_j)
        others = [sizes[j] + (found[j].residual if j > i else 0.0) for j in range(len(found)) if j != i]
        total += norm.residual * math.prod(others)
    return above(total, 8 * len(found))


# What ``prefix.check_gap`` takes.
LEAST_GAP, LARGEST_GAP = 1e-9, 0.1
# Products with more entries are solved factor by factor; the factors of smaller ones are stored whole.
_WHOLE = 2**22


def suits(workload: Workload | Any, p: float, gap: float = 1e-6) -> bool:
    """Return whether :func:`structured_norm` answers for this workload, order and gap."""
    if not (isinstance(p, (int, float)) and isinstance(gap, (int, float)) and LEAST_GAP <= gap <= LARGEST_GAP):
        return False
    large = isinstance(workload, Kronecker) and workload.queries * workload.domain_size > _WHOLE
    return large or isinstance(workload, Prefix) or (isinstance(workload, AllRanges) and p == 2.0)


def structured_norm(
    workload: Workload | Any, p: float = math.inf, *, gap: float = 1e-6, iterations: int | None = None
) -> CertifiedNorm:
    """γ₍ₚ₎ of ``prefix`` and of products, and γ_F of ``all-ranges``, in O(n) a step; anything else is refused.

    Parameters
    ----------
    gap
        As in :func:`.prefix.prefix_norm`.
    iterations
        Evaluations allowed at each size of the multilevel scheme; 400 by default.
    """
    limits = {} if iterations is None else {"iterations": iterations}
    if isinstance(workload, Prefix):
        return prefix_norm(workload.domain_size, p, gap=gap, **limits)
    if isinstance(workload, AllRanges):
        return ranges_norm(workload.domain_size, p, gap=gap, **limits)
    if isinstance(workload, Kronecker):
        return kronecker_norm(workload, p, gap=gap, iterations=iterations)
    name = workload.name if isinstance(workload, Workload) else type(workload).__name__
    raise BadValue("workload", name, "be the registered prefix or all-ranges, or a product", "use method 'auto'")


def automatic_norm(
    workload: Workload | Any, p: float = math.inf, *, gap: float = 1e-6, iterations: int | None = None
) -> CertifiedNorm:
    """γ₍ₚ₎(W); parameters as for :func:`~factormech.norms.exact.factorization_norm`.

    A dense matrix that happens to be that of prefix sums is solved as a dense matrix: only the workload's own class
    tells.
    """
    if suits(workload, p, gap):
        return structured_norm(workload, p, gap=gap, iterations=iterations)
    return factorization_norm(workload, p, gap=gap, iterations=iterations)
