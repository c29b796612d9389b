"""Factorization norms of workloads whose Gram matrix has a tridiagonal inverse: prefix sums and ranges, in O(n)."""
