"""Factorization norms of workloads: intervals that hold in exact arithmetic, with the factors that attain them."""

from __future__ import annotations

from factormech.names import make_callable

make_callable(__name__)
