"""One protocol for every mechanism that answers a workload: local, central (ε, δ), and purely private."""

from __future__ import annotations

from factormech.names import make_callable

make_callable(__name__)
