"""Factorization norms of workloads whose Gram matrix has a tridiagonal inverse: prefix sums and ranges, in O(n)."""

from __future__ import annotations

from factormech.norms.structured.prefix import prefix_norm
from factormech.norms.structured.ranges import ranges_norm

__all__ = ["prefix_norm", "ranges_norm"]
