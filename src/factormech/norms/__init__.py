"""Factorization norms of workloads: intervals that hold in exact arithmetic, with the factors that attain them."""
