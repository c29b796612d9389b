"""One protocol for every mechanism that answers a workload: local, central (ε, δ), and purely private."""

from __future__ import annotations

from factormech.listing import make_callable

make_callable(__name__)
