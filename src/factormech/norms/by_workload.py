"""Which workloads have a method of their own, and that method: the exact norms without W."""

from __future__ import annotations

import math
from typing import Any

from factormech.errors import BadValue
from factormech.norms.certified import CertifiedNorm
from factormech.norms.exact import factorization_norm
from factormech.norms.kronecker import kronecker_norm
from factormech.norms.structured import prefix_norm, ranges_norm
from factormech.workloads.base import Workload
from factormech.workloads.combinators import Kronecker
from factormech.workloads.ranges import AllRanges, Prefix

# What ``prefix.check_gap`` takes.
LEAST_GAP, LARGEST_GAP = 1e-9, 0.1
# Products with more entries are solved factor by factor; the factors of smaller ones are stored whole.
_WHOLE = 2**22


def suits(workload: Workload | Any, p: float, gap: float = 1e-6) -> bool:
    """Whether :func:`structured_norm` answers for this workload, order and gap."""
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
